//! Release numbers of solvers: dotted numbers with an optional packaging revision (`4.5.1.post2`).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A release number. Missing components count as zero (`1.8` equals `1.8.0`), as package indexes write `4.8.7.0` where
/// the solver calls itself `4.8.7`.
#[derive(Debug, Clone)]
pub struct Version {
    numbers: Vec<u32>,
    post: u32,
}

/// Text that is not a release number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version: expected dotted numbers such as 4.8.7 or 4.5.1.post2")]
pub struct VersionError(pub String);

impl Version {
    /// A release without packaging revision.
    pub fn new(numbers: &[u32]) -> Self {
        Version { numbers: numbers.to_vec(), post: 0 }
    }

    /// How many dotted numbers were written.
    pub fn written_parts(&self) -> usize {
        self.numbers.len()
    }

    /// The first dotted number.
    pub fn major(&self) -> u32 {
        self.part(0)
    }

    /// The same release without its packaging revision.
    pub fn without_post(&self) -> Version {
        Version { numbers: self.numbers.clone(), post: 0 }
    }

    /// Whether a user who asked for `self` means `release`. One or two numbers are a prefix (`4.8` is any 4.8.x), three
    /// or more are the release itself; the packaging revision matters only when it was asked for.
    pub fn asks_for(&self, release: &Version) -> bool {
        let prefix = self.numbers.len() < 3 && self.post == 0;
        if prefix {
            return (0..self.numbers.len()).all(|i| self.part(i) == release.part(i));
        }
        let same_numbers = self.without_post() == release.without_post();
        same_numbers && (self.post == 0 || self.post == release.post)
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

    fn part(&self, index: usize) -> u32 {
        self.numbers.get(index).copied().unwrap_or(0)
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
        let numbers = dotted
            .split('.')
            .map(|number| {
                if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(bad());
                }
                number.parse().map_err(|_| bad())
            })
            .collect::<Result<Vec<u32>, _>>()?;
        Ok(Version { numbers, post })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A fourth number that is zero is the package index's padding, not the solver's own name for the release.
        let mut shown = self.numbers.as_slice();
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
        let parts = self.numbers.len().max(other.numbers.len());
        (0..parts)
            .map(|index| self.part(index).cmp(&other.part(index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
            .then(self.post.cmp(&other.post))
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

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
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
        for text in ["", "4..8", "4.8.x", "latest", "4.8.7-rc1", "99999999999"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
