//! How fast the evaluator is: whole formulas, replacements of one sub-term, short string operations; the same work
//! through Z3's Python interface in the same run; and memory over many evaluations.

mod formulas;
mod z3_python;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use eval::{Evaluation, Evaluator};
use serde::Serialize;
use smtlib::{Release, Sort, Store, Term};

use crate::{BenchError, Cell, Draft, Report, Table, Watch};
use formulas::Formulas;

/// What to measure.
#[derive(Clone, Debug)]
pub struct EvalSpeed {
    /// Seconds for each figure.
    pub seconds: f64,
    /// Evaluations over which memory is watched.
    pub evaluations: u64,
    /// A folder that holds Z3's Python module; without one it is looked for, and fetched with pip.
    pub z3_module: Option<PathBuf>,
    pub rng_seed: u64,
    pub command: String,
}

/// A kind of work, with what Z3 needs to do the same.
#[derive(Serialize)]
struct Work {
    what: &'static str,
    unit: &'static str,
    /// How many units one repetition is.
    units: usize,
    #[serde(skip)]
    goal: Option<f64>,
    #[serde(skip)]
    rate: Rate,
    z3: z3_python::Task,
}

/// Units in a second of CPU time.
#[derive(Clone, Copy, Debug)]
struct Rate {
    fastest: f64,
    median: f64,
}

/// Windows that the time for a figure is cut into: the fastest one says what the code costs, the median what this
/// machine gave.
const WINDOWS: u32 = 9;
/// Parts of the large formulas: about 2,000 and 25,000 nodes.
const SIZES: [(&str, usize); 2] =
    [("formula of about 2,000 nodes", 10), ("formula of about 25,000 nodes", 200)];
const DEPTH: usize = 5;

impl EvalSpeed {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let mut draft = Draft::new("eval", "Speed of the evaluator", &self.command);
        draft.rng_seed = Some(self.rng_seed);
        let steps = SIZES.len() + 4;
        let mut works = Vec::new();
        for (place, (what, parts)) in SIZES.into_iter().enumerate() {
            watch.progress(place, steps, what);
            works.push(self.nodes(what, parts));
        }
        watch.progress(SIZES.len(), steps, "replacements");
        works.push(self.replacements());
        watch.progress(SIZES.len() + 1, steps, "strings");
        works.push(self.strings());
        watch.progress(SIZES.len() + 2, steps, "Z3's Python interface");
        let theirs = z3_python::measure(self.z3_module.as_deref(), self.seconds, &works);
        let mut table = Table::new(
            "Evaluation under a model, one core",
            &[
                "work",
                "unit",
                "goal per second",
                "fastest per second",
                "median per second",
                "Z3's Python per second",
                "ratio",
            ],
        );
        let rates = theirs.as_ref().map(|theirs| theirs.rates.as_slice()).unwrap_or_default();
        for (place, work) in works.iter().enumerate() {
            let z3 = rates.get(place).copied();
            table.row([
                work.what.into(),
                work.unit.into(),
                work.goal.into(),
                work.rate.fastest.round().into(),
                work.rate.median.round().into(),
                z3.map(f64::round).into(),
                z3.map_or(Cell::None, |z3| Cell::ratio(work.rate.median, z3)),
            ]);
        }
        draft.tables.push(table);
        match theirs {
            Ok(theirs) => draft.versions.push(format!("z3-solver {} (Python)", theirs.version)),
            Err(why) => draft.skip("the same work through Z3's Python interface", why),
        }
        watch.progress(SIZES.len() + 3, steps, "memory");
        draft.tables.push(self.memory(watch));
        draft.notes.push(
            "Values are forgotten before every repetition, so every node is computed again. Z3 evaluates the same term \
             under the same model with `Model.eval`; a replacement is `substitute` followed by `eval`. Rates are \
             by CPU time, ratios of medians."
                .to_owned(),
        );
        Ok(draft.finish())
    }

    fn nodes(&self, what: &'static str, parts: usize) -> Work {
        let mut formulas = Formulas::new(self.rng_seed);
        let root = formulas.formula(parts);
        let mut evaluator = Evaluator::default();
        let (store, model) = (&formulas.store, &formulas.model);
        // A short circuit leaves nodes out; they do not count.
        let _ = evaluator.evaluate(store, model, root);
        let units = store.subterms(&[root]).iter().filter(|term| evaluator.known(**term).is_some()).count();
        let rate = self.rate(units, || {
            evaluator.forget();
            let _ = black_box(evaluator.evaluate(store, model, black_box(root)));
        });
        let root = text(store, root);
        let z3 = z3_python::Task::evaluate(&formulas.declarations(), &[root]);
        Work { what, unit: "nodes", units, goal: Some(10e6), rate, z3 }
    }

    /// Every replacement starts from the same formula.
    fn replacements(&self) -> Work {
        let mut formulas = Formulas::new(self.rng_seed);
        let root = formulas.term(Sort::BOOL, 7);
        let trials: Vec<(Vec<u32>, Term)> = (0..256).map(|_| formulas.replacement(root, DEPTH)).collect();
        let texts: Vec<String> = trials.iter().map(|(_, new)| text(&formulas.store, *new)).collect();
        let paths: Vec<Vec<u32>> = trials.iter().map(|(path, _)| path.clone()).collect();
        let z3 =
            z3_python::Task::replace(&formulas.declarations(), text(&formulas.store, root), paths, texts);
        let Formulas { mut store, model, .. } = formulas;
        let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
        let rate = self.rate(trials.len(), || {
            for (path, new) in &trials {
                let _ = black_box(evaluation.replace(&mut store, &model, path, *new));
            }
        });
        let what = "replacing a sub-term at depth 5";
        Work { what, unit: "replacements", units: trials.len(), goal: Some(1e6), rate, z3 }
    }

    fn strings(&self) -> Work {
        let mut store = Store::new();
        let terms = formulas::strings(&mut store);
        let model = eval::Model::new();
        let units = store.subterms(&terms).iter().filter(|term| !store.args(**term).is_empty()).count();
        let mut evaluator = Evaluator::default();
        let rate = self.rate(units, || {
            evaluator.forget();
            for term in &terms {
                let _ = black_box(evaluator.evaluate(&store, &model, *term));
            }
        });
        let texts: Vec<String> = terms.iter().map(|term| text(&store, *term)).collect();
        let z3 = z3_python::Task::evaluate("", &texts);
        Work { what: "short strings", unit: "operations", units, goal: Some(2e5), rate, z3 }
    }

    /// Units in a second of this thread's CPU time, measured in windows.
    fn rate(&self, units: usize, mut work: impl FnMut()) -> Rate {
        work();
        let window = Duration::from_secs_f64(self.seconds / f64::from(WINDOWS));
        let mut rates: Vec<f64> = (0..WINDOWS)
            .map(|_| {
                let (start, cpu) = (Instant::now(), cpu_seconds());
                let mut repetitions = 0_u64;
                while start.elapsed() < window {
                    work();
                    repetitions += 1;
                }
                // A window may pass while others have the core.
                units as f64 * repetitions as f64 / (cpu_seconds() - cpu).max(1e-9)
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        Rate { fastest: rates[rates.len() - 1], median: rates[rates.len() / 2] }
    }

    /// Memory while terms come and go, as in a campaign: each round makes terms, evaluates them and goes back.
    fn memory(&self, watch: &dyn Watch) -> Table {
        const ROUND: u64 = 1000;
        let mut table = Table::new("Memory over many evaluations", &["evaluations", "resident memory, MB"]);
        let mut formulas = Formulas::new(self.rng_seed);
        let words = formulas::strings(&mut formulas.store);
        let mut evaluator = Evaluator::default();
        let mark = formulas.store.mark();
        let mut next = 0;
        let mut done = 0;
        while done < self.evaluations && !watch.stopped() {
            if done >= next {
                table.row([done.into(), Cell::from(resident_mb())]);
                next += self.evaluations.div_ceil(10).max(ROUND);
            }
            for number in 0..ROUND {
                let term = match number % 8 {
                    0 => words[number as usize % words.len()],
                    _ => formulas.term(Sort::BOOL, 3),
                };
                let _ = black_box(evaluator.evaluate(&formulas.store, &formulas.model, term));
            }
            done += ROUND;
            formulas.store.reset(&mark);
            evaluator.forget_after(formulas.store.term_count());
            evaluator.forget();
        }
        table.row([done.into(), Cell::from(resident_mb())]);
        table
    }
}

fn text(store: &Store, term: Term) -> String {
    smtlib::print::print_term(store, term, Release::STANDARD)
}

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is written to memory of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Resident memory of this process, to a tenth.
fn resident_mb() -> Option<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: sysconf only reads a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64;
    Some((pages * page / 1e5).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn every_kind_of_work_has_a_figure_and_memory_is_watched() {
        let speed = EvalSpeed {
            seconds: 0.01,
            evaluations: 20_000,
            z3_module: Some(PathBuf::from("no-such-folder")),
            rng_seed: 1,
            command: "osprey bench eval".to_owned(),
        };
        let report = speed.run(&Unwatched).expect("a report");
        assert_eq!(report.tables[0].rows.len(), 4);
        for row in &report.tables[0].rows {
            assert!(matches!(row[3], Cell::Number(rate) if rate > 0.0), "{row:?}");
        }
        assert_eq!(report.tables[1].rows.last().expect("rows")[0], Cell::Count(20_000));
        assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
    }
}
