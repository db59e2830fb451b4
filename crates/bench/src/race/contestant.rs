//! Who races: Osprey itself, and any fuzzer whose command line can be written down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::Totals;
use serde::{Deserialize, Serialize};
use solver::run::Purpose;

use super::process::{self, ContestantRun};
use crate::error::BenchError;

/// A fuzzer with its command line, in which `{target}` and `{reference}` stand for the solvers' own command lines,
/// `{seeds}` for the folder of seeds, `{out}` for the folder it leaves bug triggers in (as .smt2 files), and `{scratch}`
/// for one that nobody looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    pub name: String,
    pub command: String,
    /// It tells its own figures, as Osprey does with `--json`.
    pub tells: bool,
}

impl std::str::FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Contestant, String> {
        let example =
            "for example 'opfuzz=opfuzz -b {out} -s {scratch} -l {scratch} \"{target};{reference}\" {seeds}'";
        let Some((name, command)) = text.split_once('=') else {
            return Err(format!("'{text}' is not NAME=COMMAND, {example}"));
        };
        for needed in ["{target}", "{seeds}", "{out}"] {
            if !command.contains(needed) {
                return Err(format!("the command of '{name}' does not contain {needed}, {example}"));
            }
        }
        Ok(Contestant { name: name.to_owned(), command: command.to_owned(), tells: false })
    }
}

/// What a contestant did with its budget.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    pub cpu: Duration,
    /// Of the fuzzer without solvers.
    pub own_cpu: Duration,
    /// Solver runs, where the fuzzer tells.
    pub calls: Option<Calls>,
    /// How often it was started: one that runs out of seeds begins again.
    pub starts: u64,
    /// Bug triggers with the CPU time at which they were there.
    pub triggers: Vec<(PathBuf, Duration)>,
    /// What went wrong.
    pub complaint: Option<String>,
}

/// Solver runs that a fuzzer told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    pub all: u64,
    /// Those that ran test cases, as far as it tells them apart.
    pub on_tests: u64,
    /// Those that answered questions of engines: they test nothing.
    #[serde(default)]
    pub questions: u64,
    /// Those on test cases that ended with an answer or a crash, not with an error or at the time limit.
    pub answered: u64,
    /// CPU time up to the moment it told. What it did afterwards it did not tell, so no rate may count it.
    pub cpu: Duration,
}

impl Calls {
    /// Some of them for a second of CPU time.
    pub fn per_second(&self, some: u64) -> f64 {
        some as f64 / self.cpu.as_secs_f64().max(0.001)
    }

    fn add(&mut self, more: Calls) {
        self.all += more.all;
        self.on_tests += more.on_tests;
        self.questions += more.questions;
        self.answered += more.answered;
        self.cpu += more.cpu;
    }
}

/// Starts in a row that use next to no CPU time, after which a contestant is given up.
const FUTILE: u64 = 3;
const NEXT_TO_NOTHING: Duration = Duration::from_millis(500);

/// What stands for what in a contestant's command.
pub struct Places<'a> {
    pub target: &'a str,
    pub reference: &'a str,
    pub seeds: &'a Path,
}

/// An effort as it is kept beside what the contestant left.
#[derive(Serialize, Deserialize)]
struct Kept {
    command: String,
    budget: Duration,
    effort: Effort,
}

impl Contestant {
    /// The effort of an earlier race in this folder, if it used the same budget on the same command.
    pub fn earlier(&self, folder: &Path, budget: Duration) -> Option<Effort> {
        let kept = std::fs::read(self.record(folder)).ok()?;
        let kept: Kept = serde_json::from_slice(&kept).ok()?;
        let same = self.words(&kept.command) == self.words(&self.command) && kept.budget == budget;
        same.then_some(kept.effort)
    }

    /// What of a command has to be the same. Our own begins with the program, which may be another build by now.
    fn words<'c>(&self, command: &'c str) -> &'c str {
        if self.tells { command.split_once("' ").map_or(command, |(_, words)| words) } else { command }
    }

    pub fn keep(&self, folder: &Path, budget: Duration, effort: &Effort) -> Result<(), BenchError> {
        let kept = Kept { command: self.command.clone(), budget, effort: effort.clone() };
        let path = self.record(folder);
        let written = serde_json::to_vec_pretty(&kept).map_err(std::io::Error::other);
        written
            .and_then(|text| std::fs::write(&path, text))
            .map_err(|source| BenchError::Write { path, source })
    }

    fn record(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.json", self.name))
    }

    /// Lets it race: again and again until its budget is used up.
    pub fn race(
        &self,
        places: &Places,
        folder: &Path,
        core: Option<usize>,
        budget: Duration,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Effort, BenchError> {
        let mut effort = Effort::default();
        let mut futile = 0;
        while effort.cpu < budget && !stopped() && futile < FUTILE {
            let here = folder.join(format!("{}-{}", self.name, effort.starts));
            let (out, scratch, output) = (here.join("out"), here.join("scratch"), here.join("output"));
            let failed = |source| BenchError::Write { path: here.clone(), source };
            if here.exists() {
                // Of a race that was interrupted.
                std::fs::remove_dir_all(&here).map_err(failed)?;
            }
            std::fs::create_dir_all(&out).and_then(|()| std::fs::create_dir_all(&scratch)).map_err(failed)?;
            let shown = |path: &Path| path.display().to_string();
            let command = self
                .command
                .replace("{target}", places.target)
                .replace("{reference}", places.reference)
                .replace("{seeds}", &shown(places.seeds))
                .replace("{out}", &shown(&out))
                .replace("{scratch}", &shown(&scratch));
            let left = budget.saturating_sub(effort.cpu);
            let run = process::run(&command, &scratch, &output, core, left, stopped).map_err(failed)?;
            let said = String::from_utf8_lossy(&std::fs::read(&output).unwrap_or_default()).into_owned();
            self.add(&mut effort, &run, &said, &out);
            futile = if run.cpu.all < NEXT_TO_NOTHING { futile + 1 } else { 0 };
            if futile >= FUTILE {
                let last = said.lines().last().unwrap_or("it said nothing").trim();
                effort.complaint = Some(format!("it ends at once: {last}"));
            }
        }
        Ok(effort)
    }

    fn add(&self, effort: &mut Effort, run: &ContestantRun, said: &str, out: &Path) {
        let before = effort.cpu;
        effort.starts += 1;
        effort.cpu += run.cpu.all;
        let figures = if self.tells { own_figures(said, run) } else { None };
        if let Some(calls) = figures.as_ref().map(|figures| figures.calls).or_else(|| calls_told(said, run)) {
            effort.calls.get_or_insert_default().add(calls);
        }
        effort.own_cpu += figures.map_or(run.cpu.root, |figures| figures.cpu);
        let mut files = Vec::new();
        triggers(out, &mut files);
        files.sort();
        for file in files {
            let made = std::fs::metadata(&file).and_then(|about| about.modified());
            let when = made.map_or(run.cpu.all, |made| run.at(made));
            effort.triggers.push((file, before + when));
        }
    }
}

/// What Osprey says of itself.
#[derive(Debug, PartialEq)]
struct Figures {
    calls: Calls,
    /// Its own CPU time.
    cpu: Duration,
}

/// What yinyang calls an effective call, in the words of Osprey's summary.
const ANSWERED: [&str; 5] = ["sat", "unsat", "unknown", "crash", "self-check failed"];

/// The figures in Osprey's summary.
fn own_figures(said: &str, run: &ContestantRun) -> Option<Figures> {
    let summary: serde_json::Value = said
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str(line).ok().filter(serde_json::Value::is_object))?;
    let totals: Totals = serde_json::from_value(summary.get("totals")?.clone()).ok()?;
    let words = totals.answers.values().flatten();
    let answered = words.filter(|(word, _)| ANSWERED.contains(&word.as_str()));
    let calls = Calls {
        // Questions of engines, follow-ups, confirmations and reductions are calls too, but not on test cases.
        all: totals.runs.values().map(|counts| counts.runs).sum(),
        on_tests: totals.test_runs(),
        questions: totals.of(Purpose::Question.word()).runs,
        answered: answered.map(|(_, count)| *count).sum(),
        cpu: run.cpu.all,
    };
    Some(Figures { calls, cpu: Duration::from_micros(totals.own_cpu) })
}

/// yinyang's last word on its calls: their number stands before the words "solver calls", and the share of them that
/// was no error and no time-out after "eff:".
fn calls_told(said: &str, run: &ContestantRun) -> Option<Calls> {
    let end = said.rfind(" solver calls")?;
    let number: Vec<char> = said[..end].chars().rev().take_while(char::is_ascii_digit).collect();
    let all: u64 = number.into_iter().rev().collect::<String>().parse().ok()?;
    let rest = said[end..].lines().next().unwrap_or_default();
    let share = rest.split_once("eff: ").and_then(|(_, rest)| rest.split_once('%'));
    let share: Option<f64> = share.and_then(|(share, _)| share.parse().ok());
    let answered = share.map_or(all, |share| (all as f64 * share / 100.0).round() as u64);
    Some(Calls { all, on_tests: all, questions: 0, answered, cpu: run.when_it_had_said(end as u64) })
}

/// Scripts that a contestant left. Of a finding with several scripts the one that was found counts, not what was made
/// of it.
fn triggers(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "internal" {
                triggers(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "smt2")
            && !["reduced.smt2", "witness.smt2"].contains(&name)
        {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::process::{Cpu, Point};
    use super::*;

    #[test]
    fn yinyangs_last_word_on_its_calls_counts() {
        let bar = |calls, eff| {
            format!("Performed {calls} solver calls (23.8 calls/s, eff: {eff}, 11.9 mutants/s)\n")
        };
        let said = [bar(108, "100.0%"), bar(1204, "25.0%"), "a last word".to_owned()].concat();
        let at = |seconds, said: usize| Point {
            when: SystemTime::UNIX_EPOCH,
            cpu: Duration::from_secs(seconds),
            said: said as u64,
        };
        let points =
            vec![at(1, 0), at(2, bar(108, "100.0%").len()), at(5, said.len() - 3), at(9, said.len())];
        let run = ContestantRun {
            cpu: Cpu { all: Duration::from_secs(9), ..Cpu::default() },
            points,
            ..ContestantRun::default()
        };
        // What it did in the last four seconds it did not tell.
        let calls =
            Calls { all: 1204, on_tests: 1204, questions: 0, answered: 301, cpu: Duration::from_secs(5) };
        assert_eq!(calls_told(&said, &run), Some(calls));
        let nothing_yet = calls_told(&bar(0, "NaN"), &run).expect("told");
        assert_eq!((nothing_yet.all, nothing_yet.answered), (0, 0));
        assert_eq!(calls_told("nothing of the kind", &run), None);
    }

    #[test]
    fn our_own_summary_tells_runs_and_cpu_time() {
        let answers =
            r#"{"z3": {"sat": 30, "timeout": 5, "crash": 2}, "cvc5": {"unsat": 40, "rejected": 13}}"#;
        let runs = r#"{"test": {"runs": 90}, "question": {"runs": 7}, "reduction": {"runs": 3}}"#;
        let totals = format!("{{\"runs\": {runs}, \"own_cpu\": 2500000, \"answers\": {answers}}}");
        let said = format!("a note\n{{\"totals\": {totals}}}\n");
        let all = Duration::from_secs(20);
        let run = ContestantRun { cpu: Cpu { all, ..Cpu::default() }, ..ContestantRun::default() };
        let calls = Calls { all: 100, on_tests: 90, questions: 7, answered: 72, cpu: all };
        assert_eq!(own_figures(&said, &run), Some(Figures { calls, cpu: Duration::from_millis(2500) }));
    }

    #[test]
    fn an_earlier_effort_counts_for_the_same_words_and_any_build() {
        let folder = tempfile::tempdir().expect("a folder");
        let own =
            |command: &str| Contestant { name: "a".to_owned(), command: command.to_owned(), tells: true };
        let budget = Duration::from_secs(1);
        own("'one/osprey' fuzz --engine diver")
            .keep(folder.path(), budget, &Effort::default())
            .expect("kept");
        for (command, same) in
            [("'other/osprey' fuzz --engine diver", true), ("'one/osprey' fuzz --engine storm", false)]
        {
            assert_eq!(own(command).earlier(folder.path(), budget).is_some(), same, "{command}");
        }
        assert!(own("'one/osprey' fuzz --engine diver").earlier(folder.path(), budget * 2).is_none());
    }

    #[test]
    fn a_fuzzer_that_ends_at_once_is_started_again_and_then_given_up() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let peer: Contestant = "quick=sh -c 'echo {target} > {out}/bug.smt2; echo 7 solver calls' {seeds}"
            .parse()
            .expect("a peer");
        let places = Places { target: "z3", reference: "cvc5", seeds: folder.path() };
        let effort =
            peer.race(&places, folder.path(), None, Duration::from_secs(60), &|| false).expect("an effort");
        assert_eq!(effort.starts, FUTILE);
        assert_eq!(effort.calls.map(|calls| calls.all), Some(7 * FUTILE));
        assert_eq!(effort.triggers.len() as u64, FUTILE);
        assert!(effort.complaint.is_some());
    }
}
