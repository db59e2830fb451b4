//! Groups of findings: those that are taken for one bug.
//!
//! Two findings are one bug if they crash at the same place, or if they need the same rare constructs and show on the same
//! releases. Everything is decided by their [faces](Face); a person who knows better may decide otherwise, and then new
//! findings follow the faces of the group they were put into.

use std::collections::BTreeMap;

use oracle::Kind;

use super::face::{Face, Weighed};
use super::finding::Releases;
use crate::store::KnownFinding;

/// How like two faces are, and why they are taken for one bug.
#[derive(Clone, Debug, PartialEq)]
pub struct Likeness {
    /// From 0 to 1.
    pub degree: f64,
    /// One sentence.
    pub why: String,
}

/// Faces below this degree are of different bugs.
const ALIKE: f64 = 0.5;

/// The same, where releases say nothing: either is all the evidence then.
const ALIKE_WITHOUT_RELEASES: f64 = 0.75;

/// Are they one bug?
pub fn alike(one: &Face, other: &Face) -> Option<Likeness> {
    if one.line() != other.line() {
        return None;
    }
    let crashes = |face: &Face| face.kind == Some(Kind::Crash);
    if crashes(one) != crashes(other) {
        return None;
    }
    match (&one.place, &other.place) {
        (Some(a), Some(b)) if a == b => {
            return Some(Likeness { degree: 1.0, why: format!("it crashes at the same place, {a}") });
        }
        (Some(_), Some(_)) => return None,
        _ => {}
    }
    if one.signal != other.signal || !options_fit(one, other) {
        return None;
    }
    let released = match (&one.releases, &other.releases) {
        (Some(a), Some(b)) => Some(same_releases(a, b)?),
        _ => None,
    };
    let (degree, shared) = overlap(&one.constructs, &other.constructs);
    let wanted = if released.is_some() { ALIKE } else { ALIKE_WITHOUT_RELEASES };
    if degree < wanted {
        return None;
    }
    let what = if shared.is_empty() { "nothing in particular".to_owned() } else { shared.join(", ") };
    let why = match released {
        Some(asked) => format!("it needs {what} too, and the {asked} releases that were asked about both behave alike"),
        None => format!("it needs {what} too"),
    };
    Some(Likeness { degree, why })
}

/// A bug that shows without an option shows with it, too; two different options are two bugs until something smaller
/// tells.
fn options_fit(one: &Face, other: &Face) -> bool {
    let part = |a: &Face, b: &Face| a.options.iter().all(|option| b.options.contains(option));
    part(one, other) || part(other, one)
}

/// How many releases were asked about both, if no two of them tell the bugs apart.
fn same_releases(one: &Releases, other: &Releases) -> Option<usize> {
    let said = |releases: &Releases, name: &String| {
        if releases.affected.contains(name) {
            Some(true)
        } else {
            releases.clean.contains(name).then_some(false)
        }
    };
    let mut asked = 0;
    for name in one.affected.iter().chain(&one.clean) {
        let (Some(a), Some(b)) = (said(one, name), said(other, name)) else { continue };
        if a != b {
            return None;
        }
        asked += 1;
    }
    Some(asked)
}

/// The share of the weight that both have in common, of the one that has less, and the constructs it is made of.
fn overlap(one: &[Weighed], other: &[Weighed]) -> (f64, Vec<String>) {
    let sum = |all: &[Weighed]| all.iter().map(|one| one.weight).sum::<f64>();
    let mut common = 0.0;
    let mut names: Vec<String> = Vec::new();
    for Weighed { construct, weight } in one {
        if let Some(its) = other.iter().find(|its| its.construct == *construct) {
            common += weight.min(its.weight);
            names.push(construct.clone());
        }
    }
    let least = sum(one).min(sum(other));
    if least == 0.0 {
        // Neither has anything that could be to blame, or only one.
        return (f64::from(u8::from(one.is_empty() && other.is_empty())), names);
    }
    (common / least, names)
}

/// A bug: findings that are taken for one.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The hash of the first finding that showed it.
    pub id: String,
    /// The clearest first.
    pub members: Vec<KnownFinding>,
}

impl Group {
    /// All groups of these findings, in the order of their first members.
    pub fn all(findings: &[KnownFinding]) -> Vec<Group> {
        let mut order: Vec<&str> = Vec::new();
        let mut groups: BTreeMap<&str, Vec<KnownFinding>> = BTreeMap::new();
        for finding in findings {
            let id = finding.group.as_str();
            if !groups.contains_key(id) {
                order.push(id);
            }
            groups.entry(id).or_default().push(finding.clone());
        }
        let group = |id: &str| {
            let mut members = groups.get(id).cloned().unwrap_or_default();
            members.sort_by_cached_key(|member| (Face::from_text(&member.face).unwrap_or_default().clarity(), member.hash.clone()));
            Group { id: id.to_owned(), members }
        };
        order.into_iter().map(group).collect()
    }

    /// The clearest of its findings.
    pub fn example(&self) -> Option<&KnownFinding> {
        self.members.first()
    }

    /// Test cases that showed it, the members' own included.
    pub fn shown(&self) -> u64 {
        self.members.iter().map(|member| member.duplicates + 1).sum()
    }
}

/// The group that a face belongs to, and why: that of the face it is most like.
pub fn group_of(face: &Face, known: &[KnownFinding]) -> Option<(String, Likeness)> {
    let mut best: Option<(&KnownFinding, Likeness)> = None;
    for finding in known {
        let Some(its) = Face::from_text(&finding.face) else { continue };
        let Some(likeness) = alike(face, &its) else { continue };
        if best.as_ref().is_none_or(|(_, best)| likeness.degree > best.degree) {
            best = Some((finding, likeness));
        }
    }
    best.map(|(finding, likeness)| (finding.group.clone(), likeness))
}
