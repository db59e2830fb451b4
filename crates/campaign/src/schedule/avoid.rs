//! What is known to be broken is left out of most rounds.
//!
//! A bug in a rare operator shows in nearly every test case that has it: the campaign would find it over and over, pay for
//! confirming and reducing it each time, and see nothing of what lies behind. So once a bug is known and its culprit is,
//! most rounds make no new terms with that operator, start from no seed that has it, and draw no tactic of that name. The
//! other rounds still may: an operator can have a second bug.

use std::collections::BTreeSet;

use generate::Rng;

use crate::seeds::SeedText;

/// Share of the rounds that leave out what is known to be broken.
const LEAVES_OUT: f64 = 0.85;

/// Operators and tactics that known bugs are blamed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits {
    /// By their names in SMT-LIB.
    pub operators: BTreeSet<String>,
    pub tactics: BTreeSet<String>,
}

impl Culprits {
    /// Those that a round leaves out: all of them, or now and then none.
    pub fn left_out(&self, rng: &mut Rng) -> Culprits {
        let any = !self.operators.is_empty() || !self.tactics.is_empty();
        // Nothing is drawn where there is nothing to decide: campaigns without findings stay as they are.
        if any && rng.chance(LEAVES_OUT) { self.clone() } else { Culprits::default() }
    }

    /// Does a seed have one of the operators?
    pub fn are_in(&self, seed: &SeedText) -> bool {
        self.operators.iter().any(|name| mentions(&seed.text, name))
    }

    /// Is one of them among a tactic's steps?
    pub fn are_in_tactic(&self, tactic: &str) -> bool {
        self.tactics.iter().any(|name| mentions(tactic, name))
    }
}

/// Does the word stand in the text, between spaces and parentheses?
fn mentions(text: &str, word: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "()".contains(c));
    text.match_indices(word)
        .any(|(at, _)| ends(text[..at].chars().next_back()) && ends(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn culprits() -> Culprits {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Culprits { operators: names(&["str.<", "bit2bool"]), tactics: names(&["nla2bv"]) }
    }

    #[test]
    fn most_rounds_leave_out_what_is_broken_and_some_do_not() {
        let mut rng = generate::rng::stream(1, 1);
        let without = (0..1000).filter(|_| culprits().left_out(&mut rng) == culprits()).count();
        assert!((800..900).contains(&without), "{without}");
        let before = rng.clone();
        assert_eq!(Culprits::default().left_out(&mut rng), Culprits::default());
        assert_eq!(rng.bits(), before.clone().bits(), "nothing was drawn");
    }

    #[test]
    fn whole_words_count() {
        let seed = |text: &str| SeedText::new("test", text);
        let is_in = |text: &str| culprits().are_in(&seed(text));
        assert!(is_in("(assert (str.< a b))") && is_in("(assert ((_ bit2bool 3) x))"));
        assert!(!is_in("(assert (str.<= a b))") && !is_in("(declare-const bit2bool2 Int)"));
        assert!(culprits().are_in_tactic("(then simplify nla2bv smt)"));
        assert!(!culprits().are_in_tactic("(then simplify smt)"));
    }
}
