//! What the threads of a process share while a campaign runs.

mod accounts;
mod claimed;
mod clock;
mod exchange;
mod known;
mod log;
mod observer;
mod state;
mod stop;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use accounts::{Spent, run_totals};
pub use clock::thread_cpu;
pub use exchange::exchange;
pub use log::{Log, LogLine};
pub use observer::{Observer, Silent, Snapshot};
pub use state::State;
pub use stop::Stop;

use crate::error::CampaignError;
use crate::findings;
use crate::hash;

/// A worker without a round looks again after this time.
const TICK: Duration = Duration::from_millis(50);

/// Failed checks of ourselves whose scripts are kept.
const INTERNAL_KEPT: u64 = 20;

/// Shared by workers, triage and the exchange with the store.
pub struct Shared<'a> {
    state: Mutex<State>,
    /// Rounds have come from the store.
    rounds_came: Condvar,
    /// Rounds run low: the exchange should not wait for its time.
    nudge: (Mutex<bool>, Condvar),
    pub log: Log,
    pub stop: Stop,
    pub observer: &'a dyn Observer,
    /// Where findings go.
    bugs: PathBuf,
    internal: AtomicU64,
    members: AtomicUsize,
}

impl<'a> Shared<'a> {
    pub fn new(state: State, log: Log, stop: Stop, observer: &'a dyn Observer, out: &Path) -> Shared<'a> {
        Shared {
            state: Mutex::new(state),
            rounds_came: Condvar::new(),
            nudge: (Mutex::new(false), Condvar::new()),
            log,
            stop,
            observer,
            bugs: out.join("bugs"),
            internal: AtomicU64::new(0),
            members: AtomicUsize::new(1),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn bugs(&self) -> &Path {
        &self.bugs
    }

    /// Processes that work on the campaign.
    pub fn members(&self) -> usize {
        self.members.load(Ordering::Relaxed)
    }

    /// The next round, with the state to plan it from; `None` when the campaign is over, or nothing is left to do in it.
    pub fn next_round(&self) -> Option<(u64, MutexGuard<'_, State>)> {
        let mut state = self.state();
        loop {
            if self.stop.now() || state.claimed.is_done() {
                return None;
            }
            if state.claimed.is_ready()
                && let Some(round) = state.claimed.next_round()
            {
                if state.claimed.rounds_left() == claimed::LOW {
                    self.nudge_exchange();
                }
                return Some((round, state));
            }
            if state.claimed.is_urgent() {
                self.nudge_exchange();
            }
            let waited = self.rounds_came.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has the exchange with the store done now.
    pub fn nudge_exchange(&self) {
        *lock(&self.nudge.0) = true;
        self.nudge.1.notify_all();
    }

    /// Waits until the next exchange with the store is due.
    pub fn until_exchange(&self, longest: Duration) {
        let mut nudged = lock(&self.nudge.0);
        if !*nudged {
            let waited = self.nudge.1.wait_timeout(nudged, longest);
            nudged = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *nudged = false;
    }

    /// Keeps the script on which we did badly, up to a few of them.
    pub fn keep_internal(&self, text: &str, script: &str) -> Result<(), CampaignError> {
        if self.internal.fetch_add(1, Ordering::Relaxed) >= INTERNAL_KEPT {
            return Ok(());
        }
        let folder = self.bugs.with_file_name("internal");
        let path = folder.join(format!("{}.smt2", hash::name(script.as_bytes())));
        let content = format!("; {}\n{script}", text.replace('\n', "\n; "));
        std::fs::create_dir_all(&folder)
            .and_then(|()| findings::write_file(&path, content.as_bytes(), false))
            .map_err(|error| CampaignError::disk(&path, error))
    }
}

/// A lock whose holder panicked left counts behind, nothing worse.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
