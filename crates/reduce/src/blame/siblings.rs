//! Operators that could stand in each other's place: they take the same arguments and give the same sort.
//!
//! A bug that stays with another operator does not need this one, only something of its kind: what is wrong is how a
//! solver treats computed indices, say, and not how it negates bit-vectors.

use eval::{Evaluator, Mode, Model};
use smtlib::theory::{Row, table};
use smtlib::{Head, Op, Release, Store, Term};

use super::names::Role;
use crate::workbench::limits;

/// The operators of a term's own theory that could stand in its place and that the release reads: those that give the same
/// values there under these models first, its neighbours in the table before others, then the rest in table order. Where a
/// contradiction or a witness has to stay, only the same value keeps it.
pub(super) fn of(store: &mut Store, term: Term, release: Release, models: &[Model]) -> Vec<Op> {
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
    let mut found: Vec<(bool, usize, Op)> = Vec::new();
    for op in rows {
        let Some(new) = with(store, term, op).filter(|new| Role::of(store, *new) == Role::Computes) else {
            continue;
        };
        let same = models.iter().all(|model| {
            let mut evaluator = Evaluator::new(Mode::Choose, limits());
            let value = evaluator.evaluate(store, model, new);
            value.is_ok() && value == evaluator.evaluate(store, model, term)
        });
        let distance = if same { (op as usize).abs_diff(own as usize) } else { 0 };
        found.push((!same, distance, op));
    }
    found.sort_by_key(|(other, distance, _)| (*other, *distance));
    found.into_iter().map(|(_, _, op)| op).collect()
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
    use crate::held::simple_models;
    use crate::workbench::{Draft, Workbench};

    /// Of the first argument of the first assertion.
    fn names(script: &str, release: Release) -> Vec<&'static str> {
        let mut store = Store::new();
        let script = parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script").script;
        let term = store.args(script.terms(&store)[0])[0];
        let mut bench = Workbench::new(store, Draft { script, model: None });
        let models = simple_models(&mut bench);
        of(&mut bench.store, term, release, &models).into_iter().map(Op::name).collect()
    }

    #[test]
    fn what_gives_the_same_value_there_is_tried_first() {
        let z3 = Release::new(smtlib::Family::Z3, "4.8.7".parse().expect("a version"));
        let before = |names: &[&str], one: &str, other: &str| {
            let place = |name: &str| names.iter().position(|found| *found == name);
            assert!(place(one).is_some() && place(one) < place(other), "{names:?}");
        };
        let rotated = names("(declare-const a (_ BitVec 4))(assert (= (ext_rotate_left #x0 a) #x1))", z3);
        assert_eq!(rotated[0], "ext_rotate_right", "{rotated:?}");
        before(&rotated, "bvlshr", "bvadd");
        let remainder = names("(declare-const a (_ BitVec 4))(assert (= (bvurem a a) #x1))", z3);
        before(&remainder, "bvsub", "bvand");
    }

    #[test]
    fn what_takes_the_same_arguments_and_gives_the_same_sort_may_take_a_place() {
        let standard = |script| names(script, Release::STANDARD);
        let unary = standard("(declare-const a (_ BitVec 4))(assert (= (bvneg a) a))");
        assert!(unary.contains(&"bvnot") && !unary.contains(&"bvneg"), "{unary:?}");
        let replace = standard("(declare-const a String)(assert (= (str.replace a a a) a))");
        assert!(replace.contains(&"str.replace_all") && !replace.contains(&"str.substr"), "{replace:?}");
        assert_eq!(standard("(declare-const a (_ BitVec 4))(assert (= ((_ rotate_left 1) a) a))"), [""; 0]);
    }
}
