//! Settings of engines on the command line, the same for every command that runs engines.

use clap::Args;
use engines::values::{Preset, Quantifiers};
use engines::{Diver, Storm, Tuning, Values};

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

    /// STORM: construct with or, xor, => and ite too
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

    /// ValFuzz: configuration of the paper (blendb, blenda, blendbleaf, skolu, adomain, relc3, rbase, ...)
    #[arg(long, value_name = "NAME")]
    values_preset: Option<Preset>,

    /// ValFuzz: what becomes of quantified variables: skolu, noskole or mixed
    #[arg(long, value_name = "HOW")]
    values_quantifiers: Option<Quantifiers>,

    /// ValFuzz: monitors enforced at once
    #[arg(long, value_name = "N")]
    values_multief: Option<usize>,

    /// ValFuzz: constants whose relations are monitored
    #[arg(long, value_name = "N")]
    values_relc: Option<usize>,

    /// ValFuzz: enforcements per round
    #[arg(long, value_name = "N")]
    values_iterations: Option<usize>,

    /// ValFuzz: models of each enforcement, from one solver after the other
    #[arg(long, value_name = "N")]
    values_models: Option<u32>,

    /// ValFuzz: further models of each enforcement with other constants than before
    #[arg(long, value_name = "N")]
    values_blocked: Option<u32>,

    /// ValFuzz: truth values likely to be possible together; fewer where they are not
    #[arg(long)]
    values_soft: bool,

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
        let values = self.values_preset.map_or_else(Values::default, Preset::settings);
        Tuning {
            storm: Storm {
                extended: self.storm_extended,
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
            values: Values {
                quantifiers: self.values_quantifiers.unwrap_or(values.quantifiers),
                multief: self.values_multief.unwrap_or(values.multief),
                relc: self.values_relc.unwrap_or(values.relc),
                iterations: self.values_iterations.unwrap_or(values.iterations),
                models: self.values_models.unwrap_or(values.models),
                blocked: self.values_blocked.unwrap_or(values.blocked),
                soft: self.values_soft || values.soft,
                ..values
            },
        }
    }
}
