//! From the inputs of a session to findings: confirmed by repetition, made small, told apart.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use campaign::findings::{self, Origin, Releases, Shrunk, Signature, Small, Stage};
use campaign::triage::{self, Extent};
use campaign::{Finding, hash};
use eval::Expectation;
use oracle::Kind;
use reduce::blame::{Blame, Blamed, Role};
use reduce::driver::Best;
use reduce::{Effort, Input, Progress as Reducing, Watcher};
use serde::{Deserialize, Serialize};
use smtlib::theory::table;
use smtlib::{Mode, Script, Store, print};
use solver::run::{Run, Runners, SolverRunners};

use crate::construct::Construct;
use crate::cores;
use crate::error::PerfError;
use crate::files;
use crate::learned::Ranked;
use crate::meter::{Meter, Outcome, Score, Scored};
use crate::search::Method;
use crate::session::{Record, Settings, Watch};
use crate::since;
use crate::slow::{SHORTEST, Slow};

/// What is to be done with the inputs found.
#[derive(Clone, Debug)]
pub struct CollectRules {
    /// The target must need so many times as long as every reference.
    pub ratio: f64,
    /// Time on the clock for making each input small; none leaves them as they are.
    pub reduce: Option<Duration>,
    /// Ask the installed releases of the target which of them are slow.
    pub bisect: bool,
}

/// A finding, in short: one gap, and all inputs that show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collected {
    pub folder: PathBuf,
    pub method: Method,
    pub run: usize,
    pub ratio: f64,
    /// Net of the start, in the unit of the score: the target, and the slowest reference.
    pub target: f64,
    /// The target came to no end.
    pub timed_out: bool,
    pub reference: f64,
    /// CPU seconds of whole runs, the target first.
    pub cpu: Vec<f64>,
    /// What the input is made of: what was rewarded first, in the order of the ranking.
    pub constructs: Vec<String>,
    /// How many of these were rewarded.
    #[serde(default)]
    pub rewarded: usize,
    /// What it is told apart by: the solver, and those of its constructs that tell.
    pub signature: String,
    /// How many more inputs were taken for the same gap, and these.
    pub duplicates: usize,
    #[serde(default)]
    pub alike: Vec<Alike>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<Releases>,
    /// Since when it is slow, in words, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    pub script: String,
}

/// Another input that shows a gap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alike {
    pub method: Method,
    pub run: usize,
    pub ratio: f64,
    pub script: String,
}

impl Collected {
    /// The best ratio of all its inputs.
    pub fn best(&self) -> f64 {
        self.alike.iter().map(|one| one.ratio).fold(self.ratio, f64::max)
    }

    /// No release was asked since when it is slow.
    fn is_unasked(&self) -> bool {
        self.releases.is_none() && self.since.is_none()
    }
}

/// What `collected.json` says: a resumed session does nothing again that is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    found: Vec<Collected>,
    /// Hashes of inputs that were dealt with, whatever came of them.
    seen: BTreeSet<String>,
}

/// The constructs by which gaps are told apart, of those that are left after reduction and were rewarded: the first ones.
const TELLING: usize = 3;
/// A gap that is confirmed is seen so many times more.
const CONFIRMATIONS: usize = 2;
/// A reduced input need not keep a larger ratio than this.
const KEPT: f64 = 100.0;
/// Bounds of the CPU seconds that a reduced input takes at least.
const LEAST: (f64, f64) = (0.2, 1.0);

/// Confirms, reduces and writes down what is slow enough.
pub fn collect(
    settings: &Settings,
    records: &[Record],
    ranking: &[Ranked],
    rules: &CollectRules,
    watch: &dyn Watch,
) -> Result<Vec<Collected>, PerfError> {
    let mut slow: Vec<&Record> = records.iter().collect();
    slow.retain(|record| {
        record.found.slow.as_ref().is_some_and(|slow| is_slow(settings, &slow.scored, rules.ratio))
    });
    let path = settings.out.join("collected.json");
    let mut kept: Kept = files::read_json(&path)?.unwrap_or_default();
    // A person may have thrown some away.
    kept.found.retain(|known| known.folder.is_dir());
    let text = |record: &Record| record.found.slow.as_ref().map(|slow| hash::name(slow.text.as_bytes()));
    slow.retain(|record| text(record).is_some_and(|hash| !kept.seen.contains(&hash)));
    let unasked = rules.bisect && kept.found.iter().any(Collected::is_unasked);
    if slow.is_empty() && !unasked {
        return Ok(kept.found);
    }
    // In a thread of its own: its core is not that of the caller afterwards.
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            if let Some(core) = cores::allowed().first() {
                // Where it cannot be had alone, times are repeated all the same.
                let _ = cores::pin(*core);
            }
            Collector::new(settings, ranking, rules, watch, kept)?.all(&slow)
        });
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn is_slow(settings: &Settings, scored: &Scored, ratio: f64) -> bool {
    scored.references.iter().all(|reading| reading.solved) && scored.ratio(shortest(settings)) >= ratio
}

/// What stands for a second in the unit of the score.
fn second(settings: &Settings) -> f64 {
    settings.limit() / settings.timeout.as_secs_f64()
}

/// What a reference is taken to need at least.
fn shortest(settings: &Settings) -> f64 {
    SHORTEST * second(settings)
}

/// The target was stopped at its limit.
fn is_at_limit(settings: &Settings, scored: &Scored) -> bool {
    !scored.target.solved && scored.target.used >= settings.limit()
}

struct Collector<'a> {
    settings: &'a Settings,
    ranking: &'a [Ranked],
    rules: &'a CollectRules,
    watch: &'a dyn Watch,
    runners: SolverRunners,
    meter: Meter,
    kept: Kept,
}

impl<'a> Collector<'a> {
    fn new(
        settings: &'a Settings,
        ranking: &'a [Ranked],
        rules: &'a CollectRules,
        watch: &'a dyn Watch,
        kept: Kept,
    ) -> Result<Collector<'a>, PerfError> {
        let runners = settings.runners();
        let meter = Meter::new(
            runners.runner()?,
            settings.parties(),
            settings.timeout,
            settings.score,
            &settings.parameters.logic,
        )?;
        Ok(Collector { settings, ranking, rules, watch, runners, meter, kept })
    }

    fn all(mut self, slow: &[&Record]) -> Result<Vec<Collected>, PerfError> {
        for (number, record) in slow.iter().enumerate() {
            if self.watch.stopped() {
                break;
            }
            let Some(best) = &record.found.slow else { continue };
            let input = format!("input {} of {}", number + 1, slow.len());
            self.watch.note(&format!("{input}: {} run {}", record.method.word(), record.run));
            self.one(record, &best.text, &input)?;
            // What the user has cut short is dealt with next time.
            if !self.watch.stopped() {
                self.kept.seen.insert(hash::name(best.text.as_bytes()));
            }
            self.keep()?;
        }
        if self.rules.bisect {
            self.bisect_known()?;
        }
        Ok(self.kept.found)
    }

    fn keep(&self) -> Result<(), PerfError> {
        files::write_json(&self.settings.out.join("collected.json"), &self.kept)
    }

    /// Asks releases about findings of an earlier session that did not ask.
    fn bisect_known(&mut self) -> Result<(), PerfError> {
        for place in 0..self.kept.found.len() {
            let known = &self.kept.found[place];
            if self.watch.stopped() {
                break;
            }
            if !known.is_unasked() {
                continue;
            }
            let name = format!("finding {} of {}", place + 1, self.kept.found.len());
            self.watch.note(&format!("{name}: since when it is slow"));
            let predicate = self.predicate(known.ratio, known.target);
            let releases = self.survey(&predicate, &known.script, &name)?;
            if self.watch.stopped() {
                break;
            }
            let since = self.since(releases.as_ref());
            let (mut finding, folder) = Finding::read(&known.folder)?;
            finding.releases.clone_from(&releases);
            finding.evidence.push(since.clone());
            finding.write_group(&folder)?;
            let known = &mut self.kept.found[place];
            (known.releases, known.since) = (releases, Some(since));
            self.keep()?;
        }
        Ok(())
    }

    /// What must stay of a gap while its input gets smaller, and in other releases.
    fn predicate(&self, ratio: f64, target: f64) -> Slow {
        let second = second(self.settings);
        Slow {
            parties: self.settings.parties(),
            runners: Arc::new(self.runners.clone()),
            bound: self.rules.ratio.max((ratio / 2.0).min(KEPT)),
            least: (target / 4.0).clamp(LEAST.0 * second, LEAST.1 * second),
            logic: self.settings.parameters.logic.clone(),
            score: self.settings.score,
            second,
        }
    }

    /// Puts an input to the installed releases of the target.
    fn survey(&self, predicate: &Slow, text: &str, name: &str) -> Result<Option<Releases>, PerfError> {
        let what = format!("{name}: put to other releases");
        self.watch.stage(&what);
        let best = Best::of_input(text, predicate.parties.first().cloned());
        let shown = Shown { watch: self.watch, what };
        // All of them: each costs no more than the gap does, and one that tells nothing is no reason to stop.
        Ok(triage::compare(predicate, &best, Kind::Performance, Extent::All, &shown)?.0)
    }

    /// Since when it is slow, in words.
    fn since(&self, releases: Option<&Releases>) -> String {
        let missing = releases.map(|told| since::not_installed(&self.settings.target, told));
        since::words(&self.settings.parties()[0].name(), releases, &missing.unwrap_or_default())
    }

    fn one(&mut self, record: &Record, best: &str, name: &str) -> Result<(), PerfError> {
        self.watch.stage(&format!("{name}: measured again"));
        let Some(scored) = self.confirmed(best)? else {
            self.watch.note("it does not repeat");
            return Ok(());
        };
        let predicate = self.predicate(scored.ratio(shortest(self.settings)), scored.target.used);
        let input = in_dialect(best, predicate.parties[0].release());
        let reduced = match self.rules.reduce {
            None => None,
            Some(time) => {
                let effort = Effort { jobs: 1, time: Some(time) };
                let shown = Shown { watch: self.watch, what: format!("{name}: made small") };
                match reduce::reduce(
                    Input { text: input.as_bytes(), witness: None },
                    &predicate,
                    &effort,
                    &shown,
                ) {
                    Ok(reduced) => Some(reduced),
                    Err(reduce::ReduceError::NotInteresting(_) | reduce::ReduceError::Flaky { .. }) => {
                        self.watch.note("it does not repeat when it is to be made small, and stays as it is");
                        None
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let text = reduced.as_ref().map_or(&input, |reduced| &reduced.best.text).clone();
        self.watch.stage(&format!("{name}: measured once more"));
        let Some(scored) = self.confirmed(&text)? else {
            self.watch.note("what is left of it does not repeat");
            return Ok(());
        };
        let runs = self.meter.runs(&text)?;
        let releases = match self.rules.bisect {
            true => self.survey(&predicate, &text, name)?,
            false => None,
        };
        let shrunk = reduced.map(|reduced| Shrunk {
            before: reduced.before,
            after: reduced.best.size,
            candidates: reduced.candidates,
            seconds: reduced.elapsed.as_secs_f64(),
            finished: reduced.finished,
        });
        self.write(record, &input, &text, &scored, runs, shrunk, releases)
    }

    /// The least of several measurements, if all of them are slow enough.
    fn confirmed(&mut self, text: &str) -> Result<Option<Scored>, PerfError> {
        let mut least: Option<Scored> = None;
        for _ in 0..=CONFIRMATIONS {
            let Outcome::Scored(scored) = self.meter.whole(text)? else {
                return Ok(None);
            };
            if !is_slow(self.settings, &scored, self.rules.ratio) {
                return Ok(None);
            }
            let shortest = shortest(self.settings);
            if least.as_ref().is_none_or(|least| scored.ratio(shortest) < least.ratio(shortest)) {
                least = Some(scored);
            }
        }
        Ok(least)
    }

    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        record: &Record,
        input: &str,
        text: &str,
        scored: &Scored,
        runs: Vec<Run>,
        shrunk: Option<Shrunk>,
        releases: Option<Releases>,
    ) -> Result<(), PerfError> {
        let Some(target) = runs.first().cloned() else { return Ok(()) };
        let slowest = (1..runs.len()).max_by_key(|place| runs[*place].outcome.cpu_time).unwrap_or(0);
        let shortest = shortest(self.settings);
        let reference = scored.references.iter().map(|one| one.used).fold(shortest, f64::max);
        let cpu: Vec<f64> = runs.iter().map(|run| run.outcome.cpu_time.as_secs_f64()).collect();
        // A verdict is about time, whatever the session went by.
        let (slow, fast) = match self.settings.score {
            Score::Cpu => (scored.target.used, reference),
            Score::Resource => (cpu[0], cpu[slowest].max(SHORTEST)),
        };
        let (slow, fast) = (Duration::from_secs_f64(slow), Duration::from_secs_f64(fast));
        let mut verdict = oracle::performance::verdict(&target, slow, &runs[slowest], fast);
        let names: Vec<String> = self.settings.parties().iter().map(|party| party.name()).collect();
        let ended = match (scored.target.solved, is_at_limit(self.settings, scored)) {
            (true, _) => "",
            (false, true) => ", its limit,",
            (false, false) => " without an answer",
        };
        let amount = |used: f64| shown_amount(self.settings.score, used);
        let what = match self.settings.score {
            Score::Cpu => "CPU time",
            Score::Resource => "the solver's own count of steps",
        };
        let each = |figures: &[f64], shown: &dyn Fn(f64) -> String| {
            let each = names.iter().zip(figures).map(|(name, figure)| format!("{name} {}", shown(*figure)));
            each.collect::<Vec<_>>().join(", ")
        };
        verdict.evidence = vec![
            format!(
                "{what} net of the start: {}{ended} against {} of the slowest reference, {:.0} times as much, the least of \
                 {} measurements",
                amount(scored.target.used),
                amount(reference),
                scored.ratio(shortest),
                CONFIRMATIONS + 1
            ),
            format!(
                "the starts alone: {}",
                each(self.meter.starts(), &|start| match self.settings.score {
                    Score::Cpu => format!("{:.0} ms", start * 1000.0),
                    Score::Resource => amount(start),
                })
            ),
        ];
        if self.settings.score == Score::Resource {
            verdict
                .evidence
                .push(format!("CPU time of whole runs: {}", each(&cpu, &|cpu| format!("{cpu:.2} s"))));
        }
        let since = self.rules.bisect.then(|| self.since(releases.as_ref()));
        verdict.evidence.extend(since.clone());
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok();
        let operators = match &parsed {
            Some(parsed) => findings::operators(&store, &parsed.script),
            None => findings::operators_in(text),
        };
        let (rewarded, others) = ranked(&operators, self.ranking);
        let telling = telling(&rewarded, &others);
        if !rewarded.is_empty() {
            let named = rewarded.join(", ");
            verdict
                .evidence
                .push(format!("its constructs that were rewarded, the most rewarding first: {named}"));
        }
        if !others.is_empty() {
            verdict.evidence.push(format!("its other constructs: {}", others.join(", ")));
        }
        let solver = target.configuration.solver.name();
        let origin = Origin {
            rng_seed: self.settings.rng_seed,
            round: record.run as u64,
            engine: format!("perf ({})", record.method.word()),
            logic: self.settings.parameters.logic.clone(),
            script: hash::name(input.as_bytes()),
            ..Origin::default()
        };
        let small = shrunk.as_ref().map(|_| Small { script: text.to_owned(), witness: None, ground: None });
        let mut finding = Finding {
            osprey: env!("CARGO_PKG_VERSION").to_owned(),
            found: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            kind: Kind::Performance,
            title: target.configuration.solver.adapter.title.clone(),
            signature: Signature::of_script(&verdict, &solver, &runs, &telling, None),
            solver,
            summary: String::new(),
            flaky: false,
            stage: shrunk.map_or(Stage::Unreduced, Stage::Reduced),
            expectation: Expectation::Agree,
            answer: None,
            evidence: Vec::new(),
            accused: verdict.accused,
            check: None,
            platform: String::new(),
            runs: Vec::new(),
            operators,
            blame: blamed(&telling, parsed.as_ref().map(|parsed| (&store, &parsed.script))),
            releases: releases.clone(),
            group: None,
            handling: campaign::findings::Handling::default(),
            provenance: origin,
        };
        finding.describe(&verdict, &runs, None);
        let bugs = self.settings.out.join("bugs");
        std::fs::create_dir_all(&bugs).map_err(|error| PerfError::disk(&bugs, error))?;
        let signature = finding.signature.to_string();
        if let Some(known) = self.kept.found.iter_mut().find(|known| known.signature == signature) {
            known.duplicates += 1;
            let name = format!("{}.smt2", known.duplicates);
            files::write(&known.folder.join("duplicates").join(name), text)?;
            let (method, run, ratio) = (record.method, record.run, scored.ratio(shortest));
            known.alike.push(Alike { method, run, ratio, script: text.to_owned() });
            return Ok(());
        }
        // One that is there already, from a session whose list is lost: what a person has marked stays.
        let folder = match known_folder(&bugs, &finding.signature) {
            Some(folder) => folder,
            None => finding.write(&bugs, input, None, small.as_ref())?,
        };
        self.kept.found.push(Collected {
            folder,
            method: record.method,
            run: record.run,
            ratio: scored.ratio(shortest),
            target: scored.target.used,
            timed_out: is_at_limit(self.settings, scored),
            reference,
            cpu,
            rewarded: rewarded.len(),
            constructs: [rewarded, others].concat(),
            signature,
            duplicates: 0,
            alike: Vec::new(),
            releases,
            since,
            script: text.to_owned(),
        });
        Ok(())
    }
}

/// The finding in a folder that has this signature.
fn known_folder(bugs: &Path, signature: &Signature) -> Option<PathBuf> {
    let folders = findings::finished(bugs).ok()?;
    folders.into_iter().find(|folder| {
        Finding::read(folder).is_ok_and(|(known, _)| known.signature.to_string() == signature.to_string())
    })
}

/// The constructs that tell a gap apart as what is to blame, so that reports name and group them. Nothing was taken out to
/// see: the ranking says it.
fn blamed(telling: &[String], script: Option<(&Store, &Script)>) -> Blame {
    let occurrences = |name: &String| {
        let Some((store, script)) = script else { return 1 };
        let roots: Vec<_> = script.assertions().collect();
        let named = |term: &smtlib::Term| store.op_of(*term).is_some_and(|op| op.row().name == name);
        store.subterms(&roots).into_iter().filter(named).count().max(1) as u32
    };
    let one = |name: &String| Blamed {
        construct: name.clone(),
        role: Role::Computes,
        occurrences: occurrences(name),
        needed: 1,
        stays_with: Vec::new(),
        untried: false,
        bystander: false,
        observer: false,
        share: None,
    };
    Blame::from(telling.iter().map(one).collect::<Vec<_>>())
}

/// What was used, in words.
pub fn shown_amount(score: Score, used: f64) -> String {
    match score {
        Score::Cpu => format!("{used:.2} s"),
        Score::Resource => format!("{used:.0} steps"),
    }
}

/// The operators that were rewarded, in the order of a ranking, and the others.
pub fn ranked(operators: &[String], ranking: &[Ranked]) -> (Vec<String>, Vec<String>) {
    let place = |name: &String| {
        // Arms call rounding modes by their short names, and tell operators of several theories apart.
        let mut names: Vec<String> =
            table().named(name).iter().map(|op| Construct::Operator(*op).to_string()).collect();
        names.push(name.clone());
        let own = |one: &Ranked| {
            let is_for = |name: &String| {
                one.construct
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            one.rewards > 0 && names.iter().any(is_for)
        };
        ranking.iter().position(own)
    };
    let mut rewarded: Vec<(usize, String)> =
        operators.iter().filter_map(|name| Some((place(name)?, name.clone()))).collect();
    rewarded.sort();
    let others = operators.iter().filter(|name| place(name).is_none()).cloned().collect();
    (rewarded.into_iter().map(|(_, name)| name).collect(), others)
}

/// What a gap is told apart by: the most rewarding of what is left of its input. Where nothing of that was rewarded, all that
/// the reducer could not take away.
fn telling(rewarded: &[String], others: &[String]) -> Vec<String> {
    match rewarded.is_empty() {
        true => others.to_vec(),
        false => rewarded.iter().take(TELLING).cloned().collect(),
    }
}

/// A text of the standard dialect in that of a release.
pub fn in_dialect(text: &str, release: smtlib::Release) -> String {
    let mut store = Store::new();
    match smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) {
        Ok(parsed) => print::print(&store, &parsed.script, release),
        Err(_) => text.to_owned(),
    }
}

/// A reduction, or a survey of releases, as the session's audience sees it.
struct Shown<'a> {
    watch: &'a dyn Watch,
    what: String,
}

impl Watcher for Shown<'_> {
    fn progress(&self, progress: &Reducing) {
        let Reducing { before, now, candidates, .. } = progress;
        self.watch.stage(&format!(
            "{}: {} of {} expressions left, {candidates} candidates",
            self.what, now.nodes, before.nodes
        ));
    }

    fn stop(&self) -> bool {
        self.watch.stopped()
    }
}

/// The folder of a session's findings.
pub fn bugs(out: &Path) -> PathBuf {
    out.join("bugs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::Learned;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_gap_is_told_apart_by_what_was_rewarded_or_by_all_that_is_left() {
        let mut learned = Learned::default();
        for (name, rewarded) in
            [("fp.rem", true), ("RNE", true), ("RNE", false), ("fp.abs", false), ("fp.sqrt", true)]
        {
            learned.record(name, rewarded);
        }
        let left = names(&["fp.abs", "fp.lt", "fp.rem", "roundNearestTiesToEven"]);
        let (rewarded, others) = ranked(&left, &learned.ranking());
        assert_eq!(rewarded, ["fp.rem", "roundNearestTiesToEven"]);
        assert_eq!(others, ["fp.abs", "fp.lt"]);
        assert_eq!(telling(&rewarded, &others), rewarded);
        let (rewarded, others) = ranked(&names(&["fp.abs", "fp.lt"]), &learned.ranking());
        assert_eq!(telling(&rewarded, &others), ["fp.abs", "fp.lt"]);
    }
}
