//! Findings on their way: on disk as soon as they are confirmed, then made small in the background, and only then told
//! apart from known ones.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use reduce::blame::BlameBudget;
use solver::run::Runners;

use super::claim::tells_itself_apart;
use super::duplicates::Duplicate;
use super::ending::{Ending, TriageDeadline};
use super::examined::Examined;
use super::reached::CodeTracer;
use super::reduction::{ReductionAttempt, ReductionRules};
use super::releases::Extent;
use super::share::work_left;
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::shared::{Shared, lock, run_totals};
use crate::store::{CampaignStore, Totals, Work};

/// Time for one finding.
const BUDGET: Duration = Duration::from_secs(20);

/// What may be spent to find out which constructs a finding needs.
const BLAME: BlameBudget = BlameBudget { runs: 40, cpu: Duration::from_secs(5) };

/// What it may cost to find out which releases have a bug: most answer in a few hundredths of a second, but some that do
/// not have it search for ever.
const RELEASES: Duration = Duration::from_secs(3);

/// The part of both that a finding is given while too much has been spent on those before it.
const CAREFUL: u32 = 4;

/// Share of the time that reductions may take while the campaign runs, in workers.
const SHARE: f64 = 0.5;

/// With this many pending, findings that look like known ones are taken for them.
pub(super) const CROWDED: usize = 8;

/// With this many pending, workers wait.
pub(super) const FULL: usize = 64;

/// A look at the queue, unless something is put there first.
const TICK: Duration = Duration::from_millis(250);

/// How findings are dealt with.
#[derive(Clone, Copy, Debug, Default)]
pub struct TriageRules {
    /// Ask all installed releases which of them have a finding's bug, not only those around its borders.
    pub bisect: bool,
    /// Do not end before every finding has been made small.
    pub reduce_all: bool,
}

/// The queue of findings, and the thread that works on it.
pub struct Triage<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) store: &'a Mutex<Box<dyn CampaignStore>>,
    pub(super) runners: Arc<dyn Runners>,
    pub(super) rules: TriageRules,
    pub(super) queue: Mutex<VecDeque<Waiting>>,
    /// Something was put into the queue or taken out, or the campaign is over.
    changed: Condvar,
    /// Test cases that show known bugs, of which the store has not heard.
    pub(super) duplicates: Mutex<Vec<Duplicate>>,
    /// Signatures and hashes of inputs that are in the queue or being dealt with, each with the rounds and steps at which
    /// the very same came again.
    pub(super) on_their_way: Mutex<OnTheirWay>,
    /// Folders that were left as they are: their time in this process is over.
    pub(super) left: Mutex<BTreeSet<PathBuf>>,
    /// Scripts that findings came down to.
    examined: Arc<Examined>,
    /// Who tells what of a solver only a bug reaches.
    tracer: Option<Arc<CodeTracer>>,
    /// Folders of findings travel in the store: see [`super::share`].
    pub(super) travels: bool,
}

/// By signature and hash of the input: the rounds and steps in which the same came again.
pub(super) type OnTheirWay = BTreeMap<(String, String), Vec<(u64, usize)>>;

/// A finding in the queue.
pub(super) struct Waiting {
    pub reproduction: Reproduction,
    pub folder: PathBuf,
    /// Told apart already; only to be made small.
    pub settled: bool,
}

impl<'a> Triage<'a> {
    pub fn new(
        shared: &'a Shared<'a>,
        store: &'a Mutex<Box<dyn CampaignStore>>,
        runners: Arc<dyn Runners>,
        rules: TriageRules,
    ) -> Triage<'a> {
        let travels = lock(store).archive().is_some();
        Triage {
            travels,
            shared,
            store,
            runners,
            rules,
            queue: Mutex::default(),
            changed: Condvar::new(),
            duplicates: Mutex::default(),
            on_their_way: Mutex::default(),
            left: Mutex::default(),
            examined: Arc::default(),
            tracer: None,
        }
    }

    /// The same, which also looks at what of the solvers only a bug reaches.
    #[must_use]
    pub fn tracing(self, tracer: CodeTracer) -> Triage<'a> {
        Triage { tracer: Some(Arc::new(tracer)), ..self }
    }

    /// Findings that wait: for their names, or only to be made small. That many stand in the way of further ones.
    pub fn pending(&self) -> usize {
        lock(&self.queue).len()
    }

    /// Those of them that are not told apart yet: what a user takes for pending.
    pub fn untold(&self) -> usize {
        lock(&self.queue).iter().filter(|waiting| !waiting.settled).count()
    }

    /// Puts a confirmed finding on disk and in the queue.
    pub fn enter(&self, reproduction: Reproduction) -> Result<(), CampaignError> {
        while self.pending() >= FULL && !self.shared.stop.now() {
            self.doze(|queue| queue.len() >= FULL);
        }
        let finding = &reproduction.finding;
        let origin = &finding.provenance;
        if self.pending() >= CROWDED {
            let mut state = self.shared.state();
            let alike = state.findings.resembling(&finding.signature);
            if alike.is_none() && state.findings.resembles_unwanted(&finding.signature) {
                state.count(&Totals { suppressed: 1, ..Totals::default() });
                return Ok(());
            }
            drop(state);
            if let Some(signature) = alike {
                self.count_known(&signature, origin.round, origin.step, Some(&reproduction.input));
                return Ok(());
            }
        }
        // The very same input is on its way already: a round was entered twice from one seed, say, or several checks of
        // one script are answered wrongly. What it is a duplicate of is known when it has arrived.
        let key = (finding.signature.to_string(), finding.stage.input().to_owned());
        match lock(&self.on_their_way).entry(key) {
            Entry::Occupied(mut again) => {
                again.get_mut().push((origin.round, origin.step));
                return Ok(());
            }
            Entry::Vacant(new) => _ = new.insert(Vec::new()),
        }
        let name = finding.folder_name();
        self.intend(&name, None)?;
        let folder =
            finding.write(self.shared.bugs(), &reproduction.input, reproduction.witness.as_deref(), None)?;
        self.share(&name, Work::Held, None)?;
        if finding.signature.names_a_place() {
            self.shared.state().findings.expect(&finding.signature);
        }
        self.put(Waiting { reproduction, folder, settled: false });
        Ok(())
    }

    pub(super) fn put(&self, waiting: Waiting) {
        let mut queue = lock(&self.queue);
        // A place tells a crash apart at once. What does not repeat may be a crash whose place is still to be known.
        match !waiting.settled && waiting.reproduction.finding.signature.names_a_place() {
            true => queue.push_front(waiting),
            false => queue.push_back(waiting),
        }
        self.changed.notify_all();
    }

    /// Sleeps until something may have changed.
    pub(super) fn doze(&self, still: impl Fn(&VecDeque<Waiting>) -> bool) {
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

    /// Deals with what is in the queue until the campaign is over; then with what is left for some time more, or to the
    /// end if the user wants that. What is not done by then stays pending: the next run goes on with it.
    pub fn work(&self, ending: &Ending) -> Result<(), CampaignError> {
        let started = Instant::now();
        let mut busy = Duration::ZERO;
        let deadline = TriageDeadline::new(ending, self.rules.reduce_all);
        let mut told = false;
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
            if self.shared.stop.has_enough_findings() {
                self.leave(&waiting)?;
                continue;
            }
            if !waiting.settled && tells_itself_apart(&waiting.reproduction.finding) {
                self.unless_away(self.settle_as_it_is(waiting))?;
                continue;
            }
            // The campaign's own work comes first; at its end there is none.
            while !(ending.workers_gone)() && busy.as_secs_f64() > SHARE * started.elapsed().as_secs_f64() {
                self.doze(|_| true);
            }
            if deadline.is_over() {
                self.leave(&waiting)?;
                continue;
            }
            if deadline.has_ended() && !std::mem::replace(&mut told, true) {
                let left = self.pending() + 1;
                let what = if left == 1 { "1 reduction".to_owned() } else { format!("{left} reductions") };
                self.shared.observer.note(&format!("finishing {what}, {}", deadline.advice()));
            }
            let begun = Instant::now();
            let attempt = self.reduce(&waiting.reproduction, &deadline);
            busy += begun.elapsed();
            let reduced = match attempt {
                // A name made of what was left when the time was up would be a name for nothing.
                ReductionAttempt::Reduced(reduced) if deadline.is_over() && !reduced.reduced.finished => None,
                ReductionAttempt::Irreducible if deadline.is_over() => None,
                ReductionAttempt::Reduced(reduced) => Some(Some(*reduced)),
                ReductionAttempt::Irreducible => Some(None),
                ReductionAttempt::NotMade => None,
            };
            match (waiting.settled, reduced) {
                (_, None) => self.leave(&waiting)?,
                // It was told apart already, so the reduction has left its name alone.
                (true, Some(Some(mut reduced))) => {
                    self.rank(&mut reduced.finding);
                    let name = waiting.reproduction.finding.folder_name();
                    self.intend(&name, None)?;
                    reduced.finding.write_reduced(&waiting.folder, &reduced.small)?;
                    self.unless_away(self.show(&reduced.finding))?;
                    self.share(&name, work_left(&reduced.finding, false), None)?;
                }
                (true, Some(None)) => self.let_go(&waiting.folder, Work::Done)?,
                (false, Some(reduced)) => self.unless_away(self.settle(waiting, reduced))?,
            }
        }
    }

    /// Its folder stays as it is, for the next run of the campaign, or for another process.
    fn leave(&self, waiting: &Waiting) -> Result<(), CampaignError> {
        let finding = &waiting.reproduction.finding;
        self.shared.state().findings.expect_no_more(&finding.signature);
        self.arrived(finding);
        lock(&self.left).insert(waiting.folder.clone());
        self.let_go(&waiting.folder, Work::Waiting)
    }

    /// What could not be claimed because the store is away stays pending on this disk.
    fn unless_away(&self, settled: Result<(), CampaignError>) -> Result<(), CampaignError> {
        match settled {
            Err(error) if error.is_away() => {
                self.shared.log.note(&format!("{error}; a finding stays pending"))
            }
            settled => settled,
        }
    }

    /// The finding made small, if that can be done.
    fn reduce(&self, reproduction: &Reproduction, deadline: &TriageDeadline) -> ReductionAttempt {
        // What tells bugs apart may cost little of a campaign: while it has cost more, it is done with less care.
        let part = if self.shared.state().may_tell_apart() { 1 } else { CAREFUL };
        let rules = ReductionRules {
            effort: reduce::Effort { jobs: 1, time: Some(BUDGET) },
            blame: Some(BlameBudget { runs: BLAME.runs / u64::from(part), cpu: BLAME.cpu / part }),
            releases: Some(match self.rules.bisect {
                true => Extent::All,
                false => Extent::Borders { cost: RELEASES / part },
            }),
            tracer: self.tracer.clone(),
            examined: Arc::clone(&self.examined),
        };
        let Ok(mut runner) = self.runners.unwatched() else { return ReductionAttempt::NotMade };
        let reduced = reproduction.reduce(&mut *runner, &self.runners, &rules, deadline);
        // Also a reduction that came to nothing has cost something.
        let (mut accounts, mut launcher_cpu) = (runner.take_accounts(), runner.take_launcher_cpu());
        if let Ok(done) = &reduced {
            accounts += done.reduced.accounts;
            launcher_cpu += done.reduced.launcher_cpu;
        }
        let mut state = self.shared.state();
        state.count(&run_totals(&accounts));
        state.charge(&reproduction.finding, accounts.total().cpu);
        state.add_own_cpu(launcher_cpu);
        drop(state);
        if let Err(error) = &reduced {
            let name = reproduction.finding.folder_name();
            // A log that cannot be written is told by whoever writes the next line.
            let _ = self.shared.log.note(&format!("{name} is not reduced: {error}"));
        }
        ReductionAttempt::of(reduced)
    }
}
