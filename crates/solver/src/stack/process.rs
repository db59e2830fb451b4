//! Memory and mappings of a process that stands still.

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A part of an address space.
pub(super) struct Mapping {
    pub start: u64,
    pub end: u64,
    /// Where in the file it begins.
    pub offset: u64,
    pub readable: bool,
    pub executable: bool,
    /// The file, if it is one's.
    pub path: Option<PathBuf>,
}

/// A process that stands still, seen from outside.
pub(super) struct Process {
    memory: File,
    pub mappings: Vec<Mapping>,
    /// What was read last: the words of a stack are neighbours.
    window: RefCell<Window>,
}

#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

const WINDOW: usize = 64 << 10;

/// Smallest unit of memory; windows begin at a multiple of it.
const PAGE: u64 = 4096;

impl Process {
    /// `None` where the kernel does not let us look.
    pub fn open(pid: libc::pid_t) -> Option<Process> {
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
        let mappings = String::from_utf8_lossy(&maps).lines().filter_map(mapping).collect();
        Some(Process { memory, mappings, window: RefCell::default() })
    }

    /// The mapping an address is in.
    pub fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&address))
    }

    /// The word at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.bytes(address, &mut word)?;
        Some(u64::from_le_bytes(word))
    }

    /// The bytes from an address on.
    pub fn bytes(&self, address: u64, wanted: &mut [u8]) -> Option<()> {
        let mut window = self.window.borrow_mut();
        let part = |window: &Window| -> Option<std::ops::Range<usize>> {
            let from = usize::try_from(address.checked_sub(window.start)?).ok()?;
            let to = from.checked_add(wanted.len())?;
            (to <= window.bytes.len()).then_some(from..to)
        };
        let range = match part(&window) {
            Some(range) => range,
            None => {
                let start = address - address % PAGE;
                window.start = start;
                window.bytes.resize(WINDOW, 0);
                let length = self.memory.read_at(&mut window.bytes, start).unwrap_or(0);
                window.bytes.truncate(length);
                part(&window)?
            }
        };
        wanted.copy_from_slice(&window.bytes[range]);
        Some(())
    }
}

/// A line of `/proc/PID/maps`: `start-end rwxp offset device inode path`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(words.next()?)?;
    let path = words.nth(2).map(str::trim).filter(|path| path.starts_with('/')).map(PathBuf::from);
    Some(Mapping {
        start: number(start)?,
        end: number(end)?,
        offset,
        readable: rights.starts_with('r'),
        executable: rights.as_bytes().get(2) == Some(&b'x'),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_with_its_file_and_without() {
        let code = mapping("00400000-0108f000 r-xp 00001000 fe:01 1234                       /opt/a b/z3");
        let code = code.expect("a mapping");
        assert_eq!((code.start, code.end, code.offset), (0x40_0000, 0x108_f000, 0x1000));
        assert!(code.readable && code.executable);
        assert_eq!(code.path, Some(PathBuf::from("/opt/a b/z3")));
        let stack = mapping("7ffc0000-7ffd0000 rw-p 00000000 00:00 0                          [stack]");
        let stack = stack.expect("a mapping");
        assert!(!stack.executable && stack.path.is_none());
        assert!(mapping("nonsense").is_none());
    }

    #[test]
    fn our_own_memory_is_read_where_there_is_some() {
        let own = Process::open(std::process::id() as libc::pid_t).expect("a process");
        let value = 0x1234_5678_9abc_def0_u64;
        assert_eq!(own.word(&raw const value as u64), Some(value));
        assert_eq!(own.word(8), None);
        let code = own.mapping(our_own_memory_is_read_where_there_is_some as *const () as u64);
        assert!(code.is_some_and(|code| code.executable && code.path.is_some()));
    }
}
