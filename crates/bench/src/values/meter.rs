//! CPU time of one round: a clock on the wall would cut more rounds on a busy machine.

use std::time::Duration;

use campaign::thread_cpu;
use solver::run::Runner;

/// What a round has taken so far, of solvers and of this thread.
pub struct Meter {
    began: Duration,
    of_solvers: Duration,
    limit: Duration,
}

impl Meter {
    /// Begins now: what the runner has done before does not count.
    pub fn start(runner: &mut dyn Runner, limit: Duration) -> Meter {
        runner.take_accounts();
        Meter { began: thread_cpu(), of_solvers: Duration::ZERO, limit }
    }

    pub fn spent(&mut self, runner: &mut dyn Runner) -> Duration {
        self.of_solvers += runner.take_accounts().total().cpu;
        thread_cpu().saturating_sub(self.began) + self.of_solvers
    }

    pub fn is_over(&mut self, runner: &mut dyn Runner) -> bool {
        self.spent(runner) >= self.limit
    }
}
