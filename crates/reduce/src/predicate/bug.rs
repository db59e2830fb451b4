//! The same bug: same kind, same solver, same wrong answer or crash, and for the same reasons.

use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::Witness;
use eval::model_text::write_model;
use oracle::subject::ModelValue;
use oracle::{Configuration, Court, Expected, Kind, Rerun, Run, RunError, Subject, Verdict};
use smtlib::{Mark, Mode, Release, Script, Status, Store, print};
use solver::crash::Signature;
use solver::fast::ExecMode;
use solver::launch::{LaunchError, Launcher, LauncherConfig};
use solver::{Outline, RunClass, limits};

use super::{Candidate, Examiner, Judgement, ModelDuty, Predicate, Spent};
use crate::error::ReduceError;

/// What one run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    pub wall: Duration,
    /// In bytes.
    pub memory: u64,
}

/// A bug that must stay.
#[derive(Clone, Debug)]
pub struct Bug {
    kind: Kind,
    /// The accused first, or all who contradict each other.
    parties: Vec<Arc<Configuration>>,
    /// What each party says where they contradict each other.
    sides: Vec<Option<Status>>,
    signature: Option<Signature>,
    /// Others that are asked what is right.
    references: Vec<Arc<Configuration>>,
    /// The input is satisfiable by a model that we have.
    has_witness: bool,
    /// The accused printed the model in question: a script that makes it do so shows the bug by itself.
    prints_models: bool,
    /// The answer is known for the input by other means than solvers' words.
    derived: Option<Expected>,
    limits: Limits,
    /// Fast starts are allowed.
    fast: bool,
}

impl Bug {
    /// The bug that a verdict is about. `runs` are those that were judged; whoever has a part in the verdict is a party.
    pub fn new(verdict: &Verdict, runs: &[Run], limits: Limits) -> Bug {
        let accused = verdict.accused;
        let mut places: Vec<usize> = accused.into_iter().collect();
        if accused.is_none() {
            places.extend(verdict.opponents.iter().copied());
        }
        let check = verdict.check.unwrap_or(0);
        let references = verdict
            .opponents
            .iter()
            .filter(|place| !places.contains(place))
            .map(|place| Arc::clone(&runs[*place].configuration))
            .collect();
        Bug {
            kind: verdict.kind,
            sides: places.iter().map(|place| runs[*place].status(check)).collect(),
            parties: places.iter().map(|place| Arc::clone(&runs[*place].configuration)).collect(),
            signature: verdict.signature.clone(),
            references,
            has_witness: false,
            prints_models: accused.is_some_and(|place| runs[place].model_text(check).is_some()),
            derived: None,
            limits,
            fast: true,
        }
    }

    /// Others to ask what is right, beside those who spoke against the accused.
    #[must_use]
    pub fn with_references(mut self, others: impl IntoIterator<Item = Arc<Configuration>>) -> Bug {
        for other in others {
            let name = other.name();
            let known = self.parties.iter().chain(&self.references).any(|known| known.name() == name);
            if !known {
                self.references.push(other);
            }
        }
        self
    }

    /// The input comes with a model that satisfies it.
    #[must_use]
    pub fn with_witness(mut self) -> Bug {
        self.has_witness = true;
        self
    }

    /// The answer to the input follows from how it was made.
    #[must_use]
    pub fn with_derivation(mut self, expected: Expected) -> Bug {
        self.derived = Some(expected);
        self
    }

    /// Every run in a new process.
    #[must_use]
    pub fn plain(mut self) -> Bug {
        self.fast = false;
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The accused, or the first party.
    pub fn accused(&self) -> &Arc<Configuration> {
        &self.parties[0]
    }

    fn court(&self) -> Court {
        match self.kind {
            Kind::Incremental => Court::thorough(),
            Kind::Performance => Court::standard().with(oracle::performance::Performance::default()),
            _ => Court::standard(),
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
                found.is_some() && found == self.signature
            }
            Kind::Incremental | Kind::UnsoundCore | Kind::WrongValue | Kind::Performance => {
                run.answers.trusted().next().is_some()
            }
        }
    }

    /// Whether another verdict is about this bug.
    fn is(&self, verdict: &Verdict, script: Option<&Script>) -> bool {
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
                    && verdict.accused == Some(0)
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
            bug: self.clone(),
            court: self.court(),
            mark: store.mark(),
            store,
            desk: Desk {
                runner: Launcher::new(LauncherConfig::default())?,
                panel: self.parties.iter().chain(&self.references).cloned().collect(),
                limits: self.limits.clone(),
                wall: self.limits.wall,
                fast: self.fast,
                spent: Spent::default(),
            },
        }))
    }

    fn releases(&self) -> Vec<Release> {
        vec![self.accused().release()]
    }

    fn about_models(&self) -> ModelDuty {
        match (self.kind, self.has_witness, self.references.is_empty()) {
            (Kind::RefutationSoundness, true, true) => ModelDuty::Keep,
            (Kind::RefutationSoundness, true, false) => ModelDuty::KeepOrFind,
            _ => ModelDuty::None,
        }
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
    court: Court,
    store: Store,
    mark: Mark,
    desk: Desk,
}

/// Runs solvers for one examiner.
struct Desk {
    runner: Launcher,
    panel: Vec<Arc<Configuration>>,
    limits: Limits,
    wall: Duration,
    fast: bool,
    spent: Spent,
}

/// Attempts before a launcher that dies is given up.
const ATTEMPTS: usize = 3;

impl Desk {
    fn start(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        fast: bool,
    ) -> Result<Run, RunError> {
        let mut invocation = configuration.solver.invocation(script, &configuration.request)?;
        invocation.limits = limits::Limits {
            wall: self.wall,
            memory: Some(self.limits.memory),
            stdout: 4 << 20,
            stderr: 256 << 10,
            ..limits::Limits::default()
        };
        let quick = configuration.solver.fast_modes().next().filter(|_| fast && self.fast);
        invocation.mode = quick.unwrap_or(ExecMode::Plain);
        let mut attempts = 0;
        let outcome = loop {
            attempts += 1;
            match self.runner.run(&invocation) {
                Ok(outcome) => break outcome,
                Err(LaunchError::LauncherDied) if attempts < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        };
        self.spent.add(Spent { runs: 1, cpu: outcome.cpu_time });
        let answers = configuration.solver.read(&Outline::of(script), &outcome);
        Ok(Run { configuration: Arc::clone(configuration), script: script.into(), outcome, answers })
    }
}

impl Rerun for Desk {
    fn panel(&self) -> &[Arc<Configuration>] {
        &self.panel
    }

    fn run(&mut self, configuration: &Arc<Configuration>, script: &[u8]) -> Result<Run, RunError> {
        self.start(configuration, script, false)
    }
}

impl Examiner for BugExaminer {
    fn examine(&mut self, candidate: &Candidate) -> Result<Judgement, ReduceError> {
        let started = Instant::now();
        self.store.reset(&self.mark);
        let mut judgement = self.judge(candidate)?;
        judgement.wall = started.elapsed();
        Ok(judgement)
    }

    fn calibrate(&mut self, patience: Duration) {
        self.desk.wall = patience.min(self.bug.limits.wall);
    }

    fn spent(&self) -> Spent {
        self.desk.spent
    }
}

impl BugExaminer {
    fn judge(&mut self, candidate: &Candidate) -> Result<Judgement, ReduceError> {
        let fast = !candidate.plain;
        let text = candidate.text.as_bytes();
        let accused = candidate.configuration.unwrap_or_else(|| self.bug.accused());
        let first = self.desk.start(&Arc::clone(accused), text, fast)?;
        let timed_out = first.answers.class == RunClass::Timeout;
        let answered = first.answers.class == RunClass::Answered || first.answers.crash().is_some();
        let no = Judgement { timed_out, answered, ..Judgement::default() };
        if timed_out || !self.bug.shows(&first, 0) {
            return Ok(no);
        }
        if self.bug.kind == Kind::Crash {
            return Ok(Judgement { interesting: true, ..no });
        }
        let parsed = smtlib::parse(&mut self.store, text, Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let own = first.configuration.release();
        let mut runs = vec![first];
        for place in 1..self.bug.parties.len() {
            let party = Arc::clone(&self.bug.parties[place]);
            let run = self.run_as(&party, text, script, own, fast)?;
            if !self.bug.shows(&run, place) {
                return Ok(no);
            }
            runs.push(run);
        }
        let refutation = self.bug.kind == Kind::RefutationSoundness;
        let proven = candidate.satisfied && self.bug.has_witness && refutation;
        let ask = match self.bug.kind {
            Kind::RefutationSoundness => !proven,
            Kind::SolutionSoundness => true,
            _ => false,
        };
        let parties = runs.len();
        if ask {
            for reference in self.bug.references.clone() {
                let run = self.run_as(&reference, text, script, own, fast)?;
                runs.push(run);
            }
        }
        let notes = parsed.as_ref().map(|parsed| parsed.notes.as_slice()).unwrap_or_default();
        let mut subject = Subject::new(&mut self.store, script, notes);
        subject.ask_for_models = self.bug.kind == Kind::InvalidModel && !self.bug.prints_models;
        let mut model = None;
        if refutation && !proven && self.bug.has_witness {
            // The proof that was lost must be replaced by another one, not by votes.
            let found = (parties..runs.len())
                .filter(|place| runs[*place].status(0) == Some(Status::Sat))
                .find_map(|place| {
                    let found = subject.model_check(&runs, place, 0, true, &mut self.desk).ok()??;
                    let release = runs[place].configuration.release();
                    (found.value == ModelValue::True).then(|| (found.text.clone(), release))
                });
            if found.is_none() {
                return Ok(no);
            }
            model = found;
        }
        subject.expected = if proven || model.is_some() {
            let because = "a model satisfies every assertion by our evaluation".to_owned();
            Some(Expected { status: Status::Sat, because })
        } else {
            self.bug.expectation(candidate, &runs[parties..])
        };
        let verdicts = self.court.judge(&mut subject, &runs, &mut self.desk)?;
        let interesting = verdicts.iter().any(|verdict| self.bug.is(verdict, script));
        Ok(Judgement { interesting, model, ..no })
    }

    /// Another solver's run: on the same text, or on the script in its own dialect.
    fn run_as(
        &mut self,
        configuration: &Arc<Configuration>,
        text: &[u8],
        script: Option<&Script>,
        own: Release,
        fast: bool,
    ) -> Result<Run, RunError> {
        let release = configuration.release();
        match script {
            Some(script) if release != own => {
                let printed = print::print(&self.store, script, release);
                self.desk.start(configuration, printed.as_bytes(), fast)
            }
            _ => self.desk.start(configuration, text, fast),
        }
    }
}

impl Bug {
    /// The answer that a candidate must have beyond what solvers vote. What is unsatisfiable by construction stays so
    /// only as long as whole assertions go and a reference refutes the rest: then the rest is a core of the input.
    fn expectation(&self, candidate: &Candidate, references: &[Run]) -> Option<Expected> {
        let derived = self.derived.as_ref()?;
        let refuted = references.iter().any(|run| run.status(0) == Some(Status::Unsat));
        let disputed = references.iter().any(|run| run.status(0) == Some(Status::Sat));
        let kept = match derived.status {
            Status::Unsat => candidate.subset && refuted && !disputed,
            // Fewer assertions have more models.
            Status::Sat => candidate.subset,
            Status::Unknown => false,
        };
        kept.then(|| derived.clone())
    }
}

/// A model that proves a refuted script satisfiable, as text in the standard's words: that of an opponent, confirmed by
/// our evaluator. Nothing for other verdicts, or when no opponent has one.
pub fn proof(
    store: &mut Store,
    script: &Script,
    runs: &[Run],
    verdict: &Verdict,
    rerun: &mut dyn Rerun,
) -> Result<Option<String>, RunError> {
    if verdict.kind != Kind::RefutationSoundness {
        return Ok(None);
    }
    let check = verdict.check.unwrap_or(0);
    let mut found = None;
    {
        let mut subject = Subject::new(store, Some(script), &[]);
        for place in &verdict.opponents {
            let model = subject.model_check(runs, *place, check, true, rerun)?;
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
