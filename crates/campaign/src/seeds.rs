//! Seeds from files: read once, checked once, kept as text by content hash.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smtlib::{Mode, Store};
use solver::screen::Screen;

use crate::{hash, input};

/// Larger files make slow test cases that nobody can read; they are refused.
pub const LARGEST: u64 = 200 << 10;

/// A seed as text, the same for all workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String, String)", into = "(String, String, String)")]
pub struct SeedText {
    /// Of the text.
    pub hash: String,
    /// File name, or where else it comes from.
    pub name: String,
    pub text: Arc<str>,
}

impl From<(String, String, String)> for SeedText {
    fn from((hash, name, text): (String, String, String)) -> SeedText {
        SeedText { hash, name, text: text.into() }
    }
}

impl From<SeedText> for (String, String, String) {
    fn from(seed: SeedText) -> (String, String, String) {
        (seed.hash, seed.name, seed.text.to_string())
    }
}

impl SeedText {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> SeedText {
        let text = text.into();
        SeedText { hash: hash::name(text.as_bytes()), name: name.into(), text }
    }
}

/// A file that cannot be a seed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub file: PathBuf,
    /// `file:line:column: what was expected`, or what else is wrong.
    pub why: String,
}

/// What reading the seed files gave.
#[derive(Clone, Debug, Default)]
pub struct SeedFiles {
    /// Smallest first; equal texts once.
    pub seeds: Vec<SeedText>,
    pub rejected: Vec<Rejected>,
    /// What was taken out of seeds because it touches files: `file: line 3: the option ...`.
    pub removed: Vec<String>,
}

/// Reads the files. Bad ones are counted and left out; the campaign goes on without them.
pub fn read_seeds(files: &[PathBuf]) -> SeedFiles {
    let mut found = SeedFiles::default();
    let mut seen = BTreeSet::new();
    let mut store = Store::new();
    let clean = store.mark();
    for file in files {
        match read_seed(&mut store, file, LARGEST) {
            Ok((seed, removed)) => {
                found.removed.extend(removed);
                if seen.insert(seed.hash.clone()) {
                    found.seeds.push(seed);
                }
            }
            Err(why) => found.rejected.push(Rejected { file: file.clone(), why }),
        }
        store.reset(&clean);
    }
    found.seeds.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
    found
}

/// One seed file of at most so many bytes, without what touches files: that would reach no solver of ours, but it would
/// stand in mutants and findings, for others to run. With what was taken out; or why it cannot be a seed.
pub fn read_seed(store: &mut Store, file: &Path, largest: u64) -> Result<(SeedText, Vec<String>), String> {
    let shown = file.display();
    let bytes = input::read(file, largest).map_err(|error| error.to_string())?;
    let located = |offset: usize, message: &str| {
        let place = smtlib::place(&bytes, offset);
        format!("{shown}:{}:{}: {message}", place.line, place.column)
    };
    let mut asserts = |text: &[u8]| {
        let parsed = smtlib::parse(store, text, Mode::Tolerant)
            .map_err(|error| located(error.offset, &error.message))?;
        Ok::<bool, String>(parsed.script.assertions().next().is_some())
    };
    if !asserts(&bytes)? {
        return Err(format!("{shown}: asserts nothing"));
    }
    let screened = Screen::built_in().apply(&bytes);
    let removed: Vec<String> = screened.removed.iter().map(|what| format!("{shown}: {what}")).collect();
    if !removed.is_empty() && !asserts(&screened.text)? {
        return Err(format!("{}; nothing is asserted without it", removed.join(", ")));
    }
    let text = String::from_utf8(screened.text.into_owned())
        .map_err(|error| located(error.utf8_error().valid_up_to(), "a byte that is not UTF-8"))?;
    Ok((SeedText::new(shown.to_string(), text), removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_files_are_told_with_their_place_and_good_ones_come_smallest_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let files = vec![
            file("long.smt2", b"(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n"),
            file("short.smt2", b"(assert true)\n(check-sat)\n"),
            file("same.smt2", b"(assert true)\n(check-sat)\n"),
            file("ill-sorted.smt2", b"(declare-const x Int)\n(assert (and x true))\n"),
            file("empty.smt2", b""),
            file("huge.smt2", &vec![b' '; LARGEST as usize + 1]),
            folder.path().join("absent.smt2"),
        ];
        let found = read_seeds(&files);
        let names: Vec<&str> =
            found.seeds.iter().map(|seed| seed.name.rsplit('/').next().unwrap_or("")).collect();
        assert_eq!(names, ["short.smt2", "long.smt2"]);
        let whys: Vec<&str> = found.rejected.iter().map(|rejected| rejected.why.as_str()).collect();
        assert_eq!(whys.len(), 4);
        assert!(whys[0].contains("ill-sorted.smt2:2:"), "{}", whys[0]);
        assert!(whys[1].contains("asserts nothing"), "{}", whys[1]);
        assert!(whys[2].contains("at most 200 kB"), "{}", whys[2]);
        assert!(whys[3].contains("cannot read"), "{}", whys[3]);
    }
    #[test]
    fn what_touches_files_is_taken_out_of_a_seed_and_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let writing = "(set-logic QF_UF)\n(set-option :out \"/x\")\n(assert true)\n(check-sat)\n";
        let hidden = "; c \r(set-option :out \"/x\")\n(assert true)\n(check-sat)\n";
        let found = read_seeds(&[file("writing.smt2", writing), file("hidden.smt2", hidden)]);
        let [seed] = found.seeds.as_slice() else { panic!("{:?}", found.seeds) };
        assert_eq!(seed.text.split_whitespace().nth(2), Some("(assert"), "{}", seed.text);
        let [told] = found.removed.as_slice() else { panic!("{:?}", found.removed) };
        assert!(told.contains("writing.smt2: line 2: the option ':out'"), "{told}");
        let [rejected] = found.rejected.as_slice() else { panic!("{:?}", found.rejected) };
        assert!(rejected.why.contains("hidden.smt2: line 1: everything"), "{}", rejected.why);
    }
}
