//! What a script's answer must be, and how that is known: one type from the engine that made it to the report.

use serde::{Deserialize, Serialize};
use smtlib::Status;

/// What every check of a script must answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "grounds", rename_all = "kebab-case")]
pub enum Expectation {
    /// `sat`: a model satisfies the script by our own evaluation. The model, a [`Witness`](crate::Witness), travels
    /// beside it.
    Witness,
    /// The answer follows from how the script was made.
    Derived(Derivation),
    /// Somebody vouches for the answer: the user, a file's own `:status`, a museum.
    Claimed { answer: Status, by: String },
    /// Nothing is known: solvers must only agree.
    #[default]
    Agree,
}

/// How the grounds of a derivation begin that are a file's own `:status`, before its name.
pub const STATUS_OF: &str = ":status of ";

/// Why an answer follows: the seed's answer and the steps that keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derivation {
    pub answer: Status,
    /// Where the seed's own answer comes from: its `:status`, agreement of named solvers, a confirmed core.
    pub from: String,
    /// The steps in order.
    pub steps: Vec<String>,
}

impl Expectation {
    /// The answer every check must have, if one is known.
    pub fn answer(&self) -> Option<Status> {
        match self {
            Expectation::Witness => Some(Status::Sat),
            Expectation::Derived(derivation) => Some(derivation.answer),
            Expectation::Claimed { answer, .. } => Some(*answer),
            Expectation::Agree => None,
        }
        .filter(|answer| *answer != Status::Unknown)
    }

    /// Does it rest on nothing but what a file says of its own answer? Such claims are often wrong: they are of releases of
    /// long ago, or of another version of the file.
    pub fn is_hearsay(&self) -> bool {
        matches!(self, Expectation::Derived(derivation) if derivation.from.contains(STATUS_OF))
    }

    /// Completes "the answer must be ... because"; empty if nothing is known.
    pub fn because(&self) -> String {
        match self {
            Expectation::Witness => "a model satisfies every assertion by our evaluation".to_owned(),
            Expectation::Derived(derivation) => match derivation.steps.len() {
                0 => derivation.from.clone(),
                1 => format!("{}, kept by 1 step", derivation.from),
                many => format!("{}, kept by {many} steps", derivation.from),
            },
            Expectation::Claimed { by, .. } => by.clone(),
            Expectation::Agree => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_nobody_knows_is_no_answer() {
        let unknown = Expectation::Claimed { answer: Status::Unknown, by: "its :status".to_owned() };
        assert_eq!(unknown.answer(), None);
        assert_eq!(Expectation::Agree.answer(), None);
        assert_eq!(Expectation::Witness.answer(), Some(Status::Sat));
    }

    #[test]
    fn what_a_file_says_of_itself_is_hearsay() {
        let from = |from: String| {
            Expectation::Derived(Derivation { answer: Status::Sat, from, steps: Vec::new() }).is_hearsay()
        };
        assert!(from(format!("{STATUS_OF}a.smt2")));
        assert!(from(format!("z3 and cvc5 agree; {STATUS_OF}b.smt2")));
        assert!(!from("z3 and cvc5 agree".to_owned()));
        assert!(!Expectation::Claimed { answer: Status::Sat, by: "the user".to_owned() }.is_hearsay());
    }

    #[test]
    fn a_derivation_counts_its_steps() {
        let from = "z3 and cvc5 agree".to_owned();
        let derived = |steps: &[&str]| {
            let steps = steps.iter().map(ToString::to_string).collect();
            Expectation::Derived(Derivation { answer: Status::Unsat, from: from.clone(), steps }).because()
        };
        assert_eq!(derived(&[]), "z3 and cvc5 agree");
        assert_eq!(derived(&["a", "b"]), "z3 and cvc5 agree, kept by 2 steps");
    }
}
