//! Findings: what they are, their folders, their texts.

mod environment;
mod finding;
mod folder;
mod origin;
mod report;
mod repro;
mod signature;
mod stored;

pub use finding::{DUPLICATES_KEPT, Finding, Releases, RunRecord, Shrunk, Small, Stage, keep_duplicate};
pub use folder::{finished, is_running, sweep, write_file};
pub use origin::{Ancestor, Origin, Told};
pub use signature::{Constructs, Signature, operators};
