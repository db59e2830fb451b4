//! `osprey bench variants`: Osprey against itself. An engine with and without its parts, with one setting and another,
//! on the same seeds with the same CPU time, several times over, as papers do it.
//!
//! The campaigns race as in [`race`](crate::race). What is left to reduce when the CPU time is used up is reduced
//! afterwards, so that every campaign's bugs are told apart alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use campaign::KnownFinding;
use campaign::findings::Group;
use oracle::Kind;
use serde::{Deserialize, Serialize};
use solver::Home;
use solver::coverage::{Code, SiteSet};

use crate::error::BenchError;
use crate::machine::Machine;
use crate::race::contestant::{Contestant, Effort};
use crate::race::field::{CAMPAIGN, Field, spec};
use crate::records::{Recorded, Records};
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// What is compared.
pub struct Settings {
    pub field: Field,
    pub variants: Vec<Variant>,
    /// Campaigns per variant, each with another random seed.
    pub repeat: u64,
    pub rng_seed: u64,
    /// Where the result of each campaign is kept; what is there already is not run again, on whichever machine it was made.
    pub records: Option<PathBuf>,
    pub command: String,
}

/// A way of running Osprey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub name: String,
    /// Behind `osprey fuzz` and what all variants have in common.
    pub words: String,
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Variant, String> {
        let plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        match text.split_once('=') {
            Some((name, words)) if !name.is_empty() && plain(name) => {
                Ok(Variant { name: name.to_owned(), words: words.trim().to_owned() })
            }
            _ => Err(format!(
                "'{text}' is not NAME=WORDS, for example 'uniform=--engine diver --diver-uniform'"
            )),
        }
    }
}

/// One campaign of a variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CampaignResult {
    effort: Effort,
    /// Bugs by their gravest kind.
    bugs: BTreeMap<Kind, u64>,
    /// Names of findings that are the same in every campaign.
    signatures: BTreeSet<String>,
    /// Functions and blocks of the solver that it has reached, where that was watched.
    functions: u64,
    blocks: u64,
    /// Test cases and CPU microseconds after the first minute, when code is mostly known.
    settled: (u64, u64),
}

/// Seconds after which a campaign has settled.
const SETTLED: u64 = 60;

impl CampaignResult {
    fn bugs(&self) -> u64 {
        self.bugs.values().sum()
    }

    fn on_tests(&self) -> f64 {
        self.effort.calls.map_or(0.0, |calls| calls.per_second(calls.on_tests))
    }
}

/// Runs all campaigns.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let field = &settings.field;
    let mut draft = Draft::new("variants", "Osprey's own variants", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = vec![field.target.name(), field.reference.name()];
    let records: Records<CampaignRecord> = Records::open(settings.records.as_deref())?;
    // The repetitions outside: what an interruption leaves is as much of each variant.
    let mut campaigns: Vec<(usize, CampaignKey)> = Vec::new();
    let seeds_hash = hash_of(&field.seeds)?;
    let build = hash_of(std::slice::from_ref(&field.osprey))?;
    for repetition in 0..settings.repeat {
        for (number, variant) in settings.variants.iter().enumerate() {
            campaigns.push((
                number,
                CampaignKey::new(field, variant, settings.rng_seed + repetition, &seeds_hash),
            ));
        }
    }
    let missing: Vec<&(usize, CampaignKey)> =
        campaigns.iter().filter(|(_, key)| records.get(key).is_none()).collect();
    if !missing.is_empty() {
        let seeds = field.copy_seeds()?;
        let mut done = campaigns.len() - missing.len();
        for some in missing.chunks(field.jobs.max(1)) {
            if watch.stopped() {
                break;
            }
            let contestants: Vec<Contestant> = some
                .iter()
                .map(|(number, key)| {
                    let variant = &settings.variants[*number];
                    let name = format!("{}-r{}", variant.name, key.rng_seed - settings.rng_seed);
                    field.own(&name, key.rng_seed, &variant.words)
                })
                .collect();
            let names: Vec<&str> = contestants.iter().map(|one| one.name.as_str()).collect();
            watch.progress(done, campaigns.len(), &names.join(", "));
            let efforts = field.race(&seeds, &contestants, watch)?;
            for (((_, key), contestant), effort) in some.iter().zip(&contestants).zip(efforts) {
                if effort.cpu < field.budget && watch.stopped() {
                    continue;
                }
                if let Some(complaint) = &effort.complaint {
                    draft.skip(&contestant.name, complaint);
                }
                let result = result(field, contestant, effort)?;
                let machine = draft.machine.clone();
                let (key, date, build) = (key.clone(), draft.date.clone(), Some(build.clone()));
                records.add(CampaignRecord { key, date, machine, build, result })?;
            }
            done += some.len();
        }
    }
    let mut results: Vec<Vec<CampaignResult>> = settings.variants.iter().map(|_| Vec::new()).collect();
    let mut others = 0;
    for (number, key) in &campaigns {
        let Some(record) = records.get(key) else { continue };
        others += usize::from(record.build.as_ref() != Some(&build));
        results[*number].push(record.result);
    }
    if others > 0 {
        draft.notes.push(format!("Campaigns that another build of osprey has run: {others}."));
    }
    if watch.stopped() {
        draft.partial = Some("interrupted".to_owned());
    }
    fill(&mut draft, settings, &results);
    Ok(draft.finish())
}

/// What makes a campaign the same: everything that it was told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CampaignKey {
    target: String,
    reference: String,
    seeds: usize,
    budget_seconds: u64,
    words: String,
    rng_seed: u64,
    /// What is in the seeds, in their order.
    seeds_hash: String,
}

impl CampaignKey {
    fn new(field: &Field, variant: &Variant, rng_seed: u64, seeds_hash: &str) -> CampaignKey {
        CampaignKey {
            target: spec(&field.target),
            reference: spec(&field.reference),
            seeds: field.seeds.len(),
            budget_seconds: field.budget.as_secs(),
            words: variant.words.clone(),
            rng_seed,
            seeds_hash: seeds_hash.to_owned(),
        }
    }
}

/// The hash of all seeds, in their order.
fn hash_of(seeds: &[PathBuf]) -> Result<String, BenchError> {
    let mut hash = campaign::hash::start();
    for seed in seeds {
        let text = std::fs::read(seed).map_err(|source| BenchError::Read { path: seed.clone(), source })?;
        hash = campaign::hash::add(hash, &text.len().to_le_bytes());
        hash = campaign::hash::add(hash, &text);
    }
    Ok(format!("{hash:016x}"))
}

/// A campaign as it is kept, with where and when it was run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CampaignRecord {
    #[serde(flatten)]
    key: CampaignKey,
    date: String,
    machine: Machine,
    /// The hash of the program that ran it. A benchmark may go on with another build; the report says so.
    #[serde(default)]
    build: Option<String>,
    result: CampaignResult,
}

impl Recorded for CampaignRecord {
    type Key = CampaignKey;

    fn key(&self) -> CampaignKey {
        self.key.clone()
    }
}

/// Reduces what is left and reads what came of the campaign.
fn result(field: &Field, contestant: &Contestant, effort: Effort) -> Result<CampaignResult, BenchError> {
    let mut result = CampaignResult {
        effort,
        bugs: BTreeMap::new(),
        signatures: BTreeSet::new(),
        functions: 0,
        blocks: 0,
        settled: (0, 0),
    };
    let mut reached: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    let mut began = 0;
    for start in 0..result.effort.starts {
        let campaign = field.out.join(format!("{}-{start}", contestant.name)).join("out").join(CAMPAIGN);
        if !campaign.is_dir() {
            // It did not begin, and the complaint says why.
            continue;
        }
        finish(field, &campaign)?;
        let read = campaign::store::read(&campaign).and_then(|mut store| {
            Ok((store.started()?, store.samples()?, store.findings()?, store.sites()?))
        });
        let (started, samples, known, sites) = read
            .map_err(|error| BenchError::Malformed { path: campaign.clone(), reason: error.to_string() })?;
        began += 1;
        for (code, sites) in sites {
            reached.entry(code).or_default().extend(sites);
        }
        for sample in &samples {
            result.functions += sample.functions;
            result.blocks += sample.blocks;
            if sample.at >= started + SETTLED {
                result.settled.0 += sample.tests;
                result.settled.1 += sample.cpu;
            }
        }
        let known: Vec<KnownFinding> =
            known.into_iter().filter(|one| one.solver == field.target.name() && !one.flaky).collect();
        for group in Group::all(&known) {
            if let Some(kind) = gravest(&group) {
                *result.bugs.entry(kind).or_default() += 1;
            }
        }
        result.signatures.extend(known.into_iter().map(|one| one.signature));
    }
    if began > 1 {
        // Every start begins with nothing reached, so that its figures cannot be added.
        (result.functions, result.blocks) = united(field, &reached);
    }
    // Paths of this machine, which say nothing elsewhere.
    result.effort.triggers.clear();
    Ok(result)
}

/// Functions and blocks of several starts together. Without the code itself nobody can tell functions.
fn united(field: &Field, reached: &BTreeMap<u64, BTreeSet<u32>>) -> (u64, u64) {
    let blocks = reached.values().map(BTreeSet::len).sum::<usize>() as u64;
    let code = Home::of_user().ok().and_then(|home| Code::of(&field.target, &home).ok());
    let functions = code.and_then(|code| {
        let sites: SiteSet = reached.get(&code.key())?.iter().copied().collect();
        Some(sites.functions(&code) as u64)
    });
    (functions.unwrap_or_default(), blocks)
}

fn gravest(group: &Group) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| group.members.iter().any(|member| member.kind == kind.word()))
}

/// Has the campaign go on with what waits to be reduced, and with nothing else.
fn finish(field: &Field, campaign: &Path) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { path: campaign.to_owned(), source };
    std::process::Command::new(&field.osprey)
        .args(["fuzz", "--resume", "--reduce-all", "--iterations", "1", "--out"])
        .arg(campaign)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .map(|_| ())
        .map_err(failed)
}

/// Kinds with a column of their own.
const KINDS: [Kind; 4] =
    [Kind::RefutationSoundness, Kind::SolutionSoundness, Kind::InvalidModel, Kind::Crash];

fn fill(report: &mut Report, settings: &Settings, results: &[Vec<CampaignResult>]) {
    let field = &settings.field;
    report.summary.push(format!(
        "{} seeds, {:.0} s of CPU time on one core per campaign, campaigns per variant: {}, with different random \
         seeds; {} with {} as reference. Means over the campaigns; bugs are groups of findings.",
        field.seeds.len(),
        field.budget.as_secs_f64(),
        settings.repeat,
        spec(&field.target),
        spec(&field.reference),
    ));
    let mut table = Table::new(
        "",
        &[
            "variant",
            "campaigns",
            "bugs",
            "deviation",
            "refutation",
            "solution",
            "model",
            "crash",
            "other",
            "signatures in all",
            "in no other variant",
            "test runs per CPU s",
            "tests per CPU s after a minute",
            "own CPU",
            "functions",
            "blocks",
        ],
    );
    let signatures: Vec<BTreeSet<&str>> = results
        .iter()
        .map(|all| all.iter().flat_map(|one| one.signatures.iter().map(String::as_str)).collect())
        .collect();
    for (number, (variant, all)) in settings.variants.iter().zip(results).enumerate() {
        let of = |figure: &dyn Fn(&CampaignResult) -> f64| mean(all.iter().map(figure));
        let by_kind = |kind: &Kind| of(&|one| one.bugs.get(kind).copied().unwrap_or(0) as f64);
        let known: f64 = KINDS.iter().map(by_kind).sum();
        let elsewhere: BTreeSet<&str> = signatures
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number)
            .flat_map(|(_, signatures)| signatures.iter().copied())
            .collect();
        let cpu: f64 = all.iter().map(|one| one.effort.cpu.as_secs_f64()).sum();
        let own: f64 = all.iter().map(|one| one.effort.own_cpu.as_secs_f64()).sum();
        table.row([
            variant.name.as_str().into(),
            all.len().into(),
            of(&|one| one.bugs() as f64).into(),
            deviation(all.iter().map(|one| one.bugs() as f64)).into(),
            by_kind(&KINDS[0]).into(),
            by_kind(&KINDS[1]).into(),
            by_kind(&KINDS[2]).into(),
            by_kind(&KINDS[3]).into(),
            (of(&|one| one.bugs() as f64) - known).into(),
            signatures[number].len().into(),
            signatures[number].difference(&elsewhere).count().into(),
            of(&CampaignResult::on_tests).into(),
            of(&|one| one.settled.0 as f64 * 1e6 / one.settled.1.max(1) as f64).into(),
            Cell::percent(own, cpu),
            of(&|one| one.functions as f64).into(),
            of(&|one| one.blocks as f64).into(),
        ]);
    }
    report.tables.push(table);
    let mut each = Table::detail("Every campaign", &["variant", "repetition", "CPU s", "bugs", "signatures"]);
    for (variant, all) in settings.variants.iter().zip(results) {
        for (repetition, one) in all.iter().enumerate() {
            each.row([
                variant.name.as_str().into(),
                repetition.into(),
                one.effort.cpu.as_secs_f64().into(),
                one.bugs().into(),
                one.signatures.iter().cloned().collect::<Vec<_>>().join("; ").into(),
            ]);
        }
    }
    report.tables.push(each);
    // Which variants share what they found: the paper of Falcon shows it as circles.
    let mut shared: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for signature in signatures.iter().flatten().collect::<BTreeSet<_>>() {
        let found = settings.variants.iter().zip(&signatures).filter(|(_, known)| known.contains(*signature));
        *shared.entry(found.map(|(variant, _)| variant.name.as_str()).collect()).or_default() += 1;
    }
    let mut overlap = Table::detail("Signatures by who found them", &["variants", "signatures"]);
    for (variants, count) in shared {
        overlap.row([variants.join(", ").into(), count.into()]);
    }
    report.tables.push(overlap);
    for variant in &settings.variants {
        report.notes.push(format!("{}: `osprey fuzz ... {}`", variant.name, variant.words));
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = figures.fold((0.0, 0.0), |(count, sum), figure| (count + 1.0, sum + figure));
    if count > 0.0 { sum / count } else { f64::NAN }
}

/// The standard deviation of a sample.
fn deviation(figures: impl Iterator<Item = f64> + Clone) -> f64 {
    let middle = mean(figures.clone());
    let count = figures.clone().count();
    if count < 2 {
        return f64::NAN;
    }
    (figures.map(|figure| (figure - middle).powi(2)).sum::<f64>() / (count - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_has_a_name_and_words() {
        let variant: Variant = "uniform=--engine diver --diver-uniform".parse().expect("a variant");
        assert_eq!(
            (variant.name.as_str(), variant.words.as_str()),
            ("uniform", "--engine diver --diver-uniform")
        );
        assert_eq!("default=".parse::<Variant>().expect("no words are words too").words, "");
        for text in ["--engine diver", "=x", "a/b=x", "../a=x"] {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }

    #[test]
    fn seeds_are_told_apart_by_what_is_in_them() {
        let place = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let (one, other) = (file("one", "(check-sat)"), file("other", "(exit)"));
        let hash = |seeds: &[PathBuf]| hash_of(seeds).expect("readable");
        assert_ne!(hash(std::slice::from_ref(&one)), hash(std::slice::from_ref(&other)));
        assert_ne!(hash(&[one.clone(), other.clone()]), hash(&[other, one]));
    }

    #[test]
    fn mean_and_deviation_are_those_of_a_sample() {
        let figures = [2.0, 4.0, 9.0];
        assert!((mean(figures.into_iter()) - 5.0).abs() < 1e-9);
        assert!((deviation(figures.into_iter()) - 13.0f64.sqrt()).abs() < 1e-9);
        assert!(mean(std::iter::empty()).is_nan() && deviation([1.0].into_iter()).is_nan());
    }
}
