//! Solvers that can only be reached through their Python modules, by small scripts of ours.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A solver whose wheel holds a Python module with a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Module {
    /// cvc5 1.0.9 to 1.1.x; later releases have the C interface.
    Cvc5,
    /// Bitwuzla 0.9.x.
    Bitwuzla,
}

impl Module {
    fn script(self) -> (&'static str, &'static str) {
        match self {
            Module::Cvc5 => ("run_cvc5", include_str!("run_cvc5.py")),
            Module::Bitwuzla => ("run_bitwuzla", include_str!("run_bitwuzla.py")),
        }
    }
}

/// Writes the script into `scripts` (unless it is there: the name says what is in it) and returns its path.
pub fn write_script(module: Module, scripts: &Path) -> io::Result<PathBuf> {
    let (name, text) = module.script();
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    let path = scripts.join(format!("{name}-{:016x}.py", hasher.finish()));
    if !fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
        fs::create_dir_all(scripts)?;
        // Two processes may do this at once; each renames a complete file.
        let partial = scripts.join(format!(".{name}-{}", std::process::id()));
        fs::write(&partial, text)?;
        fs::rename(&partial, &path)?;
    }
    Ok(path)
}

/// The first arguments for the interpreter: isolated from the user's own modules and variables, and leaving no
/// compiled files behind. The solver's options and the input file follow.
#[must_use]
pub fn arguments(script: &Path, unpacked: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["-I", "-S", "-B", "-X", "utf8"].map(OsString::from).to_vec();
    arguments.push(script.into());
    arguments.push(unpacked.into());
    arguments
}
