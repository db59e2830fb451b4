//! Findings: what they are, their folders, their texts.

mod copy;
pub(crate) mod environment;
mod face;
mod fairness;
mod finding;
mod folder;
mod group;
mod handling;
mod origin;
mod report;
mod repro;
mod signature;
mod steering;
mod stored;

pub use copy::{fetch, files, give_back, is_unsent, mark_sent, mark_unsent, unsent, write_copy};
pub use face::{Face, Rarity, Weighed};
pub use fairness::Fairness;
pub use finding::{
    DUPLICATES_KEPT, Finding, Membership, Releases, RunRecord, Shrunk, Small, Stage, keep_duplicate,
};
pub use folder::{finished, is_running, sweep, write_file};
pub use group::{Group, Likeness, alike, group_of, is_alike_any, releases_fit};
pub use handling::{Handling, Mark, MarkState, Recheck, RecheckOutcome, newest_mark};
pub use origin::{Ancestor, Origin, StepFeedback};
pub use signature::{Constructs, Signature, is_listed, operators, operators_in};
pub use steering::{needed_steering, steering};
