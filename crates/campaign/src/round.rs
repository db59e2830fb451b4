//! Opening a round: from a plan to an engine's bench. The same for a campaign and for making a finding's test case
//! again.

use std::collections::BTreeMap;

use engines::{Ask, Bench, Seed};
use generate::{Config, Grammar, Rng};
use smtlib::logic::Usage;
use smtlib::{Command, Mode, Release, Script, Store, print};

use crate::config::Identity;
use crate::plan::{Plan, Planned};
use crate::seeds::SeedText;
use crate::streams::{Purpose, stream};
use crate::target::Target;

/// What an engine's bench is made of.
pub struct Opened {
    pub seeds: Vec<Seed>,
    /// The texts of the seeds, and whether they were generated here.
    pub ancestors: Vec<(SeedText, bool)>,
    pub grammar: Grammar,
    pub rng: Rng,
}

impl Opened {
    /// The bench for an engine, with somebody to ask.
    pub fn bench<'b>(&'b mut self, store: &'b mut Store, ask: &'b mut dyn Ask) -> Bench<'b> {
        Bench { store, rng: &mut self.rng, ask, grammar: &self.grammar, seeds: &self.seeds }
    }
}

/// Grammars by logic and group of solvers: making one looks at the whole theory table.
#[derive(Default)]
pub struct Grammars {
    known: BTreeMap<(String, Vec<usize>), Option<Grammar>>,
}

/// Grammars kept: more than there are logics in any set of seeds.
const GRAMMARS: usize = 256;

impl Grammars {
    /// The grammar of a logic for a group of solvers; nothing if the logic has no name we know.
    fn get(&mut self, logic: &str, targets: &[Target], company: &[usize]) -> Option<&Grammar> {
        if self.known.len() > GRAMMARS {
            self.known.clear();
        }
        let key = (logic.to_owned(), company.to_vec());
        let grammar = self.known.entry(key).or_insert_with(|| {
            let group: Vec<&Target> = company.iter().filter_map(|i| targets.get(*i)).collect();
            let releases: Vec<Release> = group.iter().map(|target| target.release).collect();
            let mut config = Config::default();
            for row in smtlib::theory::table().rows() {
                let lacking = group.iter().any(|target| !target.has(crate::target::name(row.theory)));
                if lacking {
                    config.theories.insert(format!("{:?}", row.theory), 0.0);
                }
            }
            let all_have = |name: &str| group.iter().all(|target| target.has(name));
            if !all_have("quantifiers") {
                config.quantifiers = 0.0;
            }
            if !all_have("datatypes") {
                config.datatypes = 0.0;
            }
            Grammar::new(logic, &releases, config).ok()
        });
        grammar.as_ref()
    }
}

/// Prepares a round in a fresh store. `None` if a seed cannot be read, which cannot happen with those of the pool.
pub fn open(
    store: &mut Store,
    grammars: &mut Grammars,
    plan: &Plan,
    identity: &Identity,
    targets: &[Target],
) -> Option<Opened> {
    let mut source = stream(identity.rng_seed, plan.round, Purpose::Seed);
    let mut seeds = Vec::new();
    let mut ancestors = Vec::new();
    for planned in &plan.seeds {
        let (script, text, generated) = match planned {
            Planned::Text(text) => {
                let parsed = smtlib::parse(store, text.text.as_bytes(), Mode::Tolerant).ok()?;
                (parsed.script, text.clone(), false)
            }
            Planned::Generated => {
                let grammar = grammars.get(&plan.logic, targets, &plan.company)?.swarm(&mut source);
                let script = grammar.script(store, &mut source);
                let text = print::print(store, &script, Release::STANDARD);
                (script, SeedText::new("generated", text), true)
            }
        };
        let status = script.status(store).map(|status| (status, format!(":status of {}", text.name)));
        seeds.push(Seed { name: text.name.clone(), script, status });
        ancestors.push((text, generated));
    }
    let logic = match seeds.as_slice() {
        [] => plan.logic.clone(),
        [seed] => logic_of(store, &seed.script),
        _ => "ALL".to_owned(),
    };
    let grammar = match grammars.get(&logic, targets, &plan.company) {
        Some(grammar) => grammar.clone(),
        None => grammars.get("ALL", targets, &plan.company)?.clone(),
    };
    let rng = stream(identity.rng_seed, plan.round, Purpose::Engine);
    Some(Opened { seeds, ancestors, grammar, rng })
}

/// The logic that new terms of a seed's mutants must stay in: its own, else the smallest that fits.
fn logic_of(store: &Store, script: &Script) -> String {
    match script.logic(store) {
        Some(logic) => logic.to_owned(),
        None => smtlib::logic::usage(store, script).logic(),
    }
}

/// The script as solvers get it: without what the seed's file says about itself, which is not true of a mutant (Z3
/// complains about a wrong `:status`), and in the logic `ALL` if it uses what no standard logic has (Z3 hides its own
/// operators in the others). It always begins with a setting, as fast starts need it. With what it uses.
pub fn runnable(store: &mut Store, script: &Script) -> (Script, Usage) {
    let mut script = script.clone();
    let usage = smtlib::logic::widen(store, &mut script);
    script.commands.retain(|command| match command {
        Command::SetInfo(keyword, _) => store.name(*keyword) == VERSION,
        Command::GetProof | Command::GetAssertions | Command::Exit => false,
        _ => true,
    });
    if !script.commands.iter().any(Command::is_check) {
        script.commands.push(Command::CheckSat);
    }
    let set = |command: &Command| {
        matches!(command, Command::SetLogic(_) | Command::SetOption(..) | Command::SetInfo(..))
    };
    if !script.commands.first().is_some_and(set) {
        let version = Command::SetInfo(store.symbol(VERSION), "2.6".into());
        script.commands.insert(0, version);
    }
    (script, usage)
}

/// The one piece of information that changes how a script is read.
const VERSION: &str = ":smt-lib-version";
