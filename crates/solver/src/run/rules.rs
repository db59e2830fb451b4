//! Under which rules runs of each purpose are made.

use std::time::Duration;

use super::Purpose;
use crate::launch::ATTEMPTS;
use crate::limits::Limits;

/// How a solver is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The best of the fast ways that are proven for the release; a new process where there is none.
    Fast,
    /// A new process, as a user would start it.
    Plain,
}

/// The rule for runs of one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub limits: Limits,
    pub start: Start,
    /// Runs are cut where it is not worth waiting any longer ([`Pace`](super::Pace)). Only runs of this rule are
    /// counted in the pace.
    pub adaptive: bool,
    /// Attempts before a launcher that dies is given up.
    pub attempts: u32,
}

/// A rule for each purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRules {
    rules: [Rule; Purpose::ALL.len()],
}

/// Runs on which findings rest get this many times the usual time: a busy machine must not hide a bug.
const PATIENCE: u32 = 2;

/// How long an engine waits for the answer to a question. A question is asked rarely, and what a test case becomes
/// depends on its answer.
const QUESTION: Duration = Duration::from_secs(20);

impl RunRules {
    /// The same limits and plain starts whatever the purpose: for single files and replays.
    pub fn with_limits(limits: Limits) -> RunRules {
        let rule = Rule { limits, start: Start::Plain, adaptive: false, attempts: ATTEMPTS };
        RunRules { rules: std::array::from_fn(|_| rule.clone()) }
    }

    /// What a campaign wants whose user allows one run this much time on the clock and this many bytes of memory. Test
    /// cases are started fast, questions have a limit of their own, findings rest on plain starts with ample time.
    pub fn for_campaign(wall: Duration, memory: u64) -> RunRules {
        let limits = Limits {
            wall,
            memory: Some(memory),
            // Thousands of runs per minute: enough for any model worth reading, and no more.
            stdout: 4 << 20,
            stderr: 256 << 10,
            ..Limits::default()
        };
        let ample = wall * PATIENCE;
        RunRules::with_limits(limits)
            .change(Purpose::Test, |rule| rule.start = Start::Fast)
            .change(Purpose::Question, |rule| {
                rule.limits.wall = QUESTION;
                rule.start = Start::Fast;
            })
            .change(Purpose::FollowUp, |rule| rule.start = Start::Fast)
            .change(Purpose::Confirmation, |rule| rule.limits.wall = ample)
            .change(Purpose::Place, |rule| rule.limits.wall = ample)
            .change(Purpose::Reduction, |rule| {
                rule.limits.wall = ample;
                rule.start = Start::Fast;
            })
    }

    /// What the reduction of a single file wants: the user's limits exactly, candidates started fast, all else plainly.
    pub fn for_reduction(wall: Duration, memory: u64) -> RunRules {
        RunRules::with_limits(Limits { memory: Some(memory), ..Limits::wall(wall) })
            .change(Purpose::Reduction, |rule| rule.start = Start::Fast)
    }

    /// Test cases are cut where it is not worth waiting any longer: for users who give no limit of their own.
    #[must_use]
    pub fn adaptive(self, adaptive: bool) -> RunRules {
        self.change(Purpose::Test, |rule| rule.adaptive = adaptive)
    }

    /// How long the answer to an engine's question is waited for.
    #[must_use]
    pub fn questions_within(self, wall: Duration) -> RunRules {
        self.change(Purpose::Question, |rule| rule.limits.wall = wall)
    }

    /// A new process for every run.
    #[must_use]
    pub fn plain(mut self) -> RunRules {
        for rule in &mut self.rules {
            rule.start = Start::Plain;
        }
        self
    }

    /// With another rule for a purpose.
    #[must_use]
    pub fn change(mut self, purpose: Purpose, change: impl FnOnce(&mut Rule)) -> RunRules {
        change(&mut self.rules[purpose as usize]);
        self
    }

    pub fn of(&self, purpose: Purpose) -> &Rule {
        &self.rules[purpose as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_gives_each_purpose_its_own_time_and_start() {
        let rules = RunRules::for_campaign(Duration::from_secs(3), 1 << 30).adaptive(true);
        let of = |purpose| {
            let rule = rules.of(purpose);
            (rule.limits.wall.as_secs(), rule.start, rule.adaptive)
        };
        assert_eq!(of(Purpose::Test), (3, Start::Fast, true));
        assert_eq!(of(Purpose::Question), (20, Start::Fast, false));
        assert_eq!(of(Purpose::FollowUp), (3, Start::Fast, false));
        assert_eq!(of(Purpose::Confirmation), (6, Start::Plain, false));
        assert_eq!(of(Purpose::Place), (6, Start::Plain, false));
        assert_eq!(of(Purpose::Reduction), (6, Start::Fast, false));
        assert_eq!(of(Purpose::Measurement), (3, Start::Plain, false));
        for purpose in Purpose::ALL {
            assert_eq!(rules.of(purpose).limits.memory, Some(1 << 30));
            assert_eq!(rules.of(purpose).attempts, 3);
            assert_eq!(rules.clone().plain().of(purpose).start, Start::Plain);
        }
    }
}
