//! A misbehaviour once more: everybody involved on a script, judged as always. What the reduction of a finding, its replay
//! and its description have in common.

use std::sync::Arc;

use eval::model_text::read_model;
use eval::{Budget, Expectation, Model, Witness};
use oracle::performance::Performance;
use oracle::{Asking, Judge, Kind, Subject, Verdict};
use smtlib::{Release, Script, Store, print};
use solver::run::{Configuration, PartyId, Purpose, Run, RunError, Runner};

/// A script in input.
#[derive(Clone, Copy)]
pub struct RerunInput<'a> {
    /// The text for the first party, and for all that read the same dialect.
    pub text: &'a str,
    /// Nothing if we cannot read it.
    pub script: Option<&'a Script>,
    /// A model that may satisfy it.
    pub witness: Option<&'a str>,
    /// What is known about its answer beside that.
    pub expectation: &'a Expectation,
    /// The kind of misbehaviour that is looked for.
    pub kind: Kind,
}

/// The runs, and what is wrong with them.
pub struct Rerun {
    pub runs: Vec<Run>,
    pub verdicts: Vec<Verdict>,
    /// What is known about the answer: a witness counts only if it satisfies the script.
    pub expectation: Expectation,
}

impl Rerun {
    /// Runs all parties, the accused first, and judges.
    pub fn make(
        store: &mut Store,
        input: RerunInput,
        parties: &[Arc<Configuration>],
        runner: &mut dyn Runner,
        purpose: Purpose,
    ) -> Result<Rerun, RunError> {
        let own = parties.first().map(|first| first.release());
        let mut runs = Vec::with_capacity(parties.len());
        for party in parties {
            let release = party.release();
            runs.push(match input.script {
                Some(script) if Some(release) != own => {
                    let printed = print::print(store, script, release);
                    runner.run(party, printed.as_bytes(), purpose)?
                }
                _ => runner.run(party, input.text.as_bytes(), purpose)?,
            });
        }
        for run in &mut runs {
            Asking::new(runner, purpose).locate(run)?;
        }
        let proven = input.script.zip(input.witness);
        let proven = proven.is_some_and(|(script, model)| checked(store, script, model).is_some());
        let expectation = match input.expectation {
            _ if proven => Expectation::Witness,
            // The witness is gone, or does not satisfy the script: then nothing is known.
            Expectation::Witness => Expectation::Agree,
            other => other.clone(),
        };
        let mut subject = Subject::new(store, input.script, &[]);
        subject.expectation = expectation.clone();
        subject.ask_for_models = input.kind == Kind::InvalidModel;
        let judge = match input.kind {
            Kind::Performance => Judge::standard().with(Performance::again()),
            _ => Judge::thorough(),
        };
        let verdicts = judge.judge(&mut subject, &runs, &mut Asking::new(runner, purpose))?;
        Ok(Rerun { runs, verdicts, expectation })
    }

    /// The misbehaviour of this kind and of the first party, or of nobody in particular. A disagreement of which a smaller
    /// script tells who is wrong is still the same.
    pub fn misbehaviour(&self, kind: Kind) -> Option<&Verdict> {
        let first: Option<PartyId> = self.runs.first().map(Run::party);
        let same = |verdict: &&Verdict| {
            verdict.kind == kind
                && (verdict.accused.is_none() || verdict.accused == first)
                && verdict.is_finding()
        };
        let decided = |verdict: &&Verdict| {
            let wrong = matches!(verdict.kind, Kind::RefutationSoundness | Kind::SolutionSoundness);
            kind == Kind::Disagreement && wrong && verdict.is_finding()
        };
        self.verdicts.iter().find(same).or_else(|| self.verdicts.iter().find(decided))
    }

    /// Is the misbehaviour of this kind the same as in other runs?
    pub fn shows_the_same(&self, other: &Rerun, kind: Kind) -> bool {
        let of = |rerun: &Rerun| {
            let verdict = rerun.misbehaviour(kind)?;
            Some((verdict.kind, verdict.accused, verdict.check))
        };
        of(self).is_some() && of(self) == of(other)
    }

    /// The same with a party's run in the first place.
    #[must_use]
    pub fn beginning_with(mut self, party: Option<PartyId>) -> Rerun {
        self.runs.sort_by_key(|run| Some(run.party()) != party);
        self
    }
}

/// A model in a text, if it satisfies the script.
pub fn checked(store: &mut Store, script: &Script, text: &str) -> Option<Model> {
    let read = read_model(store, script, text.as_bytes(), Release::STANDARD).ok()?;
    let witness = Witness::check(store, script, read.model, Budget::default()).ok()?;
    Some(witness.into_model())
}
