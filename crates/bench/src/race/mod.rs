//! `osprey bench race`: Osprey and other fuzzers on the same seeds with the same CPU time, one core each.
//!
//! Every contestant's bug triggers are judged alike: Osprey's own campaign tries each of them as it is, confirms it by
//! fresh starts, makes it small, asks the installed releases which of them have the bug, and tells bugs apart by that.
//!
//! - [`field`]: seeds and solvers for all of them, and the cores they run on
//! - [`process`]: one core, CPU time of a whole tree of processes, the end at the budget
//! - [`contestant`]: command lines, solver runs, triggers

pub mod contestant;
pub mod field;
pub mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::{Finding, findings};

use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;
use contestant::{Calls, Contestant, Effort};
use field::{Field, spec};

/// Who races for what.
pub struct Settings {
    pub field: Field,
    /// More words for Osprey's own command line.
    pub osprey_options: String,
    pub peers: Vec<Contestant>,
    pub rng_seed: u64,
    pub command: String,
}

/// What a contestant's triggers amount to.
#[derive(Clone, Debug, Default)]
struct JudgedTriggers {
    triggers: u64,
    /// Triggers that a fresh run confirms.
    confirmed: u64,
    /// Findings by signature: kind, and the trigger that shows it.
    unique: BTreeMap<String, (String, PathBuf)>,
    /// The bugs that they are taken for.
    bugs: BTreeSet<String>,
}

/// Runs the race.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("race", "Race with other fuzzers", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    let field = &settings.field;
    draft.versions = vec![field.target.name(), field.reference.name()];
    let contestants = contestants(settings);
    let efforts = field.race(&field.copy_seeds()?, &contestants, watch)?;
    let half = field.budget / 2;
    let mut results = Vec::new();
    for (number, (contestant, effort)) in contestants.iter().zip(&efforts).enumerate() {
        watch.progress(number, contestants.len(), &format!("judging what {} found", contestant.name));
        let at = |limit: Duration, name: &str| {
            let files: Vec<&Path> = effort
                .triggers
                .iter()
                .filter(|(_, when)| *when <= limit)
                .map(|(file, _)| file.as_path())
                .collect();
            judge(field, &files, &field.out.join(format!("judge-{}-{name}", contestant.name)), watch)
        };
        results.push((contestant, effort, at(half, "half")?, at(Duration::MAX, "all")?));
        if let Some(complaint) = &effort.complaint {
            draft.skip(&contestant.name, complaint);
        }
    }
    if watch.stopped() {
        draft.partial = Some("interrupted".to_owned());
    }
    fill(&mut draft, settings, &results);
    Ok(draft.finish())
}

/// Osprey first, then the peers.
fn contestants(settings: &Settings) -> Vec<Contestant> {
    let own = settings.field.own("osprey", settings.rng_seed, &settings.osprey_options);
    std::iter::once(own).chain(settings.peers.iter().cloned()).collect()
}

/// The time of one run when triggers are judged.
const JUDGE_TIMEOUT: &str = "5";

/// Has Osprey's own campaign try every trigger as it is.
fn judge(
    field: &Field,
    files: &[&Path],
    out: &Path,
    watch: &dyn Watch,
) -> Result<JudgedTriggers, BenchError> {
    let mut judged = JudgedTriggers { triggers: files.len() as u64, ..JudgedTriggers::default() };
    let failed = |source| BenchError::Write { path: out.to_owned(), source };
    if files.is_empty() || watch.stopped() {
        return Ok(judged);
    }
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(failed)?;
    }
    let triggers = out.join("triggers");
    std::fs::create_dir_all(&triggers).map_err(failed)?;
    for (number, file) in files.iter().enumerate() {
        std::fs::copy(file, triggers.join(format!("{number:05}.smt2"))).map_err(failed)?;
    }
    let campaign = out.join("campaign");
    let output = std::process::Command::new(&field.osprey)
        .arg("fuzz")
        .arg(&triggers)
        .args(["-s", &spec(&field.target), "--reference", &spec(&field.reference)])
        .args(["--engine", "seed", "--bisect", "--reduce-all", "--json", "--timeout", JUDGE_TIMEOUT])
        .args(["--jobs", &field.jobs.max(1).to_string(), "--rng-seed", "1", "--out"])
        .arg(&campaign)
        .stderr(std::process::Stdio::null())
        .output()
        .map_err(failed)?;
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let duplicates = summary.pointer("/totals/duplicates").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let found = findings::finished(&campaign.join("bugs")).unwrap_or_default();
    // Faces of a known bug need not have a folder.
    let known = campaign::store::read(&campaign).and_then(|mut store| store.findings()).unwrap_or_default();
    for one in known.iter().filter(|one| one.solver == field.target.name()) {
        judged.bugs.insert(one.group.clone());
        let entry = (one.kind.clone(), PathBuf::new());
        judged.unique.insert(one.signature.clone(), entry);
    }
    for path in found {
        let Ok((finding, _)) = Finding::read(&path) else { continue };
        if finding.solver == field.target.name() {
            let trigger = number_of(&finding).and_then(|number| files.get(number)).copied();
            let trigger = trigger.unwrap_or(Path::new("")).to_owned();
            judged.unique.insert(finding.signature.to_string(), (finding.kind.to_string(), trigger));
        }
    }
    let unique = judged.unique.len() as u64;
    judged.confirmed = (unique + duplicates).min(judged.triggers);
    Ok(judged)
}

/// The trigger that a finding of the judging campaign was made of.
fn number_of(finding: &Finding) -> Option<usize> {
    let seed = Path::new(&finding.provenance.seeds.first()?.name);
    seed.file_stem()?.to_str()?.parse().ok()
}

/// Bugs that a seed shows as it is, so that no mutation was needed. Only Osprey tells.
fn shown_by_seeds(judged: &JudgedTriggers) -> usize {
    let as_it_is = |trigger: &Path| {
        let folder = trigger.parent().unwrap_or(trigger);
        Finding::read(folder).is_ok_and(|(finding, _)| finding.provenance.engine == "seed")
    };
    judged.unique.values().filter(|(_, trigger)| as_it_is(trigger)).count()
}

type Result4<'a> = (&'a Contestant, &'a Effort, JudgedTriggers, JudgedTriggers);

fn fill(report: &mut Report, settings: &Settings, results: &[Result4]) {
    let field = &settings.field;
    let minutes = field.budget.as_secs_f64() / 60.0;
    report.summary.push(format!(
        "{} seeds, {minutes:.0} minutes of CPU time each on one core, {} against {}. All triggers are judged by the \
         same judge: confirmed by fresh starts, made small, told apart by groups (bugs) and by signatures, as \
         in a campaign.",
        field.seeds.len(),
        spec(&field.target),
        spec(&field.reference),
    ));
    let mut table = Table::new(
        "",
        &[
            "fuzzer",
            "CPU s",
            "own CPU",
            "solver calls",
            "questions among them",
            "calls per CPU s",
            "on test cases per CPU s",
            "answered per CPU s",
            "triggers",
            "confirmed",
            "bugs",
            "bugs at half",
            "signatures",
            "without mutation",
        ],
    );
    for (contestant, effort, half, all) in results {
        let cpu = effort.cpu.as_secs_f64();
        table.row([
            contestant.name.as_str().into(),
            cpu.into(),
            Cell::percent(effort.own_cpu.as_secs_f64(), cpu),
            effort.calls.map(|calls| calls.all).into(),
            effort.calls.map(|calls| calls.questions).into(),
            effort.calls.map(|calls| calls.per_second(calls.all)).into(),
            effort.calls.map(|calls| calls.per_second(calls.on_tests)).into(),
            effort.calls.map(|calls| calls.per_second(calls.answered)).into(),
            all.triggers.into(),
            all.confirmed.into(),
            all.bugs.len().into(),
            half.bugs.len().into(),
            all.unique.len().into(),
            shown_by_seeds(all).into(),
        ]);
    }
    report.tables.push(table);
    report.tables.push(ratios(results));
    let mut bugs = Table::new("Signatures", &["fuzzer", "kind", "signature"]);
    for (contestant, _, _, all) in results {
        for (signature, (kind, _)) in &all.unique {
            bugs.row([contestant.name.as_str().into(), kind.as_str().into(), signature.as_str().into()]);
        }
    }
    report.tables.push(bugs);
    for (contestant, effort, _, _) in results.iter().filter(|result| result.1.starts > 1) {
        report
            .notes
            .push(format!("{} ended by itself and was started {} times.", contestant.name, effort.starts));
    }
    report.notes.extend([
        "CPU time is that of the whole tree of processes; all are pinned to one core.".to_owned(),
        "Rates are over the CPU time up to the moment a fuzzer last told its calls. Answered is a call on a test \
         case that ended with sat, unsat, unknown or a crash, not with an error or at the time limit."
            .to_owned(),
    ]);
}

/// Ours divided by the best peer's.
fn ratios(results: &[Result4]) -> Table {
    let mut table = Table::new("Osprey divided by the best peer", &["what", "osprey", "best peer", "ratio"]);
    let Some((ours, peers)) = results.split_first() else { return table };
    let mut row = |what: &str, figure: &dyn Fn(&Result4) -> f64| {
        let best = peers.iter().map(figure).fold(0.0, f64::max);
        table.row([what.into(), figure(ours).into(), best.into(), Cell::ratio(figure(ours), best)]);
    };
    if !peers.is_empty() {
        row("unique confirmed bugs", &|result| result.3.bugs.len() as f64);
        row("unique confirmed bugs at half the budget", &|result| result.2.bugs.len() as f64);
        let rate = |effort: &Effort, what: fn(Calls) -> u64| {
            effort.calls.map_or(0.0, |calls| calls.per_second(what(calls)))
        };
        row("solver calls per CPU second", &|result| rate(result.1, |calls| calls.all));
        row("those on test cases", &|result| rate(result.1, |calls| calls.on_tests));
        row("those that were answered", &|result| rate(result.1, |calls| calls.answered));
    }
    table
}
