//! A seed taken apart: what it declares, what it asserts, how it checks. Engines put other assertions in.

use eval::side_conditions::{SideCondition, side_conditions};
use eval::well_founded::mentioned;
use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{AttributeValue, Command, Fun, Head, Script, Store, Symbol, Term};

use crate::opened;
use crate::sites::without_status;

/// Inlining definitions must not make a seed larger than this, in nodes; what is shared counts once.
const INLINED: usize = 50_000;

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
    ///
    /// Definitions that may have no solution are left out, and so are formulas that use them, and options that change what
    /// the script means: a model of the formulas is a model of what is left.
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
        let doubtful = skeleton.drop_side_conditions(store);
        let usable = |term: &Term| !store.is_opaque(*term) && !mentions(store, &doubtful, *term);
        skeleton.everything.retain(usable);
        if !skeleton.in_force.iter().all(usable) {
            skeleton.in_force.clear();
        }
        skeleton.drop_names(store)?;
        Some(skeleton)
    }

    /// Takes what constrains models out of the preamble: options, definitions that may have no solution and definitions
    /// that use these. The functions that are gone.
    fn drop_side_conditions(&mut self, store: &Store) -> FxHashSet<Fun> {
        let script = Script { commands: self.preamble.clone() };
        let mut doubtful: FxHashSet<Fun> = FxHashSet::default();
        let mut options: FxHashSet<Symbol> = FxHashSet::default();
        for condition in side_conditions(store, &script) {
            match condition {
                SideCondition::Recursion(fun) => _ = doubtful.insert(fun),
                SideCondition::Option(keyword) => _ = options.insert(keyword),
                SideCondition::Empty(_)
                | SideCondition::Theory(_)
                | SideCondition::Command(_)
                | SideCondition::Shadow(_)
                | SideCondition::Tactic => {}
            }
        }
        if !doubtful.is_empty() {
            let users = self.preamble.iter().flat_map(defined).filter(|fun| {
                let body = store.fun(*fun).definition.as_ref().map(|definition| definition.body);
                body.is_some_and(|body| mentions(store, &doubtful, body))
            });
            let users: Vec<Fun> = users.collect();
            doubtful.extend(users);
        }
        self.preamble.retain(|command| match command {
            Command::SetOption(keyword, _) => !options.contains(keyword),
            _ => !defined(command).iter().any(|fun| doubtful.contains(fun)),
        });
        // What is defined together goes together.
        let kept: FxHashSet<Fun> = self.preamble.iter().flat_map(defined).collect();
        let all = script.commands.iter().flat_map(defined);
        all.filter(|fun| !kept.contains(fun)).collect()
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
        if self.inline(store).is_none() || store.subterms(&self.in_force).len() > INLINED {
            (self.everything, self.in_force) = before;
        }
    }

    fn inline(&mut self, store: &mut Store) -> Option<()> {
        for term in self.everything.iter_mut().chain(&mut self.in_force) {
            *term = store.inline_definitions(*term).ok()?;
        }
        Some(())
    }

    /// Lets assertions be of any logic. Tells whether the seed had one to leave.
    pub fn leave_logic(&mut self, store: &mut Store) -> bool {
        let all = store.symbol("ALL");
        let own = self.preamble.iter_mut().find_map(|command| match command {
            Command::SetLogic(logic) if *logic != all => Some(logic),
            _ => None,
        });
        own.map(|logic| *logic = all).is_some()
    }

    /// Formulas with their quantifiers opened, where they have any. The constants for that are declared.
    pub fn opened(&mut self, store: &mut Store, formulas: &[Term]) -> Vec<Term> {
        let mut constants = Vec::new();
        let mut opened = Vec::with_capacity(formulas.len());
        for formula in formulas {
            opened.push(opened::open(store, *formula, &mut constants).unwrap_or(*formula));
        }
        self.preamble.extend(constants.into_iter().map(Command::DeclareConst));
        opened
    }

    /// Opens the quantifiers of all formulas.
    pub fn open_quantifiers(&mut self, store: &mut Store) {
        let opened = self.opened(store, &self.everything.clone());
        let opened: FxHashMap<Term, Term> = self.everything.iter().copied().zip(opened).collect();
        for formula in self.everything.iter_mut().chain(&mut self.in_force) {
            if let Some(opened) = opened.get(formula) {
                *formula = *opened;
            }
        }
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

/// The functions that a command defines.
fn defined(command: &Command) -> Vec<Fun> {
    match command {
        Command::DefineFun(fun) | Command::DefineFunRec(fun) | Command::DefineConst(fun) => vec![*fun],
        Command::DefineFunsRec(funs) => funs.clone(),
        _ => Vec::new(),
    }
}

fn mentions(store: &Store, funs: &FxHashSet<Fun>, term: Term) -> bool {
    !funs.is_empty() && mentioned(store, &[term]).iter().any(|fun| funs.contains(fun))
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

#[cfg(test)]
mod tests {
    use smtlib::print::print_command;
    use smtlib::{Mode, Release, parse};

    use super::*;

    /// The preamble, and how many formulas there are in all and in force.
    fn parts(text: &str) -> (String, usize, usize) {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        let skeleton = Skeleton::of(&mut store, &script).expect("it can be taken apart");
        let preamble =
            skeleton.preamble().iter().map(|command| print_command(&store, command, Release::STANDARD));
        (preamble.collect(), skeleton.everything.len(), skeleton.in_force.len())
    }

    const BAD: &str = "(define-fun-rec f ((x Int)) Int (+ 1 (f x)))";

    #[test]
    fn a_definition_that_may_have_no_solution_is_left_out_where_nothing_uses_it() {
        let user = "(define-fun g () Int (f 1))(define-fun-rec h ((n Int)) Int (ite (<= n 0) 0 (h (- n 1))))";
        let (preamble, all, in_force) = parts(&format!("{BAD}{user}(assert (= (h 3) 0))(check-sat)"));
        assert!(
            !preamble.contains(" f ") && !preamble.contains(" g ") && preamble.contains(" h "),
            "{preamble}"
        );
        assert_eq!((all, in_force), (1, 1));
    }

    #[test]
    fn formulas_that_use_such_a_definition_go_with_it() {
        let text = format!(
            "{BAD}(define-fun g () Int (f 1))(assert (> 2 1))(assert (=> (= 1 2) (= g 0)))(check-sat)"
        );
        let (preamble, all, in_force) = parts(&text);
        assert_eq!((preamble.as_str(), all, in_force), ("", 1, 0));
    }

    #[test]
    fn functions_defined_together_go_together() {
        let text =
            "(define-funs-rec ((a () Int) (b () Int)) ((+ 1 a) 3))(assert (= b 3))(assert true)(check-sat)";
        assert_eq!(parts(text), (String::new(), 1, 0));
    }

    #[test]
    fn options_that_change_the_meaning_are_left_out() {
        let (preamble, ..) =
            parts("(set-option :encoding ascii)(set-option :smt.arith.solver 2)(assert true)");
        assert!(!preamble.contains("encoding") && preamble.contains("arith.solver"), "{preamble}");
    }
}
