//! The input: examined as it is, and read into the workbench.

use std::sync::Arc;
use std::time::Duration;

use eval::model_text::read_model;
use rustc_hash::FxHashSet;
use smtlib::literal::Escapes;
use smtlib::print::{Dialect, print_in};
use smtlib::{Mode, Release, Script, Store};

use super::Reduction;
use crate::error::ReduceError;
use crate::interface::Input;
use crate::meaning::meaning;
use crate::predicate::{Candidate, Examiner, ModelDuty, Predicate};
use crate::size::Size;
use crate::workbench::{Draft, Workbench};

/// The input is examined this often before anything is changed, what the predicate has seen of it already included.
const BASELINE: u32 = 2;

/// Inputs that take longer are examined once less: printed anew they are examined again anyway.
const LONG: Duration = Duration::from_secs(1);

/// First questions, before there is anything to reduce.
pub(super) struct Probe<'a> {
    pub examiners: &'a mut [Box<dyn Examiner>],
    pub has_witness: bool,
}

impl Probe<'_> {
    /// The input, or what of it is enough: where it does not end, it may have shown everything before its last check.
    /// With the shortest and the longest time that it took.
    pub fn beginning(
        &mut self,
        input: &[u8],
        predicate: &dyn Predicate,
    ) -> Result<(String, (Duration, Duration)), ReduceError> {
        let text = String::from_utf8_lossy(input).into_owned();
        let whole = match self.baseline(&text, predicate, predicate.seen()) {
            Err(slow @ ReduceError::TooSlow(_)) => slow,
            result => return Ok((text, result?)),
        };
        for text in beginnings(input, &predicate.releases()) {
            match self.baseline(&text, predicate, None) {
                Err(ReduceError::TooSlow(_) | ReduceError::NotInteresting(_)) => {}
                result => return Ok((text, result?)),
            }
        }
        Err(whole)
    }

    /// The text must be interesting every time, the time before this included that the predicate has seen it, if it has.
    /// Gives the shortest and the longest time that it took.
    fn baseline(
        &mut self,
        text: &str,
        predicate: &dyn Predicate,
        before: Option<Duration>,
    ) -> Result<(Duration, Duration), ReduceError> {
        let satisfied = self.has_witness;
        let candidate = Candidate {
            text,
            configuration: None,
            satisfied,
            subset: true,
            plain: true,
            other_models: false,
        };
        let (mut seen, mut runs, mut fastest, mut slowest) = (0, 0, Duration::MAX, Duration::ZERO);
        let mut timed_out = false;
        if let Some(wall) = before {
            (seen, runs, fastest, slowest) = (1, 1, wall, wall);
        }
        while runs < BASELINE && !(seen > 0 && seen == runs && fastest > LONG) {
            let examination = self.examiners[0].examine(&candidate)?;
            runs += 1;
            seen += u32::from(examination.interesting);
            fastest = fastest.min(examination.wall);
            slowest = slowest.max(examination.wall);
            timed_out |= examination.timed_out;
        }
        match seen {
            seen if seen == runs => Ok((fastest, slowest)),
            _ if timed_out => Err(ReduceError::TooSlow(slowest)),
            0 => Err(ReduceError::NotInteresting(predicate.missing())),
            _ => Err(ReduceError::Flaky { seen, runs }),
        }
    }
}

impl Reduction<'_> {
    /// Reads a text into the workbench and prints it anew; false if it has to be reduced as text.
    pub(super) fn read(&mut self, input: Input, predicate: &dyn Predicate) -> Result<bool, ReduceError> {
        let mut store = Store::new();
        let Ok(parsed) = smtlib::parse(&mut store, input.text, Mode::Tolerant) else { return Ok(false) };
        let script = parsed.script;
        let model = match input.witness {
            Some(text) => match read_model(&mut store, &script, text, Release::STANDARD) {
                Ok(read) => Some(read.model),
                // The witness must not get lost.
                Err(_) => return Ok(false),
            },
            None => None,
        };
        let draft = Draft { script, model: model.map(Arc::new) };
        self.bench = Workbench::new(store, Draft { model: None, ..draft.clone() });
        self.duty = predicate.about_models();
        if !self.bench.take(draft) {
            return Ok(false);
        }
        if self.duty != ModelDuty::None && self.bench.draft.model.is_none() {
            self.duty = ModelDuty::None;
        }
        self.original = self.bench.draft.script.assertions().collect();
        // What is decided here is too much to depend on a busy machine.
        self.be_patient();
        let mut printed = FxHashSet::default();
        for dialect in dialects(&predicate.releases(), input.text) {
            let text = print_in(&self.bench.store, &self.bench.draft.script, dialect);
            if !printed.insert(text.clone()) {
                continue;
            }
            let candidate = Candidate {
                text: &text,
                configuration: None,
                satisfied: true,
                subset: true,
                plain: false,
                other_models: false,
            };
            self.candidates += 1;
            if self.examiners[0].examine(&candidate)?.interesting {
                self.dialect = dialect;
                self.meanings.take(meaning(&mut self.bench.store, &self.bench.draft.script));
                self.calibrate();
                self.best.size = Size::of(text.as_bytes());
                self.best.text = text;
                self.keep()?;
                return Ok(true);
            }
        }
        if self.history.is_empty() && self.slowest > LONG {
            self.steady(input)?;
        }
        self.calibrate();
        Ok(false)
    }

    /// An input that was examined only once, and is not interesting printed anew, is examined again: what a flaky
    /// predicate says does not count.
    fn steady(&mut self, input: Input) -> Result<(), ReduceError> {
        let text = String::from_utf8_lossy(input.text);
        let satisfied = input.witness.is_some();
        let candidate = Candidate {
            text: &text,
            configuration: None,
            satisfied,
            subset: true,
            plain: true,
            other_models: false,
        };
        self.candidates += 1;
        let examination = self.examiners[0].examine(&candidate)?;
        if examination.interesting || examination.timed_out {
            Ok(())
        } else {
            Err(ReduceError::Flaky { seen: 1, runs: BASELINE })
        }
    }
}

/// The script up to each of its checks but the last, the shortest first, as the first of the releases writes it.
fn beginnings(input: &[u8], releases: &[Release]) -> Vec<String> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, input, Mode::Tolerant) else { return Vec::new() };
    let commands = &parsed.script.commands;
    let checks: Vec<usize> = (0..commands.len()).filter(|at| commands[*at].is_check()).collect();
    let dialect = Dialect::of(releases.first().copied().unwrap_or(Release::STANDARD));
    let upto = |at: &usize| Script { commands: commands[..=*at].to_vec() };
    let shorter = checks.split_last().map_or(&[][..], |(_, shorter)| shorter);
    shorter.iter().map(|at| print_in(&store, &upto(at), dialect)).collect()
}

/// The ways to write an input that are tried until it is interesting: for each release with the usual names of formats,
/// then without; and with characters beyond ASCII as they are if it has any.
pub(crate) fn dialects(releases: &[Release], text: &[u8]) -> Vec<Dialect> {
    let plain: Vec<Dialect> = releases.iter().map(|release| Dialect::of(*release)).collect();
    let short = plain.iter().map(|dialect| Dialect { named_formats: true, ..*dialect });
    let mut all: Vec<Dialect> = short.chain(plain.iter().copied()).collect();
    if !text.is_ascii() {
        let raw: Vec<Dialect> =
            all.iter().map(|dialect| Dialect { escapes: Escapes::Raw, ..*dialect }).collect();
        all.extend(raw);
    }
    all
}
