//! What is known about the solvers: where they are wrong, mean something else, or do not read ground terms.
//! The document on findings of the evaluator has the details.

use smtlib::theory::Theory;
use smtlib::{Family, Head, Op, Release, Store, Term};

use super::Case;

/// Why a solver denies a case, if that is known.
pub(super) fn reason(case: &Case, release: Release) -> Option<&'static str> {
    let row = case.op.row();
    match (release.family, case.op) {
        (Family::Z3, _) if row.theory == Theory::Transcendentals => {
            Some("Z3 knows a few values and bounds of these functions and takes any function that has them")
        }
        (Family::Z3, Op::ArraySetSubset) => {
            Some("Z3 looks only at the indices of stores, not at the others of a finite sort")
        }
        (Family::Z3, _) if row.theory == Theory::Sets && case.term.contains('"') => {
            Some("Z3 does not tell some strings apart as elements of finite sets")
        }
        _ => None,
    }
}

/// Ground terms that a release does not read, although it has the operator.
pub(super) fn unreadable(store: &Store, term: Term, release: Release) -> bool {
    // In cvc5 a constant array takes a value, and neither (- 1) nor (/ 1 2) is one to its reader.
    release.family == Family::Cvc5
        && store.subterms(&[term]).into_iter().any(|part| {
            let value = store.args(part).first().map(|value| store.head(*value));
            store.op_of(part) == Some(Op::ConstArray)
                && matches!(
                    value,
                    Some(Head::Op(Op::IntNeg | Op::RealNeg | Op::RealDiv | Op::SeqConcat | Op::SetUnion, _))
                )
        })
}
