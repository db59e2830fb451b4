//! Operators that could stand in each other's place: they take the same arguments and give the same sort.
//!
//! A bug that stays with another operator does not need this one, only something of its kind: what is wrong is how a
//! solver treats computed indices, say, and not how it negates bit-vectors.

use smtlib::theory::{Row, table};
use smtlib::{Head, Op, Release, Store, Term};

use super::names::Role;

/// The operators of a term's own theory that could stand in its place and that the release reads, in table order.
pub(super) fn of(store: &mut Store, term: Term, release: Release) -> Vec<Op> {
    let Head::Op(own, indices) = store.head(term) else { return Vec::new() };
    // An index is part of what the operator means.
    if !store.index_list(indices).is_empty() {
        return Vec::new();
    }
    let usable = |row: &&Row| {
        row.op != own
            && row.theory == own.row().theory
            && row.indices.is_empty()
            && row.qualified.is_none()
            && row.accepted_by(release)
    };
    let rows: Vec<Op> = table().rows().iter().filter(usable).map(|row| row.op).collect();
    let fits = |op: &Op| with(store, term, *op).is_some_and(|new| Role::of(store, new) == Role::Computes);
    rows.into_iter().filter(fits).collect()
}

/// The term with another operator, if that gives the same sort.
pub(super) fn with(store: &mut Store, term: Term, op: Op) -> Option<Term> {
    let (args, sort) = (store.args(term).to_vec(), store.sort_of(term));
    let new = store.op(op, &args).ok()?;
    (store.sort_of(new) == sort).then_some(new)
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;

    fn names(script: &str) -> Vec<&'static str> {
        let mut store = Store::new();
        let parsed = parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
        let terms = parsed.script.terms(&store);
        let term = store.args(terms[0])[0];
        of(&mut store, term, Release::STANDARD).into_iter().map(Op::name).collect()
    }

    #[test]
    fn what_takes_the_same_arguments_and_gives_the_same_sort_may_take_a_place() {
        let unary = names("(declare-const a (_ BitVec 4))(assert (= (bvneg a) a))");
        assert!(unary.contains(&"bvnot") && !unary.contains(&"bvneg"), "{unary:?}");
        let replace = names("(declare-const a String)(assert (= (str.replace a a a) a))");
        assert!(replace.contains(&"str.replace_all") && !replace.contains(&"str.substr"), "{replace:?}");
        assert_eq!(names("(declare-const a (_ BitVec 4))(assert (= ((_ rotate_left 1) a) a))"), [""; 0]);
    }
}
