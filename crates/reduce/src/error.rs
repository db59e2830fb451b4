//! Why a reduction cannot start or go on.

use std::time::Duration;

use solver::launch::LaunchError;
use solver::run::RunError;

/// Why a reduction cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    #[error("the input is not interesting: {0}")]
    NotInteresting(String),
    #[error(
        "the predicate is flaky on the input: it held in {seen} of {runs} runs; reduce needs one that always holds \
         (fix the solver's random seed, give it more time, or wrap the command so that it repeats the run)"
    )]
    Flaky { seen: u32, runs: u32 },
    #[error(
        "the predicate is always true: it holds for a script without assertions too, so everything would go; \
         compare more of the output (--match-out, --match-err) or write a stricter script"
    )]
    AlwaysTrue,
    #[error("the predicate did not end within {0:?} on the input; give it more time with --timeout")]
    TooSlow(Duration),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("cannot run the predicate: {0}")]
    Launch(#[from] LaunchError),
    #[error("cannot keep the result: {0}")]
    Disk(#[from] std::io::Error),
}
