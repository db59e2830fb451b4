//! Groups of findings: those that are taken for one bug.
//!
//! Two findings are one bug if they crash at the same place, or if they need the same rare constructs and show on the same
//! releases. Everything is decided by their [faces](Face); a person who knows better may decide otherwise, and then new
//! findings follow the faces of the group they were put into.

use std::collections::{BTreeMap, BTreeSet};

use oracle::Kind;

use super::face::{Face, Neighbours, Rarity, Weighed};
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

/// How much two faces must have in common to be of one bug.
struct Enough {
    /// Of what the one that has less needs.
    of_less: f64,
    /// Of what they need together.
    of_both: f64,
}

/// Where the same releases have both.
const WITH_RELEASES: Enough = Enough { of_less: 0.6, of_both: 0.55 };

/// Where releases say little: constructs are all the evidence then.
const WITHOUT_RELEASES: Enough = Enough { of_less: 0.8, of_both: 0.7 };

/// A construct with this share of the heaviest one's weight is as heavy.
const HEAVY: f64 = 0.9;

/// So many releases that behave alike are evidence.
const TELLING: usize = 4;

/// So many functions in the same order are one place: what was freed too early or overwritten is met sooner or later.
const SHARED: usize = 2;

/// How sure it is that a crash without a place is one of those with a place, by what they have in common: less than any
/// other likeness.
const SAME_SIGNAL: f64 = 0.1;
const SAME_OPERATORS: f64 = 0.2;

/// How sure it is that two findings which do not repeat are one bug, if nothing else says so.
const BOTH_FLAKY: f64 = 0.05;

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
        // Whether a wrong pointer or a wrong divisor is met first is chance.
        (Some(a), Some(b)) if functions(a).is_some() && functions(a) == functions(b) => {
            let place = functions(a).unwrap_or_default();
            return Some(Likeness { degree: 0.9, why: format!("it crashes in the same functions, {place}") });
        }
        (Some(_), Some(_)) => {
            let shared = in_order(&one.stack, &other.stack);
            let why = format!("its stack has the same functions, {}", shared.join(" < "));
            return (shared.len() >= SHARED).then_some(Likeness { degree: 0.8, why });
        }
        _ => {}
    }
    if one.signal != other.signal || !options_fit(one, other) {
        return None;
    }
    let released = match (&one.releases, &other.releases) {
        (Some(a), Some(b)) => Some(same_releases(a, b)?),
        _ => None,
    };
    if !one.operators.is_empty() && one.operators == other.operators && !set_apart(one, other) {
        let why = format!("it comes down to the same operators, {}", one.operators.join(", "));
        return Some(Likeness { degree: 1.0, why });
    }
    // Both came down to connectives: their options are all there is to tell. Those of the one are among those of the other:
    // a second tactic only ends what the first one has begun.
    let bare = |face: &Face| face.reduced && face.operators.is_empty();
    let fewer = if one.options.len() <= other.options.len() { &one.options } else { &other.options };
    if bare(one) && bare(other) && !fewer.is_empty() {
        let about_meaning = |face: &Face| face.kind.is_some_and(Kind::is_about_meaning);
        if about_meaning(one) == about_meaning(other) {
            let degree = if one.options.len() == other.options.len() { 0.9 } else { 0.8 };
            let why = format!("it needs the same options, {}, and no operators", fewer.join(", "));
            return Some(Likeness { degree, why });
        }
    }
    let common = overlap(&one.constructs, &other.constructs)?;
    let released = released.filter(|asked| *asked >= TELLING);
    let enough = if released.is_some() { WITH_RELEASES } else { WITHOUT_RELEASES };
    if common.of_less < enough.of_less || common.of_both < enough.of_both {
        return None;
    }
    let what = common.names.join(", ");
    // Where nothing was tried, nobody knows what is needed.
    let needs = if one.proven && other.proven { "needs" } else { "has" };
    let why = match released {
        Some(asked) => {
            format!("it {needs} {what} too, and the {asked} releases that were asked about both behave alike")
        }
        None => format!("it {needs} {what} too"),
    };
    Some(Likeness { degree: common.of_both, why })
}

/// The longest list of functions that both stacks have in the same order.
fn in_order<'a>(one: &'a [String], other: &[String]) -> Vec<&'a str> {
    // By the ends of both: how many functions the rest of the one shares with the rest of the other.
    let mut longest = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (a, function) in one.iter().enumerate().rev() {
        for (b, its) in other.iter().enumerate().rev() {
            longest[a][b] = match function == its {
                true => 1 + longest[a + 1][b + 1],
                false => longest[a + 1][b].max(longest[a][b + 1]),
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut shared = Vec::new();
    while a < one.len() && b < other.len() {
        if one[a] == other[b] {
            shared.push(one[a].as_str());
            (a, b) = (a + 1, b + 1);
        } else if longest[a + 1][b] >= longest[a][b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    shared
}

/// Could a crash that could be neither located nor reduced be this one, whose place is known? Its script has not told it
/// apart from anything, so that it is no bug of its own while another is at hand.
fn could_be(lost: &Face, placed: &Face) -> Option<Likeness> {
    let place = placed.place.as_ref().filter(|_| lost.place.is_none() && !lost.reduced)?;
    if lost.kind != Some(Kind::Crash) || placed.kind != lost.kind || placed.solver != lost.solver {
        return None;
    }
    let head = |text: &str| text.split(" | ").next().unwrap_or_default().to_owned();
    let same_signal = lost.signal.as_deref().map(head) == Some(head(place));
    // Constructs may say at which sort an operator is used.
    let operator = |name: &String| name.split(' ').next().unwrap_or_default().to_owned();
    let names = |face: &Face| face.constructs.iter().map(|one| operator(&one.construct)).collect::<Vec<_>>();
    let (own, its) =
        (names(lost), if placed.operators.is_empty() { names(placed) } else { placed.operators.clone() });
    let same_operators = !its.is_empty() && its.iter().all(|name| own.contains(name));
    let mut common = Vec::new();
    let mut degree = 0.0;
    if same_signal {
        common.push("dies of the same signal");
        degree += SAME_SIGNAL;
    }
    if same_operators {
        common.push("has all operators of that");
        degree += SAME_OPERATORS;
    }
    let why =
        format!("its place could not be read, it could not be made smaller, and it {}", common.join(" and "));
    (degree > 0.0).then_some(Likeness { degree, why })
}

/// What does not repeat cannot be made small: all that its script has would tell it apart, and one bug that shows by chance
/// would be as many bugs as there are test cases. So it is no bug of its own while another of the kind is at hand.
fn both_flaky(one: &Face, other: &Face) -> Option<Likeness> {
    let is_lost = |face: &Face| face.flaky && face.place.is_none();
    let why = "neither repeats reliably, so that nothing tells it apart from other findings of this solver that do not";
    let same = is_lost(one) && is_lost(other) && one.line() == other.line();
    same.then(|| Likeness { degree: BOTH_FLAKY, why: why.to_owned() })
}

/// The functions in the name of a place, without the signal and what was printed.
fn functions(place: &str) -> Option<&str> {
    place.split(" | ").find(|part| part.contains("::") && part.contains(" < "))
}

/// A bug that shows without an option shows with it, too; two different options are two bugs until something smaller
/// tells.
fn options_fit(one: &Face, other: &Face) -> bool {
    let part = |a: &Face, b: &Face| a.options.iter().all(|option| has(&b.options, option));
    part(one, other) || part(other, one)
}

/// Have trials shown that they need no option or tactic in common, but one of them needs some? Then the bug of that one is
/// in what it switches on, and the same operators are not enough.
fn set_apart(one: &Face, other: &Face) -> bool {
    let tried = one.proven && other.proven;
    let some = !one.settings.is_empty() || !other.settings.is_empty();
    tried && some && !one.settings.iter().any(|setting| has(&other.settings, setting))
}

/// Is an option among these? Which of an option's numbers a bug needs is chance more often than not.
fn has(options: &[String], wanted: &str) -> bool {
    let same = |option: &String| {
        option == wanted || numbered(option).is_some_and(|name| numbered(wanted) == Some(name))
    };
    options.iter().any(same)
}

/// The name of an option whose value is a number.
fn numbered(option: &str) -> Option<&str> {
    let (name, value) = option.split_once('=')?;
    value.parse::<f64>().is_ok().then_some(name)
}

/// Does no release tell them apart?
pub fn releases_fit(one: &Face, other: &Face) -> bool {
    match (&one.releases, &other.releases) {
        (Some(a), Some(b)) => same_releases(a, b).is_some(),
        _ => true,
    }
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

/// What two faces have in common.
struct Common {
    /// Its share of the weight of the one that has less.
    of_less: f64,
    /// Its share of the weight of both together.
    of_both: f64,
    names: Vec<String>,
}

/// Nothing unless the heaviest of each is among it: what has nothing that could be to blame is like nothing. Weights count
/// squared, so that several light neighbours do not outweigh one heavy construct.
fn overlap(one: &[Weighed], other: &[Weighed]) -> Option<Common> {
    let sum = |all: &[Weighed]| all.iter().map(|one| one.weight.powi(2)).sum::<f64>();
    let mut common = 0.0;
    let mut names: Vec<String> = Vec::new();
    for Weighed { construct, weight } in one {
        if let Some(its) = other.iter().find(|its| its.construct == *construct) {
            common += weight.min(its.weight).powi(2);
            names.push(construct.clone());
        }
    }
    let less = sum(one).min(sum(other));
    let both = sum(one) + sum(other) - common;
    let leads = less > 0.0 && leads(one, &names) && leads(other, &names);
    leads.then(|| Common { of_less: common / less, of_both: common / both, names })
}

/// Is one of the heaviest constructs among these? What only shares neighbours is another bug.
fn leads(all: &[Weighed], names: &[String]) -> bool {
    let heaviest = all.iter().map(|one| one.weight).fold(0.0, f64::max);
    all.iter().any(|one| one.weight >= HEAVY * heaviest && names.contains(&one.construct))
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
            members.sort_by_cached_key(|member| {
                (Face::from_text(&member.face).unwrap_or_default().clarity(), member.hash.clone())
            });
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
pub fn group_of(face: &Face, known: &[KnownFinding], rarity: Rarity) -> Option<(String, Likeness)> {
    // Faces of an earlier version do not say whether a finding repeats.
    let read = |finding: &KnownFinding| {
        Face::from_text(&finding.face).map(|face| Face { flaky: face.flaky || finding.flaky, ..face })
    };
    let faces: Vec<(&KnownFinding, Face)> =
        known.iter().filter_map(|finding| Some((finding, read(finding)?))).collect();
    let of_line = faces.iter().map(|(_, its)| its).filter(|its| its.line() == face.line());
    let neighbours = Neighbours::among(of_line.chain([face]), rarity);
    let face = neighbours.aside(face.clone());
    // What does not repeat may be in the group of a crash that it could be. Others that do not repeat are no such crash.
    let placed: BTreeSet<&str> = faces
        .iter()
        .filter(|(_, its)| its.place.is_some())
        .map(|(finding, _)| finding.group.as_str())
        .collect();
    let mut best: Option<(&KnownFinding, Likeness)> = None;
    for (finding, its) in &faces {
        let its = neighbours.aside(its.clone());
        let flaky = || both_flaky(&face, &its).filter(|_| !placed.contains(finding.group.as_str()));
        let likeness = alike(&face, &its).or_else(|| could_be(&face, &its)).or_else(flaky);
        let Some(likeness) = likeness else { continue };
        if best.as_ref().is_none_or(|(_, best)| likeness.degree > best.degree) {
            best = Some((*finding, likeness));
        }
    }
    best.map(|(finding, likeness)| (finding.group.clone(), likeness))
}

/// Is it taken for the bug of one of these faces, given as texts?
pub fn is_alike_any(face: &Face, faces: &[Face]) -> bool {
    let is_like = |its: &Face| {
        alike(face, its).or_else(|| could_be(face, its)).or_else(|| both_flaky(face, its)).is_some()
    };
    faces.iter().any(is_like)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face(kind: Kind, constructs: &[(&str, f64)]) -> Face {
        Face {
            kind: Some(kind),
            solver: "z3@5.4.0".to_owned(),
            constructs: constructs
                .iter()
                .map(|(name, weight)| Weighed { construct: (*name).to_owned(), weight: *weight })
                .collect(),
            reduced: true,
            ..Face::default()
        }
    }

    fn released(face: &Face, affected: &[&str], clean: &[&str]) -> Face {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let releases = Releases { affected: names(affected), clean: names(clean), ..Releases::default() };
        Face { releases: Some(releases), ..face.clone() }
    }

    fn known(hash: &str, group: &str, face: &Face) -> KnownFinding {
        KnownFinding {
            hash: hash.to_owned(),
            signature: String::new(),
            kind: face.kind.map(|kind| kind.to_string()).unwrap_or_default(),
            solver: face.solver.clone(),
            folder: hash.to_owned(),
            round: 0,
            step: 0,
            duplicates: 2,
            flaky: false,
            group: group.to_owned(),
            face: face.to_text(),
        }
    }

    #[test]
    fn what_does_not_repeat_is_one_bug_of_its_solver_and_no_crash_with_a_place() {
        let flaky =
            |kind, operator: &str| Face { flaky: true, reduced: false, ..face(kind, &[(operator, 1.0)]) };
        let one = flaky(Kind::RefutationSoundness, "mod");
        let other = flaky(Kind::SolutionSoundness, "select");
        let rarity = Rarity::default;
        let all = [known("a", "a", &one)];
        let (group, likeness) = group_of(&other, &all, rarity()).expect("a group");
        assert!(group == "a" && likeness.why.contains("neither repeats"), "{likeness:?}");
        assert!(is_alike_any(&other, std::slice::from_ref(&one)));
        let silent = Face { flaky: false, ..one.clone() };
        let earlier = KnownFinding { flaky: true, ..known("a", "a", &silent) };
        assert!(group_of(&other, &[earlier], rarity()).is_some(), "its face is of an earlier version");
        let lost = Face { signal: Some("SIGSEGV".to_owned()), ..flaky(Kind::Crash, "concat") };
        assert_eq!(group_of(&lost, &all, rarity()).map(|(group, _)| group).as_deref(), Some("a"));
        for apart in [
            Face { solver: "cvc5@1.4.2".to_owned(), ..other.clone() },
            Face { flaky: false, ..other.clone() },
            Face { place: Some("SIGSEGV | a < b".to_owned()), ..lost.clone() },
        ] {
            assert_eq!(group_of(&apart, &all, rarity()), None, "{apart:?}");
        }
        // A crash that could be one with a known place is better there, and what answers wrongly does not follow it.
        let placed =
            Face { place: Some("SIGSEGV | a < b".to_owned()), ..face(Kind::Crash, &[("fp.add", 1.0)]) };
        let all = [known("a", "a", &placed), known("b", "a", &lost), known("c", "c", &one)];
        assert_eq!(group_of(&other, &all, rarity()).map(|(group, _)| group).as_deref(), Some("c"));
        let group = group_of(&Face { size: 9, ..lost }, &all[..1], rarity()).map(|(group, _)| group);
        assert_eq!(group.as_deref(), Some("a"));
    }

    #[test]
    fn a_face_of_an_earlier_version_is_read_and_others_look_as_before() {
        let steady = face(Kind::InvalidModel, &[("mod", 1.0)]);
        let text = steady.to_text();
        assert!(!text.contains("flaky"), "{text}");
        assert_eq!(Face::from_text(&text), Some(steady.clone()));
        let flaky = Face { flaky: true, ..steady };
        assert_eq!(Face::from_text(&flaky.to_text()), Some(flaky));
    }

    #[test]
    fn what_needs_the_same_rare_construct_is_one_bug_whatever_stands_beside_it() {
        let one = face(Kind::RefutationSoundness, &[("seq.foldl", 0.9), ("+", 0.4)]);
        let other = face(Kind::InvalidModel, &[("seq.foldl", 0.9), ("str.len", 0.4), ("-", 0.3)]);
        let all = ["z3@5.1.0", "z3@5.2.0", "z3@5.3.0", "z3@5.4.0"];
        let (a, b) = (released(&one, &all, &[]), released(&other, &all, &[]));
        assert!(alike(&a, &b).expect("one bug").why.contains("seq.foldl"));
        let common = face(Kind::RefutationSoundness, &[("div", 0.9), ("+", 0.3)]);
        assert_eq!(alike(&a, &released(&common, &all, &[])), None);
        assert_eq!(
            alike(&released(&one, &all[..1], &[]), &released(&other, &all[..1], &[])),
            None,
            "one release says little"
        );
    }

    #[test]
    fn only_what_was_tried_is_said_to_be_needed() {
        let tried = Face { proven: true, ..face(Kind::InvalidModel, &[("mod", 0.9)]) };
        let untried = Face { proven: false, reduced: false, ..tried.clone() };
        let why = |one: &Face, other: &Face| alike(one, other).expect("one bug").why;
        assert_eq!(why(&tried, &tried.clone()), "it needs mod too");
        assert_eq!(why(&untried, &tried), "it has mod too");
        assert_eq!(why(&tried, &untried), "it has mod too");
    }

    #[test]
    fn neighbours_alone_make_no_bug() {
        let small = face(Kind::RefutationSoundness, &[("+", 0.35)]);
        let other = face(Kind::RefutationSoundness, &[("mod", 0.9), ("+", 0.35)]);
        assert_eq!(alike(&small, &other), None);
        let nothing = face(Kind::RefutationSoundness, &[]);
        assert_eq!(alike(&nothing, &nothing.clone()), None);
    }

    #[test]
    fn the_same_options_without_operators_are_one_bug() {
        let with = |kind, options: &[&str]| Face {
            options: options.iter().map(ToString::to_string).collect(),
            ..face(kind, &[])
        };
        let one = with(Kind::RefutationSoundness, &["sat.prob_search=true"]);
        let model = with(Kind::InvalidModel, &["sat.prob_search=true"]);
        assert!(alike(&one, &model).expect("one bug").why.contains("sat.prob_search"));
        assert_eq!(alike(&one, &with(Kind::RefutationSoundness, &[])), None, "nothing of the other is known");
        let ended = with(Kind::InvalidModel, &["sat.prob_search=true", "tactic qfaufbv"]);
        assert!(alike(&one, &ended).expect("one bug").why.contains("sat.prob_search=true, and"));
        assert_eq!(alike(&with(Kind::InvalidModel, &["tactic lia"]), &ended), None, "another option");
        assert_eq!(alike(&one, &with(Kind::Performance, &["sat.prob_search=true"])), None);
        assert_eq!(
            alike(&one, &Face { reduced: false, ..model.clone() }),
            None,
            "its operators are not known"
        );
        assert_eq!(alike(&one, &Face { operators: vec!["mod".to_owned()], ..model.clone() }), None);
        let (old, new) = (released(&one, &["z3@4.8.7"], &[]), released(&model, &[], &["z3@4.8.7"]));
        assert_eq!(alike(&old, &new), None, "a release tells them apart");
    }

    #[test]
    fn a_release_that_has_one_and_not_the_other_tells_them_apart() {
        let one = face(Kind::RefutationSoundness, &[("mod", 0.9)]);
        let old = released(&one, &["z3@4.8.7"], &["z3@4.8.8", "z3@5.4.0"]);
        let older = released(&one, &["z3@4.8.7", "z3@4.8.8"], &["z3@5.4.0"]);
        assert_eq!(alike(&old, &older), None);
        assert!(!releases_fit(&old, &older) && releases_fit(&old, &one));
        assert!(alike(&old, &released(&one, &["z3@4.8.7"], &["z3@4.8.9"])).is_some());
    }

    #[test]
    fn a_crash_is_told_apart_by_its_place_alone() {
        let at = |place: &str, constructs: &[(&str, f64)]| Face {
            place: Some(place.to_owned()),
            ..face(Kind::Crash, constructs)
        };
        let one = at("smt::theory_seq::len", &[("str.len", 0.9)]);
        assert!(alike(&one, &at("smt::theory_seq::len", &[("fp.add", 0.9)])).is_some());
        assert_eq!(alike(&one, &at("sat::solver::propagate", &[("str.len", 0.9)])), None);
        assert_eq!(alike(&one, &face(Kind::RefutationSoundness, &[("str.len", 0.9)])), None);
    }

    #[test]
    fn the_same_functions_are_the_same_place_whatever_the_signal() {
        let at = |place: &str| Face { place: Some(place.to_owned()), ..face(Kind::Crash, &[]) };
        let one = at("SIGSEGV | smt::value < opt::maximize");
        assert!(alike(&one, &at("SIGFPE | smt::value < opt::maximize")).is_some());
        assert!(alike(&one, &at("assertion | smt::value < opt::maximize | Failed to verify: x")).is_some());
        assert_eq!(alike(&one, &at("SIGSEGV | smt::value < opt::minimize")), None);
        let line = |number| at(&format!("assertion | src/a.cpp:{number} | UNREACHABLE"));
        assert_eq!(alike(&line(1), &line(2)), None);
    }

    #[test]
    fn crashes_below_the_same_two_functions_are_at_one_place() {
        let below = |stack: &[&str]| Face {
            place: Some(format!("SIGSEGV | {}", stack.join(" < "))),
            stack: stack.iter().map(ToString::to_string).collect(),
            ..face(Kind::Crash, &[])
        };
        let freed = below(&["factors::reset", "factors::~factors", "goal2nlsat::operator()", "nlsat_tactic"]);
        let sooner = below(&["goal2nlsat::operator()", "nlsat_tactic"]);
        let one = alike(&freed, &sooner).expect("one bug");
        assert!(one.why.ends_with("goal2nlsat::operator() < nlsat_tactic"), "{}", one.why);
        assert!(alike(&sooner, &freed).is_some());
        assert_eq!(alike(&freed, &below(&["nlsat_tactic", "goal2nlsat::operator()"])), None, "another order");
        assert_eq!(
            alike(&sooner, &below(&["pb_preprocess", "nlsat_tactic"])),
            None,
            "one function is not enough"
        );
        // Of the ways into the solver nothing is left to compare.
        let bare = |place: &str| Face { place: Some(place.to_owned()), ..face(Kind::Crash, &[]) };
        assert_eq!(alike(&bare("SIGSEGV | a < exec < main"), &bare("SIGSEGV | b < exec < main")), None);
    }

    #[test]
    fn a_crash_that_cannot_be_located_is_no_bug_of_its_own_beside_one_that_it_may_be() {
        let at = |place: &str, operators: &[(&str, f64)]| Face {
            place: Some(place.to_owned()),
            ..face(Kind::Crash, operators)
        };
        let lost = |signal: &str, operators: &[(&str, f64)]| Face {
            signal: Some(signal.to_owned()),
            reduced: false,
            ..face(Kind::Crash, operators)
        };
        let all = [
            known("a", "a", &at("SIGSEGV | smt::value < opt::maximize", &[("+ Int", 0.4)])),
            known("b", "b", &at("SIGSEGV | nlsat::del < goal2nlsat", &[("* Real", 0.4)])),
        ];
        let group = |face: &Face| group_of(face, &all, Rarity::default()).map(|(group, _)| group);
        assert_eq!(
            group(&lost("SIGSEGV", &[("fp.add", 0.9)])),
            Some("a".to_owned()),
            "the signal is the same"
        );
        let near = lost("SIGSEGV", &[("*", 0.9), ("/", 0.9)]);
        assert_eq!(group(&near), Some("b".to_owned()), "the operators are, too");
        assert_eq!(group(&lost("SIGABRT", &[("*", 0.9), ("/", 0.9)])), Some("b".to_owned()));
        assert_eq!(group(&lost("SIGABRT", &[("/", 0.9)])), None);
        assert_eq!(group(&Face { reduced: true, ..near.clone() }), None, "it was told apart");
        assert_eq!(group(&Face { solver: "z3@4.8.7".to_owned(), ..near.clone() }), None, "another release");
        // Whatever is found later is not taken for it: it would unite bugs that have nothing in common.
        let first = [known("c", "c", &near)];
        assert_eq!(
            group_of(&at("SIGSEGV | nlsat::del < goal2nlsat", &[("* Real", 0.4)]), &first, Rarity::default()),
            None
        );
    }

    #[test]
    fn what_comes_down_to_the_same_operators_is_one_bug_of_whichever_kind() {
        let with = |kind, operators: &[&str]| Face {
            operators: operators.iter().map(ToString::to_string).collect(),
            ..face(kind, &[("uninterpreted function", 0.6)])
        };
        let wrong = with(Kind::SolutionSoundness, &["fp.rem"]);
        assert!(
            alike(&wrong, &with(Kind::InvalidModel, &["fp.rem"])).expect("one bug").why.contains("fp.rem")
        );
        let model = Face { constructs: Vec::new(), ..with(Kind::InvalidModel, &["fp.add"]) };
        assert_eq!(alike(&wrong, &model), None);
        let old = released(&wrong, &["z3@4.8.7"], &["z3@4.8.8"]);
        let new = released(&with(Kind::InvalidModel, &["fp.rem"]), &["z3@4.8.8"], &["z3@4.8.7"]);
        assert_eq!(alike(&old, &new), None, "releases tell them apart");
    }

    #[test]
    fn the_same_operators_are_not_enough_where_one_needs_a_tactic_and_the_other_none() {
        let with = |settings: &[&str], constructs: &[(&str, f64)]| {
            let names: Vec<String> = settings.iter().map(ToString::to_string).collect();
            Face {
                operators: vec!["*".to_owned()],
                options: names.clone(),
                settings: names,
                proven: true,
                ..face(Kind::RefutationSoundness, constructs)
            }
        };
        let plain = with(&[], &[("* Real", 0.7)]);
        let tactic = with(&["tactic nlsat"], &[("tactic nlsat", 1.5), ("* Real", 0.7)]);
        assert_eq!(alike(&plain, &tactic), None);
        assert!(alike(&tactic, &tactic.clone()).is_some());
        assert!(alike(&with(&["a=1"], &[]), &with(&["a=2"], &[])).is_some(), "another number");
        let untried = Face { settings: Vec::new(), proven: false, ..tactic.clone() };
        assert!(alike(&plain, &untried).is_some(), "nobody knows what that one needs");
        // An option that only makes it show is no other bug, if what they need says so.
        assert!(alike(&plain, &with(&["a=1"], &[("* Real", 0.7)])).is_some());
    }

    #[test]
    fn other_solvers_and_other_options_are_other_bugs() {
        let one = face(Kind::InvalidModel, &[("mod", 0.9)]);
        let with = |options: &[&str]| Face {
            options: options.iter().map(ToString::to_string).collect(),
            ..one.clone()
        };
        assert_eq!(alike(&one, &Face { solver: "cvc5@1.4.2".to_owned(), ..one.clone() }), None);
        assert!(alike(&one, &Face { solver: "z3@4.8.7".to_owned(), ..one.clone() }).is_some());
        assert!(alike(&one, &with(&["a=1"])).is_some(), "it shows without the option, too");
        assert_eq!(alike(&with(&["b=1"]), &with(&["a=1"])), None);
        assert!(alike(&with(&["a=2"]), &with(&["a=1"])).is_some(), "another number");
        assert_eq!(alike(&with(&["a=x"]), &with(&["a=y"])), None, "another word");
    }

    #[test]
    fn a_finding_joins_the_group_of_the_one_it_is_most_like() {
        let near = face(Kind::InvalidModel, &[("seq.foldl", 0.9), ("seq.nth", 0.5)]);
        let far = face(Kind::InvalidModel, &[("seq.foldl", 0.9), ("seq.at", 0.2)]);
        // A person has told them apart.
        let all = [known("a", "a", &far), known("b", "b", &near)];
        let (group, _) = group_of(&near, &all, Rarity::default()).expect("a group");
        assert_eq!(group, "b");
        assert_eq!(group_of(&face(Kind::InvalidModel, &[("fp.rem", 0.9)]), &all, Rarity::default()), None);
    }

    #[test]
    fn the_example_of_a_group_is_its_clearest_face() {
        let model = face(Kind::InvalidModel, &[("mod", 0.9)]);
        let grave = face(Kind::RefutationSoundness, &[("mod", 0.9)]);
        let optional = Face { options: vec!["a=1".to_owned()], ..grave.clone() };
        let old = Face { solver: "z3@4.8.7".to_owned(), ..grave.clone() };
        let all = [
            known("1", "1", &model),
            known("2", "1", &optional),
            known("3", "1", &old),
            known("4", "1", &grave),
        ];
        let groups = Group::all(&all);
        let [group] = &groups[..] else { panic!("{groups:?}") };
        let order: Vec<&str> = group.members.iter().map(|member| member.hash.as_str()).collect();
        assert_eq!(order, ["4", "3", "2", "1"]);
        assert_eq!((group.example().map(|one| one.hash.as_str()), group.shown()), (Some("4"), 12));
    }

    #[test]
    fn a_face_comes_back_from_its_text() {
        let face = released(&face(Kind::Crash, &[("mod", 0.25)]), &["z3@4.8.7"], &[]);
        assert_eq!(Face::from_text(&face.to_text()), Some(face));
        assert_eq!(Face::from_text(""), None);
    }
}
