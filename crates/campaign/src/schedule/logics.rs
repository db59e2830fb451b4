//! Logics for scripts from nothing.

use crate::config::Identity;
use crate::target::Target;

/// Logics for scripts from nothing, tried by those solvers that have their theories.
const LOGICS: [(&str, &[&str]); 48] = [
    ("QF_UF", &["functions"]),
    ("QF_LIA", &["ints"]),
    ("QF_NIA", &["ints"]),
    ("QF_LRA", &["reals"]),
    ("QF_NRA", &["reals"]),
    ("QF_LIRA", &["ints", "reals"]),
    ("QF_NIRA", &["ints", "reals"]),
    ("QF_IDL", &["ints"]),
    ("QF_RDL", &["reals"]),
    ("QF_BV", &["bitvectors"]),
    ("QF_ABV", &["bitvectors", "arrays"]),
    ("QF_AUFBV", &["bitvectors", "arrays", "functions"]),
    ("QF_UFBV", &["bitvectors", "functions"]),
    ("QF_FP", &["floats"]),
    ("QF_BVFP", &["floats", "bitvectors"]),
    ("QF_ABVFP", &["floats", "bitvectors", "arrays"]),
    ("QF_AX", &["arrays", "functions"]),
    ("QF_ALIA", &["arrays", "ints"]),
    ("QF_AUFLIA", &["arrays", "functions", "ints"]),
    ("QF_UFLIA", &["functions", "ints"]),
    ("QF_UFLRA", &["functions", "reals"]),
    ("QF_UFNIA", &["functions", "ints"]),
    ("QF_S", &["strings", "regexes", "ints"]),
    ("QF_SLIA", &["strings", "regexes", "ints"]),
    ("QF_DT", &["datatypes"]),
    ("QF_UFDT", &["datatypes", "functions"]),
    ("LIA", &["quantifiers", "ints"]),
    ("NIA", &["quantifiers", "ints"]),
    ("LRA", &["quantifiers", "reals"]),
    ("NRA", &["quantifiers", "reals"]),
    ("BV", &["quantifiers", "bitvectors"]),
    ("UFLIA", &["quantifiers", "functions", "ints"]),
    ("AUFLIRA", &["quantifiers", "arrays", "functions", "ints", "reals"]),
    ("QF_FF", &["finite_fields"]),
    ("QF_ALL+sequences", &["sequences", "ints"]),
    ("QF_ALL+sequences+strings+bitvectors", &["sequences", "strings", "regexes", "ints", "bitvectors"]),
    ("QF_ALL+sequences+datatypes+arrays", &["sequences", "datatypes", "arrays", "ints"]),
    ("ALL+sequences+functions", &["sequences", "functions", "quantifiers", "ints"]),
    ("QF_ALL+sets", &["sets", "ints"]),
    ("QF_ALL+sets+functions+datatypes", &["sets", "functions", "datatypes", "ints"]),
    ("HO_ALL+sets", &["sets", "lambdas", "quantifiers", "ints"]),
    ("QF_ALL+relations", &["sets", "relations_tuples", "ints"]),
    ("QF_ALL+bags", &["bags", "ints"]),
    ("HO_ALL+bags+tables", &["bags", "relations_tuples", "lambdas", "quantifiers", "ints"]),
    ("QF_ALL+nullables+bitvectors+datatypes", &["nullables", "bitvectors", "datatypes"]),
    ("QF_ALL+separation+functions", &["separation", "functions", "ints"]),
    ("QF_ALL+transcendentals+ints", &["transcendentals", "reals", "ints"]),
    (
        "ALL",
        &[
            "quantifiers",
            "arrays",
            "functions",
            "ints",
            "reals",
            "bitvectors",
            "floats",
            "datatypes",
            "strings",
            "regexes",
        ],
    ),
];

/// The logics that all solvers of the group have.
pub fn logics(identity: &Identity, targets: &[Target], group: &[usize]) -> Vec<String> {
    if !identity.logics.is_empty() {
        return identity.logics.clone();
    }
    let all_have = |theories: &[&str]| {
        group
            .iter()
            .all(|i| targets.get(*i).is_some_and(|target| theories.iter().all(|name| target.has(name))))
    };
    LOGICS.iter().filter(|(_, theories)| all_have(theories)).map(|(name, _)| (*name).to_owned()).collect()
}
