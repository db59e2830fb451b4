//! `osprey bench eval-diff`: the evaluator against solvers.

use anyhow::Result;
use bench::eval_diff::EvalDiff;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::solver_choice;

/// Compare the evaluator with solvers, operator by operator
#[derive(Args)]
#[command(
    name = "eval-diff",
    after_help = "\
Examples:
  osprey bench eval-diff                                     all operators, Z3 5.4.0 and cvc5 1.4.2
  osprey bench eval-diff --operator str.replace_re --cases 5000 -s cvc5@1.4.2

Exit code 10 if a solver denies one of our values and nobody knows why."
)]
pub struct EvalDiffCommand {
    /// A solver to compare with; may be repeated
    #[arg(short, long = "solver", value_name = "SPEC", default_values = ["z3@5.4.0", "cvc5@1.4.2"])]
    solvers: Vec<String>,

    /// Cases of each operator
    #[arg(long, value_name = "N", default_value_t = 200)]
    cases: usize,

    /// Only this operator, by its name in SMT-LIB
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,

    /// Where random choices start
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl EvalDiffCommand {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let settings = EvalDiff {
            solvers: solver_choice::resolve(&solvers, &self.solvers)?,
            cases: self.cases,
            operator: self.operator,
            rng_seed: self.rng_seed,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let outcome = settings.run(&Terminal::new())?;
        self.common.publish(&outcome.report)?;
        Ok(if outcome.unexplained() > 0 { Exit::Findings } else { Exit::Clean })
    }
}
