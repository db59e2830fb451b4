//! The one place that writes to standard output and standard error, and files of results.
//!
//! Text for people is made visible first ([`campaign::foreign`]): much of it was written by solvers. A reader that has
//! seen enough (`osprey ... | head`) is no error, and the exit code still tells what was found. A full disk is one.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use anyhow::Result;
use campaign::foreign;

use crate::exit::DiskError;

/// Prints a text that ends its own lines.
pub fn print(text: &str) -> Result<()> {
    write(io::stdout().lock(), foreign::visible(text).as_bytes())
}

/// Prints a line.
pub fn print_line(text: &str) -> Result<()> {
    print(&format!("{text}\n"))
}

/// Prints a script as it is, for a file or a program; on a terminal like any other text.
pub fn print_script(text: &str) -> Result<()> {
    let out = io::stdout().lock();
    if out.is_terminal() {
        drop(out);
        return print(text);
    }
    write(out, text.as_bytes())
}

/// Prints a value as JSON, readable.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    write_json(serde_json::to_string_pretty(value)?)
}

/// Prints a value as JSON on one line.
pub fn print_json_line(value: &impl serde::Serialize) -> Result<()> {
    write_json(serde_json::to_string(value)?)
}

fn write_json(text: String) -> Result<()> {
    write(io::stdout().lock(), format!("{}\n", foreign::json(&text)).as_bytes())
}

/// Writes a file for the user.
pub fn file(path: &Path, text: &str) -> Result<(), DiskError> {
    std::fs::write(path, text).map_err(|source| DiskError { what: format!("'{}'", path.display()), source })
}

/// Makes a folder for the user, if it is not there.
pub fn folder(path: &Path) -> Result<(), DiskError> {
    std::fs::create_dir_all(path)
        .map_err(|source| DiskError { what: format!("the folder '{}'", path.display()), source })
}

/// Can lines on standard error be drawn over? Not in a file, and not on a terminal that only prints.
pub fn is_live() -> bool {
    let able = std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
    able && io::stderr().is_terminal()
}

/// A line on standard error. The work goes on when nobody reads it any more.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", foreign::visible(text));
}

fn write(mut out: impl Write, bytes: &[u8]) -> Result<()> {
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// How writing to standard output went. What is left after the reader has gone is not printed, and nobody misses it.
pub fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(DiskError { what: "standard output".into(), source }.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error_and_a_full_disk_is_one() {
        assert!(write(Failing(io::ErrorKind::BrokenPipe), b"text").is_ok());
        let error = write(Failing(io::ErrorKind::StorageFull), b"text").expect_err("an error");
        assert_eq!(crate::exit::of_error(&error), crate::exit::Exit::Disk);
        assert!(error.to_string().contains("cannot write standard output"), "{error}");
    }
}
