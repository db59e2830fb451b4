//! Tactics for the checks of a script: `(check-sat-using (then simplify smt))`.

use rand_core::Rng;

use crate::adapter::{TacticRule, covers};
use crate::options::below;
use crate::solver::Solver;

/// Steps before the last one, at most.
const STEPS: usize = 3;

/// A tactic that all of these solvers have, from the lists of their adapters: some steps, then one that decides. `None`
/// if a solver has no tactics, or they have none in common.
pub fn draw(solvers: &[&Solver], rng: &mut impl Rng) -> Option<String> {
    let (first, others) = solvers.split_first()?;
    let common = |rules: fn(&Solver) -> &[TacticRule]| -> Vec<&str> {
        let mut names = available(first, rules(first));
        names.retain(|name| others.iter().all(|other| available(other, rules(other)).contains(name)));
        names
    };
    let steps = common(|solver| &solver.adapter.tactics.steps);
    let last = common(|solver| &solver.adapter.tactics.solvers);
    let last = *last.get(below(rng, last.len()))?;
    let count = if steps.is_empty() { 0 } else { below(rng, STEPS + 1) };
    if count == 0 {
        return Some(last.to_owned());
    }
    let chosen: Vec<&str> = (0..count).map(|_| steps[below(rng, steps.len())]).collect();
    Some(format!("(then {} {last})", chosen.join(" ")))
}

/// The tactics of these rules that the release has and that are not excluded.
fn available<'s>(solver: &'s Solver, rules: &'s [TacticRule]) -> Vec<&'s str> {
    let excluded = |name: &str| {
        let rules = &solver.adapter.tactics.exclude;
        rules
            .iter()
            .any(|rule| covers(&rule.since, &rule.before, solver.version()) && rule.pattern.is_match(name))
    };
    let covering = rules.iter().filter(|rule| covers(&rule.since, &rule.before, solver.version()));
    covering.flat_map(|rule| rule.names.iter().map(String::as_str)).filter(|name| !excluded(name)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::solver::tests::solver;

    #[test]
    fn a_tactic_is_one_that_every_solver_has_and_none_that_is_excluded() {
        let (old, new, other) =
            (solver("z3", Some("4.8.7"), &[]), solver("z3", Some("5.4.0"), &[]), solver("cvc5", None, &[]));
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        assert_eq!(draw(&[], &mut rng), None);
        assert_eq!(draw(&[&new, &other], &mut rng), None, "cvc5 has no tactics");
        let mut words = |solvers: &[&Solver]| -> BTreeSet<String> {
            let drawn = (0..2000).filter_map(|_| draw(solvers, &mut rng));
            let split = |c: char| c.is_whitespace() || "()".contains(c);
            drawn.flat_map(|tactic| tactic.split(split).map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        let (of_both, of_new) = (words(&[&old, &new]), words(&[&new]));
        assert!(of_both.contains("solve-eqs") && of_both.contains("smt"));
        assert!(of_new.contains("propagate-values2") && !of_both.contains("propagate-values2"));
        for excluded in ["add-bounds", "nla2bv", "qfbv-sls", "fail"] {
            assert!(!of_new.contains(excluded), "{excluded}");
        }
    }
}
