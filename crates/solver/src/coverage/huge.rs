//! Patched copies in huge pages.

use std::fs::File;
use std::os::fd::AsRawFd;

const HUGE: usize = 2 << 20;
const MADV_COLLAPSE: libc::c_int = 25;

/// Puts a file in memory into huge pages, as far as the kernel has any. Nothing else changes: what is written to the file
/// is seen by all who have mapped it. A process that maps it at an address that is equal to the file's offset modulo the
/// size of a huge page meets one fault for each of them, in place of one for every sixteen small pages.
pub(super) fn collapse(file: &File) {
    let Ok(status) = file.metadata() else { return };
    let size = (status.len() as usize).next_multiple_of(HUGE);
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: fresh memory is reserved, and the file mapped over a part of it that begins with a huge page; nothing is read
    // or written there, and all of it is given back.
    unsafe {
        let room = libc::mmap(std::ptr::null_mut(), size + HUGE, libc::PROT_NONE, private, -1, 0);
        if room == libc::MAP_FAILED {
            return;
        }
        let start = room.byte_add((room as usize).next_multiple_of(HUGE) - room as usize);
        let fixed = libc::MAP_SHARED | libc::MAP_FIXED;
        if libc::mmap(start, size, libc::PROT_READ, fixed, file.as_raw_fd(), 0) != libc::MAP_FAILED {
            // One by one: where the file has a hole there is nothing to collapse, which is no reason to stop.
            for at in (0..size).step_by(HUGE) {
                libc::madvise(start.byte_add(at), HUGE, MADV_COLLAPSE);
            }
        }
        libc::munmap(room, size + HUGE);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::coverage::patched::memory_file;

    /// Whether the kernel has huge pages or not.
    #[test]
    fn a_collapsed_file_has_its_bytes_and_what_is_written_to_it_later() {
        let file = memory_file(c"sample").expect("a file in memory");
        // A hole in front, and an end within a huge page.
        let (start, size) = (3 * HUGE as u64 + 12_288, 2 * HUGE + 5000);
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        file.set_len(start + size as u64 + 100).expect("room");
        file.write_all_at(&bytes, start).expect("written");
        // SAFETY: fresh memory at a place of the kernel's choice, read below within its size.
        let mapped = unsafe {
            let at = libc::mmap(
                std::ptr::null_mut(),
                size + 12_288,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                3 * HUGE as i64,
            );
            assert_ne!(at, libc::MAP_FAILED);
            std::slice::from_raw_parts(at.byte_add(12_288).cast::<u8>(), size)
        };
        assert!(mapped == bytes);
        collapse(&file);
        assert!(mapped == bytes);
        let mut read = vec![0; size];
        file.read_exact_at(&mut read, start).expect("read");
        assert!(read == bytes);
        let mut hole = vec![1; HUGE];
        file.read_exact_at(&mut hole, HUGE as u64).expect("read");
        assert!(hole.iter().all(|byte| *byte == 0));
        for at in [0, 1, HUGE, 2 * HUGE + 4999] {
            file.write_all_at(&[0xcc], start + at as u64).expect("written");
            // SAFETY: within the mapping; the compiler does not know that the file is written to.
            assert_eq!(unsafe { mapped.as_ptr().add(at).read_volatile() }, 0xcc);
        }
    }
}
