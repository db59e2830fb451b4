//! Two seeds side by side: what of them can be fused, under names that do not clash.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Command, Fun, Head, Index, Script, Store, Symbol, Term};

/// The declarations and assertions of a seed with one check, definitions inlined.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub declarations: Vec<Command>,
    pub assertions: Vec<Term>,
    /// Declared constants.
    pub constants: Vec<Fun>,
}

impl Part {
    /// `None` for scripts whose meaning is more than the conjunction of their assertions.
    pub fn of(store: &mut Store, script: &Script) -> Option<Part> {
        let mut part = Part { declarations: Vec::new(), assertions: Vec::new(), constants: Vec::new() };
        let mut checks = 0;
        for command in &script.commands {
            match command {
                Command::DeclareFun(fun) | Command::DeclareConst(fun) => {
                    if store.fun(*fun).params.is_empty() {
                        part.constants.push(*fun);
                    }
                    part.declarations.push(command.clone());
                }
                // Sort definitions are expanded when they are read.
                Command::DeclareSort(_) | Command::DeclareDatatypes(_) => {
                    part.declarations.push(command.clone())
                }
                Command::Assert(_) if checks > 0 => return None,
                Command::Assert(term) => part.assertions.push(store.inline_definitions(*term).ok()?),
                Command::CheckSat => checks += 1,
                Command::DefineSort { .. }
                | Command::DefineFun(_)
                | Command::DefineConst(_)
                | Command::SetLogic(_)
                | Command::SetInfo(..)
                | Command::SetOption(..)
                | Command::GetInfo(_)
                | Command::GetOption(_)
                | Command::GetModel
                | Command::GetValue(_)
                | Command::GetUnsatCore
                | Command::GetAssignment
                | Command::GetProof
                | Command::Echo(_)
                | Command::Exit => {}
                _ => return None,
            }
        }
        let fusible = checks == 1 && !part.assertions.is_empty();
        (fusible && !part.assertions.iter().any(|term| store.is_opaque(*term))).then_some(part)
    }

    /// Renames functions and constants whose names `other` uses. `None` if sorts or datatypes clash: their
    /// names are left alone.
    pub fn apart_from(mut self, store: &mut Store, other: &Part) -> Option<(Part, FxHashMap<Fun, Fun>)> {
        let (taken, taken_fixed) = other.names(store);
        let (own, own_fixed) = self.names(store);
        if own_fixed.iter().any(|name| taken.contains(name))
            || taken_fixed.iter().any(|name| own.contains(name))
        {
            return None;
        }
        let mut renamed = FxHashMap::default();
        for command in &mut self.declarations {
            let (Command::DeclareFun(fun) | Command::DeclareConst(fun)) = command else { continue };
            let decl = store.fun(*fun).clone();
            if taken.contains(&decl.name) {
                let name = store.fresh_symbol(decl.name);
                let new = store.declare_fun(name, &decl.params, decl.result);
                renamed.insert(*fun, new);
                *fun = new;
            }
        }
        for fun in &mut self.constants {
            *fun = renamed.get(fun).copied().unwrap_or(*fun);
        }
        self.assertions = rename(store, &self.assertions, &renamed)?;
        Some((self, renamed))
    }

    /// All global names, and those of them that cannot be renamed.
    fn names(&self, store: &Store) -> (FxHashSet<Symbol>, FxHashSet<Symbol>) {
        let mut all = FxHashSet::default();
        let mut fixed = FxHashSet::default();
        for command in &self.declarations {
            match command {
                Command::DeclareFun(fun) | Command::DeclareConst(fun) => _ = all.insert(store.fun(*fun).name),
                Command::DeclareSort(decl) => _ = fixed.insert(store.sort_decl(*decl).0),
                Command::DeclareDatatypes(group) => {
                    for datatype in group {
                        let decl = store.datatype(*datatype);
                        fixed.insert(decl.name);
                        for constructor in &decl.constructors {
                            fixed.insert(constructor.name);
                            fixed.extend(constructor.fields.iter().map(|(name, _)| *name));
                        }
                    }
                }
                _ => {}
            }
        }
        all.extend(&fixed);
        (all, fixed)
    }
}

/// The terms with other functions in place of some.
fn rename(store: &mut Store, roots: &[Term], funs: &FxHashMap<Fun, Fun>) -> Option<Vec<Term>> {
    if funs.is_empty() {
        return Some(roots.to_vec());
    }
    let mut done: FxHashMap<Term, Term> = FxHashMap::default();
    for term in store.subterms(roots) {
        let args: Vec<Term> = store.args(term).iter().map(|arg| done[arg]).collect();
        let new = match store.head(term) {
            Head::Fun(fun) if funs.contains_key(&fun) => store.call(funs[&fun], &args).ok()?,
            // A function as an index, as in (_ as-array f).
            Head::Op(_, indices)
                if store.index_list(indices).iter().any(|index| matches!(index, Index::Fun(_))) =>
            {
                return None;
            }
            _ if args == store.args(term) => term,
            _ => store.rebuild(term, &args).ok()?,
        };
        done.insert(term, new);
    }
    Some(roots.iter().map(|root| done[root]).collect())
}
