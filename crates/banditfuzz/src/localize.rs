//! Bug localisation: which constructs make solvers contradict each other (the paper's algorithm 2), and which constructs
//! findings share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use campaign::hash;
use generate::bandit::{Agent, beta_quantile};
use generate::rng;
use oracle::{Asking, Judge, Kind, Standing, Subject};
use serde::{Deserialize, Serialize};
use smtlib::{Mode, Release, Store, print};
use solver::Solver;
use solver::run::{Configuration, Purpose, Run, RunError, RunRules, Runner, SolverRunners};

use crate::error::PerfError;
use crate::files;
use crate::generator::{Generator, Mutant, Parameters};
use crate::learned::{AgentName, Learned, Ranked, Uniform};
use crate::mutate::{self, Arms};
use crate::search::Method;
use crate::seeds;
use crate::session::{self, Watch};
use crate::state::{About, Aim, Memory, State};

/// What is looked for and how.
#[derive(Clone)]
pub struct Settings {
    pub solvers: Vec<Solver>,
    pub parameters: Parameters,
    pub method: Method,
    pub agent: AgentName,
    /// Inputs that solvers are given.
    pub inputs: u64,
    /// Time on the clock of one run of a solver.
    pub timeout: Duration,
    /// Bytes.
    pub memory: u64,
    pub rng_seed: u64,
    pub seeds: Arc<[Arc<str>]>,
    pub known: Learned,
    /// Where inputs that show a bug and the state of the session are kept; nowhere if there is none.
    pub out: Option<PathBuf>,
    /// Go on with what is there.
    pub resume: bool,
}

/// What `localize.json` says: what a session is, which a resumed one must share. The number of inputs may grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub solvers: Vec<String>,
    pub parameters: Parameters,
    pub method: Method,
    pub agent: AgentName,
    /// Seconds.
    pub timeout: f64,
    /// Bytes.
    pub memory: u64,
    pub rng_seed: u64,
    /// Hash of the seeds, and of what was known.
    pub seeds: String,
    pub known: String,
}

/// What came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Localized {
    pub method: Method,
    /// Inputs that solvers were given.
    pub inputs: u64,
    /// Different inputs on which solvers are wrong.
    pub bugs: u64,
    /// By kind of misbehaviour.
    pub kinds: BTreeMap<String, u64>,
    /// Inputs made so far, and the bugs among them.
    pub curve: Vec<(f64, f64)>,
    /// Arms that were pulled, and those of them that could not be put in: others were drawn in their place.
    pub mutations: u64,
    pub failed_mutations: u64,
    /// Counts of this session alone.
    pub learned: Learned,
    /// CPU seconds of solvers.
    pub cpu: f64,
    /// Rounds of the algorithm, each with a random stream of its own.
    #[serde(default)]
    pub rounds: u64,
}

/// What `progress.json` says: a session as far as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    found: Localized,
    /// Hashes of inputs that show a bug.
    bugs: BTreeSet<String>,
    /// The last round had its new input, but no mutant any more.
    #[serde(default)]
    owed: bool,
}

impl Settings {
    fn parties(&self) -> Vec<Arc<Configuration>> {
        Configuration::numbered(self.solvers.iter().cloned()).into_iter().map(Arc::new).collect()
    }

    /// Refuses what cannot be compared, before anything is.
    pub fn check(&self) -> Result<(), PerfError> {
        let parties = self.parties();
        if parties.len() < 2 {
            return Err(PerfError::Usage(
                "solvers are compared with each other: name at least two with -s".to_owned(),
            ));
        }
        for (place, party) in parties.iter().enumerate() {
            if parties[..place].iter().any(|other| other.name() == party.name()) {
                return Err(PerfError::Usage(format!("{} is named twice", party.name())));
            }
        }
        if self.method == Method::Evolutionary {
            return Err(PerfError::Usage(
                "there is no evolutionary localisation: an input shows a bug or does not, so none is fitter than another"
                    .to_owned(),
            ));
        }
        let releases: Vec<Release> = parties.iter().map(|party| party.release()).collect();
        seeds::for_all(&self.seeds, &self.solvers)?;
        session::check_logic(&self.parameters, &releases, self.solvers.iter())
    }

    /// What a resumed session must share.
    pub fn identity(&self) -> Identity {
        let seeds: String = self.seeds.iter().map(|seed| hash::name(seed.as_bytes())).collect();
        let known = serde_json::to_string(&self.known).unwrap_or_default();
        Identity {
            solvers: self.parties().iter().map(|party| party.name()).collect(),
            parameters: self.parameters.clone(),
            method: self.method,
            agent: self.agent,
            timeout: self.timeout.as_secs_f64(),
            memory: self.memory,
            rng_seed: self.rng_seed,
            seeds: hash::name(seeds.as_bytes()),
            known: hash::name(known.as_bytes()),
        }
    }

    /// What its counts are about.
    pub fn about(&self) -> About {
        About {
            aim: Aim::Localisation,
            solvers: self.parties().iter().map(|party| party.name()).collect(),
            logic: self.parameters.logic.clone(),
            arms: self.parameters.arms,
            score: None,
        }
    }

    /// Makers of runners for it.
    pub fn runners(&self) -> SolverRunners {
        SolverRunners::new(self.parties(), RunRules::for_campaign(self.timeout, self.memory))
    }
}

/// Time between two writings of the state.
const KEEP: Duration = Duration::from_secs(10);

/// Gives solvers as many inputs as the settings say, those of an earlier session in the same folder included.
pub fn localize(
    settings: &Settings,
    mut runner: Box<dyn Runner>,
    watch: &dyn Watch,
) -> Result<Localized, PerfError> {
    let mut kept = Kept {
        found: Localized { method: settings.method, curve: vec![(0.0, 0.0)], ..Localized::default() },
        ..Kept::default()
    };
    if let Some(out) = &settings.out {
        files::claim(out, "localize.json", &settings.identity(), settings.resume)?;
        kept = files::read_json(&out.join("progress.json"))?.unwrap_or(kept);
    }
    let releases: Vec<Release> = settings.parties().iter().map(|party| party.release()).collect();
    let generator = Generator::new(&settings.parameters, &releases, Arc::clone(&settings.seeds))?;
    let mut learned = settings.known.clone();
    learned.merge(&kept.found.learned);
    let mut loop_ = Localization { settings, generator, runner: &mut *runner, learned, kept };
    let agent: Box<dyn Agent> = match settings.method {
        Method::Bandit => settings.agent.agent(),
        _ => Box::new(Uniform),
    };
    let mut written = Instant::now();
    while loop_.kept.found.inputs < settings.inputs && !watch.stopped() {
        loop_.round(&*agent)?;
        loop_.kept.found.cpu += loop_.runner.take_accounts().total().cpu.as_secs_f64();
        let found = &loop_.kept.found;
        watch.progress(&session::Progress {
            done: found.inputs as usize,
            all: settings.inputs as usize,
            best: found.bugs as f64,
            ..session::Progress::default()
        });
        if written.elapsed() >= KEEP {
            keep(settings, &loop_.kept)?;
            written = Instant::now();
        }
    }
    let kept = loop_.kept;
    keep(settings, &kept)?;
    let mut found = kept.found;
    found.curve.push((found.inputs as f64, found.bugs as f64));
    Ok(found)
}

fn keep(settings: &Settings, kept: &Kept) -> Result<(), PerfError> {
    let Some(out) = &settings.out else { return Ok(()) };
    files::write_json(&out.join("progress.json"), kept)?;
    let counts = Memory { constructs: kept.found.learned.clone(), ..Memory::default() };
    State { about: settings.about(), counts }.write(out)
}

struct Localization<'a> {
    settings: &'a Settings,
    generator: Generator,
    runner: &'a mut dyn Runner,
    /// What was known before and what this session has learned.
    learned: Learned,
    kept: Kept,
}

impl Localization<'_> {
    /// A new input; where solvers agree on it and the method mutates, a mutant of it.
    fn round(&mut self, agent: &dyn Agent) -> Result<(), PerfError> {
        // A stream for each round: a session that was cut short goes on as if it had not been.
        let owed = std::mem::take(&mut self.kept.owed);
        let found = &mut self.kept.found;
        found.rounds += u64::from(!owed);
        let stream = ((self.settings.method as u64) << 48) | found.rounds;
        let mut rng = rng::stream(self.settings.rng_seed, stream);
        let text = self.generator.fresh(&mut rng, None);
        if !owed {
            if self.is_inconsistent(&text)? || self.settings.method == Method::Random {
                return Ok(());
            }
            if self.kept.found.inputs >= self.settings.inputs {
                self.kept.owed = true;
                return Ok(());
            }
        }
        let Some(mut opened) = self.generator.open(&text) else { return Ok(()) };
        let pulled = opened.pull(agent, &self.learned, &mut rng);
        self.kept.found.mutations += pulled.failed + u64::from(pulled.mutant.is_some());
        self.kept.found.failed_mutations += pulled.failed;
        let Some(Mutant { text, arm }) = pulled.mutant else { return Ok(()) };
        let rewarded = self.is_inconsistent(&text)?;
        self.learned.record(&arm, rewarded);
        self.kept.found.learned.record(&arm, rewarded);
        Ok(())
    }

    /// Gives an input to all solvers; one that shows a bug is kept.
    fn is_inconsistent(&mut self, text: &str) -> Result<bool, PerfError> {
        let Kept { found, bugs, .. } = &mut self.kept;
        found.inputs += 1;
        let Some(kind) = misbehaviour(self.runner, &self.settings.parties(), text)? else { return Ok(false) };
        if bugs.insert(hash::name(text.as_bytes())) {
            found.bugs += 1;
            *found.kinds.entry(kind.to_string()).or_default() += 1;
            found.curve.push((found.inputs as f64, found.bugs as f64));
            if let Some(out) = &self.settings.out {
                let name = format!("{kind}-{}.smt2", &hash::name(text.as_bytes())[..12]);
                files::write(&out.join("inputs").join(name), text)?;
            }
        }
        Ok(true)
    }
}

/// What is wrong with the answers of solvers to an input, by the campaign's own judge.
pub fn misbehaviour(
    runner: &mut dyn Runner,
    parties: &[Arc<Configuration>],
    text: &str,
) -> Result<Option<Kind>, RunError> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { return Ok(None) };
    let mut runs: Vec<Run> = Vec::with_capacity(parties.len());
    for party in parties {
        let printed = print::print(&store, &parsed.script, party.release());
        runs.push(runner.run(party, printed.as_bytes(), Purpose::Test)?);
    }
    let judge = Judge::standard();
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    let mut asking = Asking::new(runner, Purpose::FollowUp);
    let verdicts = judge.judge(&mut subject, &runs, &mut asking)?;
    Ok(verdicts.iter().find(|verdict| verdict.standing == Standing::Stands).map(|verdict| verdict.kind))
}

/// A construct, and where it occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedConstruct {
    pub construct: String,
    /// Findings that have it, of how many.
    pub findings: u64,
    pub of: u64,
    /// Other inputs that have it, of how many.
    pub rest: u64,
    pub of_rest: u64,
    /// How many times as often findings have it, by the means of the posteriors, with the interval of the findings' share
    /// (95 %).
    pub lift: f64,
    pub low: f64,
    pub high: f64,
}

/// Which constructs findings share that the rest does not have, the most telling first. Each text counts once for each
/// construct.
pub fn shared(findings: &[String], rest: &[String], arms: Arms) -> Vec<SharedConstruct> {
    let count = |texts: &[String]| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for text in texts {
            let mut store = Store::new();
            let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { continue };
            let names: BTreeSet<String> = match arms {
                Arms::Constructs => reduce::blame::constructs(&store, &parsed.script)
                    .into_iter()
                    .map(|name| name.into_owned())
                    .collect(),
                Arms::Pairs => mutate::pairs(&store, &parsed.script),
            };
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
        }
        counts
    };
    let (own, others) = (count(findings), count(rest));
    let (of, of_rest) = (findings.len() as u64, rest.len() as u64);
    let mean = |count: u64, of: u64| (1.0 + count as f64) / (2.0 + of as f64);
    let mut shared: Vec<SharedConstruct> = own
        .into_iter()
        .filter(|(name, _)| !name.starts_with("logic "))
        .map(|(construct, findings)| {
            let rest = others.get(&construct).copied().unwrap_or(0);
            let (a, b) = (1.0 + findings as f64, 1.0 + (of - findings) as f64);
            SharedConstruct {
                findings,
                of,
                rest,
                of_rest,
                lift: mean(findings, of) / mean(rest, of_rest),
                low: beta_quantile(a, b, 0.025),
                high: beta_quantile(a, b, 0.975),
                construct,
            }
        })
        .collect();
    shared.sort_by(|x, y| y.lift.total_cmp(&x.lift).then_with(|| x.construct.cmp(&y.construct)));
    shared
}

/// Inputs that have nothing to do with a finding: what the rest looks like.
pub fn background(
    parameters: &Parameters,
    releases: &[Release],
    count: u64,
    rng_seed: u64,
) -> Result<Vec<String>, PerfError> {
    let mut generator = Generator::new(parameters, releases, Arc::from([]))?;
    Ok((0..count).map(|index| generator.fresh(&mut rng::stream(rng_seed, index), None)).collect())
}

/// The ranking of what was learned before and now.
pub fn ranking(settings: &Settings, found: &Localized) -> Vec<Ranked> {
    let mut all = settings.known.clone();
    all.merge(&found.learned);
    all.ranking()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(assertion: &str) -> String {
        format!(
            "(set-logic QF_SLIA)(declare-const s String)(declare-const t String)(assert {assertion})(check-sat)"
        )
    }

    #[test]
    fn what_findings_share_and_the_rest_does_not_have_comes_first() {
        let findings: Vec<String> = ["(= s (str.replace s t s))", "(str.prefixof (str.replace t s t) s)"]
            .into_iter()
            .map(script)
            .collect();
        let rest: Vec<String> = ["(= s t)", "(str.prefixof s t)", "(= s (str.++ s t))", "(str.prefixof t s)"]
            .into_iter()
            .map(script)
            .collect();
        let all = shared(&findings, &rest, Arms::Constructs);
        assert_eq!(all[0].construct, "str.replace");
        assert_eq!((all[0].findings, all[0].of, all[0].rest, all[0].of_rest), (2, 2, 0, 4));
        assert!(all.iter().skip(1).all(|other| other.lift < all[0].lift), "{all:?}");
        let pairs = shared(&findings, &rest, Arms::Pairs);
        let named = |name: &str| pairs.iter().find(|one| one.construct == name).map(|one| one.findings);
        assert_eq!(named("str.replace below ="), Some(1), "{pairs:?}");
        assert_eq!(named("str.replace below str.prefixof"), Some(1), "{pairs:?}");
    }
}
