//! The same bug: same kind, same solver, same wrong answer or crash, and for the same reasons.

use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::model_text::write_model;
use eval::{Expectation, Witness};
use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Kind, Subject, Verdict};
use smtlib::{Mark, Mode, Release, Script, Status, Store, print};
use solver::RunClass;
use solver::crash::CrashSignature;
use solver::run::{Accounts, Configuration, PartyId, Purpose, Run, RunError, Runner, Runners};

use super::models::{false_assertion, other_models, right_model};
use super::{Candidate, Examination, Examiner, ModelDuty, Predicate};
use crate::error::ReduceError;

/// A bug that must stay.
#[derive(Clone)]
pub struct Bug {
    kind: Kind,
    /// The accused first, or all who contradict each other.
    parties: Vec<Arc<Configuration>>,
    /// What each party says where they contradict each other.
    sides: Vec<Option<Status>>,
    signature: Option<CrashSignature>,
    /// Others that are asked what is right.
    references: Vec<Arc<Configuration>>,
    /// The accused printed the model in question: a script that makes it do so shows the bug by itself.
    prints_models: bool,
    /// What is known about the answer to the input by other means than solvers' words.
    expectation: Expectation,
    /// One for each examiner.
    runners: Arc<dyn Runners>,
}

impl Bug {
    /// The bug that a verdict is about. `runs` are those that were judged; whoever has a part in the verdict is a party.
    pub fn new(verdict: &Verdict, runs: &[Run], runners: Arc<dyn Runners>) -> Bug {
        let of = |parties: &[PartyId]| -> Vec<&Run> {
            parties.iter().filter_map(|party| Run::of(runs, *party)).collect()
        };
        let opponents = of(&verdict.opponents);
        let (parties, references) = match &verdict.accused {
            Some(accused) => (of(&[*accused]), opponents),
            None => (opponents, Vec::new()),
        };
        let check = verdict.check.unwrap_or(0);
        let configuration = |run: &&Run| Arc::clone(&run.configuration);
        Bug {
            kind: verdict.kind,
            sides: parties.iter().map(|run| run.status(check)).collect(),
            prints_models: verdict.accused.is_some()
                && parties.iter().any(|accused| accused.model_text(check).is_some()),
            parties: parties.iter().map(configuration).collect(),
            signature: verdict.signature.clone(),
            references: references.iter().map(configuration).collect(),
            expectation: Expectation::Agree,
            runners,
        }
    }

    /// Others to ask what is right, beside those who spoke against the accused. One that has a party's number but other
    /// options gets a number of its own.
    #[must_use]
    pub fn with_references(mut self, others: impl IntoIterator<Item = Arc<Configuration>>) -> Bug {
        for mut other in others {
            let name = other.name();
            let known = || self.parties.iter().chain(&self.references);
            if known().any(|known| known.name() == name) {
                continue;
            }
            if known().any(|known| known.id == other.id) {
                let free = known().map(|known| known.id.0 + 1).max().unwrap_or(0);
                Arc::make_mut(&mut other).id = PartyId(free);
            }
            self.references.push(other);
        }
        self
    }

    /// What is known about the answer to the input: a model that travels along satisfies it, or the answer follows from
    /// how it was made.
    #[must_use]
    pub fn with_expectation(mut self, expectation: Expectation) -> Bug {
        self.expectation = expectation;
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The accused, or the first party.
    pub fn accused(&self) -> &Arc<Configuration> {
        &self.parties[0]
    }

    fn has_witness(&self) -> bool {
        self.expectation == Expectation::Witness
    }

    fn judge(&self) -> Judge {
        match self.kind {
            Kind::Incremental => Judge::thorough(),
            Kind::Performance => Judge::standard().with(oracle::performance::Performance::again()),
            Kind::InvalidModel => Judge::with_own_checks(),
            _ => Judge::standard(),
        }
    }

    /// Whether a run shows the symptom, so that a judgement is worth its cost.
    fn shows(&self, run: &Run, party: usize) -> bool {
        let says = |status| run.answers.trusted().any(|answer| run.status(answer.check) == Some(status));
        match self.kind {
            Kind::RefutationSoundness => says(Status::Unsat),
            Kind::SolutionSoundness => says(Status::Sat),
            Kind::InvalidModel => says(Status::Sat) || !run.answers.failed_checks.is_empty(),
            Kind::Disagreement => self.sides[party].is_none_or(says),
            Kind::Crash => {
                let found = run.answers.crash().map(|crash| crash.signature());
                found.zip(self.signature.as_ref()).is_some_and(|(found, known)| found.agrees_with(known))
            }
            Kind::Incremental | Kind::UnsoundCore | Kind::WrongValue => {
                run.answers.trusted().next().is_some()
            }
            Kind::Performance => {
                run.answers.class == RunClass::Timeout || run.answers.trusted().next().is_some()
            }
        }
    }

    /// Whether a verdict on a candidate is about this bug; `accused` is in the place of the accused.
    fn is(&self, verdict: &Verdict, accused: PartyId, script: Option<&Script>) -> bool {
        let about = verdict.is_finding() && verdict.signature == self.signature;
        match self.kind {
            // A judgement that now names the guilty one is the same disagreement, decided.
            Kind::Disagreement => {
                about
                    && matches!(
                        verdict.kind,
                        Kind::Disagreement | Kind::RefutationSoundness | Kind::SolutionSoundness
                    )
            }
            // A script without a check has nothing to answer.
            _ => {
                about
                    && verdict.kind == self.kind
                    && verdict.accused == Some(accused)
                    && (self.kind == Kind::Crash
                        || script
                            .is_none_or(|script| script.commands.iter().any(|command| command.is_check())))
            }
        }
    }
}

impl Predicate for Bug {
    fn examiner(&self) -> Result<Box<dyn Examiner>, ReduceError> {
        let store = Store::new();
        Ok(Box::new(BugExaminer {
            judge: self.judge(),
            mark: store.mark(),
            store,
            runner: self.runners.unwatched()?,
            configurations: self.parties.iter().chain(&self.references).cloned().collect(),
            wall: None,
            bug: self.clone(),
        }))
    }

    fn releases(&self) -> Vec<Release> {
        vec![self.accused().release()]
    }

    fn about_models(&self) -> ModelDuty {
        match (self.kind, self.has_witness(), self.references.is_empty()) {
            (Kind::RefutationSoundness, true, true) => ModelDuty::Keep,
            (Kind::RefutationSoundness, true, false) => ModelDuty::KeepOrFind,
            _ => ModelDuty::None,
        }
    }

    fn is_about_own_models(&self) -> bool {
        self.kind == Kind::InvalidModel
    }

    fn configuration(&self) -> Option<Arc<Configuration>> {
        Some(Arc::clone(self.accused()))
    }

    fn missing(&self) -> String {
        let who = self.accused().name();
        match &self.signature {
            Some(signature) => format!("{who} does not crash on it as it did ({signature})"),
            None => format!("no {} of {who} shows on it", self.kind),
        }
    }
}

struct BugExaminer {
    bug: Bug,
    judge: Judge,
    store: Store,
    mark: Mark,
    runner: Box<dyn Runner>,
    /// Parties and references.
    configurations: Vec<Arc<Configuration>>,
    /// Time on the clock for each run, where it is less than the runner's own limit.
    wall: Option<Duration>,
}

impl Examiner for BugExaminer {
    fn examine(&mut self, candidate: &Candidate) -> Result<Examination, ReduceError> {
        let started = Instant::now();
        self.store.reset(&self.mark);
        let (mut examination, others) = self.judge(candidate)?;
        for text in &others {
            let (other, _) = self.judge(&Candidate { text, ..*candidate })?;
            if other.interesting {
                examination.interesting = true;
                break;
            }
        }
        examination.wall = started.elapsed();
        Ok(examination)
    }

    fn calibrate(&mut self, patience: Duration) {
        self.wall = Some(patience);
    }

    fn take_accounts(&mut self) -> Accounts {
        self.runner.take_accounts()
    }

    fn take_launcher_cpu(&mut self) -> Duration {
        self.runner.take_launcher_cpu()
    }
}

impl BugExaminer {
    /// Does a candidate show the bug? With the scripts that ask for other models, where another release has got one right:
    /// that may be chance.
    fn judge(&mut self, candidate: &Candidate) -> Result<(Examination, Vec<String>), ReduceError> {
        let bug = &self.bug;
        let purpose = if candidate.plain { Purpose::Confirmation } else { Purpose::Reduction };
        let text = candidate.text.as_bytes();
        let accused = candidate.configuration.unwrap_or_else(|| bug.accused());
        // Where another release stands for the accused, the accused is no witness: it has the bug.
        let replaced = accused.solver.name() != bug.accused().solver.name();
        let others: Vec<Arc<Configuration>> = self
            .configurations
            .iter()
            .filter(|other| !replaced || other.solver.name() != bug.accused().solver.name())
            .cloned()
            .collect();
        let mut asking = Asking::new(&mut *self.runner, purpose).among(&others).within(self.wall);
        let mut first = asking.run(accused, text)?;
        let timed_out = first.answers.class == RunClass::Timeout;
        // A crash of another kind or at another place may be the same bug in another build.
        let crashed = first.answers.crash().is_some();
        let answered = match bug.kind {
            Kind::Crash => first.answers.class == RunClass::Answered && !crashed,
            _ => first.answers.class == RunClass::Answered || crashed,
        };
        let no = Examination { timed_out, answered, ..Examination::default() };
        // It misbehaves as the bug does, and nothing proves it: that is not the absence of the bug.
        let open = Examination { timed_out, ..Examination::default() };
        if timed_out || !bug.shows(&first, 0) {
            return Ok((no, Vec::new()));
        }
        if bug.kind == Kind::Crash {
            // Only what crashes as the bug does costs the run that tells whether it does so in the same place.
            if bug.signature.as_ref().is_some_and(CrashSignature::names_a_place) {
                asking.locate(&mut first)?;
            }
            let interesting = bug.shows(&first, 0);
            return Ok((Examination { interesting, answered: interesting, ..no }, Vec::new()));
        }
        let parsed = smtlib::parse(&mut self.store, text, Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let texts = CandidateTexts { text, script, own: first.configuration.release() };
        let mut runs = vec![first];
        for (place, party) in bug.parties.iter().enumerate().skip(1) {
            let run = texts.run(&self.store, party, &mut asking)?;
            if !bug.shows(&run, place) {
                return Ok((open, Vec::new()));
            }
            runs.push(run);
        }
        let refutation = bug.kind == Kind::RefutationSoundness;
        let proven = candidate.satisfied && bug.has_witness() && refutation;
        let ask = match bug.kind {
            Kind::RefutationSoundness => !proven,
            Kind::SolutionSoundness => true,
            _ => false,
        };
        let parties = runs.len();
        if ask {
            for reference in &bug.references {
                runs.push(texts.run(&self.store, reference, &mut asking)?);
            }
        }
        let notes = parsed.as_ref().map(|parsed| parsed.notes.as_slice()).unwrap_or_default();
        let mut subject = Subject::new(&mut self.store, script, notes);
        subject.ask_for_models = bug.kind == Kind::InvalidModel && !bug.prints_models;
        let mut model = None;
        if refutation && !proven && bug.has_witness() {
            // The proof that was lost must be replaced by another one, not by votes.
            let others = runs[parties..].iter().filter(|run| run.status(0) == Some(Status::Sat));
            let found = others.into_iter().find_map(|run| {
                let found = subject.model_check(run, 0, true, &mut asking).ok()??;
                let release = run.configuration.release();
                (found.value == ModelValue::True).then(|| (found.text.clone(), release))
            });
            if found.is_none() {
                return Ok((open, Vec::new()));
            }
            model = found;
        }
        subject.expectation = if proven || model.is_some() {
            Expectation::Witness
        } else {
            bug.expectation_of(candidate, &runs[parties..])
        };
        let verdicts = self.judge.judge(&mut subject, &runs, &mut asking)?;
        let accused = runs[0].party();
        let interesting = verdicts.iter().any(|verdict| bug.is(verdict, accused, script));
        // Models that are right are an answer; one that nobody can tell is none, and neither is a wrong answer that
        // nothing refutes.
        let right = match bug.kind {
            Kind::InvalidModel if !interesting => right_model(&mut subject, &runs[0], &mut asking)?,
            _ => None,
        };
        let false_assertion = match (bug.kind, script) {
            (Kind::InvalidModel, Some(script)) if interesting => {
                false_assertion(&mut subject, script, &runs[0], &mut asking)?
            }
            _ => None,
        };
        let answered = interesting || right.is_some();
        if let Some(right) = &right {
            model = Some((right.text.clone(), runs[0].configuration.release()));
        }
        let others = match (right, script) {
            (Some(right), Some(script)) if candidate.other_models => {
                other_models(&mut self.store, script, &right.model)
                    .iter()
                    .map(|script| print::print(&self.store, script, runs[0].configuration.release()))
                    .collect()
            }
            _ => Vec::new(),
        };
        Ok((Examination { interesting, model, false_assertion, answered, ..no }, others))
    }
}

/// A candidate in the words of each solver.
struct CandidateTexts<'a> {
    text: &'a [u8],
    script: Option<&'a Script>,
    /// The dialect the text is written in.
    own: Release,
}

impl CandidateTexts<'_> {
    /// Another solver's run: on the same text, or on the script in its own dialect.
    fn run(
        &self,
        store: &Store,
        configuration: &Arc<Configuration>,
        asking: &mut Asking,
    ) -> Result<Run, RunError> {
        let release = configuration.release();
        match self.script {
            Some(script) if release != self.own => {
                let printed = print::print(store, script, release);
                asking.run(configuration, printed.as_bytes())
            }
            _ => asking.run(configuration, self.text),
        }
    }
}

impl Bug {
    /// The answer that a candidate must have beyond what solvers vote. What is unsatisfiable by construction stays so
    /// only as long as whole assertions go and a reference refutes the rest: then the rest is a core of the input.
    fn expectation_of(&self, candidate: &Candidate, references: &[Run]) -> Expectation {
        let refuted = references.iter().any(|run| run.status(0) == Some(Status::Unsat));
        let disputed = references.iter().any(|run| run.status(0) == Some(Status::Sat));
        let kept = match self.expectation.answer() {
            // A model that does not satisfy the candidate says nothing about it.
            _ if self.has_witness() => false,
            Some(Status::Unsat) => candidate.subset && refuted && !disputed,
            // Fewer assertions have more models.
            Some(Status::Sat) => candidate.subset,
            Some(Status::Unknown) | None => false,
        };
        if kept { self.expectation.clone() } else { Expectation::Agree }
    }
}

/// A model that proves a refuted script satisfiable, as text in the standard's words: that of an opponent, confirmed by
/// our evaluator. Nothing for other verdicts, or when no opponent has one.
pub fn proof(
    store: &mut Store,
    script: &Script,
    runs: &[Run],
    verdict: &Verdict,
    asking: &mut Asking,
) -> Result<Option<String>, RunError> {
    if verdict.kind != Kind::RefutationSoundness {
        return Ok(None);
    }
    let check = verdict.check.unwrap_or(0);
    let mut found = None;
    {
        let mut subject = Subject::new(store, Some(script), &[]);
        for opponent in verdict.opponents.iter().filter_map(|party| Run::of(runs, *party)) {
            let model = subject.model_check(opponent, check, true, asking)?;
            if let Some(model) = model.filter(|model| model.value == ModelValue::True) {
                found = Some(model);
                break;
            }
        }
    }
    let Some(found) = found else { return Ok(None) };
    // One model for all checks of the script.
    let witness = Witness::check(store, script, found.model.clone(), eval::Budget::default());
    Ok(witness.ok().and_then(|witness| write_model(store, script, witness.model()).ok()))
}
