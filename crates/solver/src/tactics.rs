//! Tactics for the checks of a script: `(check-sat-using (then simplify smt))`.

use rand_core::Rng;

use crate::adapter::{TacticRule, covers};
use crate::options::below;
use crate::solver::Solver;

/// Steps before the last one, at most.
const STEPS: usize = 3;

/// A tactic that all of these solvers have for a logic, from the lists of their adapters: some steps, then one that decides.
/// Half of them are made for that logic, where there are any. `None` if a solver has no tactics, or they have none in
/// common.
pub fn draw(solvers: &[&Solver], logic: &str, rng: &mut impl Rng) -> Option<String> {
    let (first, others) = solvers.split_first()?;
    let common = |rules: fn(&Solver) -> &[TacticRule], own: bool| -> Vec<&str> {
        let mut names = available(first, rules(first), logic, own);
        names.retain(|name| {
            others.iter().all(|other| available(other, rules(other), logic, own).contains(name))
        });
        names
    };
    let mut one = |rules: fn(&Solver) -> &[TacticRule]| -> Option<&str> {
        let own = common(rules, true);
        let own = if below(rng, 2) == 0 || own.is_empty() { common(rules, false) } else { own };
        own.get(below(rng, own.len())).copied()
    };
    let last = one(|solver| &solver.adapter.tactics.solvers)?;
    let chosen: Vec<&str> = (0..STEPS).filter_map(|_| one(|solver| &solver.adapter.tactics.steps)).collect();
    let count = below(rng, chosen.len() + 1);
    if count == 0 {
        return Some(last.to_owned());
    }
    Some(format!("(then {} {last})", chosen[..count].join(" ")))
}

/// The tactics of these rules that the release has and that are not excluded: those for any logic, or those for this one.
fn available<'s>(solver: &'s Solver, rules: &'s [TacticRule], logic: &str, own: bool) -> Vec<&'s str> {
    let excluded = |name: &str| {
        let rules = &solver.adapter.tactics.exclude;
        rules
            .iter()
            .any(|rule| covers(&rule.since, &rule.before, solver.version()) && rule.pattern.is_match(name))
    };
    let fits = |rule: &&TacticRule| match &rule.logics {
        Some(logics) => own && logics.is_match(logic),
        None => !own,
    };
    let covering = rules.iter().filter(|rule| covers(&rule.since, &rule.before, solver.version()));
    let fitting = covering.filter(fits);
    fitting.flat_map(|rule| rule.names.iter().map(String::as_str)).filter(|name| !excluded(name)).collect()
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
        assert_eq!(draw(&[], "ALL", &mut rng), None);
        assert_eq!(draw(&[&new, &other], "ALL", &mut rng), None, "cvc5 has no tactics");
        let mut words = |solvers: &[&Solver], logic: &str| -> BTreeSet<String> {
            let drawn = (0..2000).filter_map(|_| draw(solvers, logic, &mut rng));
            let split = |c: char| c.is_whitespace() || "()".contains(c);
            drawn.flat_map(|tactic| tactic.split(split).map(str::to_owned).collect::<Vec<_>>()).collect()
        };
        let (of_both, of_new) = (words(&[&old, &new], "ALL"), words(&[&new], "ALL"));
        assert!(of_both.contains("solve-eqs") && of_both.contains("smt"));
        assert!(of_new.contains("propagate-values2") && !of_both.contains("propagate-values2"));
        for excluded in ["add-bounds", "nla2bv", "qfbv-sls", "fail"] {
            assert!(!of_new.contains(excluded), "{excluded}");
        }
        for (logic, own) in
            [("QF_NRA", "qfnra-nlsat"), ("QF_BV", "qfbv"), ("QF_LIA", "lia2pb"), ("LRA", "lra")]
        {
            let drawn = words(&[&old, &new], logic);
            assert!(drawn.contains(own) && drawn.contains("smt"), "{logic}: {drawn:?}");
            assert!(!words(&[&old, &new], "QF_S").contains(own), "{own} is for {logic}");
        }
        assert!(!words(&[&new], "QF_NRA").contains("bit-blast"));
    }
}
