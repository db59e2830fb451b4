//! Scripts run one after the other to see what they reach.

use std::time::Duration;

use crate::adapter::RunRequest;
use crate::fast::ExecMode;
use crate::launch::{ATTEMPTS, Launcher, LauncherConfig, Outcome};
use crate::limits::Limits;
use crate::solver::Solver;

use super::{Code, CoverageError, ProbeRequest, Trace};

/// Runs one solver on scripts and tells what they reach.
pub struct Explorer {
    launcher: Launcher,
    solver: Solver,
    probe: Option<ProbeRequest>,
    limits: Limits,
    mode: ExecMode,
}

impl Explorer {
    /// With a launcher of its own, to which all code is new, and the best of the fast starts.
    pub fn new(
        solver: &Solver,
        code: &Code,
        trace: Trace,
        limits: Limits,
    ) -> Result<Explorer, CoverageError> {
        Explorer::start(solver, Some(code.probe(trace)), limits)
    }

    /// The same runs without the probe: what it is measured against.
    pub fn blind(solver: &Solver, limits: Limits) -> Result<Explorer, CoverageError> {
        Explorer::start(solver, None, limits)
    }

    fn start(
        solver: &Solver,
        probe: Option<ProbeRequest>,
        limits: Limits,
    ) -> Result<Explorer, CoverageError> {
        let mode = solver.fast_modes().next().unwrap_or(ExecMode::Plain);
        let launcher = Launcher::new(LauncherConfig::default())?;
        Ok(Explorer { launcher, solver: solver.clone(), probe, limits, mode })
    }

    /// With another kind of start.
    #[must_use]
    pub fn starting(mut self, mode: ExecMode) -> Explorer {
        self.mode = mode;
        self
    }

    /// CPU time that the launcher itself has used so far.
    pub fn launcher_cpu(&mut self) -> Result<Duration, CoverageError> {
        Ok(self.launcher.own_usage()?.launcher)
    }

    /// Runs a script: what came of it, and the sites it has reached. None without the probe.
    pub fn run(&mut self, script: &[u8]) -> Result<(Outcome, Vec<u32>), CoverageError> {
        self.run_with(script, &RunRequest::default())
    }

    /// The same with settings of the solver.
    pub fn run_with(
        &mut self,
        script: &[u8],
        request: &RunRequest,
    ) -> Result<(Outcome, Vec<u32>), CoverageError> {
        let mut invocation = self.solver.invocation(script, request)?;
        invocation.limits = self.limits.clone();
        invocation.mode = self.mode;
        invocation.probe = self.probe.clone();
        let mut outcome = self.launcher.run_retrying(&invocation, ATTEMPTS)?;
        match outcome.sites.take() {
            None => Ok((outcome, Vec::new())),
            Some(Ok(sites)) => Ok((outcome, sites)),
            Some(Err(why)) => Err(CoverageError::Unwatchable { solver: self.solver.name(), why }),
        }
    }
}
