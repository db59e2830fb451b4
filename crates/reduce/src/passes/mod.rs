//! Passes: one file a family of steps.

mod binders;
mod bounds;
mod commands;
mod declarations;
mod definitions;
mod functions;
mod incremental;
mod literals;
mod names;
mod occurrences;
mod operators;
mod options;
mod sorts;
mod terms;
mod variables;

use crate::driver::Reduction;
use crate::error::ReduceError;

/// Looks for smaller scripts of one family.
pub trait Pass {
    /// Shown to the user.
    fn name(&self) -> &'static str;

    /// Tries what it knows on the best script so far.
    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError>;
}

/// All of them, in the order of the first round: what takes much away at little cost goes first, and what only makes
/// things look simpler last.
pub fn all() -> Vec<Box<dyn Pass>> {
    vec![
        Box::new(commands::Assertions),
        Box::new(bounds::Bounds),
        Box::new(declarations::Unused),
        Box::new(commands::Others),
        Box::new(incremental::Structure),
        Box::new(definitions::Inline::default()),
        Box::new(binders::Annotations),
        Box::new(terms::Terms),
        Box::new(operators::Arguments),
        Box::new(variables::Eliminate),
        Box::new(binders::Quantifiers),
        Box::new(operators::Wrappers),
        Box::new(functions::Parameters),
        Box::new(variables::Fresh),
        Box::new(literals::Literals),
        Box::new(sorts::Sorts),
        Box::new(occurrences::Occurrences),
        Box::new(declarations::Logic),
        Box::new(options::Options),
        Box::new(names::Names),
    ]
}
