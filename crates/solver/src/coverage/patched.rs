//! The launcher's side of the probe: patched copies of a solver's files, and the log of what was reached.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::list::SiteList;
use super::mapped::Mapped;
use super::sites::TRAP;
use super::usual::Usual;
use super::{ProbeFile, ProbeRequest, ProbeWay, Trace, huge};
use crate::fast::probe::{self, FIRST_COPY_FD, LOG_FD, MOST_PARTS, Part, Table};

const PAGE: u64 = 4096;

/// Descriptors that the launcher keeps are from here on: below are those that it hands to children at fixed places.
const KEPT: libc::c_int = 300;

/// How many it may keep there, amply.
const MANY: u64 = 200;

/// The probes a launcher has made, one for each solver and kind of trace.
pub(crate) struct Probes {
    made: Vec<(ProbeRequest, Result<Probe, String>)>,
    /// Whether patched copies are put into huge pages.
    huge: bool,
}

impl Probes {
    pub fn new(huge: bool) -> Self {
        Probes { made: Vec::new(), huge }
    }

    /// The probe for a request, made at its first sight. The error says why there is none.
    pub fn get(&mut self, request: &ProbeRequest) -> Result<&mut Probe, String> {
        let at = match self.made.iter().position(|(known, _)| known == request) {
            Some(at) => at,
            None => {
                let made = Probe::new(request, self.huge).map_err(|error| error.to_string());
                self.made.push((request.clone(), made));
                self.made.len() - 1
            }
        };
        self.made[at].1.as_mut().map_err(|reason| reason.clone())
    }

    /// The same, if it has been made.
    pub fn made(&self, request: &ProbeRequest) -> Option<&Probe> {
        self.made.iter().find(|(known, _)| known == request).and_then(|(_, probe)| probe.as_ref().ok())
    }

    /// It does more harm than good: it is not to be tried again.
    pub fn give_up(&mut self, request: &ProbeRequest, reason: &str) {
        if let Some((_, probe)) = self.made.iter_mut().find(|(known, _)| known == request) {
            *probe = Err(reason.to_owned());
        }
    }
}

/// Patched copies of all files of a solver, and what was reached in them.
pub(crate) struct Probe {
    copies: Vec<Copy>,
    log: File,
    /// How much of the log has been read.
    read: u64,
    trace: Trace,
    /// Executed, not mapped over what was loaded.
    executed: bool,
    usual: Usual,
}

impl Probe {
    fn new(request: &ProbeRequest, huge: bool) -> io::Result<Probe> {
        let executed = request.way == ProbeWay::Executed;
        let mut copies = Vec::new();
        let mut first = 0;
        for file in &request.files {
            let copy = Copy::new(file, first, request.trace, executed)?;
            if huge {
                huge::collapse(&copy.patched);
            }
            first += copy.list.sites.len() as u32;
            copies.push(copy);
        }
        let log = memory_file(c"osprey-log")?;
        let table = table(&copies)?;
        // SAFETY: the table is made of integers without padding, and lives through the call.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const table).cast::<u8>(), size_of::<Table>()) };
        (&log).write_all(bytes)?;
        // SAFETY: the descriptor is ours and open; `F_SETFL` takes an integer.
        if unsafe { libc::fcntl(log.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let usual = Usual::default();
        Ok(Probe { copies, log, read: size_of::<Table>() as u64, trace: request.trace, executed, usual })
    }

    /// The descriptors that a process must have to be watched from inside, and their places.
    pub fn descriptors(&self) -> Vec<(RawFd, RawFd)> {
        let mut all = vec![(self.log.as_raw_fd(), LOG_FD)];
        for (number, copy) in self.copies.iter().enumerate() {
            let place = FIRST_COPY_FD + 2 * number as RawFd;
            all.push((copy.patched.as_raw_fd(), place));
            all.push((copy.original.as_raw_fd(), place + 1));
        }
        all
    }

    /// The program that is to be executed in place of the solver's, where it is watched from outside.
    pub fn executable(&self) -> Option<RawFd> {
        self.executed.then(|| self.copies.first().map(|copy| copy.patched.as_raw_fd())).flatten()
    }

    /// The original byte of the site at this place of the executed file, if there is a trap of ours, which is logged.
    pub fn trap_at(&self, address: u64) -> Option<u8> {
        let copy = self.copies.first()?;
        let offset = copy.list.segments.iter().find_map(|segment| {
            let place = address.checked_sub(segment.address).filter(|place| *place < segment.size)?;
            Some(place + segment.offset)
        })?;
        copy.list.sites.binary_search(&u32::try_from(offset).ok()?).ok()?;
        let mut byte = [TRAP];
        copy.original.read_exact_at(&mut byte, offset).ok()?;
        (&self.log).write_all(&probe::entry(0, offset).to_ne_bytes()).ok()?;
        (byte[0] != TRAP).then_some(byte[0])
    }

    /// The largest file that a watched process writes to: a trap is removed from the patched copy.
    pub fn largest_file(&self) -> u64 {
        let sizes = self.copies.iter().map(|copy| copy.patched.metadata().map_or(0, |data| data.len()));
        sizes.max().unwrap_or(0)
    }

    /// Whether the executed file counts addresses from zero.
    pub fn is_movable(&self) -> bool {
        self.copies.first().is_some_and(|copy| !copy.list.fixed)
    }

    /// The sites reached since the last call, in order: of all files one after the other. They do not trap again, unless
    /// everything that a run reaches is wanted. `before` is what the start of its server has reached.
    pub fn take(&mut self, before: &[u32]) -> io::Result<Vec<u32>> {
        let mut reached = self.logged()?;
        match self.trace {
            // A process that is watched from inside has seen to it.
            Trace::New if !self.executed => {}
            Trace::New => self.write_sites(&reached, false)?,
            Trace::Functions | Trace::Blocks => {
                self.write_sites(&reached, true)?;
                reached = united(reached, before);
            }
            Trace::Approximate => {
                self.write_sites(&reached, true)?;
                reached = united(reached, before);
                let usual = self.usual.observe(&reached);
                self.write_sites(&usual, false)?;
                reached = united(reached, &self.usual.sites);
            }
        }
        Ok(reached)
    }

    /// What the start of a server has reached, for the traces of its jobs. What is new is told with the first job.
    pub fn take_start(&mut self) -> io::Result<Vec<u32>> {
        if self.trace == Trace::New {
            return Ok(Vec::new());
        }
        let reached = self.logged()?;
        self.write_sites(&reached, true)?;
        Ok(reached)
    }

    /// What is new in the log, in order.
    fn logged(&mut self) -> io::Result<Vec<u32>> {
        let end = self.log.metadata()?.len();
        if end <= self.read {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; (end - self.read) as usize];
        self.log.read_exact_at(&mut bytes, self.read)?;
        self.read = end;
        let mut reached = Vec::new();
        // What a solver may have written is not taken for a site.
        for entry in bytes.as_chunks::<8>().0 {
            let entry = u64::from_ne_bytes(*entry);
            let Some(copy) = self.copies.get((entry >> 32) as usize) else { continue };
            if let Ok(site) = copy.list.sites.binary_search(&(entry as u32)) {
                reached.push(copy.first + site as u32);
            }
        }
        reached.sort_unstable();
        reached.dedup();
        Ok(reached)
    }

    /// Makes sites trap, or no more.
    fn write_sites(&self, reached: &[u32], trap: bool) -> io::Result<()> {
        for copy in &self.copies {
            let last = copy.first + copy.list.sites.len() as u32;
            let from = reached.partition_point(|site| *site < copy.first);
            let to = reached.partition_point(|site| *site < last);
            if from == to {
                continue;
            }
            // A file that is executed cannot be mapped to be written to, nor one executed that is open to be written to.
            let opened = if copy.mapped.is_none() { Some(writable(&copy.patched)?) } else { None };
            for site in &reached[from..to] {
                let offset = u64::from(copy.list.sites[(site - copy.first) as usize]);
                let mut byte = [TRAP];
                if !trap {
                    copy.original.read_exact_at(&mut byte, offset)?;
                }
                match (&copy.mapped, &opened) {
                    (Some(mapped), _) => mapped.set(offset, byte[0]),
                    (None, file) => file.as_ref().unwrap_or(&copy.patched).write_all_at(&byte, offset)?,
                }
            }
        }
        Ok(())
    }
}

/// Both, in order.
fn united<'s>(mut sites: Vec<u32>, others: impl IntoIterator<Item = &'s u32>) -> Vec<u32> {
    sites.extend(others);
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// A file with traps in it.
struct Copy {
    original: File,
    patched: File,
    /// The patched file in memory, unless it is executed.
    mapped: Option<Mapped>,
    list: SiteList,
    /// The number of its first site.
    first: u32,
}

impl Copy {
    fn new(file: &ProbeFile, first: u32, trace: Trace, whole: bool) -> io::Result<Copy> {
        let list = SiteList::read(Path::new(std::ffi::OsStr::from_bytes(&file.list)))?;
        let original = kept(File::open(Path::new(std::ffi::OsStr::from_bytes(&file.path)))?)?;
        let mut patched = memory_file(c"osprey-patched")?;
        let size = original.metadata()?.len();
        may_be_written(size)?;
        patched.set_len(size)?;
        let all = [(0, size)];
        let parts: Vec<(u64, u64)> =
            list.segments.iter().map(|segment| pages(segment.offset, segment.size)).collect();
        for (start, end) in if whole { &all[..] } else { &parts } {
            let mut bytes = vec![0; (end.min(&size) - start) as usize];
            original.read_exact_at(&mut bytes, *start)?;
            let mut patch = |site: u32| {
                if let Some(byte) =
                    u64::from(site).checked_sub(*start).and_then(|at| bytes.get_mut(at as usize))
                {
                    *byte = TRAP;
                }
            };
            match trace {
                Trace::New | Trace::Blocks => list.sites.iter().for_each(|site| patch(*site)),
                Trace::Functions | Trace::Approximate => {
                    list.functions.iter().for_each(|place| patch(list.sites[*place as usize]))
                }
            }
            patched.write_all_at(&bytes, *start)?;
        }
        let mapped = if whole {
            patched = reopened(&patched, OpenOptions::new().read(true))?;
            None
        } else {
            Some(Mapped::new(&patched, size)?)
        };
        Ok(Copy { original, patched: kept(patched)?, mapped, list, first })
    }
}

/// The whole pages that a part of a file is on.
fn pages(offset: u64, size: u64) -> (u64, u64) {
    (offset - offset % PAGE, (offset + size).next_multiple_of(PAGE))
}

fn table(copies: &[Copy]) -> io::Result<Table> {
    let mut table = Table::EMPTY;
    for (number, copy) in copies.iter().enumerate() {
        let status = copy.original.metadata()?;
        for segment in &copy.list.segments {
            let at = table.count as usize;
            if at == MOST_PARTS {
                return Err(io::Error::other(format!("its code is in more than {MOST_PARTS} parts")));
            }
            let (offset, end) = pages(segment.offset, segment.size);
            table.parts[at] = Part {
                device: status.dev(),
                inode: status.ino(),
                address: segment.address - segment.address % PAGE,
                length: end - offset,
                offset,
                file: number as u64,
            };
            table.count += 1;
        }
    }
    Ok(table)
}

pub(super) fn memory_file(name: &std::ffi::CStr) -> io::Result<File> {
    // SAFETY: the name ends with a zero byte.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened just now and nobody else has it.
    kept(unsafe { File::from_raw_fd(fd) })
}

/// Whether a file of this size may be written at all: a process that tries to write more than it may is killed.
fn may_be_written(size: u64) -> io::Result<()> {
    let most = limit_of(libc::RLIMIT_FSIZE);
    if size <= most {
        return Ok(());
    }
    let text = format!("its copy would have {size} bytes, and files may have {most} here (`ulimit -f`)");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
}

/// What this process may use of something now.
fn limit_of(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the kernel writes to a struct of the right type that lives through the call.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_cur
}

/// The same file at a descriptor that is in nobody's way.
fn kept(file: File) -> io::Result<File> {
    // SAFETY: the descriptor is open; the call takes integers.
    let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, KEPT) };
    if fd < 0 {
        let error = io::Error::last_os_error();
        let most = limit_of(libc::RLIMIT_NOFILE);
        if most <= KEPT as u64 + MANY {
            let text = format!("too few files may be open: {most} (`ulimit -n`), {} are wanted", 2 * KEPT);
            return Err(io::Error::new(error.kind(), text));
        }
        return Err(error);
    }
    // SAFETY: the descriptor was made just now and nobody else has it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn writable(file: &File) -> io::Result<File> {
    reopened(file, OpenOptions::new().write(true))
}

fn reopened(file: &File, options: &OpenOptions) -> io::Result<File> {
    options.open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
