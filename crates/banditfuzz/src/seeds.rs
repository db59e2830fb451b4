//! Seeds to begin with: the logic that covers them, and those of them that all solvers have.

use std::sync::Arc;

use campaign::Target;
use smtlib::logic::Usage;
use smtlib::{Mode, Store};
use solver::Solver;

use crate::error::PerfError;

/// Texts that runs share.
pub type Seeds = Arc<[Arc<str>]>;

fn usages(seeds: &[Arc<str>]) -> Vec<Option<Usage>> {
    let mut store = Store::new();
    let clean = store.mark();
    let usage = |seed: &Arc<str>| {
        store.reset(&clean);
        let parsed = smtlib::parse(&mut store, seed.as_bytes(), Mode::Tolerant).ok()?;
        Some(smtlib::logic::usage(&store, &parsed.script))
    };
    seeds.iter().map(usage).collect()
}

/// The smallest logic that covers all seeds: what is put into them, and new inputs beside them, are of it.
pub fn logic(seeds: &[Arc<str>]) -> String {
    let mut all = Usage::default();
    for usage in usages(seeds).into_iter().flatten() {
        all.quantifiers |= usage.quantifiers;
        all.uninterpreted |= usage.uninterpreted;
        all.arrays |= usage.arrays;
        all.bitvectors |= usage.bitvectors;
        all.floats |= usage.floats;
        all.datatypes |= usage.datatypes;
        all.strings |= usage.strings;
        all.sequences |= usage.sequences;
        all.ints |= usage.ints;
        all.reals |= usage.reals;
        all.nonlinear |= usage.nonlinear;
        all.finite_fields |= usage.finite_fields;
        all.beyond |= usage.beyond;
        all.higher_order |= usage.higher_order;
        all.opaque |= usage.opaque;
    }
    all.logic()
}

/// The seeds that every solver has the means to read, and how many are left out. Refuses where none is left, and says
/// who lacks what.
pub fn for_all(seeds: &[Arc<str>], solvers: &[Solver]) -> Result<(Seeds, usize), PerfError> {
    let targets = Target::numbered(solvers.iter().cloned());
    let usages = usages(seeds);
    let accepts =
        |target: &Target, usage: &Option<Usage>| usage.as_ref().is_some_and(|usage| target.accepts(usage));
    let kept: Seeds = seeds
        .iter()
        .zip(&usages)
        .filter(|(_, usage)| targets.iter().all(|target| accepts(target, usage)))
        .map(|(seed, _)| Arc::clone(seed))
        .collect();
    if kept.is_empty() && !seeds.is_empty() {
        let without = targets.iter().find(|target| !usages.iter().any(|usage| accepts(target, usage)));
        return Err(PerfError::Usage(match without {
            Some(target) => format!(
                "{} has the means for none of the {} seeds (together {}): leave the solver out, or take other seeds",
                target.name,
                seeds.len(),
                logic(seeds)
            ),
            None => format!("none of the {} seeds can be read by all solvers: take other seeds", seeds.len()),
        }));
    }
    let left_out = seeds.len() - kept.len();
    Ok((kept, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRINGS: &str = "(set-logic ALL)(declare-const s String)(assert (str.prefixof s \"a\"))(check-sat)";
    const INTEGERS: &str = "(set-logic QF_LIA)(declare-const x Int)(assert (< x 3))(check-sat)";
    const PRODUCT: &str = "(set-logic QF_NIA)(declare-const x Int)(assert (< (* x x) 3))(check-sat)";

    fn texts(texts: &[&str]) -> Vec<Arc<str>> {
        texts.iter().map(|text| Arc::from(*text)).collect()
    }

    #[test]
    fn the_logic_covers_all_seeds() {
        assert_eq!(logic(&texts(&[INTEGERS])), "QF_LIA");
        assert_eq!(logic(&texts(&[INTEGERS, PRODUCT])), "QF_NIA");
        assert_eq!(logic(&texts(&[STRINGS, INTEGERS])), "QF_SLIA");
    }

    #[test]
    fn a_seed_that_one_solver_lacks_is_left_out_and_none_left_is_refused() {
        let solvers = ["z3@4.8.7", "yices@2.6.4"].map(testkit::made_up);
        let (kept, left_out) = for_all(&texts(&[STRINGS, INTEGERS]), &solvers).expect("one is left");
        assert_eq!((kept.len(), left_out), (1, 1));
        let refused = for_all(&texts(&[STRINGS]), &solvers).expect_err("none is left").to_string();
        assert!(refused.contains("yices@2.6.4 has the means for none of the 1 seeds"), "{refused}");
    }
}
