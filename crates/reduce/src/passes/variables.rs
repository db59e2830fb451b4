//! Fewer constants: known values, merged ones, solved equations; and new ones for large terms.

use smtlib::{Command, Fun, Op, Term};

use super::Pass;
use super::operators::all_terms;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;
use crate::workbench::Draft;

/// Puts values or other constants in the place of declared constants, whose declarations go.
pub struct Eliminate;

/// Other constants tried in a constant's place.
const OTHERS: usize = 1;

impl Pass for Eliminate {
    fn name(&self) -> &'static str {
        "variables"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        equations(reduction)?;
        let funs = constants(reduction);
        let mut by_rank: Vec<Vec<Edit>> = Vec::new();
        for (place, fun) in funs.iter().enumerate() {
            let sort = reduction.bench.store.fun(*fun).result;
            let Ok(constant) = reduction.bench.store.call(*fun, &[]) else { continue };
            // Merging with an earlier constant can be done for all at once without going in circles.
            let store = &mut reduction.bench.store;
            let others: Vec<Fun> = funs[..place]
                .iter()
                .copied()
                .filter(|other| store.fun(*other).result == sort)
                .take(OTHERS)
                .collect();
            let mut choices: Vec<Term> =
                others.iter().filter_map(|other| store.call(*other, &[]).ok()).collect();
            match reduction.bench.value(constant) {
                Some(value) => choices.push(value),
                None => choices.extend(reduction.bench.simple_values(sort).into_iter().take(1)),
            }
            for (rank, choice) in choices.into_iter().enumerate() {
                if by_rank.len() <= rank {
                    by_rank.push(Vec::new());
                }
                by_rank[rank].push(Edit::Eliminate(*fun, choice));
            }
        }
        for edits in by_rank {
            // A constant that is gone has no declaration left to drop.
            let there = constants(reduction);
            let edits = edits
                .into_iter()
                .filter(|edit| matches!(edit, Edit::Eliminate(fun, _) if there.contains(fun)))
                .collect();
            reduction.edits(edits)?;
        }
        Ok(())
    }
}

/// Declared constants without parameters, in order.
fn constants(reduction: &Reduction) -> Vec<Fun> {
    let bench = &reduction.bench;
    bench.draft.script.declared_funs().filter(|fun| bench.store.fun(*fun).params.is_empty()).collect()
}

/// `(assert (= x t))`: without it, and with `t` for `x` everywhere else.
fn equations(reduction: &mut Reduction) -> Result<(), ReduceError> {
    let mut place = 0;
    while place < reduction.bench.draft.script.commands.len() && !reduction.over() {
        let found = solved(reduction, place);
        let drafts = found
            .into_iter()
            .filter_map(|(fun, term)| reduction.bench.with(&[Edit::Drop(place), Edit::Eliminate(fun, term)]))
            .collect();
        if !reduction.drafts(drafts, crate::driver::Growth::Smaller)? {
            place += 1;
        }
    }
    Ok(())
}

/// What an asserted equation says constants are.
fn solved(reduction: &mut Reduction, place: usize) -> Vec<(Fun, Term)> {
    let bench = &mut reduction.bench;
    let Command::Assert(root) = bench.draft.script.commands[place] else { return Vec::new() };
    let mut found = Vec::new();
    if bench.store.op_of(root) == Some(Op::Equal)
        && let [a, b] = *bench.store.args(root)
    {
        for (left, right) in [(a, b), (b, a)] {
            if let smtlib::Head::Fun(fun) = bench.store.head(left)
                && bench.store.args(left).is_empty()
                && bench.draft.script.declared_funs().any(|other| other == fun)
                && !bench.store.subterms(&[right]).contains(&left)
            {
                found.push((fun, right));
            }
        }
    }
    found
}

/// Puts a new constant in the place of a large closed term.
pub struct Fresh;

/// Smaller terms cost less than the declaration of a constant.
const LARGE: u64 = 10;

/// Terms tried in one turn.
const TRIED: usize = 8;

impl Pass for Fresh {
    fn name(&self) -> &'static str {
        "new constants"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut terms = all_terms(reduction);
        let store = &reduction.bench.store;
        let roots: Vec<Term> = reduction.bench.roots().into_iter().map(|(_, _, root)| root).collect();
        terms.retain(|term| {
            store.tree_size(*term) >= LARGE
                && !roots.contains(term)
                && !store.is_opaque(*term)
                && store.free_vars(*term).is_empty()
        });
        terms.truncate(TRIED);
        reduction
            .first(terms.len(), crate::driver::Growth::Smaller, &mut |bench, number| {
                let term = terms[number];
                let sort = bench.store.sort_of(term);
                let fun = bench.fresh_constant(sort);
                let draft = bench.with(&[Edit::Fresh(term, fun)])?;
                let model = match &draft.model {
                    None => None,
                    Some(model) => {
                        let mut evaluator = eval::Evaluator::new(eval::Mode::Choose, eval::Budget::default());
                        // Values that belong to this evaluator, such as languages, are of no use to others.
                        let value = evaluator.evaluate(&bench.store, model, term).ok();
                        let value = value.filter(eval::Value::is_definite)?;
                        let mut model = eval::Model::clone(model);
                        model.assign(fun, value);
                        Some(std::sync::Arc::new(model))
                    }
                };
                Some(Draft { model, ..draft })
            })
            .map(|_| ())
    }
}
