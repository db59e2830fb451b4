//! What a campaign has done so far: counts for the live view, the summary and the store.

use std::collections::BTreeMap;
use std::time::Duration;

use oracle::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use solver::run::Purpose;

use super::KnownFinding;

/// Solver runs of one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunCounts {
    pub runs: u64,
    /// CPU time in microseconds.
    pub cpu: u64,
    /// Of it, in the kernel, which counts it by ticks of its clock: an estimate that gets better with more runs.
    pub kernel: u64,
    /// Runs that were cut at their time limit, and their part of the CPU time.
    pub cut: u64,
    pub cut_cpu: u64,
    /// Runs that should have started fast and had to start plainly.
    pub fallbacks: u64,
}

impl RunCounts {
    pub fn add(&mut self, other: &RunCounts) {
        self.runs += other.runs;
        self.cpu += other.cpu;
        self.kernel += other.kernel;
        self.cut += other.cut;
        self.cut_cpu += other.cut_cpu;
        self.fallbacks += other.fallbacks;
    }
}

/// Questions of engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionCounts {
    pub asked: u64,
    pub answered: u64,
    pub timed_out: u64,
    /// Answered from memory, without a run.
    pub remembered: u64,
}

impl QuestionCounts {
    pub fn add(&mut self, other: &QuestionCounts) {
        self.asked += other.asked;
        self.answered += other.answered;
        self.timed_out += other.timed_out;
        self.remembered += other.remembered;
    }
}

/// Counts over a whole campaign, or a part of it. All of them add up, except for `slowest`, the largest of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    pub rounds: u64,
    pub tests: u64,
    /// Solver runs by the word of their purpose.
    pub runs: BTreeMap<String, RunCounts>,
    pub questions: QuestionCounts,
    /// Wall-clock time in milliseconds, summed over the processes of the campaign: two that work side by side for a
    /// minute make two minutes.
    pub elapsed: u64,
    /// CPU time in microseconds of everything but solvers: our processes and the launchers.
    pub own_cpu: u64,
    /// Runs by solver and what they amounted to: `sat`, `unsat`, `unknown`, or the run's class.
    pub answers: BTreeMap<String, BTreeMap<String, u64>>,
    /// Test cases by engine.
    pub engines: BTreeMap<String, u64>,
    /// Bugs by the gravest kind they were seen as.
    pub findings: BTreeMap<String, u64>,
    pub duplicates: u64,
    /// Findings whose signature is in the user's list.
    pub suppressed: u64,
    /// Findings that did not repeat at all in plain runs.
    pub unconfirmed: u64,
    /// Test cases some solver refused.
    pub rejected: u64,
    /// Test cases that made some solver behave in a new way.
    pub novel: u64,
    /// Checks of ourselves that failed: a witness that does not satisfy its script, an engine that panicked.
    pub internal_errors: u64,
    /// Steps that took long of our own CPU time, without solvers.
    pub slow: u64,
    /// The longest of them, in microseconds.
    pub slowest: u64,
    /// Messages of refusals.
    pub refusals: Messages,
    /// Suspicions that are differences by design, by reason.
    pub excuses: Messages,
    /// Suspicions for which not enough speaks, or against which something does, by reason.
    pub unproven: Messages,
    /// Rounds whose seeds an engine could make nothing of, or nothing more, by engine and reason.
    pub left_alone: Messages,
    /// Command lines of the processes that worked on it.
    pub commands: Messages,
    /// What they were: this program, the system, the solvers, each with its version; once per process.
    pub versions: Messages,
    /// Files of seeds that could not be used, by reason.
    pub unread_seeds: Messages,
}

/// Different messages of a kind that are remembered.
pub const MESSAGES: usize = 200;

/// How often each message came; at most `MESSAGES` different ones, and the rest under one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Messages {
    counts: BTreeMap<String, u64>,
}

/// What stands for messages that there was no room for.
pub(super) const OTHERS: &str = "others";

impl Messages {
    /// Counts a message.
    pub fn count(&mut self, message: String) {
        self.count_times(message, 1);
    }

    fn count_times(&mut self, message: String, times: u64) {
        let room = self.counts.len() < MESSAGES || self.counts.contains_key(&message);
        let name = if room { message } else { OTHERS.to_owned() };
        *self.counts.entry(name).or_default() += times;
    }

    fn add(&mut self, other: &Messages) {
        for (message, count) in &other.counts {
            self.count_times(message.clone(), *count);
        }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How often this one came.
    pub fn of(&self, message: &str) -> u64 {
        self.counts.get(message).copied().unwrap_or_default()
    }

    /// Different ones.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The most frequent first.
    pub fn by_frequency(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> =
            self.counts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

impl Totals {
    /// Adds what another process, or an earlier run, has counted.
    pub fn add(&mut self, other: &Totals) {
        let Totals {
            rounds,
            tests,
            runs,
            questions,
            elapsed,
            own_cpu,
            answers,
            engines,
            findings,
            duplicates,
            suppressed,
            unconfirmed,
            rejected,
            novel,
            internal_errors,
            slow,
            slowest,
            refusals,
            excuses,
            unproven,
            left_alone,
            commands,
            versions,
            unread_seeds,
        } = other;
        self.rounds += rounds;
        self.tests += tests;
        for (purpose, counts) in runs {
            self.ran(purpose, counts);
        }
        self.questions.add(questions);
        self.elapsed += elapsed;
        self.own_cpu += own_cpu;
        for (solver, by_answer) in answers {
            add_each(self.answers.entry(solver.clone()).or_default(), by_answer);
        }
        add_each(&mut self.engines, engines);
        add_each(&mut self.findings, findings);
        self.duplicates += duplicates;
        self.suppressed += suppressed;
        self.unconfirmed += unconfirmed;
        self.rejected += rejected;
        self.novel += novel;
        self.internal_errors += internal_errors;
        self.slow += slow;
        self.slowest = self.slowest.max(*slowest);
        self.refusals.add(refusals);
        self.excuses.add(excuses);
        self.unproven.add(unproven);
        self.left_alone.add(left_alone);
        self.commands.add(commands);
        self.versions.add(versions);
        self.unread_seeds.add(unread_seeds);
    }

    pub fn is_empty(&self) -> bool {
        *self == Totals::default()
    }

    /// Adds solver runs of this purpose.
    pub fn ran(&mut self, purpose: &str, counts: &RunCounts) {
        self.runs.entry(purpose.to_owned()).or_default().add(counts);
    }

    /// Bugs by the gravest kind they were seen as, from the findings that the store lists: a count that travels by itself
    /// could be lost by a kill.
    pub fn count_findings(&mut self, known: &[KnownFinding]) {
        let gravity = |kind: &str| Kind::ALL.iter().position(|one| one.word() == kind);
        let mut bugs: BTreeMap<&str, &str> = BTreeMap::new();
        for finding in known {
            let kind = bugs.entry(&finding.group).or_insert(&finding.kind);
            if gravity(&finding.kind) < gravity(kind) {
                *kind = &finding.kind;
            }
        }
        self.findings.clear();
        for kind in bugs.into_values() {
            *self.findings.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Bugs.
    pub fn unique(&self) -> u64 {
        self.findings.values().sum()
    }

    /// Solver runs of this purpose.
    pub fn of(&self, purpose: &str) -> RunCounts {
        self.runs.get(purpose).copied().unwrap_or_default()
    }

    /// Solver runs of test cases.
    pub fn test_runs(&self) -> u64 {
        self.of(Purpose::Test.word()).runs
    }

    /// Solver runs that are neither of test cases nor make findings small and tell them apart nor trace code: questions,
    /// follow-ups, confirmations, measurements.
    pub fn other_runs(&self) -> RunCounts {
        let mut all = RunCounts::default();
        let apart = [Purpose::Test, Purpose::Reduction, Purpose::Blame, Purpose::Trace].map(Purpose::word);
        for (word, counts) in &self.runs {
            if !apart.contains(&word.as_str()) {
                all.add(counts);
            }
        }
        all
    }

    /// CPU time of solvers in microseconds, for all purposes.
    pub fn solver_cpu(&self) -> u64 {
        self.runs.values().map(|counts| counts.cpu).sum()
    }

    /// The share of the kernel in the solvers' CPU time, between 0 and 1.
    pub fn kernel_share(&self) -> f64 {
        let kernel: u64 = self.runs.values().map(|counts| counts.kernel).sum();
        match self.solver_cpu() {
            0 => 0.0,
            cpu => (kernel as f64 / cpu as f64).min(1.0),
        }
    }

    /// Runs that fell back from a fast start to a plain one.
    pub fn fallbacks(&self) -> u64 {
        self.runs.values().map(|counts| counts.fallbacks).sum()
    }

    /// The share of our own CPU time, between 0 and 1.
    pub fn own_share(&self) -> f64 {
        let all = self.solver_cpu() + self.own_cpu;
        if all == 0 { 0.0 } else { self.own_cpu as f64 / all as f64 }
    }

    /// Wall-clock time, summed over processes.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed)
    }
}

fn add_each(to: &mut BTreeMap<String, u64>, from: &BTreeMap<String, u64>) {
    for (name, count) in from {
        *to.entry(name.clone()).or_default() += count;
    }
}

/// A count of [`Totals`] by the names that lead to it: `["runs", "test", "cpu"]`.
pub(super) type Path = Vec<String>;

/// Totals as single numbers, which a store can add up without knowing what they are.
impl Totals {
    /// All counts that are not zero.
    pub(super) fn numbers(&self) -> Result<Vec<(Path, u64)>, serde_json::Error> {
        let mut numbers = Vec::new();
        collect(&serde_json::to_value(self)?, &mut Vec::new(), &mut numbers);
        Ok(numbers)
    }

    pub(super) fn from_numbers(numbers: Vec<(Path, u64)>) -> Result<Totals, serde_json::Error> {
        let mut all = Map::new();
        for (path, number) in numbers {
            place(&mut all, &path, number);
        }
        serde_json::from_value(Value::Object(all))
    }

    /// Is the larger of two numbers their sum?
    pub(super) fn is_maximum(path: &[String]) -> bool {
        path.first().is_some_and(|name| name == "slowest")
    }

    /// The messages, by the first name of their paths.
    pub(super) fn messages(&self) -> [(&'static str, &Messages); 7] {
        [
            ("refusals", &self.refusals),
            ("excuses", &self.excuses),
            ("unproven", &self.unproven),
            ("left_alone", &self.left_alone),
            ("commands", &self.commands),
            ("versions", &self.versions),
            ("unread_seeds", &self.unread_seeds),
        ]
    }
}

fn collect(value: &Value, path: &mut Path, numbers: &mut Vec<(Path, u64)>) {
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_u64().filter(|number| *number > 0) {
                numbers.push((path.clone(), number));
            }
        }
        Value::Object(parts) => {
            for (name, part) in parts {
                path.push(name.clone());
                collect(part, path, numbers);
                path.pop();
            }
        }
        _ => {}
    }
}

fn place(parts: &mut Map<String, Value>, path: &[String], number: u64) {
    match path {
        [] => {}
        [name] => {
            parts.insert(name.clone(), number.into());
        }
        [name, rest @ ..] => {
            let inner = parts.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                place(inner, rest, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(slowest: u64) -> Totals {
        let mut totals = Totals { tests: 2, elapsed: 5, own_cpu: 10, slowest, ..Totals::default() };
        totals.ran(
            Purpose::Test.word(),
            &RunCounts { runs: 3, cpu: 50, kernel: 18, cut: 1, cut_cpu: 20, fallbacks: 1 },
        );
        totals.ran(Purpose::Question.word(), &RunCounts { runs: 2, cpu: 30, ..RunCounts::default() });
        totals.ran(Purpose::Reduction.word(), &RunCounts { runs: 7, cpu: 10, ..RunCounts::default() });
        totals.questions = QuestionCounts { asked: 4, answered: 3, timed_out: 1, remembered: 2 };
        totals.answers.entry("z3".into()).or_default().insert("sat".into(), 3);
        totals.findings.insert("crash".into(), 1);
        totals.refusals.count("line 1: \"quotes\" and ['brackets']".into());
        totals.excuses.count("by design".into());
        totals.unproven.count("who knows".into());
        totals
    }

    #[test]
    fn totals_add_up_and_the_slowest_is_the_slowest_of_all() {
        let mut sum = totals(8);
        sum.add(&totals(5));
        assert_eq!((sum.tests, sum.slowest, sum.elapsed), (4, 8, 10));
        assert_eq!(
            (sum.test_runs(), sum.other_runs().runs, sum.of(Purpose::Reduction.word()).runs),
            (6, 4, 14)
        );
        assert_eq!((sum.solver_cpu(), sum.fallbacks(), sum.unique()), (180, 2, 2));
        assert_eq!(sum.own_share(), 0.1);
        assert_eq!(sum.kernel_share(), 0.2);
        assert_eq!(sum.questions.remembered, 4);
        assert_eq!(sum.answers["z3"]["sat"], 6);
    }

    #[test]
    fn different_messages_are_bounded_and_every_one_is_counted() {
        let mut messages = Messages::default();
        for i in 0..MESSAGES + 10 {
            messages.count(i.to_string());
        }
        messages.count("0".into());
        assert_eq!((messages.of("0"), messages.of(OTHERS)), (2, 10));
        assert_eq!(messages.total(), MESSAGES as u64 + 11);
        assert_eq!(messages.by_frequency()[0], (OTHERS, 10));
    }

    #[test]
    fn totals_come_back_from_their_numbers() {
        let totals = totals(8);
        assert_eq!(Totals::from_numbers(totals.numbers().expect("numbers")).expect("totals"), totals);
        assert!(Totals::default().numbers().expect("numbers").is_empty());
    }

    #[test]
    fn numbers_of_another_version_are_left_out() {
        let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let numbers = vec![(path(&["tests"]), 3), (path(&["what", "is", "this"]), 4)];
        assert_eq!(Totals::from_numbers(numbers).expect("totals"), Totals { tests: 3, ..Totals::default() });
    }
}
