//! Solvers that are published as libraries only.
//!
//! * [`command`]: cvc5 from 1.2.0 on, through the C interface of its shared libraries. The host is our own executable
//!   (see [`serve_if_asked`](crate::launch::serve_if_asked)); it takes the options of the `cvc5` program and behaves
//!   like it. Plainly started it is one process for each run; as [`ExecMode::LibraryHost`](crate::fast::ExecMode) it
//!   is forked when library and solver are ready.
//! * [`python`]: older cvc5 releases and Bitwuzla, through their Python modules.

mod cvc5;
mod library;
mod options;
pub mod python;
mod time_limit;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::launch::{LaunchError, launcher_program};

/// The hidden first argument that makes an executable the host of a cvc5 library.
pub(crate) const HOST_ARGUMENT: &str = "__cvc5-host";

/// The program and the first arguments that run cvc5 from the libraries in `directory` (an unpacked wheel, or its
/// folder `cvc5.libs`); cvc5's own options and the input file follow.
pub fn command(directory: &Path) -> Result<(PathBuf, Vec<OsString>), LaunchError> {
    Ok((launcher_program()?, vec![HOST_ARGUMENT.into(), directory.as_os_str().to_owned()]))
}

/// Becomes the host: library directory, cvc5's options, input file.
pub(crate) fn run(args: Vec<OsString>) -> ! {
    let code = cvc5::run(&args);
    // Without the library's destructors: a solver that has answered owes us nothing more.
    // SAFETY: a null stream means all of them; nothing of this process runs after `_exit`.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(code)
    }
}
