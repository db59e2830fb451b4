//! Measuring: what target and references need for an input, net of their start.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use smtlib::{Family, Mark, Mode, Status, Store, print};
use solver::RunClass;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, Run, RunError, RunRules, Runner};

use crate::par2::{ENOUGH, Reading, margin, perfect};
use crate::race::{Gap, Next, Race, Stand};
use crate::slow::answered;

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
/// A score is higher only by more than this share of the times in the lower one.
const NOISE_SHARE: f64 = 0.05;
/// Differences below so many times the noise are measured again.
const CLOSE: f64 = 4.0;
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
    /// Its score is not above the floor, or it was not measured so far that it could be.
    Below(Below),
    /// Somebody crashed, refused it or was ended by others: nothing can be compared.
    Unusable,
    /// Target and reference contradict each other: a bug of another kind.
    Contradiction,
    /// Nobody was given it, or the CPU time ended before anything could be said.
    Unmeasured,
}

/// An input that was given up, as far as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Below {
    pub gap: Gap,
    /// The target solved it; all references did.
    pub target_solved: bool,
    pub references_solved: bool,
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

    /// The target has worked on it to an answer or to its limit, so that its time says something. One that gives up at once
    /// counts as much, but is not slow.
    pub fn is_worked(&self, limit: f64) -> bool {
        self.target.solved || self.target.used >= limit
    }

    /// What the target was seen to need more than the slowest reference.
    pub fn gap(&self) -> Gap {
        let slowest = self.references.iter().map(|reading| reading.used).fold(0.0, f64::max);
        let gap = self.target.used - slowest;
        Gap { least: gap, most: gap }
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
                let asked = match score {
                    Score::Cpu => nothing.clone(),
                    Score::Resource => nothing.clone() + question(meter.parties[party].release().family),
                };
                let run = meter.run(party, &asked, None)?;
                used.push(self::used(score, &run).unwrap_or(0.0));
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

    /// By how much a score must be higher than this one to count as higher. Only times have noise: a score beyond the limit
    /// has a time-out in it, which is exact, and what is missing to twice the limit was measured.
    pub fn noise(&self, score: f64) -> f64 {
        let limit = self.limit();
        let measured = if score.abs() > limit { 2.0 * limit - score.abs() } else { score.abs() };
        match self.score {
            Score::Cpu if score.is_finite() => NOISE.max(NOISE_SHARE * measured),
            _ => 0.0,
        }
    }

    /// What a score must exceed to be higher than the floor. A score that is enough to end a run is always high enough.
    fn bar(&self, floor: f64) -> f64 {
        let enough = ENOUGH * perfect(1, self.limit());
        (floor + self.noise(floor)).min(enough.max(floor))
    }

    /// Measures an input. What cannot come above the floor is not measured to its end.
    pub fn measure(&mut self, text: &str, floor: f64) -> Result<Outcome, RunError> {
        self.measure_within(text, floor, f64::INFINITY)
    }

    /// Everybody to the end, whatever the score: for confirmation.
    pub fn whole(&mut self, text: &str) -> Result<Outcome, RunError> {
        let mut left = f64::INFINITY;
        self.once(text, Race::to_the_end(self.parties.len(), self.limit()), &mut left)
    }

    /// Measures an input for no more than so many seconds of CPU time.
    pub fn measure_within(&mut self, text: &str, floor: f64, mut left: f64) -> Result<Outcome, RunError> {
        let bar = self.bar(floor);
        let (parties, limit) = (self.parties.len(), self.limit());
        let mut scored = match self.once(text, Race::new(parties, limit, bar), &mut left)? {
            Outcome::Scored(scored) => scored,
            other => return Ok(other),
        };
        // A close decision is measured again; the worse figures count.
        let close = scored.target.solved && scored.score < floor + CLOSE * self.noise(floor);
        if close && self.score == Score::Cpu && floor.is_finite() {
            for _ in 1..REPEATS {
                match self.once(text, Race::new(parties, limit, bar), &mut left)? {
                    Outcome::Scored(again) if again.score < scored.score => scored = again,
                    Outcome::Scored(_) => {}
                    other => return Ok(other),
                }
            }
        }
        Ok(Outcome::Scored(scored))
    }

    /// `left` is the CPU time there is for it, in seconds.
    fn once(&mut self, text: &str, mut race: Race, left: &mut f64) -> Result<Outcome, RunError> {
        let texts = self.texts(text);
        let second = self.limit() / self.timeout;
        let mut last: Vec<Option<Run>> = vec![None; self.parties.len()];
        loop {
            match race.next() {
                Next::Done => break,
                Next::Below if last.iter().all(Option::is_none) => return Ok(Outcome::Unmeasured),
                Next::Below => {
                    let (target_solved, references_solved) = race.solved();
                    return Ok(Outcome::Below(Below { gap: race.gap(), target_solved, references_solved }));
                }
                Next::Run(..) if *left <= 0.0 => return Ok(Outcome::Unmeasured),
                Next::Run(party, part) => {
                    let affordable = part.min(*left * second);
                    let run = self.run_for(party, &texts[party], affordable)?;
                    *left -= run.outcome.cpu_time.as_secs_f64();
                    let stand = match self.is_cut(party, &run, affordable) {
                        true if affordable < part => return Ok(Outcome::Unmeasured),
                        true => Stand::Beyond(part),
                        false => match self.reading(party, &run) {
                            Some(reading) => Stand::Ended(reading),
                            None => return Ok(Outcome::Unusable),
                        },
                    };
                    race.tell(party, stand);
                    last[party] = Some(run);
                }
            }
        }
        let runs: Vec<&Run> = last.iter().flatten().collect();
        if runs[1..].iter().any(|other| contradict(runs[0], other)) {
            return Ok(Outcome::Contradiction);
        }
        let Some((target, references)) = race.readings() else { return Ok(Outcome::Unusable) };
        let score = margin(target, &references, self.limit());
        Ok(Outcome::Scored(Scored { target, references, score }))
    }

    /// A run that is stopped when it has used so much net of the start, in the unit of the score.
    fn run_for(&mut self, party: usize, text: &str, part: f64) -> Result<Run, RunError> {
        if self.score == Score::Resource {
            let text = format!("{}{text}", self.bound(party, part));
            return self.run(party, &text, None);
        }
        if part >= self.limit() {
            return self.run(party, text, None);
        }
        let whole = part + self.starts[party];
        let wall = |patience: f64| Some(Duration::from_secs_f64(whole * patience + 0.01));
        let mut run = self.run(party, text, wall(1.2))?;
        let had = run.outcome.cpu_time.as_secs_f64();
        // Where others have used the core: first as much longer as that has cost, so that a core which is free again is not
        // used far beyond the part.
        let share = run.outcome.wall_time.as_secs_f64() / had.max(1e-3);
        for patience in [(1.5 * share).clamp(1.2, PATIENCE), PATIENCE] {
            if !run.outcome.timed_out || run.outcome.cpu_time.as_secs_f64() >= whole {
                break;
            }
            run = self.run(party, text, wall(patience))?;
        }
        Ok(run)
    }

    /// Was it stopped before its whole limit?
    fn is_cut(&self, party: usize, run: &Run, part: f64) -> bool {
        if part >= self.limit() {
            return false;
        }
        match self.score {
            Score::Cpu => {
                (run.outcome.timed_out || run.outcome.cpu_exceeded)
                    && run.outcome.cpu_time.as_secs_f64() >= part
            }
            Score::Resource => {
                let used = used(self.score, run).map(|used| used - self.starts[party]);
                !answered(run) && used.is_some_and(|used| used >= part)
            }
        }
    }

    /// The command that bounds a solver's own count, its start included.
    fn bound(&self, party: usize, part: f64) -> String {
        format!("(set-option :rlimit {})\n", (part + self.starts[party]).ceil() as u64)
    }

    /// Target and references on an input to its end, whatever its score: for confirmation and reports.
    pub fn runs(&mut self, text: &str) -> Result<Vec<Run>, RunError> {
        let texts = self.texts(text);
        let limit = self.limit();
        (0..texts.len()).map(|party| self.run_for(party, &texts[party], limit)).collect()
    }

    /// What a run of a party comes to. One that gave up, by `unknown` or for lack of memory, is not solved as one that
    /// ran into its limit. Nothing where it crashed, refused the input or was ended by others: that is no matter of
    /// performance.
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
        let used = used(self.score, run).map(|used| (used - self.starts[party]).max(0.0));
        match run.answers.class {
            RunClass::Answered if run.answers.checks.is_empty() => None,
            RunClass::Answered if answered(run) => Some(match used? {
                used if used >= limit => Reading::timed_out(limit),
                used => Reading::solved(used),
            }),
            RunClass::Answered | RunClass::Timeout | RunClass::MemoryOut | RunClass::ResourceOut => {
                Some(Reading::unsolved(used.unwrap_or(limit).min(limit)))
            }
            _ => None,
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

/// What a run has used, its start included.
pub(crate) fn used(score: Score, run: &Run) -> Option<f64> {
    match score {
        Score::Cpu => Some(run.outcome.cpu_time.as_secs_f64()),
        Score::Resource => {
            resources(run.configuration.release().family, &String::from_utf8_lossy(&run.outcome.stdout))
        }
    }
}

/// How a solver is asked for its count.
pub(crate) fn question(family: Family) -> &'static str {
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
