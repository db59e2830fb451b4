//! Why there is no report, by what the user has to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A report that cannot be made, or pages that cannot be served.
#[derive(Debug, Error)]
pub enum ReportError {
    /// Nothing that looks like a campaign.
    #[error(
        "'{}' is not the output folder of a campaign: {why}", .path.display()
    )]
    NoCampaign {
        /// What the user named.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The report's folder holds something else.
    #[error(
        "'{}' holds files that are no report of osprey: choose another folder with -o, or empty this one", .0.display()
    )]
    Occupied(PathBuf),
    /// A file is where the folder should be.
    #[error("'{}' is a file: pages need a folder, which -o names; --format makes a single file", .0.display())]
    NoFolder(PathBuf),
    /// The disk is full or not writable.
    #[error("cannot write '{}': {source}", .path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another program has the port.
    #[error(
        "{0} is in use by another program: choose another port with --listen, or port 0 for any free one"
    )]
    PortInUse(SocketAddr),
    /// A port that belongs to the system.
    #[error("{0} may not be used by this user: choose a port above 1023 with --listen")]
    PortForbidden(SocketAddr),
    /// An address that this machine does not have.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Others could look at it.
    #[error(
        "{0} can be reached from other machines, and so needs a token: set OSPREY_TOKEN, for example with \
         `export OSPREY_TOKEN=$(openssl rand -hex 16)`"
    )]
    NeedsToken(SocketAddr),
    /// A token that can be guessed, or does not fit into an address.
    #[error("OSPREY_TOKEN must be at least 16 letters, digits, '-' or '_'")]
    WeakToken,
    /// The campaign itself.
    #[error(transparent)]
    Campaign(#[from] campaign::CampaignError),
}

impl ReportError {
    pub(crate) fn disk(path: &Path, source: io::Error) -> ReportError {
        ReportError::Disk { path: path.to_owned(), source }
    }

    /// Is it the disk's fault?
    pub fn is_disk(&self) -> bool {
        match self {
            ReportError::Disk { .. } => true,
            ReportError::Campaign(error) => error.is_disk(),
            _ => false,
        }
    }
}
