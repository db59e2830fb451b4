//! The campaign's memory, shared by all processes that work on it.
//!
//! A process keeps its own picture of the campaign in memory and exchanges *differences* with the store: about twice a
//! second it [merges](CampaignStore::merge) what it has counted and hears the [news](CampaignStore::news) of the
//! others. What must be given to one process only (numbers of rounds, untried seeds, signatures of findings) is
//! *claimed*, and a claim is on disk when the call returns. So a campaign killed at any moment goes on with all its
//! findings and at most the last second's counts missing, and any number of processes add up.
//!
//! Calls may wait for the disk or for other processes: make them without holding a lock that workers wait for.
//!
//! - `counts`, `totals`, `sample`: what is counted; `delta`: how it travels; `archive`: folders of findings in a store;
//!   `unwanted`: bugs that are known
//! - `place`: which store it is, made by [`Place`] or, of an output folder, by [`open`] and [`read`]
//! - `memory`: a store for tests; `sqlite`: the one in an output folder; `postgres`: the one on a server; `journal`:
//!   what is kept for a server that is away

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Identity;
use crate::seeds::SeedText;

mod archive;
#[cfg(test)]
mod contract;
mod counts;
mod delta;
mod error;
mod journal;
mod memory;
mod place;
mod postgres;
mod sample;
mod sqlite;
mod totals;
mod unwanted;

pub use archive::{ArchivedFile, ArchivedFolder, FindingArchive, Work};
pub use counts::{CONSTRUCT, Counts, DEFAULT_OPTIONS, ENGINE, LOGIC, Learned, OPTION};
pub use delta::{Delta, Memories, SeedDelta, SeedMemory, StoredSeed};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use place::{Place, Presence, open, presence, read};
pub use postgres::{Load, ServerUrl, is_meant_as_address, keep_password, without_password};
pub use sample::{Sample, Sampler};
pub use totals::{Messages, QuestionCounts, RunCounts, Totals};
pub use unwanted::Unwanted;

/// Features kept at most; beyond that everything counts as seen.
pub const FEATURES: usize = 1 << 20;

/// Seconds without a sign of life after which a member counts as gone.
pub const MEMBER_GONE: u64 = 30;

/// A unique finding as the store knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFinding {
    /// Of the signature.
    pub hash: String,
    pub signature: String,
    pub kind: String,
    pub solver: String,
    /// Name below `bugs`.
    pub folder: String,
    pub round: u64,
    pub step: u64,
    /// Test cases that showed the same bug again.
    pub duplicates: u64,
    pub flaky: bool,
    /// The bug it is taken for: the hash of the first finding that showed it.
    pub group: String,
    /// What it shows of the bug, for comparison with others: text that the store does not look into.
    pub face: String,
}

impl KnownFinding {
    /// Was it the first that showed its bug?
    pub fn leads(&self) -> bool {
        self.group == self.hash
    }
}

/// What came of claiming a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody had it: the finding is the claimant's to write down.
    New,
    /// Somebody has it, as this.
    Known(KnownFinding),
    /// Others have claimed findings that it was not compared with: these are all there are.
    Behind(Vec<KnownFinding>),
}

/// What other processes have added since the last time.
///
/// Counts are the sums over all processes, this one included: they replace what is known rather than add to it. After
/// a merge of everything that was counted here they are exact. Hearing the same news twice does no harm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// What all have learned together.
    pub learned: Learned,
    /// Seeds that others put into use, with the counts they have by now.
    pub new_seeds: Vec<(StoredSeed, Counts)>,
    /// Seeds in use whose counts others added to, with the sums.
    pub seeds: Vec<(String, Counts)>,
    /// Hashes of seeds that others do not use any more.
    pub retired: Vec<String>,
    pub features: Vec<u64>,
    /// Sites that others have reached, by the code they are of.
    pub sites: BTreeMap<u64, Vec<u32>>,
    /// Findings that others added, changed, or found duplicates of.
    pub findings: Vec<KnownFinding>,
    /// What others' engines have left to know about seeds.
    pub memories: Memories,
    /// All bugs that nobody wants to hear of, if somebody has named others.
    pub unwanted: Option<Unwanted>,
}

/// The number of a member, never given to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemberId(pub u64);

/// What a process does in a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It began the campaign, or resumed it; the campaign ends with it.
    Owner,
    /// It has joined.
    Helper,
}

/// A process that works on the campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: MemberId,
    pub role: Role,
    pub pid: u32,
    /// Its last sign of life, in seconds since 1970.
    pub seen: u64,
}

/// One process's access to the campaign's memory.
///
/// Everything takes `&mut self`: a handle belongs to one thread at a time, and some stores talk over one connection.
pub trait CampaignStore: Send {
    /// The settings the campaign was made with.
    fn identity(&mut self) -> Result<Identity, StoreError>;

    /// When the campaign was made, in seconds since 1970.
    fn started(&mut self) -> Result<u64, StoreError>;

    /// Numbers of rounds that nobody else gets, in any process, nor after a crash.
    fn claim_rounds(&mut self, count: u64) -> Result<Range<u64>, StoreError>;

    /// Given seeds that no round has tried as they are, the smallest first. Each is handed out once in a campaign.
    fn claim_untried(&mut self, count: usize) -> Result<Vec<SeedText>, StoreError>;

    /// Adds what this process has counted: all of it or, with an error, nothing.
    ///
    /// A seed whose text is kept although it was retired stays retired: all solvers time out on it. A mutant that only
    /// had to make room may come back.
    fn merge(&mut self, delta: &Delta) -> Result<(), StoreError>;

    /// What others have added since this handle's last call, or since it was opened.
    fn news(&mut self) -> Result<News, StoreError>;

    /// Claims the finding's signature, by its hash: the first one gets it. Durable when this returns. `compared` is how
    /// many findings it was compared with to tell its group; with others there it is to be compared again, so that two
    /// processes never make two groups of one bug.
    fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError>;

    /// Puts a finding from one group into another, as somebody has decided who knows better. Tells whether it was still in
    /// the first: if it was not, somebody else has decided meanwhile, and nothing happens.
    fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError>;

    /// Shows a finding anew: it was told apart before it was reduced, and is clearer now.
    fn show(&mut self, hash: &str, face: &str) -> Result<(), StoreError>;

    /// Undoes a claim whose folder could not be written.
    fn release(&mut self, hash: &str) -> Result<(), StoreError>;

    /// Counts one more duplicate of a finding. Gives the finding as it is then; none if nobody has claimed it, or
    /// whoever did has released it.
    fn duplicate(&mut self, hash: &str) -> Result<Option<KnownFinding>, StoreError>;

    /// All findings, in the order of their rounds and steps.
    fn findings(&mut self) -> Result<Vec<KnownFinding>, StoreError>;

    /// Bugs that nobody wants to hear of, whoever named them.
    fn unwanted(&mut self) -> Result<Unwanted, StoreError>;

    /// Names such bugs for all processes: these instead of those that were named before, or in addition.
    fn set_unwanted(&mut self, unwanted: &Unwanted, instead: bool) -> Result<(), StoreError>;

    /// A seed whose text is still there, in use or not.
    fn seed(&mut self, hash: &str) -> Result<Option<SeedText>, StoreError>;

    /// The seeds in use, in the order of their hashes.
    fn pool(&mut self) -> Result<Vec<(StoredSeed, Counts)>, StoreError>;

    /// All features seen, at most [`FEATURES`].
    fn features(&mut self) -> Result<Vec<u64>, StoreError>;

    /// All sites reached, by the code they are of.
    fn sites(&mut self) -> Result<BTreeMap<u64, Vec<u32>>, StoreError>;

    fn learned(&mut self) -> Result<Learned, StoreError>;

    /// What engines have left to know about seeds.
    fn memories(&mut self) -> Result<Memories, StoreError>;

    fn totals(&mut self) -> Result<Totals, StoreError>;

    /// The campaign over time, in the order of time, then of engines.
    fn samples(&mut self) -> Result<Vec<Sample>, StoreError>;

    /// Makes this process a member.
    fn join(&mut self, role: Role) -> Result<MemberId, StoreError>;

    /// A sign of life, due well within [`MEMBER_GONE`] seconds.
    fn beat(&mut self, member: MemberId) -> Result<(), StoreError>;

    fn leave(&mut self, member: MemberId) -> Result<(), StoreError>;

    /// Those that have joined, have not left and have shown a sign of life lately.
    fn members(&mut self) -> Result<Vec<Member>, StoreError>;

    /// The owner of the campaign tells all members to end, or, when it begins, that they may work.
    fn set_closing(&mut self, closing: bool) -> Result<(), StoreError>;

    fn closing(&mut self) -> Result<bool, StoreError>;

    /// Folders of findings, where the processes of a campaign have no disk in common.
    fn archive(&mut self) -> Option<&mut dyn FindingArchive> {
        None
    }

    /// Time between two exchanges of a process.
    fn pace(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// What the user should know about the store: that it is away, or back.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Can the store not be reached at the moment, so that nothing is heard of others?
    fn is_away(&self) -> bool {
        false
    }

    /// The number of the last delta that is kept for delivery, where deltas are numbered.
    fn journaled(&self) -> Option<u64> {
        None
    }
}

/// Seconds since 1970; zero on a machine whose clock is before that.
pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs())
}

/// The name of this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
