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

/// Operators, by all their names in SMT-LIB, and tactics that known bugs are blamed on, each with the solvers that have
/// the bug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits {
    operators: BTreeSet<(String, String)>,
    tactics: BTreeSet<(String, String)>,
}

/// What a round does without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub operators: BTreeSet<String>,
    pub tactics: BTreeSet<String>,
}

impl Culprits {
    /// All operators that may be meant by a name.
    pub fn blame_operator(&mut self, name: &str, solver: &str) {
        for op in smtlib::theory::table().named(name) {
            self.operators.insert((op.row().name.to_owned(), solver.to_owned()));
        }
    }

    pub fn blame_tactic(&mut self, name: &str, solver: &str) {
        self.tactics.insert((name.to_owned(), solver.to_owned()));
    }

    /// Those that a round for these solvers leaves out: all that one of them is accused of, or now and then none. The
    /// stream decides the same whatever is known.
    pub fn left_out(&self, solvers: &[&str], rng: &mut Rng) -> LeftOut {
        if !rng.chance(LEAVES_OUT) {
            return LeftOut::default();
        }
        let of = |blamed: &BTreeSet<(String, String)>| {
            let theirs = blamed.iter().filter(|(_, solver)| solvers.contains(&solver.as_str()));
            theirs.map(|(name, _)| name.clone()).collect()
        };
        LeftOut { operators: of(&self.operators), tactics: of(&self.tactics) }
    }
}

impl LeftOut {
    /// Does a seed have one of the operators?
    pub fn are_in(&self, seed: &SeedText) -> bool {
        let spelled = |name: &String| {
            let table = smtlib::theory::table();
            let rows = table.named(name).iter().map(|op| op.row()).filter(|row| row.name == name);
            let aliases = rows.flat_map(|row| row.aliases.iter().map(|alias| alias.name));
            std::iter::once(name.as_str()).chain(aliases).any(|name| mentions(&seed.text, name))
        };
        self.operators.iter().any(spelled)
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

    const SOLVER: &str = "z3@4.8.7";

    fn culprits() -> Culprits {
        let mut culprits = Culprits::default();
        culprits.blame_operator("str.<", SOLVER);
        culprits.blame_operator("int.to.str", SOLVER);
        culprits.blame_tactic("nla2bv", SOLVER);
        culprits
    }

    fn left_out() -> LeftOut {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        LeftOut { operators: names(&["str.<", "str.from_int"]), tactics: names(&["nla2bv"]) }
    }

    #[test]
    fn most_rounds_leave_out_what_is_broken_and_some_do_not() {
        let mut rng = generate::rng::stream(1, 1);
        let mut draw = |culprits: &Culprits, solver: &str| culprits.left_out(&[solver], &mut rng);
        let without = (0..1000).filter(|_| draw(&culprits(), SOLVER) == left_out()).count();
        assert!((800..900).contains(&without), "{without}");
        assert!(
            (0..100).all(|_| draw(&culprits(), "cvc5@1.4.2") == LeftOut::default()),
            "it has no such bug"
        );
        let mut streams = [1, 1].map(|stream| generate::rng::stream(1, stream));
        culprits().left_out(&[SOLVER], &mut streams[0]);
        Culprits::default().left_out(&[SOLVER], &mut streams[1]);
        assert_eq!(streams[0].bits(), streams[1].bits(), "as much is drawn whatever is known");
    }

    #[test]
    fn whole_words_count_and_so_do_other_spellings() {
        let seed = |text: &str| SeedText::new("test", text);
        let is_in = |text: &str| left_out().are_in(&seed(text));
        assert!(is_in("(assert (str.< a b))") && is_in("(assert (= s (int.to.str x)))"));
        assert!(!is_in("(assert (str.<= a b))") && !is_in("(declare-const str.from_int2 Int)"));
        assert!(left_out().are_in_tactic("(then simplify nla2bv smt)"));
        assert!(!left_out().are_in_tactic("(then simplify smt)"));
    }
}
