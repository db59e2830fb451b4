//! A seed taken apart: what it declares, what it asserts, how it checks. Engines put other assertions in.

use rustc_hash::FxHashSet;
use smtlib::{AttributeValue, Command, Fun, Head, Script, Store, Symbol, Term};

use crate::sites::without_status;

/// Inlining definitions must not make a seed larger than this, written out as a tree.
const INLINED: u64 = 100_000;

/// A script without its assertions.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton {
    /// Logic, options, declarations, definitions.
    preamble: Vec<Command>,
    /// `check-sat`, or Z3's `check-sat-using` with the seed's tactic.
    check: Command,
    /// All formulas the seed ever asserts or assumes.
    pub everything: Vec<Term>,
    /// The formulas in force at the last check.
    pub in_force: Vec<Term>,
}

impl Skeleton {
    /// `None` for scripts that cannot be taken apart: names declared twice in different frames, resets.
    pub fn of(store: &mut Store, script: &Script) -> Option<Skeleton> {
        let script = without_status(store, script);
        let mut skeleton = Skeleton {
            preamble: Vec::new(),
            check: Command::CheckSat,
            everything: Vec::new(),
            in_force: Vec::new(),
        };
        let mut levels: Vec<Vec<Term>> = vec![Vec::new()];
        let mut checked = false;
        let mut names = FxHashSet::default();
        for command in &script.commands {
            match command {
                Command::Assert(term) => {
                    skeleton.everything.push(*term);
                    levels.last_mut()?.push(*term);
                }
                Command::Push(count) => levels.extend((0..*count).map(|_| Vec::new())),
                Command::Pop(count) => levels.truncate(levels.len().saturating_sub(*count as usize).max(1)),
                Command::Reset | Command::ResetAssertions => return None,
                Command::CheckSat | Command::CheckSatUsing(_) | Command::CheckSatAssuming(_) => {
                    checked = true;
                    skeleton.in_force = levels.concat();
                    if let Command::CheckSatAssuming(assumptions) = command {
                        skeleton.everything.extend_from_slice(assumptions);
                        skeleton.in_force.extend_from_slice(assumptions);
                    }
                    if matches!(command, Command::CheckSatUsing(_)) {
                        skeleton.check = command.clone();
                    }
                }
                _ if is_preamble(command) => {
                    if !names_of(store, command).iter().all(|name| names.insert(*name)) {
                        return None;
                    }
                    skeleton.preamble.push(command.clone());
                }
                _ => {}
            }
        }
        if !checked {
            skeleton.in_force = levels.concat();
        }
        skeleton.everything.retain(|term| !store.is_opaque(*term));
        if skeleton.in_force.iter().any(|term| store.is_opaque(*term)) {
            skeleton.in_force.clear();
        }
        skeleton.drop_names(store)?;
        Some(skeleton)
    }

    /// A name given inside an assertion must not be given twice, nor be used when its assertion is gone.
    fn drop_names(&mut self, store: &mut Store) -> Option<()> {
        let roots: Vec<Term> = self.everything.iter().chain(&self.in_force).copied().collect();
        let named = store.subterms(&roots).into_iter().any(|term| match store.head(term) {
            Head::Annotated(attributes) => store
                .attribute_list(attributes)
                .iter()
                .any(|attribute| matches!(attribute.value, AttributeValue::Named(_))),
            _ => false,
        });
        if named { self.inline(store) } else { Some(()) }
    }

    /// Puts the bodies of defined functions in place of their calls, unless that makes the seed huge.
    pub fn inline_definitions(&mut self, store: &mut Store) {
        let before = (self.everything.clone(), self.in_force.clone());
        let small = |store: &Store, terms: &[Term]| {
            terms.iter().fold(0u64, |sum, term| sum.saturating_add(store.tree_size(*term))) <= INLINED
        };
        if self.inline(store).is_none() || !small(store, &self.in_force) {
            (self.everything, self.in_force) = before;
        }
    }

    fn inline(&mut self, store: &mut Store) -> Option<()> {
        for term in self.everything.iter_mut().chain(&mut self.in_force) {
            *term = store.inline_definitions(*term).ok()?;
        }
        Some(())
    }

    /// The script with these assertions and one check.
    pub fn script(&self, fresh: &[Fun], assertions: &[Term]) -> Script {
        let mut commands = Vec::with_capacity(self.preamble.len() + fresh.len() + assertions.len() + 1);
        commands.extend_from_slice(&self.preamble);
        commands.extend(fresh.iter().map(|fun| Command::DeclareConst(*fun)));
        commands.extend(assertions.iter().map(|term| Command::Assert(*term)));
        commands.push(self.check.clone());
        Script { commands }
    }

    pub fn check(&self) -> &Command {
        &self.check
    }

    pub fn preamble(&self) -> &[Command] {
        &self.preamble
    }
}

fn is_preamble(command: &Command) -> bool {
    use Command::*;
    matches!(
        command,
        SetLogic(_)
            | SetOption(..)
            | SetInfo(..)
            | DeclareSort(_)
            | DefineSort { .. }
            | DeclareDatatypes(_)
            | DeclareFun(_)
            | DeclareConst(_)
            | DefineFun(_)
            | DefineFunRec(_)
            | DefineFunsRec(_)
            | DefineConst(_)
    )
}

/// What the command declares.
fn names_of(store: &Store, command: &Command) -> Vec<Symbol> {
    use Command::*;
    match command {
        DeclareSort(decl) => vec![store.sort_decl(*decl).0],
        DefineSort { name, .. } => vec![*name],
        DeclareDatatypes(group) => group.iter().map(|datatype| store.datatype(*datatype).name).collect(),
        DeclareFun(fun) | DeclareConst(fun) | DefineFun(fun) | DefineFunRec(fun) | DefineConst(fun) => {
            vec![store.fun(*fun).name]
        }
        DefineFunsRec(funs) => funs.iter().map(|fun| store.fun(*fun).name).collect(),
        _ => Vec::new(),
    }
}
