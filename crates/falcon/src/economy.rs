//! Whether more options of a formula are worth their time.
//!
//! The paper gives each formula up to 100 vectors. While new formulas reach new code faster than options do, as in every
//! young campaign, that is time lost: so both are measured, and a formula's search lasts as long as it keeps up.

use std::time::Duration;

use generate::Rng;

/// What is remembered fades by this with each batch: a campaign reaches ever less that is new.
const FADING: f64 = 0.98;

/// Batches before anything is said about their mean.
const ENOUGH: u32 = 5;

/// Share of formulas whose options are searched though new formulas have reached far more: what options reach may have
/// changed since, and most bugs of the paper need one.
const LEAST: f64 = 0.1;

/// New code by time, of runs with default options and of runs with others.
#[derive(Clone, Debug, Default)]
pub struct Economy {
    plain: Rate,
    changed: Rate,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    gained: f64,
    seconds: f64,
    batches: u32,
}

impl Rate {
    fn add(&mut self, gained: u64, took: Duration) {
        self.gained = FADING * self.gained + gained as f64;
        self.seconds = FADING * self.seconds + took.as_secs_f64();
        self.batches = self.batches.saturating_add(1);
    }

    fn mean(&self) -> Option<f64> {
        (self.batches >= ENOUGH).then(|| self.gained / self.seconds.max(1e-9))
    }
}

impl Economy {
    /// A new formula with default options: what was new of it, and how long it took to make and to run.
    pub fn plain(&mut self, gained: u64, took: Duration) {
        self.plain.add(gained, took);
    }

    /// Runs of a formula with other options.
    pub fn changed(&mut self, gained: u64, took: Duration) {
        self.changed.add(gained, took);
    }

    /// Are the options of the next formula searched? Always while they reach as much as new formulas do, else the more
    /// rarely the less they reach.
    pub fn begins(&self, rng: &mut Rng) -> bool {
        match (self.plain.mean(), self.changed.mean()) {
            (Some(plain), Some(changed)) if changed < plain => rng.chance((changed / plain).max(LEAST)),
            _ => true,
        }
    }

    /// Is a search that has just reached this much worth more of its kind? What reaches nothing new is not.
    pub fn goes_on(&self, gained: u64, took: Duration) -> bool {
        let rate = gained as f64 / took.as_secs_f64().max(1e-9);
        gained > 0 && self.plain.mean().is_none_or(|plain| rate >= plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn begun(economy: &Economy) -> usize {
        let mut rng = generate::rng::stream(1, 1);
        (0..1000).filter(|_| economy.begins(&mut rng)).count()
    }

    #[test]
    fn options_are_searched_as_far_as_they_keep_up_with_new_formulas() {
        let mut economy = Economy::default();
        assert_eq!(begun(&economy), 1000, "nothing is known yet");
        for _ in 0..200 {
            economy.plain(100, SECOND);
            economy.changed(50, SECOND);
        }
        assert!((450..550).contains(&begun(&economy)), "{}", begun(&economy));
        assert!(economy.goes_on(101, SECOND) && !economy.goes_on(99, SECOND));
        assert!(economy.goes_on(60, SECOND / 2), "it is time that counts, not runs");
        for _ in 0..500 {
            economy.changed(0, SECOND);
        }
        assert!((60..140).contains(&begun(&economy)), "{}", begun(&economy));
        for _ in 0..500 {
            economy.plain(0, SECOND);
        }
        assert!(economy.goes_on(1, SECOND), "new formulas have come to their end");
        assert!(!economy.goes_on(0, SECOND));
    }
}
