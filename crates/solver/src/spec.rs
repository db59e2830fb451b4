//! What a user writes after `-s`: which solver, which release, which options.
//!
//! A spec is a path, a name on PATH, or `name@version`; options may follow after spaces, as in
//! `"z3@4.8.7 smt.arith.solver=2"`. Two solvers in one string, separated by `;`, are accepted as yinyang users write
//! them.

use std::path::{Path, PathBuf};

use crate::version::{Version, VersionError};

/// One solver as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Which solver.
    pub which: Which,
    /// The words after it.
    pub options: Vec<String>,
}

/// The first word of a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// A path: the word contains a slash.
    Path(PathBuf),
    /// A bare name: a solver Osprey knows, or a program on PATH.
    Name(String),
    /// `name@release`.
    Release(String, Wanted),
}

/// The part of a spec after `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// `latest`.
    Latest,
    /// A release, or a prefix of one.
    Version(Version),
    /// All releases from the first to the second, both included. For installing.
    Range(Version, Version),
}

/// A spec that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing there.
    #[error("an empty solver: write a path, a name on PATH, or name@version such as z3@5.4.0")]
    Empty,
    /// `@4.8.7` without a name.
    #[error("`{0}` names no solver before `@`: write for example z3{0}")]
    NoName(String),
    /// What follows `@` is no release.
    #[error("in `{spec}`: {source}; `latest` and ranges such as 4.8.7..4.8.12 are accepted too")]
    Version {
        /// The word.
        spec: String,
        /// Why.
        source: VersionError,
    },
    /// `5..4`.
    #[error("in `{0}`: the first release of a range must not be later than the second")]
    EmptyRange(String),
    /// A quote without an end.
    #[error("in `{0}`: a quote is not closed")]
    Quote(String),
}

impl Spec {
    /// Reads one `-s` value, which may name several solvers separated by `;`.
    pub fn parse(text: &str) -> Result<Vec<Spec>, SpecError> {
        // A path with spaces or quotes in it, as a shell hands it over.
        if text.contains('/') && Path::new(text).is_file() {
            return Ok(vec![Spec { which: Which::Path(PathBuf::from(text)), options: Vec::new() }]);
        }
        let mut specs = Vec::new();
        for words in split_words(text)? {
            let mut words = words.into_iter();
            if let Some(first) = words.next() {
                specs.push(Spec { which: Which::parse(&first)?, options: words.collect() });
            }
        }
        if specs.is_empty() {
            return Err(SpecError::Empty);
        }
        Ok(specs)
    }
}

impl Which {
    fn parse(word: &str) -> Result<Which, SpecError> {
        if word.is_empty() {
            return Err(SpecError::Empty);
        }
        if word.contains('/') {
            return Ok(Which::Path(PathBuf::from(word)));
        }
        let Some((name, wanted)) = word.split_once('@') else {
            return Ok(Which::Name(word.to_string()));
        };
        if name.is_empty() {
            return Err(SpecError::NoName(word.to_string()));
        }
        let version = |text: &str| {
            text.parse::<Version>().map_err(|source| SpecError::Version { spec: word.to_string(), source })
        };
        let wanted = if wanted == "latest" {
            Wanted::Latest
        } else if let Some((first, last)) = wanted.split_once("..") {
            let (first, last) = (version(first)?, version(last)?);
            if first > last {
                return Err(SpecError::EmptyRange(word.to_string()));
            }
            Wanted::Range(first, last)
        } else {
            Wanted::Version(version(wanted)?)
        };
        Ok(Which::Release(name.to_string(), wanted))
    }
}

/// Words as a shell would split them: spaces separate, quotes and backslashes keep, an unquoted `;` ends a group.
fn split_words(text: &str) -> Result<Vec<Vec<String>>, SpecError> {
    let mut groups = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    let finish = |word: &mut Option<String>, groups: &mut Vec<Vec<String>>| {
        if let (Some(word), Some(group)) = (word.take(), groups.last_mut()) {
            group.push(word);
        }
    };
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => {
                let escaped = characters.next().unwrap_or('\\');
                word.get_or_insert_default().push(escaped);
            }
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ';') => {
                finish(&mut word, &mut groups);
                groups.push(Vec::new());
            }
            (None, _) if character.is_whitespace() => finish(&mut word, &mut groups),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(SpecError::Quote(text.to_string()));
    }
    finish(&mut word, &mut groups);
    Ok(groups)
}

/// The candidates closest to a mistyped word, best first: at most three, and none that needs more than half of it
/// rewritten.
pub(crate) fn nearest(word: &str, candidates: &[&str]) -> Vec<String> {
    let mut scored: Vec<(usize, &str)> = candidates
        .iter()
        .map(|candidate| (edit_distance(word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance * 2 <= word.len().max(candidate.len()))
        .collect();
    scored.sort();
    scored.truncate(3);
    scored.into_iter().map(|(_, candidate)| candidate.to_string()).collect()
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Spec {
        Spec::parse(text).expect("a spec").remove(0)
    }

    #[test]
    fn the_path_of_a_file_may_have_spaces_and_quotes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("my \"own\" build's z3");
        std::fs::write(&path, "").expect("written");
        let text = path.to_str().expect("text");
        assert_eq!(one(text), Spec { which: Which::Path(path.clone()), options: Vec::new() });
        std::fs::remove_file(&path).expect("removed");
        assert!(Spec::parse(text).is_err(), "what is no file is split into words");
    }

    #[test]
    fn a_path_a_name_and_a_release_are_told_apart() {
        assert_eq!(one("./build/z3").which, Which::Path("./build/z3".into()));
        assert_eq!(one("z3").which, Which::Name("z3".into()));
        let release = Which::Release("z3".into(), Wanted::Version("4.8.7".parse().expect("version")));
        assert_eq!(one("z3@4.8.7").which, release);
        assert_eq!(one("z3@latest").which, Which::Release("z3".into(), Wanted::Latest));
        assert!(matches!(one("z3@4.8.7..4.8.12").which, Which::Release(_, Wanted::Range(..))));
    }

    #[test]
    fn options_follow_after_spaces_and_quotes_keep_words_together() {
        let spec = one(r#"z3@4.8.7 smt.arith.solver=2 --name='a b' "c;d" e\ f"#);
        assert_eq!(spec.options, ["smt.arith.solver=2", "--name=a b", "c;d", "e f"]);
    }

    #[test]
    fn yinyangs_form_names_several_solvers_in_one_string() {
        let specs = Spec::parse("z3 model_validate=true; cvc5 --check-models -q;").expect("two specs");
        assert_eq!(specs.len(), 2);
        assert_eq!(specs[1].options, ["--check-models", "-q"]);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_to_write() {
        let message = |text| Spec::parse(text).expect_err("refused").to_string();
        assert!(message("").contains("z3@5.4.0"));
        assert!(message(" ; ").contains("empty"));
        assert!(message("@4.8.7").contains("z3@4.8.7"));
        assert!(message("z3@newest").contains("latest"));
        assert!(message("z3@5.0.0..4.0.0").contains("range"));
        assert!(message("z3 'a").contains("quote"));
    }

    #[test]
    fn mistyped_names_find_their_neighbours() {
        assert_eq!(nearest("cvc", &["z3", "cvc5", "cvc4", "yices"]), ["cvc4", "cvc5"]);
        assert_eq!(nearest("bitwuzzla", &["z3", "bitwuzla"]), ["bitwuzla"]);
        assert!(nearest("princess", &["z3", "cvc5"]).is_empty());
    }
}
