//! Passes: one file per family of steps.

mod binders;
mod bounds;
mod commands;
mod datatypes;
mod declarations;
mod definitions;
mod functions;
mod incremental;
mod isolate;
mod literals;
mod names;
mod occurrences;
mod operators;
pub(crate) mod options;
mod sorts;
mod steering;
mod terms;
mod values;
mod variables;

use crate::driver::Reduction;
use crate::error::ReduceError;

/// Looks for smaller scripts of one family.
pub trait Pass {
    /// Shown to the user.
    fn name(&self) -> &'static str;

    /// It does not touch the structure of terms: what others could not do before it, they cannot do after it.
    fn is_cosmetic(&self) -> bool {
        false
    }

    /// It costs many candidates for few successes: tried when nothing else works.
    fn is_last_resort(&self) -> bool {
        false
    }

    /// Tries what it knows on the best script so far.
    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError>;
}

/// Leaves out assertions and declarations that are not needed any more.
pub fn tidy(reduction: &mut Reduction) -> Result<(), ReduceError> {
    if reduction.bench.draft.script.assertions().nth(1).is_some() {
        commands::Assertions.run(reduction)?;
    }
    declarations::Unused.run(reduction)
}

/// All of them, in the order of the first round: what takes much away at little cost goes first, and what only makes
/// things look simpler last.
pub fn all() -> Vec<Box<dyn Pass>> {
    vec![
        Box::new(commands::Assertions),
        Box::new(declarations::Unused),
        Box::new(bounds::Bounds),
        Box::new(declarations::Logic),
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
        Box::new(datatypes::Datatypes),
        Box::new(sorts::Sorts),
        Box::new(literals::Literals),
        Box::new(options::Options),
        Box::new(names::Names),
        Box::new(isolate::Isolate),
        Box::new(steering::Steering),
        Box::new(values::Values),
        Box::new(terms::Depths),
        Box::new(variables::Fresh),
        Box::new(occurrences::Occurrences),
    ]
}
