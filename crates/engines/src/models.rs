//! Models for seeds: from solvers, always checked by our evaluator, or at random.

use std::sync::Arc;

use eval::sorts::Sorts;
use eval::value::{Domain, Function, Table};
use eval::{Budget, EvaluatedModel, Mode, Model, Value};
use generate::Rng;
use smtlib::{Script, Sort, SortKind, Store, Term};

use crate::engine::Bench;
use crate::opened;
use crate::skeleton::Skeleton;

/// Elements of a declared sort in a random model.
const ELEMENTS: usize = 4;

/// What one evaluation under a seed's model may cost: mutants that are hard to evaluate are not worth it.
pub const BUDGET: Budget = Budget {
    steps: 200_000,
    instances: 1 << 12,
    candidates: 64,
    calls: 10_000,
    regex: eval::regex::Budget { steps: 20_000, terms: 20_000, states: 400 },
};

/// Which models an engine wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// At most this many from solvers.
    pub asked: u32,
    /// Random assignments to try when solvers give nothing.
    pub random: u32,
    /// Use models that depend on a choice where the standard leaves a result open.
    pub open_cases: bool,
}

/// Random assignments tried for formulas with quantifiers: each may cost a whole budget, and hardly one is ever a model.
const QUANTIFIED: u32 = 10;

/// A model, and formulas of the seed that are all true under it.
pub(crate) struct Satisfied {
    pub evaluated: EvaluatedModel,
    pub assertions: Vec<Term>,
    /// A solver gave the model: it will most likely have one of what is made of the formulas, too.
    pub solved: bool,
}

/// Models that make all assertions in force true; if there are none, one that makes most of them true.
pub(crate) fn satisfying(bench: &mut Bench<'_>, skeleton: &mut Skeleton, wanted: Wanted) -> Vec<Satisfied> {
    let script = skeleton.script(&[], &skeleton.in_force);
    let mut models = asked(bench, &script, wanted);
    models.retain_mut(|evaluated| satisfies(bench.store, evaluated, &skeleton.in_force));
    let solved = !models.is_empty();
    let quantified =
        bench.store.subterms(&skeleton.in_force).iter().any(|term| bench.store.mentions_vars(*term));
    let tries = if quantified { wanted.random.min(QUANTIFIED) } else { wanted.random };
    for _ in 0..if models.is_empty() { tries } else { 0 } {
        let model = random_model(bench, &script);
        let mut evaluated = EvaluatedModel::new(model, mode(wanted), BUDGET);
        if satisfies(bench.store, &mut evaluated, &skeleton.in_force) {
            models.push(evaluated);
            break;
        }
    }
    if models.is_empty() {
        return partly_satisfying(bench, skeleton, wanted).into_iter().collect();
    }
    let whole = |evaluated| Satisfied { evaluated, assertions: skeleton.in_force.clone(), solved };
    models.into_iter().map(whole).collect()
}

/// A model and what our evaluator can tell of the seed under it, where the seed has no model or none that can be checked:
/// parts of the assertions, denied if they are false. A part that stays undecided is opened, and left out if that does
/// not help either.
///
/// The model is one of the opened parts, as many of the first ones as have one: with constants for bound variables
/// solvers find it soon, and the constants' values are what the evaluator tries first for the variables.
fn partly_satisfying(bench: &mut Bench<'_>, skeleton: &mut Skeleton, wanted: Wanted) -> Option<Satisfied> {
    let parts = opened::conjuncts(bench.store, &skeleton.in_force);
    let opened_parts = skeleton.opened(bench.store, &parts);
    let all = parts.len();
    // Where nothing was opened all parts together are the seed, which was asked for already.
    let mut counts = vec![all, all.saturating_sub(1), all / 2];
    counts.retain(|count| *count > 0 && (*count < all || opened_parts != parts));
    counts.dedup();
    let one = Wanted { asked: wanted.asked.min(1), ..wanted };
    let found = counts.into_iter().find_map(|count| {
        let script = skeleton.script(&[], &opened_parts[..count]);
        asked(bench, &script, one).pop()
    });
    let solved = found.is_some();
    let mut evaluated = match found {
        Some(evaluated) => evaluated,
        None if wanted.random == 0 => return None,
        None => {
            let script = skeleton.script(&[], &opened_parts);
            EvaluatedModel::new(random_model(bench, &script), mode(wanted), BUDGET)
        }
    };
    let mut assertions: Vec<Term> = Vec::with_capacity(all);
    for (part, opened) in parts.iter().zip(&opened_parts) {
        let known = [part, opened].into_iter().find_map(|formula| {
            let truth = evaluated.holds(bench.store, *formula).ok()?;
            if truth { Some(*formula) } else { bench.store.not(*formula).ok() }
        });
        assertions.extend(known.filter(|formula| !assertions.contains(formula)));
    }
    (!assertions.is_empty()).then_some(Satisfied { evaluated, assertions, solved })
}

/// Any models: of the assertions, else of their negation, and random ones (STORM, section 3.1).
pub(crate) fn any(bench: &mut Bench<'_>, skeleton: &Skeleton, wanted: Wanted) -> Vec<EvaluatedModel> {
    let script = skeleton.script(&[], &skeleton.in_force);
    let mut models = if skeleton.in_force.is_empty() { Vec::new() } else { asked(bench, &script, wanted) };
    if models.is_empty()
        && wanted.asked > 0
        && let Ok(all) = bench.store.and(&skeleton.in_force)
        && let Ok(negation) = bench.store.not(all)
    {
        models = asked(bench, &skeleton.script(&[], &[negation]), wanted);
    }
    for _ in 0..wanted.random {
        let model = random_model(bench, &script);
        models.push(EvaluatedModel::new(model, mode(wanted), BUDGET));
    }
    models
}

fn mode(wanted: Wanted) -> Mode {
    if wanted.open_cases { Mode::Choose } else { Mode::Given }
}

fn asked(bench: &mut Bench<'_>, script: &Script, wanted: Wanted) -> Vec<EvaluatedModel> {
    let mut models: Vec<EvaluatedModel> = Vec::new();
    for variant in 0..wanted.asked {
        let Some(mut model) = bench.ask.model(bench.store, script, variant) else { break };
        model.complete(bench.store, script);
        models.push(EvaluatedModel::new(model, mode(wanted), BUDGET));
    }
    models
}

fn satisfies(store: &Store, evaluated: &mut EvaluatedModel, formulas: &[Term]) -> bool {
    formulas.iter().all(|formula| evaluated.holds(store, *formula) == Ok(true))
}

/// Random values for all symbols of a script, with characters that all solvers of the round can read.
pub(crate) fn random_model(bench: &mut Bench<'_>, script: &Script) -> Model {
    let mut rng = bench.rng.split();
    let largest = bench.grammar.largest_character();
    let store = &*bench.store;
    let mut model = Model::new();
    for fun in script.declared_funs() {
        let decl = store.fun(fun);
        for sort in decl.params.iter().chain([&decl.result]) {
            if matches!(store.sort_kind(*sort), SortKind::Declared(..)) && model.universe(*sort).is_none() {
                for element in 0..1 + bench.rng.below(ELEMENTS) {
                    model.element(*sort, &format!("@{element}"));
                }
                model.close_universe(*sort);
            }
        }
        if let Some(value) =
            random_function(Sorts::new(store, &model), &decl.params, decl.result, largest, &mut rng)
        {
            model.assign(fun, value);
        }
    }
    model.complete(store, script);
    model
}

fn random_function(
    sorts: Sorts<'_>,
    params: &[Sort],
    result: Sort,
    largest: u32,
    rng: &mut Rng,
) -> Option<Value> {
    let mut random = |sort: Sort| sorts.random_value_up_to(sort, largest, rng);
    let default = random(result)?;
    if params.is_empty() {
        return Some(default);
    }
    let mut entries = Vec::with_capacity(ELEMENTS);
    for _ in 0..ELEMENTS {
        let args = params.iter().map(|param| random(*param)).collect::<Option<Vec<_>>>()?;
        entries.push((Function::key(&args), random(result)?));
    }
    let table = Table::new(entries, default, Domain::Unbounded)?;
    Some(Value::Function(Arc::new(Function::Table { arity: params.len() as u32, table })))
}
