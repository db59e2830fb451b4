//! The command line of the `cvc5` program, as far as runs of a script use it.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// Names and values for the library's `setOption`, in order.
    pub options: Vec<(CString, CString)>,
    pub file: Option<CString>,
    /// Only say which cvc5 this is.
    pub version: bool,
}

/// `--name=value`, `--name` (true), `--no-name` (false), `-i` and `-q`, and one file.
pub(super) fn parse(args: &[OsString]) -> Result<CommandLine, String> {
    let mut line = CommandLine { options: Vec::new(), file: None, version: false };
    for arg in args {
        let bytes = arg.as_bytes();
        let unrecognized = || Err(format!("unrecognized option '{}'", arg.to_string_lossy()));
        if bytes == b"--version" || bytes == b"-V" {
            line.version = true;
        } else if bytes == b"-i" {
            line.set(b"incremental", b"true")?;
        } else if bytes == b"-q" {
            line.set(b"verbosity", b"-1")?;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            match long.iter().position(|byte| *byte == b'=') {
                Some(0) => return unrecognized(),
                Some(at) => line.set(&long[..at], &long[at + 1..])?,
                None => match long.strip_prefix(b"no-") {
                    Some(name) => line.set(name, b"false")?,
                    None if long.is_empty() => return unrecognized(),
                    None => line.set(long, b"true")?,
                },
            }
        } else if bytes.len() > 1 && bytes[0] == b'-' {
            return unrecognized();
        } else if line.file.is_some() {
            return Err("Too many input files specified.".to_owned());
        } else {
            line.file = Some(text(bytes)?);
        }
    }
    Ok(line)
}

impl CommandLine {
    fn set(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        // The input language is SMT-LIB in any case; the library has no such option of its own in every release.
        if !matches!(name, b"lang" | b"input-language") {
            self.options.push((text(name)?, text(value)?));
        }
        Ok(())
    }

    pub fn sets(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The last value given for an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.options.iter().rfind(|(other, _)| other.to_bytes() == name.as_bytes())?;
        value.to_str().ok()
    }
}

fn text(bytes: &[u8]) -> Result<CString, String> {
    CString::new(bytes).map_err(|_| "zero byte in an argument".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<CommandLine, String> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_as_the_program_reads_them() {
        let line =
            parsed(&["--strings-exp", "--no-check-models", "--tlimit-per=5", "-i", "a.smt2"]).expect("fine");
        let options: Vec<_> = line
            .options
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        assert_eq!(options, ["strings-exp=true", "check-models=false", "tlimit-per=5", "incremental=true"]);
        assert!(line.sets("incremental") && !line.sets("produce-models"));
        assert_eq!(line.value("tlimit-per"), Some("5"));
        assert_eq!(line.file.as_deref(), Some(c"a.smt2"));
    }

    #[test]
    fn a_wrong_command_line_is_refused() {
        for args in [&["-z"][..], &["--"], &["--=x"], &["a", "b"]] {
            assert!(parsed(args).is_err(), "{args:?}");
        }
    }
}
