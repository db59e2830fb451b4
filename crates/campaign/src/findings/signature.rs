//! When two findings are taken for the same bug: a signature made of what is left after reduction.

use std::fmt;

use oracle::{Kind, Verdict};
use serde::{Deserialize, Serialize};
use smtlib::lexer::{Kind as TokenKind, Lexer};
use smtlib::theory::Theory;
use smtlib::{Command, Script, Store, Version};
use solver::run::Run;

use super::face::Face;
use super::finding::Releases;
use crate::hash;

/// Letters of a signature's hash: enough for all findings that anybody will look at.
const HASH: usize = 12;

/// Equal for findings taken for the same bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Signature {
    /// A crash that names its place in the solver.
    Place { solver: String, place: String },
    /// Anything else: told apart by what the script is made of.
    Constructs(Constructs),
    /// As an earlier version wrote it.
    Text(String),
}

/// What tells bugs apart that name no place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constructs {
    pub kind: Kind,
    pub solver: String,
    /// The signal, of a crash that names no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
    /// Options of the accused, as they are written on its command line, and what the script itself sets and names:
    /// options and tactics.
    pub options: Vec<String>,
    /// The operators that may be to blame.
    pub operators: Vec<String>,
    /// The releases around the bug, where they were asked: the last good one and the first fixed one. None where no release
    /// is without the bug on that side, `UNKNOWN` where nobody can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<(Option<String>, Option<String>)>,
}

impl Signature {
    /// Of a crash that tells its place. A bare signal tells nothing: different bugs of a release build look alike.
    pub fn of_crash(verdict: &Verdict, runs: &[Run]) -> Option<Signature> {
        let crash = verdict.signature.as_ref().filter(|crash| crash.names_a_place())?;
        let solver = Run::of(runs, verdict.accused?)?.configuration.solver.name();
        Some(Signature::Place { solver, place: crash.text.clone() })
    }

    /// Of a script that misbehaves: `solver` is who is blamed, `runs` begin with the accused.
    pub fn of_script(
        verdict: &Verdict,
        solver: &str,
        runs: &[Run],
        operators: &[String],
        releases: Option<&Releases>,
    ) -> Signature {
        if let Some(place) = Signature::of_crash(verdict, runs) {
            return place;
        }
        // A crash is told apart by its signal, whatever the options are.
        let first = runs.first().filter(|_| verdict.signature.is_none());
        let mut options: Vec<String> = first.map(|run| run.configuration.options()).unwrap_or_default();
        options.sort_unstable();
        Signature::Constructs(Constructs {
            kind: verdict.kind,
            solver: solver.to_owned(),
            crash: verdict.signature.as_ref().map(|crash| crash.text.clone()),
            options,
            operators: essential(operators).into_iter().map(str::to_owned).collect(),
            releases: releases.map(borders),
        })
    }

    /// With what the script itself sets and names. A crash is told apart by its signal, whatever that is.
    #[must_use]
    pub fn steered(mut self, steering: Vec<String>) -> Signature {
        if let Signature::Constructs(constructs) = &mut self
            && constructs.crash.is_none()
        {
            constructs.options.extend(steering);
            constructs.options.sort_unstable();
            constructs.options.dedup();
        }
        self
    }

    /// Is this what a line of a user's list names? Which releases are around a bug depends on those that are installed, so
    /// they do not count.
    pub fn is_named_by(&self, line: &str) -> bool {
        let bare = |text: &str| text.split(RELEASES).next().unwrap_or_default().to_owned();
        bare(line) == bare(&self.to_string())
    }

    /// Does it tell bugs apart by itself, before anything is reduced?
    pub fn names_a_place(&self) -> bool {
        matches!(self, Signature::Place { .. })
    }

    /// Twelve digits, for names of folders.
    pub fn hash(&self) -> String {
        hash::name(self.to_string().as_bytes())[..HASH].to_owned()
    }

    /// A finding with more constructs may be this bug seen through others: all that tells this one apart occurs in it.
    /// What is told apart by no operator is in nothing but itself.
    pub fn is_part_of(&self, other: &Signature) -> bool {
        let (Signature::Constructs(own), Signature::Constructs(other)) = (self, other) else {
            return self == other;
        };
        own.operators.is_empty() == other.operators.is_empty()
            && own.kind == other.kind
            && own.solver == other.solver
            && own.crash == other.crash
            && own.options.iter().all(|option| other.options.contains(option))
            && own.operators.iter().all(|operator| other.operators.contains(operator))
    }
}

impl Signature {
    /// A finding may be the bug of this face, seen through more constructs: all operators that it came down to occur here.
    pub fn may_show(&self, face: &Face) -> bool {
        let Signature::Constructs(own) = self else { return false };
        let solver = own.solver.split('@').next();
        !face.operators.is_empty()
            && face.kind == Some(own.kind)
            && face.solver.split('@').next() == solver
            && face.signal == own.crash
            && face.options.iter().all(|option| own.options.contains(option))
            && face.operators.iter().all(|operator| own.operators.contains(operator))
    }
}

/// The form in which users list signatures, and of which the hash is taken.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constructs = match self {
            Signature::Place { solver, place } => return write!(f, "crash | {solver} | {place}"),
            Signature::Text(text) => return f.write_str(text),
            Signature::Constructs(constructs) => constructs,
        };
        let Constructs { kind, solver, crash, options, operators, releases } = constructs;
        write!(f, "{kind} | {solver} | ")?;
        match crash {
            Some(crash) => f.write_str(crash)?,
            None if options.is_empty() => f.write_str("default options")?,
            None => f.write_str(&options.join(" "))?,
        }
        match operators.is_empty() {
            true => f.write_str(" | no operators")?,
            false => write!(f, " | {}", operators.join(" "))?,
        }
        if let Some((good, fixed)) = releases {
            let (good, fixed) = (good.as_deref().unwrap_or("-"), fixed.as_deref().unwrap_or("-"));
            write!(f, "{RELEASES}{good} | first fixed {fixed}")?;
        }
        Ok(())
    }
}

/// What comes before the releases of a signature.
const RELEASES: &str = " | last good ";

/// In the place of a release: nobody can tell when the bug came or went.
const UNKNOWN: &str = "?";

/// The releases around a bug. A side is open if one there told nothing, or cannot read the script: it may be without the bug.
fn borders(releases: &Releases) -> (Option<String>, Option<String>) {
    let version = |name: &String| name.rsplit('@').next().and_then(|text| text.parse::<Version>().ok());
    let affected: Vec<Version> = releases.affected.iter().filter_map(version).collect();
    let silent: Vec<Version> = releases.silent.iter().chain(&releases.unable).filter_map(version).collect();
    let (first, last) = (affected.iter().min(), affected.iter().max());
    let before = first.is_none_or(|first| silent.iter().any(|one| one < first));
    let after = last.is_none_or(|last| silent.iter().any(|one| one > last));
    let or_open = |known: &Option<String>, open: bool| known.clone().or(open.then(|| UNKNOWN.to_owned()));
    (or_open(&releases.last_good, before), or_open(&releases.first_fixed, after))
}

/// Is this a line of a user's list: a signature as it is printed, or the hash of one?
pub fn is_listed(line: &str) -> bool {
    let is_hash = line.len() == HASH && line.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut parts = line.split(" | ");
    let kind = parts.next().unwrap_or_default();
    is_hash || Kind::ALL.iter().any(|known| known.word() == kind) && parts.count() >= 2
}

/// In the place of an operator: the script has more than one check.
const SEVERAL_CHECKS: &str = "several checks";

/// The same: it has one, on a level of its own, for which solvers work in another way.
const PUSH: &str = "push";

/// The operators of a script that may be to blame, by name: all but the Boolean ones.
pub fn operators(store: &Store, script: &Script) -> Vec<String> {
    let usage = smtlib::logic::usage(store, script);
    let mut names: Vec<String> = usage
        .operators
        .iter()
        .filter(|op| op.row().theory != Theory::Core)
        .map(|op| op.name().to_owned())
        .collect();
    if usage.quantifiers {
        names.push("quantifiers".to_owned());
    }
    if script.commands.iter().filter(|command| command.is_check()).count() > 1 {
        names.push(SEVERAL_CHECKS.to_owned());
    } else if script.commands.iter().any(|command| matches!(command, Command::Push(_))) {
        names.push(PUSH.to_owned());
    }
    names.sort();
    names.dedup();
    names
}

/// The same of a text that is no well-sorted script: every name in it that is an operator's.
pub fn operators_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut lexer = Lexer::new(text.as_bytes());
    let (mut checks, mut push) = (0, false);
    while let Ok(token) = lexer.token() {
        let word = text.get(token.start..token.end).unwrap_or_default();
        match (token.kind, word) {
            (TokenKind::End, _) => break,
            (TokenKind::Symbol, "forall" | "exists") => names.push("quantifiers".to_owned()),
            (TokenKind::Symbol, "check-sat" | "check-sat-assuming" | "check-sat-using") => checks += 1,
            (TokenKind::Symbol, PUSH) => push = true,
            (TokenKind::Symbol, name) => {
                let rows = smtlib::theory::table().named(name);
                if rows.iter().any(|op| op.row().theory != Theory::Core) {
                    names.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    if checks > 1 {
        names.push(SEVERAL_CHECKS.to_owned());
    } else if push {
        names.push(PUSH.to_owned());
    }
    names.sort();
    names.dedup();
    names
}

/// Tests of one sort under one name: which of them a bug is seen through is rarely the point.
const TESTS: [(&str, &[&str]); 5] = [
    ("<", &["<", "<=", ">", ">="]),
    ("bvult", &["bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge"]),
    ("fp.lt", &["fp.lt", "fp.leq", "fp.gt", "fp.geq", "fp.eq"]),
    (
        "fp.is",
        &[
            "fp.isNormal",
            "fp.isSubnormal",
            "fp.isZero",
            "fp.isInfinite",
            "fp.isNaN",
            "fp.isNegative",
            "fp.isPositive",
        ],
    ),
    ("str.<", &["str.<", "str.<="]),
];

/// Operators that write values down, under one name.
const VALUES: [(&str, &[&str]); 3] = [
    ("to_fp", &["to_fp"]),
    ("fp", &["fp", "NaN", "+oo", "-oo", "+zero", "-zero"]),
    (
        "rounding",
        &[
            "roundNearestTiesToEven",
            "roundNearestTiesToAway",
            "roundTowardPositive",
            "roundTowardNegative",
            "roundTowardZero",
            "RNE",
            "RNA",
            "RTP",
            "RTN",
            "RTZ",
        ],
    ),
];

/// The operators that tell bugs apart: without those that test or write values, as far as others are left. Else the
/// tests, else the first kind of value.
pub(super) fn essential(operators: &[String]) -> Vec<&str> {
    let group = |groups: &[(&'static str, &[&str])], name: &str| {
        groups.iter().find(|(_, names)| names.contains(&name)).map(|(group, _)| *group)
    };
    let names = || operators.iter().map(String::as_str);
    let mut left: Vec<&str> =
        names().filter(|name| group(&TESTS, name).is_none() && group(&VALUES, name).is_none()).collect();
    let bare = |left: &[&str]| left.iter().all(|name| [SEVERAL_CHECKS, PUSH].contains(name));
    if bare(&left) {
        left.extend(names().filter_map(|name| group(&TESTS, name)));
    }
    if bare(&left) {
        let kinds: Vec<&str> = names().filter_map(|name| group(&VALUES, name)).collect();
        left.extend(VALUES.iter().map(|(kind, _)| *kind).find(|kind| kinds.contains(kind)));
    }
    left.sort_unstable();
    left.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_script_has_the_operators_it_names() {
        assert_eq!(operators_in("(assert (<))\n(check-sat)"), ["<"]);
        let text =
            "(assert (and (forall ((x)) (bvadd x |str.len|)) \"str.++\")) ; mod\n(check-sat)(check-sat)";
        assert_eq!(operators_in(text), ["bvadd", "quantifiers", "several checks"]);
        assert_eq!(operators_in("(check-sat"), [""; 0]);
    }

    #[test]
    fn one_check_on_a_level_of_its_own_is_not_several() {
        let mut store = Store::new();
        let mut of = |text: &str| {
            let parsed =
                smtlib::parse(&mut store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script");
            assert_eq!(operators(&store, &parsed.script), operators_in(text));
            operators(&store, &parsed.script)
        };
        assert_eq!(of("(push 1)(check-sat)(pop 1)"), ["push"]);
        assert_eq!(of("(push 1)(check-sat)(pop 1)(check-sat)"), ["several checks"]);
    }

    #[test]
    fn a_release_that_tells_nothing_leaves_a_border_open() {
        let names =
            |numbers: &[&str]| numbers.iter().map(|number| format!("z3@{number}")).collect::<Vec<_>>();
        let of = |affected: &[&str], silent: &[&str]| {
            borders(&Releases { affected: names(affected), silent: names(silent), ..Releases::default() })
        };
        let open = || Some(UNKNOWN.to_owned());
        assert_eq!(of(&["4.8.7", "5.4.0"], &[]), (None, None), "all of them have it");
        assert_eq!(of(&["4.8.7", "5.4.0"], &["4.8.5"]), (open(), None));
        assert_eq!(of(&["4.8.7"], &["4.8.10"]), (None, open()));
        assert_eq!(of(&[], &[]), (open(), open()));
        let unread = Releases {
            affected: names(&["4.8.7", "5.4.0"]),
            unable: names(&["4.5.0", "4.8.5"]),
            ..Releases::default()
        };
        assert_eq!(borders(&unread), (open(), None), "the older ones could not be asked");
        let known = Releases {
            first_fixed: Some("z3@4.8.8".to_owned()),
            affected: names(&["4.8.7"]),
            silent: names(&["5.0.0"]),
            ..Releases::default()
        };
        assert_eq!(borders(&known), (None, Some("z3@4.8.8".to_owned())));
    }

    #[test]
    fn a_listed_line_names_a_bug_whatever_releases_are_installed() {
        let Signature::Constructs(plain) = constructs(&[], &["mod"]) else { panic!("constructs") };
        let at = |fixed: Option<&str>| {
            let releases = Some((None, fixed.map(str::to_owned)));
            Signature::Constructs(Constructs { releases, ..plain.clone() })
        };
        let (here, there) = (at(Some("z3@4.8.8")), at(None));
        assert_ne!(here.to_string(), there.to_string());
        assert!(
            here.is_named_by(&there.to_string()) && here.is_named_by(&constructs(&[], &["mod"]).to_string())
        );
        assert!(!here.is_named_by(&constructs(&[], &["div"]).to_string()));
    }

    #[test]
    fn what_a_script_sets_is_no_default() {
        let searched = constructs(&[], &[]).steered(vec!["sat.prob_search=true".to_owned()]);
        let tactic = constructs(&[], &[]).steered(vec!["tactic qfufbv_ackr".to_owned()]);
        assert_ne!(searched, tactic);
        assert_eq!(
            searched.to_string(),
            "refutation-soundness | z3@4.8.7 | sat.prob_search=true | no operators"
        );
        assert!(!searched.is_part_of(&tactic) && constructs(&[], &[]).is_part_of(&tactic));
    }

    #[test]
    fn what_no_operator_tells_apart_is_part_of_nothing_else() {
        let signature = |operators: &[&str]| {
            Signature::Constructs(Constructs {
                kind: Kind::InvalidModel,
                solver: "z3@4.8.7".to_owned(),
                crash: None,
                options: Vec::new(),
                operators: operators.iter().map(ToString::to_string).collect(),
                releases: None,
            })
        };
        assert!(signature(&["mod"]).is_part_of(&signature(&["+", "mod"])));
        assert!(!signature(&[]).is_part_of(&signature(&["+", "mod"])));
        assert!(signature(&[]).is_part_of(&signature(&[])));
    }

    fn of(words: &str) -> String {
        let operators: Vec<String> = words.split(' ').map(str::to_owned).collect();
        essential(&operators).join(" ")
    }

    #[test]
    fn neither_tests_nor_values_tell_bugs_apart() {
        for words in ["NaN bvult fp fp.sqrt", "bvsgt fp.sqrt roundTowardZero to_fp", "-zero fp.sqrt"] {
            assert_eq!(of(words), "fp.sqrt");
        }
        assert_eq!(of("<= mod"), of("> mod"));
        assert_ne!(of("<= mod"), of("<= div"));
    }

    #[test]
    fn something_is_always_left() {
        assert_eq!(of("str.<="), "str.<");
        assert_eq!(of("fp.gt roundTowardZero"), "fp.lt");
        assert_eq!(of("fp.isZero to_fp"), "fp.is");
        for words in ["NaN to_fp", "+zero roundTowardZero to_fp", "roundNearestTiesToAway to_fp"] {
            assert_eq!(of(words), "to_fp");
        }
        assert_eq!(of("+zero -oo"), "fp");
        assert_eq!(of("RNE"), "rounding");
        let checked = ["<".to_owned(), "several checks".to_owned()];
        assert_eq!(essential(&checked), ["<", "several checks"]);
    }

    fn constructs(options: &[&str], operators: &[&str]) -> Signature {
        Signature::Constructs(Constructs {
            kind: Kind::RefutationSoundness,
            solver: "z3@4.8.7".to_owned(),
            crash: None,
            options: options.iter().map(ToString::to_string).collect(),
            operators: operators.iter().map(ToString::to_string).collect(),
            releases: None,
        })
    }

    #[test]
    fn a_list_has_signatures_and_their_hashes_and_nothing_else() {
        let place = Signature::Place { solver: "z3@4.8.7".into(), place: "a.cpp:1".into() };
        assert!(is_listed(&place.to_string()) && is_listed(&place.hash()));
        assert!(is_listed("invalid-model | z3@4.8.7 | default options | mod"));
        for other in
            ["", "(check-sat)", "{", "invalid-model", "crash | z3", "# Bugs | of | z3", "0123456789AB"]
        {
            assert!(!is_listed(other), "{other}");
        }
    }

    #[test]
    fn a_signature_reads_as_users_list_it_and_is_read_back() {
        let plain = constructs(&[], &["mod"]);
        assert_eq!(plain.to_string(), "refutation-soundness | z3@4.8.7 | default options | mod");
        let set = constructs(&["smt.arith.solver=2"], &[]);
        assert_eq!(set.to_string(), "refutation-soundness | z3@4.8.7 | smt.arith.solver=2 | no operators");
        let place =
            Signature::Place { solver: "z3@4.8.7".to_owned(), place: "assertion | a.cpp:3".to_owned() };
        let text = Signature::Text("crash | z3@4.8.7 | SIGSEGV | mod".to_owned());
        for signature in [plain, set, place, text] {
            let json = serde_json::to_string(&signature).expect("JSON");
            assert_eq!(serde_json::from_str::<Signature>(&json).expect("read"), signature);
        }
    }

    #[test]
    fn fewer_constructs_and_options_are_part_of_more() {
        let small = constructs(&[], &["mod"]);
        assert!(small.is_part_of(&constructs(&[], &["div", "mod"])));
        assert!(!constructs(&[], &["div", "mod"]).is_part_of(&small));
        assert!(small.is_part_of(&constructs(&["a=1"], &["div", "mod"])), "it shows without the option too");
        assert!(!constructs(&["a=1"], &["mod"]).is_part_of(&constructs(&[], &["div", "mod"])));
    }
}
