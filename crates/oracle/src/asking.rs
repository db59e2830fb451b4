//! Further questions to solvers, asked for a purpose.

use std::sync::Arc;
use std::time::{Duration, Instant};

use solver::run::{Configuration, Purpose, Run, RunError, Runner};

/// Starts at most to read the stack of a crash.
const LOCATED: u32 = 3;

/// What a run has when the time for all of them is up.
const MOMENT: Duration = Duration::from_millis(100);

/// Who can be asked further questions, and for which purpose.
pub struct Asking<'r> {
    runner: &'r mut dyn Runner,
    purpose: Purpose,
    /// In place of the runner's own.
    configurations: Option<&'r [Arc<Configuration>]>,
    /// Less time on the clock than the purpose allows.
    wall: Option<Duration>,
    /// Nobody waits for answers longer than until then.
    until: Option<Instant>,
}

impl<'r> Asking<'r> {
    /// Everybody the runner knows.
    pub fn new(runner: &'r mut dyn Runner, purpose: Purpose) -> Asking<'r> {
        Asking { runner, purpose, configurations: None, wall: None, until: None }
    }

    /// Only these, where others than the accused are asked.
    #[must_use]
    pub fn among(mut self, configurations: &'r [Arc<Configuration>]) -> Asking<'r> {
        self.configurations = Some(configurations);
        self
    }

    /// With no more than this time on the clock for each run.
    #[must_use]
    pub fn within(mut self, wall: Option<Duration>) -> Asking<'r> {
        self.wall = wall;
        self
    }

    /// With all runs over at this time, but for a moment that each has.
    #[must_use]
    pub fn until(mut self, until: Option<Instant>) -> Asking<'r> {
        self.until = until;
        self
    }

    /// The same for another purpose.
    pub fn for_purpose(&mut self, purpose: Purpose) -> Asking<'_> {
        let Asking { configurations, wall, until, .. } = *self;
        Asking { runner: &mut *self.runner, purpose, configurations, wall, until }
    }

    /// Is the time up in which answers are waited for?
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// All configurations there are, those under test included.
    pub fn configurations(&self) -> &[Arc<Configuration>] {
        match self.configurations {
            Some(configurations) => configurations,
            None => self.runner.configurations(),
        }
    }

    /// Solvers of other lines for third opinions, the best first. None where the configurations are given: what was asked for a
    /// finding is in it.
    pub fn third_opinions(&self) -> &[Arc<Configuration>] {
        match self.configurations {
            Some(_) => &[],
            None => self.runner.third_opinions(),
        }
    }

    /// Looks for the place of a crash that does not name it, by more plain starts: corrupted memory crashes in one run and
    /// ends at the memory limit in the next. A crash that does not repeat there stays as it is.
    pub fn locate(&mut self, run: &mut Run) -> Result<(), RunError> {
        if run.answers.crash().is_none_or(|crash| !crash.lacks_a_place()) {
            return Ok(());
        }
        for _ in 0..LOCATED {
            // It has the purpose's own time: a plain start takes longer than the fast one that crashed.
            let again = self.runner.run(&run.configuration, &run.script, Purpose::Place)?;
            if again.answers.crash().is_some() {
                // Whether its stack could be read or not: the next one would not tell more.
                run.take_place(&again);
                break;
            }
        }
        Ok(())
    }

    /// Runs one of them, or a variant of one, on another script.
    pub fn run(&mut self, configuration: &Arc<Configuration>, script: &[u8]) -> Result<Run, RunError> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()).max(MOMENT));
        let wall = [self.wall, left].into_iter().flatten().min();
        self.runner.run_within(configuration, script, self.purpose, wall)
    }
}
