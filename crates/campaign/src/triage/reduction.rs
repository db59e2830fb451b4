//! A finding made small: its script and options reduced while the bug stays, and everything the finding says about them
//! said anew.

use std::path::Path;
use std::sync::Arc;

use eval::{Expectation, to_term};
use oracle::frame::frames;
use oracle::text::with_models;
use oracle::{Asking, Kind, Verdict};
use reduce::blame::{BlameBudget, blame};
use reduce::driver::Best;
use reduce::predicate::{Bug, proof};
use reduce::{Effort, Input, ReduceError, Reduced, Watcher};
use smtlib::{Command, Mode, Release, Script, Store, print};
use solver::run::{
    Accounts, Configuration, PartyId, Purpose, Run, RunError, RunRules, Runner, Runners, SolverRunners,
};
use solver::{RunRequest, Solver};

use super::examined::{Examined, Marks};
use super::reached::CodeTracer;
use super::releases::{self, Extent};
use super::rerun::{Rerun, RerunInput, checked};
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::findings::{self, Finding, Shrunk, Signature, Small, Stage, needed_steering};
use crate::input::{self, InputError};

/// How a finding is reduced.
#[derive(Clone)]
pub struct ReductionRules {
    pub effort: Effort,
    /// Ask installed releases which of them have the bug.
    pub releases: Option<Extent>,
    /// Find out which constructs the bug needs, within this budget.
    pub blame: Option<BlameBudget>,
    /// Who tells what of the accused only the bug reaches.
    pub tracer: Option<Arc<CodeTracer>>,
    /// What is known from other findings.
    pub examined: Arc<Examined>,
}

impl ReductionRules {
    /// What tells the bug from others, and what it has cost to find that out.
    fn marks(
        &self,
        bug: &Bug,
        kind: Kind,
        best: &Best,
        observer: &dyn Watcher,
    ) -> Result<(Marks, Accounts), ReduceError> {
        let accused = best.configuration.as_ref().unwrap_or_else(|| bug.accused());
        if let Some(known) = self.examined.get(kind, accused, &best.text) {
            return Ok((known, Accounts::default()));
        }
        let mut marks = Marks::default();
        let mut accounts = Accounts::default();
        if let Some(extent) = self.releases {
            let (releases, cost) = releases::compare(bug, best, kind, extent, observer)?;
            marks.releases = releases;
            accounts += cost;
        }
        if let Some(budget) = &self.blame {
            if let Some(known) = self.examined.blame(kind, accused, &best.text) {
                marks.blame = known;
            } else {
                let ablation = blame(bug, best, budget, observer)?;
                marks.blame = ablation.blame;
                accounts += ablation.accounts;
                if let Some(tracer) = self.tracer.as_ref().filter(|_| kind != Kind::Crash) {
                    // A crash has a stack. Who cannot be traced is not: the finding is what it is.
                    if let Ok((reached, cost)) = tracer.only_reached(accused, &best.text, &ablation.without) {
                        marks.blame.reached = reached;
                        accounts += cost;
                    }
                }
            }
        }
        // What was cut short is to be done properly the next time.
        if !observer.stop() {
            self.examined.remember(kind, accused, &best.text, &marks);
        }
        Ok((marks, accounts))
    }
}

/// A reduced finding.
#[derive(Clone, Debug)]
pub struct ReducedFinding {
    pub finding: Finding,
    pub reduced: Reduced,
    pub small: Small,
}

impl ReducedFinding {
    /// With what it has cost to come here by another finding, and where that began.
    fn beside(mut self, earlier: &ReducedFinding) -> ReducedFinding {
        self.reduced.accounts += earlier.reduced.accounts;
        self.reduced.launcher_cpu += earlier.reduced.launcher_cpu;
        self.reduced.candidates += earlier.reduced.candidates;
        self.reduced.elapsed += earlier.reduced.elapsed;
        self.reduced.before = earlier.reduced.before;
        if let (Stage::Reduced(own), Stage::Reduced(its)) = (&mut self.finding.stage, &earlier.finding.stage)
        {
            own.before = its.before;
            own.candidates += its.candidates;
            own.seconds += its.seconds;
        }
        self
    }
}

/// What came of trying to reduce a finding.
pub(super) enum ReductionAttempt {
    Reduced(Box<ReducedFinding>),
    /// It cannot be made smaller: it does not repeat, or not in time.
    Irreducible,
    /// Its solvers could not be run, which says nothing about it.
    NotMade,
}

impl ReductionAttempt {
    pub(super) fn of(result: Result<ReducedFinding, CampaignError>) -> ReductionAttempt {
        match result {
            Ok(reduced) => ReductionAttempt::Reduced(Box::new(reduced)),
            Err(CampaignError::Reduce(
                ReduceError::NotInteresting(_)
                | ReduceError::Flaky { .. }
                | ReduceError::AlwaysTrue
                | ReduceError::TooSlow(_),
            )) => ReductionAttempt::Irreducible,
            Err(_) => ReductionAttempt::NotMade,
        }
    }
}

impl Reproduction {
    /// A finding from its folder. `solvers` stand in the order of its runs.
    pub fn read(folder: &Path, finding: Finding, solvers: &[Solver]) -> Result<Reproduction, CampaignError> {
        let refused = |error: InputError| CampaignError::NotAFinding {
            path: folder.to_owned(),
            reason: error.to_string(),
        };
        let read = |name: &str| input::read_text(&folder.join(name), input::LARGEST_FILE).map_err(refused);
        // What was reduced before can be reduced further; its options are those of the runs on record.
        let input = read(finding.script_name())?;
        let witness = read(finding.witness_name()).ok();
        let configurations = configurations(&finding, solvers);
        Ok(Reproduction { finding, input, witness, configurations, ancestors: Vec::new() })
    }

    /// Makes it small. `runner` makes the runs beside those of candidates, and accounts for them.
    pub fn reduce(
        &self,
        runner: &mut dyn Runner,
        runners: &Arc<dyn Runners>,
        rules: &ReductionRules,
        observer: &dyn Watcher,
    ) -> Result<ReducedFinding, CampaignError> {
        let failed = |error| CampaignError::of_run(&self.finding.solver, error);
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, self.input.as_bytes(), Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let rerun = self.rerun_input(&self.input, script, self.witness.as_deref());
        let judged = Rerun::make(&mut store, rerun, &self.configurations, runner, Purpose::Confirmation);
        let judged = judged.map_err(failed)?;
        let Some(verdict) = judged.misbehaviour(self.finding.kind) else {
            let why = format!("the {} does not show on the input any more", self.finding.kind);
            return Err(ReduceError::NotInteresting(why).into());
        };
        if let Some(printing) = self.printing_its_model(verdict, &judged.runs, runner) {
            return printing.reduce(runner, runners, rules, observer);
        }
        let mut bug = Bug::new(verdict, &judged.runs, Arc::clone(runners))
            .with_references(self.configurations.iter().cloned());
        let proven = judged.expectation == Expectation::Witness;
        if judged.expectation.answer().is_some() {
            bug = bug.with_expectation(judged.expectation.clone());
        }
        let witness = self.witness.as_deref().filter(|_| proven);
        let input = Input { text: self.input.as_bytes(), witness: witness.map(str::as_bytes) };
        let reduced = reduce::reduce(input, &bug, &rules.effort, observer)?;
        let small = self.described(&bug, reduced, rules, runner, observer)?;
        let Some(graver) = self.graver(&small, runner) else { return Ok(small) };
        Ok(match graver.reduce(runner, runners, rules, observer) {
            Ok(graver) => graver.beside(&small),
            // The model is wrong, whatever became of the rest.
            Err(_) => small,
        })
    }

    /// The same on a script that makes the accused print the wrong model, if its own does not and the bug stays: without a
    /// model nobody can see by the output that it is wrong.
    fn printing_its_model(
        &self,
        verdict: &Verdict,
        runs: &[Run],
        runner: &mut dyn Runner,
    ) -> Option<Reproduction> {
        let check = verdict.check.filter(|_| self.finding.kind == Kind::InvalidModel)?;
        let accused = runs.first().filter(|run| run.model_text(check).is_none())?;
        let text = with_models(self.input.as_bytes(), |number| number == check);
        let input = String::from_utf8(text).ok()?;
        let mut configurations = self.configurations.clone();
        *configurations.first_mut()? = Arc::new(accused.configuration.for_models());
        let printing = Reproduction { input, configurations, ..self.clone() };
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, printing.input.as_bytes(), Mode::Tolerant).ok()?;
        let rerun = printing.rerun_input(&printing.input, Some(&parsed.script), None);
        let again =
            Rerun::make(&mut store, rerun, &printing.configurations, runner, Purpose::Confirmation).ok()?;
        let same = again.misbehaviour(Kind::InvalidModel).is_some_and(|again| again.check == Some(check));
        let printed = again.runs.first().is_some_and(|run| run.model_text(check).is_some());
        (same && printed).then_some(printing)
    }

    /// The finding on a text: its input, or a part of it.
    pub fn rerun_input<'q>(
        &'q self,
        text: &'q str,
        script: Option<&'q Script>,
        witness: Option<&'q str>,
    ) -> RerunInput<'q> {
        // How the input was made says nothing about a part of it.
        let expectation = match self.finding.is_reduced() {
            true => &Expectation::Agree,
            false => &self.finding.expectation,
        };
        RerunInput { text, script, witness, expectation, kind: self.finding.kind }
    }

    /// The finding with everything said about the smaller script.
    fn described(
        &self,
        bug: &Bug,
        reduced: Reduced,
        rules: &ReductionRules,
        runner: &mut dyn Runner,
        observer: &dyn Watcher,
    ) -> Result<ReducedFinding, CampaignError> {
        let failed = |error: RunError| CampaignError::of_run(&self.finding.solver, error);
        let mut store = Store::new();
        let best = &reduced.best;
        let parsed = smtlib::parse(&mut store, best.text.as_bytes(), Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let mut parties: Vec<Arc<Configuration>> = self.configurations.clone();
        if let (Some(accused), Some(first)) = (&best.configuration, parties.first_mut()) {
            *first = Arc::clone(accused);
        }
        let mut rerun = self.rerun_input(&best.text, script, best.witness.as_deref());
        rerun.expectation = &Expectation::Agree;
        let judged =
            Rerun::make(&mut store, rerun, &parties, runner, Purpose::Confirmation).map_err(failed)?;
        let judged = match without_options(&parties) {
            Some(plain) => Rerun::make(&mut store, rerun, &plain, runner, Purpose::Confirmation)
                .ok()
                .filter(|plain| plain.shows_the_same(&judged, self.finding.kind))
                .unwrap_or(judged),
            None => judged,
        };
        // A smaller script may tell who is wrong where its input did not: then it is that one's bug.
        let decided = judged.misbehaviour(self.finding.kind).map(|verdict| (verdict.kind, verdict.accused));
        let (kind, accused) = decided
            .filter(|(_, accused)| reads_the_text(*accused, &judged.runs))
            .unwrap_or((self.finding.kind, None));
        let judged = if accused.is_some() { judged.beginning_with(accused) } else { judged };
        let verdict = judged.misbehaviour(kind);
        // What stood in the way of a proof may be gone.
        let mut witness = best.witness.clone();
        if let (Some(script), Some(verdict), None) = (script, verdict, &witness) {
            let asking = &mut Asking::new(runner, Purpose::Confirmation);
            witness = proof(&mut store, script, &judged.runs, verdict, asking).map_err(failed)?;
        }
        let mut finding = self.finding.clone();
        // One that has been told apart already keeps its name.
        if finding.is_pending()
            && let Some(run) = accused.and_then(|accused| Run::of(&judged.runs, accused))
        {
            finding.kind = kind;
            finding.solver = run.configuration.solver.name();
            finding.title.clone_from(&run.configuration.solver.adapter.title);
        }
        finding.stage = Stage::Reduced(Shrunk {
            before: reduced.before,
            after: best.size,
            candidates: reduced.candidates,
            seconds: reduced.elapsed.as_secs_f64(),
            finished: reduced.finished,
        });
        if let Some(verdict) = verdict {
            let file = witness.is_some().then_some("reduced-witness.smt2");
            finding.describe(verdict, &judged.runs, file);
        } else {
            finding.runs = judged.runs.iter().map(|run| record(&finding, run)).collect();
        }
        let mut accounts = reduced.accounts;
        let (marks, cost) = match reduced.finished {
            true => rules.marks(bug, finding.kind, best, &Patient(observer))?,
            false => rules.marks(bug, finding.kind, best, observer)?,
        };
        (finding.releases, finding.blame) = (marks.releases, marks.blame);
        accounts += cost.all_for(Purpose::Blame);
        if let Some(verdict) = verdict {
            finding.operators = match script {
                Some(script) => findings::operators(&store, script),
                None => findings::operators_in(&best.text),
            };
            // A finding that has been told apart already keeps its name.
            if self.finding.is_pending() {
                finding.signature = Signature::of_script(
                    verdict,
                    &finding.solver,
                    &judged.runs,
                    &finding.operators,
                    finding.releases.as_ref(),
                )
                .steered(needed_steering(&best.text, finding.kind, &finding.blame));
            }
        }
        let ground = match (script, witness.as_deref()) {
            (Some(script), Some(witness)) => {
                let release = parties.first().map_or(Release::STANDARD, |party| party.release());
                ground(&mut store, script, witness, release)
            }
            _ => None,
        };
        let small = Small { script: best.text.clone(), witness, ground };
        let reduced = Reduced { accounts, ..reduced };
        Ok(ReducedFinding { finding, reduced, small })
    }
}

/// The same parties, those beside the accused without the options that the test case had for them: what they say with the
/// default is better evidence. Nothing if they have none.
fn without_options(parties: &[Arc<Configuration>]) -> Option<Vec<Arc<Configuration>>> {
    let mut plain = parties.to_vec();
    for party in plain.iter_mut().skip(1).filter(|party| !party.request.settings.is_empty()) {
        Arc::make_mut(party).request.settings.clear();
    }
    let changed = plain.iter().zip(parties).any(|(one, other)| !Arc::ptr_eq(one, other));
    // Two of them may have differed in nothing else.
    let mut names: Vec<String> = Vec::new();
    plain.retain(|party| {
        let new = !names.contains(&party.name());
        names.push(party.name());
        new
    });
    changed.then_some(plain)
}

/// Whoever watches, while a finding that is small already is told apart.
struct Patient<'w>(&'w dyn Watcher);

impl Watcher for Patient<'_> {
    fn stop(&self) -> bool {
        self.0.stop_now()
    }
}

/// Does a party read the dialect of the first one, in which the text is written?
fn reads_the_text(party: Option<PartyId>, runs: &[Run]) -> bool {
    let family = |run: &Run| run.configuration.release().family;
    let of_party = party.and_then(|party| Run::of(runs, party)).map(family);
    of_party.is_some() && of_party == runs.first().map(family)
}

fn record(finding: &Finding, run: &Run) -> findings::RunRecord {
    findings::RunRecord::of(run, finding.script_name())
}

/// The configurations of a finding's runs, with these solvers in their order.
pub fn configurations(finding: &Finding, solvers: &[Solver]) -> Vec<Arc<Configuration>> {
    let configuration = |(solver, past): (&Solver, &findings::RunRecord)| {
        let request = RunRequest {
            models: past.models,
            broad: past.broad,
            settings: past.settings.clone(),
            ..RunRequest::default()
        };
        Arc::new(Configuration { id: past.party, solver: solver.clone(), request })
    };
    solvers.iter().zip(&finding.runs).map(configuration).collect()
}

/// The script with the witness put in, in the dialect of the accused, so that it can be asked itself whether it holds: values of
/// constants as assertions, functions as definitions.
fn ground(store: &mut Store, script: &Script, witness: &str, release: Release) -> Option<String> {
    let model = checked(store, script, witness)?;
    let constants: Vec<_> = script.declared_funs().collect();
    let mut values = Vec::new();
    for fun in &constants {
        let sort = store.fun(*fun).result;
        let value = model.value(*fun).cloned();
        let term = value
            .filter(|_| store.fun(*fun).params.is_empty())
            .and_then(|value| to_term(store, sort, &value));
        let Some(term) = term else {
            // Functions, and values without a notation of their own.
            let frame = frames(store, script).into_iter().next()?;
            return Some(oracle::ground::ground(store, &frame, &model, &[], release).text);
        };
        let constant = store.call(*fun, &[]).ok()?;
        values.push(Command::Assert(store.op(smtlib::Op::Equal, &[constant, term]).ok()?));
    }
    let mut ground = script.clone();
    let place = ground.commands.iter().position(Command::is_check)?;
    ground.commands.splice(place..place, values);
    // Whoever is asked: the tactic is not part of what the witness proves.
    for command in &mut ground.commands {
        if matches!(command, Command::CheckSatUsing(_)) {
            *command = Command::CheckSat;
        }
    }
    Some(print::print(store, &ground, release))
}

/// Reduces a stored finding and rewrites its folder: the new files, then `finding.json`.
pub fn reduce_folder(
    folder: &Path,
    finding: Finding,
    solvers: &[Solver],
    runs: RunRules,
    rules: &ReductionRules,
    observer: &dyn Watcher,
) -> Result<ReducedFinding, CampaignError> {
    let reproduction = Reproduction::read(folder, finding, solvers)?;
    let runners: Arc<dyn Runners> = Arc::new(SolverRunners::new(reproduction.configurations.clone(), runs));
    let mut runner = runners.runner().map_err(|error| CampaignError::of_run("a solver", error))?;
    let done = reproduction.reduce(&mut *runner, &runners, rules, observer)?;
    for note in runner.take_notes() {
        observer.note(&note);
    }
    done.finding.write_reduced(folder, &done.small)?;
    Ok(done)
}
