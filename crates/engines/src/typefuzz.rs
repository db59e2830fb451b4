//! Generative type-aware mutation (Park, Winterer, Zhang, Su: Generative Type-Aware Mutation for Testing SMT Solvers,
//! OOPSLA 2021).
//!
//! A mutation replaces a term by an operator of the same result sort over operands taken from the formula itself, as far
//! as their sorts and bound variables allow. The mutant of one step is the seed of the next.

use generate::{Grammar, Scope};
use rustc_hash::FxHashSet;
use smtlib::{Command, Fun, Head, Script, Store, Term, Var};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::feedback::Feedback;
use crate::opfuzz::for_script;
use crate::sites::{Sites, without_status};

/// Draws of a place before a round is given up.
const TRIES: usize = 64;
/// Sub-terms of the seed that serve as operands.
const OPERANDS: usize = 2_000;
/// Open terms around a place that are tried as operands.
const NEIGHBOURS: usize = 8;
/// A formula that has grown by this many places starts again from its seed.
const GROWTH: usize = 400;

pub struct TypeFuzz {
    /// Mutants per seed; 300 is the default of the authors' tool yinyang.
    pub iterations: usize,
    /// Levels of new operators; 1 as in the paper: an operator over existing terms.
    pub depth: usize,
}

impl Default for TypeFuzz {
    fn default() -> TypeFuzz {
        TypeFuzz { iterations: 300, depth: 1 }
    }
}

impl Engine for TypeFuzz {
    fn name(&self) -> &str {
        "typefuzz"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let script = declarations_first(without_status(bench.store, &seed.script));
        let sites = Sites::of(bench.store, &script);
        if sites.len() == 0 {
            return None;
        }
        let grammar = for_script(bench.grammar, bench.store, &script);
        let visible = Visible::of(&script);
        let scope = operands(bench.store, &script, &visible);
        Some(Box::new(Mutation {
            limit: sites.len() + GROWTH,
            start: script.clone(),
            before: None,
            script,
            sites,
            stale: false,
            grammar,
            scope,
            visible,
            depth: self.depth.max(1),
            length: self.iterations,
            made: 0,
        }))
    }
}

/// The script with its declarations before its assertions, so that every symbol may be used everywhere. Scripts with
/// levels stay as they are: there a symbol may stand for different things.
fn declarations_first(script: Script) -> Script {
    let levels = |command: &Command| {
        matches!(command, Command::Push(_) | Command::Pop(_) | Command::Reset | Command::ResetAssertions)
    };
    if script.commands.iter().any(levels) {
        return script;
    }
    let (front, rest): (Vec<_>, Vec<_>) = script.commands.into_iter().partition(|command| {
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
        )
    });
    Script { commands: front.into_iter().chain(rest).collect() }
}

/// The symbols that every assertion may use: those declared before the first assertion or level.
struct Visible {
    funs: FxHashSet<Fun>,
    prefix: Script,
}

impl Visible {
    fn of(script: &Script) -> Visible {
        let prefix: Vec<Command> = script
            .commands
            .iter()
            .take_while(|command| !matches!(command, Command::Assert(_) | Command::Push(_)))
            .cloned()
            .collect();
        let funs = prefix.iter().filter_map(|command| match command {
            Command::DeclareFun(fun) | Command::DeclareConst(fun) => Some(*fun),
            Command::DefineFun(fun) | Command::DefineConst(fun) | Command::DefineFunRec(fun) => Some(*fun),
            _ => None,
        });
        Visible { funs: funs.collect(), prefix: Script { commands: prefix } }
    }

    /// Is the term made of these symbols only?
    fn admits(&self, store: &Store, term: Term) -> bool {
        store.subterms(&[term]).into_iter().all(|part| match store.head(part) {
            Head::Fun(fun) => self.funs.contains(&fun),
            // Names given twice would be an error.
            Head::Annotated(_) => false,
            _ => true,
        })
    }
}

/// The declared symbols and closed sub-terms of the script.
fn operands(store: &mut Store, script: &Script, visible: &Visible) -> Scope {
    let mut scope = Scope::of_script(store, &visible.prefix);
    let roots: Vec<Term> = script.assertions().collect();
    let terms = store.subterms(&roots);
    for term in terms.into_iter().take(OPERANDS) {
        let constant = matches!(store.head(term), Head::Fun(_)) && store.args(term).is_empty();
        let usable = !constant && !store.mentions_vars(term) && !store.is_opaque(term);
        if usable && visible.admits(store, term) {
            scope.add_leaf(store, term);
        }
    }
    scope
}

struct Mutation {
    start: Script,
    script: Script,
    /// The script before the last mutation.
    before: Option<Script>,
    sites: Sites,
    /// The places are those of another script.
    stale: bool,
    grammar: Grammar,
    scope: Scope,
    visible: Visible,
    depth: usize,
    limit: usize,
    length: usize,
    made: usize,
}

impl Round for Mutation {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.made == self.length {
            return None;
        }
        self.made += 1;
        if self.sites.len() > self.limit {
            self.script = self.start.clone();
            self.stale = true;
        }
        if std::mem::take(&mut self.stale) {
            self.sites.collect(bench.store, &self.script);
        }
        let change = (0..TRIES).find_map(|_| self.mutate(bench))?;
        Some(Draft::agree(self.script.clone()).with_changes(vec![change]))
    }

    fn length(&self) -> usize {
        self.length
    }

    fn learn(&mut self, feedback: &Feedback) {
        if (feedback.is_rejected() || feedback.is_hopeless())
            && let Some(before) = self.before.take()
        {
            self.script = before;
            self.stale = true;
        }
    }
}

impl Mutation {
    fn mutate(&mut self, bench: &mut Bench<'_>) -> Option<String> {
        let place = bench.rng.below(self.sites.len());
        let old = self.sites.term(place);
        if bench.store.is_opaque(old) || bench.store.is_opaque_sort(bench.store.sort_of(old)) {
            return None;
        }
        if let Some((parent, child)) = self.sites.parent(place)
            && !self.grammar.may_replace(bench.store, parent, child)
        {
            return None;
        }
        let vars = self.sites.scope(bench.store, place);
        let new = self.term_like(bench, old, &vars)?;
        if new == old {
            return None;
        }
        let before = self.script.clone();
        self.sites.replace(bench.store, &mut self.script, place, new)?;
        self.sites.collect(bench.store, &self.script);
        self.before = Some(before);
        Some(format!("{} at place {place}", head_name(bench.store, new)))
    }

    /// A new term of the sort of `old` that may stand where these variables are bound.
    fn term_like(&mut self, bench: &mut Bench<'_>, old: Term, vars: &[Var]) -> Option<Term> {
        let sort = bench.store.sort_of(old);
        if vars.is_empty() {
            return self.grammar.term(bench.store, bench.rng, sort, &mut self.scope, self.depth);
        }
        // Under binders, open terms near by are operands too, as long as the place binds all they mention.
        let mut scope = self.scope.clone();
        for var in vars {
            scope.bind(bench.store, *var);
        }
        // An inner variable hides those of its name.
        let names: Vec<_> = vars.iter().map(|var| bench.store.var_name(*var)).collect();
        let seen = |place: usize| !names[place + 1..].contains(&names[place]);
        let bound: FxHashSet<Var> =
            (0..vars.len()).filter(|place| seen(*place)).map(|place| vars[place]).collect();
        for _ in 0..NEIGHBOURS {
            let near = self.sites.term(bench.rng.below(self.sites.len()));
            if bench.store.mentions_vars(near)
                && !bench.store.is_opaque(near)
                && bench.store.free_vars(near).iter().all(|var| bound.contains(var))
                && self.visible.admits(bench.store, near)
            {
                scope.add_leaf(bench.store, near);
            }
        }
        self.grammar.term(bench.store, bench.rng, sort, &mut scope, self.depth)
    }
}

fn head_name(store: &Store, term: Term) -> String {
    match store.head(term) {
        Head::Op(op, _) => op.name().to_owned(),
        Head::Fun(fun) => store.name(store.fun(fun).name).to_owned(),
        Head::Bind(binder, _) => binder.name().to_owned(),
        Head::Var(var) => store.name(store.var_name(var)).to_owned(),
        _ => "constant".to_owned(),
    }
}
