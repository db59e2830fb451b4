//! From runs to findings: judged, confirmed, written. Making them small and telling them apart is the docket's work.

use std::time::{SystemTime, UNIX_EPOCH};

use engines::Expectation;
use eval::Evaluator;
use eval::model_text::write_model;
use oracle::{Court, Expected, Kind, Run, Standing, Subject, Verdict};
use smtlib::{Release, Script, Status, Store, print};

use crate::docket::Entered;
use crate::error::CampaignError;
use crate::executor::{Executor, why};
use crate::finding::{self, Finding, RunRecord};
use crate::hash;
use crate::plan::Origin;
use crate::reduction::Case;
use crate::seeds::SeedText;
use crate::signature::sign;
use crate::worker::{Prepared, Shared};

/// What came of a suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A bug not seen before, on disk.
    Unique,
    /// A bug seen before, or one the user does not want to hear of.
    Known,
    /// It did not repeat.
    Unconfirmed,
    /// The parties mean different things, or somebody who should know better contradicts.
    Excused,
}

/// Follows up suspicions of one worker.
pub struct Inquiry {
    court: Court,
    /// With the oracles that cost many runs.
    thorough: Court,
}

/// A test case that was run, for judgement.
pub struct Suspect<'a> {
    pub prepared: &'a Prepared<'a>,
    pub runs: &'a [Run],
    pub origin: &'a Origin,
    pub ancestors: &'a [(SeedText, bool)],
    /// Costly oracles look at it too.
    pub thorough: bool,
}

/// The bench of an inquiry: parts of the worker.
pub struct Parts<'a> {
    pub store: &'a mut Store,
    pub evaluator: &'a mut Evaluator,
    pub executor: &'a mut Executor,
}

impl Default for Inquiry {
    fn default() -> Inquiry {
        Inquiry { court: Court::standard(), thorough: Court::thorough() }
    }
}

impl Inquiry {
    /// Judges the runs of a test case and sees to every misbehaviour.
    pub fn judge(
        &self,
        parts: &mut Parts,
        shared: &Shared,
        suspect: &Suspect,
    ) -> Result<Vec<Outcome>, CampaignError> {
        let Suspect { prepared, runs, origin, .. } = *suspect;
        let case = prepared.case;
        let court = if suspect.thorough { &self.thorough } else { &self.court };
        let mut subject = Subject::new(parts.store, Some(&case.script), &[]);
        subject.expected = expected(&case.expectation);
        let failed = |error| why("a solver", error);
        parts.executor.be_quick(true);
        let verdicts = court.judge(&mut subject, runs, parts.executor);
        parts.executor.be_quick(false);
        let verdicts = verdicts.map_err(failed)?;
        let mut outcomes = Vec::new();
        for mut verdict in verdicts {
            if verdict.standing != Standing::Stands {
                outcomes.push(Outcome::Excused);
                continue;
            }
            let input = input_text(runs, &verdict);
            // A crash is known by its place; nothing more needs to be run to count it.
            if let Some(signature) = crash_signature(&verdict, runs) {
                let mut state = shared.state();
                if state.is_suppressed(&signature) {
                    state.totals.suppressed += 1;
                    outcomes.push(Outcome::Known);
                    continue;
                }
                if state.known(&signature).is_some() {
                    state.duplicate(&signature, origin.round, origin.step, &input)?;
                    outcomes.push(Outcome::Known);
                    continue;
                }
            }
            let mut subject = Subject::new(parts.store, Some(&case.script), &[]);
            subject.expected = expected(&case.expectation);
            court.confirm(&mut subject, runs, &mut verdict, parts.executor).map_err(failed)?;
            if !verdict.is_finding() {
                outcomes.push(Outcome::Unconfirmed);
                continue;
            }
            outcomes.push(self.pursue(parts, shared, suspect, &verdict)?);
        }
        Ok(outcomes)
    }

    /// Writes a confirmed misbehaviour, unless it is known.
    fn pursue(
        &self,
        parts: &mut Parts,
        shared: &Shared,
        suspect: &Suspect,
        verdict: &Verdict,
    ) -> Result<Outcome, CampaignError> {
        let Suspect { prepared, runs, origin, ancestors, .. } = *suspect;
        let case = prepared.case;
        let essence = involved(&case.script, runs, verdict);
        let witness =
            self.witness(parts, &essence, &case.expectation).map_err(|error| why("a solver", error))?;
        let input = input_text(&essence.runs, &essence.verdict);
        let crash = crash_signature(&essence.verdict, &essence.runs);
        // What does not repeat cannot be reduced; a crash is told apart by its place. All others wait.
        let pending = crash.is_none() && !verdict.is_flaky();
        let mut finding = Finding {
            osprey: env!("CARGO_PKG_VERSION").to_owned(),
            found: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            kind: verdict.kind.to_string(),
            solver: accused_name(&essence.verdict, &essence.runs),
            title: essence.runs[0].configuration.solver.adapter.title.clone(),
            summary: String::new(),
            signature: crash.unwrap_or_default(),
            flaky: verdict.is_flaky(),
            pending,
            expectation: expectation(&case.expectation),
            runs: essence.runs.iter().map(|run| record(run, "input.smt2")).collect(),
            operators: Vec::new(),
            reduced: None,
            releases: None,
            provenance: Origin { script: standard_hash(parts.store, &case.script), ..origin.clone() },
        };
        describe(&mut finding, &essence.verdict, &essence.runs, witness.is_some().then_some("witness.smt2"));
        sign(&mut finding, parts.store, &case.script, &essence.runs);
        let likely = finding.signature.clone();
        if pending {
            finding.signature = format!("{} | {}", finding.signature, hash::name(input.as_bytes()));
        }
        let texts: Vec<SeedText> =
            ancestors.iter().filter(|(_, generated)| !generated).map(|(seed, _)| seed.clone()).collect();
        let configurations = essence.runs.iter().map(|run| run.configuration.clone()).collect();
        let reducible = !finding.flaky;
        let case = Case { finding, input, witness, configurations };
        let reported = shared.docket.enter(shared, case, likely, &texts, reducible)?;
        Ok(match reported {
            Entered::Unique => Outcome::Unique,
            // Engines get their due when the finding turns out to be new.
            Entered::Waiting | Entered::Known => Outcome::Known,
        })
    }

    /// A model that proves a refuted script satisfiable, as text: the engine's own, or one of a solver that we checked.
    fn witness(
        &self,
        parts: &mut Parts,
        essence: &Essence,
        expectation: &Expectation,
    ) -> Result<Option<String>, oracle::RunError> {
        if essence.verdict.kind != Kind::RefutationSoundness {
            return Ok(None);
        }
        if let Expectation::Sat(witness) = expectation {
            let model = witness.model().restricted_to(&essence.script);
            return Ok(write_model(parts.store, &essence.script, &model).ok());
        }
        let check = essence.verdict.check.unwrap_or(0);
        let mut subject = Subject::new(parts.store, Some(&essence.script), &[]);
        let mut proven = None;
        for position in &essence.verdict.opponents {
            let found = subject.model_check(&essence.runs, *position, check, true, parts.executor)?;
            if let Some(found) = found.filter(|found| found.value == oracle::subject::ModelValue::True) {
                proven = Some(found);
                break;
            }
        }
        Ok(proven.map(|found| {
            write_model(parts.store, &essence.script, &found.model).unwrap_or_else(|_| found.text.clone())
        }))
    }
}

/// A script that misbehaves, with the runs that show it.
struct Essence {
    script: Script,
    /// Runs of the accused, if there is one, and of those who speak against it.
    runs: Vec<Run>,
    verdict: Verdict,
}

/// What the answer must be, as oracles take it.
pub fn expected(expectation: &Expectation) -> Option<Expected> {
    match expectation {
        Expectation::Sat(_) => Some(Expected {
            status: Status::Sat,
            because: "a model satisfies every assertion by our evaluation".into(),
        }),
        Expectation::Derived(status, derivation) => {
            let steps = match derivation.steps.len() {
                0 => String::new(),
                many => format!(", kept by {many} steps"),
            };
            Some(Expected { status: *status, because: format!("{}{steps}", derivation.grounds) })
        }
        Expectation::Agree => None,
    }
}

/// The runs a verdict is about, that of the accused first, and the verdict with its positions among them.
fn involved(script: &Script, runs: &[Run], verdict: &Verdict) -> Essence {
    let mut positions: Vec<usize> = verdict.accused.iter().copied().collect();
    positions.extend(verdict.opponents.iter().copied().filter(|position| Some(*position) != verdict.accused));
    let mut verdict = verdict.clone();
    let place = |position: &usize| positions.iter().position(|other| other == position);
    verdict.accused = verdict.accused.as_ref().and_then(place);
    verdict.opponents = verdict.opponents.iter().filter_map(place).collect();
    let runs = positions.iter().map(|position| runs[*position].clone()).collect();
    Essence { script: script.clone(), runs, verdict }
}

/// The text that the accused read; of the first party where nobody is accused.
fn input_text(runs: &[Run], verdict: &Verdict) -> String {
    let position = verdict.accused.or_else(|| verdict.opponents.first().copied()).unwrap_or(0);
    runs.get(position).map(|run| String::from_utf8_lossy(&run.script).into_owned()).unwrap_or_default()
}

/// The name of a crash that tells its place. A bare signal tells nothing: different bugs of a release build look alike.
fn crash_signature(verdict: &Verdict, runs: &[Run]) -> Option<String> {
    let signature = verdict.signature.as_ref().filter(|signature| signature.names_a_place())?;
    let solver = runs.get(verdict.accused?)?.configuration.solver.name();
    Some(format!("crash | {solver} | {}", signature.text))
}

fn accused_name(verdict: &Verdict, runs: &[Run]) -> String {
    match verdict.accused {
        Some(position) => runs[position].configuration.solver.name(),
        None => {
            let names: Vec<String> = runs.iter().map(|run| run.configuration.solver.name()).collect();
            names.join("-")
        }
    }
}

/// Says what is wrong and why, in the words of a verdict.
pub fn describe(finding: &mut Finding, verdict: &Verdict, runs: &[Run], witness: Option<&str>) {
    finding.summary = match verdict.accused {
        Some(position) => {
            let configuration = &runs[position].configuration;
            let title = &configuration.solver.adapter.title;
            let version =
                configuration.solver.version().map(|version| format!(" {version}")).unwrap_or_default();
            match verdict.reason.strip_prefix("it ") {
                Some(reason) => format!("{title}{version} {reason}"),
                None => format!("{title}{version}: {}", verdict.reason),
            }
        }
        None => verdict.reason.clone(),
    };
    let expectation = &mut finding.expectation;
    if finding.reduced.is_some() {
        // How the input was made is no argument for a part of it.
        expectation.why.clear();
    }
    expectation.why.retain(|why| !why.starts_with(BY_MODEL));
    if let Some(file) = witness {
        expectation.why.insert(0, format!("{BY_MODEL} ({file})"));
    }
    expectation.why.extend(verdict.evidence.iter().cloned());
    expectation.answer = match verdict.kind {
        Kind::RefutationSoundness => Some("sat".to_owned()),
        Kind::SolutionSoundness => Some("unsat".to_owned()),
        _ => None,
    };
}

const BY_MODEL: &str = "a model satisfies every assertion";

/// By which a test case that is made again is known.
fn standard_hash(store: &Store, script: &Script) -> String {
    hash::name(print::print(store, script, Release::STANDARD).as_bytes())
}

fn expectation(expectation: &Expectation) -> finding::Expected {
    match expectation {
        Expectation::Derived(_, derivation) => finding::Expected {
            answer: None,
            derived: Some(derivation.grounds.clone()),
            why: std::iter::once(derivation.grounds.clone())
                .chain(derivation.steps.iter().cloned())
                .collect(),
        },
        _ => finding::Expected::default(),
    }
}

/// A run as it is kept, on a file of this name.
pub fn record(run: &Run, file: &str) -> RunRecord {
    let configuration = &run.configuration;
    RunRecord {
        solver: configuration.solver.name(),
        user_options: configuration.solver.options.clone(),
        version: configuration.solver.version().map(ToString::to_string).unwrap_or_default(),
        command: configuration.command_line(file),
        options: configuration.request.options.clone(),
        models: configuration.request.models,
        broad: configuration.request.broad,
        class: run.answers.class.word().to_owned(),
        answers: RunRecord::words(&run.answers),
        stdout: RunRecord::excerpt(&run.outcome.stdout),
        stderr: RunRecord::excerpt(&run.outcome.stderr),
        cpu_ms: run.outcome.cpu_time.as_millis() as u64,
    }
}
