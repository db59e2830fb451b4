//! Policies that search option values for each test case (Falcon, section 4.2): which options is learned, which values is
//! found by what they reach.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use engines::Answered;
use falcon::search::{Memory, Search};
use falcon::space::{FairRules, Space};
use falcon::{Operations, Thresholds};
use generate::Rng;
use smtlib::Setting;
use solver::options::SolverOption;

use super::policy::{ChainOptions, Observation, OptionPolicy, PLAIN};
use crate::config::LearnedSettings;
use crate::target::Target;

/// Good vectors that a search begins with at most.
const RECALLED: usize = 3;

/// Searches the options of each test case.
pub struct Searching {
    settings: LearnedSettings,
    /// Options that are not known to matter are searched too.
    all_options: bool,
    /// Values are drawn, not searched.
    by_chance: bool,
    /// Only options that the developers take reports about, and no more of them than they allow.
    fair: bool,
    /// Good vectors by the solver's number.
    memories: Mutex<BTreeMap<usize, Arc<Memory>>>,
}

impl Searching {
    pub fn new(settings: &LearnedSettings) -> Searching {
        Searching {
            settings: settings.clone(),
            all_options: false,
            by_chance: false,
            fair: false,
            memories: Mutex::default(),
        }
    }

    pub fn fair(self) -> Searching {
        Searching { fair: true, ..self }
    }

    pub fn over_all_options(self) -> Searching {
        Searching { all_options: true, ..self }
    }

    pub fn by_chance(self) -> Searching {
        Searching { by_chance: true, ..self }
    }

    fn memory(&self, target: &Target) -> Arc<Memory> {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(memories.entry(target.number).or_default())
    }

    /// The options that are searched for a test case with these operations: those that matter for them, or all where nothing is
    /// known about the release.
    fn space(&self, target: &Target, operations: &Operations) -> Space {
        let Some(table) = &target.table else { return Space::default() };
        let known = target.correlations.as_ref().filter(|_| !self.all_options);
        let relevant = known.map(|known| known.relevant(operations, &Thresholds::default()));
        let chosen = table.options.iter().filter(|option| {
            let open = if self.fair { option.is_fair() } else { option.excluded.is_none() };
            let matters = |names: &Vec<&str>| names.binary_search(&option.name.as_str()).is_ok();
            open && !target.solver.has_set(&option.name) && relevant.as_ref().is_none_or(matters)
        });
        let chosen: Vec<&SolverOption> = chosen.collect();
        let limits = match self.fair {
            false => FairRules::default(),
            true => FairRules {
                total: Some(target.solver.fair_total()),
                by_category: target.solver.adapter.options.at_most.clone().into_iter().collect(),
            },
        };
        Space::new(chosen, limits)
    }
}

impl OptionPolicy for Searching {
    fn open<'p>(&'p self, _: &'p [Target], _: &mut Rng) -> Box<dyn ChainOptions + 'p> {
        Box::new(Searches { policy: self, by_target: BTreeMap::new(), over: false })
    }

    fn wants_own_coverage(&self) -> bool {
        self.settings.own_coverage
    }
}

/// The searches of one test case after the other.
struct Searches<'p> {
    policy: &'p Searching,
    by_target: BTreeMap<usize, TargetSearch>,
    /// What the test case shows ends it (algorithm 2, line 7).
    over: bool,
}

struct TargetSearch {
    search: Search,
    /// The generation has reached something new.
    news: bool,
    /// The most that a configuration has reached.
    most: f64,
}

impl ChainOptions for Searches<'_> {
    /// First with default options (algorithm 2, line 4).
    fn propose(&mut self, _: &Target) -> Vec<Vec<Setting>> {
        self.by_target.clear();
        self.over = false;
        PLAIN.to_vec()
    }

    fn further(&mut self, target: &Target, operations: &Operations, rng: &mut Rng) -> Vec<Vec<Setting>> {
        if self.over {
            return Vec::new();
        }
        let policy = self.policy;
        let memory = policy.memory(target);
        let known = self.by_target.entry(target.number);
        let known = known.and_modify(|known| {
            memory.remember(known.search.best());
            known.search.advance(known.news, rng);
            known.news = false;
        });
        let known = known.or_insert_with(|| {
            let space = policy.space(target, operations);
            let parameters = &policy.settings.search;
            let search = match policy.by_chance {
                true => Search::by_chance(space, parameters, rng),
                false => Search::new(space, parameters, &memory.some(RECALLED, rng), rng),
            };
            TargetSearch { search, news: false, most: 0.0 }
        });
        let mut proposed = if known.search.is_over() { Vec::new() } else { known.search.proposed() };
        proposed.retain(|settings| !settings.is_empty());
        proposed
    }

    fn observe(&mut self, seen: &Observation) {
        // More of the same test case would most likely show the same bug.
        self.over |= seen.findings > 0;
        if seen.proposed.is_empty() {
            let ended = matches!(seen.answer, Answered::Crashed | Answered::Timeout);
            self.over |= ended || seen.answer.is_rejected();
            return;
        }
        let Some(known) = self.by_target.get_mut(&seen.target.number) else { return };
        let reached =
            seen.own_functions.or(seen.new_blocks).map_or(f64::from(seen.novel), |count| count as f64);
        let fitness = if seen.answer.is_rejected() { -1.0 } else { reached };
        // All that a configuration reaches is new if no other has reached as much.
        known.news |= if seen.own_functions.is_some() { fitness > known.most } else { fitness > 0.0 };
        known.most = known.most.max(fitness);
        known.search.record(seen.proposed, fitness);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falcon::{Correlations, Operation};
    use solver::options::{OptionKind, OptionTable};

    fn option(name: &str, category: &str, unfair: bool) -> SolverOption {
        SolverOption {
            name: name.to_owned(),
            kind: OptionKind::Bool,
            default: Some("false".to_owned()),
            category: category.to_owned(),
            description: String::new(),
            excluded: (name == "limit").then(|| "a limit".to_owned()),
            unfair: unfair.then(|| "for experts".to_owned()),
        }
    }

    /// cvc5 with options of which two matter for quantifiers, one of them for experts, and one for datatypes.
    fn target() -> Target {
        let options = vec![
            option("q-common", "common", false),
            option("q-expert", "expert", true),
            option("data", "regular", false),
            option("nothing", "regular", false),
            option("limit", "common", false),
        ];
        let mut known = Correlations::of("cvc5", "1.4.2", ["q-common", "q-expert", "data", "nothing"]);
        for _ in 0..4 {
            known.count(&[Operation::Quantifier].into(), &["q-common", "q-expert"], &[], &[]);
            known.count(&[Operation::Datatype].into(), &["data"], &[], &[]);
        }
        Target::new(0, testkit::made_up("cvc5@1.4.2"))
            .with_table(Some(OptionTable { solver: "cvc5@1.4.2".to_owned(), options }))
            .correlated(Some(known))
    }

    fn seen<'a>(
        target: &'a Target,
        proposed: &'a [Setting],
        answer: Answered,
        blocks: u64,
    ) -> Observation<'a> {
        Observation {
            target,
            proposed,
            answer,
            new_blocks: Some(blocks),
            own_functions: None,
            novel: blocks as u32,
            findings: 0,
        }
    }

    /// All options that a policy sets for a test case with quantifiers, and how many configurations it tries.
    fn tried(policy: &Searching, target: &Target, blocks: u64) -> (Vec<String>, usize) {
        let mut rng = generate::rng::stream(1, 1);
        let targets = std::slice::from_ref(target);
        let mut options = policy.open(targets, &mut rng);
        assert_eq!(options.propose(target), PLAIN, "default options come first");
        options.observe(&seen(target, &[], Answered::Sat, 0));
        let (mut names, mut count) = (Vec::new(), 0);
        loop {
            let proposed = options.further(target, &[Operation::Quantifier].into(), &mut rng);
            if proposed.is_empty() {
                break;
            }
            for settings in &proposed {
                count += 1;
                names.extend(settings.iter().map(|setting| setting.option.clone()));
                options.observe(&seen(target, settings, Answered::Sat, blocks));
            }
        }
        names.sort_unstable();
        names.dedup();
        (names, count)
    }

    #[test]
    fn each_policy_searches_the_options_it_is_about() {
        let (target, settings) = (target(), LearnedSettings::default());
        let names = |policy: Searching| tried(&policy, &target, 0).0;
        assert_eq!(names(Searching::new(&settings)), ["q-common", "q-expert"]);
        assert_eq!(names(Searching::new(&settings).fair()), ["q-common"]);
        assert_eq!(names(Searching::new(&settings).by_chance()), ["q-common", "q-expert"]);
        let all = ["data", "nothing", "q-common", "q-expert"];
        assert_eq!(names(Searching::new(&settings).over_all_options()), all);
        let unknown = self::target().correlated(None);
        assert_eq!(tried(&Searching::new(&settings), &unknown, 0).0, all, "it falls back to all options");
        let without = self::target().with_table(None);
        assert_eq!(tried(&Searching::new(&settings), &without, 0), (Vec::new(), 0));
    }

    #[test]
    fn a_search_that_reaches_new_code_goes_on_for_longer() {
        let (target, settings) = (target(), LearnedSettings::default());
        let dull = tried(&Searching::new(&settings), &target, 0).1;
        let busy = tried(&Searching::new(&settings), &target, 3).1;
        assert!(dull < busy && busy <= settings.search.offspring, "{dull} {busy}");
    }

    #[test]
    fn a_test_case_that_crashes_with_default_options_is_done() {
        let (target, settings) = (target(), LearnedSettings::default());
        let policy = Searching::new(&settings);
        let mut rng = generate::rng::stream(1, 1);
        let mut options = policy.open(&[], &mut rng);
        for (answer, goes_on) in
            [(Answered::Crashed, false), (Answered::Timeout, false), (Answered::Unsat, true)]
        {
            options.propose(&target);
            options.observe(&seen(&target, &[], answer, 9));
            let further = options.further(&target, &[Operation::Quantifier].into(), &mut rng);
            assert_eq!(!further.is_empty(), goes_on, "{answer:?}");
        }
    }
}
