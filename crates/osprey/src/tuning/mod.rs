//! Settings of engines on the command line, the same for every command that runs engines.

use clap::Args;
use engines::{Diver, Storm, Tuning};

mod learned;
mod values;

pub use learned::LearnedArguments;
use values::ValuesSettings;

/// What users may set of engines.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Engine settings")]
pub struct EngineSettings {
    /// DIVER: choose places uniformly, not by how weakly they are constrained
    #[arg(long)]
    diver_uniform: bool,

    /// DIVER: no fresh variables
    #[arg(long)]
    diver_no_complicate: bool,

    /// DIVER: up to this many extra options of each solver per mutant, drawn from those its developers stand behind
    #[arg(long, value_name = "N")]
    diver_options: Option<usize>,

    /// DIVER: no functions but those of the SMT-LIB standard, though the solvers have more
    #[arg(long)]
    diver_standard_only: bool,

    /// STORM: the pools and bounds of the paper: no random formulas for small seeds, no bound of assertions by the pool, and and not alone
    #[arg(long, conflicts_with = "storm_extended")]
    storm_paper: bool,

    /// STORM: construct with or, xor, => and ite too in every round, not in half of them
    #[arg(long)]
    storm_extended: bool,

    /// STORM: at most this many assertions
    #[arg(long, value_name = "N")]
    storm_assertions: Option<usize>,

    /// STORM: at most this many Boolean levels
    #[arg(long, value_name = "N")]
    storm_depth: Option<u32>,

    /// STORM: probability of an incremental instance
    #[arg(long, value_name = "P")]
    storm_incremental: Option<f64>,

    #[command(flatten)]
    values: ValuesSettings,

    /// STORM and DIVER: allow witnesses that fix what the standard leaves open
    #[arg(long)]
    open_cases: bool,
}

impl EngineSettings {
    /// Has the user set nothing?
    pub fn is_empty(&self) -> bool {
        *self == EngineSettings::default()
    }

    pub fn tuning(&self) -> Tuning {
        let (storm, diver) = (Storm::default(), Diver::default());
        let storm = if self.storm_paper { storm.as_in_the_paper() } else { storm };
        Tuning {
            storm: Storm {
                extended: if self.storm_extended { 1.0 } else { storm.extended },
                max_assertions: self.storm_assertions.unwrap_or(storm.max_assertions),
                max_depth: self.storm_depth.unwrap_or(storm.max_depth),
                incremental: self.storm_incremental.unwrap_or(storm.incremental),
                open_cases: self.open_cases,
                ..storm
            },
            diver: Diver {
                uniform: self.diver_uniform,
                complicate: if self.diver_no_complicate { 0.0 } else { diver.complicate },
                open_cases: self.open_cases,
                standard_only: self.diver_standard_only,
                options: self.diver_options.unwrap_or(diver.options),
                ..diver
            },
            values: self.values.settings(),
        }
    }
}
