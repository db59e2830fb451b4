//! What a round does: engine, seeds, logic. Decided from the learned state and the round's own stream; once decided,
//! the plan and the rng seed determine the test cases.

use engines::Engine;
use generate::Rng;
use serde::{Deserialize, Serialize};

use crate::config::Identity;
use crate::learned::{self, Learned};
use crate::pool::Pool;
use crate::seeds::SeedText;
use crate::streams::{Purpose, stream};
use crate::target::Target;

/// What a round does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub round: u64,
    pub engine: String,
    pub seeds: Vec<Planned>,
    /// The logic of what is generated where no seed decides it.
    pub logic: String,
    /// Numbers of the solvers whose common operators are used. With many solvers, now one group and now another.
    pub company: Vec<usize>,
}

/// A seed of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    Text(SeedText),
    /// Generated in the round, from its stream of that purpose.
    Generated,
}

impl Planned {
    /// The seed's hash, or that it is generated.
    pub fn name(&self) -> &str {
        match self {
            Planned::Text(seed) => &seed.hash,
            Planned::Generated => "generated",
        }
    }
}

/// Where a finding's test case comes from: enough to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub rng_seed: u64,
    pub round: u64,
    pub step: usize,
    pub engine: String,
    pub logic: String,
    pub company: Vec<usize>,
    pub seeds: Vec<Ancestor>,
    /// Of the test case's text in the standard dialect, before it was made smaller.
    pub script: String,
    /// What the engine did, in its own words.
    pub changes: Vec<String>,
    /// What the engine was told of the steps before, a letter a flag.
    pub feedback: Vec<String>,
}

/// A seed of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    pub name: String,
    /// Of its text, which the campaign's database has; generated seeds come out of the round's stream again.
    pub hash: String,
    pub generated: bool,
}

/// Logics for scripts from nothing, tried by those solvers that have their theories.
const LOGICS: [(&str, &[&str]); 34] = [
    ("QF_UF", &["functions"]),
    ("QF_LIA", &["ints"]),
    ("QF_NIA", &["ints"]),
    ("QF_LRA", &["reals"]),
    ("QF_NRA", &["reals"]),
    ("QF_LIRA", &["ints", "reals"]),
    ("QF_NIRA", &["ints", "reals"]),
    ("QF_IDL", &["ints"]),
    ("QF_RDL", &["reals"]),
    ("QF_BV", &["bitvectors"]),
    ("QF_ABV", &["bitvectors", "arrays"]),
    ("QF_AUFBV", &["bitvectors", "arrays", "functions"]),
    ("QF_UFBV", &["bitvectors", "functions"]),
    ("QF_FP", &["floats"]),
    ("QF_BVFP", &["floats", "bitvectors"]),
    ("QF_ABVFP", &["floats", "bitvectors", "arrays"]),
    ("QF_AX", &["arrays", "functions"]),
    ("QF_ALIA", &["arrays", "ints"]),
    ("QF_AUFLIA", &["arrays", "functions", "ints"]),
    ("QF_UFLIA", &["functions", "ints"]),
    ("QF_UFLRA", &["functions", "reals"]),
    ("QF_UFNIA", &["functions", "ints"]),
    ("QF_S", &["strings", "regexes", "ints"]),
    ("QF_SLIA", &["strings", "regexes", "ints"]),
    ("QF_DT", &["datatypes"]),
    ("QF_UFDT", &["datatypes", "functions"]),
    ("LIA", &["quantifiers", "ints"]),
    ("NIA", &["quantifiers", "ints"]),
    ("LRA", &["quantifiers", "reals"]),
    ("NRA", &["quantifiers", "reals"]),
    ("BV", &["quantifiers", "bitvectors"]),
    ("UFLIA", &["quantifiers", "functions", "ints"]),
    ("AUFLIRA", &["quantifiers", "arrays", "functions", "ints", "reals"]),
    (
        "ALL",
        &[
            "quantifiers",
            "arrays",
            "functions",
            "ints",
            "reals",
            "bitvectors",
            "floats",
            "datatypes",
            "strings",
            "regexes",
        ],
    ),
];

/// How often a seed is generated although there are others: only where the user gave none.
const FRESH: f64 = 0.5;

/// The logics that all solvers of the group have.
pub fn logics(identity: &Identity, targets: &[Target], company: &[usize]) -> Vec<String> {
    if !identity.logics.is_empty() {
        return identity.logics.clone();
    }
    let all_have = |theories: &[&str]| {
        company
            .iter()
            .all(|i| targets.get(*i).is_some_and(|target| theories.iter().all(|name| target.has(name))))
    };
    LOGICS.iter().filter(|(_, theories)| all_have(theories)).map(|(name, _)| (*name).to_owned()).collect()
}

/// Decides a round.
pub fn plan(
    round: u64,
    identity: &Identity,
    targets: &[Target],
    engines: &[Box<dyn Engine>],
    learned: &Learned,
    pool: &Pool,
) -> Plan {
    let mut rng = stream(identity.rng_seed, round, Purpose::Plan);
    let company = company(targets.len(), &mut rng);
    // Engines that try every seed once have had their turn.
    let again = |name: &&String| !engines.iter().any(|engine| engine.name() == **name && engine.once());
    let names: Vec<String> = identity.engines.iter().filter(again).cloned().collect();
    let names = if names.is_empty() { &identity.engines } else { &names };
    let engine =
        if identity.auto { learned::choose(&mut rng, names, &learned.engines) } else { rng.pick(names) };
    let engine = engine.cloned().unwrap_or_default();
    let logics = logics(identity, targets, &company);
    let logic =
        if identity.auto { learned::choose(&mut rng, &logics, &learned.logics) } else { rng.pick(&logics) };
    let logic = logic.cloned().unwrap_or_else(|| "QF_UF".to_owned());
    let wanted = engines.iter().find(|known| known.name() == engine).map_or(1, |known| known.seeds_wanted());
    let seeds = (0..wanted)
        .map(|_| {
            let fresh = identity.seeds.is_empty() && rng.chance(FRESH);
            match pool.choose(&mut rng) {
                Some(seed) if !fresh => Planned::Text(seed.clone()),
                _ => Planned::Generated,
            }
        })
        .collect();
    Plan { round, engine, seeds, logic, company }
}

/// After this many rounds that try seeds there is one that makes something of them: a large folder must not take a whole
/// campaign.
const TRIALS: u64 = 30;

/// A round that tries a given seed as it is, if one is left and an engine does that.
pub fn trial(
    round: u64,
    identity: &Identity,
    targets: &[Target],
    engines: &[Box<dyn Engine>],
    next: impl FnOnce() -> Option<SeedText>,
) -> Option<Plan> {
    let once =
        |engine: &&dyn Engine| engine.once() && identity.engines.iter().any(|name| *name == engine.name());
    let engine = engines.iter().map(AsRef::as_ref).find(once)?;
    if round % (TRIALS + 1) == TRIALS {
        return None;
    }
    let seed = next()?;
    Some(Plan {
        round,
        engine: engine.name().to_owned(),
        seeds: vec![Planned::Text(seed)],
        logic: "ALL".to_owned(),
        company: (0..targets.len()).collect(),
    })
}

/// All solvers half of the time, else at least two of them.
fn company(solvers: usize, rng: &mut Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..solvers).collect();
    if solvers > 2 && rng.chance(0.5) {
        rng.shuffle(&mut all);
        all.truncate(rng.between(2, solvers - 1));
        all.sort_unstable();
    }
    all
}
