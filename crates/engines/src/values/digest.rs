//! Short hashes of what has been done, so that a later round does not do it again.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

/// Hashes that a memory has room for: the latest.
const KEPT: usize = 256;

/// A set of things by their hashes. Two things of one hash are taken for the same: one combination of very many is lost.
#[derive(Clone, Debug, Default)]
pub struct Digests {
    all: FxHashSet<u32>,
    latest: VecDeque<u32>,
}

impl Digests {
    /// False if it has been there.
    pub fn insert(&mut self, digest: u32) -> bool {
        if !self.all.insert(digest) {
            return false;
        }
        self.latest.push_back(digest);
        if self.latest.len() > KEPT {
            self.latest.pop_front();
        }
        true
    }

    pub fn contains(&self, digest: u32) -> bool {
        self.all.contains(&digest)
    }

    /// The latest ones, eight letters each.
    pub fn memory(&self) -> String {
        self.latest.iter().map(|digest| format!("{digest:08x}")).collect()
    }

    /// What [`Digests::memory`] wrote; `None` for any other text.
    pub fn recall(text: &str) -> Option<Digests> {
        let mut digests = Digests::default();
        for digits in text.as_bytes().chunks(8) {
            let digits = str::from_utf8(digits).ok().filter(|digits| digits.len() == 8)?;
            digests.insert(u32::from_str_radix(digits, 16).ok()?);
        }
        Some(digests)
    }
}

/// The hash of a list of texts, the same on every machine: 64-bit FNV-1a, folded.
pub fn digest<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u32 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.as_ref().iter().chain([&0]) {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    (state ^ (state >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered() {
        let mut digests = Digests::default();
        let all: Vec<u32> = (0..2 * KEPT).map(|number| digest([number.to_string()])).collect();
        assert!(all.iter().all(|digest| digests.insert(*digest)));
        assert!(!digests.insert(all[0]), "all of a round are known in it");
        let mut again = Digests::recall(&digests.memory()).expect("its own text");
        assert_eq!(again.memory(), digests.memory());
        assert!(!again.insert(all[2 * KEPT - 1]) && !again.insert(all[KEPT]) && again.insert(all[0]));
        for wrong in ["0", "0123456", "0123456x", "0123456789"] {
            assert!(Digests::recall(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_told_apart_by_where_their_parts_end() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_ne!(digest(["a"]), digest(["a", ""]));
        assert_eq!(digest(["7", "-1"]), digest(["7".to_owned(), "-1".to_owned()]));
    }
}
