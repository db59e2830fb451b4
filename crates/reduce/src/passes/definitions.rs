//! Definitions written out where they are used.

use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Script};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::with_roots;
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench};

/// Writes all definitions out at once, which may make the script larger for a while; if that loses the bug, one after
/// the other where it makes the script smaller.
#[derive(Default)]
pub struct Inline {
    done: bool,
}

/// How much a script may grow when definitions are written out.
const GROWTH: usize = 3;

impl Pass for Inline {
    fn name(&self) -> &'static str {
        "definitions"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let growth = if self.done { Growth::Smaller } else { Growth::Times(GROWTH) };
        self.done = true;
        let all: Vec<Fun> = defined(&reduction.bench.draft.script);
        if all.is_empty() {
            return Ok(());
        }
        if let Some(draft) = inlined(&mut reduction.bench, &all)
            && reduction.drafts(vec![draft], growth)?
        {
            return Ok(());
        }
        for fun in all.iter().rev() {
            if let Some(draft) = inlined(&mut reduction.bench, &[*fun]) {
                reduction.drafts(vec![draft], Growth::Smaller)?;
            }
        }
        Ok(())
    }
}

/// Functions defined without recursion.
fn defined(script: &Script) -> Vec<Fun> {
    let definitions = script.commands.iter().filter_map(|command| match command {
        Command::DefineFun(fun) | Command::DefineConst(fun) => Some(*fun),
        _ => None,
    });
    definitions.collect()
}

/// The script without these definitions.
fn inlined(bench: &mut Workbench, funs: &[Fun]) -> Option<Draft> {
    let mut renewed = FxHashMap::default();
    let mut script = Script::default();
    for command in bench.draft.script.commands.clone() {
        if matches!(&command, Command::DefineFun(fun) | Command::DefineConst(fun) if funs.contains(fun)) {
            continue;
        }
        let mut roots = Vec::new();
        command.terms(&bench.store, &mut roots);
        let old = roots.clone();
        for root in &mut roots {
            *root = written_out(bench, *root, funs)?;
        }
        script.commands.push(if roots == old {
            command
        } else {
            with_roots(&mut bench.store, &command, &roots, &mut renewed)?
        });
    }
    // A definition that calls one of these is another function now; leave such chains to the turn in which all go.
    if !renewed.is_empty() {
        return None;
    }
    bench.changed(script)
}

/// The term with calls of these functions written out.
fn written_out(bench: &mut Workbench, root: smtlib::Term, funs: &[Fun]) -> Option<smtlib::Term> {
    let mut done: FxHashMap<smtlib::Term, smtlib::Term> = FxHashMap::default();
    for term in bench.store.subterms(&[root]) {
        let args: Vec<_> = bench.store.args(term).iter().map(|arg| done[arg]).collect();
        let new = match bench.store.head(term) {
            smtlib::Head::Fun(fun) if funs.contains(&fun) => {
                let definition = bench.store.fun(fun).definition.clone()?;
                if definition.vars.len() != args.len() {
                    return None;
                }
                let body = written_out(bench, definition.body, funs)?;
                let map = definition
                    .vars
                    .iter()
                    .zip(&args)
                    .map(|(var, arg)| (bench.store.var_term(*var), *arg))
                    .collect();
                bench.store.substitute(body, &map).ok()?
            }
            _ if args == bench.store.args(term) => term,
            _ => bench.store.rebuild(term, &args).ok()?,
        };
        done.insert(term, new);
    }
    done.get(&root).copied()
}
