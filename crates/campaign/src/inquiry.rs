//! From runs to findings: judged, confirmed, made smaller, told apart, written.

use std::time::{SystemTime, UNIX_EPOCH};

use engines::Expectation;
use eval::Evaluator;
use eval::model_text::write_model;
use oracle::{Court, Expected, Kind, Run, Standing, Subject, Verdict};
use smtlib::theory::Theory;
use smtlib::{Script, Status, Store};

use crate::error::CampaignError;
use crate::essence::{Essence, Reduction};
use crate::executor::{Executor, why};
use crate::finding::{self, Dossier, Finding, RunRecord};
use crate::plan::Origin;
use crate::releases;
use crate::seeds::SeedText;
use crate::state::Reported;
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
    bisect: bool,
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

impl Inquiry {
    pub fn new(bisect: bool) -> Inquiry {
        Inquiry { court: Court::standard(), thorough: Court::thorough(), bisect }
    }

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
        let verdicts = court.judge(&mut subject, runs, parts.executor).map_err(failed)?;
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
            outcomes.push(self.pursue(parts, shared, suspect, court, &verdict)?);
        }
        Ok(outcomes)
    }

    /// Writes a confirmed misbehaviour, unless it is known.
    fn pursue(
        &self,
        parts: &mut Parts,
        shared: &Shared,
        suspect: &Suspect,
        court: &Court,
        verdict: &Verdict,
    ) -> Result<Outcome, CampaignError> {
        let Suspect { prepared, runs, origin, ancestors, .. } = *suspect;
        let case = prepared.case;
        let failed = |error| why("a solver", error);
        let models = runs.iter().any(|run| run.configuration.request.models);
        let essence = involved(&case.script, runs, verdict);
        let essence = if verdict.is_flaky() {
            essence
        } else {
            Reduction::new(court, parts.executor, parts.evaluator, &case.expectation, models)
                .reduce(parts.store, essence)
                .map_err(failed)?
        };
        let operators = operators(parts.store, &essence.script);
        let mut signature = match crash_signature(&essence.verdict, &essence.runs) {
            Some(signature) => signature,
            None => signature(&essence, &operators),
        };
        let releases = match self.bisect {
            true => releases::compare(court, parts, &essence, &case.expectation).map_err(failed)?,
            false => None,
        };
        if let Some(releases) = &releases {
            let name = |release: &Option<String>| release.clone().unwrap_or_else(|| "-".to_owned());
            let good = format!(
                " | last good {} | first fixed {}",
                name(&releases.last_good),
                name(&releases.first_fixed)
            );
            signature.push_str(&good);
        }
        let witness = self.witness(parts, &essence, &case.expectation).map_err(failed)?;
        let input = input_text(&essence.runs, &essence.verdict);
        let finding = Finding {
            osprey: env!("CARGO_PKG_VERSION").to_owned(),
            found: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            kind: verdict.kind.to_string(),
            solver: accused_name(&essence),
            title: essence.runs[0].configuration.solver.adapter.title.clone(),
            summary: summary(&essence),
            signature,
            flaky: verdict.is_flaky(),
            expectation: expectation(&case.expectation, &essence.verdict),
            runs: essence.runs.iter().map(record).collect(),
            operators,
            releases,
            provenance: origin.clone(),
        };
        let dossier = Dossier::new(finding, input.clone(), witness);
        let texts: Vec<SeedText> =
            ancestors.iter().filter(|(_, generated)| !generated).map(|(seed, _)| seed.clone()).collect();
        let reported = shared.state().report(&dossier, &input, &texts)?;
        Ok(match reported {
            Reported::Unique(folder) => {
                shared.stop.count_finding();
                shared.observer.found(dossier.finding(), &folder);
                Outcome::Unique
            }
            Reported::Duplicate | Reported::Suppressed => Outcome::Known,
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

fn crash_signature(verdict: &Verdict, runs: &[Run]) -> Option<String> {
    let signature = verdict.signature.as_ref()?;
    let solver = runs.get(verdict.accused?)?.configuration.solver.name();
    Some(format!("crash | {solver} | {}", signature.text))
}

/// The operators that may be to blame, by name: all but the Boolean ones.
fn operators(store: &Store, script: &Script) -> Vec<String> {
    let usage = smtlib::logic::usage(store, script);
    let mut names: Vec<String> = usage
        .operators
        .iter()
        .filter(|op| op.row().theory != Theory::Core)
        .map(|op| op.name().to_owned())
        .collect();
    if usage.quantifiers {
        names.push("quantifiers".to_owned());
    }
    if script.is_incremental() {
        names.push("several checks".to_owned());
    }
    names.sort();
    names.dedup();
    names
}

/// Equal for findings taken for the same bug.
fn signature(essence: &Essence, operators: &[String]) -> String {
    let mut options: Vec<&str> = essence.runs[0].configuration.options().collect();
    options.sort_unstable();
    format!(
        "{} | {} | {} | {}",
        essence.verdict.kind,
        accused_name(essence),
        if options.is_empty() { "default options".to_owned() } else { options.join(" ") },
        if operators.is_empty() { "no operators".to_owned() } else { operators.join(" ") }
    )
}

fn accused_name(essence: &Essence) -> String {
    match essence.verdict.accused {
        Some(position) => essence.runs[position].configuration.solver.name(),
        None => {
            let names: Vec<String> = essence.runs.iter().map(|run| run.configuration.solver.name()).collect();
            names.join("-")
        }
    }
}

fn summary(essence: &Essence) -> String {
    match essence.verdict.accused {
        Some(position) => {
            let configuration = &essence.runs[position].configuration;
            let title = &configuration.solver.adapter.title;
            let version =
                configuration.solver.version().map(|version| format!(" {version}")).unwrap_or_default();
            let reason = essence.verdict.reason.strip_prefix("it ").unwrap_or(&essence.verdict.reason);
            format!("{title}{version} {reason}")
        }
        None => essence.verdict.reason.clone(),
    }
}

fn expectation(expectation: &Expectation, verdict: &Verdict) -> finding::Expected {
    let mut why: Vec<String> = match expectation {
        Expectation::Sat(_) => vec!["a model satisfies every assertion (witness.smt2)".to_owned()],
        Expectation::Derived(_, derivation) => {
            std::iter::once(derivation.grounds.clone()).chain(derivation.steps.iter().cloned()).collect()
        }
        Expectation::Agree => Vec::new(),
    };
    why.extend(verdict.evidence.iter().cloned());
    let answer = match verdict.kind {
        Kind::RefutationSoundness => Some("sat"),
        Kind::SolutionSoundness => Some("unsat"),
        _ => None,
    };
    let derived = match expectation {
        Expectation::Derived(_, derivation) => Some(derivation.grounds.clone()),
        _ => None,
    };
    finding::Expected { answer: answer.map(str::to_owned), derived, why }
}

/// A run as it is kept.
pub fn record(run: &Run) -> RunRecord {
    let configuration = &run.configuration;
    RunRecord {
        solver: configuration.solver.name(),
        user_options: configuration.solver.options.clone(),
        version: configuration.solver.version().map(ToString::to_string).unwrap_or_default(),
        command: configuration.command_line("input.smt2"),
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
