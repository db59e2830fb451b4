//! Quantifiers, and the annotations on terms.

use rustc_hash::FxHashMap;
use smtlib::{Attribute, Binder, Head, Op, Term, Var};

use super::Pass;
use super::operators::all_terms;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;

/// Drops annotations: names, patterns, weights; all of them, then one attribute after the other.
pub struct Annotations;

impl Pass for Annotations {
    fn name(&self) -> &'static str {
        "annotations"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut edits = Vec::new();
        let mut single = Vec::new();
        for term in all_terms(reduction) {
            let store = &mut reduction.bench.store;
            let Head::Annotated(attributes) = store.head(term) else { continue };
            edits.push(Edit::Term(term, store.args(term)[0]));
            // Attributes with terms of their own would shift the others' terms: they go with the whole annotation.
            let list: Vec<Attribute> = store.attribute_list(attributes).to_vec();
            if list.len() > 1 && store.args(term).len() == 1 {
                for left in 0..list.len() {
                    let mut rest = list.clone();
                    rest.remove(left);
                    let rest = store.attributes(rest);
                    let body = store.args(term)[0];
                    single.extend(store.annotate(rest, &[body]).ok().map(|new| Edit::Term(term, new)));
                }
            }
        }
        reduction.edits(edits)?;
        reduction.edits_from(single, 1).map(|_| ())
    }
}

/// Drops quantified variables that do not occur, and quantifiers over variables that get a value.
pub struct Quantifiers;

impl Pass for Quantifiers {
    fn name(&self) -> &'static str {
        "quantifiers"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let binders: Vec<Term> = all_terms(reduction)
            .into_iter()
            .filter(|term| matches!(reduction.bench.store.head(*term), Head::Bind(binder, _) if binder.is_quantifier()))
            .collect();
        for term in binders {
            let mut edits = Vec::new();
            for new in without_variables(reduction, term) {
                edits.push(Edit::Term(term, new));
            }
            reduction.edits_from(edits, 1)?;
        }
        Ok(())
    }
}

/// The quantifier with one variable less: one that does not occur, or one that becomes a constant of the script, a
/// simple value, or another of its variables.
fn without_variables(reduction: &mut Reduction, term: Term) -> Vec<Term> {
    let bench = &mut reduction.bench;
    let Head::Bind(binder, vars) = bench.store.head(term) else { return Vec::new() };
    let vars: Vec<Var> = bench.store.var_list(vars).to_vec();
    let body = bench.store.args(term)[0];
    let mut found = Vec::new();
    let occurring = bench.store.free_vars(body);
    let used: Vec<Var> = vars.iter().copied().filter(|var| occurring.contains(var)).collect();
    if used.len() < vars.len() {
        // Without any that does not occur; else with one of them, since some bugs need a quantifier, whatever it binds.
        found.extend(closed(bench, binder, &used, body));
        for idle in vars.iter().filter(|var| !occurring.contains(var)) {
            let kept: Vec<Var> =
                vars.iter().copied().filter(|var| used.contains(var) || var == idle).collect();
            if kept.len() < vars.len() {
                found.extend(bench.store.quantify(binder, &kept, body));
            }
        }
    }
    for (place, var) in vars.iter().enumerate() {
        let mut rest = vars.clone();
        rest.remove(place);
        let sort = bench.store.var_sort(*var);
        if !occurring.contains(var) {
            if !rest.is_empty() {
                found.extend(bench.store.quantify(binder, &rest, body));
            }
            continue;
        }
        let mut values: Vec<Term> = bench.simple_values(sort);
        let constants = bench.constants_of(sort);
        values.extend(constants.into_iter().take(2).filter_map(|fun| bench.store.call(fun, &[]).ok()));
        let others: Vec<Var> =
            rest.iter().copied().filter(|other| bench.store.var_sort(*other) == sort).collect();
        values.extend(others.into_iter().take(2).map(|other| bench.store.var_term(other)));
        let from = bench.store.var_term(*var);
        for value in values {
            let map: FxHashMap<Term, Term> = [(from, value)].into_iter().collect();
            let Ok(body) = bench.store.substitute(body, &map) else { continue };
            found.extend(closed(bench, binder, &rest, body));
        }
    }
    // Patterns of the body hang on the quantifier.
    if let Head::Annotated(_) = bench.store.head(body) {
        let inner = bench.store.args(body)[0];
        found.extend(closed(bench, binder, &vars, inner));
    }
    if binder == Binder::Forall {
        found.extend(closed(bench, Binder::Exists, &vars, body));
    }
    // A quantified conjunction as the quantified parts.
    if matches!(bench.store.op_of(body), Some(Op::And | Op::Or | Op::Not | Op::Implies)) {
        for part in bench.store.args(body).to_vec() {
            found.extend(closed(bench, binder, &vars, part));
        }
    }
    found
}

/// A quantifier over those variables that occur; the body itself without any.
fn closed(bench: &mut crate::workbench::Workbench, binder: Binder, vars: &[Var], body: Term) -> Option<Term> {
    let free = bench.store.free_vars(body);
    let vars: Vec<Var> = vars.iter().copied().filter(|var| free.contains(var)).collect();
    if vars.is_empty() { Some(body) } else { bench.store.quantify(binder, &vars, body).ok() }
}
