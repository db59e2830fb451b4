//! Large pages for a process that is forked again and again.
//!
//! *Code.* A child inherits no page table entries for mapped files, so each one meets hundreds of faults in code that its
//! server has long been running. Anonymous memory is inherited: a copy of the code in huge pages costs a child one entry
//! per 2 MiB and no fault at all. What lies before the first and behind the last whole huge page of a mapping stays
//! in its file: copied, it would be up to 1,000 small pages that each fork copies the entries of and each exit clears.
//!
//! *Heap.* A child that writes to what its server has allocated copies it page by page, at a fault each. A solver writes
//! to most of a small heap, and of a large one to its end: a huge page copied at once costs as much as some seventy of
//! these faults.
//!
//! Compiled twice, like `job.rs`, and under the same rules: only `core` and C functions, and nothing is allocated.

use core::ffi::{c_char, c_int, c_void};

use super::job;

unsafe extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn pread(fd: c_int, bytes: *mut c_void, count: usize, offset: i64) -> isize;
    fn mmap(at: *mut c_void, size: usize, rights: c_int, flags: c_int, fd: c_int, offset: i64)
    -> *mut c_void;
    fn munmap(at: *mut c_void, size: usize) -> c_int;
    fn mprotect(at: *mut c_void, size: usize, rights: c_int) -> c_int;
    fn madvise(at: *mut c_void, size: usize, advice: c_int) -> c_int;
    fn mremap(at: *mut c_void, size: usize, new_size: usize, flags: c_int, ...) -> *mut c_void;
    fn sbrk(more: isize) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The C library's `struct mallinfo2`.
#[repr(C)]
struct Allocated {
    others: [usize; 9],
    /// What is free at the end of the heap.
    top: usize,
}

const READ: c_int = 1;
const WRITE: c_int = 2;
const EXECUTE: c_int = 4;
const PRIVATE_ANONYMOUS: c_int = 0x22;
const MADV_HUGEPAGE: c_int = 14;
const MADV_COLLAPSE: c_int = 25;
const MAY_MOVE_FIXED: c_int = 3;
const CLOSE_ON_EXEC: c_int = 0o2000000;

const HUGE: usize = 2 << 20;

/// The mappings that are looked at, at most: a solver has some twenty that are large enough.
const MOST: usize = 64;

/// A line of `/proc/self/maps`.
#[derive(Clone, Copy)]
struct Mapping {
    start: usize,
    end: usize,
    rights: c_int,
    private: bool,
    /// Zero for memory without a file.
    inode: u64,
}

impl Mapping {
    const NONE: Mapping = Mapping { start: 0, end: 0, rights: 0, private: false, inode: 0 };

    /// Code or constants from a file, large enough for a huge page.
    fn is_worth_it(&self) -> bool {
        let inside = self.inside();
        self.private
            && self.inode != 0
            && self.rights & WRITE == 0
            && self.rights & READ != 0
            && inside.start < inside.end
    }

    /// The whole huge pages in it; none if it ends before it starts.
    fn inside(&self) -> Mapping {
        Mapping { start: self.start.next_multiple_of(HUGE), end: self.end / HUGE * HUGE, ..*self }
    }
}

/// Puts the constants of this process, and with `code` its code too, into huge pages as far as they fill such, except for
/// those of the file this function is in. Code in which traps are removed while it runs must stay where everybody sees that. Where the kernel gives
/// no huge pages, everything stays as it is.
///
/// # Safety
/// Only while this process has one thread.
pub unsafe fn enlarge(code: bool) {
    let mut mappings = [Mapping::NONE; MOST];
    // SAFETY: the array is good for as many mappings as it has; the mappings are those of this process, and no other
    // thread changes them.
    unsafe {
        let found = read_mappings(&mut mappings);
        let own = enlarge as unsafe fn(bool) as usize;
        let own = mappings[..found].iter().find(|mapping| (mapping.start..mapping.end).contains(&own));
        let own = own.map_or(0, |mapping| mapping.inode);
        let wanted = |mapping: &&Mapping| mapping.inode != own && (code || mapping.rights & EXECUTE == 0);
        for mapping in mappings[..found].iter().filter(wanted) {
            if !replace(&mapping.inside()) {
                return;
            }
        }
    }
}

/// The part of the heap that children had better copy at once: whole huge pages.
#[derive(Clone, Copy)]
pub struct Blocks {
    first: usize,
    end: usize,
}

/// A copy in a huge page meets one fault, and some of the original if that is in small pages; one in small pages 512.
const FEW_FAULTS: i64 = 256;

/// Heaps of so many huge pages are copied whole, of larger ones the last page.
const SMALL: usize = 3;

impl Blocks {
    /// Finds that part in this process, whose heap is the C library's. Its first huge page may begin before the heap. None
    /// where the kernel has no huge page left for a copy: small ones would cost more than they save.
    ///
    /// # Safety
    /// Only while this process has one thread, which is not in the allocator.
    pub unsafe fn of_heap() -> Option<Blocks> {
        // SAFETY: `sbrk` with zero only tells; the function that `dlsym` finds has this type wherever it exists; the
        // first block is made of the heap's own bytes and of room that nothing is mapped to.
        unsafe {
            let allocated = dlsym(core::ptr::null_mut(), c"mallinfo2".as_ptr());
            if allocated.is_null() {
                return None;
            }
            let allocated: unsafe extern "C" fn() -> Allocated = core::mem::transmute(allocated);
            let limit = sbrk(0) as usize;
            let top = limit.checked_sub(allocated().top)?;
            let (before, heap) = around(top)?;
            let last = top / HUGE * HUGE;
            if heap.rights != READ | WRITE || heap.inode != 0 || last + HUGE > limit {
                return None;
            }
            let mut first = heap.start / HUGE * HUGE;
            if first < before {
                first = heap.start.next_multiple_of(HUGE);
            }
            if first > last {
                return None;
            }
            let faults = job::minor_faults();
            if !copy_block(last, last.max(heap.start)) || job::minor_faults() - faults > FEW_FAULTS {
                return None;
            }
            let all = (last - first) / HUGE + 1;
            if all > SMALL {
                return Some(Blocks { first: last, end: last + HUGE });
            }
            if first < heap.start && first != last && !copy_block(first, heap.start) {
                return None;
            }
            Some(Blocks { first, end: last + HUGE })
        }
    }

    /// Gives this process its own copy of them.
    ///
    /// # Safety
    /// Only in a child of the process that found them, before it has changed its heap.
    pub unsafe fn copy(self) {
        for block in (self.first..self.end).step_by(HUGE) {
            // SAFETY: the whole block is memory of the heap, which the parent had too.
            if !unsafe { copy_block(block, block) } {
                return;
            }
        }
    }
}

/// Replaces a block by a copy in a huge page of its bytes from `start` on, which may be a while after the block's beginning.
///
/// # Safety
/// The bytes from `start` to the end of the block must be private memory that may be written, and nothing may be mapped
/// to those before.
unsafe fn copy_block(block: usize, start: usize) -> bool {
    // SAFETY: the copy is made in fresh memory of a block's size and has the same bytes when it takes the block's place.
    unsafe {
        let room = mmap(core::ptr::null_mut(), 2 * HUGE, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if room as isize == -1 {
            return false;
        }
        let before = (room as usize).next_multiple_of(HUGE) - room as usize;
        let copy = room.byte_add(before);
        if before > 0 {
            munmap(room, before);
        }
        munmap(copy.byte_add(HUGE), HUGE - before);
        madvise(copy, HUGE, MADV_HUGEPAGE);
        let skipped = start - block;
        core::ptr::copy_nonoverlapping(start as *const u8, copy.byte_add(skipped).cast(), HUGE - skipped);
        if mremap(copy, HUGE, HUGE, MAY_MOVE_FIXED, block as *mut c_void) as isize == -1 {
            munmap(copy, HUGE);
            return false;
        }
    }
    true
}

/// The mapping at an address, and where the one before it ends.
///
/// # Safety
/// None beyond that of the C library's functions.
unsafe fn around(address: usize) -> Option<(usize, Mapping)> {
    let (mut before, mut at) = (0, None);
    // SAFETY: as for the function called.
    unsafe {
        each_mapping(|mapping| {
            if (mapping.start..mapping.end).contains(&address) {
                at = Some(mapping);
            } else if at.is_none() {
                before = mapping.end;
            }
        });
    }
    at.map(|mapping| (before, mapping))
}

/// Replaces whole huge pages of a mapping by a copy in such; `false` if there are none.
///
/// # Safety
/// They must be part of a mapping of this process that nobody writes to.
unsafe fn replace(mapping: &Mapping) -> bool {
    let size = mapping.end - mapping.start;
    // SAFETY: the copy is made in fresh memory of sufficient size; the last call puts it, whole and with the same
    // rights, where the original was, so what runs or reads there meets the same bytes before and after.
    unsafe {
        let room = mmap(core::ptr::null_mut(), size + HUGE, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if room as isize == -1 {
            return false;
        }
        // Huge pages can be moved as such only between places that are equal modulo their size.
        let before = mapping.start.wrapping_sub(room as usize) % HUGE;
        let copy = room.byte_add(before);
        madvise(copy, size, MADV_HUGEPAGE);
        core::ptr::copy_nonoverlapping(mapping.start as *const u8, copy.cast(), size);
        // Huge pages may not have been at hand: this makes them, or says that it cannot.
        if madvise(copy, size, MADV_COLLAPSE) != 0
            || mprotect(copy, size, mapping.rights) != 0
            || mremap(copy, size, size, MAY_MOVE_FIXED, mapping.start as *mut c_void) as isize == -1
        {
            munmap(room, size + HUGE);
            return false;
        }
        if before > 0 {
            munmap(room, before);
        }
        munmap(copy.byte_add(size), HUGE - before);
    }
    true
}

/// The mappings of this process that are worth it, and how many they are.
///
/// # Safety
/// None beyond that of the C library's functions.
unsafe fn read_mappings(mappings: &mut [Mapping; MOST]) -> usize {
    let mut found = 0;
    // SAFETY: as for the function called.
    unsafe {
        each_mapping(|mapping| {
            if mapping.is_worth_it() && found < MOST {
                mappings[found] = mapping;
                found += 1;
            }
        });
    }
    found
}

/// All mappings of this process.
///
/// # Safety
/// None beyond that of the C library's functions.
unsafe fn each_mapping(mut each: impl FnMut(Mapping)) {
    // SAFETY: the path ends with a zero byte; the kernel writes at most as many bytes as `text` has.
    unsafe {
        let fd = open(c"/proc/self/maps".as_ptr(), CLOSE_ON_EXEC);
        if fd < 0 {
            return;
        }
        let mut at = 0;
        let mut line = Line::default();
        let mut text = [0u8; 2048];
        loop {
            let length = pread(fd, text.as_mut_ptr().cast(), text.len(), at);
            if length <= 0 {
                break;
            }
            at += length as i64;
            for byte in &text[..length as usize] {
                if let Some(mapping) = line.take(*byte) {
                    each(mapping);
                }
            }
        }
        close(fd);
    }
}

/// Reads `start-end rights offset device inode name`, byte by byte.
struct Line {
    mapping: Mapping,
    field: u8,
}

impl Default for Line {
    fn default() -> Self {
        Line { mapping: Mapping::NONE, field: 0 }
    }
}

impl Line {
    /// The mapping, at the end of its line.
    fn take(&mut self, byte: u8) -> Option<Mapping> {
        let digit = (byte as char).to_digit(16).unwrap_or(0);
        let mapping = &mut self.mapping;
        match (self.field, byte) {
            (_, b'\n') => return Some(core::mem::take(self).mapping),
            (0, b'-') | (1..=5, b' ') => self.field += 1,
            (0, _) => mapping.start = mapping.start << 4 | digit as usize,
            (1, _) => mapping.end = mapping.end << 4 | digit as usize,
            (2, b'r') => mapping.rights |= READ,
            (2, b'w') => mapping.rights |= WRITE,
            (2, b'x') => mapping.rights |= EXECUTE,
            (2, b'p') => mapping.private = true,
            (5, _) => mapping.inode = mapping.inode.wrapping_mul(10).wrapping_add(u64::from(digit)),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(line: &str) -> Mapping {
        let mut reader = Line::default();
        let mut mappings = line.bytes().chain([b'\n']).filter_map(|byte| reader.take(byte));
        let mapping = mappings.next().expect("a mapping");
        assert!(mappings.next().is_none());
        mapping
    }

    #[test]
    fn large_private_code_and_constants_of_files_are_worth_it() {
        let code = mapping("00414000-018fc000 r-xp 00014000 fe:00 1299 /opt/z3 (deleted) 7-8 rw");
        assert_eq!((code.start, code.end, code.inode), (0x41_4000, 0x18f_c000, 1299));
        assert_eq!(code.rights, READ | EXECUTE);
        assert!(code.is_worth_it());
        let inside = code.inside();
        assert_eq!((inside.start, inside.end, inside.rights), (0x60_0000, 0x180_0000, READ | EXECUTE));
        assert!(mapping("018fc000-02c23000 r--p 014fc000 fe:00 1299   /opt/z3").is_worth_it());
        for other in [
            "00414000-018fc000 rw-p 00014000 fe:00 1299 /opt/z3",
            "00414000-018fc000 r-xs 00014000 fe:00 1299 /opt/z3",
            "00414000-018fc000 ---p 00014000 fe:00 1299 /opt/z3",
            "00414000-018fc000 r-xp 00000000 00:00 0",
            "00414000-007fc000 r-xp 00014000 fe:00 1299 /opt/small",
            "7ffd548cee30-7ffd55000000 rw-p 00000000 00:00 0 [stack]",
        ] {
            assert!(!mapping(other).is_worth_it(), "{other}");
        }
    }
}
