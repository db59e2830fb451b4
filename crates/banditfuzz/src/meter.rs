//! Measuring: what target and references need for an input, net of their start.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use smtlib::{Family, Mark, Mode, Status, Store, print};
use solver::RunClass;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, Run, RunError, RunRules, Runner};

use crate::par2::{Reading, margin};

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// CPU time in seconds.
    #[default]
    Cpu,
    /// The solver's own count of its steps, the same in every run: Z3's `rlimit`, cvc5's resource units.
    Resource,
}

/// Units of a solver's own count that stand for a second, roughly: where `--score resource` has its limit.
fn units_per_second(family: Family) -> Option<f64> {
    match family {
        Family::Z3 => Some(5e6),
        Family::Cvc5 => Some(7e5),
        _ => None,
    }
}

/// The limit of a solver in the unit of the score, for one of so many seconds.
pub fn limit(target: &Configuration, timeout: f64, score: Score) -> f64 {
    match score {
        Score::Cpu => timeout,
        Score::Resource => timeout * units_per_second(target.release().family).unwrap_or(1.0),
    }
}

/// A start is measured so many times; the median is taken.
const STARTS: usize = 5;
/// Runs of a close decision: the first, and those that confirm it.
const REPEATS: usize = 3;
/// CPU seconds by which runs of the same thing differ on a quiet machine.
const NOISE: f64 = 0.004;
/// A score is higher only by more than this share of the lower one.
const NOISE_SHARE: f64 = 0.05;
/// Differences below so many times the noise are measured again.
const CLOSE: f64 = 4.0;
/// The part of the limit in which every reference must be done.
const SLICE: f64 = 0.05;
/// Time on the clock for each second of CPU time, where other processes want the core too.
const PATIENCE: f64 = 30.0;

/// Measures inputs, one at a time.
pub struct Meter {
    runner: Box<dyn Runner>,
    /// The target first, then the references.
    parties: Vec<Arc<Configuration>>,
    /// What each needs for nothing.
    starts: Vec<f64>,
    /// In seconds.
    timeout: f64,
    score: Score,
    store: Store,
    clean: Mark,
}

/// What came of an input.
#[derive(Clone, Debug)]
pub enum Outcome {
    Scored(Scored),
    /// Its score is not above the floor. What the target needed more than the references asked so far; nothing where a
    /// reference is slow, too.
    Below(f64),
    /// Somebody gives no answer: nothing can be compared.
    Unusable,
    /// Target and reference contradict each other: a bug of another kind.
    Contradiction,
}

/// An input that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    pub target: Reading,
    pub references: Vec<Reading>,
    /// The PAR-2 margin of the input.
    pub score: f64,
}

impl Scored {
    /// How many times as much the target needs as the slowest reference, of which at least `least` is counted.
    pub fn ratio(&self, least: f64) -> f64 {
        let slowest = self.references.iter().map(|reading| reading.used).fold(least, f64::max);
        self.target.used / slowest
    }
}

/// The rules under which runs are measured: plain starts, a limit of CPU time, ample time on the clock.
pub fn rules(timeout: Duration, memory: u64, score: Score) -> RunRules {
    let cpu = match score {
        Score::Cpu => timeout,
        // Its limit is another one; this one is for emergencies.
        Score::Resource => timeout * 4,
    };
    // The kernel counts whole seconds.
    let cpu = Duration::from_secs(cpu.as_secs_f64().ceil() as u64);
    let limits = Limits {
        wall: cpu.mul_f64(PATIENCE),
        cpu: Some(cpu),
        memory: Some(memory),
        stdout: 4 << 20,
        stderr: 256 << 10,
        ..Limits::default()
    };
    RunRules::with_limits(limits)
}

impl Meter {
    /// Measures the starts first. `parties` are the target and the references.
    pub fn new(
        runner: Box<dyn Runner>,
        parties: Vec<Arc<Configuration>>,
        timeout: Duration,
        score: Score,
        logic: &str,
    ) -> Result<Meter, RunError> {
        let store = Store::new();
        let clean = store.mark();
        let mut meter = Meter {
            runner,
            starts: vec![0.0; parties.len()],
            parties,
            timeout: timeout.as_secs_f64(),
            score,
            store,
            clean,
        };
        let nothing = format!("(set-logic {logic})\n(assert true)\n(check-sat)\n");
        for party in 0..meter.parties.len() {
            let mut used = Vec::with_capacity(STARTS);
            for _ in 0..STARTS {
                let run = meter.run(party, &nothing, None)?;
                used.push(meter.used(party, &run).unwrap_or(0.0));
            }
            used.sort_by(f64::total_cmp);
            meter.starts[party] = used[STARTS / 2];
        }
        Ok(meter)
    }

    /// What each party needs for nothing: the target first.
    pub fn starts(&self) -> &[f64] {
        &self.starts
    }

    /// The limit in the score's own unit.
    pub fn limit(&self) -> f64 {
        limit(&self.parties[0], self.timeout, self.score)
    }

    /// What the user should hear about how solvers run.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.runner.take_notes()
    }

    /// By how much a score must be higher than this one to count as higher.
    pub fn noise(&self, score: f64) -> f64 {
        match self.score {
            Score::Cpu if score.is_finite() => NOISE.max(NOISE_SHARE * score.abs()),
            _ => 0.0,
        }
    }

    /// Measures an input. What cannot come above the floor, or is slow for a reference too, is not measured to its end.
    pub fn measure(&mut self, text: &str, floor: f64) -> Result<Outcome, RunError> {
        let bar = floor + self.noise(floor);
        let mut scored = match self.once(text, bar)? {
            Outcome::Scored(scored) => scored,
            other => return Ok(other),
        };
        // A close decision is measured again; the worse figures count.
        let close = scored.target.solved && scored.score < floor + CLOSE * self.noise(floor);
        if close && self.score == Score::Cpu && floor.is_finite() {
            for _ in 1..REPEATS {
                match self.once(text, bar)? {
                    Outcome::Scored(again) if again.score < scored.score => scored = again,
                    Outcome::Scored(_) => {}
                    other => return Ok(other),
                }
            }
        }
        Ok(Outcome::Scored(scored))
    }

    fn once(&mut self, text: &str, bar: f64) -> Result<Outcome, RunError> {
        let limit = self.limit();
        let texts = self.texts(text);
        // Most inputs are decided in a slice of the limit. The target has the rest of it only where every reference is
        // done within the slice: a gap has two sides, and what is slow for everybody is none.
        let slice = self.timeout * SLICE;
        let mut run = self.run_for(0, &texts[0], slice)?;
        let undecided = self.is_cut(&run, slice);
        let mut target = match undecided {
            true => Reading::timed_out(limit),
            false => match self.reading(0, &run) {
                Some(reading) => reading,
                None => return Ok(Outcome::Unusable),
            },
        };
        if target.par2(limit) <= bar {
            return Ok(Outcome::Below(target.used));
        }
        let mut others = Vec::with_capacity(self.parties.len() - 1);
        let mut references = Vec::with_capacity(self.parties.len() - 1);
        for (party, text) in texts.iter().enumerate().skip(1) {
            let other = self.run_for(party, text, slice)?;
            if self.is_cut(&other, slice) {
                return Ok(Outcome::Below(0.0));
            }
            let Some(reading) = self.reading(party, &other) else { return Ok(Outcome::Unusable) };
            if target.par2(limit) - reading.par2(limit) <= bar {
                return Ok(Outcome::Below((target.used - reading.used).max(0.0)));
            }
            references.push(reading);
            others.push(other);
        }
        if undecided {
            run = self.run(0, &texts[0], None)?;
            target = match self.reading(0, &run) {
                Some(reading) => reading,
                None => return Ok(Outcome::Unusable),
            };
        }
        if others.iter().any(|other| contradict(&run, other)) {
            return Ok(Outcome::Contradiction);
        }
        let score = margin(target, &references, limit);
        Ok(match score > bar {
            true => Outcome::Scored(Scored { target, references, score }),
            false => Outcome::Below(score.max(0.0)),
        })
    }

    /// A run that is stopped after so many CPU seconds net of the start, where these are measured.
    fn run_for(&mut self, party: usize, text: &str, seconds: f64) -> Result<Run, RunError> {
        if self.score == Score::Resource {
            return self.run(party, text, None);
        }
        let whole = seconds + self.starts[party];
        let wall = |patience: f64| Some(Duration::from_secs_f64(whole * patience + 0.01));
        let run = self.run(party, text, wall(1.2))?;
        if run.outcome.timed_out && run.outcome.cpu_time.as_secs_f64() < whole {
            // Others have used the core.
            return self.run(party, text, wall(PATIENCE));
        }
        Ok(run)
    }

    /// It was stopped before it came to an end, or took as long.
    fn is_cut(&self, run: &Run, seconds: f64) -> bool {
        self.score == Score::Cpu
            && (run.outcome.timed_out || run.outcome.cpu_exceeded)
            && run.outcome.cpu_time.as_secs_f64() >= seconds
    }

    /// Target and references on an input to its end, whatever its score: for confirmation and reports.
    pub fn runs(&mut self, text: &str) -> Result<Vec<Run>, RunError> {
        let texts = self.texts(text);
        (0..texts.len()).map(|party| self.run(party, &texts[party], None)).collect()
    }

    /// What a run of a party comes to; nothing if it gave neither an answer nor ran into its limit.
    pub fn reading(&self, party: usize, run: &Run) -> Option<Reading> {
        let limit = self.limit();
        let outcome = &run.outcome;
        if outcome.cpu_exceeded {
            return Some(Reading::timed_out(limit));
        }
        if outcome.timed_out {
            // Time on the clock without CPU time says something about the machine only.
            let cpu = outcome.cpu_time.as_secs_f64();
            return (cpu >= self.timeout).then(|| Reading::timed_out(limit));
        }
        let answered = run.answers.class == RunClass::Answered
            && !run.answers.checks.is_empty()
            && run.answers.checks.iter().all(|check| run.status(check.check).is_some());
        if !answered {
            return None;
        }
        let used = (self.used(party, run)? - self.starts[party]).max(0.0);
        Some(if used >= limit { Reading::timed_out(limit) } else { Reading::solved(used) })
    }

    /// What a run has used, its start included.
    fn used(&self, party: usize, run: &Run) -> Option<f64> {
        match self.score {
            Score::Cpu => Some(run.outcome.cpu_time.as_secs_f64()),
            Score::Resource => {
                resources(self.parties[party].release().family, &String::from_utf8_lossy(&run.outcome.stdout))
            }
        }
    }

    fn run(&mut self, party: usize, text: &str, wall: Option<Duration>) -> Result<Run, RunError> {
        let configuration = Arc::clone(&self.parties[party]);
        self.runner.run_within(&configuration, text.as_bytes(), Purpose::Measurement, wall)
    }

    /// The input in the dialect of each party, with the question what it has cost.
    fn texts(&mut self, text: &str) -> Vec<String> {
        self.store.reset(&self.clean);
        let script = smtlib::parse(&mut self.store, text.as_bytes(), Mode::Tolerant).ok();
        let printed = |configuration: &Arc<Configuration>| {
            let release = configuration.release();
            let mut printed = match &script {
                Some(parsed) => print::print(&self.store, &parsed.script, release),
                None => text.to_owned(),
            };
            if self.score == Score::Resource {
                printed += question(release.family);
            }
            printed
        };
        self.parties.iter().map(printed).collect()
    }

    /// CPU time of all runs since the last call, that of the process that starts them included.
    pub fn take_cpu(&mut self) -> Duration {
        self.runner.take_accounts().total().cpu + self.runner.take_launcher_cpu()
    }

    /// Target and references.
    pub fn parties(&self) -> &[Arc<Configuration>] {
        &self.parties
    }
}

/// Do two runs contradict each other?
fn contradict(one: &Run, other: &Run) -> bool {
    one.answers.checks.iter().any(|check| match (one.status(check.check), other.status(check.check)) {
        (Some(one), Some(other)) => one != other && one != Status::Unknown && other != Status::Unknown,
        _ => false,
    })
}

/// Whether a solver counts its steps.
pub fn counts_resources(family: Family) -> bool {
    units_per_second(family).is_some()
}

/// How a solver is asked for its count.
fn question(family: Family) -> &'static str {
    match family {
        Family::Z3 => "(get-info :rlimit)\n",
        _ => "(get-info :all-statistics)\n",
    }
}

/// The count in an output.
fn resources(family: Family, output: &str) -> Option<f64> {
    let name = match family {
        Family::Z3 => ":rlimit ",
        _ => "\"resource::resourceUnitsUsed\" ",
    };
    let after = &output[output.rfind(name)? + name.len()..];
    let digits = after.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_steps_are_read_from_what_solvers_print() {
        assert_eq!(resources(Family::Z3, "sat\n(:rlimit 2700739)\n"), Some(2_700_739.0));
        let cvc5 = "sat\n(:all-statistics ((\"a\" 1) (\"resource::resourceUnitsUsed\" 364186) (\"b\" 2)))\n";
        assert_eq!(resources(Family::Cvc5, cvc5), Some(364_186.0));
        assert_eq!(resources(Family::Z3, "sat\n"), None);
    }
}
