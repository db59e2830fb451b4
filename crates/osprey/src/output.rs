//! Standard output. A reader that has seen enough (`osprey ... | head`) is no error.

use std::io::{self, Write};

use anyhow::Result;

use crate::exit::DiskError;

/// Prints a text that ends its own lines.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(source) => Err(DiskError { what: "the output".into(), source }.into()),
    }
}

/// Prints a value as JSON, readable.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}
