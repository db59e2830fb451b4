//! What a finding shows of its bug: everything that telling bugs apart looks at, small enough to be kept in the store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use oracle::Kind;
use reduce::blame::{Blame, Blamed, OPTION, PLAIN, Role, TACTIC};
use serde::{Deserialize, Serialize};
use smtlib::Version;
use solver::crash::CrashReport;

use super::finding::{Finding, Releases};
use super::signature::{Signature, essential};

/// One bug may have many faces: other kinds, other neighbours, other options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// None of a finding that an earlier version kept.
    pub kind: Option<Kind>,
    /// The solver to blame, as specs name it: `z3@4.8.7`.
    pub solver: String,
    /// Which solver that is, also where it is a program at a path.
    #[serde(default)]
    pub family: String,
    /// The place of a crash.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<String>,
    /// The functions by which the place of a crash is compared with others, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stack: Vec<String>,
    /// The signal of a crash that names no place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<String>,
    /// Options that the bug needs, as they are written, and tactics: those that the script sets and names included.
    #[serde(default)]
    pub options: Vec<String>,
    /// Those among them that trials have shown it to need.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub settings: Vec<String>,
    /// Operators of the script it came down to.
    #[serde(default)]
    pub operators: Vec<String>,
    /// What the bug needs, the most to blame first.
    #[serde(default)]
    pub constructs: Vec<Weighed>,
    /// How releases behave, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub releases: Option<Releases>,
    /// Expressions of the script.
    #[serde(default)]
    pub size: u64,
    #[serde(default)]
    pub reduced: bool,
    /// By trials the bug was seen to need some of the constructs.
    #[serde(default)]
    pub proven: bool,
    /// The bug did not show in every repetition: its script tells nothing apart.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub flaky: bool,
}

/// A construct and how much it says about a bug that needs it, from 0 to 1, and more for tactics: much if few other scripts
/// have it and nothing else does as well in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    pub construct: String,
    pub weight: f64,
}

/// How often constructs occur in test cases.
#[derive(Clone, Debug, Default)]
pub struct Rarity {
    tests: u64,
    with: BTreeMap<String, u64>,
}

/// Operators that findings need hardly more often than test cases have them: they stand beside what is wrong. Only the
/// comparison of faces looks at them; what is stored of a face does not depend on other findings.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    rarity: Rarity,
    operators: BTreeSet<String>,
}

/// Fewer test cases than this say nothing about what is rare.
const FEW: u64 = 200;

/// How rare a construct is taken to be where nothing is known.
const USUAL: f64 = 0.5;

/// How rare an operator is at least that only one family of solvers reads: where it is not, seeds were chosen for it.
const OWN: f64 = 0.9;

/// The share of test cases that seeds were chosen for.
const COMMON: f64 = 0.05;

/// So many findings say what bugs of these seeds have in common.
const SOME: u64 = 3;

/// What is to blame is needed by so many times the share of findings that it has of test cases. Neighbours are not.
const LIFT: f64 = 3.0;

/// What so large a share of them needs is no neighbour, however many test cases have it.
const MOST: f64 = 0.5;

/// So much of its weight a construct loses that all test cases have.
const EVERYWHERE: f64 = 0.9;

/// Share of a construct's weight that does not depend on how rare it is.
const NEED: f64 = 0.3;

/// What is left of the weight of constructs that only test or write values.
const INCIDENTAL: f64 = 0.1;

/// The weight of a tactic: a bug that needs one is in it, or in what it hands on. The plain one only leaves preprocessing
/// out, as `push` and assumptions do.
const TACTICS: f64 = 1.5;

/// What is left of the weight of constructs that others do as well in the place of.
const REPLACEABLE: f64 = 0.2;

/// What a construct weighs at least that a bug is blamed on.
const CULPRIT: f64 = 0.5;

impl Rarity {
    /// From counts of test cases by construct, among so many test cases.
    pub fn new<'a>(tests: u64, with: impl Iterator<Item = (&'a str, u64)>) -> Rarity {
        let with = with.map(|(name, count)| (name.to_owned(), count)).collect();
        Rarity { tests, with }
    }

    /// From 0, in every script, to 1, in no other: the information that the construct carries, as a share of the most
    /// there can be.
    pub fn of(&self, construct: &str) -> f64 {
        let operator = operator(construct);
        let rows = smtlib::theory::table().named(operator);
        let own = !rows.is_empty() && rows.iter().all(|op| op.row().is_of_one_family());
        let least = if own { OWN } else { 0.0 };
        least.max(self.counted(operator))
    }

    /// The same by the counts alone.
    fn counted(&self, operator: &str) -> f64 {
        // Only operators are counted.
        if self.tests < FEW || smtlib::theory::table().named(operator).is_empty() {
            return USUAL;
        }
        let with = self.with.get(operator).copied().unwrap_or(0).min(self.tests);
        let (all, with) = ((self.tests + 1) as f64, (with + 1) as f64);
        (all / with).ln() / all.ln()
    }

    /// The share of test cases that have an operator, if enough of them were counted.
    pub fn share(&self, construct: &str) -> Option<f64> {
        let operator = operator(construct);
        let counted = self.tests >= FEW && !smtlib::theory::table().named(operator).is_empty();
        counted.then(|| {
            let with = self.with.get(operator).copied().unwrap_or(0).min(self.tests);
            with as f64 / self.tests as f64
        })
    }
}

impl Neighbours {
    /// By the faces of one solver's findings. Those that were not reduced, or of which nothing was tried, have company of all
    /// kinds; crashes are told apart by their places.
    pub fn among<'f>(faces: impl Iterator<Item = &'f Face>, rarity: Rarity) -> Neighbours {
        let mut findings = 0;
        let mut needed: BTreeMap<&str, u64> = BTreeMap::new();
        for face in faces.filter(|face| face.reduced && face.proven && face.place.is_none()) {
            findings += 1;
            let operators: BTreeSet<&str> =
                face.constructs.iter().map(|weighed| operator(&weighed.construct)).collect();
            for operator in operators {
                *needed.entry(operator).or_default() += 1;
            }
        }
        let is_neighbour = |(operator, count): &(&str, u64)| {
            let share = rarity.share(operator).unwrap_or(0.0);
            let most = (LIFT * share).min(MOST);
            findings >= SOME && share >= COMMON && (*count as f64) < most * findings as f64
        };
        let operators = needed.into_iter().filter(is_neighbour).map(|(name, _)| name.to_owned()).collect();
        Neighbours { rarity, operators }
    }

    /// A face in which they weigh no more than their rarity says, unless nothing as heavy is left: where bugs are many, each
    /// operator is needed by few findings.
    pub fn aside(&self, mut face: Face) -> Face {
        let lighter = |mut weighed: Weighed| {
            let name = operator(&weighed.construct);
            if self.operators.contains(name) {
                weighed.weight = weighed.weight.min(weight_of(self.rarity.counted(name)));
            }
            weighed
        };
        let heaviest = |all: &[Weighed]| all.iter().map(|one| one.weight).fold(0.0, f64::max);
        let lightened: Vec<Weighed> = face.constructs.iter().cloned().map(lighter).collect();
        if heaviest(&lightened) >= heaviest(&face.constructs) {
            face.constructs = each_once(lightened);
        }
        face
    }
}

impl Face {
    /// What a finding shows.
    pub fn of(finding: &Finding, rarity: &Rarity) -> Face {
        let (mut place, mut signal) = (None, None);
        match &finding.signature {
            Signature::Place { place: named, .. } => place = Some(named.clone()),
            Signature::Constructs(constructs) => signal = constructs.crash.clone(),
            Signature::Text(_) => {}
        }
        let mut options: Vec<String> =
            finding.runs.first().map(|run| run.user_options.clone()).unwrap_or_default();
        let settings = finding.runs.first().map(|run| run.settings.as_slice()).unwrap_or_default();
        options.extend(settings.iter().map(|setting| format!("{}={}", setting.option, setting.value)));
        options.sort_unstable();
        let options = steered(needed_options(options, &finding.blame), finding);
        let size = match &finding.stage {
            super::Stage::Reduced(shrunk) => shrunk.after.nodes as u64,
            _ => u64::MAX,
        };
        Face {
            kind: Some(finding.kind),
            solver: finding.solver.clone(),
            family: finding.title.to_lowercase(),
            stack: finding
                .runs
                .first()
                .and_then(|run| run.crash.as_ref())
                .filter(|_| place.is_some())
                .map(CrashReport::telling_functions)
                .unwrap_or_default(),
            place,
            signal,
            settings: tried(&options, &finding.blame),
            options,
            operators: match finding.is_reduced() {
                true => essential(&finding.operators).into_iter().map(str::to_owned).collect(),
                false => Vec::new(),
            },
            constructs: weighed(finding, rarity),
            releases: finding.releases.clone(),
            size,
            reduced: finding.is_reduced(),
            proven: finding.blame.to_blame().any(|blamed| blamed.needed > 0),
            flaky: finding.flaky,
        }
    }

    /// As the store keeps it.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A face that cannot be read is like no other.
    pub fn from_text(text: &str) -> Option<Face> {
        serde_json::from_str(text).ok()
    }

    /// The solver without its release.
    pub fn line(&self) -> &str {
        match self.family.as_str() {
            "" => self.solver.split('@').next().unwrap_or_default(),
            family => family,
        }
    }

    /// The construct that the bug is blamed on most, if it tells much and was seen to be needed.
    pub fn culprit(&self) -> Option<&str> {
        let known = self.reduced && self.proven;
        let heaviest = self.constructs.first().filter(|heaviest| known && heaviest.weight >= CULPRIT)?;
        Some(&heaviest.construct)
    }

    /// What makes an example clear, the clearest first: a grave kind, reduced, default options, a new release, small.
    pub fn clarity(&self) -> impl Ord + use<> {
        let version = self.solver.split_once('@').and_then(|(_, version)| version.parse::<Version>().ok());
        (
            self.kind.is_none(),
            self.kind,
            !self.reduced,
            self.options.len(),
            Reverse(version),
            self.size,
            self.solver.clone(),
        )
    }
}

/// The constructs of a finding with their weights, the heaviest first: those that the bug needs, where that is known; else
/// all that may be to blame.
fn weighed(finding: &Finding, rarity: &Rarity) -> Vec<Weighed> {
    each_once(match finding.blame.constructs.is_empty() {
        true => {
            let telling = essential(&finding.operators);
            let weigh = |name: &String| {
                let share = if telling.contains(&name.as_str()) { 1.0 } else { INCIDENTAL };
                Weighed { construct: name.clone(), weight: share * worth(name, rarity) }
            };
            finding.operators.iter().map(weigh).collect()
        }
        false => blamed(&finding.blame, rarity),
    })
}

/// The heaviest first. Two constructs may go by one name: it counts once, with the greater weight.
fn each_once(mut all: Vec<Weighed>) -> Vec<Weighed> {
    all.sort_by(|a, b| a.construct.cmp(&b.construct).then_with(|| b.weight.total_cmp(&a.weight)));
    all.dedup_by(|later, first| later.construct == first.construct);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.construct.cmp(&b.construct)));
    all
}

/// A construct without the sorts at which it is used.
fn operator(construct: &str) -> &str {
    construct.split(' ').next().unwrap_or(construct)
}

/// What more than half of the test cases have says less and less, whoever needs it: chosen seeds are full of it.
fn worth(name: &str, rarity: &Rarity) -> f64 {
    let rare = rarity.of(name);
    let share = rarity.share(name).filter(|_| rare < USUAL).unwrap_or(0.0);
    let everywhere = (2.0 * share - 1.0).max(0.0);
    weight_of(rare) * (1.0 - EVERYWHERE * everywhere)
}

fn weight_of(rarity: f64) -> f64 {
    NEED + (1.0 - NEED) * rarity
}

/// What of the constructs tells: what the bug needs. What others do as well in its place tells little beside that; alone,
/// it goes by one name for all of them. Options are compared by themselves, and every wrong model needs `get-model`.
fn blamed(blame: &Blame, rarity: &Rarity) -> Vec<Weighed> {
    let telling = |blamed: &&Blamed| {
        !blamed.construct.starts_with(OPTION)
            && !["get-model", "logic ALL"].contains(&blamed.construct.as_str())
    };
    // What could not be tried, or not in time, may be what is wrong.
    let open = |blamed: &&Blamed| blamed.untried && blamed.role == Role::Computes;
    let aside = |blamed: &Blamed| blamed.bystander || blamed.observer;
    let counts = |blamed: &Blamed| blamed.needed > 0 && !aside(blamed);
    let needed = blame.to_blame().any(|blamed| blamed.role != Role::Setting && counts(blamed));
    let weigh = |blamed: &Blamed| {
        let worth = worth(&blamed.construct, rarity);
        if blamed.construct.strip_prefix(TACTIC).is_some_and(|tactic| tactic != PLAIN) {
            return Weighed { construct: blamed.construct.clone(), weight: TACTICS };
        }
        if blamed.role != Role::Computes {
            return Weighed { construct: blamed.construct.clone(), weight: INCIDENTAL * worth };
        }
        match ((blamed.needed > 0 || blamed.untried) && !aside(blamed), needed) {
            (true, _) => Weighed { construct: blamed.construct.clone(), weight: worth },
            (false, true) => Weighed { construct: blamed.construct.clone(), weight: REPLACEABLE * worth },
            (false, false) => {
                let names = blamed.stays_with.iter().chain([&blamed.construct]);
                Weighed { construct: names.min().cloned().unwrap_or_default(), weight: worth }
            }
        }
    };
    let untried = blame.constructs.iter().filter(open).filter(|blamed| !blamed.is_to_blame());
    blame.to_blame().chain(untried).filter(telling).map(weigh).collect()
}

/// With what the script itself sets and names.
fn steered(mut options: Vec<String>, finding: &Finding) -> Vec<String> {
    let Signature::Constructs(constructs) = &finding.signature else { return options };
    // Those of the command line are there already, by their names.
    let words = finding.runs.first().map(|run| run.arguments.as_slice()).unwrap_or_default();
    options.extend(constructs.options.iter().filter(|option| !words.contains(option)).cloned());
    options.sort_unstable();
    options.dedup();
    options
}

/// The options of a finding without those that it was seen to do without.
fn needed_options(options: Vec<String>, blame: &Blame) -> Vec<String> {
    let is_free = |option: &String| {
        of_setting(option, blame).is_some_and(|blamed| !blamed.untried && !blamed.is_to_blame())
    };
    options.into_iter().filter(|option| !is_free(option)).collect()
}

/// The options and tactics that nothing did as well in the place of.
fn tried(options: &[String], blame: &Blame) -> Vec<String> {
    let is_needed = |option: &&String| {
        of_setting(option, blame).is_some_and(|blamed| blamed.needed > 0 && blamed.stays_with.is_empty())
    };
    options.iter().filter(is_needed).cloned().collect()
}

/// What trials came to with an option or a tactic.
fn of_setting<'b>(option: &str, blame: &'b Blame) -> Option<&'b Blamed> {
    let plain = |word: &str| word.trim_start_matches('-').to_owned();
    blame.constructs.iter().find(|blamed| {
        blamed.construct.strip_prefix(OPTION).map(plain) == Some(plain(option))
            || (blamed.construct == option && option.starts_with(TACTIC))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(construct: &str, role: Role, needed: u32, stays_with: &[&str]) -> Blamed {
        let stays_with = stays_with.iter().map(ToString::to_string).collect();
        Blamed {
            construct: construct.to_owned(),
            role,
            occurrences: 1,
            needed,
            stays_with,
            untried: false,
            bystander: false,
            observer: false,
            share: None,
        }
    }

    #[test]
    fn what_something_else_does_as_well_tells_little_beside_what_is_needed() {
        let index = named("bvneg", Role::Computes, 0, &["bvadd", "bvnot"]);
        let model = named("get-model", Role::Setting, 1, &[]);
        let both = Blame::from(vec![named("select", Role::Computes, 1, &[]), index.clone(), model]);
        let weights = blamed(&both, &Rarity::default());
        let names: Vec<&str> = weights.iter().map(|one| one.construct.as_str()).collect();
        assert_eq!(names, ["select", "bvneg"]);
        assert!(weights[1].weight < 0.3 * weights[0].weight);
        let alone = Blame::from(vec![index]);
        assert_eq!(blamed(&alone, &Rarity::default())[0].construct, "bvadd");
        let tactic =
            Blame::from(vec![named("/", Role::Computes, 1, &[]), named("tactic qe", Role::Setting, 1, &[])]);
        let weights = blamed(&tactic, &Rarity::default());
        assert!(weights[1].weight > weights[0].weight, "{weights:?}");
        let plain = Blame::from(vec![
            named("bit2bool", Role::Computes, 1, &[]),
            named("tactic smt", Role::Setting, 1, &[]),
            named("push", Role::Setting, 1, &[]),
        ]);
        let weights = blamed(&plain, &Rarity::default());
        assert!(weights[1].weight < 0.3 * weights[0].weight, "{weights:?}");
        assert_eq!(weights[1].weight, weights[2].weight, "both leave preprocessing out");
    }

    #[test]
    fn what_could_not_be_tried_counts_as_if_it_were_needed() {
        let untried = |construct, role| Blamed { untried: true, ..named(construct, role, 0, &[]) };
        let blame = Blame::from(vec![
            named("str.in_re", Role::Computes, 1, &[]),
            untried("re.loop", Role::Computes),
            untried("push", Role::Setting),
            named("str.len", Role::Computes, 0, &[]),
        ]);
        let weights = blamed(&blame, &Rarity::default());
        let names: Vec<&str> = weights.iter().map(|one| one.construct.as_str()).collect();
        assert_eq!(names, ["str.in_re", "re.loop"]);
        assert_eq!(weights[0].weight, weights[1].weight);
    }

    #[test]
    fn what_stands_only_where_the_wrong_model_is_right_tells_little() {
        let bystander = Blamed { bystander: true, ..named("str.to_code", Role::Computes, 1, &[]) };
        let blame = Blame::from(vec![named("seq.foldl", Role::Computes, 1, &[]), bystander]);
        let weights = blamed(&blame, &Rarity::default());
        assert!(weights[1].weight < 0.3 * weights[0].weight, "{weights:?}");
    }

    #[test]
    fn a_rare_operator_that_gives_a_wrong_value_is_suspected_where_the_model_is_right() {
        let rarity = Rarity::new(10_000, [("seq.nth", 4_000), ("seq.foldl", 9_000)].into_iter());
        let rank = |mut blame: Blame| {
            blame.rank(|name| rarity.of(name), |name| rarity.share(name));
            blame
        };
        let hidden = Blamed { bystander: true, ..named("seq.foldl", Role::Computes, 1, &[]) };
        let seen = named("seq.nth", Role::Computes, 1, &[]);
        let ranked = rank(Blame::from(vec![seen, hidden]));
        let names: Vec<&str> = ranked.constructs.iter().map(|blamed| blamed.construct.as_str()).collect();
        assert_eq!(names, ["seq.foldl", "seq.nth"]);
        assert!(ranked.constructs[1].observer && !ranked.constructs[0].bystander);
        let weights = blamed(&ranked, &rarity);
        assert!(weights[1].weight < 0.3 * weights[0].weight, "{weights:?}");
        // Where what is false has a rare operator as well, the model is believed.
        let hidden = Blamed { bystander: true, ..named("seq.foldl", Role::Computes, 1, &[]) };
        let seen = named("str.is_digit", Role::Computes, 1, &[]);
        let ranked = rank(Blame::from(vec![hidden, seen]));
        assert_eq!(ranked.constructs[0].construct, "str.is_digit");
        assert!(ranked.constructs[1].bystander && !ranked.constructs[0].observer);
    }

    #[test]
    fn an_operator_of_one_family_is_a_neighbour_if_findings_need_it_no_more_often_than_test_cases_have_it() {
        let needing = |constructs: &[&str]| Face {
            constructs: constructs
                .iter()
                .map(|name| Weighed { construct: (*name).to_owned(), weight: 0.93 })
                .collect(),
            reduced: true,
            proven: true,
            ..Face::default()
        };
        let weights = |face: Face, faces: &[Face], foldl: u64| {
            let tests = [("seq.foldl", foldl), ("seq.last_indexof", 1_500), ("seq.foldli", 10)];
            let rarity = Rarity::new(10_000, tests.into_iter());
            let aside = Neighbours::among(faces.iter(), rarity).aside(face);
            aside.constructs.into_iter().map(|one| (one.construct, one.weight)).collect::<BTreeMap<_, _>>()
        };
        let both = needing(&["seq.foldl", "seq.last_indexof"]);
        let two = [needing(&["seq.foldl"]), both.clone()];
        assert_eq!(weights(both.clone(), &two, 1_800)["seq.last_indexof"], 0.93, "two findings say nothing");
        for foldl in [1_800, 9_000] {
            let three = [needing(&["seq.foldl", "seq.nth"]), needing(&["seq.foldl"]), both.clone()];
            let weights = weights(both.clone(), &three, foldl);
            assert_eq!(weights["seq.foldl"], 0.93, "all of them need it");
            assert!(weights["seq.last_indexof"] < 0.5, "{weights:?}");
        }
        let rare = needing(&["seq.foldli"]);
        let others =
            [needing(&["seq.foldl"]), needing(&["seq.foldl"]), needing(&["seq.foldl"]), rare.clone()];
        assert_eq!(weights(rare, &others, 1_800)["seq.foldli"], 0.93, "few test cases have it");
        let apart = [needing(&["seq.last_indexof"]), needing(&["seq.nth"]), needing(&["seq.nth"])];
        let alone = needing(&["seq.last_indexof"]);
        assert_eq!(weights(alone, &apart, 1_800)["seq.last_indexof"], 0.93, "nothing else is to blame");
        let unproven = Face { proven: false, ..needing(&["seq.nth"]) };
        let open = [unproven.clone(), unproven, both.clone()];
        assert_eq!(weights(both, &open, 1_800)["seq.last_indexof"], 0.93, "nothing was tried of two of them");
    }

    #[test]
    fn what_all_test_cases_have_weighs_next_to_nothing_unless_one_family_alone_reads_it() {
        let tests = [("seq.nth", 9_990), ("seq.replace", 1_200), ("seq.at", 5_000), ("seq.foldl", 9_990)];
        let rarity = Rarity::new(10_000, tests.into_iter());
        let weight = |name| worth(name, &rarity);
        assert!(weight("seq.nth") < 0.05, "{}", weight("seq.nth"));
        assert!(weight("seq.at") > NEED && weight("seq.replace") > weight("seq.at"));
        assert!(weight("seq.foldl") > 0.9, "seeds were chosen for it");
        assert!(worth("seq.nth", &Rarity::default()) > 0.6, "nothing was counted");
    }

    #[test]
    fn a_name_that_stands_for_two_constructs_counts_once_with_the_greater_weight() {
        let weighed = |construct: &str, weight| Weighed { construct: construct.to_owned(), weight };
        let all = vec![weighed("bvadd", 0.2), weighed("select", 0.6), weighed("bvadd", 0.9)];
        assert_eq!(each_once(all), [weighed("bvadd", 0.9), weighed("select", 0.6)]);
    }

    #[test]
    fn an_option_that_the_bug_does_without_is_none_of_its_options() {
        let constructs = ["a=1", "--b", "c=2"]
            .map(|option| named(&format!("option {option}"), Role::Setting, u32::from(option == "a=1"), &[]));
        let options = ["--b", "a=1", "never tried"].map(ToString::to_string);
        assert_eq!(
            needed_options(options.to_vec(), &Blame::from(constructs.to_vec())),
            ["a=1", "never tried"]
        );
        let mut constructs = constructs.to_vec();
        constructs.push(named("tactic nlsat", Role::Setting, 1, &[]));
        let options = ["a=1", "never tried", "tactic nlsat"].map(ToString::to_string);
        assert_eq!(tried(&options, &Blame::from(constructs)), ["a=1", "tactic nlsat"]);
    }

    #[test]
    fn what_few_test_cases_have_is_rare() {
        let counts = [("+", 9_000), ("str.is_digit", 3), ("seq.foldl", 9_000)];
        let rarity = Rarity::new(10_000, counts.into_iter());
        assert!(rarity.of("+") < 0.05 && rarity.of("str.is_digit") > 0.8);
        assert_eq!(rarity.of("seq.foldl"), OWN, "seeds were chosen for it");
        assert!((rarity.of("fp.rem") - 1.0).abs() < 1e-9);
        assert_eq!(rarity.of("uninterpreted function"), USUAL, "no operator: nobody has counted");
        assert_eq!(rarity.of("+ Real"), rarity.of("+"), "sorts are not counted");
        let few = Rarity::new(FEW - 1, counts.into_iter());
        assert_eq!((few.of("+"), few.of("str.is_digit")), (USUAL, USUAL), "too few to tell");
    }
}
