//! What a run of a solver with settings shows, and whether another one shows something else.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use smtlib::Setting;
use solver::coverage::{Code, CoverageError, Explorer, Trace};
use solver::fast::ExecMode;
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Run};
use solver::{Answer, RunClass, RunRequest, Solver};

use crate::groups::{self, Effect};

/// What a run shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub manner: Manner,
    /// A hash of all that it printed.
    pub text: u64,
    /// The functions that it reached, in order.
    pub functions: Vec<u32>,
    pub cpu: Duration,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// With these answers to its checks.
    Answered(Vec<&'static str>),
    /// The script or an option was refused.
    Refused,
    Crashed,
    /// By a limit.
    Stopped,
    Other,
}

impl Manner {
    /// Some check was answered by `sat` or `unsat`.
    pub fn is_definite(&self) -> bool {
        matches!(self, Manner::Answered(answers) if answers.iter().any(|word| ["sat", "unsat"].contains(word)))
    }
}

/// Where runs are made. Tests have one of their own.
pub trait Laboratory {
    /// Runs a script with these settings.
    fn run(&mut self, script: &[u8], request: &RunRequest) -> Result<Shown, CoverageError>;
}

/// Runs of a solver as processes, with the functions that they reach.
pub struct SolverLaboratory {
    explorer: Explorer,
    configuration: Configuration,
}

impl SolverLaboratory {
    /// Every run is a plain start: nearly all have settings of their own.
    pub fn new(solver: &Solver, code: &Code, limits: Limits) -> Result<SolverLaboratory, CoverageError> {
        let explorer = Explorer::new(solver, code, Trace::Functions, limits)?.starting(ExecMode::Plain);
        Ok(SolverLaboratory { explorer, configuration: Configuration::new(PartyId(0), solver.clone()) })
    }

    /// The same without the functions, for measuring time.
    pub fn blind(solver: &Solver, limits: Limits) -> Result<SolverLaboratory, CoverageError> {
        let explorer = Explorer::blind(solver, limits)?.starting(ExecMode::Plain);
        Ok(SolverLaboratory { explorer, configuration: Configuration::new(PartyId(0), solver.clone()) })
    }
}

impl Laboratory for SolverLaboratory {
    fn run(&mut self, script: &[u8], request: &RunRequest) -> Result<Shown, CoverageError> {
        let (outcome, mut functions) = self.explorer.run_with(script, request)?;
        functions.sort_unstable();
        let mut hasher = DefaultHasher::new();
        outcome.stdout.hash(&mut hasher);
        let cpu = outcome.cpu_time;
        let configuration = Configuration { request: request.clone(), ..self.configuration.clone() };
        let run = Run::new(&Arc::new(configuration), script, outcome);
        Ok(Shown { manner: manner(&run), text: hasher.finish(), functions, cpu })
    }
}

fn manner(run: &Run) -> Manner {
    use RunClass::{
        BadOption, Crash, Flood, Killed, MemoryOut, NotBuilt, Rejected, ResourceOut, Timeout, Unsupported,
    };
    match &run.answers.class {
        BadOption | Rejected | Unsupported | NotBuilt => Manner::Refused,
        Crash(_) => Manner::Crashed,
        Timeout | MemoryOut | ResourceOut | Flood | Killed(_) => Manner::Stopped,
        RunClass::Answered => {
            let answers = run.answers.checks.iter().map(|check| match check.answer {
                Answer::Unknown(_) => "unknown",
                _ => check.answer.word(),
            });
            Manner::Answered(answers.collect())
        }
        _ => Manner::Other,
    }
}

/// What is always the same on a script with default options: the control, made twice to take out noise.
#[derive(Clone, Debug)]
pub struct Control {
    shown: Shown,
    /// Functions that say nothing: they differ without a reason, or because there are options at all.
    noise: Vec<u32>,
    /// What is printed is the same each time.
    steady_text: bool,
}

impl Control {
    /// From two runs with default options. Nothing if the solver has no definite answer, or not the same twice.
    pub fn new(first: Shown, second: &Shown, plumbing: &[u32]) -> Option<Control> {
        if !first.manner.is_definite() || first.manner != second.manner {
            return None;
        }
        let mut noise = difference(&first.functions, &second.functions);
        noise.extend_from_slice(plumbing);
        noise.sort_unstable();
        noise.dedup();
        let steady_text = first.text == second.text;
        Some(Control { shown: first, noise, steady_text })
    }

    /// Functions that are reached, or not, because options are given at their defaults say nothing.
    fn take_placebo(&mut self, placebo: &Shown) {
        if placebo.manner == self.shown.manner {
            self.noise.extend(difference(&self.shown.functions, &placebo.functions));
            self.noise.sort_unstable();
            self.noise.dedup();
        }
    }

    /// What the settings of another run did.
    pub fn effect(&self, other: &Shown) -> Effect {
        if other.manner == Manner::Refused {
            return Effect::Conflict;
        }
        let said = other.manner != self.shown.manner || self.steady_text && other.text != self.shown.text;
        let reached = || {
            let differing = difference(&self.shown.functions, &other.functions);
            differing.iter().any(|function| self.noise.binary_search(function).is_err())
        };
        if said || reached() { Effect::Changed } else { Effect::Nothing }
    }

    /// CPU time of the first run.
    pub fn cpu(&self) -> Duration {
        self.shown.cpu
    }
}

/// A script with default options, twice. Nothing if it is of no use: the solver refuses it, has no definite answer, or not the
/// same twice. With the least request under which it is answered.
pub fn control(
    laboratory: &mut dyn Laboratory,
    script: &[u8],
    calibration: &Calibration,
) -> Result<Option<(Control, RunRequest)>, CoverageError> {
    let mut request = RunRequest::default();
    let mut first = laboratory.run(script, &request)?;
    if first.manner == Manner::Refused {
        // Several checks, and theories that a solver calls experimental, have to be asked for.
        request.broad = true;
        first = laboratory.run(script, &request)?;
    }
    if !first.manner.is_definite() {
        return Ok(None);
    }
    let second = laboratory.run(script, &request)?;
    let Some(mut control) = Control::new(first, &second, &calibration.plumbing) else { return Ok(None) };
    if !calibration.placebo.is_empty() {
        let settings = calibration.placebo.clone();
        let placebo = laboratory.run(script, &RunRequest { settings, ..request.clone() })?;
        control.take_placebo(&placebo);
    }
    Ok(Some((control, request)))
}

/// What options do where there is nothing to solve.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// Functions that are reached because options are given, whatever they are: they say nothing about formulas.
    pub plumbing: Vec<u32>,
    /// Settings that are refused even then, by their places.
    pub refused: BTreeSet<usize>,
    /// Options at their defaults: what differs with them on a formula is how options are handed down, not what they do. Empty
    /// where the solver does not take them at once.
    pub placebo: Vec<Setting>,
}

/// A script on which options can do nothing but be read.
const EMPTY: &str = "(set-logic ALL)\n(check-sat)\n";

impl Calibration {
    /// One run for each of the settings, until told to stop, and one with the same options at their defaults. Nothing if the
    /// solver does not answer a script without assertions.
    pub fn of(
        laboratory: &mut dyn Laboratory,
        settings: &[Setting],
        defaults: Vec<Setting>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Calibration>, CoverageError> {
        let script = EMPTY.as_bytes();
        let first = laboratory.run(script, &RunRequest::default())?;
        let second = laboratory.run(script, &RunRequest::default())?;
        let reached = first.functions.clone();
        let Some(control) = Control::new(first, &second, &[]) else { return Ok(None) };
        let mut plumbing: BTreeSet<u32> = difference(&reached, &second.functions).into_iter().collect();
        let mut refused = BTreeSet::new();
        for (place, setting) in settings.iter().enumerate() {
            if stopped() {
                break;
            }
            let request = RunRequest { settings: vec![setting.clone()], ..RunRequest::default() };
            let shown = laboratory.run(script, &request)?;
            match control.effect(&shown) {
                Effect::Nothing => {}
                Effect::Changed => plumbing.extend(difference(&reached, &shown.functions)),
                Effect::Conflict => _ = refused.insert(place),
            }
        }
        // An option that takes one of its values takes its default as well.
        let unharmed = |default: &Setting| {
            let mut own =
                settings.iter().enumerate().filter(|(_, one)| one.option == default.option).peekable();
            own.peek().is_none() || own.any(|(place, _)| !refused.contains(&place))
        };
        let defaults: Vec<Setting> = defaults.into_iter().filter(unharmed).collect();
        let placebo = harmless(laboratory, defaults, &control.shown.manner)?;
        let request = RunRequest { settings: placebo.clone(), ..RunRequest::default() };
        plumbing.extend(difference(&reached, &laboratory.run(script, &request)?.functions));
        Ok(Some(Calibration { plumbing: plumbing.into_iter().collect(), refused, placebo }))
    }
}

/// Those of the defaults that the solver takes all at once: some it prints and does not read (Z3's `1e-05`), some it
/// refuses beside others. None if it still does not take them without those.
fn harmless(
    laboratory: &mut dyn Laboratory,
    defaults: Vec<Setting>,
    usual: &Manner,
) -> Result<Vec<Setting>, CoverageError> {
    let mut effect = |settings: Vec<Setting>| -> Result<Effect, CoverageError> {
        let shown = laboratory.run(EMPTY.as_bytes(), &RunRequest { settings, ..RunRequest::default() })?;
        Ok(if shown.manner == *usual { Effect::Nothing } else { Effect::Conflict })
    };
    let found = groups::split(vec![(0..defaults.len()).collect()], |group| {
        effect(group.iter().map(|place| defaults[*place].clone()).collect())
    })?;
    let kept = defaults.iter().enumerate().filter(|(place, _)| !found.conflicts.contains(place));
    let kept: Vec<Setting> = kept.map(|(_, setting)| setting.clone()).collect();
    Ok(if effect(kept.clone())? == Effect::Nothing { kept } else { Vec::new() })
}

/// What is in only one of two lists in order.
fn difference(first: &[u32], second: &[u32]) -> Vec<u32> {
    let (mut one, mut other) = (first.iter().peekable(), second.iter().peekable());
    let mut found = Vec::new();
    loop {
        match (one.peek(), other.peek()) {
            (Some(a), Some(b)) if a == b => {
                one.next();
                other.next();
            }
            (Some(a), Some(b)) if a < b => {
                found.push(**a);
                one.next();
            }
            (Some(a), None) => {
                found.push(**a);
                one.next();
            }
            (_, Some(b)) => {
                found.push(**b);
                other.next();
            }
            (None, None) => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(word: &'static str, text: u64, functions: &[u32]) -> Shown {
        let manner = Manner::Answered(vec![word]);
        Shown { manner, text, functions: functions.to_vec(), cpu: Duration::ZERO }
    }

    #[test]
    fn an_effect_is_another_answer_another_text_or_other_code_beyond_the_noise() {
        let control =
            Control::new(shown("sat", 1, &[1, 2, 5]), &shown("sat", 1, &[1, 3, 5]), &[9]).expect("a control");
        let effect = |other: Shown| control.effect(&other);
        assert_eq!(effect(shown("sat", 1, &[1, 2, 3, 5, 9])), Effect::Nothing, "noise and plumbing");
        assert_eq!(effect(shown("sat", 1, &[1, 2])), Effect::Changed, "5 is missing");
        assert_eq!(effect(shown("sat", 1, &[1, 2, 5, 7])), Effect::Changed);
        assert_eq!(effect(shown("sat", 2, &[1, 2, 5])), Effect::Changed, "it printed something else");
        assert_eq!(effect(shown("unsat", 1, &[1, 2, 5])), Effect::Changed);
        let refused = Shown { manner: Manner::Refused, ..shown("sat", 1, &[1]) };
        assert_eq!(effect(refused), Effect::Conflict);
    }

    #[test]
    fn what_differs_without_a_reason_says_nothing() {
        let control = Control::new(shown("sat", 1, &[1]), &shown("sat", 2, &[1]), &[]).expect("a control");
        assert_eq!(control.effect(&shown("sat", 3, &[1])), Effect::Nothing);
        assert!(Control::new(shown("sat", 1, &[1]), &shown("unsat", 1, &[1]), &[]).is_none());
        assert!(Control::new(shown("unknown", 1, &[1]), &shown("unknown", 1, &[1]), &[]).is_none());
    }

    #[test]
    fn a_value_that_is_refused_does_not_take_its_option_along() {
        struct Picky;
        impl Laboratory for Picky {
            fn run(&mut self, _: &[u8], request: &RunRequest) -> Result<Shown, CoverageError> {
                let refused = request.settings.iter().any(|setting| setting.value == "9");
                let manner = if refused { Manner::Refused } else { Manner::Answered(vec!["sat"]) };
                Ok(Shown { manner, text: 1, functions: vec![1], cpu: Duration::ZERO })
            }
        }
        let settings = [("level", "1"), ("level", "9"), ("never", "9")].map(|(o, v)| Setting::new(o, v));
        let defaults = ["level", "never"].map(|option| Setting::new(option, "0")).to_vec();
        let calibration = Calibration::of(&mut Picky, &settings, defaults, &|| false);
        let calibration = calibration.expect("runs").expect("an answer");
        assert_eq!(calibration.refused, BTreeSet::from([1, 2]));
        assert_eq!(calibration.placebo, [Setting::new("level", "0")]);
    }
}
