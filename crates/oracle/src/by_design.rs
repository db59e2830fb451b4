//! Differences that are no bugs: the parties mean different things, and their developers say so.
//!
//! Scripts that osprey prints for a release are in that release's dialect already; these rules are for what a dialect
//! cannot repair, and for files run with their own text.

use eval::side_conditions::changes_meaning;
use smtlib::literal::Escapes;
use smtlib::print::Dialect;
use smtlib::{Family, Head, Literal, Op, Release};
use solver::run::Run;

use crate::subject::Subject;
use crate::verdict::Verdict;

/// The reason why a verdict is no bug, if there is one.
pub fn excuse(subject: &Subject, runs: &[Run], verdict: &Verdict) -> Option<String> {
    if !verdict.kind.is_about_meaning() {
        return None;
    }
    let involved: Vec<&Run> = verdict.involved().filter_map(|party| Run::of(runs, party)).collect();
    options(&involved)
        .or_else(|| unread_definitions(subject, &involved))
        .or_else(|| escapes(&involved))
        .or_else(|| if verdict.own_family_objects { None } else { powers(subject, &involved) })
        .or_else(|| if verdict.own_family_objects { None } else { coercions(subject, runs, verdict) })
}

/// Options that allow wrong answers, or give the script another meaning.
fn options(runs: &[&Run]) -> Option<String> {
    let words = runs.iter().flat_map(|run| run.configuration.options());
    words.into_iter().find_map(|word| {
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        changes_meaning(name, value).map(|why| format!("{word} {why}"))
    })
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

/// String literals with escapes that changed their meaning between the releases involved.
fn escapes(runs: &[&Run]) -> Option<String> {
    let old = |run: &&&Run| Dialect::of(run.configuration.release()).escapes == Escapes::Hex;
    let guilty = runs.iter().find(old)?;
    has_escape(&guilty.script).then(|| {
        let release = guilty.configuration.solver.name();
        format!("{release} reads escapes in string literals as before SMT-LIB 2.6")
    })
}

/// Whether a string literal of the script holds what some release reads as an escape.
fn has_escape(script: &[u8]) -> bool {
    let mut inside = false;
    let mut quoted_symbol = false;
    let mut comment = false;
    for (at, byte) in script.iter().enumerate() {
        match byte {
            b'\n' if comment => comment = false,
            _ if comment => {}
            b'|' if !inside => quoted_symbol = !quoted_symbol,
            _ if quoted_symbol => {}
            b';' if !inside => comment = true,
            b'"' => inside = !inside,
            b'\\' if inside && script.get(at + 1).is_some_and(|next| *next != b'"') => return true,
            _ => {}
        }
    }
    false
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
    use super::has_escape;

    #[test]
    fn only_backslashes_inside_string_literals_count() {
        assert!(has_escape(br#"(assert (= x "\x41"))"#));
        assert!(has_escape(br#"(assert (= x "a""\u{41}"))"#));
        assert!(!has_escape(
            br#"; "\x41"
(declare-const |\x41| Int)(assert (= y "41"))"#
        ));
    }
}
