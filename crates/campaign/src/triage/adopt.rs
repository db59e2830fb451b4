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
            let Ok((finding, _)) = Finding::read(&folder) else {
                self.tell_unreadable(folder)?;
                continue;
            };
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

    /// At the end of a campaign whose processes share a disk: takes in what those that are gone have left pending.
    pub fn adopt_left(&self, solvers: &[Solver]) -> Result<(), CampaignError> {
        let bugs = self.shared.bugs();
        let members: Vec<u32> = lock(self.store).members()?.iter().map(|member| member.pid).collect();
        for folder in findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))? {
            let Ok((finding, _)) = Finding::read(&folder) else {
                self.tell_unreadable(folder)?;
                continue;
            };
            let Stage::Pending { process, .. } = finding.stage else { continue };
            let at_work = members.contains(&process) && findings::is_running(process);
            if process != std::process::id() && !at_work && !lock(&self.left).contains(&folder) {
                self.wait_again(folder, finding, solvers, false)?;
            }
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
        let Some(solvers) = self.solvers_of(&finding, solvers) else {
            let name = finding.folder_name();
            lock(&self.left).insert(folder);
            return self.shared.log.note(&format!("{name} stays pending: a solver it rests on is not here"));
        };
        let Ok(reproduction) = Reproduction::read(&folder, finding, &solvers) else {
            return self.tell_unreadable(folder);
        };
        self.shared.state().need_by_hash(&reproduction.finding);
        lock(&self.queue).push_back(Waiting { reproduction, folder, settled });
        Ok(())
    }

    /// Nothing can be done with a folder. The user hears of it once: perhaps it can be mended by hand.
    pub(super) fn tell_unreadable(&self, folder: PathBuf) -> Result<(), CampaignError> {
        // Another process may have finished with it meanwhile.
        if !folder.is_dir() || !lock(&self.left).insert(folder.clone()) {
            return Ok(());
        }
        let text = format!("'{}' cannot be read; it is left as it is", folder.display());
        self.shared.observer.note(&text);
        self.shared.log.note(&text)
    }

    /// The solvers of a finding's runs, in their order: those of the campaign, and those that are asked for third opinions.
    /// Nothing unless all can be had: without one of them the finding would not show any more.
    fn solvers_of(&self, finding: &Finding, solvers: &[Solver]) -> Option<Vec<Solver>> {
        let of_campaign =
            |run: &RunRecord| solvers.iter().find(|solver| solver.name() == run.solver).cloned();
        let mut found: Vec<Option<Solver>> = finding.runs.iter().map(of_campaign).collect();
        if found.iter().any(Option::is_none) {
            let runner = self.runners.unwatched().ok()?;
            for (solver, run) in found.iter_mut().zip(&finding.runs).filter(|(solver, _)| solver.is_none()) {
                let third = runner.third_opinions().iter().map(|opinion| &opinion.solver);
                *solver = third.into_iter().find(|solver| solver.name() == run.solver).cloned();
            }
        }
        let found: Vec<Solver> = found.into_iter().collect::<Option<_>>()?;
        let recorded = found.into_iter().zip(&finding.runs).map(|(mut solver, run)| {
            solver.options.clone_from(&run.user_options);
            solver.leave_out_file_options();
            solver
        });
        Some(recorded.collect()).filter(|solvers: &Vec<Solver>| !solvers.is_empty())
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
