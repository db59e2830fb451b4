//! Scripts without a construct: what stands in its place.

use std::sync::Arc;

use eval::{Budget, Evaluator, Mode, Model, Value};
use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Head, Op, Script, Sort, Store, Term};

use super::names::{self, is_value};
use super::{laws, siblings};
use crate::edit::{Edit, applied};
use crate::held::{first_use, held, is_replaceable, values_of};
use crate::tactics;
use crate::workbench::{Draft, Workbench};

/// Something other than the script in hand.
#[derive(Clone, Debug)]
pub(super) enum Variant {
    /// Fresh constants in the place of terms.
    Fresh(Vec<Term>),
    /// A value in the place of a term: its own under the model, or a simple one.
    Value(Term),
    /// The value of a term that has the same one under every model.
    Worked(Term),
    /// A fresh constant in the place of a term, and its arguments still there: equal to their values under the model, or
    /// to fresh constants.
    Pinned(Term),
    /// A fresh constant in the place of a term, said to be this value.
    Held(Term, Term),
    /// A fresh constant in the place of a choice, and an implication for each case.
    Defined(Term),
    /// The equivalent form of this number in the place of terms.
    Forms(Vec<Term>, usize),
    /// Another operator in the place of terms: one that takes the same arguments and gives the same sort.
    Sibling(Vec<Term>, Op),
    /// Other commands.
    Commands(Vec<Edit>),
    /// The script as it is.
    Same,
    /// Definitions put in where they are used.
    Inlined,
    /// The option at this place of the command line left out.
    WithoutOption(usize),
}

impl Variant {
    pub(super) fn fresh(term: Term) -> Variant {
        Variant::Fresh(vec![term])
    }

    pub(super) fn value(term: Term) -> Variant {
        Variant::Value(term)
    }

    pub(super) fn worked(term: Term) -> Variant {
        Variant::Worked(term)
    }

    pub(super) fn pinned(term: Term) -> Variant {
        Variant::Pinned(term)
    }

    /// The script with it; nothing where it cannot be made.
    pub(super) fn draft(&self, bench: &mut Workbench) -> Option<Draft> {
        match self {
            Variant::Fresh(terms) => fresh(bench, terms),
            Variant::Value(term) => {
                let value = bench.value(*term).or_else(|| {
                    let sort = bench.store.sort_of(*term);
                    bench.simple_values(sort).into_iter().find(|value| value != term)
                })?;
                bench.with(&[Edit::Term(*term, value)])
            }
            Variant::Worked(term) => {
                // Where the standard leaves a result open, an empty model has none.
                let value = values_of(bench, *term, &[Model::new()], Mode::Given).pop()?;
                bench.with(&[Edit::Term(*term, value)])
            }
            Variant::Pinned(term) => pinned(bench, *term),
            Variant::Held(term, value) => held(bench, *term, *value),
            Variant::Defined(term) => defined(bench, *term),
            Variant::Forms(terms, number) => {
                rewritten(bench, terms, |store, term| laws::equivalents(store, term).into_iter().nth(*number))
            }
            Variant::Sibling(terms, op) => {
                rewritten(bench, terms, |store, term| siblings::with(store, term, *op))
            }
            Variant::Commands(edits) => bench.with(edits),
            Variant::Inlined => inlined(bench),
            Variant::WithoutOption(_) | Variant::Same => Some(bench.draft.clone()),
        }
    }
}

/// A model in which constants have the values of terms.
fn extended(bench: &Workbench, values: &[(Fun, Term)]) -> Option<Option<Arc<Model>>> {
    let Some(model) = &bench.draft.model else { return Some(None) };
    let mut evaluator = Evaluator::new(Mode::Choose, Budget::default());
    let mut extended = Model::clone(model);
    for (fun, term) in values {
        let value = evaluator.evaluate(&bench.store, model, *term).ok().filter(Value::is_definite)?;
        extended.assign(*fun, value);
    }
    Some(Some(Arc::new(extended)))
}

fn fresh(bench: &mut Workbench, terms: &[Term]) -> Option<Draft> {
    if !terms.iter().all(|term| is_replaceable(&bench.store, *term)) {
        return None;
    }
    let mut edits = Vec::new();
    let mut values = Vec::new();
    for term in terms {
        let sort = bench.store.sort_of(*term);
        let fun = bench.fresh_constant(sort);
        edits.push(Edit::Fresh(*term, fun));
        values.push((fun, *term));
    }
    let draft = bench.with(&edits)?;
    Some(Draft { model: extended(bench, &values)?, ..draft })
}

fn pinned(bench: &mut Workbench, term: Term) -> Option<Draft> {
    let args = bench.store.args(term).to_vec();
    if !is_replaceable(&bench.store, term)
        || matches!(bench.store.head(term), Head::Bind(..) | Head::Annotated(_))
    {
        return None;
    }
    let place = first_use(bench, term)?;
    let own = names::of_term(&bench.store, term);
    let sort = bench.store.sort_of(term);
    let fun = bench.fresh_constant(sort);
    let mut edits = vec![Edit::Fresh(term, fun)];
    let mut values = vec![(fun, term)];
    let mut pins = Vec::new();
    for arg in args {
        if bench.store.args(arg).is_empty() || is_value(&bench.store, arg) {
            continue;
        }
        if !is_replaceable(&bench.store, arg) {
            continue;
        }
        let sort = bench.store.sort_of(arg);
        let side = match bench.value(arg) {
            Some(value) => value,
            None => {
                let alias = bench.fresh_constant(sort);
                let constant = bench.store.call(alias, &[]).ok()?;
                // Declared with the others; nothing is replaced by it.
                edits.push(Edit::Fresh(constant, alias));
                values.push((alias, arg));
                constant
            }
        };
        let pin = bench.store.op(Op::Equal, &[arg, side]).ok()?;
        // An equation says nothing about whether equations are needed.
        if names::of_term(&bench.store, pin) != own {
            pins.push(Command::Assert(pin));
        }
    }
    if pins.is_empty() {
        return None;
    }
    asserting(bench, &edits, &values, place, pins)
}

/// The script with steps applied and assertions before the command that was at a place.
fn asserting(
    bench: &mut Workbench,
    edits: &[Edit],
    values: &[(Fun, Term)],
    place: usize,
    assertions: Vec<Command>,
) -> Option<Draft> {
    let old = bench.draft.script.commands.len();
    let mut script = applied(&mut bench.store, &bench.draft.script.clone(), edits)?;
    let place = place + (script.commands.len() - old);
    script.commands.splice(place..place, assertions);
    Some(Draft { script, model: extended(bench, values)? })
}

/// `(ite c a b)` as a constant that is `a` if `c`, else `b`. Connectives have forms of their own.
fn defined(bench: &mut Workbench, term: Term) -> Option<Draft> {
    let is_choice = bench.store.op_of(term) == Some(Op::Ite) && bench.store.sort_of(term) != Sort::BOOL;
    if !is_choice || !is_replaceable(&bench.store, term) {
        return None;
    }
    let place = first_use(bench, term)?;
    let (condition, yes, no) = match bench.store.args(term) {
        [condition, yes, no] => (*condition, *yes, *no),
        _ => return None,
    };
    let sort = bench.store.sort_of(term);
    let fun = bench.fresh_constant(sort);
    let store = &mut bench.store;
    let constant = store.call(fun, &[]).ok()?;
    let mut cases = Vec::new();
    let otherwise = store.not(condition).ok()?;
    for (condition, value) in [(condition, yes), (otherwise, no)] {
        let equal = store.op(Op::Equal, &[constant, value]).ok()?;
        cases.push(Command::Assert(store.op(Op::Implies, &[condition, equal]).ok()?));
    }
    asserting(bench, &[Edit::Fresh(term, fun)], &[(fun, term)], place, cases)
}

/// The script with other forms of terms, those inside one another included.
fn rewritten(
    bench: &mut Workbench,
    terms: &[Term],
    form: impl Fn(&mut Store, Term) -> Option<Term>,
) -> Option<Draft> {
    let roots: Vec<Term> = bench.roots().into_iter().map(|(_, _, root)| root).collect();
    let mut done: FxHashMap<Term, Term> = FxHashMap::default();
    for term in bench.store.subterms(&roots) {
        let args: Vec<Term> = bench.store.args(term).iter().map(|arg| done[arg]).collect();
        let mut new =
            if args == bench.store.args(term) { term } else { bench.store.rebuild(term, &args).ok()? };
        if terms.contains(&term) {
            new = form(&mut bench.store, new)?;
        }
        done.insert(term, new);
    }
    let changed = roots.iter().filter(|root| done[*root] != **root);
    let edits: Vec<Edit> = changed.map(|root| Edit::Term(*root, done[root])).collect();
    bench.with(&edits)
}

fn inlined(bench: &mut Workbench) -> Option<Draft> {
    let commands = bench.draft.script.commands.clone();
    let mut edits = Vec::new();
    for (place, command) in commands.iter().enumerate() {
        match command {
            Command::DefineFun(_) | Command::DefineConst(_) => edits.push(Edit::Drop(place)),
            Command::Assert(term) => {
                let inlined = bench.store.inline_definitions(*term).ok()?;
                edits.push(Edit::Command(place, Command::Assert(inlined)));
            }
            _ => {}
        }
    }
    bench.with(&edits)
}

/// A construct that is no term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// Commands, by their places.
    Commands(Vec<usize>),
    /// A tactic of the checks at these places.
    Tactic(String, Vec<usize>),
    SeveralChecks,
    /// An option of the solver, by its place on the command line.
    Option(usize),
}

impl Whole {
    /// What is tried without it.
    pub(super) fn variants(&self, script: &Script) -> Vec<Variant> {
        let commands = &script.commands;
        let drop = |places: Vec<usize>| Variant::Commands(places.into_iter().map(Edit::Drop).collect());
        let checks: Vec<usize> = (0..commands.len()).filter(|place| commands[*place].is_check()).collect();
        match self {
            Whole::Option(place) => vec![Variant::WithoutOption(*place)],
            Whole::SeveralChecks => {
                let (Some(first), Some(last)) = (checks.first(), checks.last()) else { return Vec::new() };
                let but_last = checks.iter().copied().filter(|place| place != last).collect();
                vec![drop(but_last), drop((first + 1..commands.len()).collect())]
            }
            Whole::Tactic(name, places) => {
                let plain = |place: &usize| Edit::Command(*place, Command::CheckSat);
                let other = |place: &usize| {
                    let Command::CheckSatUsing(tactic) = &commands[*place] else { return None };
                    let left = tactics::without(tactic, name)?;
                    Some(Edit::Command(*place, Command::CheckSatUsing(left.into())))
                };
                let mut variants = vec![Variant::Commands(places.iter().map(plain).collect())];
                let others: Option<Vec<Edit>> = places.iter().map(other).collect();
                variants.extend(others.map(Variant::Commands));
                variants
            }
            Whole::Commands(places) => match &commands[places[0]] {
                Command::DefineFun(_) | Command::DefineConst(_) => vec![Variant::Inlined],
                Command::CheckSatAssuming(_) => assumed(script, places, &checks).into_iter().collect(),
                Command::Push(_) | Command::Pop(_) => {
                    let mut variants = vec![drop(places.clone())];
                    variants.extend(checks.last().map(|last| drop(dead_at(script, *last))));
                    variants
                }
                _ => vec![drop(places.clone())],
            },
        }
    }
}

/// Assumptions of the last check as assertions.
fn assumed(script: &Script, places: &[usize], checks: &[usize]) -> Option<Variant> {
    let (place, last) = (places.last()?, checks.last()?);
    let Command::CheckSatAssuming(assumptions) = &script.commands[*place] else { return None };
    let [assumption] = assumptions.as_slice() else { return None };
    if place != last || places.len() > 1 {
        return None;
    }
    let mut edits = vec![Edit::Command(*place, Command::Assert(*assumption))];
    // The next command becomes the check; without one there is no room for it.
    edits.push(Edit::Command(place + 1, Command::CheckSat));
    (place + 1 < script.commands.len()).then_some(Variant::Commands(edits))
}

/// Commands without which a script at a check says the same: pushes, pops, and what was popped.
fn dead_at(script: &Script, check: usize) -> Vec<usize> {
    let mut live: Vec<Vec<usize>> = vec![Vec::new()];
    let mut dead = Vec::new();
    for (place, command) in script.commands.iter().enumerate().take(check) {
        match command {
            Command::Push(levels) => {
                dead.push(place);
                live.extend((0..*levels).map(|_| Vec::new()));
            }
            Command::Pop(levels) => {
                dead.push(place);
                for _ in 0..*levels {
                    dead.extend(live.pop().unwrap_or_default());
                }
            }
            Command::Assert(_) => {
                if let Some(level) = live.last_mut() {
                    level.push(place);
                }
            }
            command if command.is_check() => dead.push(place),
            _ => {}
        }
    }
    dead.extend(check + 1..script.commands.len());
    dead.sort_unstable();
    dead
}
