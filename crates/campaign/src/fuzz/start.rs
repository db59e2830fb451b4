//! Before a campaign begins: whose folder it is, what an earlier run left there, and whether solvers answer.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use solver::RunClass;
use solver::run::Purpose;

use super::Campaign;
use crate::config::Settings;
use crate::error::CampaignError;
use crate::findings::{self, Finding};
use crate::store::{CampaignStore, MemberId, Place, Presence};

/// Locked by the campaign that works in a folder.
pub(super) const LOCK: &str = ".lock";

/// Two campaigns must not write to one folder.
pub(super) fn lock_folder(settings: &Settings) -> Result<File, CampaignError> {
    let path = settings.out.join(LOCK);
    let file = File::create(&path).map_err(|error| CampaignError::disk(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(CampaignError::InUse(settings.out.clone())),
        Err(std::fs::TryLockError::Error(error)) => Err(CampaignError::disk(&path, error)),
    }
}

/// A new campaign wants an empty place, a resumed one a campaign.
pub(super) fn agree_on(present: Presence, settings: &Settings, place: &Place) -> Result<(), CampaignError> {
    match (present, settings.resume) {
        (Presence::Campaign, false) => Err(CampaignError::Occupied(place.shown())),
        (Presence::Nothing, true) => Err(CampaignError::NothingToResume(place.shown())),
        _ => Ok(()),
    }
}

/// Whoever claimed a signature and was killed before the folder was there has left a finding that nobody can look at. Its
/// test case waits in a folder of its own and claims again, perhaps another signature.
pub(super) fn release_lost_claims(
    store: &mut dyn CampaignStore,
    member: MemberId,
    bugs: &Path,
) -> Result<(), CampaignError> {
    // Another process may be about to write the folder.
    if store.members()?.iter().any(|other| other.id != member) {
        return Ok(());
    }
    let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
    let read = folders.iter().filter_map(|folder| Finding::read(folder).ok());
    let waiting: BTreeSet<(u64, u64)> = read
        .filter(|(finding, _)| finding.is_pending())
        .map(|(finding, _)| (finding.provenance.round, finding.provenance.step as u64))
        .collect();
    for known in store.findings()? {
        let lost = !bugs.join(&known.folder).join("finding.json").is_file();
        if lost && waiting.contains(&(known.round, known.step)) {
            store.release(&known.hash)?;
        }
    }
    Ok(())
}

/// Every solver must be able to say that nothing is satisfiable.
pub(super) fn preflight(campaign: &Campaign) -> Result<(), CampaignError> {
    let failed = |error| CampaignError::of_run("a solver", error);
    let mut runner = campaign.runners.runner().map_err(failed)?;
    for target in campaign.targets {
        let configuration = Arc::new(target.configuration());
        let script = b"(set-logic QF_UF)\n(check-sat)\n";
        let run = runner.run(&configuration, script, Purpose::Measurement);
        let run = run.map_err(|error| CampaignError::of_run(&target.name, error))?;
        if matches!(run.answers.class, RunClass::Answered) && run.answers.trusted().count() == 1 {
            continue;
        }
        let mut said = String::from_utf8_lossy(&run.outcome.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&run.outcome.stderr));
        let said: String = said.trim().chars().take(300).collect();
        return Err(CampaignError::Solver {
            solver: target.name.clone(),
            reason: format!("it does not answer the empty script ({}): {said}", run.answers.class.word()),
        });
    }
    Ok(())
}
