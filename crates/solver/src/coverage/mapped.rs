//! A patched copy in the launcher's own memory, so that a trap is set by one store in place of a system call.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU8, Ordering};

/// A file that is mapped to be written to, by the launcher alone: its children do not inherit the mapping.
pub(super) struct Mapped {
    start: *mut libc::c_void,
    length: usize,
}

impl Mapped {
    /// Maps a whole file of this many bytes.
    pub fn new(file: &File, length: u64) -> io::Result<Mapped> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        // SAFETY: a new mapping at a place that the kernel chooses touches no memory that is in use; the descriptor is open.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapped = Mapped { start, length };
        // SAFETY: the mapping was made just now with this length. The advice changes what a fork copies, and nothing else.
        if unsafe { libc::madvise(start, length, libc::MADV_DONTFORK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(mapped)
    }

    /// Writes one byte. Processes that execute the file see it as they would see it written by a call.
    pub fn set(&self, offset: u64, byte: u8) {
        let Some(offset) = usize::try_from(offset).ok().filter(|offset| *offset < self.length) else {
            return;
        };
        // SAFETY: the place is inside the mapping, which lives as long as `self`, and the file is never made shorter. Others
        // write to the same bytes, so the access is atomic.
        let place = unsafe { AtomicU8::from_ptr(self.start.cast::<u8>().add(offset)) };
        place.store(byte, Ordering::Relaxed);
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nobody else knows of it.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_is_stored_is_in_the_file() {
        let file = super::super::patched::memory_file(c"osprey-test").expect("a file");
        file.set_len(10_000).expect("its length");
        let mapped = Mapped::new(&file, 10_000).expect("mapped");
        mapped.set(0, 1);
        mapped.set(9_999, 2);
        mapped.set(10_000, 3);
        let mut bytes = vec![0; 10_000];
        file.read_exact_at(&mut bytes, 0).expect("read");
        assert_eq!((bytes[0], bytes[9_999]), (1, 2));
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 2);
    }
}
