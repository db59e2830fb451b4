//! Files that users name: regular ones only, read up to a limit. A pipe or a device would be read for ever, or wait for a
//! writer that never comes.

use std::fs::{FileType, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A script, a model or a list that a user names is not larger than this.
pub const LARGEST_FILE: u64 = 128 << 20;

/// Why a file is not read.
#[derive(Debug, Error)]
pub enum InputError {
    #[error("cannot read '{}': {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot read '{}': it is {what}, not a regular file", .path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    #[error("'{}' is too large: {}; at most {} are read", .path.display(), size(*.found), size(*.limit))]
    TooLarge { path: PathBuf, found: u64, limit: u64 },
    #[error("cannot read '{}': the byte at {line}:{column} is not UTF-8", .path.display())]
    NotText { path: PathBuf, line: usize, column: usize },
}

/// The content of a regular file of at most so many bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let refused = |kind: FileType| InputError::NotAFile { path: path.to_owned(), what: what(kind) };
    // Before it is opened: opening a device may do something.
    let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if !kind.is_file() {
        return Err(refused(kind));
    }
    // Should it have become a pipe meanwhile, opening it must not wait.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if !about.is_file() {
        return Err(refused(about.file_type()));
    }
    let large = |found| InputError::TooLarge { path: path.to_owned(), found, limit };
    if about.len() > limit {
        return Err(large(about.len()));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // Files of the kernel do not tell their size.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// The same for a text.
pub fn read_text(path: &Path, limit: u64) -> Result<String, InputError> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let place = smtlib::place(error.as_bytes(), error.utf8_error().valid_up_to());
        InputError::NotText { path: path.to_owned(), line: place.line, column: place.column }
    })
}

fn what(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 10 << 20 => format!("{} MB", bytes >> 20),
        bytes if bytes >= 10 << 10 => format!("{} kB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, b"text").expect("written");
        assert_eq!(read(&file, 4).expect("read"), b"text");
        let said = |path: &Path, limit: u64| read(path, limit).expect_err("refused").to_string();
        assert!(said(&file, 3).ends_with("is too large: 4 bytes; at most 3 bytes are read"));
        assert!(said(folder.path(), 9).ends_with("it is a folder, not a regular file"));
        assert!(said(Path::new("/dev/zero"), 9).ends_with("it is a device, not a regular file"));
        assert!(said(&folder.path().join("absent"), 9).contains("absent': No such file"));
        // This one says that it is empty, and is not.
        assert!(said(Path::new("/proc/self/status"), 9).contains("too large"));
        std::fs::write(&file, b"a\nb\xff").expect("written");
        assert!(read_text(&file, 9).expect_err("refused").to_string().ends_with("at 2:2 is not UTF-8"));
    }
}
