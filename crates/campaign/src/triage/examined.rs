//! Reduced scripts of which it is known what their bug needs and which releases have it: many findings come down to one
//! script, and it is examined once. What a bug needs is taken over from a script that differs in values only.

use std::collections::BTreeMap;
use std::sync::Mutex;

use oracle::Kind;
use reduce::blame::Blame;
use smtlib::lexer::{Kind as TokenKind, Lexer};
use solver::run::Configuration;

use crate::findings::Releases;
use crate::shared::lock;

/// What tells a bug from others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub releases: Option<Releases>,
    pub blame: Blame,
}

/// So many scripts are remembered: far more than a campaign has findings.
const MOST: usize = 10_000;

/// By kind, command line and script.
#[derive(Debug, Default)]
pub struct Examined {
    marks: Mutex<BTreeMap<String, Marks>>,
    /// The same without the values of the script.
    blames: Mutex<BTreeMap<String, Blame>>,
}

impl Examined {
    pub(super) fn get(&self, kind: Kind, accused: &Configuration, script: &str) -> Option<Marks> {
        lock(&self.marks).get(&key(kind, accused, script)).cloned()
    }

    /// What the bug of a script needs that says the same about other values.
    pub(super) fn blame(&self, kind: Kind, accused: &Configuration, script: &str) -> Option<Blame> {
        lock(&self.blames).get(&key(kind, accused, &skeleton(script))).cloned()
    }

    pub(super) fn remember(&self, kind: Kind, accused: &Configuration, script: &str, marks: &Marks) {
        let mut known = lock(&self.marks);
        if known.len() < MOST {
            known.insert(key(kind, accused, script), marks.clone());
            lock(&self.blames)
                .entry(key(kind, accused, &skeleton(script)))
                .or_insert_with(|| marks.blame.clone());
        }
    }
}

fn key(kind: Kind, accused: &Configuration, script: &str) -> String {
    format!("{kind}\n{} {}\n{script}", accused.solver.name(), accused.command_line("", None))
}

/// A script with all values of a kind alike, widths and indices included.
fn skeleton(script: &str) -> String {
    let mut skeleton = String::with_capacity(script.len());
    let mut lexer = Lexer::new(script.as_bytes());
    while let Ok(token) = lexer.token() {
        let word = match token.kind {
            TokenKind::End => return skeleton,
            TokenKind::Numeral => "0",
            TokenKind::Decimal => "0.0",
            TokenKind::Hexadecimal | TokenKind::Binary => "#",
            TokenKind::String => "\"\"",
            _ => script.get(token.start..token.end).unwrap_or_default(),
        };
        skeleton.push_str(word);
        skeleton.push(' ');
    }
    // Not readable to its end: the text as it is.
    script.to_owned()
}

#[cfg(test)]
mod tests {
    use solver::run::PartyId;
    use testkit::made_up;

    use super::*;

    #[test]
    fn a_script_is_known_for_its_kind_and_its_solver_only() {
        let configuration = |spec: &str| Configuration::new(PartyId(0), made_up(spec));
        let (old, new) = (configuration("z3@4.8.7"), configuration("z3@5.4.0"));
        let marks = Marks {
            releases: Some(Releases { affected: vec!["z3@4.8.7".into()], ..Releases::default() }),
            ..Marks::default()
        };
        let examined = Examined::default();
        examined.remember(Kind::Crash, &old, "(check-sat)", &marks);
        assert_eq!(examined.get(Kind::Crash, &old, "(check-sat)"), Some(marks));
        assert_eq!(examined.get(Kind::Crash, &new, "(check-sat)"), None);
        assert_eq!(examined.get(Kind::InvalidModel, &old, "(check-sat)"), None);
        assert_eq!(examined.get(Kind::Crash, &old, "(check-sat)\n"), None);
    }

    #[test]
    fn what_a_bug_needs_is_known_for_all_values_and_the_releases_only_for_the_same() {
        let accused = Configuration::new(PartyId(0), made_up("z3@4.8.7"));
        let examined = Examined::default();
        let script =
            |first: &str, second: &str| format!("(assert (bvsmul_noovfl {first} {second}))\n(check-sat)\n");
        examined.remember(Kind::RefutationSoundness, &accused, &script("#xc", "#xf"), &Marks::default());
        let (known, other) = (script("#b11", "#b01"), script("#xc", "a"));
        assert_eq!(examined.blame(Kind::RefutationSoundness, &accused, &known), Some(Blame::default()));
        assert_eq!(examined.get(Kind::RefutationSoundness, &accused, &known), None);
        assert_eq!(examined.blame(Kind::RefutationSoundness, &accused, &other), None);
        assert_eq!(examined.blame(Kind::Crash, &accused, &known), None);
        assert_ne!(skeleton("(assert (= a 1))"), skeleton("(assert (= a 1.5))"));
        assert_ne!(skeleton("(assert (= a 0)"), skeleton("(assert (= b 0)"));
    }
}
