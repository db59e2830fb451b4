//! Exit codes: a contract with scripts that call osprey.

use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// All went well and nothing was found.
    Clean = 0,
    /// A file that cannot be read as asked (`parse`: not all files are well-formed).
    Usage = 2,
    /// A defect of osprey itself.
    Internal = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The code for an error that ended a command.
pub fn of_error(_error: &anyhow::Error) -> Exit {
    Exit::Usage
}
