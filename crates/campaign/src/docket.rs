//! Findings on their way: on disk as soon as they are confirmed, then made small in the background, and only then told
//! apart from known ones.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reduce::predicate::Limits;
use reduce::{Observer, Settings};

use crate::error::CampaignError;
use crate::finding::{Dossier, Finding};
use crate::folder;
use crate::journal::Line;
use crate::reduction::{Case, Orders};
use crate::seeds::SeedText;
use crate::state::Reported;
use crate::worker::Shared;

/// Time for one finding.
const BUDGET: Duration = Duration::from_secs(20);

/// Share of the time that reductions may take while the campaign runs, in workers.
const SHARE: f64 = 0.5;

/// What is pending at the end gets this long.
const GRACE: Duration = Duration::from_secs(5);

/// With this many pending, findings that look like known ones are taken for them.
const CROWDED: usize = 8;

/// With this many pending, workers wait.
const FULL: usize = 64;

/// A look at the queue, unless something is put there first.
const TICK: Duration = Duration::from_millis(250);

/// Findings that wait to be reduced.
#[derive(Default)]
pub struct Docket {
    queue: Mutex<VecDeque<Waiting>>,
    /// Something was put into the queue or taken out, or the campaign is over.
    changed: Condvar,
}

struct Waiting {
    case: Case,
    folder: PathBuf,
    ancestors: Vec<SeedText>,
}

/// What became of a finding at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// New, without doubt.
    Unique,
    /// On disk; whether it is new will turn out.
    Waiting,
    Known,
}

impl Docket {
    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<Waiting>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, waiting: Waiting) {
        self.queue().push_back(waiting);
        self.changed.notify_all();
    }

    /// Sleeps until something may have changed.
    fn doze(&self, still: impl Fn(&VecDeque<Waiting>) -> bool) {
        let queue = self.queue();
        if still(&queue) {
            // Which of the two ended it does not matter: the caller looks again.
            drop(self.changed.wait_timeout(queue, TICK));
        }
    }

    /// Has everybody who waits look again.
    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Puts a confirmed finding on disk and in the queue. `likely` is the signature it would have if it could not be
    /// made smaller.
    pub fn enter(
        &self,
        shared: &Shared,
        case: Case,
        likely: String,
        ancestors: &[SeedText],
        reducible: bool,
    ) -> Result<Entered, CampaignError> {
        let dossier = Dossier::new(case.finding.clone(), case.input.clone(), case.witness.clone());
        if !case.finding.pending {
            let reported = shared.state().report(&dossier, &case.input, ancestors)?;
            let Reported::Unique(folder) = reported else { return Ok(Entered::Known) };
            shared.stop.count_finding();
            shared.observer.found(dossier.finding(), &folder);
            if reducible {
                self.put(Waiting { case, folder, ancestors: ancestors.to_vec() });
            }
            return Ok(Entered::Unique);
        }
        while self.queue().len() >= FULL && !shared.stop.now() {
            self.doze(|queue| queue.len() >= FULL);
        }
        let crowded = self.queue().len() >= CROWDED;
        let origin = &case.finding.provenance;
        let mut state = shared.state();
        if crowded
            && let Some(signature) = state.resembling(&case.finding.kind, &case.finding.solver, &likely)
        {
            state.duplicate(&signature, origin.round, origin.step, &case.input)?;
            return Ok(Entered::Known);
        }
        // The very same input waits already: a round was entered twice from one seed, say.
        if state.bugs().join(case.finding.folder_name()).exists() {
            state.totals.duplicates += 1;
            return Ok(Entered::Known);
        }
        let folder = dossier.write(state.bugs())?;
        drop(state);
        self.put(Waiting { case, folder, ancestors: ancestors.to_vec() });
        Ok(Entered::Waiting)
    }

    /// Reduces what is in the queue until the campaign is over; then what is left for a few seconds more, or to the end
    /// if the user wants that.
    pub fn work(
        &self,
        shared: &Shared,
        workers_gone: &dyn Fn() -> bool,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), CampaignError> {
        let started = Instant::now();
        let mut busy = Duration::ZERO;
        let hurry: &dyn Fn() -> bool = if shared.settings.reduce_all { interrupted } else { &|| true };
        let watch = Watch { workers_gone, hurry, ended: Cell::new(None) };
        loop {
            let over = workers_gone();
            let waiting = self.queue().pop_front();
            let Some(waiting) = waiting else {
                if over {
                    return Ok(());
                }
                self.doze(VecDeque::is_empty);
                continue;
            };
            self.changed.notify_all();
            // The campaign's own work comes first; at its end there is none.
            while !workers_gone() && busy.as_secs_f64() > SHARE * started.elapsed().as_secs_f64() {
                self.doze(|_| true);
            }
            let begun = Instant::now();
            let done = if watch.stop() { None } else { reduce(shared, &waiting.case, &watch) };
            busy += begun.elapsed();
            settle(shared, waiting, done)?;
        }
    }
}

/// The finding made small; nothing if that cannot be done.
fn reduce(shared: &Shared, case: &Case, watch: &Watch) -> Option<crate::reduction::Done> {
    let identity = shared.identity;
    let orders = Orders {
        settings: Settings { jobs: 1, time: Some(BUDGET) },
        limits: Limits { wall: identity.timeout() * 2, memory: identity.memory << 20 },
        bisect: shared.settings.bisect,
    };
    match case.reduce(&orders, watch) {
        Ok(done) => {
            let spent = done.reduced.spent;
            let totals = &mut shared.state().totals;
            totals.reduction_runs += spent.runs;
            totals.reduction_cpu += spent.cpu.as_micros() as u64;
            totals.solver_cpu += spent.cpu.as_micros() as u64;
            Some(done)
        }
        Err(error) => {
            let text = format!("{} is not reduced: {error}", case.finding.folder_name());
            let _ = shared.state().log(&Line::Note { text: &text });
            None
        }
    }
}

/// Ends reductions some time after the last worker has gone.
struct Watch<'a> {
    workers_gone: &'a dyn Fn() -> bool,
    /// Whether what is left must not take long.
    hurry: &'a dyn Fn() -> bool,
    ended: Cell<Option<Instant>>,
}

impl Observer for Watch<'_> {
    fn stop(&self) -> bool {
        if (self.workers_gone)() && self.ended.get().is_none() {
            self.ended.set(Some(Instant::now()));
        }
        (self.hurry)() && self.ended.get().is_some_and(|ended| ended.elapsed() > GRACE)
    }
}

/// Tells a finding apart and gives it its final place.
fn settle(
    shared: &Shared,
    waiting: Waiting,
    done: Option<crate::reduction::Done>,
) -> Result<(), CampaignError> {
    let Waiting { case, folder, ancestors } = waiting;
    let was_pending = case.finding.pending;
    let mut finding = match &done {
        Some(done) => done.finding.clone(),
        None => case.finding.clone(),
    };
    if !was_pending {
        return match done {
            Some(done) => finding.write_reduced(&folder, &done.small),
            None => Ok(()),
        };
    }
    finding.pending = false;
    if done.is_none() {
        // Not told apart by what it comes down to, but by all it has: most likely it is what it resembles.
        if let Some((signature, _)) = finding.signature.rsplit_once(" | ") {
            let alike = shared.state().resembling(&finding.kind, &finding.solver, signature);
            finding.signature = alike.unwrap_or_else(|| signature.to_owned());
        }
    }
    let small = done.map(|done| done.small);
    let reported = shared.state().settle(&finding, &folder, &case, small.as_ref(), &ancestors)?;
    if let Reported::Unique(folder) = reported {
        shared.stop.count_finding();
        shared.observer.found(&finding, &folder);
    }
    Ok(())
}

/// Findings that a killed campaign left without telling them apart.
pub fn left_over(shared: &Shared, bugs: &std::path::Path) -> Result<(), CampaignError> {
    let folders = folder::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
    for folder in folders {
        let Ok((finding, _)) = Finding::read(&folder) else { continue };
        if !finding.pending {
            continue;
        }
        let solver = |run: &crate::finding::RunRecord| {
            let target = shared.targets.iter().find(|target| target.solver.name() == run.solver)?;
            let mut solver = target.solver.clone();
            solver.options = run.user_options.clone();
            Some(solver)
        };
        let solvers: Option<Vec<_>> = finding.runs.iter().map(solver).collect();
        let case = Case::read(&folder, finding, &solvers.unwrap_or_default())?;
        shared.docket.queue().push_back(Waiting { case, folder, ancestors: Vec::new() });
    }
    Ok(())
}
