//! What must stay while a slow input gets smaller: the target needs so many times as long as every reference.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reduce::ReduceError;
use reduce::predicate::{Candidate, Examination, Examiner, ModelDuty, Predicate};
use smtlib::{Mark, Mode, Release, Store, print};
use solver::RunClass;
use solver::run::{Accounts, Configuration, Purpose, Run, RunError, Runner, Runners};

use crate::meter::{self, Score};

/// A gap between a target and its references.
#[derive(Clone)]
pub struct Slow {
    /// The target first.
    pub parties: Vec<Arc<Configuration>>,
    pub runners: Arc<dyn Runners>,
    /// The ratio that must stay.
    pub bound: f64,
    /// What the target must need at least, net of its start, in the unit of the score.
    pub least: f64,
    pub logic: String,
    pub score: Score,
    /// What stands for a second in that unit.
    pub second: f64,
}

/// References that need less than this, in CPU seconds, are taken to need it: shorter times are not told from none.
pub const SHORTEST: f64 = 0.01;

/// Time on the clock for each second of CPU time, where other processes want the core too.
const PATIENCE: f64 = 30.0;

impl Predicate for Slow {
    fn examiner(&self) -> Result<Box<dyn Examiner>, ReduceError> {
        let store = Store::new();
        Ok(Box::new(SlowExaminer {
            slow: self.clone(),
            runner: self.runners.runner()?,
            starts: HashMap::new(),
            clean: store.mark(),
            store,
        }))
    }

    fn releases(&self) -> Vec<Release> {
        vec![self.parties[0].release()]
    }

    fn about_models(&self) -> ModelDuty {
        ModelDuty::None
    }

    fn configuration(&self) -> Option<Arc<Configuration>> {
        Some(Arc::clone(&self.parties[0]))
    }

    fn missing(&self) -> String {
        format!("{} is not {:.0} times as slow on it as the others", self.parties[0].name(), self.bound)
    }
}

struct SlowExaminer {
    slow: Slow,
    runner: Box<dyn Runner>,
    /// What each configuration needs for nothing.
    starts: HashMap<String, f64>,
    store: Store,
    clean: Mark,
}

/// Starts measured for each configuration; the shortest counts.
const STARTS: usize = 3;

impl SlowExaminer {
    fn run(&mut self, who: &Arc<Configuration>, text: &str, wall: Option<Duration>) -> Result<Run, RunError> {
        self.runner.run_within(who, text.as_bytes(), Purpose::Measurement, wall)
    }

    /// A run to its end, and what it has used, its start included.
    fn whole(&mut self, who: &Arc<Configuration>, text: &str) -> Result<(Run, Option<f64>), RunError> {
        let text = match self.slow.score {
            Score::Cpu => text.to_owned(),
            Score::Resource => format!("{text}\n{}", meter::question(who.release().family)),
        };
        let run = self.run(who, &text, None)?;
        let used = meter::used(self.slow.score, &run);
        Ok((run, used))
    }

    fn start(&mut self, who: &Arc<Configuration>) -> Result<f64, RunError> {
        let name = who.name();
        if let Some(start) = self.starts.get(&name) {
            return Ok(*start);
        }
        let nothing = format!("(set-logic {})\n(assert true)\n(check-sat)\n", self.slow.logic);
        let mut shortest = f64::INFINITY;
        for _ in 0..STARTS {
            shortest = shortest.min(self.whole(who, &nothing)?.1.unwrap_or(0.0));
        }
        self.starts.insert(name, shortest);
        Ok(shortest)
    }

    /// Whether the target needs so much, and whether that can be said at all.
    fn needs(&mut self, who: &Arc<Configuration>, text: &str, needed: f64) -> Result<(bool, bool), RunError> {
        let start = self.start(who)?;
        if self.slow.score == Score::Resource {
            let bound = (needed + start).ceil() as u64;
            let (run, used) = self.whole(who, &format!("(set-option :rlimit {bound})\n{text}"))?;
            let used = used.map_or(0.0, |used| used - start);
            let slow = used >= needed && run.answers.class != RunClass::Rejected;
            return Ok((slow, slow || answered(&run)));
        }
        let wall = |patience: f64| Some(Duration::from_secs_f64((needed + start) * patience + 0.02));
        let mut run = self.run(who, text, wall(1.1))?;
        if run.outcome.timed_out && run.outcome.cpu_time.as_secs_f64() - start < needed {
            // Others have used the core.
            run = self.run(who, text, wall(PATIENCE))?;
        }
        let used = run.outcome.cpu_time.as_secs_f64() - start;
        let told = run.outcome.timed_out || run.outcome.cpu_exceeded || answered(&run);
        Ok((told && used >= needed, told))
    }
}

impl Examiner for SlowExaminer {
    fn examine(&mut self, candidate: &Candidate) -> Result<Examination, ReduceError> {
        let began = Instant::now();
        let target = candidate.configuration.cloned().unwrap_or_else(|| Arc::clone(&self.slow.parties[0]));
        let references: Vec<Arc<Configuration>> = self.slow.parties[1..].to_vec();
        self.store.reset(&self.clean);
        let script = smtlib::parse(&mut self.store, candidate.text.as_bytes(), Mode::Tolerant).ok();
        let texts: Vec<String> = references
            .iter()
            .map(|reference| match &script {
                Some(parsed) if reference.release() != target.release() => {
                    print::print(&self.store, &parsed.script, reference.release())
                }
                _ => candidate.text.to_owned(),
            })
            .collect();
        let mut examination = Examination::default();
        let mut slowest = SHORTEST * self.slow.second;
        for (reference, text) in references.iter().zip(&texts) {
            let start = self.start(reference)?;
            let (run, used) = self.whole(reference, text)?;
            let Some(used) = used.filter(|_| answered(&run)) else {
                examination.wall = began.elapsed();
                return Ok(examination);
            };
            slowest = slowest.max(used - start);
        }
        // It need not be waited for any longer than that.
        let needed = (self.slow.bound * slowest).max(self.slow.least);
        (examination.interesting, examination.answered) = self.needs(&target, candidate.text, needed)?;
        examination.wall = began.elapsed();
        Ok(examination)
    }

    fn calibrate(&mut self, _: Duration) {}

    fn take_accounts(&mut self) -> Accounts {
        self.runner.take_accounts()
    }

    fn take_launcher_cpu(&mut self) -> Duration {
        self.runner.take_launcher_cpu()
    }
}

/// It has told sat or unsat at every check.
pub(crate) fn answered(run: &Run) -> bool {
    run.answers.class == RunClass::Answered
        && !run.answers.checks.is_empty()
        && run.answers.checks.iter().all(|check| run.status(check.check).is_some())
}
