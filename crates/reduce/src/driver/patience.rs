//! How long candidates may take.

use std::time::Duration;

/// Twice the time of the fastest interesting script, and less once many runs have ended there: a smaller script is
/// rarely much slower, and where scripts that have lost the bug often run for ever, waiting for them is most of the cost.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The shortest time that an interesting script took.
    fastest: Duration,
    /// Runs given up at the limit that nothing slow but interesting spoke for.
    given_up: u32,
}

/// So many runs that were given up halve what is waited beyond the time of the fastest.
const HALF: u32 = 4;

/// Never less than this share of the fastest time is waited beyond it, in tenths.
const LEAST: u32 = 2;

/// From so many runs on it is asked whether the limit is still right.
const DOUBT: u32 = 8;

/// Starting a process on a busy machine takes that long.
const START: Duration = Duration::from_millis(80);

impl Patience {
    pub fn new(fastest: Duration) -> Patience {
        Patience { fastest, given_up: 0 }
    }

    pub fn limit(&self) -> Duration {
        let beyond = (self.fastest * HALF / (HALF + self.given_up)).max(self.fastest * LEAST / 10);
        self.fastest + beyond + START
    }

    /// A run was given up.
    pub fn gave_up(&mut self) {
        self.given_up += 1;
    }

    /// So many runs were given up that the machine may have become slower: asked after 8, 16, 32 and so on.
    pub fn is_in_doubt(&self) -> bool {
        self.given_up >= DOUBT && self.given_up.is_power_of_two()
    }

    /// The best script took this long when it was timed again.
    pub fn timed_again(&mut self, wall: Duration) {
        if wall * 4 > self.fastest * 5 {
            self.fastest = wall;
        }
    }

    /// An interesting script took this long.
    pub fn took(&mut self, wall: Duration) {
        // Small differences are noise.
        if wall * 4 < self.fastest * 3 {
            self.fastest = wall;
        } else if wall * 4 > self.fastest * 5 {
            self.given_up /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn waiting_in_vain_makes_it_shorter_but_never_shorter_than_an_interesting_run() {
        let mut patience = Patience::new(milliseconds(1000));
        assert_eq!(patience.limit(), milliseconds(2080));
        for _ in 0..4 {
            patience.gave_up();
        }
        assert_eq!(patience.limit(), milliseconds(1580));
        for _ in 0..100 {
            patience.gave_up();
        }
        assert_eq!(patience.limit(), milliseconds(1280));
    }

    #[test]
    fn a_slow_interesting_run_makes_it_longer_and_a_fast_one_shorter() {
        let mut patience = Patience::new(milliseconds(1000));
        for _ in 0..4 {
            patience.gave_up();
        }
        patience.took(milliseconds(1400));
        assert!(patience.limit() > milliseconds(1580));
        patience.took(milliseconds(100));
        assert!(patience.limit() < milliseconds(300));
    }

    #[test]
    fn on_a_machine_that_gets_slower_it_gets_longer() {
        let mut patience = Patience::new(milliseconds(100));
        let doubts = (0..40).filter(|_| {
            patience.gave_up();
            patience.is_in_doubt()
        });
        assert_eq!(doubts.count(), 3);
        patience.timed_again(milliseconds(110));
        assert_eq!(patience.limit(), milliseconds(200));
        patience.timed_again(milliseconds(300));
        assert_eq!(patience.limit(), milliseconds(440));
    }
}
