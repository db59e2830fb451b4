//! The places of a script's assertions as a tree, so that a change rebuilds only the way to its root.

use rustc_hash::FxHashSet;
use smtlib::{AttributeValue, Command, Fun, Head, Pattern, Script, Store, Term, Var};

/// Trees are cut off here: a term with much sharing may have exponentially many places.
const PLACES: usize = 20_000;

/// A place: a sub-term of an assertion, at one occurrence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub term: Term,
    /// The place above; [`ROOT`] for an assertion.
    parent: u32,
    /// Which argument of the place above, or which command of the script.
    child: u32,
}

const ROOT: u32 = u32::MAX;

/// All places of all assertions, parents before children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    places: Vec<Place>,
    /// What the last change overwrote.
    undo: Vec<(u32, Term)>,
}

impl Sites {
    pub fn of(store: &Store, script: &Script) -> Sites {
        let mut sites = Sites::default();
        sites.collect(store, script);
        sites
    }

    /// Reads the places anew, after the shape has changed.
    pub fn collect(&mut self, store: &Store, script: &Script) {
        self.places.clear();
        self.undo.clear();
        for (i, command) in script.commands.iter().enumerate() {
            if let Command::Assert(term) = command {
                self.places.push(Place { term: *term, parent: ROOT, child: i as u32 });
            }
        }
        let called = called(store, script);
        // Breadth first: what is cut off is deep.
        let mut next = 0;
        while next < self.places.len() && self.places.len() < PLACES {
            let term = self.places[next].term;
            let children = mutable_children(store, &called, term);
            for (child, arg) in store.args(term).iter().take(children).enumerate() {
                self.places.push(Place { term: *arg, parent: next as u32, child: child as u32 });
            }
            next += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn term(&self, place: usize) -> Term {
        self.places[place].term
    }

    /// The term above and the argument number, or `None` at an assertion.
    pub fn parent(&self, place: usize) -> Option<(Term, usize)> {
        let Place { parent, child, .. } = self.places[place];
        (parent != ROOT).then(|| (self.places[parent as usize].term, child as usize))
    }

    /// The variables bound around a place, outermost first.
    pub fn scope(&self, store: &Store, place: usize) -> Vec<Var> {
        let mut binders = Vec::new();
        let mut here = self.places[place];
        while here.parent != ROOT {
            let above = self.places[here.parent as usize];
            match store.head(above.term) {
                Head::Bind(_, vars) => binders.push(store.var_list(vars).to_vec()),
                Head::Match(patterns) if here.child > 0 => {
                    match store.pattern_list(patterns).get(here.child as usize - 1) {
                        Some(Pattern::Var(var)) => binders.push(vec![*var]),
                        Some(Pattern::Constructor(_, vars)) => binders.push(vars.to_vec()),
                        None => {}
                    }
                }
                _ => {}
            }
            here = above;
        }
        binders.into_iter().rev().flatten().collect()
    }

    /// Puts another term of the same sort at a place and rebuilds what is above it, in the script too. Places below
    /// keep their old terms: that is right when the new term has the same children.
    pub fn replace(&mut self, store: &mut Store, script: &mut Script, place: usize, new: Term) -> Option<()> {
        self.undo.clear();
        let mut here = place;
        let mut new = new;
        let mut args = Vec::new();
        loop {
            let Place { term, parent, child } = self.places[here];
            self.undo.push((here as u32, term));
            self.places[here].term = new;
            if parent == ROOT {
                script.commands[child as usize] = Command::Assert(new);
                return Some(());
            }
            let above = self.places[parent as usize].term;
            args.clear();
            args.extend_from_slice(store.args(above));
            args[child as usize] = new;
            new = store.rebuild(above, &args).ok()?;
            here = parent as usize;
        }
    }

    /// Takes the last replacement back.
    pub fn undo(&mut self, script: &mut Script) {
        for (place, term) in self.undo.drain(..) {
            let Place { parent, child, .. } = self.places[place as usize];
            self.places[place as usize].term = term;
            if parent == ROOT {
                script.commands[child as usize] = Command::Assert(term);
            }
        }
    }
}

/// How many of the children may change: not the terms inside attributes, nor a named term that is used by its
/// name (the name would stand for something else).
fn mutable_children(store: &Store, called: &FxHashSet<Fun>, term: Term) -> usize {
    match store.head(term) {
        Head::Annotated(attributes) => {
            let names = store.attribute_list(attributes).iter().any(|attribute| match attribute.value {
                AttributeValue::Named(fun) => called.contains(&fun),
                _ => false,
            });
            if names { 0 } else { 1 }
        }
        _ => store.args(term).len(),
    }
}

/// Names of terms that other terms use.
fn called(store: &Store, script: &Script) -> FxHashSet<Fun> {
    let named = |attributes| {
        let list = store.attribute_list(attributes);
        list.iter().any(|attribute| matches!(attribute.value, AttributeValue::Named(_)))
    };
    let roots: Vec<Term> = script.assertions().collect();
    if !roots.iter().any(|root| matches!(store.head(*root), Head::Annotated(attributes) if named(attributes)))
    {
        return FxHashSet::default();
    }
    let heads = store.subterms(&script.terms(store)).into_iter().map(|term| store.head(term));
    heads.filter_map(|head| if let Head::Fun(fun) = head { Some(fun) } else { None }).collect()
}

/// The script without what it says about its answer: a mutant's may be another.
pub(crate) fn without_status(store: &Store, script: &Script) -> Script {
    let says = |command: &Command| matches!(command, Command::SetInfo(keyword, _) if store.name(*keyword) == ":status");
    Script { commands: script.commands.iter().filter(|command| !says(command)).cloned().collect() }
}
