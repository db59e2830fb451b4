//! Commands that only some solvers have: who has them, and what the others get instead.

use crate::release::Family;
use crate::script::Command;
use crate::store::Store;

/// What becomes of a command in the text for a family of solvers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// Written as it is.
    Kept,
    /// Written as a plain `check-sat`, which means the same.
    PlainCheck,
    /// Left out: the answers are the same without it.
    LeftOut,
    /// It cannot be left out, and the family does not have it.
    Missing,
}

/// Commands of one family. They only print, or say how to search: the answers to checks are the same without them.
const OF_ONE: [(Family, &[&str]); 2] = [
    (
        Family::Z3,
        &[
            "apply",
            "declare-tactic",
            "display",
            "eval",
            "get-consequences",
            "get-objectives",
            "get-user-tactics",
            "help",
            "help-tactic",
            "labels",
            "set-simplifier",
        ],
    ),
    (
        Family::Cvc5,
        &[
            "declare-pool",
            "get-abduct",
            "get-abduct-next",
            "get-difficulty",
            "get-interpolant",
            "get-interpolant-next",
            "get-learned-literals",
            "get-model-domain-elements",
            "get-qe",
            "get-qe-disjunct",
            "get-timeout-core",
            "get-timeout-core-assuming",
            "get-unsat-core-lemmas",
        ],
    ),
];

/// Commands of cvc5 that change what later checks are about, or what there is.
const NEEDED: [&str; 5] =
    ["block-model", "block-model-values", "declare-heap", "declare-oracle-fun", "declare-sort-parameter"];

/// Families whose own extensions are not known: they get everything.
fn is_open(family: Family) -> bool {
    matches!(family, Family::Standard | Family::Other)
}

/// What becomes of a command in the text for solvers of a family.
pub fn treatment(store: &Store, command: &Command, family: Family) -> Treatment {
    if is_open(family) {
        return Treatment::Kept;
    }
    let z3s = if family == Family::Z3 { Treatment::Kept } else { Treatment::LeftOut };
    match command {
        Command::CheckSatUsing(_) if family != Family::Z3 => Treatment::PlainCheck,
        Command::Minimize(..)
        | Command::Maximize(..)
        | Command::AssertSoft(..)
        | Command::Simplify(..)
        | Command::Eval(..) => z3s,
        Command::Opaque { name, .. } => {
            let name = store.name(*name);
            let owner = OF_ONE.iter().find(|(_, names)| names.contains(&name)).map(|(owner, _)| *owner);
            match owner {
                Some(owner) if owner != family => Treatment::LeftOut,
                None if NEEDED.contains(&name) && !matches!(family, Family::Cvc5 | Family::Cvc4) => {
                    Treatment::Missing
                }
                _ => Treatment::Kept,
            }
        }
        _ => Treatment::Kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Mode, parse};
    use crate::print::print;
    use crate::release::Release;
    use crate::version::Version;

    #[test]
    fn what_a_solver_lacks_is_written_otherwise_or_left_out_where_that_means_the_same() {
        let text = "(declare-const x Int)(assert (> x 0))(minimize x)(apply simplify)(get-difficulty)\
                    (check-sat-using (then simplify smt))(get-objectives)";
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let read_by = |family| print(&store, &script, Release::new(family, Version::LATEST));
        let cvc5 = read_by(Family::Cvc5);
        assert!(cvc5.contains("(check-sat)\n") && cvc5.contains("get-difficulty"), "{cvc5}");
        assert!(
            !cvc5.contains("minimize") && !cvc5.contains("apply") && !cvc5.contains("objectives"),
            "{cvc5}"
        );
        let z3 = read_by(Family::Z3);
        assert!(z3.contains("(minimize x)") && z3.contains("(check-sat-using (then simplify smt))"), "{z3}");
        assert!(!z3.contains("get-difficulty"), "{z3}");
        assert_eq!(print(&store, &script, Release::STANDARD).lines().count(), script.commands.len());
    }
}
