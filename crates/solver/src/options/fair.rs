//! Choosing options a developer would accept a report about.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::Rng;
use smtlib::Setting;

use super::{OptionKind, OptionTable, SolverOption};
use crate::solver::Solver;

/// How many options one test case sets when the adapter does not say.
const USUAL_TOTAL: usize = 3;

impl Solver {
    /// A random set of options within the adapter's rules: at least one, none that is excluded, none that the user has
    /// set already, no more of a category than its developers allow. Every chosen value is legal and differs from the
    /// default. Empty only when nothing is left to choose from.
    pub fn fair_options(&self, table: &OptionTable, rng: &mut impl Rng) -> Vec<Setting> {
        let rules = &self.adapter.options;
        let total = self.fair_total();
        let wanted = 1 + below(rng, total);
        let mut open: Vec<(&SolverOption, Vec<String>)> = table
            .options
            .iter()
            .filter(|option| option.is_fair() && !self.has_set(&option.name))
            .map(|option| (option, option.alternatives()))
            .filter(|(_, values)| !values.is_empty())
            .collect();
        let mut chosen: Vec<(&SolverOption, String)> = Vec::new();
        while chosen.len() < wanted && !open.is_empty() {
            let (option, mut values) = open.swap_remove(below(rng, open.len()));
            let of_category = chosen.iter().filter(|(other, _)| other.category == option.category).count();
            let allowed = rules.at_most.get(&option.category).copied().unwrap_or(usize::MAX);
            if of_category < allowed {
                let value = values.swap_remove(below(rng, values.len()));
                chosen.push((option, value));
            }
        }
        // The order of choice is an accident: the same set is the same command line.
        chosen.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        chosen.into_iter().map(|(option, value)| Setting::new(&option.name, value)).collect()
    }
}

impl Solver {
    /// How many options one test case may set and still be reported.
    pub fn fair_total(&self) -> usize {
        self.adapter.options.total.unwrap_or(USUAL_TOTAL).max(1)
    }

    /// Has the user set this option?
    pub fn has_set(&self, option: &str) -> bool {
        self.options.iter().any(|word| option_name(word) == option)
    }
}

/// What the developers' rules say about each option of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionRules(BTreeMap<String, Ruled>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ruled {
    category: String,
    closed: bool,
    excluded: bool,
}

impl OptionRules {
    /// Of these options.
    pub fn of(table: &OptionTable) -> OptionRules {
        let ruled = |option: &SolverOption| Ruled {
            category: option.category.clone(),
            closed: option.unfair.is_some(),
            excluded: option.excluded.is_some(),
        };
        OptionRules(table.options.iter().map(|option| (option.name.clone(), ruled(option))).collect())
    }
}

/// What the developers' rules say against a set of options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objections {
    /// Options that they take no reports about.
    pub unfair: Vec<String>,
    /// Numbers of options that they do not look at, in words.
    pub too_many: Vec<String>,
}

impl Solver {
    /// What the rules say against these options together with the user's own. Nothing is known where the solver's options
    /// have not been read.
    pub fn objections(&self, settings: &[Setting]) -> Option<Objections> {
        let OptionRules(rules) = self.rules.as_deref()?;
        let own = self.options.iter().map(|word| option_name(word));
        let names: BTreeSet<&str> =
            own.chain(settings.iter().map(|setting| setting.option.as_str())).collect();
        let ruled: Vec<(&str, &Ruled)> =
            names.into_iter().filter_map(|name| Some((name, rules.get(name)?))).collect();
        let closed = ruled.iter().filter(|(_, rule)| rule.closed);
        let unfair = closed.map(|(name, _)| (*name).to_owned()).collect();
        // What the run itself sets, such as the models it asks for, is no choice of options.
        let chosen: Vec<&Ruled> =
            ruled.iter().map(|(_, rule)| *rule).filter(|rule| !rule.excluded && !rule.closed).collect();
        let mut too_many = Vec::new();
        for (category, most) in &self.adapter.options.at_most {
            let count = chosen.iter().filter(|rule| rule.category == *category).count();
            if count > *most {
                too_many.push(format!("{count} {category} options, where they look at {most} at most"));
            }
        }
        let total = self.fair_total();
        if chosen.len() > total && too_many.is_empty() {
            too_many.push(format!("{} options, where Osprey itself reports at most {total}", chosen.len()));
        }
        Some(Objections { unfair, too_many })
    }
}

impl SolverOption {
    /// Legal values other than the default. Numbers are tried where code usually turns: the ends, small ones, half and twice
    /// the default, and four times that of a number with a point.
    pub fn alternatives(&self) -> Vec<String> {
        let default = self.default.as_deref();
        let mut values: Vec<String> = match &self.kind {
            OptionKind::Bool => vec!["true".into(), "false".into()],
            OptionKind::Choice { values } => values.clone(),
            OptionKind::Integer { minimum, maximum } => {
                let usual: i64 = default.and_then(|value| value.parse().ok()).unwrap_or(0);
                let candidates =
                    [0, 1, 2, 3, 5, 10, 100, usual / 2, usual.saturating_mul(2), usual.saturating_add(1)];
                let legal = |value: &i64| {
                    minimum.is_none_or(|minimum| *value >= minimum)
                        && maximum.is_none_or(|maximum| *value <= maximum)
                        && *value >= 0
                };
                candidates.iter().filter(|value| legal(value)).map(ToString::to_string).collect()
            }
            OptionKind::Real => {
                // Shares lie between 0 and 1; what has another scale tells it by its default.
                let mut values = ["0.1", "0.5", "0.9"].map(String::from).to_vec();
                let usual: f64 = default.and_then(|value| value.parse().ok()).unwrap_or(0.0);
                if usual.is_finite() && usual != 0.0 {
                    values.extend([0.5, 2.0, 4.0].map(|factor| decimal(factor * usual)));
                }
                values
            }
            OptionKind::Text => Vec::new(),
        };
        values.sort();
        values.dedup();
        values.retain(|value| Some(value.as_str()) != default);
        // Without knowing the default of a switch only setting it is sure to say something.
        if self.kind == OptionKind::Bool && default.is_none() {
            values.retain(|value| value == "true");
        }
        values
    }
}

/// The name in a word of the command line: `--no-name`, `--name=value`, `name=value`.
fn option_name(word: &str) -> &str {
    let word = word.strip_prefix("--").unwrap_or(word);
    let word = word.split('=').next().unwrap_or(word);
    word.strip_prefix("no-").unwrap_or(word)
}

pub(crate) fn below(rng: &mut impl Rng, bound: usize) -> usize {
    // The bias of a remainder of 64 bits over a few hundred options is far below anything measurable.
    (rng.next_u64() % bound.max(1) as u64) as usize
}

/// With a point and without an exponent, which is how solvers read numbers.
fn decimal(value: f64) -> String {
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::adapter::Adapters;
    use crate::install::{How, Installed, Source};

    fn option(name: &str, category: &str, kind: OptionKind, default: Option<&str>) -> SolverOption {
        SolverOption {
            name: name.into(),
            kind,
            default: default.map(String::from),
            category: category.into(),
            description: String::new(),
            excluded: None,
            unfair: None,
        }
    }

    fn cvc5(options: &[&str]) -> Solver {
        let adapters = Adapters::built_in();
        let installed = Installed {
            name: "cvc5".into(),
            version: Some("1.4.2".parse().expect("a version")),
            how: How::Executable { path: "cvc5".into() },
            env: Vec::new(),
            origin: Source::OnPath,
            sha256: None,
        };
        let adapter = Arc::new(adapters.get("cvc5").expect("built in").clone());
        Solver::new(installed, adapter, &[], options.iter().map(ToString::to_string).collect())
    }

    fn table() -> OptionTable {
        let integer = OptionKind::Integer { minimum: Some(1), maximum: Some(4) };
        let mut hidden = option("dump", "common", OptionKind::Bool, Some("false"));
        hidden.excluded = Some("writes files".into());
        let mut expert = option("expert-a", "expert", OptionKind::Bool, Some("false"));
        expert.unfair = Some("for experts".into());
        OptionTable {
            solver: "cvc5@1.4.2".into(),
            options: vec![
                option("common-a", "common", OptionKind::Bool, Some("true")),
                option("common-b", "common", integer, Some("2")),
                option("regular-a", "regular", OptionKind::Bool, Some("false")),
                option("regular-b", "regular", OptionKind::Bool, Some("false")),
                expert,
                hidden,
            ],
        }
    }

    #[test]
    fn cvc5s_rules_are_kept_and_every_value_says_something() {
        let solver = cvc5(&[]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let settings = solver.fair_options(&table(), &mut rng);
            let words: Vec<String> = settings.iter().map(|setting| solver.option_word(setting)).collect();
            assert!(!words.is_empty());
            assert!(words.iter().filter(|word| word.contains("regular")).count() <= 1, "{words:?}");
            seen.extend(words);
        }
        let seen: Vec<String> = seen.into_iter().collect();
        let expected =
            ["--common-b=1", "--common-b=3", "--common-b=4", "--no-common-a", "--regular-a", "--regular-b"];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_the_user_set_is_left_alone_and_the_stream_decides_the_rest() {
        let solver = cvc5(&["--no-common-a", "--common-b=3", "--regular-a", "--regular-b"]);
        assert!(solver.fair_options(&table(), &mut ChaCha8Rng::seed_from_u64(7)).is_empty());
        let free = cvc5(&[]);
        let draw = |seed| free.fair_options(&table(), &mut ChaCha8Rng::seed_from_u64(seed));
        assert_eq!(draw(5), draw(5));
    }

    #[test]
    fn numbers_with_a_point_are_tried_on_the_scale_of_their_default() {
        let values = |default| option("real", "common", OptionKind::Real, default).alternatives();
        assert_eq!(values(Some("1.5")), ["0.1", "0.5", "0.75", "0.9", "3.0", "6.0"]);
        assert_eq!(values(Some("0.5")), ["0.1", "0.25", "0.9", "1.0", "2.0"]);
        assert!(values(Some("1e-05")).contains(&"0.00002".to_owned()), "Z3 reads no exponents");
        for default in [None, Some("0"), Some("inf"), Some("a number")] {
            assert_eq!(values(default), ["0.1", "0.5", "0.9"], "{default:?}");
        }
    }

    #[test]
    fn options_themselves_tell_whether_developers_take_reports_about_them() {
        let ruled = |own: &[&str]| {
            let mut solver = cvc5(own);
            solver.rules = Some(Arc::new(OptionRules::of(&table())));
            solver
        };
        let against = |solver: &Solver, names: &[&str]| {
            let settings: Vec<Setting> = names.iter().map(|name| Setting::new(*name, "true")).collect();
            solver.objections(&settings).expect("its options are known")
        };
        let solver = ruled(&[]);
        assert_eq!(against(&solver, &["regular-a", "common-a"]), Objections::default());
        let two = against(&solver, &["regular-a", "regular-b"]);
        assert_eq!(two.too_many, ["2 regular options, where they look at 1 at most"]);
        let mut few = ruled(&[]);
        let mut adapter = (*few.adapter).clone();
        adapter.options.total = Some(1);
        few.adapter = Arc::new(adapter);
        let own = against(&few, &["regular-a", "common-a"]);
        assert_eq!(own.too_many, ["2 options, where Osprey itself reports at most 1"], "nobody else's limit");
        assert_eq!(against(&solver, &["expert-a"]).unfair, ["expert-a"]);
        assert_eq!(against(&ruled(&["--expert-a"]), &[]).unfair, ["expert-a"], "the user's own words count");
        assert_eq!(cvc5(&[]).objections(&[]), None, "nobody has read its options");
    }
}
