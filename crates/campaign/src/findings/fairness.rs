//! Whether developers would take a report about the options of a finding.

use reduce::blame::TACTIC;
use serde::Serialize;

use super::{Finding, Signature};

/// Would the developers take a report about these options? The most welcome first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// No option is needed.
    Default,
    /// Only options that the developers stand behind are needed, and no more of them than they look at.
    Fair,
    /// The user's own options are needed, and nothing is said against them.
    Own,
    /// Nobody has looked whether the developers stand behind them.
    Any,
    /// The developers take no reports about one of the options, or they are more than Osprey reports.
    Unfair,
}

impl Fairness {
    /// One word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Fairness::Default => "default",
            Fairness::Fair => "fair",
            Fairness::Own => "own",
            Fairness::Any => "any",
            Fairness::Unfair => "unfair",
        }
    }

    /// For people who ask what the word means.
    pub fn meaning(self) -> &'static str {
        match self {
            Fairness::Default => "default options",
            Fairness::Fair => "options that the developers stand behind",
            Fairness::Own => "options of whoever ran the campaign",
            Fairness::Any => "any options: nobody has looked whether the developers stand behind them",
            Fairness::Unfair => {
                "options that the developers take no reports about, or more of them than are reported"
            }
        }
    }
}

impl Finding {
    /// Does the script itself set an option that is needed?
    fn is_steered(&self) -> bool {
        let Signature::Constructs(constructs) = &self.signature else { return false };
        let words = self.runs.first().map(|run| run.arguments.as_slice()).unwrap_or_default();
        constructs.options.iter().any(|option| !words.contains(option) && !option.starts_with(TACTIC))
    }

    /// Would the developers take a report about the options that the accused was given? The options themselves tell, not the
    /// policy that chose them: a policy sets what another one would not, and a reduction leaves few of them.
    pub fn fairness(&self) -> Fairness {
        let Some(run) = self.runs.first() else { return Fairness::Default };
        match run {
            run if !run.unfair.is_empty() || !run.too_many.is_empty() => Fairness::Unfair,
            run if !run.user_options.is_empty() => Fairness::Own,
            // Nobody has looked at what the script sets itself.
            run if run.settings.is_empty() && self.is_steered() => Fairness::Any,
            run if run.settings.is_empty() => Fairness::Default,
            run if run.judged => Fairness::Fair,
            _ => Fairness::Any,
        }
    }
}
