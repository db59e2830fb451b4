//! Who looks on while a benchmark runs, and may end it.

/// A benchmark asks [`Watch::stopped`] between its steps and ends with what it has when the answer is yes, and tells
/// how far it is.
pub trait Watch: Sync {
    /// Has the user asked to end?
    fn stopped(&self) -> bool;

    /// `done` of `all` steps are done; `now` is what is being done.
    fn progress(&self, done: usize, all: usize, now: &str);
}

/// Nobody looks on.
pub struct Unwatched;

impl Watch for Unwatched {
    fn stopped(&self) -> bool {
        false
    }

    fn progress(&self, _: usize, _: usize, _: &str) {}
}
