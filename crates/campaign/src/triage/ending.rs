//! The end of a campaign: how long findings that wait are still worked on.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// What waits at the end gets at least this long, and a share of the time the campaign took.
const GRACE: Duration = Duration::from_secs(5);
const GRACE_SHARE: f64 = 0.1;
const LONGEST_GRACE: Duration = Duration::from_secs(60);

/// A finding that was made small in this time is still told apart: without that it is a bug of its own, whatever it is.
const TELLING: Duration = Duration::from_secs(10);

/// Tells triage about the end of the campaign.
pub struct Ending<'a> {
    pub workers_gone: &'a dyn Fn() -> bool,
    pub interrupted: &'a dyn Fn() -> bool,
}

/// Ends reductions some time after the last worker has gone.
pub struct TriageDeadline<'a> {
    ending: &'a Ending<'a>,
    /// Time does not matter, unless the user ends it.
    all: bool,
    started: Instant,
    ended: Cell<Option<End>>,
}

/// The moment the last worker had gone.
#[derive(Clone, Copy)]
struct End {
    at: Instant,
    /// The user had ended the campaign by then.
    by_user: bool,
}

impl<'a> TriageDeadline<'a> {
    /// `all`: nothing is left waiting but for the user's wish.
    pub fn new(ending: &'a Ending<'a>, all: bool) -> TriageDeadline<'a> {
        TriageDeadline { ending, all, started: Instant::now(), ended: Cell::new(None) }
    }

    /// Is what still waits to be left for the next run?
    pub fn is_over(&self) -> bool {
        self.is_over_for(Duration::ZERO)
    }

    /// The same for what is granted some time more.
    fn is_over_for(&self, more: Duration) -> bool {
        let Some(end) = self.end() else { return false };
        let by_user = (self.ending.interrupted)();
        if by_user && !end.by_user {
            // It is this very work that the user does not want to wait for.
            return true;
        }
        (by_user || !self.all) && end.at.elapsed() > grace(end.at - self.started) + more
    }

    /// The workers have gone; from now on the time is short.
    pub fn has_ended(&self) -> bool {
        self.end().is_some()
    }

    /// What the user can do about the work that is left.
    pub fn advice(&self) -> &'static str {
        match (self.ending.interrupted)() {
            true => "Ctrl-C again to stop now",
            false => "Ctrl-C to stop now",
        }
    }

    fn end(&self) -> Option<End> {
        if self.ended.get().is_none() && (self.ending.workers_gone)() {
            self.ended.set(Some(End { at: Instant::now(), by_user: (self.ending.interrupted)() }));
        }
        self.ended.get()
    }
}

impl reduce::Watcher for TriageDeadline<'_> {
    fn stop(&self) -> bool {
        self.is_over()
    }

    fn stop_now(&self) -> bool {
        self.is_over_for(TELLING)
    }
}

/// How long what waits is worked on after a campaign of this length.
fn grace(campaign: Duration) -> Duration {
    campaign.mul_f64(GRACE_SHARE).clamp(GRACE, LONGEST_GRACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_campaign_gives_more_time_but_not_for_ever() {
        let seconds = |campaign| grace(Duration::from_secs(campaign)).as_secs();
        assert_eq!((seconds(1), seconds(120), seconds(36_000)), (5, 12, 60));
    }

    #[test]
    fn what_is_small_already_is_told_apart_after_the_time_of_grace() {
        use reduce::Watcher as _;
        let ending = Ending { workers_gone: &|| true, interrupted: &|| false };
        let deadline = TriageDeadline::new(&ending, false);
        let ago = |seconds| {
            let now = Instant::now();
            let at = now.checked_sub(Duration::from_secs(seconds)).unwrap_or(now);
            let deadline = TriageDeadline { started: at, ..TriageDeadline::new(&ending, false) };
            deadline.ended.set(Some(End { at, by_user: false }));
            (deadline.stop(), deadline.stop_now())
        };
        assert!(!deadline.stop() && !deadline.stop_now());
        assert_eq!(
            [ago(GRACE.as_secs() + 1), ago(GRACE.as_secs() + TELLING.as_secs() + 1)],
            [(true, false), (true, true)]
        );
    }

    #[test]
    fn the_user_ends_what_is_left_at_once() {
        let (gone, pressed) = (Cell::new(false), Cell::new(false));
        let (workers_gone, interrupted) = (|| gone.get(), || pressed.get());
        let ending = Ending { workers_gone: &workers_gone, interrupted: &interrupted };
        let deadline = TriageDeadline::new(&ending, true);
        assert!(!deadline.is_over());
        gone.set(true);
        assert!(!deadline.is_over(), "everything is to be reduced");
        pressed.set(true);
        assert!(deadline.is_over());
        // Who has ended the campaign by Ctrl-C gets the reductions of the time of grace.
        let deadline = TriageDeadline::new(&ending, true);
        assert!(deadline.has_ended() && !deadline.is_over());
    }
}
