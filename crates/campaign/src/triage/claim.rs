//! Findings told apart: a signature is claimed, and the finding gets its folder or joins a known one.

use std::path::{Path, PathBuf};

use super::queue::{Triage, Waiting};
use super::reduction::ReducedFinding;
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::findings::{Finding, Small, Stage};
use crate::shared::{Line, lock};
use crate::store::{Claim, KnownFinding};

/// Unique findings kept as folders: beyond that a campaign drowns its user and the disk.
const FINDINGS: usize = 5_000;

impl Triage<'_> {
    /// Further findings with this input are no part of this one any more. Where the same came again meanwhile.
    pub(super) fn arrived(&self, finding: &Finding) -> Vec<(u64, usize)> {
        let key = (finding.signature.to_string(), finding.stage.input().to_owned());
        lock(&self.on_their_way).remove(&key).unwrap_or_default()
    }

    /// Counts what came again while a finding was on its way.
    fn count_again(&self, pending: &Finding, arrived: &Finding) {
        for (round, step) in self.arrived(pending) {
            self.count_known(&arrived.signature, round, step, None);
        }
    }

    /// Gives a finding its place that is told apart by itself: a crash by its place, what does not repeat by all it has.
    pub(super) fn settle_as_it_is(&self, waiting: Waiting) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        reproduction.finding.stage = Stage::Unreduced;
        let place = self.claim(&reproduction, &folder, None);
        self.shared.state().expect_no_more(&reproduction.finding.signature);
        self.count_again(&pending, &reproduction.finding);
        let place = place?;
        if let Some(folder) = place
            && !reproduction.finding.flaky
        {
            self.put(Waiting { reproduction, folder, settled: true });
        }
        Ok(())
    }

    /// Tells a finding apart by what it came down to, and gives it its place.
    pub(super) fn settle(
        &self,
        waiting: Waiting,
        reduced: Option<ReducedFinding>,
    ) -> Result<(), CampaignError> {
        let Waiting { mut reproduction, folder, .. } = waiting;
        let pending = reproduction.finding.clone();
        let small = match reduced {
            Some(reduced) => {
                reproduction.finding = reduced.finding;
                Some(reduced.small)
            }
            None => {
                // Not told apart by what it comes down to, but by all it has: most likely it is what it resembles.
                let alike = self.shared.state().resembling(&reproduction.finding.signature);
                reproduction.finding.stage = Stage::Unreduced;
                if let Some(signature) = alike {
                    reproduction.finding.signature = signature;
                }
                None
            }
        };
        let claimed = self.claim(&reproduction, &folder, small.as_ref());
        self.count_again(&pending, &reproduction.finding);
        claimed.map(|_| ())
    }

    /// Claims the signature: the finding is new and gets its folder, which is returned, or its input joins a known one's.
    fn claim(
        &self,
        reproduction: &Reproduction,
        pending: &Path,
        small: Option<&Small>,
    ) -> Result<Option<PathBuf>, CampaignError> {
        let Reproduction { finding, input, witness, ancestors, .. } = reproduction;
        let origin = &finding.provenance;
        let (unwanted, full) = {
            let state = self.shared.state();
            (state.is_suppressed(&finding.signature), state.found() >= FINDINGS)
        };
        let known = known_as(finding);
        let ours = match unwanted || full {
            true => false,
            false => match lock(self.store).claim(&known)? {
                Claim::New => true,
                // Claimed by this very test case: whoever did it was killed before the folder was there.
                Claim::Known(other) => {
                    (other.round, other.step) == (known.round, known.step)
                        && !self.shared.bugs().join(&other.folder).join("finding.json").is_file()
                }
            },
        };
        if !ours {
            self.count_known(&finding.signature, origin.round, origin.step, Some(input));
            remove(pending)?;
            return Ok(None);
        }
        let folder = match finding.write(self.shared.bugs(), input, witness.as_deref(), small) {
            Ok(folder) => folder,
            Err(error) => {
                // The disk's error is what the user has to hear of.
                let _ = lock(self.store).release(&known.hash);
                return Err(error);
            }
        };
        let name = known.folder.clone();
        {
            let mut state = self.shared.state();
            state.know(known, Some(&finding.signature));
            state.need(ancestors);
            state.credit_finding(finding);
            self.shared.stop.count_findings(state.take_found());
        }
        if folder != pending {
            remove(pending)?;
        }
        self.shared.observer.found(finding, &folder);
        self.shared.log.write(&Line::Finding {
            round: origin.round,
            step: origin.step,
            kind: finding.kind.word(),
            solver: &finding.solver,
            signature: &finding.signature.to_string(),
            folder: &name,
        })?;
        self.shared.log.flush()?;
        Ok(Some(folder))
    }
}

/// A finding as the store knows it.
pub(super) fn known_as(finding: &Finding) -> KnownFinding {
    KnownFinding {
        hash: finding.hash(),
        signature: finding.signature.to_string(),
        kind: finding.kind.to_string(),
        solver: finding.solver.clone(),
        folder: finding.folder_name(),
        round: finding.provenance.round,
        step: finding.provenance.step as u64,
        duplicates: 0,
        flaky: finding.flaky,
    }
}

/// Is it told apart without being made small? A crash by its place; and what does not repeat cannot be reduced.
pub(super) fn tells_itself_apart(finding: &Finding) -> bool {
    finding.signature.names_a_place() || finding.flaky
}

fn remove(folder: &Path) -> Result<(), CampaignError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CampaignError::disk(folder, error)),
        _ => Ok(()),
    }
}
