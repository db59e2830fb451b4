//! The loop: passes over the best script so far until none makes it smaller, or time is up.

mod edits;
mod input;
pub(crate) mod patience;
mod rounds;
mod texts;
mod trials;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::model_text::write_model;
use rustc_hash::{FxHashSet, FxHasher};
use smtlib::print::Dialect;
use smtlib::{Release, Store, Term};
use solver::run::{Accounts, Configuration};

use self::input::Probe;
pub(crate) use self::input::dialects;
use self::patience::Patience;
use crate::error::ReduceError;
pub use crate::interface::{Best, Effort, Input, PassRecord, Progress, Reduced, Watcher};
use crate::meaning::Meanings;
use crate::predicate::{Candidate, Examiner, ModelDuty, Predicate};
use crate::size::Size;
use crate::textual;
use crate::workbench::{Draft, Workbench};

/// Inputs slower than this get a remark.
const SLOW: Duration = Duration::from_secs(3);

/// A script that is interesting only to a predicate that does not look at scripts at all.
const TRIVIAL: &str = "(check-sat)\n";

/// Between two looks at the progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// Makes the input smaller while the predicate stays true.
pub fn reduce(
    input: Input,
    predicate: &dyn Predicate,
    effort: &Effort,
    observer: &dyn Watcher,
) -> Result<Reduced, ReduceError> {
    let started = Instant::now();
    let mut examiners = Vec::new();
    for _ in 0..effort.jobs.max(1) {
        examiners.push(predicate.examiner()?);
    }
    let size = Size::of(input.text);
    let mut probe = Probe { examiners: &mut examiners, has_witness: input.witness.is_some() };
    let (text, (fastest, slowest)) = probe.beginning(input.text, predicate)?;
    let input = Input { text: text.as_bytes(), ..input };
    if fastest > SLOW {
        observer.note(&format!(
            "the predicate takes {:.1} s on the input: this will be slow",
            fastest.as_secs_f64()
        ));
    }
    let trivial = Candidate {
        text: TRIVIAL,
        configuration: None,
        satisfied: false,
        subset: false,
        plain: true,
        other_models: false,
    };
    if size > Size::of(TRIVIAL.as_bytes()) && examiners[0].examine(&trivial)?.interesting {
        return Err(ReduceError::AlwaysTrue);
    }
    let mut reduction = Reduction {
        bench: Workbench::new(Store::new(), Draft { script: smtlib::Script::default(), model: None }),
        original: FxHashSet::default(),
        dialect: Dialect::of(Release::STANDARD),
        duty: ModelDuty::None,
        own_models: predicate.is_about_own_models(),
        examiners,
        observer,
        tried: FxHashSet::default(),
        meanings: Meanings::default(),
        history: Vec::new(),
        best: Best {
            text: text.clone(),
            size: Size::of(text.as_bytes()),
            witness: input.witness.map(|text| String::from_utf8_lossy(text).into_owned()),
            configuration: predicate.configuration(),
            subset: true,
        },
        before: size,
        candidates: 0,
        accepted: 0,
        structure: 0,
        failures: 0,
        missed: 0,
        patience: Patience::new(fastest),
        slowest,
        started,
        deadline: effort.time.map(|time| started + time),
        pass: "reading",
        shown: started,
    };
    let (finished, passes) = reduction.run(input, predicate)?;
    let best = reduction.confirmed()?;
    let mut accounts = Accounts::default();
    let mut launcher_cpu = Duration::ZERO;
    for examiner in &mut reduction.examiners {
        accounts += examiner.take_accounts();
        launcher_cpu += examiner.take_launcher_cpu();
    }
    Ok(Reduced {
        best,
        before: size,
        candidates: reduction.candidates,
        accounts,
        launcher_cpu,
        elapsed: started.elapsed(),
        finished,
        passes,
    })
}

/// Time for the first and the last word on a script, beside what the input took.
const DECISIVE: Duration = Duration::from_secs(2);

/// A reduction under way: what passes work with.
pub struct Reduction<'a> {
    pub bench: Workbench,
    /// The assertions of the input.
    original: FxHashSet<Term>,
    /// How candidates are written.
    dialect: Dialect,
    duty: ModelDuty,
    /// It is a wrong model that must stay.
    pub own_models: bool,
    examiners: Vec<Box<dyn Examiner>>,
    observer: &'a dyn Watcher,
    /// Hashes of candidates that were not interesting.
    tried: FxHashSet<u64>,
    meanings: Meanings,
    best: Best,
    /// All that were the best for a while.
    history: Vec<Best>,
    before: Size,
    candidates: u64,
    accepted: u64,
    /// Expressions by which the script's structure got smaller: names, numbers and unused declarations are not part of
    /// it.
    structure: usize,
    /// Candidates in a row that were not interesting.
    failures: usize,
    /// All candidates that were not interesting.
    missed: u64,
    patience: Patience,
    /// The longest time that the input took.
    slowest: Duration,
    started: Instant,
    deadline: Option<Instant>,
    pass: &'static str,
    shown: Instant,
}

/// How large an acceptable candidate may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Smaller than the best.
    Smaller,
    /// Up to so many times the best: steps that make others possible.
    Times(usize),
}

impl Reduction<'_> {
    /// All passes until nothing changes. Whether nothing was left to try, and what the passes did.
    fn run(
        &mut self,
        input: Input,
        predicate: &dyn Predicate,
    ) -> Result<(bool, Vec<PassRecord>), ReduceError> {
        let mut records: Vec<PassRecord> = Vec::new();
        let mut typed = self.read(input, predicate)?;
        loop {
            let before = self.best.size;
            if typed {
                self.rounds(&mut records)?;
            }
            if !typed || self.bench.has_opaque() {
                let start = (self.candidates, self.accepted, self.best.size.nodes);
                self.pass = "text";
                textual::run(self)?;
                self.record(&mut records, "text", start);
            }
            if self.over() || self.best.size == before {
                break;
            }
            let whole = typed && !self.bench.has_opaque();
            // What was too strange to be read may be gone.
            let text = self.best.text.clone();
            let witness = self.best.witness.clone();
            let input = Input { text: text.as_bytes(), witness: witness.as_deref().map(str::as_bytes) };
            typed = self.read(input, predicate)?;
            if whole && !typed {
                break;
            }
        }
        Ok((!self.over(), records))
    }

    /// Time is up, or the user ends it.
    pub fn over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline) || self.observer.stop()
    }

    /// The best that a plain start shows too, in its final layout. Fast starts are not what a user does; should they
    /// have led astray, earlier results are tried, in growing steps.
    fn confirmed(&mut self) -> Result<Best, ReduceError> {
        // A plain start on a busy machine must not be what undoes everything.
        self.be_patient();
        let mut step = 1;
        loop {
            let mut best = self.best.clone();
            let laid_out = crate::layout::laid_out(&best.text);
            for text in [laid_out, best.text.clone()] {
                let candidate = Candidate {
                    text: &text,
                    configuration: best.configuration.as_ref(),
                    satisfied: best.witness.is_some(),
                    subset: best.subset,
                    plain: true,
                    other_models: false,
                };
                if self.examiners[0].examine(&candidate)?.interesting {
                    best.text = text;
                    self.observer.best(&best)?;
                    return Ok(best);
                }
            }
            let left = self.history.len().saturating_sub(step);
            step *= 2;
            match self.history.drain(left..).next() {
                Some(earlier) => self.best = earlier,
                // The input itself, which has been confirmed at the start.
                None => return Ok(best),
            }
        }
    }

    /// Hands the best so far to whoever keeps it.
    fn keep(&mut self) -> Result<(), ReduceError> {
        let model = self.bench.draft.model.clone();
        self.best.witness = model.and_then(|model| {
            let script = self.bench.draft.script.clone();
            let mark = self.bench.store.mark();
            let written = write_model(&mut self.bench.store, &script, &model).ok();
            self.bench.reset(&mark);
            written
        });
        self.history.push(self.best.clone());
        self.observer.best(&self.best)?;
        Ok(())
    }

    fn show(&mut self) {
        if self.shown.elapsed() >= PROGRESS {
            self.shown = Instant::now();
            self.observer.progress(&Progress {
                pass: self.pass,
                before: self.before,
                now: self.best.size,
                candidates: self.candidates,
                elapsed: self.started.elapsed(),
            });
        }
    }

    /// The best text so far.
    pub fn text(&self) -> &str {
        &self.best.text
    }

    /// The solver with its options, where there is one.
    pub fn configuration(&self) -> Option<Arc<Configuration>> {
        self.best.configuration.clone()
    }

    /// Tries the best text under other options.
    pub fn reconfigured(&mut self, configuration: Configuration) -> Result<bool, ReduceError> {
        let configuration = Arc::new(configuration);
        let words = configuration.command_line("", None);
        let hash = hash_of(&self.best.text, Some(&words));
        if self.over() || self.tried.contains(&hash) {
            return Ok(false);
        }
        self.candidates += 1;
        let text = self.best.text.clone();
        let candidate = Candidate {
            text: &text,
            configuration: Some(&configuration),
            satisfied: self.duty != ModelDuty::None,
            subset: self.best.subset,
            plain: false,
            other_models: false,
        };
        if !self.examiners[0].examine(&candidate)?.interesting {
            self.tried.insert(hash);
            return Ok(false);
        }
        self.best.configuration = Some(configuration);
        self.accepted += 1;
        self.keep()?;
        Ok(true)
    }
}

fn hash_of(text: &str, words: Option<&str>) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    words.hash(&mut hasher);
    hasher.finish()
}
