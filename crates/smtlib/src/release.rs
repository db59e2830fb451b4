//! Solver releases as the theory table and the printer speak of them: family, version, ranges of versions.

use std::fmt;
use std::str::FromStr;

use crate::version::Version;

/// A line of solvers that share a dialect. What a family accepts depends on the version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// No particular solver: the text of the standard.
    Standard,
    Z3,
    Cvc5,
    Cvc4,
    Yices,
    Bitwuzla,
    Boolector,
    MathSat,
    OpenSmt,
    SmtInterpol,
    Stp,
    Colibri2,
    DReal,
    /// A command given by the user of which nothing is known.
    Other,
}

const FAMILIES: [(Family, &str); 14] = [
    (Family::Standard, "standard"),
    (Family::Z3, "z3"),
    (Family::Cvc5, "cvc5"),
    (Family::Cvc4, "cvc4"),
    (Family::Yices, "yices"),
    (Family::Bitwuzla, "bitwuzla"),
    (Family::Boolector, "boolector"),
    (Family::MathSat, "mathsat"),
    (Family::OpenSmt, "opensmt"),
    (Family::SmtInterpol, "smtinterpol"),
    (Family::Stp, "stp"),
    (Family::Colibri2, "colibri2"),
    (Family::DReal, "dreal"),
    (Family::Other, "other"),
];

impl Family {
    /// The lower-case name used in specs, adapter files and the theory table.
    pub fn name(self) -> &'static str {
        FAMILIES.iter().find(|(family, _)| *family == self).map_or("other", |(_, name)| name)
    }

    /// All families, `Standard` first.
    pub fn all() -> impl Iterator<Item = Family> {
        FAMILIES.iter().map(|(family, _)| *family)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = ();
    fn from_str(text: &str) -> Result<Family, ()> {
        FAMILIES.iter().find(|(_, name)| *name == text).map(|(family, _)| *family).ok_or(())
    }
}

/// One release of one family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Release {
    pub family: Family,
    pub version: Version,
}

impl Release {
    /// The standard itself, in its newest text.
    pub const STANDARD: Release = Release { family: Family::Standard, version: Version::LATEST };

    pub fn new(family: Family, version: Version) -> Release {
        Release { family, version }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.family, self.version)
    }
}

/// Which releases have something: a list of families, each with an optional version range.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Availability {
    ranges: Vec<Range>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Range {
    family: Family,
    /// Inclusive.
    from: Option<Version>,
    /// Exclusive.
    until: Option<Version>,
}

impl Availability {
    /// Does this release have it?
    pub fn admits(&self, release: Release) -> bool {
        self.ranges.iter().any(|range| {
            range.family == release.family
                && range.from.is_none_or(|from| release.version >= from)
                && range.until.is_none_or(|until| release.version < until)
        })
    }

    /// Is any release of the family listed?
    pub fn names_family(&self, family: Family) -> bool {
        self.ranges.iter().any(|range| range.family == family)
    }

    /// Is it one family's own? CVC4 and cvc5 count as one.
    pub fn is_of_one_family(&self) -> bool {
        let line = |range: &Range| if range.family == Family::Cvc4 { Family::Cvc5 } else { range.family };
        self.ranges.first().is_some_and(|first| self.ranges.iter().all(|range| line(range) == line(first)))
    }

    /// Nothing listed.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromStr for Availability {
    type Err = String;

    /// Reads `z3>=4.8.9, cvc4<1.8, cvc5`.
    fn from_str(text: &str) -> Result<Availability, String> {
        let mut ranges = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let end = item.find(['<', '>']).unwrap_or(item.len());
            let family =
                item[..end].trim().parse().map_err(|()| format!("unknown solver family in '{item}'"))?;
            let mut range = Range { family, from: None, until: None };
            let mut rest = &item[end..];
            while !rest.is_empty() {
                let (bound, after) = match rest.strip_prefix(">=") {
                    Some(after) => (&mut range.from, after),
                    None => match rest.strip_prefix('<') {
                        Some(after) => (&mut range.until, after),
                        None => return Err(format!("expected '>=' or '<' in '{item}'")),
                    },
                };
                let stop = after.find(['<', '>']).unwrap_or(after.len());
                *bound = Some(after[..stop].trim().parse().map_err(|_| format!("bad version in '{item}'"))?);
                rest = &after[stop..];
            }
            ranges.push(range);
        }
        Ok(Availability { ranges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn availability_honours_both_bounds() {
        let who: Availability = "z3>=4.8.5<4.9, cvc5".parse().expect("well-formed");
        let at = |family, text: &str| Release::new(family, text.parse().expect("version"));
        assert!(who.admits(at(Family::Z3, "4.8.5")));
        assert!(!who.admits(at(Family::Z3, "4.9.0")));
        assert!(!who.admits(at(Family::Z3, "4.8.4")));
        assert!(who.admits(at(Family::Cvc5, "1.0.0")));
        assert!(!who.admits(at(Family::Cvc4, "1.8")));
        assert!("frob".parse::<Availability>().is_err());
    }
}
