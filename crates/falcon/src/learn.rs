//! Learning which options matter for which operations: algorithm 1 of the paper, with groups of options where the paper
//! changes one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use generate::Rng;
use smtlib::{Setting, Store, print};
use solver::coverage::CoverageError;
use solver::options::SolverOption;
use solver::{RunRequest, Solver};

use crate::batch::Batch;
use crate::correlations::{Correlations, Thresholds};
use crate::file::CorrelationsError;
use crate::groups::{self, Effect};
use crate::laboratory::{self, Calibration, Control, Laboratory, Shown};
use crate::rank_test;

/// What learning is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Operations of a batch; the paper's k.
    pub operations: usize,
    /// Formulas of a batch.
    pub formulas: usize,
    pub rng_seed: u64,
    /// Time as a third observable, if it is wanted.
    pub timing: Option<Timing>,
    /// Where the counts are kept.
    pub out: PathBuf,
    /// When to end, on the clock.
    pub time: Option<Duration>,
}

/// When times are compared, and how.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Runs of each configuration.
    pub runs: usize,
    /// Formulas on which the solver takes less are not timed.
    pub least: Duration,
    /// Times differ below this p-value.
    pub p: f64,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing { runs: 20, least: Duration::from_millis(100), p: 0.01 }
    }
}

/// Who follows the learning, and may end it.
pub trait Watch {
    fn stopped(&self) -> bool;

    /// Called after each formula.
    fn progress(&self, _progress: &Progress) {}
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub elapsed: Duration,
    pub time: Option<Duration>,
    /// Formulas learned from now, and those that could not be used.
    pub formulas: u64,
    pub unused: u64,
    pub runs: u64,
    /// Relevant pairs known in all.
    pub pairs: usize,
}

/// Why learning ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Run(#[from] CoverageError),
    #[error(transparent)]
    File(#[from] CorrelationsError),
    #[error("{0} lists no option that test cases may set")]
    NoOptions(String),
    #[error("{0} does not answer a script without assertions")]
    NoAnswer(String),
    #[error("{0} gives no definite answer to any of {1} formulas")]
    NoFormulas(String, u64),
}

/// The file is written at least this often.
const SAVE_EVERY: Duration = Duration::from_secs(15);

/// Without a use for any of so many formulas there will be none.
const IDLE: u64 = 500;

/// An option that does something on nearly all formulas need not be tried on all of them.
const GENERAL: f64 = 0.7;
const GENERAL_SHARE: f64 = 0.25;

/// Formulas before an option counts as one.
const GENERAL_AFTER: u64 = 30;

/// Learns about one release.
pub struct Learner<'a> {
    solver: &'a Solver,
    options: Vec<&'a SolverOption>,
    values: Vec<Vec<String>>,
    laboratory: Counting<'a>,
    /// For times: without anything that watches.
    clock: Option<Counting<'a>>,
    settings: &'a Settings,
    known: Correlations,
    calibration: Calibration,
    /// Options of which no value is taken, by their numbers.
    refused: BTreeSet<usize>,
    /// Runs that are in the counts already.
    counted: u64,
}

/// A laboratory and how many runs it has made.
struct Counting<'a> {
    laboratory: &'a mut dyn Laboratory,
    runs: u64,
}

impl Laboratory for Counting<'_> {
    fn run(&mut self, script: &[u8], request: &RunRequest) -> Result<Shown, CoverageError> {
        self.runs += 1;
        self.laboratory.run(script, request)
    }
}

/// Why testing a formula ends.
enum Ending {
    Stopped,
    Failed(LearnError),
}

impl From<CoverageError> for Ending {
    fn from(error: CoverageError) -> Ending {
        Ending::Failed(error.into())
    }
}

impl<'a> Learner<'a> {
    /// Goes on with what is known already. `options` are all of the release; those that no test case may set are left out.
    pub fn new(
        solver: &'a Solver,
        options: &'a [SolverOption],
        known: Correlations,
        laboratory: &'a mut dyn Laboratory,
        settings: &'a Settings,
    ) -> Result<Learner<'a>, LearnError> {
        let chosen: Vec<(&SolverOption, Vec<String>)> = options
            .iter()
            .filter(|option| option.excluded.is_none())
            .map(|option| (option, option.alternatives()))
            .filter(|(_, values)| !values.is_empty())
            .collect();
        if chosen.is_empty() {
            return Err(LearnError::NoOptions(solver.name()));
        }
        let (options, values): (Vec<_>, Vec<_>) = chosen.into_iter().unzip();
        // Options that the file does not know yet have not been tried on its formulas.
        let mut all =
            Correlations::of(&known.solver, &known.version, options.iter().map(|option| &*option.name));
        all.merge(&known);
        Ok(Learner {
            solver,
            options,
            values,
            laboratory: Counting { laboratory, runs: 0 },
            clock: None,
            settings,
            known: all,
            calibration: Calibration::default(),
            refused: BTreeSet::new(),
            counted: 0,
        })
    }

    /// Compares times as well.
    #[must_use]
    pub fn timing(mut self, clock: &'a mut dyn Laboratory) -> Learner<'a> {
        self.clock = Some(Counting { laboratory: clock, runs: 0 });
        self
    }

    /// Learns until the time is up or the watch says so, and gives back all counts, which are in the file as well.
    pub fn learn(mut self, watch: &dyn Watch) -> Result<Correlations, LearnError> {
        let end = End { watch, started: Instant::now(), time: self.settings.time };
        let mut saved = Instant::now();
        let (mut formulas, mut unused) = (0, 0);
        // Each value by itself: a solver may take one and refuse another.
        let mut settings: Vec<Setting> = Vec::new();
        let mut places: Vec<(usize, String)> = Vec::new();
        for (number, values) in self.values.iter().enumerate() {
            for value in values {
                settings.push(Setting::new(&self.options[number].name, value));
                places.push((number, value.clone()));
            }
        }
        let usual = |option: &&SolverOption| Some(Setting::new(&option.name, option.default.as_ref()?));
        let defaults: Vec<Setting> = self.options.iter().filter_map(usual).collect();
        let calibration = Calibration::of(&mut self.laboratory, &settings, defaults, &|| end.is_now())?;
        self.calibration = calibration.ok_or_else(|| LearnError::NoAnswer(self.solver.name()))?;
        for place in &self.calibration.refused {
            let (number, refused) = &places[*place];
            self.values[*number].retain(|value| value != refused);
        }
        let emptied = |(number, values): (usize, &Vec<String>)| values.is_empty().then_some(number);
        self.refused = self.values.iter().enumerate().filter_map(emptied).collect();
        while !end.is_now() {
            let mut rng = generate::rng::stream(self.settings.rng_seed, self.known.batches);
            self.known.batches += 1;
            let drawn = Batch::draw(self.solver, self.settings.operations, &self.known, &mut rng);
            let Some(batch) = drawn else { continue };
            for _ in 0..self.settings.formulas {
                match self.formula(&batch, &mut rng, &end) {
                    Ok(true) => formulas += 1,
                    Ok(false) => unused += 1,
                    Err(Ending::Stopped) => break,
                    Err(Ending::Failed(error)) => return Err(error),
                }
                if formulas == 0 && unused >= IDLE {
                    return Err(LearnError::NoFormulas(self.solver.name(), unused));
                }
                watch.progress(&Progress {
                    elapsed: end.started.elapsed(),
                    time: end.time,
                    formulas,
                    unused,
                    runs: self.runs(),
                    pairs: self.known.relevant_pairs(&Thresholds::default()),
                });
                if saved.elapsed() >= SAVE_EVERY {
                    saved = Instant::now();
                    self.save()?;
                }
            }
        }
        self.save()?;
        Ok(self.known)
    }

    fn runs(&self) -> u64 {
        self.laboratory.runs + self.clock.as_ref().map_or(0, |clock| clock.runs)
    }

    fn save(&mut self) -> Result<(), LearnError> {
        let runs = self.runs();
        self.known.runs += runs - std::mem::replace(&mut self.counted, runs);
        Ok(self.known.save(&self.settings.out)?)
    }

    /// Tries all options on one formula of the batch. False if the formula is of no use: the solver refuses it, has no
    /// definite answer, or not the same twice.
    fn formula(&mut self, batch: &Batch, rng: &mut Rng, end: &End) -> Result<bool, Ending> {
        let mut store = Store::new();
        let (script, operations) = batch.script(&mut store, rng);
        let text = print::print(&store, &script, self.solver.release());
        let script = text.as_bytes();
        let used = laboratory::control(&mut self.laboratory, script, &self.calibration)?;
        let Some((control, request)) = used else { return Ok(false) };
        let values: Vec<String> =
            self.values.iter().map(|all| rng.pick(all).cloned().unwrap_or_default()).collect();
        let expected = self.expected(&operations);
        let mut missed = Vec::new();
        let mut tried = Vec::new();
        for (number, rate) in expected.into_iter().enumerate() {
            let general = rate > GENERAL && self.known.formulas >= GENERAL_AFTER;
            if self.refused.contains(&number) {
                continue;
            } else if general && !rng.chance(GENERAL_SHARE) {
                missed.push(number);
            } else {
                tried.push((number, rate));
            }
        }
        rng.shuffle(&mut tried);
        let mut unchanged: Vec<usize> = Vec::new();
        let found = groups::split(groups::grouped(tried), |group| {
            if end.is_now() {
                return Err(Ending::Stopped);
            }
            let settings =
                group.iter().map(|number| Setting::new(&self.options[*number].name, &values[*number]));
            let mut request = RunRequest { settings: settings.collect(), ..request.clone() };
            request.settings.sort();
            let effect = control.effect(&self.laboratory.run(script, &request)?);
            if effect == Effect::Nothing {
                unchanged.extend_from_slice(group);
            }
            Ok(effect)
        })?;
        let mut changed = found.changed;
        changed.extend(self.timed(script, &request, &control, &unchanged, &values, end)?);
        let conflicts: Vec<usize> = found.conflicts.into_iter().chain(self.refused.iter().copied()).collect();
        let names = |numbers: &[usize]| -> Vec<&str> {
            numbers.iter().map(|number| self.options[*number].name.as_str()).collect()
        };
        let (changed, conflicts, missed) = (names(&changed), names(&conflicts), names(&missed));
        self.known.count(&operations, &changed, &conflicts, &missed);
        Ok(true)
    }

    /// The options among these that change nothing but the time.
    fn timed(
        &mut self,
        script: &[u8],
        request: &RunRequest,
        control: &Control,
        unchanged: &[usize],
        values: &[String],
        end: &End,
    ) -> Result<Vec<usize>, Ending> {
        let (Some(timing), Some(clock)) = (self.settings.timing, &mut self.clock) else {
            return Ok(Vec::new());
        };
        if control.cpu() < timing.least {
            return Ok(Vec::new());
        }
        let mut measure = |settings: Vec<Setting>| -> Result<Vec<f64>, Ending> {
            let request = RunRequest { settings, ..request.clone() };
            let mut times = Vec::with_capacity(timing.runs);
            for _ in 0..timing.runs {
                if end.is_now() {
                    return Err(Ending::Stopped);
                }
                times.push(clock.run(script, &request)?.cpu.as_secs_f64());
            }
            Ok(times)
        };
        let usual = measure(Vec::new())?;
        let mut found = Vec::new();
        for number in unchanged {
            let times = measure(vec![Setting::new(&self.options[*number].name, &values[*number])])?;
            if rank_test::p_value(&usual, &times) < timing.p {
                found.push(*number);
            }
        }
        Ok(found)
    }

    /// How probably each option does something on a formula with these operations.
    fn expected(&self, operations: &crate::Operations) -> Vec<f64> {
        let expected: BTreeMap<&str, f64> = self.known.expected(operations);
        let rate = |option: &&SolverOption| expected.get(option.name.as_str()).copied().unwrap_or(0.0);
        self.options.iter().map(rate).collect()
    }
}

/// When learning is over.
struct End<'a> {
    watch: &'a dyn Watch,
    started: Instant,
    time: Option<Duration>,
}

impl End<'_> {
    fn is_now(&self) -> bool {
        self.watch.stopped() || self.time.is_some_and(|time| self.started.elapsed() >= time)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use solver::options::OptionKind;

    use super::*;
    use crate::Operation;
    use crate::laboratory::Manner;
    use crate::operation::CommandName;

    /// A solver in which `cores` matters for cores, `sums` for sums, `all` always, `never` nowhere, and which refuses
    /// `no-push` where there is a push.
    struct MadeUp;

    impl Laboratory for MadeUp {
        fn run(&mut self, script: &[u8], request: &RunRequest) -> Result<Shown, CoverageError> {
            let text = String::from_utf8_lossy(script);
            let set = |option: &str| request.settings.contains(&Setting::new(option, "true"));
            let mut functions = vec![1, 2, 3];
            // Reading options has functions of its own, and so has handing them down.
            functions.extend(request.settings.iter().map(|_| 4).take(1));
            functions.extend((text.contains("Int") && !request.settings.is_empty()).then_some(5));
            functions.extend((set("cores") && text.contains("get-unsat-core")).then_some(10));
            functions.extend((set("sums") && text.contains("(+ ")).then_some(11));
            functions.extend((set("all") && text.contains("assert")).then_some(12));
            let manner = match set("no-push") && text.contains("(push") {
                true => Manner::Refused,
                false => Manner::Answered(vec!["sat"]),
            };
            Ok(Shown { manner, text: 0, functions, cpu: Duration::from_millis(1) })
        }
    }

    /// Ends after so many formulas.
    struct Few(Cell<u64>);

    impl Watch for Few {
        fn stopped(&self) -> bool {
            self.0.get() == 0
        }

        fn progress(&self, _: &Progress) {
            self.0.set(self.0.get() - 1);
        }
    }

    fn option(name: &str, excluded: Option<&str>) -> SolverOption {
        SolverOption {
            name: name.to_owned(),
            kind: OptionKind::Bool,
            default: Some("false".to_owned()),
            category: "smt".to_owned(),
            description: String::new(),
            excluded: excluded.map(str::to_owned),
            unfair: None,
        }
    }

    fn learn(out: PathBuf, known: Correlations, formulas: u64) -> Correlations {
        let mut options: Vec<SolverOption> =
            ["cores", "sums", "all", "never", "no-push"].into_iter().map(|name| option(name, None)).collect();
        options.push(option("timeout", Some("a limit")));
        let solver = testkit::made_up("z3@5.4.0");
        let settings = Settings { operations: 4, formulas: 3, rng_seed: 5, timing: None, out, time: None };
        let mut laboratory = MadeUp;
        let learner = Learner::new(&solver, &options, known, &mut laboratory, &settings)
            .expect("options to learn about");
        learner.learn(&Few(Cell::new(formulas))).expect("learned")
    }

    #[test]
    fn what_an_option_does_is_learned_for_the_operations_it_is_about() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("z3.json");
        let nothing = Correlations::of("z3", "5.4.0", []);
        let learned = learn(out.clone(), nothing, 600);
        assert_eq!(Correlations::load(&out).expect("a file"), learned);
        let core = Operation::Command(CommandName::GetUnsatCore);
        let push = Operation::Command(CommandName::Push);
        let sum = Operation::named("IntAdd").expect("an operator");
        let rate = |option: &str, operation: Operation| {
            let (trials, pair) = learned.pair(option, operation);
            assert!(trials > 2, "{option} {operation}");
            f64::from(pair.hits) / f64::from(trials)
        };
        assert_eq!(rate("cores", core), 1.0);
        assert_eq!(rate("sums", sum), 1.0);
        assert!(rate("cores", sum) < 0.5 && rate("sums", core) < 0.5);
        assert_eq!((rate("never", core), rate("never", sum)), (0.0, 0.0), "reading options is no effect");
        let thresholds = Thresholds::default();
        assert_eq!(learned.class("no-push", push, &thresholds), crate::Class::Conflict);
        assert_eq!(learned.general(&thresholds), ["all"]);
        assert!(!learned.options().contains(&"timeout".to_owned()), "what is excluded is not learned");
        let share = learned.runs as f64 / learned.formulas as f64;
        assert!(share < 8.0, "{share} runs for each formula");
    }

    #[test]
    fn learning_goes_on_where_it_ended_with_other_formulas() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("z3.json");
        let first = learn(out.clone(), Correlations::of("z3", "5.4.0", []), 30);
        let second = learn(out.clone(), Correlations::load(&out).expect("a file"), 30);
        assert_eq!((first.formulas, second.formulas), (30, 60));
        assert!(second.batches > first.batches && second.runs > first.runs);
    }
}
