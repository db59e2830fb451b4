//! What an earlier run of the campaign left behind.

use std::path::PathBuf;

use solver::Solver;

use super::claim::known_as;
use super::queue::{Triage, Waiting};
use super::verdicts::Reproduction;
use crate::error::CampaignError;
use crate::findings::{self, Finding, RunRecord, Stage};
use crate::shared::lock;
use crate::store::Claim;

impl Triage<'_> {
    /// Takes in what an earlier run left: findings that were not told apart yet wait again, and so do those that were not
    /// made small; finished ones that the store does not know are made known. `solvers` are those of the campaign.
    pub fn adopt(&self, solvers: &[Solver]) -> Result<(), CampaignError> {
        if self.travels {
            self.share_unsent(true)?;
            return self.take_over(solvers);
        }
        let bugs = self.shared.bugs();
        let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
        // The numbers of processes are given out again: one that runs need not be one of ours.
        let members: Vec<u32> = lock(self.store).members()?.iter().map(|member| member.pid).collect();
        let at_work = |process: u32| {
            process != std::process::id() && members.contains(&process) && findings::is_running(process)
        };
        // What has a name already is made small after what has none.
        let mut settled = Vec::new();
        for folder in folders {
            let Ok((finding, _)) = Finding::read(&folder) else { continue };
            match &finding.stage {
                Stage::Pending { process, .. } if at_work(*process) => {}
                Stage::Pending { .. } => self.wait_again(folder, finding, solvers, false)?,
                Stage::Unreduced | Stage::Reduced(_) => {
                    self.make_known(&finding)?;
                    if finding.stage == Stage::Unreduced && !finding.flaky {
                        settled.push((folder, finding));
                    }
                }
            }
        }
        for (folder, finding) in settled {
            self.wait_again(folder, finding, solvers, true)?;
        }
        Ok(())
    }

    pub(super) fn wait_again(
        &self,
        folder: PathBuf,
        finding: Finding,
        solvers: &[Solver],
        settled: bool,
    ) -> Result<(), CampaignError> {
        let solver = |run: &RunRecord| {
            let mut solver = solvers.iter().find(|solver| solver.name() == run.solver)?.clone();
            solver.options = run.user_options.clone();
            solver.leave_out_file_options();
            Some(solver)
        };
        let solvers: Option<Vec<_>> = finding.runs.iter().map(solver).collect();
        let Ok(reproduction) = Reproduction::read(&folder, finding, &solvers.unwrap_or_default()) else {
            let text = format!("'{}' cannot be read; it is left as it is", folder.display());
            return self.shared.log.note(&text);
        };
        self.shared.state().need_by_hash(&reproduction.finding);
        lock(&self.queue).push_back(Waiting { reproduction, folder, settled });
        Ok(())
    }

    fn make_known(&self, finding: &Finding) -> Result<(), CampaignError> {
        let state = self.shared.state();
        let known = state.findings.all().into_iter().find(|known| known.hash == finding.hash());
        drop(state);
        if let Some(known) = known {
            self.shared.state().findings.know(known, Some(&finding.signature));
            return Ok(());
        }
        let known = known_as(finding);
        let mut there = lock(self.store).findings()?;
        // Another process may make findings known at the same time.
        while let Claim::Behind(all) = lock(self.store).claim(&known, there.len() as u64)? {
            there = all;
        }
        let mut state = self.shared.state();
        state.findings.know_all(there);
        let leads = known.leads();
        state.findings.know(known, Some(&finding.signature));
        // Found by an earlier run.
        state.findings.take_found();
        if leads {
            state.credit_finding(finding);
        }
        Ok(())
    }
}
