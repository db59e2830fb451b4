//! ValFuzz's refinements as switches, named as in the paper (section V and appendix A), and its configurations.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The engine and its settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Values {
    /// What becomes of variables of quantifiers (section V-C).
    pub quantifiers: Quantifiers,
    /// Monitors for the abstract domain of each variable (section V-A).
    pub adomain: bool,
    /// The same for each sub-expression.
    pub adomaine: bool,
    /// Of the Boolean sub-expressions only leaves are monitored (section V-B).
    pub leafopt: bool,
    /// Two meta-formulas: with the assertions of the skeleton, and with each of them negated (section V-D).
    pub cpog: bool,
    /// Monitors enforced at once (section V-E).
    pub multief: usize,
    /// Holes whose relations to each other are monitored (section V-F).
    pub relc: usize,
    /// Monitors and their enforcement stay in the mutant (section V-G).
    pub effinal: bool,
    /// Random values, no monitors: the baseline (section VI-B).
    pub rbase: bool,
    /// Enforcements per round; the paper's experiments have 50.
    pub iterations: usize,
    /// Models asked for each enforcement, from one solver after the other; each gives a substitution.
    pub models: u32,
    /// Further models of each enforcement that differ in the holes from those before; not in the paper.
    pub blocked: u32,
    /// Most truth values that are enforced beside the goal are those of the last model, and an enforcement without a model
    /// is tried again without those in a core of the contradiction, or without half of them; not in the paper.
    pub soft: bool,
    /// Further mutants of each model near the seed; nobody is asked for them. Not in the paper.
    pub near: u32,
    /// A meta-formula has only those monitors that are enforced: the others cost time and change nothing. In the paper it
    /// has all of them.
    pub lean: bool,
    /// Probability that a solver is asked for a model of a mutant that the enforcement's model does not satisfy: what it
    /// covers is known then. Campaigns need not ask: they tell what the model of a test run covers.
    pub own_models: f64,
    /// The model of an enforcement is never taken for one of the mutant, which has to have its own: to measure what
    /// enforcement comes to (section VI-D).
    pub own_only: bool,
    /// Enforced monitors stay in the mutant without being enforced there: how the paper measured that.
    pub monitored: bool,
    /// After so many enforcements all of which nobody decided the seed is given up; 0: never. The paper says nothing of it, and
    /// the author's program drops a file after more than three rounds of nothing but time-outs.
    pub undecided: usize,
    /// Truth values that no model of a mutant can give, such as the falsehood of an assertion, are no goals. In the paper they
    /// are enforced like all others.
    pub possible: bool,
    /// What the author's program does where ours knows better: enforcements are drawn without regard to what is covered or was
    /// tried in vain, the skeleton's model gives no mutant, languages with holes are monitored, EFFINAL tells mutants apart by
    /// what is enforced in them too, and RBASE draws uniformly.
    pub paper: bool,
    /// Larger seeds are skipped, in nodes; what is shared counts once.
    pub largest: usize,
}

impl Values {
    /// The author's ways hold for whole rounds of his configurations. A lean meta-formula is none of his: compositions, which
    /// are lean, borrow his switches for single mutants.
    pub(super) fn to_the_letter(&self) -> bool {
        self.paper && !self.lean
    }

    /// Enforcements are drawn whatever is covered: as the author does, and wherever is measured what enforcement comes to.
    pub(super) fn undirected(&self) -> bool {
        self.to_the_letter() || self.own_only
    }
}

impl Default for Values {
    /// BLENDB, the configuration that found most soundness bugs, with what is not in the paper: most combinations of seven
    /// monitors have no model, a model alone knows nothing of the seed, and questions must not cost more than tests.
    fn default() -> Values {
        Values {
            soft: true,
            near: 1,
            lean: true,
            own_models: 0.0,
            undecided: 4,
            possible: true,
            paper: false,
            ..Preset::BlendB.settings()
        }
    }
}

/// What becomes of the variables of a quantifier where a sub-expression below it is monitored (section V-C).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantifiers {
    /// Fresh constants stand for all of them, whatever the polarity.
    #[default]
    Skolu,
    /// The quantifier is copied round the sub-expression.
    Noskole,
    /// Constants for variables of `exists`; `forall` is copied.
    Mixed,
    /// Constants for variables of `forall`; `exists` is copied: the other half of Table II.
    Dual,
}

/// A configuration of the paper's Table V, or a baseline beside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Preset {
    Rbase,
    /// Random values half of which are edge values: a better baseline than the paper's.
    RbaseEdges,
    Skolu,
    Adomain,
    Adomaine,
    Cpog,
    Effinal,
    Leafopt,
    Multief7,
    Noskole,
    Relc3,
    BlendA,
    BlendB,
    BlendBLeaf,
}

/// The configurations by name, in the order of Table V.
const NAMES: [(Preset, &str); 14] = [
    (Preset::Rbase, "rbase"),
    (Preset::RbaseEdges, "rbase-edges"),
    (Preset::Skolu, "skolu"),
    (Preset::Adomain, "adomain"),
    (Preset::Adomaine, "adomaine"),
    (Preset::Cpog, "cpog"),
    (Preset::Effinal, "effinal"),
    (Preset::Leafopt, "leafopt"),
    (Preset::Multief7, "multief7"),
    (Preset::Noskole, "noskole"),
    (Preset::Relc3, "relc3"),
    (Preset::BlendA, "blenda"),
    (Preset::BlendB, "blendb"),
    (Preset::BlendBLeaf, "blendbleaf"),
];

impl Preset {
    /// All configurations.
    pub fn all() -> impl Iterator<Item = Preset> {
        NAMES.iter().map(|(preset, _)| *preset)
    }

    /// Those of Table V.
    pub fn of_table_v() -> impl Iterator<Item = Preset> {
        Preset::all().filter(|preset| *preset != Preset::RbaseEdges)
    }

    /// The configuration as settings; numbers are those that the paper found best (Figure 5).
    pub fn settings(self) -> Values {
        let basic = Values {
            quantifiers: Quantifiers::Skolu,
            adomain: false,
            adomaine: false,
            leafopt: false,
            cpog: false,
            multief: 1,
            relc: 0,
            effinal: false,
            rbase: false,
            iterations: 50,
            models: 2,
            blocked: 0,
            soft: false,
            near: 0,
            lean: false,
            own_models: 1.0,
            own_only: false,
            monitored: false,
            undecided: 0,
            possible: false,
            paper: true,
            largest: 5_000,
        };
        let blend_b = Values { adomain: true, relc: 3, multief: 7, ..basic.clone() };
        match self {
            Preset::Rbase => Values { rbase: true, ..basic },
            Preset::RbaseEdges => Values { rbase: true, paper: false, ..basic },
            Preset::Skolu => basic,
            Preset::Adomain => Values { adomain: true, ..basic },
            Preset::Adomaine => Values { adomaine: true, ..basic },
            Preset::Cpog => Values { cpog: true, ..basic },
            Preset::Effinal => Values { effinal: true, ..basic },
            Preset::Leafopt => Values { leafopt: true, ..basic },
            Preset::Multief7 => Values { multief: 7, ..basic },
            Preset::Noskole => Values { quantifiers: Quantifiers::Noskole, ..basic },
            Preset::Relc3 => Values { relc: 3, ..basic },
            Preset::BlendA => Values { adomain: true, cpog: true, ..basic },
            Preset::BlendB => blend_b,
            Preset::BlendBLeaf => Values { leafopt: true, ..blend_b },
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(preset, _)| preset == self).map_or("blendb", |(_, name)| name))
    }
}

/// A name that is none of the paper's configurations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no configuration of ValFuzz; expected {known}", known = NAMES.map(|(_, name)| name).join(", "))]
pub struct UnknownPreset(String);

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Preset, UnknownPreset> {
        let named = NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(text));
        named.map(|(preset, _)| *preset).ok_or_else(|| UnknownPreset(text.to_owned()))
    }
}

impl FromStr for Quantifiers {
    type Err = String;

    fn from_str(text: &str) -> Result<Quantifiers, String> {
        match text.to_ascii_lowercase().as_str() {
            "skolu" => Ok(Quantifiers::Skolu),
            "noskole" => Ok(Quantifiers::Noskole),
            "mixed" => Ok(Quantifiers::Mixed),
            "dual" => Ok(Quantifiers::Dual),
            _ => Err(format!(
                "'{text}' is no treatment of quantifiers; expected skolu, noskole, mixed or dual"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_is_read_by_its_name_and_differs_from_the_others() {
        let all: Vec<Preset> = Preset::all().collect();
        for (place, preset) in all.iter().enumerate() {
            assert_eq!(preset.to_string().to_uppercase().parse(), Ok(*preset));
            assert!(all[..place].iter().all(|other| other.settings() != preset.settings()), "{preset}");
        }
        let paper = Preset::BlendB.settings();
        let Values { soft, near, lean, own_models, undecided, possible, paper: letter, .. } = paper.clone();
        let ours = Values::default();
        let default = Values { soft, near, lean, own_models, undecided, possible, paper: letter, ..ours };
        assert_eq!(default, paper);
        assert_eq!(Preset::of_table_v().count(), 13);
        assert!(Preset::of_table_v().all(|preset| preset.settings().to_the_letter()));
        assert!(!Values::default().undirected() && !Preset::RbaseEdges.settings().paper);
        let error = "blendc".parse::<Preset>().expect_err("no such configuration").to_string();
        assert!(error.contains("'blendc'") && error.ends_with("blendbleaf"), "{error}");
    }

    #[test]
    fn blends_are_what_appendix_a_says() {
        let (a, b) = (Preset::BlendA.settings(), Preset::BlendB.settings());
        assert!(a.adomain && a.cpog && !a.leafopt && (a.multief, a.relc) == (1, 0));
        assert!(b.adomain && !b.cpog && !b.leafopt && (b.multief, b.relc) == (7, 3));
        assert_eq!(Preset::BlendBLeaf.settings(), Values { leafopt: true, ..b });
    }
}
