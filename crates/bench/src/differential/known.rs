//! What is known about the solvers: where they are wrong, mean something else, or do not read ground terms.
//! The document on findings of the evaluator has the details.
//!
//! An excuse must not hide a mistake of ours, so each needs support: the same fact in words the solver understands, or
//! a computation of another kind that gives our value too.

use smtlib::print::print_term;
use smtlib::theory::Theory;
use smtlib::{Family, Head, Literal, Op, Release, Script, Session, SortKind, Store, Term};

use super::{Case, float};
use eval::Model;
use eval::sorts::Sorts;
use eval::to_term;

/// Why a solver denies a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Excuse {
    pub reason: &'static str,
    /// What the solver must confirm instead; nothing where a computation in another way gave the same value.
    pub instead: Option<Case>,
}

/// Largest index sort whose elements are all looked at.
const MAX_INDICES: usize = 64;
/// The largest exponent that cvc5 reads.
const CVC5_EXPONENT: u32 = 67_108_863;

/// The excuse for a denial, if there is one and it is not refuted already.
pub(super) fn excuse(case: &Case, release: Release) -> Option<Excuse> {
    let theory = case.op.row().theory;
    if release.family == Family::Cvc5 && matches!(case.op, Op::Arccsc | Op::Arcsec | Op::Arccot) {
        return computed(case)?.then_some(Excuse {
            reason: "cvc5 takes other values than the principal ones for these inverse functions",
            instead: None,
        });
    }
    if release.family != Family::Z3 {
        return None;
    }
    match case.op {
        _ if theory == Theory::Transcendentals => computed(case)?.then_some(Excuse {
            reason: "Z3 knows a few values and bounds of these functions and takes any function that has them",
            instead: None,
        }),
        Op::ArraySetSubset => Some(Excuse {
            reason: "Z3 looks only at the indices of stores, not at the others of a finite sort",
            instead: Some(pointwise(case, release)?),
        }),
        _ if theory == Theory::Sets && case.term.contains('"') => Some(Excuse {
            reason: "Z3 does not tell some strings apart as elements of finite sets",
            instead: Some(with_numbers(case)),
        }),
        _ => None,
    }
}

/// Whether a computation of another kind gives our value, where there is one.
pub(super) fn computed(case: &Case) -> Option<bool> {
    if case.op.row().theory != Theory::Transcendentals {
        return None;
    }
    let mut store = Store::new();
    let term = read(&mut store, &case.term)?;
    Some(float::comparison(&store, term)? == (case.value == "true"))
}

/// `subset` of arrays as an implication at every index.
fn pointwise(case: &Case, release: Release) -> Option<Case> {
    let mut store = Store::new();
    let term = read(&mut store, &case.term)?;
    let [left, right] = *store.args(term) else { return None };
    let SortKind::Array(index, _) = *store.sort_kind(store.sort_of(left)) else { return None };
    let values = Sorts::new(&store, &Model::new()).enumerate(index, MAX_INDICES)?;
    let mut parts = Vec::new();
    for value in values {
        let index = to_term(&mut store, index, &value)?;
        let selected = [left, right].map(|array| store.op(Op::Select, &[array, index]).ok());
        let [Some(left), Some(right)] = selected else { return None };
        parts.push(store.op(Op::Implies, &[left, right]).ok()?);
    }
    let all = store.op(Op::And, &parts).ok()?;
    Some(Case { op: case.op, term: print_term(&store, all, release), value: case.value.clone() })
}

/// The case with a number for each string: operations on sets ask only which elements are the same.
fn with_numbers(case: &Case) -> Case {
    let mut words: Vec<String> = Vec::new();
    let mut renamed = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('"') {
            out.push_str(&rest[..start]);
            // A quote inside of a literal is doubled.
            let mut end = start + 1;
            while let Some(next) = rest[end..].find('"') {
                end += next + 1;
                if !rest[end..].starts_with('"') {
                    break;
                }
                end += 1;
            }
            let word = &rest[start..end];
            let number = words.iter().position(|known| known == word).unwrap_or_else(|| {
                words.push(word.to_owned());
                words.len() - 1
            });
            out.push_str(&number.to_string());
            rest = &rest[end..];
        }
        out.push_str(rest);
        out.replace("String", "Int")
    };
    Case { op: case.op, term: renamed(&case.term), value: renamed(&case.value) }
}

fn read(store: &mut Store, text: &str) -> Option<Term> {
    Session::new(store, &Script::default(), text.as_bytes()).term().ok()?
}

/// Ground terms that a release does not read, although it has the operator.
pub(super) fn unreadable(store: &Store, term: Term, release: Release) -> bool {
    release.family == Family::Cvc5
        && store.subterms(&[term]).into_iter().any(|part| match store.op_of(part) {
            // A constant array takes a value, and neither (- 1) nor (/ 1 2) is one to its reader.
            Some(Op::ConstArray) => {
                let value = store.args(part).first().map(|value| store.head(*value));
                matches!(
                    value,
                    Some(Head::Op(Op::IntNeg | Op::RealNeg | Op::RealDiv | Op::SeqConcat | Op::SetUnion, _))
                )
            }
            Some(Op::IntPow | Op::RealPow) => store.args(part).last().is_some_and(|exponent| {
                !matches!(store.head(*exponent), Head::Literal(literal) if readable_exponent(store.literal(literal)))
            }),
            _ => false,
        })
}

fn readable_exponent(literal: &Literal) -> bool {
    let most = CVC5_EXPONENT;
    match literal {
        Literal::Int(value) => *value <= most.into(),
        Literal::Real(value) => value.is_integer() && value.numerator() <= most.into(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::Version;

    fn excused(op: Op, term: &str, value: &str) -> Option<Excuse> {
        let case = Case { op, term: term.to_owned(), value: value.to_owned() };
        excuse(&case, Release::new(Family::Z3, Version::new(5, 4, 0)))
    }

    #[test]
    fn a_wrong_value_of_ours_is_not_excused() {
        assert!(excused(Op::Sinh, "(< (sinh 1.0) 2.0)", "true").is_some());
        assert_eq!(excused(Op::Sinh, "(< (sinh 1.0) 2.0)", "false"), None);
    }

    #[test]
    fn strings_in_sets_become_numbers_that_are_equal_where_they_were() {
        let excuse = excused(
            Op::SetMinus,
            r#"(set.minus (set.singleton "a""b") (set.union (set.singleton "") (set.singleton "a""b")))"#,
            "(as set.empty (Set String))",
        );
        let instead = excuse.expect("an excuse").instead.expect("another case");
        assert_eq!(
            instead.term,
            "(set.minus (set.singleton 0) (set.union (set.singleton 1) (set.singleton 0)))"
        );
        assert_eq!(instead.value, "(as set.empty (Set Int))");
    }

    #[test]
    fn subsets_are_implications_at_every_index() {
        let excuse = excused(
            Op::ArraySetSubset,
            "(subset ((as const (Array Bool Bool)) true) (store ((as const (Array Bool Bool)) false) true true))",
            "false",
        );
        let instead = excuse.expect("an excuse").instead.expect("another case");
        assert_eq!(instead.term.matches("=>").count(), 2, "{}", instead.term);
    }
}
