//! Combinations of tactics, as Z3's `check-sat-using` takes them: `(then simplify (or-else qfnra smt))`.

use crate::outline::{Change, Outline};

/// The tactic that does nothing but solve: where it does as well, no other is to blame.
pub const PLAIN: &str = "smt";

/// Combinations that are one step smaller: a combination gives way to one of its parts, or loses one.
pub(crate) fn smaller(tactic: &str) -> Vec<String> {
    let Some(outline) = Outline::of(tactic.as_bytes()) else { return Vec::new() };
    let mut found = Vec::new();
    for node in outline.levels().concat() {
        for part in parts(&outline, node) {
            found.push(changed(&outline, node, Change::By(part)));
        }
        if parts(&outline, node).len() > 1 {
            for part in parts(&outline, node) {
                found.push(changed(&outline, part, Change::Drop));
            }
        }
    }
    found.sort_by_key(String::len);
    found.dedup();
    found
}

/// The combination without a tactic, wherever it stands; nothing if nothing is left or it is not there.
pub(crate) fn without(tactic: &str, name: &str) -> Option<String> {
    let outline = Outline::of(tactic.as_bytes())?;
    let nodes = outline.levels().concat();
    let is_it = |node: usize| !outline.is_list(node) && outline.flat(node) == name;
    // With parameters it is a list of its own.
    let goes = |node: usize| {
        let parameterised =
            head(&outline, node).is_some_and(|head| matches!(head.as_str(), "using-params" | "!"));
        is_it(node) || (parameterised && outline.children(node).get(1).is_some_and(|tactic| is_it(*tactic)))
    };
    let left = |node: &usize| parts(&outline, *node).iter().any(|part| !goes(*part));
    let combinations: Vec<usize> =
        nodes.iter().copied().filter(|node| !parts(&outline, *node).is_empty() && !goes(*node)).collect();
    if combinations.is_empty() || !combinations.iter().all(left) || !nodes.iter().any(|node| goes(*node)) {
        return None;
    }
    let change = |node: usize| if goes(node) { Change::Drop } else { Change::Keep };
    Some(outline.text(&change).trim_end().to_owned())
}

fn head(outline: &Outline, node: usize) -> Option<String> {
    outline.children(node).first().map(|head| outline.flat(*head))
}

/// The tactics that a combination is made of, without parameters, probes and numbers.
fn parts(outline: &Outline, node: usize) -> Vec<usize> {
    let children = outline.children(node);
    let tactics = match head(outline, node).as_deref() {
        Some("then" | "and-then" | "or-else" | "par-or" | "par-then") => 1..children.len(),
        Some("try-for" | "using-params" | "!" | "repeat") => 1..2,
        Some("if") => 2..children.len(),
        Some("when") => 2..3,
        _ => 0..0,
    };
    children.get(tactics).unwrap_or_default().to_vec()
}

fn changed(outline: &Outline, node: usize, change: Change) -> String {
    outline.text(&|other| if other == node { change } else { Change::Keep }).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_loses_its_parts_one_by_one_at_every_level() {
        let found = smaller("(then elim factor (or-else qfnia smt))");
        for wanted in
            ["elim", "(or-else qfnia smt)", "(then elim (or-else qfnia smt))", "(then elim factor qfnia)"]
        {
            assert!(found.contains(&wanted.to_owned()), "{wanted}: {found:?}");
        }
        assert!(found.is_sorted_by_key(String::len));
        let found =
            smaller("(then (using-params simplify :som true) (try-for smt 100) (if is-qfnia qfnia smt))");
        for wanted in [
            "(then simplify (try-for smt 100) (if is-qfnia qfnia smt))",
            "(then (using-params simplify :som true) smt (if is-qfnia qfnia smt))",
            "(then (using-params simplify :som true) (try-for smt 100) qfnia)",
        ] {
            assert!(found.contains(&wanted.to_owned()), "{wanted}: {found:?}");
        }
        assert!(smaller("smt").is_empty() && smaller("(then smt").is_empty());
    }

    #[test]
    fn one_tactic_is_taken_out_with_its_parameters() {
        assert_eq!(without("(then a b (or-else c b))", "b").as_deref(), Some("(then a (or-else c))"));
        assert_eq!(without("(then (! a :x 1) b)", "a").as_deref(), Some("(then b)"));
        assert_eq!(without("(then a (or-else b))", "b"), None, "nothing would be left to choose from");
        assert_eq!(without("a", "a"), None);
        assert_eq!(without("(then a b)", "c"), None);
    }
}
