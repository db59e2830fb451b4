//! The script in hand: its store, its model, and what passes ask about its terms.

use std::sync::Arc;

use eval::model::checked_terms;
use eval::side_conditions::side_conditions;
use eval::sorts::Sorts;
use eval::{Budget, Evaluator, Mode, Model, Witness, to_term};
use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Head, Mark, Rational, Script, Sort, SortKind, Store, Term};

use crate::edit::{Edit, applied};

/// A script, and the model that satisfies it where one is known.
#[derive(Clone, Debug)]
pub struct Draft {
    pub script: Script,
    pub model: Option<Arc<Model>>,
}

/// The best script so far with everything needed to make others of it.
pub struct Workbench {
    pub store: Store,
    pub draft: Draft,
    /// Remembers values under the draft's model.
    evaluator: Evaluator,
}

/// What the check of one candidate's witness may cost: candidates are many.
pub fn limits() -> Budget {
    Budget { steps: 1_000_000, instances: 1 << 12, candidates: 128, ..Budget::default() }
}

impl Workbench {
    pub fn new(store: Store, draft: Draft) -> Workbench {
        Workbench { store, draft, evaluator: Evaluator::new(Mode::Choose, limits()) }
    }

    /// Forgets terms made since the mark.
    pub fn reset(&mut self, mark: &Mark) {
        self.store.reset(mark);
        self.evaluator.forget_after(self.store.term_count());
    }

    /// The draft with steps applied; nothing if they change nothing.
    pub fn with(&mut self, edits: &[Edit]) -> Option<Draft> {
        let script = applied(&mut self.store, &self.draft.script, edits)?;
        self.changed(script)
    }

    /// Another script under the same model, if it is another one.
    pub fn changed(&self, script: Script) -> Option<Draft> {
        (script != self.draft.script).then(|| Draft { script, model: self.draft.model.clone() })
    }

    /// Whether the draft's own model satisfies it; true without one.
    pub fn is_satisfied(&mut self, draft: &Draft) -> bool {
        let Some(model) = &draft.model else { return true };
        let same = self.draft.model.as_ref().is_some_and(|own| Arc::ptr_eq(own, model));
        let mut other;
        let evaluator = if same {
            &mut self.evaluator
        } else {
            other = Evaluator::new(Mode::Choose, limits());
            &mut other
        };
        let store = &self.store;
        // A step must not turn a definition into one without a solution.
        side_conditions(store, &draft.script).is_empty()
            && checked_terms(&draft.script)
                .iter()
                .all(|term| evaluator.holds(store, model, *term) == Ok(true))
    }

    /// Takes a draft as the best so far. Nothing changes if its model turns out not to satisfy it.
    pub fn take(&mut self, draft: Draft) -> bool {
        let model = match draft.model {
            None => None,
            Some(model) => {
                let model = model.restricted_to(&draft.script);
                match Witness::check(&self.store, &draft.script, model, limits()) {
                    Ok(witness) => Some(Arc::new(witness.into_model())),
                    Err(_) => return false,
                }
            }
        };
        self.draft = Draft { script: draft.script, model };
        self.evaluator.forget();
        true
    }

    /// The value of a closed term under the model, as a term.
    pub fn value(&mut self, term: Term) -> Option<Term> {
        let model = Arc::clone(self.draft.model.as_ref()?);
        if !self.store.free_vars(term).is_empty() {
            return None;
        }
        let value = self.evaluator.evaluate(&self.store, &model, term).ok()?;
        let sort = self.store.sort_of(term);
        to_term(&mut self.store, sort, &value).filter(|value| *value != term)
    }

    /// The roots of all terms of the script with the places of their commands and their numbers there.
    pub fn roots(&self) -> Vec<(usize, usize, Term)> {
        let mut found = Vec::new();
        for (place, command) in self.draft.script.commands.iter().enumerate() {
            let mut roots = Vec::new();
            command.terms(&self.store, &mut roots);
            found.extend(roots.into_iter().enumerate().map(|(number, root)| (place, number, root)));
        }
        found
    }

    /// All distinct terms by level: the roots first, each term at the least depth it occurs at.
    pub fn levels(&self) -> Vec<Vec<Term>> {
        let mut depth: FxHashMap<Term, usize> = FxHashMap::default();
        let mut levels: Vec<Vec<Term>> = Vec::new();
        let mut level: Vec<Term> = self.roots().into_iter().map(|(_, _, root)| root).collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            let mut here = Vec::new();
            for term in level {
                if depth.insert(term, levels.len()).is_none() {
                    here.push(term);
                    next.extend_from_slice(self.store.args(term));
                }
            }
            if !here.is_empty() {
                // Large ones first: what they take with them need not be looked at.
                here.sort_by_cached_key(|term| (std::cmp::Reverse(self.store.tree_size(*term)), *term));
                levels.push(here);
            }
            level = next;
        }
        levels
    }

    /// Declared constants of a sort, in order of declaration.
    pub fn constants_of(&self, sort: Sort) -> Vec<Fun> {
        let fits = |fun: &Fun| {
            let decl = self.store.fun(*fun);
            decl.params.is_empty() && decl.result == sort
        };
        self.draft.script.declared_funs().filter(fits).collect()
    }

    /// Simple constants of a sort, the simplest first.
    pub fn simple_values(&mut self, sort: Sort) -> Vec<Term> {
        let store = &mut self.store;
        match store.sort_kind(sort).clone() {
            SortKind::Bool => vec![store.bool(true), store.bool(false)],
            SortKind::Int => vec![store.int(0), store.int(1)],
            SortKind::Real => vec![store.real(Rational::ZERO), store.real(Rational::ONE)],
            SortKind::BitVec(width) => {
                vec![store.bv(width, dashu_int::UBig::ZERO), store.bv(width, dashu_int::UBig::ONE)]
            }
            SortKind::String => vec![store.string(&[]), store.string(&[u32::from('A')])],
            SortKind::RegLan => [smtlib::Op::ReAll, smtlib::Op::ReNone, smtlib::Op::ReAllchar]
                .into_iter()
                .filter_map(|op| store.op(op, &[]).ok())
                .collect(),
            _ => {
                let value = Sorts::new(store, &Model::new()).default_value(sort);
                value.and_then(|value| to_term(store, sort, &value)).into_iter().collect()
            }
        }
    }

    /// A constant with a name nobody has, of the sort of a term and with the term's value under the model.
    pub fn fresh_constant(&mut self, sort: Sort) -> Fun {
        let name = self.store.fresh_name("v");
        self.store.declare_fun(name, &[], sort)
    }

    /// The constants and functions that terms of the script use.
    pub fn used_funs(&self, script: &Script) -> Vec<Fun> {
        let mut used: Vec<Fun> = self
            .store
            .subterms(&script.terms(&self.store))
            .into_iter()
            .filter_map(|term| match self.store.head(term) {
                Head::Fun(fun) => Some(fun),
                _ => None,
            })
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Whether commands or terms are there that we do not understand.
    pub fn has_opaque(&self) -> bool {
        let script = &self.draft.script;
        script.commands.iter().any(|command| matches!(command, Command::Opaque { .. }))
            || script.terms(&self.store).iter().any(|term| self.store.is_opaque(*term))
    }
}
