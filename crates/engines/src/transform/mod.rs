//! Transforms: a test case in, a test case out. They stand after an engine: `diver+incremental`.

mod compose;
mod incremental;
mod values;

pub(crate) use compose::Composition;
pub use incremental::Incremental;
pub use values::NewValues;

use crate::case::Draft;
use crate::engine::Bench;

/// A change that any engine's test cases may go through. One value serves all workers.
pub trait Transform: Send + Sync {
    /// The name used after a `+`.
    fn name(&self) -> &str;

    /// The draft changed, with an expectation that holds for what it has become; `None` if the transform does not apply,
    /// and the draft goes on as it was. `bench.rng` is a stream of the transform's own.
    fn apply(&self, draft: Draft, bench: &mut Bench<'_>) -> Option<Draft>;
}
