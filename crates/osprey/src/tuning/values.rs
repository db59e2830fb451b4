//! Settings of the engine `values`: the paper's configurations, and its refinements by their names there.

use clap::Args;
use engines::Values;
use engines::values::{Preset, Quantifiers};

/// What users may set of `values`. Switches add to the configuration that is chosen.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct ValuesSettings {
    /// ValFuzz: configuration of the paper (blendb, blenda, blendbleaf, skolu, adomain, relc3, rbase, ...)
    #[arg(long, value_name = "NAME")]
    values_preset: Option<Preset>,

    /// ValFuzz: what becomes of quantified variables: skolu, noskole, mixed or dual
    #[arg(long, value_name = "HOW")]
    values_quantifiers: Option<Quantifiers>,

    /// ValFuzz, ADOMAIN: monitors for the abstract domain of each variable
    #[arg(long)]
    values_adomain: bool,

    /// ValFuzz, ADOMAINE: the same for each sub-expression
    #[arg(long)]
    values_adomaine: bool,

    /// ValFuzz, LEAFOPT: monitors only for Boolean sub-expressions with no other inside
    #[arg(long)]
    values_leafopt: bool,

    /// ValFuzz, CPOG: meta-formulas with the seed's assertions, and with each of them negated
    #[arg(long)]
    values_cpog: bool,

    /// ValFuzz, EFFINAL: enforced monitors stay in the mutant
    #[arg(long)]
    values_effinal: bool,

    /// ValFuzz, RBASE: random constants, no monitors
    #[arg(long)]
    values_rbase: bool,

    /// ValFuzz, MULTIEF: monitors enforced at once
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    values_multief: Option<usize>,

    /// ValFuzz, RELC: constants whose relations are monitored
    #[arg(long, value_name = "N")]
    values_relc: Option<usize>,

    /// ValFuzz: enforcements per round
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    values_iterations: Option<usize>,

    /// ValFuzz: models of each enforcement, from one solver after the other
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    values_models: Option<u32>,

    /// ValFuzz: further models of each enforcement with other constants than before
    #[arg(long, value_name = "N")]
    values_blocked: Option<u32>,

    /// ValFuzz: further mutants of each model with some of the seed's constants
    #[arg(long, value_name = "N")]
    values_near: Option<u32>,

    /// ValFuzz: truth values likely to be possible together; fewer where they are not
    #[arg(long)]
    values_soft: bool,

    /// ValFuzz: only truth values that are possible and not yet covered are enforced, also with a preset, which else draws
    /// them as the author's program does; --values-soft does the same
    #[arg(long)]
    values_directed: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("'{text}' is no number above 0")),
    }
}

impl ValuesSettings {
    pub fn settings(&self) -> Values {
        let values = self.values_preset.map_or_else(Values::default, Preset::settings);
        Values {
            quantifiers: self.values_quantifiers.unwrap_or(values.quantifiers),
            adomain: self.values_adomain || values.adomain,
            adomaine: self.values_adomaine || values.adomaine,
            leafopt: self.values_leafopt || values.leafopt,
            cpog: self.values_cpog || values.cpog,
            effinal: self.values_effinal || values.effinal,
            rbase: self.values_rbase || values.rbase,
            multief: self.values_multief.unwrap_or(values.multief),
            relc: self.values_relc.unwrap_or(values.relc),
            iterations: self.values_iterations.unwrap_or(values.iterations),
            models: self.values_models.unwrap_or(values.models),
            blocked: self.values_blocked.unwrap_or(values.blocked),
            near: self.values_near.unwrap_or(values.near),
            soft: self.values_soft || values.soft,
            // Softening has a goal that stays, which the author's program has not.
            paper: values.paper && !self.values_soft && !self.values_directed,
            possible: values.possible || self.values_soft || self.values_directed,
            ..values
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: ValuesSettings,
    }

    fn read(words: &str) -> Result<Values, String> {
        let words = std::iter::once("osprey").chain(words.split_whitespace());
        Line::try_parse_from(words).map(|line| line.settings.settings()).map_err(|error| error.to_string())
    }

    #[test]
    fn without_flags_the_engine_is_the_default() {
        assert_eq!(read(""), Ok(Values::default()));
    }

    #[test]
    fn every_configuration_of_the_paper_is_a_preset() {
        for preset in Preset::all() {
            assert_eq!(read(&format!("--values-preset {preset}")), Ok(preset.settings()));
        }
        let error = read("--values-preset blendc").expect_err("no such configuration");
        assert!(error.contains("blendbleaf"), "{error}");
    }

    #[test]
    fn every_refinement_is_a_switch_on_top_of_the_basic_approach() {
        let made = [
            ("--values-adomain", Preset::Adomain),
            ("--values-adomaine", Preset::Adomaine),
            ("--values-leafopt", Preset::Leafopt),
            ("--values-cpog", Preset::Cpog),
            ("--values-effinal", Preset::Effinal),
            ("--values-rbase", Preset::Rbase),
            ("--values-multief 7", Preset::Multief7),
            ("--values-relc 3", Preset::Relc3),
            ("--values-quantifiers noskole", Preset::Noskole),
            ("--values-adomain --values-cpog", Preset::BlendA),
            ("--values-adomain --values-relc 3 --values-multief 7", Preset::BlendB),
        ];
        for (flags, preset) in made {
            assert_eq!(read(&format!("--values-preset skolu {flags}")), Ok(preset.settings()), "{flags}");
        }
    }

    #[test]
    fn what_is_not_in_the_paper_can_be_set_too() {
        let words = "--values-preset skolu --values-quantifiers mixed --values-iterations 9 --values-models 3 \
            --values-blocked 2 --values-near 4 --values-soft";
        let expected = Values {
            quantifiers: Quantifiers::Mixed,
            iterations: 9,
            models: 3,
            blocked: 2,
            near: 4,
            soft: true,
            paper: false,
            possible: true,
            ..Preset::Skolu.settings()
        };
        assert_eq!(read(words), Ok(expected));
        let directed = Values { paper: false, possible: true, ..Preset::BlendA.settings() };
        assert_eq!(read("--values-preset blenda --values-directed"), Ok(directed));
        assert_eq!(read("--values-directed"), Ok(Values::default()));
        for flag in ["--values-multief 0", "--values-iterations 0", "--values-models 0", "--values-models x"]
        {
            assert!(read(flag).is_err(), "{flag}");
        }
    }
}
