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

use object::read::{ReadCache, elf::ElfFile64};
use object::{Object, ObjectSymbol};

use super::{ExecMode, job};

/// The environment variable that turns all of it off when it is `off`, to measure what it is worth.
pub const TUNING_VARIABLE: &str = "OSPREY_TUNING";

/// Whether the user's environment wants it.
pub fn wanted() -> bool {
    std::env::var_os(TUNING_VARIABLE).is_none_or(|value| value != "off")
}

/// Huge pages for fresh memory, which is got 32 MiB at a time, never given back, and used for all but the largest
/// blocks. Unknown to C libraries before 2.35, which ignore it.
const ALLOCATOR: &str = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432:\
                         glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=33554432";

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
}

impl Tuning {
    pub fn new(wanted: bool) -> Self {
        let setting = fs::read_to_string(HUGE_PAGES).unwrap_or_default();
        let huge_pages = setting.contains("[always]") || setting.contains("[madvise]");
        Tuning { wanted, huge_pages, programs: Vec::new() }
    }

    /// Whether huge pages are wanted, and the kernel gives any.
    pub fn huge_pages(&self) -> bool {
        self.wanted && self.huge_pages
    }

    /// The setting of the allocator, for a run in this mode whose own variables are these. Not for plain starts, which are
    /// what a user would start, nor for cvc5, which uses too little memory to gain from it.
    pub fn allocator(&self, mode: ExecMode, own: &[Vec<u8>]) -> Option<CString> {
        let gains = matches!(mode, ExecMode::ForkServer | ExecMode::PrefixSnapshot);
        let set = own.iter().any(|entry| entry.starts_with(b"GLIBC_TUNABLES="));
        let wanted = self.huge_pages() && gains && !set;
        wanted.then(|| CString::new(ALLOCATOR).unwrap_or_default())
    }

    /// What a server is told; of this program, if it is one that may clear up behind its answers.
    pub fn server(&mut self, program: Option<&Path>) -> Option<CString> {
        if !self.wanted {
            return None;
        }
        let Some(program) = program else { return CString::new(told("")).ok() };
        if let Some((_, told)) = self.programs.iter().find(|(known, _)| known == program) {
            return Some(told.clone());
        }
        let functions: Vec<String> =
            clearing_up(program).iter().map(|address| format!("{address:x}")).collect();
        let told = CString::new(told(&functions.join(","))).ok()?;
        self.programs.push((program.to_owned(), told.clone()));
        Some(told)
    }
}

fn told(functions: &str) -> String {
    format!("{}={functions}", job::TUNED.trim_end_matches('\0'))
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
    let wanted = |name: &[u8]| {
        CLEARING_UP.iter().any(|start| name.starts_with(start))
            && !name.windows(5).any(|part| part == b".cold")
    };
    let mut addresses: Vec<u64> = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.name_bytes().is_ok_and(wanted))
        .map(|symbol| symbol.address())
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
        let tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new() };
        let own = |entry: &str| tuning.allocator(ExecMode::ForkServer, &[entry.as_bytes().to_vec()]);
        assert!(own("A=b").is_some());
        assert_eq!(own("GLIBC_TUNABLES=glibc.malloc.check=3"), None);
    }

    #[test]
    fn a_plain_start_is_left_alone() {
        let tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new() };
        assert_eq!(tuning.allocator(ExecMode::Plain, &[]), None);
    }

    #[test]
    fn nothing_is_set_where_it_is_not_wanted_or_the_kernel_has_no_huge_pages() {
        let own = std::env::current_exe().expect("our own path");
        let mut unwanted = Tuning { wanted: false, huge_pages: true, programs: Vec::new() };
        let snapshot = ExecMode::PrefixSnapshot;
        assert_eq!((unwanted.allocator(snapshot, &[]), unwanted.server(Some(&own))), (None, None));
        let small = Tuning { wanted: true, huge_pages: false, programs: Vec::new() };
        assert_eq!(small.allocator(snapshot, &[]), None);
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
        let mut tuning = Tuning { wanted: true, huge_pages: true, programs: Vec::new() };
        let script = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(script.path(), "#!/bin/sh\n").expect("written");
        for _ in 0..2 {
            assert_eq!(tuning.server(Some(script.path())).as_deref(), Some(c"OSPREY_TUNED="));
        }
        assert_eq!(tuning.programs.len(), 1);
    }
}
