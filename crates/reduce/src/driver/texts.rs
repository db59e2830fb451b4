//! Candidates that are given as texts, not as changes of the script in hand.

use std::sync::Arc;

use eval::Witness;
use eval::model_text::{read_model, write_model};
use smtlib::print::print_in;
use smtlib::{Mode, Release, Script, Store};

use super::{Reduction, hash_of};
use crate::error::ReduceError;
use crate::meaning::meaning;
use crate::predicate::{Candidate, Examination, ModelDuty};
use crate::size::Size;
use crate::workbench::{self, Draft, Workbench};

impl Reduction<'_> {
    /// Tries a script with other sorts than the one in hand, given as text with its model. If it is interesting it is the
    /// best so far, in a store of its own.
    pub fn renewed(&mut self, text: &str, model: Option<&str>) -> Result<bool, ReduceError> {
        let mut store = Store::new();
        let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Strict) else { return Ok(false) };
        let script = parsed.script;
        let text = print_in(&store, &script, self.dialect);
        let (size, hash) = (Size::of(text.as_bytes()), hash_of(&text, None));
        if self.over() || size >= self.best.size || self.tried.contains(&hash) {
            return Ok(false);
        }
        let kept = model.and_then(|model| witness(&mut store, &script, model, Release::STANDARD));
        if self.duty == ModelDuty::Keep && kept.is_none() {
            return Ok(false);
        }
        let examination = self.examined(&text, kept.is_some())?;
        let found = || {
            let (text, release) = examination.model.as_ref()?;
            witness(&mut store, &script, text, *release)
        };
        let model = kept.or_else(found).map(|witness| Arc::new(witness.into_model()));
        if !examination.interesting || (self.duty != ModelDuty::None && model.is_none()) {
            self.tried.insert(hash);
            self.failed(&examination)?;
            return Ok(false);
        }
        self.meanings.take(meaning(&mut store, &script));
        self.bench = Workbench::new(store, Draft { script, model });
        // Nothing of the input is left in this store.
        self.original.clear();
        self.accepted += 1;
        self.best.text = text;
        self.best.size = size;
        self.best.subset = false;
        self.keep()?;
        self.show();
        Ok(true)
    }

    /// Tries texts that are no printed draft; the first interesting one is taken. The witness stays if it satisfies what
    /// we read in the text, or is replaced by another one.
    pub fn texts(&mut self, texts: Vec<String>) -> Result<Option<usize>, ReduceError> {
        for (number, text) in texts.into_iter().enumerate() {
            let hash = hash_of(&text, None);
            let size = Size::of(text.as_bytes());
            if self.over() || size >= self.best.size || self.tried.contains(&hash) {
                continue;
            }
            let kept =
                self.best.witness.as_deref().and_then(|model| satisfying(&text, model, Release::STANDARD));
            let examination = self.examined(&text, kept.is_some())?;
            let found =
                || examination.model.as_ref().and_then(|(model, release)| satisfying(&text, model, *release));
            let witness = kept.or_else(found);
            if examination.interesting && (witness.is_some() || self.best.witness.is_none()) {
                self.accepted += 1;
                self.best.text = text;
                self.best.size = size;
                self.best.witness = witness;
                self.best.subset = false;
                self.history.push(self.best.clone());
                self.observer.best(&self.best)?;
                self.show();
                return Ok(Some(number));
            }
            self.tried.insert(hash);
            self.failed(&examination)?;
            self.show();
        }
        Ok(None)
    }

    /// What comes of a text under the options of the best script.
    fn examined(&mut self, text: &str, satisfied: bool) -> Result<Examination, ReduceError> {
        self.candidates += 1;
        let configuration = self.best.configuration.as_ref();
        let candidate =
            Candidate { text, configuration, satisfied, subset: false, plain: false, other_models: false };
        self.examiners[0].examine(&candidate)
    }
}

/// The part of a model that a script needs, if it satisfies it.
fn witness(store: &mut Store, script: &Script, model: &str, release: Release) -> Option<Witness> {
    let read = read_model(store, script, model.as_bytes(), release).ok()?;
    let model = read.model.restricted_to(script);
    Witness::check(store, script, model, workbench::limits()).ok()
}

/// The same for a script as text, written anew.
fn satisfying(text: &str, model: &str, release: Release) -> Option<String> {
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok()?.script;
    let witness = witness(&mut store, &script, model, release)?;
    write_model(&mut store, &script, witness.model()).ok()
}
