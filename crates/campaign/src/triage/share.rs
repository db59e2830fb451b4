//! Findings that many machines share: their folders travel in the campaign's store, and work on them is leased.
//!
//! The folder on this disk comes first, so that nothing is lost while a server is away; a mark beside it says that the
//! store is still to get it. Where the processes of a campaign have a disk in common, none of this does anything.

use std::path::Path;
use std::time::{Duration, Instant};

use solver::Solver;

use super::queue::Triage;
use crate::error::CampaignError;
use crate::findings::{self, Finding, Stage};
use crate::shared::lock;
use crate::store::{ArchivedFile, CampaignStore, FindingArchive, StoreError, Work};

/// Others' findings are taken over while fewer than this wait here.
const TAKE_BELOW: usize = 2;

/// How long a claim waits for a store that is away after the campaign's end.
const LAST_WAIT: Duration = Duration::from_secs(10);

impl Triage<'_> {
    /// Does something with the folders in the store, where it has them.
    fn archive<T>(
        &self,
        work: impl FnOnce(&mut dyn FindingArchive) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if !self.travels {
            return Ok(None);
        }
        lock(self.store).archive().map(work).transpose()
    }

    /// A folder is about to be written.
    pub(super) fn intend(&self, name: &str, instead_of: Option<&str>) -> Result<(), CampaignError> {
        match self.travels {
            true => findings::mark_unsent(self.shared.bugs(), name, instead_of),
            false => Ok(()),
        }
    }

    /// A folder was written: the store gets it now, or when it is back.
    pub(super) fn share(
        &self,
        name: &str,
        work: Work,
        instead_of: Option<&str>,
    ) -> Result<(), CampaignError> {
        if !self.travels {
            return Ok(());
        }
        let bugs = self.shared.bugs();
        let files = findings::files(&bugs.join(name))?;
        match self.archive(|archive| archive.put(name, &files, work, instead_of)) {
            Ok(_) => {
                instead_of.map_or(Ok(()), |before| findings::mark_sent(bugs, before))?;
                findings::mark_sent(bugs, name)
            }
            Err(error) if error.is_away() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends what the store did not get when it was away. `left`: by an earlier process, so that nobody here goes on with
    /// it.
    pub fn share_unsent(&self, left: bool) -> Result<(), CampaignError> {
        if !self.travels {
            return Ok(());
        }
        let bugs = self.shared.bugs();
        for (name, before) in findings::unsent(bugs)? {
            match Finding::read(&bugs.join(&name)) {
                Ok((finding, _)) => {
                    self.share(&name, work_left(&finding, left), before.as_deref())?;
                    // Triage may have told it apart meanwhile.
                    if !bugs.join(&name).is_dir() {
                        self.unshare(&bugs.join(&name))?;
                    }
                }
                // It was marked and never written, or removed since.
                Err(_) if left => findings::mark_sent(bugs, &name)?,
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Has another process not taken it over, while this one was silent?
    pub(super) fn is_still_ours(&self, folder: &Path) -> Result<bool, CampaignError> {
        let name = name_of(folder);
        if !self.travels || findings::is_unsent(self.shared.bugs(), &name) {
            return Ok(true);
        }
        let held =
            self.patiently(|store| store.archive().map_or(Ok(true), |archive| archive.holds(&name)))?;
        Ok(held)
    }

    /// A folder is gone.
    pub(super) fn unshare(&self, folder: &Path) -> Result<(), CampaignError> {
        let name = name_of(folder);
        if self.travels {
            self.patiently(|store| store.archive().map_or(Ok(()), |archive| archive.remove(&name)))?;
            findings::mark_sent(self.shared.bugs(), &name)?;
        }
        Ok(())
    }

    /// Nobody here goes on with it.
    pub(super) fn let_go(&self, folder: &Path, work: Work) -> Result<(), CampaignError> {
        match self.archive(|archive| archive.let_go(&name_of(folder), work)) {
            Err(error) if !error.is_away() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Is a finding's folder there, here or in the store?
    pub(super) fn has_folder(&self, name: &str) -> Result<bool, CampaignError> {
        if self.shared.bugs().join(name).join("finding.json").is_file() {
            return Ok(true);
        }
        let found = self.patiently(|store| store.archive().map_or(Ok(None), |archive| archive.get(name)))?;
        Ok(found.is_some())
    }

    /// Keeps another input of a known bug whose folder is not here.
    pub(super) fn share_duplicate(
        &self,
        folder: &str,
        number: u64,
        input: &str,
    ) -> Result<(), CampaignError> {
        let file = ArchivedFile {
            name: format!("duplicates/{number}.smt2"),
            executable: false,
            content: input.as_bytes().to_vec(),
        };
        if number > findings::DUPLICATES_KEPT {
            return Ok(());
        }
        match self.archive(|archive| archive.add(folder, &file)) {
            Err(error) if !error.is_away() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Takes over what nobody works on any more: those who had it are gone.
    pub fn take_over(&self, solvers: &[Solver]) -> Result<(), CampaignError> {
        while self.travels && self.pending() < TAKE_BELOW {
            let taken = match self.archive(|archive| archive.take()) {
                Err(error) if error.is_away() => return Ok(()),
                taken => taken?.flatten(),
            };
            let Some((name, files)) = taken else { return Ok(()) };
            let folder = findings::write_copy(self.shared.bugs(), &name, &files)?;
            let Ok((finding, folder)) = Finding::read(&folder) else {
                // It stays with this process, which can do nothing with it: nobody tries again before it has left.
                self.tell_unreadable(folder)?;
                continue;
            };
            self.shared.log.note(&format!("{name} is taken over from a process that is gone"))?;
            let settled = finding.stage == Stage::Unreduced;
            self.wait_again(folder, finding, solvers, settled)?;
            self.wake();
        }
        Ok(())
    }

    /// Something that must be known before the work can go on. A store that is away is waited for while the campaign runs;
    /// its absence is an error only at the end.
    pub(super) fn patiently<T>(
        &self,
        mut ask: impl FnMut(&mut dyn CampaignStore) -> Result<T, StoreError>,
    ) -> Result<T, CampaignError> {
        let mut over: Option<Instant> = None;
        loop {
            let answer = ask(&mut **lock(self.store));
            match answer {
                Err(error) if error.is_away() => {
                    if self.shared.stop.now() {
                        let since = *over.get_or_insert_with(Instant::now);
                        if since.elapsed() > LAST_WAIT {
                            return Err(error.into());
                        }
                    }
                    self.doze(|_| true);
                }
                answer => return Ok(answer?),
            }
        }
    }
}

/// What is left to do on a finding as it is.
pub(super) fn work_left(finding: &Finding, left: bool) -> Work {
    let done = match finding.stage {
        Stage::Pending { .. } => false,
        Stage::Unreduced => finding.flaky,
        Stage::Reduced(_) => true,
    };
    match (done, left) {
        (true, _) => Work::Done,
        (false, true) => Work::Waiting,
        (false, false) => Work::Held,
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
