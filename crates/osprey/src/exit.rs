//! Exit codes: a contract with scripts that call osprey.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use banditfuzz::PerfError;
use bench::BenchError;
use campaign::CampaignError;
use campaign::store::StoreError;
use reduce::ReduceError;
use report::ReportError;
use solver::InstallError;
use solver::coverage::CoverageError;
use solver::launch::LaunchError;
use solver::run::RunError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// All went well and nothing was found.
    Clean = 0,
    /// A command line or a file that cannot be understood.
    Usage = 2,
    /// A defect of osprey itself.
    Internal = 3,
    /// A solver cannot be installed or started.
    Solver = 4,
    /// The disk is full or cannot be written.
    Disk = 5,
    /// Findings.
    Findings = 10,
    /// `eval`: no assertion is false, but not all could be decided.
    Undecided = 11,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A result that could not be kept: the disk is to blame, whatever the command was.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what}: {source}")]
pub struct DiskError {
    pub what: String,
    pub source: io::Error,
}

/// The code for an error that ended a command: the first cause that is about solvers or the disk decides.
pub fn of_error(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<InstallError>() {
            return of_installation(error);
        }
        if let Some(error) = cause.downcast_ref::<LaunchError>() {
            return of_launch(error);
        }
        if let Some(error) = cause.downcast_ref::<RunError>() {
            return of_run(error);
        }
        if let Some(error) = cause.downcast_ref::<CoverageError>() {
            return match error {
                CoverageError::Launch(error) => of_launch(error),
                CoverageError::Install(error) => of_installation(error),
                _ => Exit::Solver,
            };
        }
        if cause.downcast_ref::<solver::options::OptionsError>().is_some() {
            return Exit::Solver;
        }
        if let Some(error) = cause.downcast_ref::<ReduceError>() {
            return of_reduction(error);
        }
        if let Some(error) = cause.downcast_ref::<CampaignError>() {
            return of_campaign(error);
        }
        if let Some(error) = cause.downcast_ref::<PerfError>() {
            return of_perf(error);
        }
        if let Some(error) = cause.downcast_ref::<ReportError>() {
            return of_report(error);
        }
        if let Some(BenchError::Perf(error)) = cause.downcast_ref::<BenchError>() {
            return of_perf(error);
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return if error.is_disk() { Exit::Disk } else { of_store(error) };
        }
        if matches!(cause.downcast_ref::<BenchError>(), Some(BenchError::Write { .. })) {
            return Exit::Disk;
        }
        if cause.downcast_ref::<DiskError>().is_some() {
            return Exit::Disk;
        }
    }
    Exit::Usage
}

fn of_campaign(error: &CampaignError) -> Exit {
    match error {
        CampaignError::Reduce(error) => of_reduction(error),
        CampaignError::Solver { .. } => Exit::Solver,
        error if error.is_disk() => Exit::Disk,
        CampaignError::Internal(_) => Exit::Internal,
        CampaignError::Store(error) => of_store(error),
        _ => Exit::Usage,
    }
}

fn of_perf(error: &PerfError) -> Exit {
    match error {
        PerfError::Run(error) => of_run(error),
        PerfError::Reduce(error) => of_reduction(error),
        PerfError::Campaign(error) => of_campaign(error),
        PerfError::Usage(_) | PerfError::Grammar(_) | PerfError::Damaged { .. } => Exit::Usage,
    }
}

fn of_report(error: &ReportError) -> Exit {
    match error {
        ReportError::Campaign(error) => of_campaign(error),
        error if error.is_disk() => Exit::Disk,
        _ => Exit::Usage,
    }
}

fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::Damaged { .. } | StoreError::Backend { .. } | StoreError::ReadOnly => Exit::Internal,
        _ => Exit::Usage,
    }
}

fn of_installation(error: &InstallError) -> Exit {
    match error {
        InstallError::Spec(_) => Exit::Usage,
        InstallError::Disk { .. } => Exit::Disk,
        InstallError::Launcher(_) => Exit::Internal,
        _ => Exit::Solver,
    }
}

fn of_launch(error: &LaunchError) -> Exit {
    if matches!(error, LaunchError::Disk(_)) {
        return Exit::Disk;
    }
    if error.concerns_solver() { Exit::Solver } else { Exit::Internal }
}

/// The code for a run that could not be made.
fn of_run(error: &RunError) -> Exit {
    match error {
        RunError::Install(error) => of_installation(error),
        RunError::Launch(error) => of_launch(error),
        RunError::Changed { .. } | RunError::Broken { .. } | RunError::KillsLauncher { .. } => Exit::Solver,
    }
}

/// The code for a reduction that could not start or go on.
fn of_reduction(error: &ReduceError) -> Exit {
    match error {
        ReduceError::Disk(_) => Exit::Disk,
        ReduceError::Run(error) => of_run(error),
        ReduceError::Launch(error) => of_launch(error),
        ReduceError::NotInteresting(_)
        | ReduceError::Flaky { .. }
        | ReduceError::AlwaysTrue
        | ReduceError::TooSlow(_) => Exit::Usage,
    }
}

/// A campaign's error that names the folder it is about.
pub fn naming(error: CampaignError, out: &Path) -> anyhow::Error {
    let named = error.to_string().contains(&out.display().to_string());
    let about_folder = error.is_disk() || matches!(error, CampaignError::Store(_));
    match about_folder && !named {
        true => anyhow::Error::from(error).context(format!("the campaign in '{}'", out.display())),
        false => error.into(),
    }
}

/// The error with its causes, each said once: many messages quote their cause already.
pub fn described(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let said = cause.to_string();
        if text.is_empty() {
            text = said;
        } else if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn the_cause_decides_the_code_however_deep_it_lies() {
        let unknown = InstallError::UnknownSolver { name: "z4".into(), nearest: vec!["z3".into()] };
        let wrapped = Err::<(), _>(unknown).context("while preparing").expect_err("an error");
        assert_eq!(of_error(&wrapped), Exit::Solver);
        let spec: InstallError = solver::spec::SpecError::Empty.into();
        assert_eq!(of_error(&spec.into()), Exit::Usage);
        let run: RunError = LaunchError::NotFound { program: "z3".into() }.into();
        assert_eq!(of_error(&run.into()), Exit::Solver);
        let ours: RunError = LaunchError::LauncherDied.into();
        assert_eq!(of_error(&ours.into()), Exit::Internal);
        let full = DiskError { what: "findings".into(), source: io::ErrorKind::StorageFull.into() };
        assert_eq!(of_error(&full.into()), Exit::Disk);
        assert_eq!(of_error(&anyhow::anyhow!("no such file")), Exit::Usage);
    }

    #[test]
    fn a_cause_that_was_quoted_is_not_said_again() {
        let error =
            anyhow::anyhow!("no such file").context("in a.smt2: no such file").context("while reading");
        assert_eq!(described(&error), "while reading: in a.smt2: no such file");
    }
}
