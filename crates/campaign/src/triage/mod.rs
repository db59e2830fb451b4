//! From suspicious runs to findings: judged, confirmed, written; then reduced, told apart, grouped.

mod adopt;
mod claim;
mod duplicates;
mod ending;
mod examined;
mod graver;
mod queue;
mod reached;
mod reduction;
pub mod regroup;
mod releases;
mod rerun;
mod share;
#[cfg(test)]
mod tests;
mod unwanted;
mod verdicts;

pub use ending::Ending;
pub use examined::Examined;
pub use queue::{Triage, TriageRules};
pub use reached::CodeTracer;
pub use reduction::{ReducedFinding, ReductionRules, reduce_folder};
pub use releases::{Extent, compare};
pub use rerun::{Rerun, RerunInput, checked};
pub use unwanted::unwanted;
pub use verdicts::{Reproduction, TestedCase, VerdictOutcome, Verdicts};
