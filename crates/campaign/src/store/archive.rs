//! Folders of findings where processes have no disk in common: they travel in the store, with who works on them.

use super::StoreError;

/// A file of a folder. Its name may have one folder before it: `duplicates/1.smt2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedFile {
    pub name: String,
    pub executable: bool,
    pub content: Vec<u8>,
}

/// What is known of a folder without looking into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedFolder {
    pub name: String,
    /// Of its `finding.json`: another one is another version.
    pub hash: u64,
    /// Something is left to do: it is not told apart yet, or not made small.
    pub open: bool,
    /// A member who lives works on it.
    pub held: bool,
}

/// A folder's state when it is put into the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing is left to do.
    Done,
    /// Whoever has put it there goes on with it, until that is done or the member is gone.
    Held,
    /// Anybody may go on with it.
    Waiting,
}

/// The folders of a campaign's findings.
///
/// Work on a folder is leased: a member holds it as long as it shows signs of life, and what a dead member held can be
/// [taken](FindingArchive::take) by another one. So a finding is reduced once, and not lost with a machine.
pub trait FindingArchive {
    /// Puts all files of a folder there, in place of those it had and of another folder that it has come from: both or,
    /// with an error, neither. Durable when this returns.
    fn put(
        &mut self,
        name: &str,
        files: &[ArchivedFile],
        work: Work,
        instead_of: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Adds one file to a folder, if the folder is there.
    fn add(&mut self, name: &str, file: &ArchivedFile) -> Result<(), StoreError>;

    /// The files of a folder.
    fn get(&mut self, name: &str) -> Result<Option<Vec<ArchivedFile>>, StoreError>;

    fn remove(&mut self, name: &str) -> Result<(), StoreError>;

    /// All folders, by name.
    fn list(&mut self) -> Result<Vec<ArchivedFolder>, StoreError>;

    /// Takes over a folder on which something is left to do and nobody works. It is this member's then.
    fn take(&mut self) -> Result<Option<(String, Vec<ArchivedFile>)>, StoreError>;

    /// Does this member still hold the folder? Who was silent for too long may have lost it to another one.
    fn holds(&mut self, name: &str) -> Result<bool, StoreError>;

    /// Nobody works on it any more, for the moment or because nothing is left to do.
    fn let_go(&mut self, name: &str, work: Work) -> Result<(), StoreError>;
}
