//! Declarations nobody uses, and the logic.

use rustc_hash::FxHashSet;
use smtlib::{Command, Fun, Script, Sort, SortKind, Store};

use super::Pass;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;

/// Leaves out declarations and definitions that nothing refers to.
pub struct Unused;

impl Pass for Unused {
    fn name(&self) -> &'static str {
        "declarations"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        // What only another unused definition mentions is unused in the next turn.
        loop {
            let bench = &reduction.bench;
            let used: FxHashSet<Fun> = bench.used_funs(&bench.draft.script).into_iter().collect();
            let sorts = mentioned_sorts(&bench.store, &bench.draft.script);
            let unused = |command: &Command| {
                match command {
                Command::DeclareFun(fun)
                | Command::DeclareConst(fun)
                | Command::DefineFun(fun)
                | Command::DefineFunRec(fun)
                | Command::DefineConst(fun) => !used.contains(fun),
                Command::DefineFunsRec(funs) => !funs.iter().any(|fun| used.contains(fun)),
                Command::DeclareSort(decl) => !sorts.iter().any(
                    |sort| matches!(bench.store.sort_kind(*sort), SortKind::Declared(other, _) if other == decl),
                ),
                Command::DeclareDatatypes(all) => !sorts.iter().any(
                    |sort| matches!(bench.store.sort_kind(*sort), SortKind::Datatype(other, _) if all.contains(other)),
                ),
                Command::DefineSort { .. } => true,
                _ => false,
            }
            };
            let commands = bench.draft.script.commands.iter().enumerate();
            let edits: Vec<Edit> =
                commands.filter(|(_, command)| unused(command)).map(|(place, _)| Edit::Drop(place)).collect();
            if edits.is_empty() || !reduction.edits(edits)? {
                return Ok(());
            }
        }
    }
}

/// All sorts that declarations and terms mention, with their parts.
fn mentioned_sorts(store: &Store, script: &Script) -> FxHashSet<Sort> {
    let mut sorts: Vec<Sort> = Vec::new();
    for command in &script.commands {
        match command {
            Command::DeclareFun(fun)
            | Command::DeclareConst(fun)
            | Command::DefineFun(fun)
            | Command::DefineFunRec(fun)
            | Command::DefineConst(fun) => {
                let decl = store.fun(*fun);
                sorts.extend(decl.params.iter().copied().chain([decl.result]));
            }
            Command::DeclareDatatypes(all) => {
                for datatype in all {
                    let constructors = &store.datatype(*datatype).constructors;
                    // Its own sort does not count.
                    let own = |sort: &Sort| matches!(store.sort_kind(*sort), SortKind::Datatype(other, _) if all.contains(other));
                    let fields = constructors.iter().flat_map(|constructor| &constructor.fields);
                    sorts.extend(fields.map(|(_, sort)| *sort).filter(|sort| !own(sort)));
                }
            }
            _ => {}
        }
    }
    let terms = store.subterms(&script.terms(store));
    sorts.extend(terms.iter().map(|term| store.sort_of(*term)));
    for term in terms {
        if let smtlib::Head::Bind(_, vars) = store.head(term) {
            sorts.extend(store.var_list(vars).iter().map(|var| store.var_sort(*var)));
        }
    }
    let mut seen = FxHashSet::default();
    while let Some(sort) = sorts.pop() {
        if seen.insert(sort) {
            match store.sort_kind(sort) {
                SortKind::Seq(inner)
                | SortKind::Set(inner)
                | SortKind::Bag(inner)
                | SortKind::Nullable(inner) => {
                    sorts.push(*inner);
                }
                SortKind::Array(index, element) => sorts.extend([*index, *element]),
                SortKind::Tuple(inner) | SortKind::Declared(_, inner) | SortKind::Datatype(_, inner) => {
                    sorts.extend(inner.iter());
                }
                SortKind::Fun(params, result) => sorts.extend(params.iter().copied().chain([*result])),
                _ => {}
            }
        }
    }
    seen
}

/// Leaves out the logic, or names the largest one: a bug that needs no logic is easier to place.
pub struct Logic;

impl Pass for Logic {
    fn name(&self) -> &'static str {
        "logic"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let commands = &reduction.bench.draft.script.commands;
        let Some(place) = commands.iter().position(|command| matches!(command, Command::SetLogic(_))) else {
            return Ok(());
        };
        if reduction.edits(vec![Edit::Drop(place)])? {
            return Ok(());
        }
        let all = reduction.bench.store.symbol("ALL");
        reduction.edits(vec![Edit::Command(place, Command::SetLogic(all))]).map(|_| ())
    }
}
