//! Option policies: which options a solver gets for a test case.

use std::time::Duration;

use engines::Answered;
use generate::Rng;
use smtlib::Setting;
use smtlib::logic::Usage;
use solver::options::{OptionKind, OptionTable, SolverOption};

use crate::config::PolicyName;
use crate::target::Target;

/// Decides the options of test cases. One value serves all workers.
pub trait OptionPolicy: Send + Sync {
    /// Configurations of a solver for the test cases of a chain, one run each: one, or several to compare. The settings
    /// come beside the user's own and those of the test case. They stay for a chain, since a solver with other options
    /// is started anew, which costs more than most test cases.
    fn propose(&self, target: &Target, rng: &mut Rng) -> Vec<Vec<Setting>>;

    /// What came of a configuration.
    fn observe(&self, _seen: &Observation) {}

    /// May runs ask for models and other results beside the answer? They set options too.
    fn may_ask(&self) -> bool {
        true
    }
}

/// What came of one configuration of a test case.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    pub target: &'a Target,
    pub settings: &'a [Setting],
    /// What the script uses.
    pub usage: &'a Usage,
    pub answer: Answered,
    pub cpu: Duration,
    /// New behaviour of the test case, all its runs together.
    pub novel: u32,
    pub findings: u32,
}

/// The policy of this name.
pub fn policy(name: PolicyName) -> Box<dyn OptionPolicy> {
    match name {
        PolicyName::Default => Box::new(Drawn { share: 0.25, open: false }),
        PolicyName::Fair => Box::new(Drawn { share: 0.5, open: false }),
        PolicyName::Random => Box::new(Drawn { share: 0.5, open: true }),
        PolicyName::None => Box::new(Nothing),
    }
}

/// Nothing beside what the user wrote.
pub static PLAIN: [Vec<Setting>; 1] = [Vec::new()];

struct Nothing;

impl OptionPolicy for Nothing {
    fn propose(&self, _: &Target, _: &mut Rng) -> Vec<Vec<Setting>> {
        PLAIN.to_vec()
    }

    fn may_ask(&self) -> bool {
        false
    }
}

/// Options drawn at random for a share of the chains.
struct Drawn {
    share: f64,
    /// Any options that do not change what a run means, not only those the developers stand behind.
    open: bool,
}

impl OptionPolicy for Drawn {
    fn propose(&self, target: &Target, rng: &mut Rng) -> Vec<Vec<Setting>> {
        match &target.table {
            Some(table) if rng.chance(self.share) => vec![match self.open {
                true => target.solver.fair_options(&opened(target, table), rng),
                false => target.solver.fair_options(table, rng),
            }],
            _ => PLAIN.to_vec(),
        }
    }
}

/// The table without the limits by category: what is excluded by name stays so.
fn opened(target: &Target, table: &OptionTable) -> OptionTable {
    let rules = &target.solver.adapter.options;
    let by_name =
        |option: &SolverOption| rules.exclude.iter().any(|rule| rule.pattern.is_match(&option.name));
    let mut options = table.options.clone();
    options.retain(|option| option.kind != OptionKind::Text && !by_name(option));
    for option in &mut options {
        option.excluded = None;
        // A category nobody limits.
        option.category = format!("any {}", option.category);
    }
    OptionTable { solver: table.solver.clone(), options }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        let option = |name: &str, excluded: Option<&str>| SolverOption {
            name: name.to_owned(),
            kind: OptionKind::Bool,
            default: Some("false".to_owned()),
            category: "smt".to_owned(),
            description: String::new(),
            excluded: excluded.map(str::to_owned),
        };
        let options = vec![option("smt.a", None), option("smt.b", Some("unsound by design"))];
        let target = Target::new(0, testkit::made_up("z3@5.4.0"));
        target.with_table(Some(OptionTable { solver: "z3@5.4.0".to_owned(), options }))
    }

    #[test]
    fn each_policy_sets_options_in_its_share_of_the_chains() {
        let target = target();
        let mut rng = generate::rng::stream(1, 1);
        let mut set = |name| {
            let policy = policy(name);
            let proposed = (0..400).flat_map(|_| policy.propose(&target, &mut rng));
            let proposed: Vec<Vec<Setting>> = proposed.filter(|settings| !settings.is_empty()).collect();
            assert!(
                proposed
                    .iter()
                    .flatten()
                    .all(|setting| setting.option == "smt.a" || name == PolicyName::Random)
            );
            proposed.len()
        };
        let default = set(PolicyName::Default);
        assert!((60..140).contains(&default), "{default}");
        let fair = set(PolicyName::Fair);
        assert!((150..250).contains(&fair), "{fair}");
        assert_eq!(set(PolicyName::None), 0);
        let plain = Target::new(0, testkit::made_up("z3@5.4.0"));
        assert_eq!(policy(PolicyName::Fair).propose(&plain, &mut rng), PLAIN, "a solver without a table");
    }
}
