//! What makes runs cost the kernel less than a plain start does: larger pages, and no clearing up behind an answer.
//!
//! * The C library's allocator is told to ask for huge pages, in large steps, and to keep what it has.
//! * The code of a server that is used often is put into huge pages, and its children copy their heap in such (`pages.rs`).
//! * A job whose input has been closed has said everything; functions that only free memory then return at once.
//!
//! None of it changes what a solver computes. Where kernel, C library or executable do not play along, a run simply costs
//! more. Runs that were asked to start plainly are left alone: they are what a user would start.

use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, Sym as _};
use object::read::{ReadCache, StringTable};
use object::{Object as _, ObjectSection as _};

use crate::limits::Limits;

use super::{ExecMode, job};

/// The environment variable that turns all of it off when it is `off`, to measure what it is worth.
pub const TUNING_VARIABLE: &str = "OSPREY_TUNING";

/// Whether the user's environment wants it.
pub fn wanted() -> bool {
    std::env::var_os(TUNING_VARIABLE).is_none_or(|value| value != "off")
}

/// Where the kernel says whether it gives huge pages.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// What frees everything at the end, by its name in the executable: Z3's destructor of the state of a script, which
/// takes longer than many a check. Compilers make several versions of it.
const CLEARING_UP: [&[u8]; 1] = [b"_ZN11cmd_contextD"];

/// More versions than any compiler makes.
const MOST_FUNCTIONS: usize = 8;

/// The tuning of one launcher's runs.
pub(crate) struct Tuning {
    wanted: bool,
    huge_pages: bool,
    /// For each program, what its servers are told.
    programs: Vec<(PathBuf, CString)>,
    /// Programs that do not start when all functions of libraries are looked up at once: one of them is missing, and
    /// never called.
    lazy: Vec<Vec<u8>>,
}

impl Tuning {
    pub fn new(wanted: bool) -> Self {
        let setting = fs::read_to_string(HUGE_PAGES).unwrap_or_default();
        let huge_pages = setting.contains("[always]") || setting.contains("[madvise]");
        Tuning { wanted, huge_pages, programs: Vec::new(), lazy: Vec::new() }
    }

    /// Whether the functions of libraries are looked up when a server of this program starts.
    pub fn binds(&self, program: &[u8]) -> bool {
        self.wanted && !self.lazy.iter().any(|lazy| lazy == program)
    }

    /// A server of this program has not started. Tells whether to try once more: without having them looked up.
    pub fn bind_lazily(&mut self, program: &[u8]) -> bool {
        let binds = self.binds(program);
        if binds {
            self.lazy.push(program.to_vec());
        }
        binds
    }

    /// Whether huge pages are wanted, and the kernel gives any.
    pub fn huge_pages(&self) -> bool {
        self.wanted && self.huge_pages
    }

    /// The setting of the allocator, for a run like this whose own variables are these. Not for plain starts, which are
    /// what a user would start, nor for cvc5, which uses too little memory to gain from it, nor where 32 MiB are much.
    pub fn allocator(&self, mode: ExecMode, limits: &Limits, own: &[Vec<u8>]) -> Option<CString> {
        let gains = matches!(mode, ExecMode::ForkServer | ExecMode::PrefixSnapshot);
        let set = own.iter().any(|entry| entry.starts_with(b"GLIBC_TUNABLES="));
        let wanted = self.huge_pages() && gains && !set && is_roomy(limits);
        wanted.then(|| setting(job::ALLOCATOR, job::ALLOCATOR_SETTING))
    }

    /// The variables of a run that is only the first of its kind: a plain start with the allocator's setting, which the
    /// preloaded library removes before `main`.
    pub fn first_run(&self, mode: ExecMode, limits: &Limits, own: &[Vec<u8>]) -> Option<[CString; 2]> {
        let preloads = own.iter().any(|entry| entry.starts_with(b"LD_PRELOAD="));
        let allocator = self.allocator(mode, limits, own).filter(|_| !preloads)?;
        Some([allocator, setting(job::TUNED, "")])
    }

    /// What a server for runs under such limits is told; of this program, if it is one that may clear up behind its
    /// answers.
    pub fn server(&mut self, program: Option<&Path>, limits: &Limits) -> Option<CString> {
        if !self.wanted || !is_roomy(limits) {
            return None;
        }
        let Some(program) = program else { return Some(setting(job::TUNED, "")) };
        if let Some((_, told)) = self.programs.iter().find(|(known, _)| known == program) {
            return Some(told.clone());
        }
        let functions: Vec<String> =
            clearing_up(program).iter().map(|address| format!("{address:x}")).collect();
        let told = setting(job::TUNED, &functions.join(","));
        self.programs.push((program.to_owned(), told.clone()));
        Some(told)
    }
}

/// Whether a run may use so much memory that some more for larger pages does not matter.
pub(super) fn is_roomy(limits: &Limits) -> bool {
    limits.memory.is_none_or(|memory| memory >= job::ROOMY)
}

/// A variable; the strings that the preloaded library shares end with a zero byte.
fn setting(name: &str, value: &str) -> CString {
    let text = format!("{}={}", name.trim_end_matches('\0'), value.trim_end_matches('\0'));
    CString::new(text).unwrap_or_default()
}

/// The addresses of the functions that only clear up, as far as the executable names them.
fn clearing_up(program: &Path) -> Vec<u64> {
    // The instruction that returns is known for this one.
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let Ok(file) = File::open(program) else { return Vec::new() };
    let cache = ReadCache::new(file);
    let Ok(file) = ElfFile64::<object::Endianness, _>::parse(&cache) else { return Vec::new() };
    // All names at once: one by one they are hundreds of thousands of calls of the kernel.
    let Some(names) = file.section_by_name(".strtab").and_then(|section| section.data().ok()) else {
        return Vec::new();
    };
    let (endian, names) = (file.endian(), StringTable::new(names, 0, names.len() as u64));
    let wanted = |name: &[u8]| {
        CLEARING_UP.iter().any(|start| name.starts_with(start))
            && !name.windows(5).any(|part| part == b".cold")
    };
    let symbols = file.elf_symbol_table().iter();
    let mut addresses: Vec<u64> = symbols
        .filter(|symbol| symbol.is_definition(endian, names) && symbol.name(endian, names).is_ok_and(wanted))
        .map(|symbol| symbol.st_value(endian))
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(MOST_FUNCTIONS);
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_its_own_setting_of_the_allocator() {
        let tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        let own = |entry: &str| {
            tuning.allocator(ExecMode::ForkServer, &Limits::default(), &[entry.as_bytes().to_vec()])
        };
        assert!(own("A=b").is_some());
        assert_eq!(own("GLIBC_TUNABLES=glibc.malloc.check=3"), None);
    }

    #[test]
    fn a_plain_start_is_left_alone() {
        let tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        assert_eq!(tuning.allocator(ExecMode::Plain, &Limits::default(), &[]), None);
        assert_eq!(tuning.first_run(ExecMode::Plain, &Limits::default(), &[]), None);
    }

    #[test]
    fn a_run_with_little_memory_is_left_alone() {
        let mut tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        for (megabytes, expected) in [(48, false), (255, false), (256, true), (4096, true)] {
            let limits = Limits { memory: Some(megabytes << 20), ..Limits::default() };
            assert_eq!(tuning.allocator(ExecMode::PrefixSnapshot, &limits, &[]).is_some(), expected);
            assert_eq!(tuning.server(None, &limits).is_some(), expected, "{megabytes} MiB");
        }
    }

    #[test]
    fn a_first_run_with_a_preloaded_library_of_its_own_is_left_alone() {
        let tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        let first = |own: &str| {
            tuning.first_run(ExecMode::PrefixSnapshot, &Limits::default(), &[own.as_bytes().to_vec()])
        };
        assert!(first("A=b").is_some());
        assert_eq!(first("LD_PRELOAD=other.so"), None);
    }

    #[test]
    fn nothing_is_set_where_it_is_not_wanted_or_the_kernel_has_no_huge_pages() {
        let own = std::env::current_exe().expect("our own path");
        let mut unwanted = Tuning { wanted: false, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        let snapshot = ExecMode::PrefixSnapshot;
        let limits = Limits::default();
        assert_eq!(unwanted.allocator(snapshot, &limits, &[]), None);
        assert_eq!(unwanted.server(Some(&own), &limits), None);
        let small = Tuning { wanted: true, huge_pages: false, programs: Vec::new(), lazy: Vec::new() };
        assert_eq!(small.allocator(snapshot, &limits, &[]), None);
    }

    #[test]
    fn z3_names_what_it_frees_at_the_end() {
        for spec in ["z3@5.4.0", "z3@4.8.7"] {
            let Some(solver) = testkit::get(spec) else { continue };
            let line = solver.line(&Default::default(), "input.smt2").expect("a command line");
            assert!((2..=MOST_FUNCTIONS).contains(&clearing_up(&line.program).len()), "{spec}");
        }
    }

    #[test]
    fn a_program_without_such_functions_has_none_to_skip() {
        let mut tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new(), lazy: Vec::new() };
        let script = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(script.path(), "#!/bin/sh\n").expect("written");
        for _ in 0..2 {
            let told = tuning.server(Some(script.path()), &Limits::default());
            assert_eq!(told.as_deref(), Some(c"OSPREY_TUNED="));
        }
        assert_eq!(tuning.programs.len(), 1);
    }
}
