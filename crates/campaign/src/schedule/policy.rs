//! Option policies: which options a solver gets for a test case.

use std::collections::BTreeMap;

use engines::{Answered, Engine};
use falcon::Operations;
use generate::Rng;
use smtlib::Setting;
use solver::options::OptionTable;

use super::learned::Searching;
use crate::config::{Identity, LearnedSettings, PolicyName};
use crate::target::Target;

/// Decides the options of test cases. One value serves all workers.
pub trait OptionPolicy: Send + Sync {
    /// What decides the options of one chain of test cases.
    fn open<'p>(&'p self, targets: &'p [Target], rng: &mut Rng) -> Box<dyn ChainOptions + 'p>;

    /// May runs ask for models and other results beside the answer? They set options too.
    fn may_ask(&self) -> bool {
        true
    }

    /// Does it want to know all that a run reaches? That takes a second run.
    fn wants_own_coverage(&self) -> bool {
        false
    }
}

/// Decides the options of one chain of test cases.
pub trait ChainOptions {
    /// Configurations of a solver for a new test case, one run each: one, or several to compare. The settings come beside
    /// the user's own and those of the test case. A solver with other options is started anew, which costs more than most
    /// test cases.
    fn propose(&mut self, target: &Target) -> Vec<Vec<Setting>>;

    /// Further configurations of a solver for the same test case, after all before them have been observed. The test case is
    /// done when there are none for any solver.
    fn further(&mut self, _target: &Target, _operations: &Operations, _rng: &mut Rng) -> Vec<Vec<Setting>> {
        Vec::new()
    }

    /// What came of a configuration.
    fn observe(&mut self, _seen: &Observation) {}
}

/// What came of one configuration of a test case.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    pub target: &'a Target,
    /// As it was proposed.
    pub proposed: &'a [Setting],
    pub answer: Answered,
    /// Blocks that this run reached and nobody before it, where the solver is watched.
    pub new_blocks: Option<u64>,
    /// All functions that the configuration reaches, where that was asked for.
    pub own_functions: Option<u64>,
    /// New behaviour of the test case, all its runs together.
    pub novel: u32,
    pub findings: u32,
}

/// Share of the chains of engines with a witness that have options by default: most of the bugs that
/// DIVER's authors found needed some.
const WITNESSED: f64 = 0.5;

/// The policy of each engine of a campaign.
pub struct Policies {
    usual: Box<dyn OptionPolicy>,
    /// By the engine's name.
    own: BTreeMap<String, Box<dyn OptionPolicy>>,
}

impl Policies {
    pub fn new(identity: &Identity, engines: &[Box<dyn Engine>]) -> Policies {
        let own = engines.iter().filter_map(|engine| {
            let name = identity.policy_of(&**engine);
            let own: Box<dyn OptionPolicy> = match name {
                PolicyName::Default if engine.has_witness() => {
                    Box::new(Drawn { share: WITNESSED, open: false })
                }
                _ if name != identity.options => policy(name, &identity.learned),
                _ => return None,
            };
            Some((engine.name().to_owned(), own))
        });
        Policies { usual: policy(identity.options, &identity.learned), own: own.collect() }
    }

    pub fn of(&self, engine: &str) -> &dyn OptionPolicy {
        &**self.own.get(engine).unwrap_or(&self.usual)
    }
}

/// The policy of this name.
pub fn policy(name: PolicyName, settings: &LearnedSettings) -> Box<dyn OptionPolicy> {
    match name {
        PolicyName::Default => Box::new(Drawn { share: 0.25, open: false }),
        PolicyName::Fair => Box::new(Drawn { share: 0.5, open: false }),
        PolicyName::Random => Box::new(Drawn { share: 0.5, open: true }),
        PolicyName::Plain => Box::new(Nothing { may_ask: true }),
        PolicyName::None => Box::new(Nothing { may_ask: false }),
        PolicyName::Learned => Box::new(Searching::new(settings)),
        PolicyName::FairLearned => Box::new(Searching::new(settings).fair()),
        PolicyName::Searched => Box::new(Searching::new(settings).over_all_options()),
        PolicyName::Related => Box::new(Searching::new(settings).by_chance()),
    }
}

/// Nothing beside what the user wrote.
pub static PLAIN: [Vec<Setting>; 1] = [Vec::new()];

struct Nothing {
    may_ask: bool,
}

impl OptionPolicy for Nothing {
    fn open<'p>(&'p self, _: &'p [Target], _: &mut Rng) -> Box<dyn ChainOptions + 'p> {
        Box::new(DrawnOptions::default())
    }

    fn may_ask(&self) -> bool {
        self.may_ask
    }
}

/// Options drawn at random for a share of the chains.
struct Drawn {
    share: f64,
    /// Any options that do not change what a run means, not only those the developers stand behind.
    open: bool,
}

impl OptionPolicy for Drawn {
    fn open<'p>(&'p self, targets: &'p [Target], rng: &mut Rng) -> Box<dyn ChainOptions + 'p> {
        let mut drawn = DrawnOptions::default();
        for target in targets {
            let Some(table) = &target.table else { continue };
            if rng.chance(self.share) {
                let settings = match self.open {
                    true => target.solver.fair_options(&opened(table), rng),
                    false => target.solver.fair_options(table, rng),
                };
                drawn.by_target.insert(target.number, settings);
            }
        }
        Box::new(drawn)
    }
}

/// The same options for all test cases of a chain.
#[derive(Default)]
struct DrawnOptions {
    by_target: BTreeMap<usize, Vec<Setting>>,
}

impl ChainOptions for DrawnOptions {
    fn propose(&mut self, target: &Target) -> Vec<Vec<Setting>> {
        vec![self.by_target.get(&target.number).cloned().unwrap_or_default()]
    }

    fn observe(&mut self, seen: &Observation) {
        // It may be for the options.
        if seen.answer.is_rejected() {
            self.by_target.remove(&seen.target.number);
        }
    }
}

/// The table without the limits by category: what is excluded stays so.
fn opened(table: &OptionTable) -> OptionTable {
    let mut options = table.options.clone();
    options.retain(|option| option.excluded.is_none());
    for option in &mut options {
        option.unfair = None;
        // A category nobody limits.
        option.category = format!("any {}", option.category);
    }
    OptionTable { solver: table.solver.clone(), options }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use solver::options::{OptionKind, SolverOption};

    use super::*;

    fn target() -> Target {
        let option = |name: &str, excluded: Option<&str>, unfair: Option<&str>| SolverOption {
            name: name.to_owned(),
            kind: OptionKind::Bool,
            default: Some("false".to_owned()),
            category: "smt".to_owned(),
            description: String::new(),
            excluded: excluded.map(str::to_owned),
            unfair: unfair.map(str::to_owned),
        };
        let options = vec![
            option("smt.a", None, None),
            option("smt.b", Some("unsound by design"), None),
            option("smt.c", None, Some("for experts")),
        ];
        let target = Target::new(0, testkit::made_up("z3@5.4.0"));
        target.with_table(Some(OptionTable { solver: "z3@5.4.0".to_owned(), options }))
    }

    #[test]
    fn each_policy_sets_options_in_its_share_of_the_chains() {
        let targets = [target()];
        let mut rng = generate::rng::stream(1, 1);
        let mut set = |name| {
            let policy = policy(name, &LearnedSettings::default());
            let mut proposed: Vec<Vec<Setting>> = Vec::new();
            for _ in 0..400 {
                proposed.extend(policy.open(&targets, &mut rng).propose(&targets[0]));
            }
            proposed.retain(|settings| !settings.is_empty());
            let names = proposed.iter().flatten().map(|setting| setting.option.as_str());
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            names.dedup();
            let expected: &[&str] = match name {
                PolicyName::Random => &["smt.a", "smt.c"],
                PolicyName::None | PolicyName::Plain => &[],
                _ => &["smt.a"],
            };
            assert_eq!(names, expected, "{name}");
            proposed.len()
        };
        let default = set(PolicyName::Default);
        assert!((60..140).contains(&default), "{default}");
        let fair = set(PolicyName::Fair);
        assert!((150..250).contains(&fair), "{fair}");
        assert!(set(PolicyName::Random) > 150);
        assert_eq!((set(PolicyName::None), set(PolicyName::Plain)), (0, 0));
        let plain = [Target::new(0, testkit::made_up("z3@5.4.0"))];
        let fair = policy(PolicyName::Fair, &LearnedSettings::default());
        assert_eq!(fair.open(&plain, &mut rng).propose(&plain[0]), PLAIN, "a solver without a table");
    }

    #[test]
    fn engines_with_a_witness_have_options_in_half_of_their_chains() {
        let mut identity = Identity::of_runs(Duration::from_secs(1), 512, 1);
        let engines = engines::all();
        let targets = [target()];
        let mut set = |options, engine: &str| {
            identity.options = options;
            let policies = Policies::new(&identity, &engines);
            let mut rng = generate::rng::stream(1, 3);
            let chains = (0..400).map(|_| policies.of(engine).open(&targets, &mut rng).propose(&targets[0]));
            chains.filter(|proposed| *proposed != PLAIN).count()
        };
        for engine in ["storm", "diver"] {
            let with = set(PolicyName::Default, engine);
            assert!((150..250).contains(&with), "{engine}: {with}");
            assert_eq!(set(PolicyName::None, engine), 0, "{engine}");
        }
        let fusion = set(PolicyName::Default, "fusion");
        assert!((60..140).contains(&fusion), "{fusion}");
    }

    #[test]
    fn options_that_are_refused_are_dropped_for_the_rest_of_the_chain() {
        let targets = [target()];
        let mut rng = generate::rng::stream(1, 2);
        let always = Drawn { share: 1.0, open: false };
        let mut options = always.open(&targets, &mut rng);
        let proposed = options.propose(&targets[0]).remove(0);
        assert!(!proposed.is_empty());
        options.observe(&Observation {
            target: &targets[0],
            proposed: &proposed,
            answer: Answered::Rejected,
            new_blocks: None,
            own_functions: None,
            novel: 0,
            findings: 0,
        });
        assert_eq!(options.propose(&targets[0]), PLAIN);
    }

    #[test]
    fn an_engine_brings_its_policy_unless_the_user_chooses_one() {
        let mut identity = Identity::of_runs(Duration::from_secs(1), 512, 1);
        let tuning = engines::Tuning::default();
        let of = |identity: &Identity, name: &str| {
            identity.policy_of(&*engines::parse(name, &tuning).expect("an engine"))
        };
        identity.options = PolicyName::Default;
        assert_eq!(of(&identity, "falcon"), PolicyName::Learned);
        assert_eq!(of(&identity, "falcon+incremental"), PolicyName::Learned);
        assert_eq!(of(&identity, "falcon-search"), PolicyName::Searched);
        assert_eq!(of(&identity, "falcon-learn"), PolicyName::Related);
        assert_eq!(of(&identity, "falcon-noopt"), PolicyName::Plain);
        assert_eq!(of(&identity, "storm"), PolicyName::Default);
        identity.options = PolicyName::FairLearned;
        assert_eq!(of(&identity, "falcon"), PolicyName::FairLearned);
        assert_eq!(of(&identity, "storm"), PolicyName::FairLearned);
    }
}
