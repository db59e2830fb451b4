//! Short names.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Command, Fun, Script, theory};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::{calling, with_roots};
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench};

/// Gives all constants and functions names of one letter, or of a letter and a number.
pub struct Names;

impl Pass for Names {
    fn name(&self) -> &'static str {
        "names"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        reduction.first(1, Growth::Smaller, &mut |bench, _| renamed(bench)).map(|_| ())
    }
}

fn renamed(bench: &mut Workbench) -> Option<Draft> {
    let script = bench.draft.script.clone();
    let mut taken: FxHashSet<String> =
        bench.store.all_vars().map(|var| bench.store.name(bench.store.var_name(var)).to_owned()).collect();
    for datatype in bench.store.all_datatypes() {
        let decl = bench.store.datatype(datatype);
        taken.insert(bench.store.name(decl.name).to_owned());
        for constructor in &decl.constructors {
            taken.insert(bench.store.name(constructor.name).to_owned());
            taken.extend(constructor.fields.iter().map(|(name, _)| bench.store.name(*name).to_owned()));
        }
    }
    for command in &script.commands {
        match command {
            Command::DeclareSort(decl) => {
                taken.insert(bench.store.name(bench.store.sort_decl(*decl).0).to_owned());
            }
            // Its text mentions names that we do not see.
            Command::Opaque { .. } => return None,
            _ => {}
        }
    }
    let mut names =
        short_names().filter(|name| !taken.contains(name) && theory::table().named(name).is_empty());
    let mut renewed: FxHashMap<Fun, Fun> = FxHashMap::default();
    let mut commands = Vec::with_capacity(script.commands.len());
    for command in &script.commands {
        let command = match command {
            Command::DeclareFun(fun) | Command::DeclareConst(fun) => {
                let new = like(bench, *fun, &names.next()?);
                renewed.insert(*fun, new);
                match command {
                    Command::DeclareFun(_) if !bench.store.fun(new).params.is_empty() => {
                        Command::DeclareFun(new)
                    }
                    _ => Command::DeclareConst(new),
                }
            }
            Command::DefineFunsRec(_) | Command::DefineFunRec(_) => return None,
            other => {
                let mut roots = Vec::new();
                other.terms(&bench.store, &mut roots);
                let old = roots.clone();
                for root in &mut roots {
                    *root = calling(&mut bench.store, *root, &renewed)?;
                }
                if old == roots {
                    other.clone()
                } else {
                    with_roots(&mut bench.store, other, &roots, &mut renewed)?
                }
            }
        };
        commands.push(command);
    }
    let draft = bench.changed(Script { commands })?;
    let model = match &draft.model {
        None => None,
        Some(model) => {
            let mut new = eval::Model::clone(model);
            let mut all: Vec<(Fun, Fun)> = renewed.into_iter().collect();
            all.sort_unstable();
            for (old, fun) in all {
                if let Some(interpretation) = model.get(old) {
                    new.interpret(fun, interpretation.clone());
                }
            }
            Some(std::sync::Arc::new(new))
        }
    };
    Some(Draft { model, ..draft })
}

fn like(bench: &mut Workbench, fun: Fun, name: &str) -> Fun {
    let decl = bench.store.fun(fun).clone();
    let name = bench.store.symbol(name);
    bench.store.declare_fun(name, &decl.params, decl.result)
}

/// `a` to `z`, then `a1` to `z1`, and so on.
fn short_names() -> impl Iterator<Item = String> {
    let letters = || ('a'..='z').map(|letter| letter.to_string());
    let numbered = (1..).flat_map(|number| ('a'..='z').map(move |letter| format!("{letter}{number}")));
    letters().chain(numbered)
}
