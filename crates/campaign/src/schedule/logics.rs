//! Logics for scripts from nothing.

use generate::COMBINATIONS;

use crate::config::Identity;
use crate::target::Target;

/// Theories from which mixes are drawn, as logics name them, and what solvers need for each. Separation logic wants a heap,
/// and goes with little else.
const MIXED: [(&str, &[&str]); 13] = [
    ("ints", &["ints"]),
    ("reals", &["reals"]),
    ("bitvectors", &["bitvectors"]),
    ("floats", &["floats"]),
    ("strings", &["strings", "regexes", "ints"]),
    ("arrays", &["arrays"]),
    ("functions", &["functions"]),
    ("datatypes", &["datatypes"]),
    ("fields", &["finite_fields"]),
    ("sequences", &["sequences", "ints"]),
    ("sets", &["sets", "ints"]),
    ("bags", &["bags", "ints"]),
    ("nullables", &["nullables"]),
];

/// Mixes of one campaign.
const MIXES: usize = 8;

/// Mixes of few theories have names of their own, and who has few often knows no other names.
const ENOUGH: usize = 7;

/// The stream of mixes, far from those of rounds.
const MIX_STREAM: u64 = u64::MAX - 21;

/// Combinations of theories that nobody has thought of: drawn from the campaign's seed, so that all of its processes have the
/// same.
fn mixes(rng_seed: u64, all_have: &dyn Fn(&[&str]) -> bool) -> Vec<String> {
    let words: Vec<&str> =
        MIXED.iter().filter(|(_, theories)| all_have(theories)).map(|(word, _)| *word).collect();
    if words.len() < ENOUGH {
        return Vec::new();
    }
    let mut rng = generate::rng::stream(rng_seed, MIX_STREAM);
    let mut mixes = Vec::new();
    for _ in 0..MIXES {
        let mut chosen = words.clone();
        rng.shuffle(&mut chosen);
        chosen.truncate(rng.between(2, 4));
        chosen.sort_unstable();
        let quantified = rng.chance(0.25) && all_have(&["quantifiers"]);
        let mix = format!("{}+{}", if quantified { "ALL" } else { "QF_ALL" }, chosen.join("+"));
        if !mixes.contains(&mix) && !COMBINATIONS.iter().any(|(name, _)| *name == mix) {
            mixes.push(mix);
        }
    }
    mixes
}

/// The logics that all solvers of the group have, and mixes of the theories that they have.
pub fn logics(identity: &Identity, targets: &[Target], group: &[usize]) -> Vec<String> {
    if !identity.logics.is_empty() {
        return identity.logics.clone();
    }
    let all_have = |theories: &[&str]| {
        group
            .iter()
            .all(|i| targets.get(*i).is_some_and(|target| theories.iter().all(|name| target.has(name))))
    };
    let fixed =
        COMBINATIONS.iter().filter(|(_, theories)| all_have(theories)).map(|(name, _)| (*name).to_owned());
    fixed.chain(mixes(identity.rng_seed, &all_have)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_build_lacks_is_in_no_logic_of_the_campaign() {
        let of = |built_without: &[&str]| {
            let built_without = built_without.iter().map(ToString::to_string).collect();
            let solver = solver::Solver { built_without, ..testkit::made_up("cvc5@1.4.2") };
            let rng_seeds = 0..20;
            let all = rng_seeds.flat_map(|rng_seed| {
                let identity = Identity::of_runs(Duration::from_secs(1), 1024, rng_seed);
                logics(&identity, &Target::numbered([solver.clone()]), &[0])
            });
            all.collect::<Vec<_>>()
        };
        let has_fields = |name: &String| name.contains("FF") || name.contains("fields");
        assert!(of(&[]).iter().any(has_fields));
        let without = of(&["finite_fields"]);
        assert!(!without.is_empty() && !without.iter().any(has_fields), "{without:?}");
    }

    #[test]
    fn mixes_are_logics_of_the_campaigns_seed_and_only_of_what_all_solvers_have() {
        let all = |_: &[&str]| true;
        let one = mixes(1, &all);
        assert_eq!(one, mixes(1, &all));
        assert_ne!(one, mixes(2, &all));
        assert!(one.len() > 4, "{one:?}");
        for name in one.iter().chain(&COMBINATIONS.map(|(name, _)| name.to_owned())) {
            assert!(name.parse::<generate::Logic>().is_ok(), "{name}");
        }
        let no_strings = |theories: &[&str]| !theories.contains(&"strings");
        let without: Vec<String> = (0..50).flat_map(|seed| mixes(seed, &no_strings)).collect();
        assert!(!without.is_empty() && without.iter().all(|name| !name.contains("strings")), "{without:?}");
        assert!(mixes(1, &|theories: &[&str]| theories == ["ints"]).is_empty(), "too few");
    }
}
