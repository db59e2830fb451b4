//! The test case: the one type that travels along the pipeline.
//!
//! An engine makes a [`Draft`]; whoever drives the engine adds the [`Provenance`], so that an engine under another name
//! or a composition cannot mislabel what it makes.

use std::sync::Arc;

use eval::model::checked_terms;
use eval::{Derivation, Expectation, Witness};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use smtlib::{Script, Setting, Status, Store, Term};

use crate::engine::Seed;
use crate::models::BUDGET;

/// What a round makes: a script and what is known about its answer.
#[derive(Clone, Debug)]
pub struct Draft {
    script: Script,
    options: Vec<SolverSettings>,
    changes: Vec<String>,
    new_terms: Vec<Term>,
    known: KnownAnswer,
}

/// An expectation and its witness, which is there if and only if the expectation is one.
#[derive(Clone, Debug)]
struct KnownAnswer {
    expectation: Expectation,
    /// Shared: a transform that does not apply costs no copy of a model.
    witness: Option<Arc<Witness>>,
}

/// Extra options for one solver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverSettings {
    /// The number of the solver in the campaign.
    pub solver: usize,
    pub settings: Vec<Setting>,
}

impl Draft {
    /// Nothing is known: solvers must only agree.
    pub fn agree(script: Script) -> Draft {
        Draft::of(script, Expectation::Agree, None)
    }

    /// Every check is satisfiable: the witness is one of this script.
    pub fn satisfied(script: Script, witness: Witness) -> Draft {
        Draft::of(script, Expectation::Witness, Some(Arc::new(witness)))
    }

    /// Every check has the derivation's answer by construction.
    pub fn derived(script: Script, derivation: Derivation) -> Draft {
        Draft::of(script, Expectation::Derived(derivation), None)
    }

    fn of(script: Script, expectation: Expectation, witness: Option<Arc<Witness>>) -> Draft {
        let known = KnownAnswer { expectation, witness };
        Draft { script, options: Vec::new(), changes: Vec::new(), new_terms: Vec::new(), known }
    }

    /// Adds what was done, in the engine's or transform's own words.
    pub fn with_changes(mut self, changes: Vec<String>) -> Draft {
        self.changes.extend(changes);
        self
    }

    /// Tells which terms the last change made.
    pub fn with_new_terms(mut self, terms: Vec<Term>) -> Draft {
        self.new_terms = terms;
        self
    }

    /// Adds options for solvers.
    pub fn with_options(mut self, options: Vec<SolverSettings>) -> Draft {
        self.options.extend(options);
        self
    }

    /// Another script whose checks are each over a part of what the one check of this script is over: what satisfies the
    /// whole satisfies every part. `None` if the answer does not carry over to parts, or a witness cannot be seen to
    /// satisfy the new script.
    pub(crate) fn with_part(mut self, store: &Store, script: Script, step: &str) -> Option<Draft> {
        if let Expectation::Derived(derivation) = &mut self.known.expectation {
            if derivation.answer != Status::Sat {
                return None;
            }
            derivation.steps.push(step.to_owned());
        }
        if let Some(witness) = &mut self.known.witness {
            let seen: FxHashSet<Term> = checked_terms(&self.script).into_iter().collect();
            // Terms of the old script are known to be true; others are there if names had to be replaced.
            if !checked_terms(&script).iter().all(|term| seen.contains(term)) {
                let model = witness.model().clone();
                *witness = Arc::new(Witness::check(store, &script, model, BUDGET).ok()?);
            }
        }
        self.script = script;
        self.changes.push(step.to_owned());
        Some(self)
    }

    /// Another script of which nothing is known but what its own witness tells.
    pub(crate) fn with_constants(
        self,
        script: Script,
        witness: Option<Witness>,
        changes: Vec<String>,
    ) -> Draft {
        let known = match witness {
            Some(witness) => Draft::satisfied(script, witness),
            None => Draft::agree(script),
        };
        let known = known.with_options(self.options).with_new_terms(self.new_terms);
        known.with_changes(self.changes).with_changes(changes)
    }

    /// The witness alone.
    pub(crate) fn into_witness(self) -> Option<Witness> {
        self.known.witness.map(Arc::unwrap_or_clone)
    }

    pub fn script(&self) -> &Script {
        &self.script
    }

    pub fn options(&self) -> &[SolverSettings] {
        &self.options
    }

    /// What was done, in order.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }

    pub fn expectation(&self) -> &Expectation {
        &self.known.expectation
    }

    /// The model that satisfies the script, if the expectation is [`Expectation::Witness`].
    pub fn witness(&self) -> Option<&Witness> {
        self.known.witness.as_deref()
    }
}

/// A script with what is known about its answer, options for solvers, and where it comes from.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// In the worker's store.
    pub script: Script,
    pub options: Vec<SolverSettings>,
    pub provenance: Provenance,
    /// Random terms that the last change put in, where the engine tells.
    pub new_terms: Vec<Term>,
    known: KnownAnswer,
}

impl TestCase {
    /// The only way to a test case. The draft's changes are added to those of the provenance.
    pub fn new(draft: Draft, mut provenance: Provenance) -> TestCase {
        let Draft { script, options, changes, new_terms, known } = draft;
        provenance.changes.extend(changes);
        TestCase { script, options, provenance, new_terms, known }
    }

    pub fn expectation(&self) -> &Expectation {
        &self.known.expectation
    }

    /// The model that satisfies the script, if the expectation is [`Expectation::Witness`].
    pub fn witness(&self) -> Option<&Witness> {
        self.known.witness.as_deref()
    }

    /// Nothing is expected any more but that solvers agree.
    pub fn forget_answer(&mut self) {
        self.known = KnownAnswer { expectation: Expectation::Agree, witness: None };
    }
}

/// Enough to make the test case again: the engine's name, its seeds, and which step made it. The campaign adds its own
/// seed number and round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// As [`parse`](crate::parse) reads it.
    pub engine: String,
    /// Names of the seeds used (file names, or `generated`).
    pub seeds: Vec<String>,
    /// Number of the test case within its round, from 0.
    pub step: usize,
    /// What the engine did to the seed, in its own words, one entry for each change.
    pub changes: Vec<String>,
}

impl Provenance {
    /// Without changes yet: the draft brings them along.
    pub fn new(engine: impl Into<String>, seeds: &[Seed], step: usize) -> Provenance {
        let seeds = seeds.iter().map(|seed| seed.name.clone()).collect();
        Provenance { engine: engine.into(), seeds, step, changes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_case_tells_what_its_draft_knew_and_changed() {
        let derivation = Derivation { answer: Status::Sat, from: "seed".to_owned(), steps: Vec::new() };
        let options = vec![SolverSettings { solver: 1, settings: vec![Setting::new("arith.solver", "2")] }];
        let draft = Draft::derived(Script::default(), derivation.clone())
            .with_changes(vec!["one".to_owned()])
            .with_changes(vec!["two".to_owned()])
            .with_options(options.clone());
        let case = TestCase::new(draft, Provenance::new("a+b", &[], 3));
        assert_eq!(case.expectation(), &Expectation::Derived(derivation));
        assert!(case.witness().is_none());
        assert_eq!(case.options, options);
        assert_eq!((case.provenance.engine.as_str(), case.provenance.step), ("a+b", 3));
        assert_eq!(case.provenance.changes, ["one", "two"]);
    }

    #[test]
    fn only_satisfiability_carries_over_to_parts() {
        let derived = |answer| {
            let derivation = Derivation { answer, from: "seed".to_owned(), steps: Vec::new() };
            Draft::derived(Script::default(), derivation).with_part(&Store::new(), Script::default(), "split")
        };
        assert!(derived(Status::Unsat).is_none());
        let draft = derived(Status::Sat).expect("a part of a satisfiable script is satisfiable");
        assert!(matches!(draft.expectation(), Expectation::Derived(why) if why.steps == ["split"]));
        assert!(
            Draft::agree(Script::default()).with_part(&Store::new(), Script::default(), "split").is_some()
        );
    }
}
