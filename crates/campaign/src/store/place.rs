//! Where a campaign is kept: in its output folder, or on a server that processes on many machines share.
//!
//! An output folder of a shared campaign is a copy: it has a journal, the folders of findings that its process made or
//! fetched, and a file with the server's address. So whatever takes an output folder takes such a copy, too.

use std::fmt;
use std::path::{Path, PathBuf};

use super::journal::JournaledStore;
use super::postgres::{Load, PostgresStore, ServerUrl, is_meant_as_address};
use super::sqlite::SqliteStore;
use super::{CampaignStore, StoreError};
use crate::config::Identity;
use crate::seeds::SeedText;

/// The store of a campaign in its output folder.
pub(super) const FILE: &str = "campaign.db";

/// In an output folder that is a copy: the server's address, without a password.
const ADDRESS: &str = "campaign.url";

/// What is kept for the server, in an output folder that is a copy.
pub(super) const JOURNAL: &str = "journal";

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing, or what is left of a campaign that was killed while it was made: one can be made.
    Nothing,
    /// A campaign of any version.
    Campaign,
}

/// Where a campaign is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its output folder.
    Folder(PathBuf),
    /// On a server; the output folder is one of many copies.
    Server { url: ServerUrl, out: PathBuf },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Folder(out) => write!(f, "{}", out.display()),
            Place::Server { url, .. } => write!(f, "{url}"),
        }
    }
}

impl Place {
    /// The place that a user named: a server, with this folder for the copy, or a folder.
    pub fn named(text: &str, out: &Path) -> Result<Place, StoreError> {
        match is_meant_as_address(text) {
            true => Ok(Place::Server { url: ServerUrl::parse(text)?, out: out.to_owned() }),
            false => Place::of(Path::new(text)),
        }
    }

    /// The place of the campaign that an output folder belongs to.
    pub fn of(out: &Path) -> Result<Place, StoreError> {
        match std::fs::read_to_string(out.join(ADDRESS)) {
            Ok(text) => {
                let address = text.lines().next().unwrap_or_default();
                Ok(Place::Server { url: ServerUrl::parse(address.trim())?, out: out.to_owned() })
            }
            Err(_) => Ok(Place::Folder(out.to_owned())),
        }
    }

    /// The campaign that a folder is the copy of, if it is one and that had been made when it became one.
    fn copy_of(out: &Path) -> Option<String> {
        let text = std::fs::read_to_string(out.join(ADDRESS)).ok()?;
        text.lines().nth(1).map(str::to_owned)
    }

    /// What tells the campaign on a server from any other, also from a later one at the same address; nothing where there
    /// is none.
    pub fn campaign(&self) -> Result<Option<String>, StoreError> {
        match self {
            Place::Server { url, .. } if PostgresStore::presence(url)? == Presence::Campaign => {
                PostgresStore::read(url)?.campaign().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Do processes on many machines share it?
    pub fn is_shared(&self) -> bool {
        matches!(self, Place::Server { .. })
    }

    /// The output folder of this process.
    pub fn out(&self) -> &Path {
        match self {
            Place::Folder(out) | Place::Server { out, .. } => out,
        }
    }

    /// The place as errors name it.
    pub fn shown(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }

    /// What is there?
    pub fn presence(&self) -> Result<Presence, StoreError> {
        match self {
            Place::Folder(out) => SqliteStore::presence(&out.join(FILE)),
            Place::Server { url, .. } => PostgresStore::presence(url),
        }
    }

    /// Makes a new campaign, whose output folder must exist. It is there as a whole or not at all.
    pub fn create(&self, identity: &Identity, given: &[SeedText]) -> Result<(), StoreError> {
        match self {
            Place::Folder(out) => _ = SqliteStore::create(&out.join(FILE), identity, given)?,
            Place::Server { url, .. } => _ = PostgresStore::create(url, identity, given)?,
        }
        self.settle()
    }

    /// Makes the output folder a copy of the campaign on a server, if it is not; it must not belong to another one. A folder
    /// follows its campaign to another address.
    pub fn settle(&self) -> Result<(), StoreError> {
        let Place::Server { url, out } = self else { return Ok(()) };
        let (there, here) = (self.campaign()?, Place::copy_of(out));
        match Place::of(out)? {
            Place::Server { .. } if here.is_some() && here != there => {
                return Err(StoreError::OtherCampaign(out.clone()));
            }
            Place::Server { .. } if here.is_some() => {}
            Place::Server { url: other, .. } if other.to_string() == url.to_string() => {}
            Place::Folder(_) if !out.join(FILE).exists() => {}
            other => return Err(StoreError::Exists(other.out().to_owned())),
        }
        let failed = |error: std::io::Error| StoreError::Backend {
            disk: true,
            source: format!("cannot write in '{}': {error}", out.display()).into(),
        };
        std::fs::create_dir_all(out).map_err(failed)?;
        let lines: Vec<String> = std::iter::once(url.to_string()).chain(there).collect();
        let text = lines.join("\n") + "\n";
        match std::fs::read_to_string(out.join(ADDRESS)).is_ok_and(|before| before == text) {
            true => Ok(()),
            false => std::fs::write(out.join(ADDRESS), text).map_err(failed),
        }
    }

    /// The same store, if it is of the campaign that the output folder is a copy of.
    fn known(mut store: PostgresStore, out: &Path) -> Result<PostgresStore, StoreError> {
        match Place::copy_of(out) {
            Some(id) if store.campaign()? != id => Err(StoreError::OtherCampaign(out.to_owned())),
            _ => Ok(store),
        }
    }

    /// Brings the tables of an earlier version up to date, where that is not done by opening them.
    pub fn upgrade(&self) -> Result<(), StoreError> {
        match self {
            Place::Folder(_) => Ok(()),
            Place::Server { url, .. } => PostgresStore::upgrade(url),
        }
    }

    /// Opens the campaign to work on it as a member, also beside other processes. What counts is kept in the output folder
    /// while a server is away.
    pub fn work(&self) -> Result<Box<dyn CampaignStore>, StoreError> {
        match self {
            Place::Folder(_) => self.open(),
            Place::Server { url, out } => {
                let server = Place::known(PostgresStore::open(url)?, out)?;
                Ok(Box::new(JournaledStore::open(server, url, &out.join(JOURNAL))?))
            }
        }
    }

    /// What a server has had to do so far.
    pub fn load(&self) -> Result<Option<Load>, StoreError> {
        match self {
            Place::Folder(_) => Ok(None),
            Place::Server { url, .. } => PostgresStore::read(url)?.load().map(Some),
        }
    }

    /// Opens the campaign to change something in it.
    pub fn open(&self) -> Result<Box<dyn CampaignStore>, StoreError> {
        Ok(match self {
            Place::Folder(out) => Box::new(SqliteStore::open(&out.join(FILE))?),
            Place::Server { url, out } => Box::new(Place::known(PostgresStore::open(url)?, out)?),
        })
    }

    /// Opens the campaign for reading, also while others write. Of one in a folder that the first version made, only
    /// identity, seeds and findings can be read.
    pub fn read(&self) -> Result<Box<dyn CampaignStore>, StoreError> {
        Ok(match self {
            Place::Folder(out) => Box::new(SqliteStore::read(&out.join(FILE))?),
            Place::Server { url, out } => Box::new(Place::known(PostgresStore::read(url)?, out)?),
        })
    }
}

/// What does an output folder hold?
pub fn presence(out: &Path) -> Result<Presence, StoreError> {
    Place::of(out)?.presence()
}

/// Opens the campaign of an output folder: see [`Place::open`].
pub fn open(out: &Path) -> Result<Box<dyn CampaignStore>, StoreError> {
    Place::of(out)?.open()
}

/// Opens the campaign of an output folder for reading: see [`Place::read`].
pub fn read(out: &Path) -> Result<Box<dyn CampaignStore>, StoreError> {
    Place::of(out)?.read()
}

#[cfg(test)]
pub fn create(out: &Path, identity: &Identity, given: &[SeedText]) -> Result<(), StoreError> {
    Place::Folder(out.to_owned()).create(identity, given)
}

#[cfg(test)]
mod tests {
    use super::super::contract::identity;
    use super::*;

    #[test]
    fn a_copy_follows_its_campaign_and_is_not_mixed_with_a_later_one_at_the_same_address() {
        let Some(server) = testkit::postgres::postgres() else { return };
        let (address, folders) = (server.url(), tempfile::tempdir().expect("a folder"));
        let (old, new) = (folders.path().join("old"), folders.path().join("new"));
        let first = Place::named(&address, &old).expect("an address");
        first.settle().expect("nothing is there yet");
        first.create(&identity(), &[]).expect("made");
        first.settle().expect("its own");
        let moved = Place::named(&format!("{address}&connect_timeout=9"), &old).expect("an address");
        moved.settle().expect("the same campaign");
        assert_eq!(Place::of(&old).expect("a place").to_string(), moved.to_string());
        let Place::Server { url, .. } = &first else { panic!("it is on a server") };
        server.sql("postgres", &format!("DROP SCHEMA {} CASCADE", url.schema())).expect("removed");
        let is_other = |result: Result<(), StoreError>| {
            assert!(matches!(result, Err(StoreError::OtherCampaign(_))), "{result:?}");
        };
        is_other(first.settle());
        let second = Place::named(&address, &new).expect("an address");
        second.create(&identity(), &[]).expect("made");
        is_other(first.settle());
        is_other(first.open().map(|_| ()));
        is_other(first.read().map(|_| ()));
        is_other(first.work().map(|_| ()));
        second.work().expect("its own");
    }
}
