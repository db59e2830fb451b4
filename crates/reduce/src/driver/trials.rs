//! Candidates on trial: made ready, examined by the workers, taken or remembered as failures.

use std::sync::Arc;

use eval::Model;
use eval::model_text::read_model;
use smtlib::print::print_in;
use solver::run::Configuration;

use super::{DECISIVE, Growth, Reduction, hash_of};
use crate::error::ReduceError;
use crate::meaning::meaning;
use crate::predicate::{Candidate, Examination, ModelDuty};
use crate::size::Size;
use crate::workbench::{Draft, Workbench};

/// A candidate ready to be examined.
struct Ready {
    number: usize,
    draft: Draft,
    text: String,
    size: Size,
    hash: u64,
    meaning: u64,
    satisfied: bool,
    subset: bool,
}

impl Ready {
    fn candidate<'c>(&'c self, configuration: Option<&'c Arc<Configuration>>) -> Candidate<'c> {
        let Ready { satisfied, subset, .. } = *self;
        Candidate { text: &self.text, configuration, satisfied, subset, plain: false, other_models: false }
    }
}

impl Reduction<'_> {
    /// One script after the other, until one is interesting.
    pub fn drafts(&mut self, drafts: Vec<Draft>, growth: Growth) -> Result<bool, ReduceError> {
        let mut drafts: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
        let found = self.first(drafts.len(), growth, &mut |_, number| drafts[number].take())?;
        Ok(found.is_some())
    }

    /// The first of several candidates that is interesting, which then is the best so far. Several are examined at the
    /// same time, but the first in order is taken, so that the result is the same for any number of workers.
    pub fn first(
        &mut self,
        count: usize,
        growth: Growth,
        build: &mut dyn FnMut(&mut Workbench, usize) -> Option<Draft>,
    ) -> Result<Option<usize>, ReduceError> {
        let mut next = 0;
        while next < count && !self.over() {
            let mark = self.bench.store.mark();
            let mut window: Vec<Ready> = Vec::new();
            while window.len() < self.examiners.len() && next < count {
                let number = next;
                next += 1;
                let Some(draft) = build(&mut self.bench, number) else { continue };
                if let Some(ready) = self.ready(number, draft, growth)
                    && !window.iter().any(|other| other.hash == ready.hash)
                {
                    window.push(ready);
                }
            }
            if window.is_empty() {
                self.bench.reset(&mark);
                continue;
            }
            let examinations = self.examine(&window)?;
            let mut taken = None;
            for (ready, examination) in window.into_iter().zip(examinations) {
                // A single worker would not have examined it: nothing may be learnt from it.
                if taken.is_some() || self.meanings.settle(ready.meaning) {
                    continue;
                }
                if !examination.interesting {
                    self.tried.insert(ready.hash);
                    self.meanings.fail(ready.meaning);
                    self.failed(&examination)?;
                } else {
                    let (number, hash) = (ready.number, ready.hash);
                    if self.accept(ready, examination)? {
                        taken = Some(number);
                    } else {
                        self.tried.insert(hash);
                    }
                }
            }
            self.show();
            if taken.is_some() {
                return Ok(taken);
            }
            self.bench.reset(&mark);
        }
        Ok(None)
    }

    /// The right model that the accused gives of a draft, if it gives one.
    pub fn right_model(&mut self, draft: &Draft) -> Result<Option<Model>, ReduceError> {
        if self.over() {
            return Ok(None);
        }
        let text = print_in(&self.bench.store, &draft.script, self.dialect);
        let candidate = Candidate {
            text: &text,
            configuration: self.best.configuration.as_ref(),
            satisfied: false,
            subset: false,
            plain: false,
            other_models: false,
        };
        self.candidates += 1;
        let examination = self.examiners[0].examine(&candidate)?;
        let Some((model, release)) = examination.model.filter(|_| !examination.interesting) else {
            return Ok(None);
        };
        let read = read_model(&mut self.bench.store, &draft.script, model.as_bytes(), release);
        Ok(read.ok().map(|read| read.model))
    }

    /// A draft printed, measured and checked as far as that needs no solver.
    fn ready(&mut self, number: usize, draft: Draft, growth: Growth) -> Option<Ready> {
        let text = print_in(&self.bench.store, &draft.script, self.dialect);
        let size = Size::of(text.as_bytes());
        let small_enough = match growth {
            Growth::Smaller => size < self.best.size,
            Growth::Times(times) => size.nodes <= self.best.size.nodes * times,
        };
        let hash = hash_of(&text, None);
        if !small_enough || text == self.best.text || self.tried.contains(&hash) {
            return None;
        }
        let meaning = meaning(&mut self.bench.store, &draft.script);
        if self.meanings.settle(meaning) {
            return None;
        }
        let satisfied = self.duty != ModelDuty::None && self.bench.is_satisfied(&draft);
        if self.duty == ModelDuty::Keep && !satisfied {
            return None;
        }
        let subset = draft.script.assertions().all(|term| self.original.contains(&term));
        Some(Ready { number, draft, text, size, hash, meaning, satisfied, subset })
    }

    fn examine(&mut self, window: &[Ready]) -> Result<Vec<Examination>, ReduceError> {
        self.candidates += window.len() as u64;
        let configuration = self.best.configuration.as_ref();
        if let [ready] = window {
            return Ok(vec![self.examiners[0].examine(&ready.candidate(configuration))?]);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = window
                .iter()
                .zip(&mut self.examiners)
                .map(|(ready, examiner)| {
                    scope.spawn(move || examiner.examine(&ready.candidate(configuration)))
                })
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    /// Remembers that a candidate was not interesting.
    pub(super) fn failed(&mut self, examination: &Examination) -> Result<(), ReduceError> {
        self.failures += 1;
        self.missed += 1;
        if examination.timed_out {
            self.patience.gave_up();
            if self.patience.is_in_doubt() {
                self.time_again()?;
            }
            self.calibrate();
        }
        Ok(())
    }

    /// Times the best script once more: should the machine be slower now than it was, candidates need more time.
    fn time_again(&mut self) -> Result<(), ReduceError> {
        self.be_patient();
        let configuration = self.best.configuration.as_ref();
        let satisfied = self.best.witness.is_some();
        let subset = self.best.subset;
        let candidate = Candidate {
            text: &self.best.text,
            configuration,
            satisfied,
            subset,
            plain: false,
            other_models: false,
        };
        let examination = self.examiners[0].examine(&candidate)?;
        self.candidates += 1;
        if examination.interesting {
            self.patience.timed_again(examination.wall);
        }
        Ok(())
    }

    /// What is examined next gets much more time than the input took.
    pub(super) fn be_patient(&mut self) {
        for examiner in &mut self.examiners {
            examiner.calibrate(self.slowest * 4 + DECISIVE);
        }
    }

    /// Candidates get the time that their like take.
    pub(super) fn calibrate(&mut self) {
        for examiner in &mut self.examiners {
            examiner.calibrate(self.patience.limit());
        }
    }

    /// Takes an interesting candidate; false if its witness fails after all.
    fn accept(&mut self, ready: Ready, examination: Examination) -> Result<bool, ReduceError> {
        // What is smaller is quicker, and so is what is no good any more.
        self.patience.took(examination.wall);
        self.calibrate();
        self.failures = 0;
        let Ready { mut draft, text, size, meaning, satisfied, subset, .. } = ready;
        if self.duty == ModelDuty::None {
            draft.model = None;
        } else if !satisfied {
            let Some((model, release)) = &examination.model else { return Ok(false) };
            let read = read_model(&mut self.bench.store, &draft.script, model.as_bytes(), *release);
            let Ok(read) = read else { return Ok(false) };
            draft.model = Some(Arc::new(read.model));
        }
        if !self.bench.take(draft) {
            return Ok(false);
        }
        self.accepted += 1;
        self.meanings.take(meaning);
        self.best.text = text;
        self.best.size = size;
        self.best.subset = subset;
        self.keep()?;
        Ok(true)
    }
}
