//! Differences that are no bugs: the parties mean different things, and their developers say so.
//!
//! Scripts that osprey prints for a release are in that release's dialect already; these rules are for what a dialect
//! cannot repair, and for files run with their own text.

use std::collections::BTreeSet;

use eval::side_conditions::{Change, changes_meaning};
use smtlib::literal::{Escapes, write_string};
use smtlib::print::Dialect;
use smtlib::{Family, Head, Literal, Op, Release, Status};
use solver::run::Run;

use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// The reason why a verdict is no bug, if there is one.
pub fn excuse(subject: &Subject, runs: &[Run], verdict: &Verdict) -> Option<String> {
    if !verdict.kind.is_about_meaning() {
        return None;
    }
    let involved: Vec<&Run> = verdict.involved().filter_map(|party| Run::of(runs, party)).collect();
    options(subject, &involved, verdict)
        .or_else(|| unread_definitions(subject, &involved))
        .or_else(|| escapes(subject, &involved))
        .or_else(|| alphabet(subject, &involved, verdict.check))
        .or_else(|| if verdict.own_family_objects { None } else { powers(subject, &involved) })
        .or_else(|| if verdict.own_family_objects { None } else { coercions(subject, runs, verdict) })
}

/// Options that allow wrong answers, or give the script another meaning.
fn options(subject: &Subject, runs: &[&Run], verdict: &Verdict) -> Option<String> {
    runs.iter().find_map(|run| {
        run.configuration.options().into_iter().find_map(|word| {
            let (name, value) = word.split_once('=').unwrap_or((&word, ""));
            let change = changes_meaning(name, value)?;
            let excuses = match change {
                Change::Meaning(_) => true,
                Change::Search(_) => quantifies(subject) || rests_on_search(run, verdict),
            };
            excuses.then(|| format!("{word} {}", change.why()))
        })
    })
}

/// Whether a verdict needs that the run has missed no model. A `sat` and a wrong model of its own do not.
fn rests_on_search(run: &Run, verdict: &Verdict) -> bool {
    match verdict.kind {
        Kind::InvalidModel | Kind::WrongValue => verdict.accused != Some(run.party()),
        Kind::Incremental => true,
        _ => verdict.check.and_then(|check| run.status(check)) != Some(Status::Sat),
    }
}

/// Whether a model depends on values that are not in it, so that who looks at some of them only may take the wrong one.
fn quantifies(subject: &Subject) -> bool {
    let Some(script) = subject.script else { return true };
    let usage = smtlib::logic::usage(subject.store, script);
    usage.quantifiers || usage.higher_order || usage.beyond || usage.opaque
}

/// Definitions by recursion in a file that we cannot read, so that nobody knows whether they have a solution.
fn unread_definitions(subject: &Subject, runs: &[&Run]) -> Option<String> {
    let defines = |run: &&Run| {
        let text = String::from_utf8_lossy(&run.script);
        text.contains("define-fun-rec") || text.contains("define-funs-rec")
    };
    (subject.script.is_none() && runs.iter().any(defines))
        .then(|| "a definition by recursion in a file that osprey cannot read may have no solution".into())
}

/// String literals with escapes that changed their meaning between the releases involved. Literals that osprey wrote for
/// the release have the escapes that it reads.
fn escapes(subject: &Subject, runs: &[&Run]) -> Option<String> {
    let written = |run: &Run| -> BTreeSet<String> {
        let dialect = Dialect::of(run.configuration.release());
        let literals = strings(subject);
        let readable =
            literals.iter().filter(|points| points.iter().all(|c| *c <= dialect.largest_character));
        readable
            .map(|points| {
                let mut text = String::new();
                write_string(&mut text, points, dialect.escapes);
                text
            })
            .collect()
    };
    let foreign = |run: &Run| {
        let own = written(run);
        escaped(&run.script).iter().any(|literal| !own.contains(&*String::from_utf8_lossy(literal)))
    };
    let name = |run: &Run| run.configuration.solver.name();
    runs.iter().find_map(|run| match (reads_bytes(run), Escapes::of(&run.script)) {
        (true, _) if foreign(run) => {
            Some(format!("{} reads escapes in string literals as before SMT-LIB 2.6", name(run)))
        }
        (false, Escapes::Hex) if foreign(run) => {
            Some(format!("{} does not read the escapes that the string literals are written with", name(run)))
        }
        _ => None,
    })
}

/// From this character on, a release whose characters are bytes may run out of them where the standard has more.
const NEAR_THE_END: u32 = 0xF0;

/// A release whose characters are bytes rightly says `unsat` to what needs a character above them all.
fn alphabet(subject: &Subject, runs: &[&Run], check: Option<usize>) -> Option<String> {
    let unsat = |run: &Run| run.status(check.unwrap_or(0)) == Some(Status::Unsat);
    let guilty = runs.iter().find(|run| reads_bytes(run) && unsat(run))?;
    let near = strings(subject).into_iter().flatten().any(|point| point >= NEAR_THE_END);
    near.then(|| {
        let release = guilty.configuration.solver.name();
        format!("{release} has 256 characters, and the script mentions one of the last")
    })
}

fn reads_bytes(run: &Run) -> bool {
    Dialect::of(run.configuration.release()).escapes == Escapes::Hex
}

/// The string literals of the script.
fn strings(subject: &Subject) -> Vec<Box<[u32]>> {
    let Some(script) = subject.script else { return Vec::new() };
    let store = &*subject.store;
    let literal = |term| match store.head(term) {
        Head::Literal(literal) => match store.literal(literal) {
            Literal::String(points) => Some(points.clone()),
            _ => None,
        },
        _ => None,
    };
    store.subterms(&script.terms(store)).into_iter().filter_map(literal).collect()
}

/// The string literals of a text, with their quotes, that hold what some release reads as an escape.
fn escaped(script: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < script.len() {
        let end_at = |close: u8| {
            let rest = script[at + 1..].iter().position(|byte| *byte == close);
            rest.map_or(script.len(), |length| at + 1 + length)
        };
        at = match script[at] {
            b';' => end_at(b'\n') + 1,
            b'|' => end_at(b'|') + 1,
            b'"' => {
                let mut end = at + 1;
                while end < script.len() && (script[end] != b'"' || script.get(end + 1) == Some(&b'"')) {
                    end += if script[end] == b'"' { 2 } else { 1 };
                }
                let literal = &script[at..script.len().min(end + 1)];
                if literal[..literal.len() - 1].contains(&b'\\') {
                    found.push(literal);
                }
                end + 1
            }
            _ => at + 1,
        };
    }
    found
}

/// Z3 leaves 0^0 open; others say 1.
fn powers(subject: &Subject, runs: &[&Run]) -> Option<String> {
    let script = subject.script?;
    let z3 = |release: Release| release.family == Family::Z3;
    if !runs.iter().any(|run| z3(run.configuration.release())) {
        return None;
    }
    let store = &*subject.store;
    let open = store.subterms(&script.terms(store)).into_iter().any(|term| {
        matches!(store.op_of(term), Some(Op::IntPow | Op::RealPow))
            && !positive_literal(subject, store.args(term).get(1))
    });
    open.then(|| "'^' with an exponent that may be zero: Z3 leaves 0^0 open".into())
}

fn positive_literal(subject: &Subject, exponent: Option<&smtlib::Term>) -> bool {
    let Some(exponent) = exponent else { return false };
    let Head::Literal(literal) = subject.store.head(*exponent) else { return false };
    match subject.store.literal(literal) {
        Literal::Int(value) => !value.is_zero(),
        Literal::Real(value) => !value.is_zero(),
        _ => false,
    }
}

/// Scripts that are ill-sorted by the standard and mean what each solver likes. Two other
/// families that agree have the usual reading.
fn coercions(subject: &Subject, runs: &[Run], verdict: &Verdict) -> Option<String> {
    const OPEN: [&str; 4] = [
        "mixed Int and Real arguments",
        "applied to a term that has its result sort already",
        "used across strings and sequences",
        "Real or Bool arguments where integers are expected",
    ];
    let note = subject.notes.iter().find(|note| OPEN.iter().any(|open| note.message.contains(open)))?;
    // A numeral among reals is read by everybody as a real.
    if note.message.contains(OPEN[0]) && !converts(subject) {
        return None;
    }
    let opponents = verdict.opponents.iter().filter_map(|party| Run::of(runs, *party));
    let mut families: Vec<Family> = opponents.map(|run| run.configuration.lineage()).collect();
    families.sort_unstable();
    families.dedup();
    if families.len() > 1 {
        return None;
    }
    Some(format!(
        "the script is ill-sorted by the standard ({}) and each solver has its own reading",
        note.message
    ))
}

/// Whether something other than a number is converted between Int and Real.
fn converts(subject: &Subject) -> bool {
    let Some(script) = subject.script else { return true };
    let store = &*subject.store;
    store.subterms(&script.terms(store)).into_iter().any(|term| {
        matches!(store.op_of(term), Some(Op::ToReal | Op::ToInt))
            && store.args(term).iter().any(|arg| !matches!(store.head(*arg), Head::Literal(_)))
    })
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn only_backslashes_inside_string_literals_count() {
        let found = |text| -> Vec<String> {
            escaped(text).iter().map(|literal| String::from_utf8_lossy(literal).into_owned()).collect()
        };
        assert_eq!(found(br#"(assert (= x "\x41" "b"))"#), [r#""\x41""#]);
        assert_eq!(found(br#"(assert (= x "a""\u{41}"))"#), [r#""a""\u{41}""#]);
        assert_eq!(found(br#""never closed \x"#).len(), 1);
        assert!(
            found(
                br#"; "\x41"
(declare-const |\x41| Int)(assert (= y "41"))"#
            )
            .is_empty()
        );
    }
}
