//! What a program is, whatever its name says: the hash of its content.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 of a file, in hexadecimal digits.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Could it be one of these?
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("abc");
        std::fs::write(&path, "abc").expect("written");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&path).expect("readable"), expected);
    }
}
