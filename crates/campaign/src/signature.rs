//! When two findings are taken for the same bug: a signature made of what is left after reduction.

use oracle::{Kind, Run};
use smtlib::theory::Theory;
use smtlib::{Script, Store};

use crate::finding::Finding;

/// Gives a finding its operators and, unless it is a crash that names its place, a signature made of them: equal for
/// findings taken for the same bug.
pub fn sign(finding: &mut Finding, store: &Store, script: &Script, runs: &[Run]) {
    finding.operators = operators(store, script);
    let crash = runs.first().and_then(|run| run.answers.crash()).map(|crash| crash.signature());
    let crash = crash.filter(|_| finding.kind == Kind::Crash.word());
    if crash.as_ref().is_some_and(solver::crash::Signature::names_a_place) {
        return;
    }
    let mut options: Vec<&str> =
        runs.first().map(|run| run.configuration.options().collect()).unwrap_or_default();
    options.sort_unstable();
    let operators = essential(&finding.operators);
    finding.signature = format!(
        "{} | {} | {} | {}",
        finding.kind,
        finding.solver,
        match crash {
            Some(crash) => crash.text,
            None if options.is_empty() => "default options".to_owned(),
            None => options.join(" "),
        },
        if operators.is_empty() { "no operators".to_owned() } else { operators.join(" ") }
    );
    if let Some(releases) = &finding.releases {
        let name = |release: &Option<String>| release.clone().unwrap_or_else(|| "-".to_owned());
        let (good, fixed) = (name(&releases.last_good), name(&releases.first_fixed));
        finding.signature.push_str(&format!(" | last good {good} | first fixed {fixed}"));
    }
}

/// The operators that may be to blame, by name: all but the Boolean ones.
fn operators(store: &Store, script: &Script) -> Vec<String> {
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
    if script.is_incremental() {
        names.push("several checks".to_owned());
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
fn essential(operators: &[String]) -> Vec<&str> {
    let group = |groups: &[(&'static str, &[&str])], name: &str| {
        groups.iter().find(|(_, names)| names.contains(&name)).map(|(group, _)| *group)
    };
    let names = || operators.iter().map(String::as_str);
    let mut left: Vec<&str> =
        names().filter(|name| group(&TESTS, name).is_none() && group(&VALUES, name).is_none()).collect();
    let bare = |left: &[&str]| left.iter().all(|name| *name == "several checks");
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
}
