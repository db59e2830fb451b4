//! Release numbers of solvers: dotted numbers with an optional packaging revision (`4.5.1.post2`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A release number. Missing components count as zero (`1.8` equals `1.8.0`), as package indexes write `4.8.7.0` where
/// the solver calls itself `4.8.7`.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    /// Zero where nothing was written.
    numbers: [u32; MAX_NUMBERS],
    written: u8,
    post: u32,
}

/// More dotted numbers than any solver's releases have.
const MAX_NUMBERS: usize = 5;

/// How [`Version::LATEST`] is shown. No version a user could ask for: the word has a meaning of its own there.
const LATEST: &str = "latest";

/// Text that is not a release number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version: expected dotted numbers such as 4.8.7 or 4.5.1.post2")]
pub struct VersionError(pub String);

impl Version {
    /// Later than any real release: what "the newest" means where no version is known.
    pub const LATEST: Version =
        Version { numbers: [u32::MAX; MAX_NUMBERS], written: MAX_NUMBERS as u8, post: u32::MAX };

    /// A release without packaging revision.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version { numbers: [major, minor, patch, 0, 0], written: 3, post: 0 }
    }

    /// The same release without its packaging revision.
    pub fn without_post(self) -> Version {
        Version { post: 0, ..self }
    }

    /// Whether a user who asked for `self` means `release`. One or two numbers are a prefix (`4.8` is any 4.8.x), three
    /// or more are the release itself; the packaging revision matters only when it was asked for.
    pub fn asks_for(&self, release: &Version) -> bool {
        let written = self.written();
        if written.len() < 3 && self.post == 0 {
            return release.numbers.starts_with(written);
        }
        self.numbers == release.numbers && (self.post == 0 || self.post == release.post)
    }

    /// The first release number inside a longer text, such as the output of `--version`.
    pub fn find_in(text: &str) -> Option<Version> {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            if !bytes[start].is_ascii_digit() {
                start += 1;
                continue;
            }
            let mut end = start;
            while end < bytes.len() && (bytes[end].is_ascii_digit() || bytes[end] == b'.') {
                end += 1;
            }
            let word = text[start..end].trim_end_matches('.');
            if word.contains('.')
                && let Ok(version) = word.parse()
            {
                return Some(version);
            }
            start = end;
        }
        None
    }

    fn written(&self) -> &[u32] {
        &self.numbers[..usize::from(self.written)]
    }

    /// What order, equality and hash look at.
    fn key(&self) -> ([u32; MAX_NUMBERS], u32) {
        (self.numbers, self.post)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || VersionError(text.to_string());
        let plain = text.strip_prefix('v').unwrap_or(text);
        let (dotted, post) = match plain.split_once(".post") {
            Some((dotted, post)) => (dotted, post.parse().map_err(|_| bad())?),
            None => (plain, 0),
        };
        let mut version = Version { numbers: [0; MAX_NUMBERS], written: 0, post };
        for number in dotted.split('.') {
            if !number.bytes().all(|b| b.is_ascii_digit()) {
                return Err(bad());
            }
            let slot = version.numbers.get_mut(usize::from(version.written)).ok_or_else(bad)?;
            *slot = number.parse().map_err(|_| bad())?;
            version.written += 1;
        }
        Ok(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Version::LATEST {
            return f.write_str(LATEST);
        }
        // A fourth number that is zero is the package index's padding, not the solver's own name for the release.
        let mut shown = self.written();
        while shown.len() > 3 && shown.last() == Some(&0) {
            shown = &shown[..shown.len() - 1];
        }
        for (index, number) in shown.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{number}")?;
        }
        if self.post > 0 {
            write!(f, ".post{}", self.post)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == LATEST {
            return Ok(Version::LATEST);
        }
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn releases_are_ordered_by_number_not_by_text() {
        assert!(v("4.8.7") < v("4.8.10"));
        assert!(v("4.5.1") < v("4.5.1.post2"));
        assert!(v("4.5.1.post2") < v("4.5.2"));
        assert_eq!(v("1.8"), v("1.8.0"));
        assert_eq!(v("4.8.7.0"), v("4.8.7"));
        assert!(v("5.4.0") < Version::LATEST);
        assert_eq!(v("4.8.9"), Version::new(4, 8, 9));
    }

    #[test]
    fn the_padding_zero_of_package_indexes_is_not_shown() {
        assert_eq!(v("4.8.7.0").to_string(), "4.8.7");
        assert_eq!(v("4.5.1.0.post2").to_string(), "4.5.1.post2");
        assert_eq!(v("4.4.2.1").to_string(), "4.4.2.1");
        assert_eq!(v("1.8").to_string(), "1.8");
    }

    #[test]
    fn a_short_request_is_a_prefix_and_a_full_one_is_exact() {
        assert!(v("4.8").asks_for(&v("4.8.12")));
        assert!(v("4").asks_for(&v("4.5.1.post2")) && v("1.8.0").asks_for(&v("1.8")));
        assert!(!v("4.8").asks_for(&v("4.9.0")));
        assert!(v("2.6.5").asks_for(&v("2.6.5.post24")));
        assert!(!v("4.5.1.post1").asks_for(&v("4.5.1.post2")));
        assert!(v("1.2.0").asks_for(&v("1.2.0")) && !v("1.2.0").asks_for(&v("1.2.1")));
    }

    #[test]
    fn a_version_is_found_inside_what_a_solver_prints() {
        let found = |text| Version::find_in(text).map(|v| v.to_string());
        assert_eq!(found("Z3 version 4.8.7 - 64 bit").as_deref(), Some("4.8.7"));
        assert_eq!(found("This is cvc5 version 1.0.3").as_deref(), Some("1.0.3"));
        assert_eq!(found("64 bits, no release"), None);
    }

    #[test]
    fn text_that_is_no_version_is_refused() {
        for text in ["", "4..8", "4.8.x", "latest", "4.8.7-rc1", "99999999999", "1.2.3.4.5.6"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
