//! The loop: passes over the best script so far until none makes it smaller, or time is up.

pub(crate) mod patience;
mod texts;
mod trials;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::model_text::{read_model, write_model};
use rustc_hash::{FxHashSet, FxHasher};
use smtlib::literal::Escapes;
use smtlib::print::{Dialect, print_in};
use smtlib::{Mode, Release, Store, Term};
use solver::run::{Accounts, Configuration};

use self::patience::Patience;
use crate::edit::Edit;
use crate::error::ReduceError;
pub use crate::interface::{Best, Effort, Input, PassRecord, Progress, Reduced, Watcher};
use crate::meaning::{Meanings, meaning};
use crate::predicate::{Candidate, Examiner, ModelDuty, Predicate};
use crate::size::Size;
use crate::workbench::{Draft, Workbench};
use crate::{passes, textual};

/// The input is examined this often before anything is changed, what the predicate has seen of it already included.
const BASELINE: u32 = 2;

/// Inputs that take longer are examined once less: printed anew they are examined again anyway.
const LONG: Duration = Duration::from_secs(1);

/// Inputs slower than this get a remark.
const SLOW: Duration = Duration::from_secs(3);

/// A script that is interesting only to a predicate that does not look at scripts at all.
const TRIVIAL: &str = "(check-sat)\n";

/// So few steps are tried one by one at once.
const FEW: usize = 3;

/// The same once so many candidates in a row have failed.
const FEW_LATER: usize = 10;
const LONG_STREAK: usize = 20;

/// A pass that has failed with so many candidates waits until the script is smaller by one part of so many.
const DEAR: u64 = 25;
const CHANGED: usize = 50;

/// Sets of steps that do not work are cut into so many parts.
const SHRINK: usize = 3;

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
    let text = String::from_utf8_lossy(input.text).into_owned();
    let size = Size::of(input.text);
    let mut probe = Probe { examiners: &mut examiners, has_witness: input.witness.is_some() };
    let (fastest, slowest) = probe.baseline(&text, predicate)?;
    if fastest > SLOW {
        observer.note(&format!(
            "the predicate takes {:.1} s on the input: this will be slow",
            fastest.as_secs_f64()
        ));
    }
    let trivial =
        Candidate { text: TRIVIAL, configuration: None, satisfied: false, subset: false, plain: true };
    if size > Size::of(TRIVIAL.as_bytes()) && examiners[0].examine(&trivial)?.interesting {
        return Err(ReduceError::AlwaysTrue);
    }
    let mut reduction = Reduction {
        bench: Workbench::new(Store::new(), Draft { script: smtlib::Script::default(), model: None }),
        original: FxHashSet::default(),
        dialect: Dialect::of(Release::STANDARD),
        duty: ModelDuty::None,
        examiners,
        observer,
        tried: FxHashSet::default(),
        meanings: Meanings::default(),
        history: Vec::new(),
        best: Best {
            text,
            size,
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

/// First questions, before there is anything to reduce.
struct Probe<'a> {
    examiners: &'a mut [Box<dyn Examiner>],
    has_witness: bool,
}

impl Probe<'_> {
    /// The input must be interesting every time. Gives the shortest and the longest time it took.
    fn baseline(
        &mut self,
        text: &str,
        predicate: &dyn Predicate,
    ) -> Result<(Duration, Duration), ReduceError> {
        let satisfied = self.has_witness;
        let candidate = Candidate { text, configuration: None, satisfied, subset: true, plain: true };
        let (mut seen, mut runs, mut fastest, mut slowest) = (0, 0, Duration::MAX, Duration::ZERO);
        let mut timed_out = false;
        if let Some(wall) = predicate.seen() {
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
            0 if timed_out => Err(ReduceError::TooSlow(slowest)),
            0 => Err(ReduceError::NotInteresting(predicate.missing())),
            _ => Err(ReduceError::Flaky { seen, runs }),
        }
    }
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

/// A pass with what came of it last.
struct Scheduled {
    pass: Box<dyn passes::Pass>,
    /// The structure of the script that it could not make smaller, and how much must change before it is tried again.
    failed_on: Option<(usize, usize)>,
    worked: bool,
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

    /// Reads a text into the workbench and prints it anew; false if it has to be reduced as text.
    fn read(&mut self, input: Input, predicate: &dyn Predicate) -> Result<bool, ReduceError> {
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
            let candidate =
                Candidate { text: &text, configuration: None, satisfied: true, subset: true, plain: false };
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
        let candidate = Candidate { text: &text, configuration: None, satisfied, subset: true, plain: true };
        self.candidates += 1;
        let examination = self.examiners[0].examine(&candidate)?;
        if examination.interesting || examination.timed_out {
            Ok(())
        } else {
            Err(ReduceError::Flaky { seen: 1, runs: BASELINE })
        }
    }

    /// Rounds over all passes until a round changes nothing. A pass is left out while the structure of the script is the
    /// one it has failed on already, or nearly so if that has cost many candidates.
    fn rounds(&mut self, records: &mut Vec<PassRecord>) -> Result<(), ReduceError> {
        let mut passes: Vec<Scheduled> = passes::all()
            .into_iter()
            .map(|pass| Scheduled { pass, failed_on: None, worked: false })
            .collect();
        loop {
            let accepted = self.accepted;
            for entry in &mut passes {
                if self.over() {
                    return Ok(());
                }
                // After a success the others have their turn first.
                let early = entry.pass.is_last_resort() && self.accepted > accepted;
                entry.worked = false;
                let waits = |(failed, change): (usize, usize)| self.structure < failed + change;
                if early || entry.failed_on.is_some_and(waits) {
                    continue;
                }
                let start = (self.candidates, self.accepted, self.best.size.nodes);
                let missed = self.missed;
                self.pass = entry.pass.name();
                entry.pass.run(self)?;
                self.record(records, entry.pass.name(), start);
                entry.worked = self.accepted > start.1;
                let smaller = self.best.size.nodes < start.2 && !entry.pass.is_cosmetic();
                // What only nothing else could do may open a way for the others, even if nothing is gained yet.
                if smaller || (entry.worked && entry.pass.is_last_resort()) {
                    self.structure += start.2.saturating_sub(self.best.size.nodes).max(1);
                    entry.failed_on = None;
                    // Simpler assertions may have become superfluous, and with them much of what is still to do.
                    passes::tidy(self)?;
                } else {
                    let dear = self.missed - missed >= DEAR;
                    let change = if dear { self.best.size.nodes / CHANGED } else { 1 };
                    entry.failed_on = Some((self.structure, change.max(1)));
                }
            }
            // What worked goes first; otherwise the order stays.
            passes.sort_by_key(|entry| (entry.pass.is_last_resort(), !entry.worked));
            if self.over() || self.accepted == accepted {
                return Ok(());
            }
        }
    }

    fn record(&self, records: &mut Vec<PassRecord>, name: &'static str, start: (u64, u64, usize)) {
        let place = records.iter().position(|record| record.name == name).unwrap_or_else(|| {
            records.push(PassRecord { name, candidates: 0, accepted: 0, saved: 0 });
            records.len() - 1
        });
        let record = &mut records[place];
        record.candidates += self.candidates - start.0;
        record.accepted += self.accepted - start.1;
        record.saved += start.2.saturating_sub(self.best.size.nodes);
    }

    /// Time is up, or the user ends it.
    pub fn over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline) || self.observer.stop()
    }

    /// Steps that may be taken together: all at once, then thirds, and so on down to single ones. Large sets of steps
    /// that all work cost one candidate; one that does not work costs a few. Where nothing has worked for long, sets are
    /// a waste: single steps at once.
    pub fn edits(&mut self, edits: Vec<Edit>) -> Result<bool, ReduceError> {
        self.edits_from(edits, usize::MAX)
    }

    /// The same, with at most `largest` steps at once.
    pub fn edits_from(&mut self, edits: Vec<Edit>, largest: usize) -> Result<bool, ReduceError> {
        let mut left = edits;
        let mut changed = false;
        let mut chunk = if left.len() <= self.few() { 1 } else { left.len().min(largest) };
        while chunk > 0 && !left.is_empty() {
            let mut at = 0;
            while at < left.len() && !self.over() {
                let count = (left.len() - at).div_ceil(chunk);
                let part = |number: usize| {
                    let from = at + number * chunk;
                    from..(from + chunk).min(left.len())
                };
                let found =
                    self.first(count, Growth::Smaller, &mut |bench, number| bench.with(&left[part(number)]))?;
                let Some(number) = found else { break };
                changed = true;
                let range = part(number);
                at = range.start;
                let taken: Vec<Edit> = left.drain(range).collect();
                renumber(&mut left, &taken);
            }
            chunk = match chunk {
                1 => 0,
                // Still nothing.
                _ if left.len() <= self.few() * SHRINK => 1,
                _ => (chunk / SHRINK).max(1),
            };
        }
        Ok(changed)
    }

    /// So many steps are tried one by one at once.
    fn few(&self) -> usize {
        if self.failures < LONG_STREAK { FEW } else { FEW_LATER }
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
        let words = configuration.command_line("");
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

/// After commands have gone, later ones have other places.
fn renumber(left: &mut [Edit], taken: &[Edit]) {
    let gone: Vec<usize> = taken
        .iter()
        .filter_map(|edit| match edit {
            Edit::Drop(place) => Some(*place),
            _ => None,
        })
        .collect();
    if gone.is_empty() {
        return;
    }
    for edit in left {
        if let Edit::Drop(place) | Edit::Command(place, _) | Edit::At(place, ..) = edit {
            *place -= gone.iter().filter(|other| *other < place).count();
        }
    }
}

fn hash_of(text: &str, words: Option<&str>) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    words.hash(&mut hasher);
    hasher.finish()
}
