//! `osprey bench precision`: learned pairs of options and operations, tried again.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use bench::precision::Precision;
use clap::Args;
use falcon::Correlations;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Sample pairs of options and operations that were learned, and see whether the option changes anything
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench precision -s z3@5.4.0
  osprey bench precision -s cvc5@1.4.2 --correlations cvc5.json --pairs 20

Pairs are sampled for integers, bit-vectors and strings, those of options that matter for nearly everything apart. Each
option is changed alone on fresh formulas with the operation.")]
pub struct PrecisionCommand {
    /// The solver
    #[arg(short, long = "solver", value_name = "SPEC")]
    solver: String,

    /// What was learned; unless given, what comes with osprey
    #[arg(long, value_name = "FILE")]
    correlations: Option<PathBuf>,

    /// Pairs of each theory
    #[arg(long, value_name = "N", default_value_t = 100)]
    pairs: usize,

    /// Fresh formulas of each pair
    #[arg(long, value_name = "N", default_value_t = 10)]
    formulas: usize,

    /// CPU time of one run, in whole seconds
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = duration::parse)]
    timeout: Duration,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl PrecisionCommand {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let mut found = solver_choice::resolve(&solvers, std::slice::from_ref(&self.solver))?;
        let (Some(solver), true) = (found.pop(), found.is_empty()) else {
            bail!("'{}' is not one solver", self.solver);
        };
        let (name, version) = solver_choice::release_of(&solver);
        let known = match &self.correlations {
            Some(path) => Correlations::load(path)?,
            None => match falcon::shipped(&name, &version) {
                Some(known) => known,
                None => bail!("nothing has been learned about {name}@{version}: give --correlations FILE"),
            },
        };
        if !known.is_of(&name, &version) {
            bail!("the correlations are about {}, not about {name}@{version}", known.release());
        }
        let settings = Precision {
            table: solver.option_table(solvers.home())?,
            solver,
            known,
            home: solvers.home().clone(),
            pairs: self.pairs,
            formulas: self.formulas,
            timeout: self.timeout,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
