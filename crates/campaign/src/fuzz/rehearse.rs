//! A worker without solvers: the same state, exchange and store as in a campaign, with recorded times in place of runs.
//! What a store costs shows with many of them on one machine.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use generate::Rng;
use solver::run::Purpose;

use crate::config::Settings;
use crate::error::CampaignError;
use crate::schedule::NewCode;
use crate::seeds::SeedText;
use crate::shared::{Log, Shared, Silent, Spent, State, Stop, exchange, lock};
use crate::store::{Counts, Place, Role, RunCounts, Totals, Unwanted};

/// Counts are handed over this often, as a worker does it.
const SETTLE_EVERY: Duration = Duration::from_millis(500);

/// Test cases of a round.
const STEPS: usize = 30;

/// Share of test cases with new behaviour, and of those that become seeds.
const NOVEL: f64 = 0.02;

/// Constructs that test cases are made of, some in each.
const CONSTRUCTS: [&str; 24] = [
    "and", "or", "not", "=", "ite", "+", "-", "*", "<", "<=", "div", "mod", "str.len", "str.++", "str.at",
    "bvadd", "bvmul", "bvshl", "concat", "extract", "select", "store", "fp.add", "fp.lt",
];

const ENGINES: [&str; 6] = ["generate", "opfuzz", "typefuzz", "fusion", "storm", "diver"];

/// What a worker without solvers did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rehearsed {
    pub tests: u64,
    pub seconds: f64,
    /// What the tests would have taken with a store that costs nothing.
    pub recorded: f64,
    /// Exchanges with the store, and the time that they took: in all, and the longest.
    pub exchanges: u64,
    pub exchanging: f64,
    pub longest: f64,
}

/// Works on a campaign for some time. Every worker has a stream of its own. `stopped` ends it early.
pub fn rehearse(
    place: &Place,
    recorded: &[Duration],
    time: Duration,
    rng: &mut Rng,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Rehearsed, CampaignError> {
    place.settle()?;
    let mut store = place.work()?;
    let member = store.join(Role::Helper)?;
    let state = State::new(
        store.started()?,
        store.learned()?,
        store.pool()?,
        store.features()?,
        store.totals()?,
        store.findings()?,
        Unwanted::default(),
    );
    let settings = settings(place.out().to_owned(), time);
    let shared = Shared::new(state, Log::open(None)?, Stop::new(&settings), &Silent, place.out());
    let store = Mutex::new(store);
    exchange(&shared, &store, member)?;
    let mut done = Rehearsed::default();
    let (over, begun) = (AtomicBool::new(false), Instant::now());
    let told = std::thread::scope(|scope| {
        let exchanging = scope.spawn(|| {
            let mut told = Rehearsed::default();
            while !over.load(Ordering::Acquire) {
                let pace = lock(&store).pace();
                shared.until_exchange(pace);
                let begun = Instant::now();
                if let Err(error) = exchange(&shared, &store, member) {
                    // Nobody makes rounds any more: the worker would wait for them.
                    shared.stop.ask();
                    return Err(error);
                }
                let took = begun.elapsed().as_secs_f64();
                told.exchanges += 1;
                told.exchanging += took;
                told.longest = told.longest.max(took);
            }
            Ok(told)
        });
        work(&shared, recorded, rng, stopped, &mut done);
        done.seconds = begun.elapsed().as_secs_f64();
        over.store(true, Ordering::Release);
        shared.nudge_exchange();
        exchanging.join().unwrap_or_else(|_| Err(CampaignError::Internal("an exchange panicked".to_owned())))
    })?;
    exchange(&shared, &store, member)?;
    lock(&store).leave(member)?;
    Ok(Rehearsed { exchanges: told.exchanges, exchanging: told.exchanging, longest: told.longest, ..done })
}

fn settings(out: PathBuf, time: Duration) -> Settings {
    Settings {
        out,
        resume: true,
        jobs: 1,
        time: Some(time),
        iterations: None,
        stop_after: None,
        reduce_all: false,
        known: None,
        unused_coverage: false,
        log: None,
        command: "osprey fuzz".to_owned(),
    }
}

/// Rounds of test cases that take as long as recorded ones.
fn work(
    shared: &Shared,
    recorded: &[Duration],
    rng: &mut Rng,
    stopped: &(dyn Fn() -> bool + Sync),
    done: &mut Rehearsed,
) {
    let mut settled = Instant::now();
    while let Some((round, state)) = shared.next_round() {
        let seed = match state.pool.entries() {
            [] => None,
            seeds => Some(seeds[rng.below(seeds.len())].seed.hash.clone()),
        };
        drop(state);
        let engine = ENGINES[rng.below(ENGINES.len())];
        let mut tally = Tally::default();
        for step in 0..STEPS {
            if stopped() {
                shared.stop.ask();
            }
            if shared.stop.now() || recorded.is_empty() || !shared.stop.take_test() {
                break;
            }
            let took = recorded[rng.below(recorded.len())];
            std::thread::sleep(took);
            done.tests += 1;
            done.recorded += took.as_secs_f64();
            tally.test(took, rng);
            if rng.chance(NOVEL) {
                let text = format!("(declare-const x Int)\n(assert (> x {round}{step}))\n(check-sat)\n");
                let mut state = shared.state();
                state.observe(&[rng.bits()]);
                state.join(SeedText::new(format!("round {round}"), text));
                tally.counts.novel += 1;
            }
            if settled.elapsed() >= SETTLE_EVERY {
                settled = Instant::now();
                tally.hand_over(shared, engine, seed.as_deref());
            }
        }
        tally.counts.rounds = 1;
        tally.totals.rounds = 1;
        tally.hand_over(shared, engine, seed.as_deref());
    }
}

/// What was counted since it was handed over the last time.
#[derive(Default)]
struct Tally {
    counts: Counts,
    totals: Totals,
    constructs: Vec<(&'static str, u64)>,
    runs: u64,
}

impl Tally {
    fn test(&mut self, took: Duration, rng: &mut Rng) {
        let cpu = took.as_micros() as u64;
        self.counts.tests += 1;
        self.counts.cpu += cpu;
        self.runs += 2;
        self.totals.tests += 1;
        self.totals.ran(Purpose::Test.word(), &RunCounts { runs: 2, cpu, ..RunCounts::default() });
        for solver in ["z3@4.8.7", "z3@5.4.0"] {
            let answer = if rng.chance(0.5) { "sat" } else { "unsat" };
            *self
                .totals
                .answers
                .entry(solver.to_owned())
                .or_default()
                .entry(answer.to_owned())
                .or_default() += 1;
        }
        for _ in 0..8 {
            self.constructs.push((CONSTRUCTS[rng.below(CONSTRUCTS.len())], 1));
        }
    }

    fn hand_over(&mut self, shared: &Shared, engine: &str, seed: Option<&str>) {
        let Tally { counts, mut totals, constructs, runs } = std::mem::take(self);
        *totals.engines.entry(engine.to_owned()).or_default() += counts.tests;
        let seeds = seed.into_iter().collect();
        let reached = NewCode::default();
        let logic = Some("ALL");
        let options = Vec::new();
        shared.state().add(&Spent {
            engine,
            logic,
            seeds,
            counts,
            constructs,
            options,
            runs,
            reached,
            totals,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Identity;

    #[test]
    fn what_is_rehearsed_is_counted_like_any_other_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::Folder(folder.path().to_owned());
        place.create(&Identity::of_runs(Duration::from_secs(1), 1, 1), &[]).expect("made");
        let mut rng = generate::rng::stream(1, 0);
        let time = Duration::from_millis(300);
        let done =
            rehearse(&place, &[Duration::from_millis(5)], time, &mut rng, &|| false).expect("a rehearsal");
        assert!(done.tests > 0 && done.exchanges > 0, "{done:?}");
        assert_eq!(place.read().and_then(|mut store| store.totals()).expect("totals").tests, done.tests);
    }
}
