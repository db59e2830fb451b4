//! A finding once more: its runs made again and judged, or its test case made again from its provenance.

use std::path::Path;
use std::sync::Arc;

use engines::Engine;
use oracle::{Configuration, Court, Expected, Kind, Rerun as _, Subject, Verdict};
use smtlib::{Mode, Release, Status, Store, print};
use solver::{RunRequest, Solver};

use crate::ask::{Memory, Questions};
use crate::config::Identity;
use crate::error::CampaignError;
use crate::executor::{Executor, why};
use crate::finding::{Finding, RunRecord};
use crate::inquiry::record;
use crate::plan::{Origin, Plan, Planned};
use crate::round::{self, Grammars};
use crate::seeds::SeedText;
use crate::target::Target;
use crate::worker::feedback_of;

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
    identity: &Identity,
) -> Result<Replayed, CampaignError> {
    let refused = |reason: String| CampaignError::NotAFinding { path: folder.to_owned(), reason };
    let name = finding.script_name();
    let input = std::fs::read(folder.join(name)).map_err(|error| refused(format!("{name}: {error}")))?;
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, &input, Mode::Tolerant).ok();
    let mut executor = Executor::new(identity, &[])?;
    let mut runs = Vec::new();
    let mut own_release = None;
    for (solver, past) in solvers.iter().zip(&finding.runs) {
        let request = RunRequest {
            models: past.models,
            broad: past.broad,
            options: past.options.clone(),
            ..RunRequest::default()
        };
        let configuration = Arc::new(Configuration { solver: solver.clone(), request });
        let release = *own_release.get_or_insert(configuration.release());
        let text = match &parsed {
            Some(parsed) if configuration.release() != release => {
                print::print(&store, &parsed.script, configuration.release()).into_bytes()
            }
            _ => input.clone(),
        };
        let run = executor.run(&configuration, &text).map_err(|error| why(&solver.name(), error))?;
        runs.push(run);
    }
    let expected = match &parsed {
        Some(parsed) => expectation(&mut store, &parsed.script, finding, folder),
        None => None,
    };
    let mut subject = Subject::new(&mut store, parsed.as_ref().map(|parsed| &parsed.script), &[]);
    subject.expected = expected;
    subject.ask_for_models = finding.kind == Kind::InvalidModel.word();
    let verdicts = Court::thorough()
        .judge(&mut subject, &runs, &mut executor)
        .map_err(|error| why(&finding.solver, error))?;
    let fails = verdicts.iter().any(|verdict| {
        verdict.kind.to_string() == finding.kind
            && verdict.accused.is_none_or(|accused| accused == 0)
            && verdict.is_finding()
    });
    Ok(Replayed { fails, verdicts, runs: runs.iter().map(|run| record(run, name)).collect() })
}

/// What the answer must be: by the stored witness, checked again, or by derivation.
fn expectation(
    store: &mut Store,
    script: &smtlib::Script,
    finding: &Finding,
    folder: &Path,
) -> Option<Expected> {
    let name = finding.witness_name();
    if let Ok(text) = std::fs::read(folder.join(name))
        && let Ok(read) = eval::model_text::read_model(store, script, &text, Release::STANDARD)
        && eval::Witness::check(store, script, read.model, eval::Budget::default()).is_ok()
    {
        let because = format!("{name} satisfies every assertion by our evaluation");
        return Some(Expected { status: Status::Sat, because });
    }
    // How the input was made says nothing about a part of it.
    let because = finding.expectation.derived.clone().filter(|_| finding.reduced.is_none())?;
    let status = match finding.expectation.answer.as_deref()? {
        "sat" => Status::Sat,
        "unsat" => Status::Unsat,
        _ => return None,
    };
    Some(Expected { status, because })
}

/// Makes a finding's test case again: its text in the standard dialect, as it was before it was made smaller.
pub fn regenerate(
    origin: &Origin,
    identity: &Identity,
    targets: &[Target],
    engines: &[Box<dyn Engine>],
    seed: impl Fn(&str) -> Result<Option<SeedText>, CampaignError>,
) -> Result<String, CampaignError> {
    let lost = |what: String| CampaignError::Internal(format!("the test case cannot be made again: {what}"));
    let mut seeds = Vec::new();
    for ancestor in &origin.seeds {
        seeds.push(match ancestor.generated {
            true => Planned::Generated,
            false => Planned::Text(
                seed(&ancestor.hash)?.ok_or_else(|| lost(format!("seed {} is gone", ancestor.name)))?,
            ),
        });
    }
    let plan = Plan {
        round: origin.round,
        engine: origin.engine.clone(),
        seeds,
        logic: origin.logic.clone(),
        company: origin.company.clone(),
    };
    let engine = engines
        .iter()
        .find(|engine| engine.name() == origin.engine)
        .ok_or_else(|| lost(format!("there is no engine '{}'", origin.engine)))?;
    let mut store = Store::new();
    let mut opened = round::open(&mut store, &mut Grammars::default(), &plan, identity, targets)
        .ok_or_else(|| lost("its seeds cannot be read".into()))?;
    let mut executor = Executor::new(identity, targets)?;
    let mut memory = Memory::default();
    let mut failure = None;
    let mut questions =
        Questions { targets, executor: &mut executor, memory: &mut memory, failure: &mut failure };
    let mut bench = opened.bench(&mut store, &mut questions);
    let mut round = engine.open(&mut bench).ok_or_else(|| lost("the engine opens no round".into()))?;
    for step in 0..=origin.step {
        let case =
            round.next(&mut bench).ok_or_else(|| lost(format!("the round ends before step {step}")))?;
        if step == origin.step {
            let (script, _) = round::runnable(bench.store, &case.script);
            return Ok(print::print(bench.store, &script, Release::STANDARD));
        }
        if let Some(letters) = origin.feedback.get(step) {
            round.learn(feedback_of(letters));
        }
    }
    Err(lost("it has no such step".into()))
}
