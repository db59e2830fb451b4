//! Why a store cannot be used, by what the user has to do about it.

use std::path::PathBuf;

use thiserror::Error;

/// A store that cannot be made, opened, read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no store at this place.
    #[error("'{}' holds no campaign", .0.display())]
    Missing(PathBuf),
    /// A new one was to be made where there is one.
    #[error("'{}' holds a campaign already", .0.display())]
    Exists(PathBuf),
    /// Killed while it was made.
    #[error(
        "'{}' holds a campaign that ended before its first round; nothing is lost: start it again without --resume",
        .0.display()
    )]
    Unfinished(PathBuf),
    /// Written by a version whose campaigns can only be read.
    #[error(
        "'{}' was written by an older version of osprey (format {found}, this one has {ours}): its findings can be \
         replayed, but the campaign cannot go on; start a new one with another --out, or finish it with the version \
         that began it", .path.display()
    )]
    Older { path: PathBuf, found: u32, ours: u32 },
    /// Written by a version that did not exist yet.
    #[error(
        "'{}' was written by a newer version of osprey (format {found}, this one has {ours}): use that version",
        .path.display()
    )]
    Newer { path: PathBuf, found: u32, ours: u32 },
    /// An earlier version works on it, whose tables would go away under it.
    #[error(
        "an earlier version of osprey works on '{}' (format {found}, this one has {ours}): wait until it has ended, or use \
         that version", .path.display()
    )]
    Occupied { path: PathBuf, found: u32, ours: u32 },
    /// Not ours.
    #[error("'{}' is another program's database, not a campaign: choose another folder", .0.display())]
    Foreign(PathBuf),
    /// It cannot be read where it is.
    #[error(
        "'{}' cannot be read on a file system where nothing can be written, because its last changes are still in \
         '{}-wal': copy the folder to another place", .0.display(), .0.display()
    )]
    Unwritten(PathBuf),
    /// The folder is a copy of a campaign that is not the one at its address.
    #[error(
        "'{}' belongs to another campaign than the one that is at its address now: choose another folder with --out; \
         what was found before stays in it", .0.display()
    )]
    OtherCampaign(PathBuf),
    /// The tables went away under a process that worked on them.
    #[error(
        "'{0}' holds this campaign no more: somebody has removed it; what was found here is in this process's folder"
    )]
    Removed(String),
    /// Another process has it.
    #[error("'{}' is in use by another process: choose another folder with --out", .0.display())]
    InUse(PathBuf),
    /// Opened for reading, asked to write.
    #[error("the campaign was opened for reading only")]
    ReadOnly,
    /// Something in it is not what we write.
    #[error("the campaign's store is damaged: {what}: {reason}")]
    Damaged { what: String, reason: String },
    /// The address of a server that is none.
    #[error("'{address}' is no address of a campaign: {why}")]
    Address { address: String, why: String },
    /// The server is there and does not let us.
    #[error("'{place}' cannot be used: {why}")]
    Refused { place: String, why: String },
    /// The server cannot be reached, or can do nothing at the moment. It may come back.
    #[error("'{place}' is away: {why}; what was found before is safe")]
    Away {
        place: String,
        why: String,
        /// The server's disk is full.
        disk: bool,
    },
    /// Tables of an earlier version on a server.
    #[error(
        "'{place}' has the tables of an earlier version of osprey (step {found}, this one has {ours}): bring them up to \
         date with `osprey fuzz --resume --store`, as the role that made them"
    )]
    Outdated { place: String, found: u32, ours: u32 },
    /// Processes of different versions do not work on one campaign.
    #[error(
        "'{place}' is a campaign of osprey {theirs}, and this is osprey {ours}: use the same version everywhere"
    )]
    OtherVersion { place: String, theirs: String, ours: String },
    /// What keeps the data has failed.
    #[error("the campaign's store: {source}; what was found before is safe")]
    Backend {
        /// The disk is full or not writable.
        disk: bool,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    pub(super) fn damaged(what: impl Into<String>, reason: impl ToString) -> StoreError {
        StoreError::Damaged { what: what.into(), reason: reason.to_string() }
    }

    /// Is it the disk's fault?
    pub fn is_disk(&self) -> bool {
        matches!(self, StoreError::Backend { disk: true, .. } | StoreError::Away { disk: true, .. })
    }

    /// May it be there again later, and everything go on?
    pub fn is_away(&self) -> bool {
        matches!(self, StoreError::Away { .. })
    }
}
