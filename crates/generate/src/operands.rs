//! What operators ask of their operands beyond sorts, and operators that take part only when a user says so.

use smtlib::theory::{Arity, Row};
use smtlib::{Family, Op, Release};

use crate::logic::Logic;

/// What may stand at an argument place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Any,
    /// A constant of the sort.
    Constant,
    /// A constant written without signs and quotients.
    Value,
    /// A constant that is not zero.
    NonZero,
    /// A numeral from 0 to this number.
    Numeral(u32),
    /// A string constant of one character.
    Character,
}

/// The rule for argument `i` of the operator in this logic.
pub(crate) fn operand(logic: &Logic, op: Op, i: usize) -> Operand {
    if logic.is_linear() {
        match (op, i) {
            (Op::IntMul | Op::RealMul, 0) => return Operand::Constant,
            (Op::IntDiv | Op::IntMod | Op::IntRem | Op::RealDiv, 1..) => return Operand::NonZero,
            (Op::IntDivTotal | Op::IntModTotal | Op::RealDivTotal, 1..) => return Operand::NonZero,
            _ => {}
        }
    }
    match (op, i) {
        // cvc5 refuses anything but a value.
        (Op::ConstArray, 0) => Operand::Value,
        // The only languages that all solvers read: a range between two characters.
        (Op::ReRange, _) => Operand::Character,
        (Op::ReLoopBounds | Op::ReLoopBoundFrom, 1..) => Operand::Numeral(6),
        // cvc5: "the exponent of ^ can only be a positive integral constant".
        (Op::IntPow | Op::RealPow, 1) => Operand::Numeral(4),
        (Op::StrPower | Op::SeqPower, 1) => Operand::Numeral(5),
        _ => Operand::Any,
    }
}

/// Greatest number of arguments that solvers take.
pub(crate) fn most_arguments(logic: &Logic, row: &Row) -> usize {
    let uniform = row.args.windows(2).all(|pair| pair[0] == pair[1]);
    let grows = match row.arity {
        Arity::Fixed => return row.args.len(),
        Arity::LeftAssoc => uniform && row.result == row.args[0],
        Arity::RightAssoc | Arity::Chainable | Arity::Pairwise => uniform,
    };
    // No solver takes longer chains of the string orders.
    let binary = row.nary_extension || matches!(row.op, Op::StrLt | Op::StrLe);
    let free = operand(logic, row.op, 0) == Operand::Any && operand(logic, row.op, 2) == Operand::Any;
    if grows && free && !binary { usize::MAX } else { 2 }
}

/// The weight of an operator where the user gives none.
pub(crate) fn default_weight(op: Op, releases: &[Release]) -> f64 {
    let cvc5 = releases.iter().any(|release| release.family == Family::Cvc5);
    match op {
        // Leaves are chosen elsewhere.
        Op::True | Op::False => 0.0,
        Op::Ite => 0.7,
        Op::Equal => 1.5,
        // The one way from formulas to regular expressions, which have as many operators as strings have.
        Op::StrInRe => 6.0,
        Op::Xor | Op::Implies => 0.7,
        // cvc5 takes constant arrays only under --arrays-exp.
        Op::ConstArray if cvc5 => 0.0,
        _ if needs_an_option(op) || is_internal(op) => 0.0,
        // Orders of Z3 are special relations that it decides only in restricted shapes.
        Op::LinearOrder | Op::PartialOrder | Op::PiecewiseLinearOrder | Op::TreeOrder => 0.0,
        _ => 1.0,
    }
}

/// Accepted only under options of the solver (cvc5: --arrays-exp, --sets-ext, --fmf-...).
fn needs_an_option(op: Op) -> bool {
    matches!(op, Op::EqRange | Op::SetUniverse | Op::SetComplement | Op::SetComprehension)
}

/// Functions that Z3 uses inside itself and prints in models; their results are open.
fn is_internal(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IntDivByZero
            | IntModByZero
            | IntRemByZero
            | RealDivByZero
            | RootObject
            | BvSdivInner
            | BvUdivInner
            | BvSremInner
            | BvUremInner
            | BvSmodInner
            | BvSdivByZero
            | BvUdivByZero
            | BvSremByZero
            | BvUremByZero
            | BvSmodByZero
            | FpMinInner
            | FpMaxInner
            | FpToUbvInner
            | FpToSbvInner
            | FpToRealInner
            | FpToIeeeBvInner
            | SeqNthInner
            | SeqNthOutside
            | ArrayExt
    )
}
