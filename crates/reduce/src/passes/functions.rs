//! Functions with fewer parameters.

use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Head, Script, Sort, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::with_roots;
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench};

/// Leaves out parameters of declared functions: all of them, then single ones.
pub struct Parameters;

impl Pass for Parameters {
    fn name(&self) -> &'static str {
        "parameters"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let funs: Vec<Fun> = reduction.bench.draft.script.declared_funs().collect();
        for fun in funs {
            let count = reduction.bench.store.fun(fun).params.len();
            if count == 0 {
                continue;
            }
            let none: Vec<usize> = (0..count).collect();
            let choices: Vec<Vec<usize>> = if count == 1 {
                vec![none]
            } else {
                [none].into_iter().chain((0..count).map(|place| vec![place])).collect()
            };
            reduction.first(choices.len(), Growth::Smaller, &mut |bench, number| {
                without(bench, fun, &choices[number])
            })?;
        }
        Ok(())
    }
}

/// The script in which a function has fewer parameters. Its meaning in the model is lost with them, unless the model
/// gives all calls the same value.
fn without(bench: &mut Workbench, fun: Fun, places: &[usize]) -> Option<Draft> {
    let decl = bench.store.fun(fun).clone();
    let kept = |place: &usize| !places.contains(place);
    let params: Vec<Sort> = (0..decl.params.len()).filter(kept).map(|place| decl.params[place]).collect();
    let new = bench.store.declare_fun(decl.name, &params, decl.result);
    let mut script = Script::default();
    let mut renewed = FxHashMap::default();
    for command in bench.draft.script.commands.clone() {
        let command = match command {
            Command::DeclareFun(other) if other == fun => Command::DeclareFun(new),
            command => {
                let mut roots = Vec::new();
                command.terms(&bench.store, &mut roots);
                let old = roots.clone();
                for root in &mut roots {
                    *root = called(bench, *root, fun, new, places)?;
                }
                if roots == old {
                    command
                } else {
                    with_roots(&mut bench.store, &command, &roots, &mut renewed)?
                }
            }
        };
        script.commands.push(command);
    }
    if !renewed.is_empty() {
        return None;
    }
    let model = bench.draft.model.clone().map(|model| {
        let mut model = eval::Model::clone(&model);
        model.forget(fun);
        std::sync::Arc::new(model)
    });
    let draft = bench.changed(script)?;
    Some(Draft { model, ..draft })
}

fn called(bench: &mut Workbench, root: Term, fun: Fun, new: Fun, places: &[usize]) -> Option<Term> {
    let mut done: FxHashMap<Term, Term> = FxHashMap::default();
    let arity = bench.store.fun(fun).params.len();
    for term in bench.store.subterms(&[root]) {
        let args: Vec<Term> = bench.store.args(term).iter().map(|arg| done[arg]).collect();
        let renewed = match bench.store.head(term) {
            Head::Fun(other) if other == fun => {
                if args.len() != arity {
                    return None;
                }
                let kept: Vec<Term> = args
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| !places.contains(place))
                    .map(|(_, arg)| *arg)
                    .collect();
                bench.store.call(new, &kept).ok()?
            }
            _ if args == bench.store.args(term) => term,
            _ => bench.store.rebuild(term, &args).ok()?,
        };
        done.insert(term, renewed);
    }
    done.get(&root).copied()
}
