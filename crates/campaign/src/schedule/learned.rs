//! Policies that search option values for each test case (Falcon, section 4.2): which options is learned, which values is
//! found by what they reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engines::Answered;
use falcon::economy::Economy;
use falcon::search::{Memory, Search};
use falcon::space::{FairRules, Space};
use falcon::{Correlations, Operations, Thresholds};
use generate::Rng;
use smtlib::Setting;
use solver::options::SolverOption;

use super::policy::{ChainOptions, Observation, OptionPolicy, PLAIN};
use crate::config::LearnedSettings;
use crate::target::Target;

/// Good vectors that a search begins with at most.
const RECALLED: usize = 3;

/// Vectors that run before anybody asks whether the search is worth more.
const PORTION: usize = 2;

/// Share of changes that go to options about which nobody can tell yet, where others are known to matter.
const UNKNOWN: f64 = 0.25;

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
    /// What default options and others have reached in all workers' time.
    economy: Mutex<Economy>,
}

impl Searching {
    pub fn new(settings: &LearnedSettings) -> Searching {
        Searching {
            settings: settings.clone(),
            all_options: false,
            by_chance: false,
            fair: false,
            memories: Mutex::default(),
            economy: Mutex::default(),
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

    fn memory(&self, target: usize) -> Arc<Memory> {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(memories.entry(target).or_default())
    }

    fn economy(&self) -> MutexGuard<'_, Economy> {
        self.economy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a search only end as in the paper, whatever it costs?
    fn is_patient(&self) -> bool {
        self.settings.search.paper
    }

    /// The options that are searched for a test case with these operations: those that matter for them, those about which
    /// nobody can tell, more rarely, or all where nothing is known about the release.
    fn space(&self, target: &Target, operations: &Operations) -> Space {
        let Some(table) = &target.table else { return Space::default() };
        let open = |option: &&SolverOption| {
            let open = if self.fair { option.is_fair() } else { option.excluded.is_none() };
            open && !target.solver.has_set(&option.name)
        };
        let open = table.options.iter().filter(open);
        let chosen: Vec<(&SolverOption, f64)> = match &target.correlations {
            Some(known) if !self.all_options => weighed(open, known, operations),
            _ => open.map(|option| (option, 1.0)).collect(),
        };
        let limits = match self.fair {
            false => FairRules::default(),
            true => FairRules {
                total: Some(target.solver.fair_total()),
                by_category: target.solver.adapter.options.at_most.clone().into_iter().collect(),
            },
        };
        Space::weighed(chosen, limits)
    }
}

/// Those of the options that are worth trying, and how often. What the file of correlations lacks is as unknown as what it has
/// hardly tried.
fn weighed<'o>(
    options: impl Iterator<Item = &'o SolverOption>,
    known: &Correlations,
    operations: &Operations,
) -> Vec<(&'o SolverOption, f64)> {
    let worth = known.worth_trying(operations, &Thresholds::default());
    let listed: BTreeSet<&str> = known.options().iter().map(String::as_str).collect();
    let (relevant, others): (Vec<_>, Vec<_>) =
        options.partition(|option| worth.relevant.contains(option.name.as_str()));
    let unknown: Vec<_> = others
        .into_iter()
        .filter(|option| {
            worth.unknown.contains(option.name.as_str()) || !listed.contains(option.name.as_str())
        })
        .collect();
    let weight = match relevant.len() {
        0 => 1.0,
        count => (UNKNOWN / (1.0 - UNKNOWN) * count as f64 / unknown.len().max(1) as f64).min(1.0),
    };
    let relevant = relevant.into_iter().map(|option| (option, 1.0));
    relevant.chain(unknown.into_iter().map(|option| (option, weight))).collect()
}

impl OptionPolicy for Searching {
    fn open<'p>(&'p self, _: &'p [Target], _: &mut Rng) -> Box<dyn ChainOptions + 'p> {
        Box::new(Searches {
            policy: self,
            by_target: BTreeMap::new(),
            batch: Batch::default(),
            since: Instant::now(),
        })
    }

    fn wants_own_coverage(&self) -> bool {
        self.settings.own_coverage
    }
}

/// The searches of one test case after the other.
struct Searches<'p> {
    policy: &'p Searching,
    by_target: BTreeMap<usize, TargetSearch>,
    /// What has been observed since configurations were last proposed.
    batch: Batch,
    /// The end of the batch before. The time of default runs has that of making the formula in it.
    since: Instant,
}

/// The search of one solver under test. What becomes of others is not its concern.
#[derive(Default)]
struct TargetSearch {
    /// Its answer with default options.
    default: Option<Answered>,
    search: Option<Search>,
    /// Configurations of the generation that have not run yet.
    waiting: Vec<Vec<Setting>>,
    /// The generation has reached something new.
    news: bool,
    /// The most that a configuration has reached.
    most: f64,
    over: bool,
}

/// Runs that were observed together.
#[derive(Default)]
struct Batch {
    runs: u32,
    /// They had default options.
    plain: bool,
    findings: u32,
    novel: u32,
    by_target: BTreeMap<usize, Observed>,
}

/// What a solver under test has shown in a batch.
#[derive(Default)]
struct Observed {
    runs: u32,
    timeouts: u32,
    /// It has crashed, or answers otherwise than with default options.
    suspect: bool,
    /// New blocks of all runs, of which several may have reached the same, and of one run at most.
    blocks: Option<(u64, u64)>,
}

impl Observed {
    /// What was new of it, each block once, as far as can be told.
    fn gained(&self, novel: u32) -> u64 {
        self.blocks.map_or(novel.into(), |(all, most)| all.min(most.max(novel.into())))
    }
}

impl ChainOptions for Searches<'_> {
    /// First with default options (algorithm 2, line 4).
    fn propose(&mut self, _: &Target) -> Vec<Vec<Setting>> {
        self.by_target.clear();
        self.batch = Batch::default();
        PLAIN.to_vec()
    }

    fn further(&mut self, target: &Target, operations: &Operations, rng: &mut Rng) -> Vec<Vec<Setting>> {
        self.settle();
        let policy = self.policy;
        let known = self.by_target.entry(target.number).or_default();
        if known.over {
            return Vec::new();
        }
        match &mut known.search {
            None if !policy.is_patient() && !policy.economy().begins(rng) => {
                known.over = true;
                return Vec::new();
            }
            None => {
                let space = policy.space(target, operations);
                let parameters = &policy.settings.search;
                let search = known.search.insert(match policy.by_chance {
                    true => Search::by_chance(space, parameters, rng),
                    false => {
                        let good = policy.memory(target.number).some(RECALLED, rng);
                        Search::new(space, parameters, &good, rng)
                    }
                });
                known.waiting = search.proposed();
            }
            Some(search) if known.waiting.is_empty() => {
                search.advance(known.news, rng);
                known.news = false;
                known.waiting = if search.is_over() { Vec::new() } else { search.proposed() };
            }
            Some(_) => {}
        }
        let portion = if policy.is_patient() { known.waiting.len() } else { PORTION };
        known.waiting.drain(..portion.min(known.waiting.len())).collect()
    }

    fn observe(&mut self, seen: &Observation) {
        self.batch.runs += 1;
        self.batch.plain = seen.proposed.is_empty();
        self.batch.findings = seen.findings;
        self.batch.novel = seen.novel;
        // What ails a reference is no reason to leave the solvers under test alone.
        if seen.target.reference {
            return;
        }
        let known = self.by_target.entry(seen.target.number).or_default();
        let observed = self.batch.by_target.entry(seen.target.number).or_default();
        observed.runs += 1;
        observed.timeouts += u32::from(seen.answer == Answered::Timeout);
        if let Some(new) = seen.new_blocks {
            let (all, most) = observed.blocks.unwrap_or_default();
            observed.blocks = Some((all + new, most.max(new)));
        }
        let crashed = seen.answer == Answered::Crashed;
        if seen.proposed.is_empty() {
            known.default = Some(seen.answer);
            // A crash ends the formula (algorithm 2, line 7); so does a refusal, which is not for the options.
            known.over |= crashed || seen.answer.is_rejected();
            observed.suspect |= crashed;
            return;
        }
        let definite = matches!(seen.answer, Answered::Sat | Answered::Unsat);
        observed.suspect |= crashed || definite && known.default != Some(seen.answer);
        let Some(search) = &mut known.search else { return };
        let reached =
            seen.own_functions.or(seen.new_blocks).map_or(f64::from(seen.novel), |count| count as f64);
        let fitness = if seen.answer.is_rejected() { -1.0 } else { reached };
        // All that a configuration reaches is new if no other has reached as much.
        known.news |= if seen.own_functions.is_some() { fitness > known.most } else { fitness > 0.0 };
        known.most = known.most.max(fitness);
        search.record(seen.proposed, fitness);
    }
}

impl Searches<'_> {
    /// Ends the batch: which searches go on?
    fn settle(&mut self) {
        if self.batch.runs == 0 {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        let took = self.since.elapsed();
        self.since = Instant::now();
        let suspected = batch.by_target.values().any(|observed| observed.suspect);
        let mut economy = self.policy.economy();
        if batch.plain {
            let gained = batch.by_target.values().map(|observed| observed.gained(batch.novel)).sum();
            economy.plain(gained, took);
        }
        for (number, observed) in &batch.by_target {
            let Some(known) = self.by_target.get_mut(number) else { continue };
            // More of the same test case would most likely show the same bug again: of whoever looks guilty, or of all of
            // them where nobody does.
            known.over |= batch.findings > 0 && (observed.suspect || !suspected);
            let Some(search) = known.search.as_ref().filter(|_| !batch.plain) else { continue };
            self.policy.memory(*number).remember(search.best());
            // After a time-out with default options some others get their chance, but not for long.
            known.over |= observed.timeouts == observed.runs && known.default == Some(Answered::Timeout);
            let took = share(took, observed.runs, batch.runs);
            let gained = observed.gained(batch.novel);
            known.over |= !self.policy.is_patient() && !economy.goes_on(gained, took);
            economy.changed(gained, took);
        }
    }
}

/// The part of some runs in the time of all.
fn share(took: Duration, runs: u32, all: u32) -> Duration {
    took.mul_f64(f64::from(runs) / f64::from(all.max(1)))
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

    /// As in the paper: searches take the time they take.
    fn patient() -> LearnedSettings {
        let mut settings = LearnedSettings::default();
        settings.search.paper = true;
        settings
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
        let (target, settings) = (target(), patient());
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
    fn options_and_operations_nobody_can_tell_about_are_searched_too() {
        let mut target = target();
        let table = target.table.as_mut().expect("options");
        table.options.push(option("new", "regular", false));
        table.options.push(option("limit-too", "regular", false));
        table.options.last_mut().expect("one").excluded = Some("a limit".to_owned());
        let policy = Searching::new(&patient());
        assert_eq!(tried(&policy, &target, 0).0, ["new", "q-common", "q-expert"], "the file lacks it");
        let known = target.correlations.as_ref().expect("learned");
        let weights = |operations: &[Operation]| {
            let all = &target.table.as_ref().expect("options").options;
            let of = weighed(all.iter(), known, &operations.iter().copied().collect());
            of.into_iter().map(|(option, weight)| (option.name.clone(), weight)).collect::<BTreeMap<_, _>>()
        };
        let both = weights(&[Operation::Quantifier, Operation::Function]);
        assert_eq!(both["q-common"], 1.0);
        assert!(both["nothing"] < 0.5 && both["data"] < 0.5, "functions are unknown: {both:?}");
        assert_eq!(weights(&[Operation::Function])["nothing"], 1.0, "nothing else is known to matter");
    }

    #[test]
    fn a_search_that_reaches_new_code_goes_on_for_longer() {
        let target = target();
        for settings in [LearnedSettings::default(), patient()] {
            let dull = tried(&Searching::new(&settings), &target, 0).1;
            let busy = tried(&Searching::new(&settings).over_all_options(), &target, 3).1;
            assert!(dull < busy && busy <= settings.search.offspring, "{dull} {busy}");
        }
    }

    #[test]
    fn a_search_that_reaches_nothing_ends_with_its_first_vectors_but_not_in_the_paper() {
        let target = target();
        let all = |settings| tried(&Searching::new(&settings).over_all_options(), &target, 0).1;
        assert_eq!(all(LearnedSettings::default()), PORTION);
        assert!(all(patient()) > 6, "{}", all(patient()));
    }

    #[test]
    fn a_test_case_that_crashes_with_default_options_is_done_and_a_time_out_shortens_it() {
        let (target, settings) = (target(), LearnedSettings::default());
        for (answer, goes_on) in [
            (Answered::Crashed, false),
            (Answered::Rejected, false),
            (Answered::Timeout, true),
            (Answered::Unsat, true),
        ] {
            let policy = Searching::new(&settings);
            let mut rng = generate::rng::stream(1, 1);
            let mut options = policy.open(&[], &mut rng);
            options.propose(&target);
            options.observe(&seen(&target, &[], answer, 9));
            let further = options.further(&target, &[Operation::Quantifier].into(), &mut rng);
            assert_eq!(!further.is_empty(), goes_on, "{answer:?}");
            for settings in &further {
                options.observe(&seen(&target, settings, answer, 9));
            }
            let more = options.further(&target, &[Operation::Quantifier].into(), &mut rng);
            assert_eq!(!more.is_empty(), answer == Answered::Unsat, "{answer:?}");
        }
    }

    #[test]
    fn trouble_of_one_solver_does_not_end_the_search_of_another() {
        let settings = patient();
        let (one, mut other, mut reference) = (target(), target(), target().as_reference());
        (other.number, reference.number) = (1, 2);
        let goes_on = |defaults: [Answered; 3], findings: u32| {
            let policy = Searching::new(&settings);
            let mut rng = generate::rng::stream(1, 1);
            let mut options = policy.open(&[], &mut rng);
            for target in [&one, &other, &reference] {
                options.propose(target);
            }
            for (target, answer) in [&one, &other, &reference].into_iter().zip(defaults) {
                options.observe(&Observation { findings, ..seen(target, &[], answer, 9) });
            }
            let mut further =
                |target| !options.further(target, &[Operation::Quantifier].into(), &mut rng).is_empty();
            (further(&one), further(&other))
        };
        use Answered::{Crashed, Rejected, Sat, Unsat};
        assert_eq!(goes_on([Crashed, Sat, Sat], 0), (false, true));
        assert_eq!(goes_on([Sat, Rejected, Sat], 0), (true, false));
        assert_eq!(goes_on([Sat, Sat, Crashed], 0), (true, true), "the reference does not count");
        assert_eq!(goes_on([Sat, Crashed, Sat], 1), (true, false), "a finding of whoever crashed");
        assert_eq!(goes_on([Sat, Unsat, Sat], 1), (false, false), "nobody can tell whose");
    }
}
