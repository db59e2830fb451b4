//! Findings on their way: on disk as soon as they are confirmed, then made small in the background, and only then told
//! apart from known ones.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use solver::Solver;
use solver::run::Runners;

use super::reduction::{ReducedFinding, ReductionRules};
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::findings::{self, Finding, RunRecord, Signature, Small, Stage};
use crate::shared::{Line, Shared, lock, run_totals};
use crate::store::{CampaignStore, Claim, KnownFinding, Totals};

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

/// Unique findings kept as folders: beyond that a campaign drowns its user and the disk.
const FINDINGS: usize = 5_000;

/// How findings are dealt with.
#[derive(Clone, Copy, Debug, Default)]
pub struct TriageRules {
    /// Ask the installed releases which of them have a finding's bug.
    pub bisect: bool,
    /// Do not end before every finding has been made small.
    pub reduce_all: bool,
}

/// Tells triage about the end of the campaign.
pub struct Ending<'a> {
    pub workers_gone: &'a dyn Fn() -> bool,
    pub interrupted: &'a dyn Fn() -> bool,
}

/// The queue of findings, and the thread that works on it.
pub struct Triage<'a> {
    shared: &'a Shared<'a>,
    store: &'a Mutex<Box<dyn CampaignStore>>,
    runners: Arc<dyn Runners>,
    rules: TriageRules,
    queue: Mutex<VecDeque<Waiting>>,
    /// Something was put into the queue or taken out, or the campaign is over.
    changed: Condvar,
    /// Test cases that show known bugs, of which the store has not heard.
    duplicates: Mutex<Vec<Duplicate>>,
    /// Signatures and hashes of inputs that are in the queue or being dealt with.
    on_their_way: Mutex<BTreeSet<(String, String)>>,
}

/// Another test case that shows a known bug.
struct Duplicate {
    signature: Signature,
    round: u64,
    step: usize,
    /// Nothing if enough of them are kept.
    input: Option<String>,
}

struct Waiting {
    reproduction: Reproduction,
    folder: PathBuf,
    /// Told apart already; only to be made small.
    settled: bool,
}

impl<'a> Triage<'a> {
    pub fn new(
        shared: &'a Shared<'a>,
        store: &'a Mutex<Box<dyn CampaignStore>>,
        runners: Arc<dyn Runners>,
        rules: TriageRules,
    ) -> Triage<'a> {
        Triage {
            shared,
            store,
            runners,
            rules,
            queue: Mutex::default(),
            changed: Condvar::new(),
            duplicates: Mutex::default(),
            on_their_way: Mutex::default(),
        }
    }

    /// Findings that wait.
    pub fn pending(&self) -> usize {
        lock(&self.queue).len()
    }

    /// Does the user not want to hear of it?
    pub fn is_unwanted(&self, signature: &Signature) -> bool {
        self.shared.state().is_suppressed(signature)
    }

    /// Is a crash at this place known, or unwanted? Then nothing more needs to be run to count it.
    pub fn recognise(&self, signature: &Signature) -> bool {
        let state = self.shared.state();
        state.is_suppressed(signature) || state.knows(signature) || state.expects(signature)
    }

    /// Counts another test case that shows a known bug, or one the user does not want to hear of. Waits for nothing: the
    /// store hears of it later.
    pub fn count_known(&self, signature: &Signature, round: u64, step: usize, input: &str) {
        let mut state = self.shared.state();
        if state.is_suppressed(signature) {
            state.count(&Totals { suppressed: 1, ..Totals::default() });
            return;
        }
        state.count(&Totals { duplicates: 1, ..Totals::default() });
        let few = state.duplicates(signature) < findings::DUPLICATES_KEPT;
        drop(state);
        let input = few.then(|| input.to_owned());
        lock(&self.duplicates).push(Duplicate { signature: signature.clone(), round, step, input });
    }

    /// Tells the store and the log of duplicates, and keeps some of their inputs.
    pub fn tell_duplicates(&self) -> Result<(), CampaignError> {
        let duplicates = std::mem::take(&mut *lock(&self.duplicates));
        for Duplicate { signature, round, step, input } in duplicates {
            let known = lock(self.store).duplicate(&signature.hash())?;
            if known.is_none() && self.shared.state().expects(&signature) {
                // The finding itself waits for its claim.
                lock(&self.duplicates).push(Duplicate { signature, round, step, input });
                continue;
            }
            if let Some(known) = known {
                if let Some(input) = input {
                    let folder = self.shared.bugs().join(&known.folder);
                    findings::keep_duplicate(&folder, known.duplicates, &input)?;
                }
                self.shared.state().know(known, None);
            }
            let signature = signature.to_string();
            self.shared.log.write(&Line::Duplicate { round, step, signature: &signature })?;
        }
        Ok(())
    }

    /// Puts a confirmed finding on disk and in the queue.
    pub fn enter(&self, reproduction: Reproduction) -> Result<(), CampaignError> {
        while self.pending() >= FULL && !self.shared.stop.now() {
            self.doze(|queue| queue.len() >= FULL);
        }
        let finding = &reproduction.finding;
        let origin = &finding.provenance;
        let alike = match self.pending() >= CROWDED {
            true => self.shared.state().resembling(&finding.signature),
            false => None,
        };
        if let Some(signature) = alike {
            self.count_known(&signature, origin.round, origin.step, &reproduction.input);
            return Ok(());
        }
        // The very same input is on its way already: a round was entered twice from one seed, say, or several checks of
        // one script are answered wrongly.
        let key = (finding.signature.to_string(), finding.stage.input().to_owned());
        if !lock(&self.on_their_way).insert(key) {
            self.shared.state().count(&Totals { duplicates: 1, ..Totals::default() });
            let signature = finding.signature.to_string();
            let (round, step) = (origin.round, origin.step);
            return self.shared.log.write(&Line::Duplicate { round, step, signature: &signature });
        }
        let folder =
            finding.write(self.shared.bugs(), &reproduction.input, reproduction.witness.as_deref(), None)?;
        if finding.signature.names_a_place() {
            self.shared.state().expect(&finding.signature);
        }
        self.put(Waiting { reproduction, folder, settled: false });
        Ok(())
    }

    fn put(&self, waiting: Waiting) {
        let mut queue = lock(&self.queue);
        // What needs no reduction to be told apart is told apart first.
        match !waiting.settled && tells_itself_apart(&waiting.reproduction.finding) {
            true => queue.push_front(waiting),
            false => queue.push_back(waiting),
        }
        self.changed.notify_all();
    }

    /// Sleeps until something may have changed.
    fn doze(&self, still: impl Fn(&VecDeque<Waiting>) -> bool) {
        let queue = lock(&self.queue);
        if still(&queue) {
            // Which of the two ended it does not matter: the caller looks again.
            drop(self.changed.wait_timeout(queue, TICK));
        }
    }

    /// Has everybody who waits look again.
    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Deals with what is in the queue until the campaign is over; then with what is left for a few seconds more, or to
    /// the end if the user wants that.
    pub fn work(&self, ending: &Ending) -> Result<(), CampaignError> {
        let started = Instant::now();
        let mut busy = Duration::ZERO;
        let hurry: &dyn Fn() -> bool = if self.rules.reduce_all { ending.interrupted } else { &|| true };
        let watch = Watch { workers_gone: ending.workers_gone, hurry, ended: Cell::new(None) };
        loop {
            let over = (ending.workers_gone)();
            let next = lock(&self.queue).pop_front();
            let Some(waiting) = next else {
                if over {
                    return Ok(());
                }
                self.doze(VecDeque::is_empty);
                continue;
            };
            self.changed.notify_all();
            if !waiting.settled && tells_itself_apart(&waiting.reproduction.finding) {
                self.settle_as_it_is(waiting)?;
                continue;
            }
            // The campaign's own work comes first; at its end there is none.
            while !(ending.workers_gone)() && busy.as_secs_f64() > SHARE * started.elapsed().as_secs_f64() {
                self.doze(|_| true);
            }
            let begun = Instant::now();
            let reduced = match reduce::Observer::stop(&watch) {
                true => None,
                false => self.reduce(&waiting.reproduction, &watch),
            };
            busy += begun.elapsed();
            match waiting.settled {
                true => {
                    if let Some(reduced) = reduced {
                        // It was told apart already, so the reduction has left its name alone.
                        reduced.finding.write_reduced(&waiting.folder, &reduced.small)?;
                    }
                }
                false => self.settle(waiting, reduced)?,
            }
        }
    }

    /// The finding made small; nothing if that cannot be done.
    fn reduce(&self, reproduction: &Reproduction, watch: &Watch) -> Option<ReducedFinding> {
        let rules = ReductionRules {
            settings: reduce::Settings { jobs: 1, time: Some(BUDGET) },
            bisect: self.rules.bisect,
        };
        let mut runner = self.runners.runner().ok()?;
        let reduced = reproduction.reduce(&mut *runner, &self.runners, &rules, watch);
        // Also a reduction that came to nothing has cost something.
        let (mut accounts, mut launcher_cpu) = (runner.take_accounts(), runner.take_launcher_cpu());
        if let Ok(done) = &reduced {
            accounts += done.reduced.accounts;
            launcher_cpu += done.reduced.launcher_cpu;
        }
        let mut state = self.shared.state();
        state.count(&run_totals(&accounts));
        state.add_own_cpu(launcher_cpu);
        drop(state);
        match reduced {
            Ok(reduced) => Some(reduced),
            Err(error) => {
                let name = reproduction.finding.folder_name();
                // A log that cannot be written is told by whoever writes the next line.
                let _ = self.shared.log.note(&format!("{name} is not reduced: {error}"));
                None
            }
        }
    }

    /// Further findings with this input are no part of this one any more.
    fn arrived(&self, finding: &Finding) {
        let key = (finding.signature.to_string(), finding.stage.input().to_owned());
        lock(&self.on_their_way).remove(&key);
    }

    /// Gives a finding its place that is told apart by itself: a crash by its place, what does not repeat by all it has.
    fn settle_as_it_is(&self, waiting: Waiting) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        reproduction.finding.stage = Stage::Unreduced;
        let place = self.claim(&reproduction, &folder, None);
        self.shared.state().expect_no_more(&reproduction.finding.signature);
        self.arrived(&pending);
        let place = place?;
        if let Some(folder) = place
            && !reproduction.finding.flaky
        {
            self.put(Waiting { reproduction, folder, settled: true });
        }
        Ok(())
    }

    /// Tells a finding apart by what it came down to, and gives it its place.
    fn settle(&self, waiting: Waiting, reduced: Option<ReducedFinding>) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        let small = match reduced {
            Some(reduced) => {
                reproduction.finding = reduced.finding;
                Some(reduced.small)
            }
            None => {
                // Not told apart by what it comes down to, but by all it has: most likely it is what it resembles.
                let alike = self.shared.state().resembling(&reproduction.finding.signature);
                reproduction.finding.stage = Stage::Unreduced;
                if let Some(signature) = alike {
                    reproduction.finding.signature = signature;
                }
                None
            }
        };
        let claimed = self.claim(&reproduction, &folder, small.as_ref());
        self.arrived(&pending);
        claimed.map(|_| ())
    }

    /// Claims the signature: the finding is new and gets its folder, which is returned, or its input joins a known one's.
    fn claim(
        &self,
        reproduction: &Reproduction,
        pending: &Path,
        small: Option<&Small>,
    ) -> Result<Option<PathBuf>, CampaignError> {
        let Reproduction { finding, input, witness, ancestors, .. } = reproduction;
        let origin = &finding.provenance;
        let (unwanted, full) = {
            let state = self.shared.state();
            (state.is_suppressed(&finding.signature), state.found() >= FINDINGS)
        };
        let known = known_as(finding);
        let ours = match unwanted || full {
            true => false,
            false => match lock(self.store).claim(&known)? {
                Claim::New => true,
                // Claimed by this very test case: whoever did it was killed before the folder was there.
                Claim::Known(other) => {
                    (other.round, other.step) == (known.round, known.step)
                        && !self.shared.bugs().join(&other.folder).join("finding.json").is_file()
                }
            },
        };
        if !ours {
            self.count_known(&finding.signature, origin.round, origin.step, input);
            remove(pending)?;
            return Ok(None);
        }
        let folder = match finding.write(self.shared.bugs(), input, witness.as_deref(), small) {
            Ok(folder) => folder,
            Err(error) => {
                // The disk's error is what the user has to hear of.
                let _ = lock(self.store).release(&known.hash);
                return Err(error);
            }
        };
        let name = known.folder.clone();
        {
            let mut state = self.shared.state();
            state.know(known, Some(&finding.signature));
            state.need(ancestors);
            state.credit_finding(finding);
            self.shared.stop.count_findings(state.take_found());
        }
        if folder != pending {
            remove(pending)?;
        }
        self.shared.observer.found(finding, &folder);
        self.shared.log.write(&Line::Finding {
            round: origin.round,
            step: origin.step,
            kind: finding.kind.word(),
            solver: &finding.solver,
            signature: &finding.signature.to_string(),
            folder: &name,
        })?;
        self.shared.log.flush()?;
        Ok(Some(folder))
    }

    /// Takes in what a killed campaign left: findings that were not told apart yet wait again, and finished ones that the
    /// store does not know are made known. `solvers` are those of the campaign.
    pub fn adopt(&self, solvers: &[Solver]) -> Result<(), CampaignError> {
        let bugs = self.shared.bugs();
        let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
        for folder in folders {
            let Ok((finding, _)) = Finding::read(&folder) else { continue };
            if let Stage::Pending { process, .. } = &finding.stage {
                // Another process of this campaign is at it.
                if *process != std::process::id() && findings::is_running(*process) {
                    continue;
                }
                let solver = |run: &RunRecord| {
                    let mut solver = solvers.iter().find(|solver| solver.name() == run.solver)?.clone();
                    solver.options = run.user_options.clone();
                    solver.leave_out_file_options();
                    Some(solver)
                };
                let solvers: Option<Vec<_>> = finding.runs.iter().map(solver).collect();
                let read = Reproduction::read(&folder, finding, &solvers.unwrap_or_default());
                let Ok(reproduction) = read else {
                    self.shared
                        .log
                        .note(&format!("'{}' cannot be read; it is left as it is", folder.display()))?;
                    continue;
                };
                self.shared.state().need_by_hash(&reproduction.finding);
                lock(&self.queue).push_back(Waiting { reproduction, folder, settled: false });
                continue;
            }
            if !self.shared.state().knows(&finding.signature) {
                let known = known_as(&finding);
                lock(self.store).claim(&known)?;
                let mut state = self.shared.state();
                state.know(known, Some(&finding.signature));
                // Found by an earlier run.
                state.take_found();
                state.credit_finding(&finding);
            } else {
                let known = self.shared.state().findings();
                let known = known.into_iter().find(|known| known.hash == finding.hash());
                if let Some(known) = known {
                    self.shared.state().know(known, Some(&finding.signature));
                }
            }
        }
        Ok(())
    }
}

/// A finding as the store knows it.
fn known_as(finding: &Finding) -> KnownFinding {
    KnownFinding {
        hash: finding.hash(),
        signature: finding.signature.to_string(),
        kind: finding.kind.to_string(),
        solver: finding.solver.clone(),
        folder: finding.folder_name(),
        round: finding.provenance.round,
        step: finding.provenance.step as u64,
        duplicates: 0,
        flaky: finding.flaky,
    }
}

/// Is it told apart without being made small? A crash by its place; and what does not repeat cannot be reduced.
fn tells_itself_apart(finding: &Finding) -> bool {
    finding.signature.names_a_place() || finding.flaky
}

fn remove(folder: &Path) -> Result<(), CampaignError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CampaignError::disk(folder, error)),
        _ => Ok(()),
    }
}

/// Ends reductions some time after the last worker has gone.
struct Watch<'a> {
    workers_gone: &'a dyn Fn() -> bool,
    /// Whether what is left must not take long.
    hurry: &'a dyn Fn() -> bool,
    ended: Cell<Option<Instant>>,
}

impl reduce::Observer for Watch<'_> {
    fn stop(&self) -> bool {
        if (self.workers_gone)() && self.ended.get().is_none() {
            self.ended.set(Some(Instant::now()));
        }
        (self.hurry)() && self.ended.get().is_some_and(|ended| ended.elapsed() > GRACE)
    }
}
