//! Why a term has no decided value.

use std::fmt;

use smtlib::{Fun, Op, Store, Term};

/// A term whose value could not be decided, with the sub-term to blame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unknown {
    pub reason: Reason,
    /// The innermost sub-term that has no value.
    pub term: Term,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The standard leaves the result open, and the model does not fix it.
    Unspecified,
    /// The solvers that have this operator disagree about this case, or their documents leave it open.
    Disputed,
    /// An operator or sort nobody knows.
    Opaque,
    /// The model says nothing about a declared function.
    Uninterpreted(Fun),
    /// A bound variable outside its binder.
    Unbound,
    /// A quantifier over an infinite (or very large) sort that no candidate value decided.
    InfiniteQuantifier,
    /// `choice`, or a comprehension, over a sort that cannot be enumerated.
    InfiniteDomain,
    /// Equality of functions, closures or languages that could not be decided.
    UndecidedEquality,
    /// Enclosures of transcendental numbers that do not separate.
    InseparableReals,
    /// The operator has no evaluation; see the table in [`ops`](crate::ops).
    Unsupported(Op),
    Budget(Budget),
}

/// Which limit stopped the evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// Nodes visited.
    Steps,
    /// Nested binders and calls.
    Depth,
    /// Numbers with too many digits, or of too high an algebraic degree.
    NumberSize,
    /// Bit-vectors too wide.
    Width,
    /// Strings, sequences, sets and arrays with too many elements.
    Length,
    /// Regular expressions that blow up.
    Regex,
}

impl Reason {
    /// The reason at a term.
    pub fn at(self, term: Term) -> Unknown {
        Unknown { reason: self, term }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Reason::Unspecified => "the standard leaves this result open",
            Reason::Disputed => "solvers disagree about this case",
            Reason::Opaque => "the operator or sort is not known",
            Reason::Uninterpreted(_) => "the model does not interpret this symbol",
            Reason::Unbound => "a variable is used outside its binder",
            Reason::InfiniteQuantifier => "no candidate value decides this quantifier",
            Reason::InfiniteDomain => "the sort of the bound variable cannot be enumerated",
            Reason::UndecidedEquality => "equality of these values is undecided",
            Reason::InseparableReals => "these real numbers cannot be told apart",
            Reason::Unsupported(op) => return write!(f, "'{}' has no evaluation", op.name()),
            Reason::Budget(Budget::Steps) => "the evaluation takes too many steps",
            Reason::Budget(Budget::Depth) => "binders or calls are nested too deeply",
            Reason::Budget(Budget::NumberSize) => "a number is too large",
            Reason::Budget(Budget::Width) => "a bit-vector is too wide",
            Reason::Budget(Budget::Length) => "a value has too many elements",
            Reason::Budget(Budget::Regex) => "a regular expression is too hard",
        };
        f.write_str(text)
    }
}

impl Unknown {
    /// Might the same question be answered by a fresh evaluation?
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.reason, Reason::Budget(Budget::Steps | Budget::Depth))
    }

    /// A sentence with the sub-term, cut off if it is long.
    pub fn describe(&self, store: &Store) -> String {
        let text = store.term_text(self.term);
        let shown: String = text.chars().take(200).collect();
        let dots = if shown.len() < text.len() { "..." } else { "" };
        format!("{}: {shown}{dots}", self.reason)
    }
}
