//! Content hashes: names of seeds, scripts and findings that are the same on every machine.

/// FNV-1a over 64 bits. Not cryptographic: it names files, it does not protect them.
pub fn hash(bytes: &[u8]) -> u64 {
    add(start(), bytes)
}

/// The hash of nothing, to add to.
pub fn start() -> u64 {
    0xcbf2_9ce4_8422_2325
}

/// The hash with more bytes behind those it has.
pub fn add(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Sixteen hexadecimal digits of the content's hash.
pub fn name(bytes: &[u8]) -> String {
    format!("{:016x}", hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(name(b"a"), "af63dc4c8601ec8c");
    }
}
