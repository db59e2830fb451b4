//! A finding once more: its runs made again and judged, or its test case made again from its provenance.

use std::path::Path;

use engines::Engine;
use oracle::{Kind, Verdict};
use smtlib::{Mode, Release, Status, Store, print};
use solver::Solver;
use solver::run::{Purpose, Runner};

use crate::config::Identity;
use crate::driver::{AnswerCache, Driver, FairOptions, Plan, PlannedSeed, Questions, runnable};
use crate::error::CampaignError;
use crate::findings::{Finding, Origin, RecheckOutcome, RunRecord};
use crate::seeds::SeedText;
use crate::target::Target;
use crate::triage::{Reproduction, Rerun};

/// What came of replaying a finding.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Replayed {
    /// The same misbehaviour showed.
    pub fails: bool,
    /// What was seen, in words.
    pub verdicts: Vec<Verdict>,
    pub runs: Vec<RunRecord>,
}

/// Runs a stored finding again. `solvers` stand in the order of the finding's runs.
pub fn replay(
    finding: &Finding,
    folder: &Path,
    solvers: &[Solver],
    runner: &mut dyn Runner,
) -> Result<Replayed, CampaignError> {
    let reproduction = Reproduction::read(folder, finding.clone(), solvers)?;
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, reproduction.input.as_bytes(), Mode::Tolerant).ok();
    let script = parsed.as_ref().map(|parsed| &parsed.script);
    let parties = &reproduction.configurations;
    // Another release in the place of the accused may read another dialect.
    let other = parties
        .first()
        .filter(|party| finding.runs.first().is_some_and(|run| run.solver != party.solver.name()));
    let text = match (script, other) {
        (Some(script), Some(party)) => print::print(&store, script, party.release()),
        _ => reproduction.input.clone(),
    };
    let rerun = reproduction.rerun_input(&text, script, reproduction.witness.as_deref());
    let again = Rerun::make(&mut store, rerun, parties, runner, Purpose::Confirmation)
        .map_err(|error| CampaignError::of_run(&finding.solver, error))?;
    Ok(Replayed {
        fails: again.misbehaviour(finding.kind).is_some(),
        runs: again.runs.iter().map(|run| RunRecord::of(run, finding.script_name())).collect(),
        verdicts: again.verdicts,
    })
}

impl Replayed {
    /// What it tells about the bug, if the first run was another release's.
    pub fn outcome(&self, finding: &Finding) -> RecheckOutcome {
        let Some(run) = self.runs.first() else { return RecheckOutcome::Unknown };
        if self.fails {
            return RecheckOutcome::StillThere;
        }
        let accuses =
            |verdict: &Verdict| verdict.is_finding() && verdict.accused.is_none_or(|one| one == run.party);
        if self.verdicts.iter().any(accuses) {
            return RecheckOutcome::Changed;
        }
        let said = run.answers.get(finding.check.unwrap_or(0)).map(String::as_str);
        let right = finding.answer.map(|answer| if answer == Status::Sat { "sat" } else { "unsat" });
        match (finding.kind, run.class.as_str(), said) {
            // Whether it can decide the script is not what a crash is about.
            (Kind::Crash, "answered", Some(_)) => RecheckOutcome::Fixed,
            (_, "answered", Some("unknown") | None) => RecheckOutcome::Unknown,
            (Kind::InvalidModel, "answered", Some(said)) if said != "sat" => RecheckOutcome::Changed,
            (_, "answered", Some(said)) if right.is_some_and(|right| said != right) => {
                RecheckOutcome::Changed
            }
            (_, "answered", Some(_)) => RecheckOutcome::Fixed,
            // Giving up or refusing says nothing about the bug.
            _ => RecheckOutcome::Unknown,
        }
    }
}

/// Makes a finding's test case again: its text in the standard dialect, as it was before it was made smaller.
pub fn regenerate(
    origin: &Origin,
    identity: &Identity,
    targets: &[Target],
    engine: &dyn Engine,
    runner: &mut dyn Runner,
    mut seed: impl FnMut(&str) -> Result<Option<SeedText>, CampaignError>,
) -> Result<String, CampaignError> {
    let lost = |what: String| CampaignError::Internal(format!("the test case cannot be made again: {what}"));
    let mut seeds = Vec::new();
    for ancestor in &origin.seeds {
        seeds.push(match ancestor.generated {
            true => PlannedSeed::Generated,
            false => PlannedSeed::Text(
                seed(&ancestor.hash)?.ok_or_else(|| lost(format!("seed {} is gone", ancestor.name)))?,
            ),
        });
    }
    let plan = Plan {
        round: origin.round,
        engine: origin.engine.clone(),
        seeds,
        logic: origin.logic.clone(),
        group: origin.group.clone(),
        tactic: origin.tactic.clone(),
        without: origin.without.clone(),
        memory: origin.memory.clone(),
        steps: usize::MAX,
    };
    let mut cache = AnswerCache::default();
    let mut driver = Driver::new(targets, identity.rng_seed).with_options(FairOptions { targets });
    let mut questions = Questions { targets, runner, cache: &mut cache };
    let panicked = |panic: crate::driver::EnginePanic| lost(panic.to_string());
    let opened = driver.open(engine, &plan, &mut questions).map_err(panicked)?;
    questions.cache.take_failure()?;
    let mut chain = opened.ok_or_else(|| lost("the engine makes nothing of its seeds".into()))?;
    for step in 0..=origin.step {
        let case = driver.next(&mut chain, &mut questions).map_err(panicked)?;
        let case = case.ok_or_else(|| lost(format!("the chain ends before step {step}")))?;
        if step == origin.step {
            let (script, _) = runnable(&mut driver.store, &case.script, &Target::releases(targets));
            return Ok(print::print(&driver.store, &script, Release::STANDARD));
        }
        chain.learn(&origin.told(step));
    }
    Err(lost("it has no such step".into()))
}
