//! Which files of a solver are its code, with their sites.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::fast::is_dynamic;
use crate::install::{Home, How, InstallError, known_hash, sha256};
use crate::launch::{Invocation, LaunchError, Launcher, LauncherConfig};
use crate::solver::Solver;
use crate::stack::is_runtime;

use super::list::{SiteList, VERSION};
use super::{ProbeFile, ProbeRequest, ProbeWay, Trace, sites};

/// Libraries of others that solvers bring along: numbers, terminals, compression. Names that begin like this.
const COMPANIONS: [&str; 16] = [
    "libantlr",
    "libbz2",
    "libcln",
    "libcrypto",
    "libedit",
    "libflint",
    "libgmp",
    "libgomp",
    "libmpc",
    "libmpfr",
    "libncurses",
    "libreadline",
    "librt",
    "libtinfo",
    "libz.",
    "libz-",
];

/// The code of a solver.
#[derive(Clone, Debug)]
pub struct Code {
    /// Its files, in order; their sites are numbered one after the other.
    pub files: Vec<CodeFile>,
    way: ProbeWay,
}

/// One of its files.
#[derive(Clone, Debug)]
pub struct CodeFile {
    pub path: PathBuf,
    /// SHA-256 of its content: what its sites are known by.
    pub hash: String,
    pub list: Arc<SiteList>,
    /// The number of its first site.
    pub first: u32,
    remembered: PathBuf,
}

/// Why the coverage of a solver cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// One of its files.
    #[error("{}: {why}", file.display())]
    Unsupported { file: PathBuf, why: String },
    /// None of its files is code.
    #[error("{0}: no file of it holds code that can be watched")]
    NoCode(String),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// It does not run with the probe.
    #[error("{solver} cannot be watched: {why}")]
    Unwatchable { solver: String, why: String },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Install(#[from] InstallError),
}

impl CoverageError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> CoverageError {
        let path = path.to_owned();
        move |source| CoverageError::File { path, source }
    }
}

impl Code {
    /// The code of a solver. What was found in a file is remembered in the user's data directory.
    pub fn of(solver: &Solver, home: &Home) -> Result<Code, CoverageError> {
        let unsupported = |file: &Path, why: &str| {
            Err(CoverageError::Unsupported { file: file.to_owned(), why: why.to_owned() })
        };
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return unsupported(Path::new(&solver.name()), "coverage needs Linux on x86-64");
        }
        let mut way = ProbeWay::Main;
        let paths = match &solver.installed.how {
            How::Executable { path } if !is_elf(path) => {
                return unsupported(path, "it is a script; the program it starts is not known");
            }
            How::Executable { path } if is_dynamic(path) => {
                let mut paths = vec![path.clone()];
                paths.extend(libraries_of(path, &solver.installed.env)?);
                paths
            }
            How::Executable { path } => {
                way = ProbeWay::Executed;
                vec![path.clone()]
            }
            How::Cvc5Host { libraries, .. } => {
                way = ProbeWay::Host;
                // The host loads from there; the wheel's Python module is no part of it.
                let inner = libraries.join("cvc5.libs");
                libraries_below(if inner.is_dir() { &inner } else { libraries })
            }
            How::Python { module, .. } => {
                way = ProbeWay::Input;
                libraries_below(module)
            }
        };
        let mut files: Vec<CodeFile> = Vec::new();
        for path in paths {
            let path = path.canonicalize().map_err(CoverageError::file(&path))?;
            let first = files.last().map_or(0, |file| file.first + file.list.sites.len() as u32);
            files.push(CodeFile::new(path, first, home)?);
        }
        if files.is_empty() {
            return Err(CoverageError::NoCode(solver.name()));
        }
        Ok(Code { files, way })
    }

    /// What the launcher is asked for.
    pub fn probe(&self, trace: Trace) -> ProbeRequest {
        let file = |file: &CodeFile| ProbeFile {
            path: file.path.as_os_str().as_bytes().to_vec(),
            list: file.remembered.as_os_str().as_bytes().to_vec(),
        };
        let files = self.files.iter().map(file).collect();
        ProbeRequest { files, trace, way: self.way }
    }

    /// What it is known by among others: a hash of the hashes of its files.
    pub fn key(&self) -> u64 {
        let mut hash = Sha256::new();
        for file in &self.files {
            hash.update(file.hash.as_bytes());
        }
        let bytes = hash.finalize();
        u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }

    /// How many sites there are: basic blocks.
    pub fn blocks(&self) -> usize {
        self.files.iter().map(|file| file.list.sites.len()).sum()
    }

    /// How many of them are starts of functions.
    pub fn functions(&self) -> usize {
        self.files.iter().map(|file| file.list.functions.len() - file.list.parts.len()).sum()
    }

    /// The numbers of the sites at which functions start, in order.
    pub fn starts(&self) -> impl Iterator<Item = u32> {
        self.files.iter().flat_map(|file| file.list.starts().map(|start| file.first + start))
    }

    /// The share of the text that belongs to functions with sites, between 0 and 1.
    pub fn covered_text(&self) -> f64 {
        let sum = |of: fn(&SiteList) -> u64| self.files.iter().map(|file| of(&file.list)).sum::<u64>() as f64;
        sum(|list| list.covered) / sum(|list| list.text).max(1.0)
    }
}

impl CodeFile {
    /// Without reading the file where its hash is known: to read and hash the files of two solvers takes as long as hundreds of
    /// test cases.
    fn new(path: PathBuf, first: u32, home: &Home) -> Result<CodeFile, CoverageError> {
        let hash = match known_hash(&path) {
            Some(hash) => hash,
            None => sha256(&path).map_err(CoverageError::file(&path))?,
        };
        let remembered = home.root().join(format!("sites/{hash}.{VERSION}"));
        let list = match SiteList::read(&remembered) {
            Ok(list) => list,
            Err(_) => {
                let data = std::fs::read(&path).map_err(CoverageError::file(&path))?;
                let list = sites::find(&data)
                    .map_err(|why| CoverageError::Unsupported { file: path.clone(), why })?;
                remember(&list, &remembered).map_err(CoverageError::file(&remembered))?;
                list
            }
        };
        Ok(CodeFile { path, hash, list: Arc::new(list), first, remembered })
    }

    /// Its name without the folder.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Complete or not at all, whatever other processes do.
fn remember(list: &SiteList, path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let partial = path.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    let written = File::create(&partial)
        .and_then(|mut file| list.write(&mut file))
        .and_then(|()| std::fs::rename(&partial, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written
}

fn is_elf(path: &Path) -> bool {
    let mut head = [0; 4];
    File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut head)).is_ok()
        && head == *b"\x7fELF"
}

/// Whether a library is the solver's own.
fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.contains(".so") && !is_runtime(&name) && !COMPANIONS.iter().any(|other| name.starts_with(other))
}

/// The solver's own libraries that a program is started with, as the loader finds them.
fn libraries_of(program: &Path, env: &[(String, String)]) -> Result<Vec<PathBuf>, CoverageError> {
    let mut invocation = Invocation::new(program, b"");
    invocation.env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    // The loader then lists what it would load, and does not run the program.
    invocation.env.push(("LD_TRACE_LOADED_OBJECTS".into(), "1".into()));
    let listed = Launcher::new(LauncherConfig::default())?.run(&invocation)?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let path = |line: &str| Some(PathBuf::from(line.split_once(" => ")?.1.rsplit_once(" (")?.0.trim()));
    Ok(text.lines().filter_map(path).filter(|path| path.is_absolute() && is_own(path)).collect())
}

/// The solver's own libraries in a folder and the folders in it, in a fixed order.
fn libraries_below(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut files = entries(folder);
    files.extend(entries(folder).iter().flat_map(|inner| entries(inner)));
    files.retain(|path| path.is_file() && is_own(path));
    files.sort();
    files
}
