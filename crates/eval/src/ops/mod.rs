//! What every operator computes: one arm a row of the theory table.

mod args;
mod bitvectors;
mod core;
mod ints;
mod reals;

use std::cmp::Ordering;

use smtlib::{Indices, Op, Term};

use crate::bv::BitVector;
use crate::evaluate::{Fault, Run};
use crate::unknown::Reason;
use crate::value::Value;
use args::{bv, chain, int};

/// An operator where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub op: Op,
    pub indices: Indices,
    pub term: Term,
}

/// The value of an operator for known arguments.
pub(crate) fn apply(run: &mut Run, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let value: Result<Value, Reason> = match node.op {
        Op::True => Ok(Value::TRUE),
        Op::False => Ok(Value::FALSE),
        Op::Not => args::bool(&args[0]).map(|value| Value::Bool(!value)),
        Op::Xor => core::xor(args),
        Op::Equal => return core::equal(run, node, args),
        Op::Distinct => return core::distinct(run, node, args),
        // The machine evaluates these itself, looking only at the arguments that matter.
        Op::Implies | Op::And | Op::Or | Op::Ite => Err(Reason::Opaque),
        Op::AtMost => core::count(run, node, args).map(|(count, bound)| Value::Bool(count <= bound)),
        Op::AtLeast => core::count(run, node, args).map(|(count, bound)| Value::Bool(count >= bound)),
        Op::PbLe => core::weigh(run, node, args).map(|(sum, bound)| Value::Bool(sum <= bound)),
        Op::PbGe => core::weigh(run, node, args).map(|(sum, bound)| Value::Bool(sum >= bound)),
        Op::PbEq => core::weigh(run, node, args).map(|(sum, bound)| Value::Bool(sum == bound)),

        Op::IntNeg | Op::IntSub => ints::sub(args),
        Op::IntAdd => ints::add(args),
        Op::IntMul => ints::mul(args),
        Op::IntDiv => return ints::div(run, node, args),
        Op::IntMod => return ints::modulo(run, node, args),
        Op::IntRem => return ints::rem(run, node, args),
        Op::IntAbs => int(&args[0]).map(|value| Value::Int(value.abs())),
        Op::IntLe => chain(args, int, |a, b| a <= b),
        Op::IntLt => chain(args, int, |a, b| a < b),
        Op::IntGe => chain(args, int, |a, b| a >= b),
        Op::IntGt => chain(args, int, |a, b| a > b),
        Op::IntDivisible => ints::divisible(run, node, args),
        Op::IntPow => ints::pow(args),
        Op::IntPow2 => ints::pow2(args),
        Op::IntLog2 => ints::log2(args),
        Op::IntAnd => match run.store.index_number(node.indices, 0) {
            Some(width) => ints::iand(width, &args[0], &args[1]),
            None => Err(Reason::Opaque),
        },
        Op::IntParamAnd => ints::piand(args),
        Op::IntDivTotal => ints::div_total(args),
        Op::IntModTotal => ints::mod_total(args),

        Op::RealNeg | Op::RealSub => reals::sub(args),
        Op::RealAdd => reals::add(args),
        Op::RealMul => reals::mul(args),
        Op::RealDiv => return reals::div(run, node, args),
        Op::RealLe => reals::chain(args, Ordering::is_le),
        Op::RealLt => reals::chain(args, Ordering::is_lt),
        Op::RealGe => reals::chain(args, Ordering::is_ge),
        Op::RealGt => reals::chain(args, Ordering::is_gt),
        Op::ToReal => reals::to_real(args),
        Op::ToInt => reals::to_int(args),
        Op::IsInt => reals::is_int(args),
        Op::RealAbs => reals::abs(args),
        Op::RealPow => reals::pow(args),
        Op::RealDivTotal => reals::div_total(args),

        Op::BvConcat => bitvectors::concat(args),
        Op::BvExtract => bitvectors::extract(run, node, args),
        Op::BvNot => bitvectors::unary(args, BitVector::not),
        Op::BvNeg => bitvectors::unary(args, BitVector::neg),
        Op::BvAnd => bitvectors::fold(args, BitVector::and),
        Op::BvOr => bitvectors::fold(args, BitVector::or),
        Op::BvXor => bitvectors::fold(args, BitVector::xor),
        Op::BvNand => bitvectors::fold(args, BitVector::nand),
        Op::BvNor => bitvectors::fold(args, BitVector::nor),
        Op::BvXnor => bitvectors::fold(args, BitVector::xnor),
        Op::BvAdd => bitvectors::fold(args, BitVector::add),
        Op::BvSub => bitvectors::fold(args, BitVector::sub),
        Op::BvMul => bitvectors::fold(args, BitVector::mul),
        Op::BvUdiv => bitvectors::fold(args, BitVector::udiv),
        Op::BvUrem => bitvectors::fold(args, BitVector::urem),
        Op::BvSdiv => bitvectors::fold(args, BitVector::sdiv),
        Op::BvSrem => bitvectors::fold(args, BitVector::srem),
        Op::BvSmod => bitvectors::fold(args, BitVector::smod),
        Op::BvShl => bitvectors::fold(args, BitVector::shl),
        Op::BvLshr => bitvectors::fold(args, BitVector::lshr),
        Op::BvAshr => bitvectors::fold(args, BitVector::ashr),
        Op::BvComp => bitvectors::fold(args, BitVector::comp),
        Op::BvRepeat => bitvectors::indexed(run, node, args, BitVector::repeat),
        Op::BvZeroExtend => bitvectors::indexed(run, node, args, BitVector::zero_extend),
        Op::BvSignExtend => bitvectors::indexed(run, node, args, BitVector::sign_extend),
        Op::BvRotateLeft => bitvectors::indexed(run, node, args, |x, n| Some(x.rotate_left(n.into()))),
        Op::BvRotateRight => bitvectors::indexed(run, node, args, |x, n| Some(x.rotate_right(n.into()))),
        Op::BvUlt => bitvectors::relate(args, |a, b| a.unsigned_cmp(b).is_lt()),
        Op::BvUle => bitvectors::relate(args, |a, b| a.unsigned_cmp(b).is_le()),
        Op::BvUgt => bitvectors::relate(args, |a, b| a.unsigned_cmp(b).is_gt()),
        Op::BvUge => bitvectors::relate(args, |a, b| a.unsigned_cmp(b).is_ge()),
        Op::BvSlt => bitvectors::relate(args, |a, b| a.signed_cmp(b).is_lt()),
        Op::BvSle => bitvectors::relate(args, |a, b| a.signed_cmp(b).is_le()),
        Op::BvSgt => bitvectors::relate(args, |a, b| a.signed_cmp(b).is_gt()),
        Op::BvSge => bitvectors::relate(args, |a, b| a.signed_cmp(b).is_ge()),
        Op::BvNego => bitvectors::test(args, BitVector::negation_overflows),
        Op::BvUaddo => bitvectors::relate(args, BitVector::unsigned_add_overflows),
        Op::BvSaddo => bitvectors::relate(args, BitVector::signed_add_overflows),
        Op::BvUmulo => bitvectors::relate(args, BitVector::unsigned_mul_overflows),
        Op::BvSmulo => bitvectors::relate(args, BitVector::signed_mul_overflows),
        Op::BvUsubo => bitvectors::relate(args, BitVector::unsigned_sub_overflows),
        Op::BvSsubo => bitvectors::relate(args, BitVector::signed_sub_overflows),
        Op::BvSdivo => bitvectors::relate(args, BitVector::signed_div_overflows),
        Op::UbvToInt => bv(&args[0]).map(|bits| Value::Int(bits.to_unsigned())),
        Op::SbvToInt => bv(&args[0]).map(|bits| Value::Int(bits.to_signed())),
        Op::IntToBv => bitvectors::from_int(run, node, args),
        Op::BvRedor => bitvectors::unary(args, BitVector::redor),
        Op::BvRedand => bitvectors::unary(args, BitVector::redand),
        Op::BvRedxor => bitvectors::unary(args, BitVector::redxor),
        Op::BvIte => bitvectors::ite(args),
        Op::BvUmulNoOverflow => bitvectors::relate(args, |a, b| !a.unsigned_mul_overflows(b)),
        Op::BvSmulNoOverflow => bitvectors::relate(args, |a, b| !a.signed_mul_exceeds_max(b)),
        Op::BvSmulNoUnderflow => bitvectors::relate(args, |a, b| !a.signed_mul_exceeds_min(b)),
        Op::BvExtRotateLeft => bitvectors::fold(args, BitVector::ext_rotate_left),
        Op::BvExtRotateRight => bitvectors::fold(args, BitVector::ext_rotate_right),
        Op::BvBitToBool => bitvectors::bit(run, node, args),
        Op::BvFromBools => bitvectors::from_bools(args),
        Op::BvBitZero => Ok(Value::BitVector(BitVector::zero(1))),
        Op::BvBitOne => Ok(Value::BitVector(BitVector::one(1))),
        Op::BvSdivInner => {
            return bitvectors::inner_division(run, node, args, Op::BvSdivByZero, BitVector::sdiv);
        }
        Op::BvUdivInner => {
            return bitvectors::inner_division(run, node, args, Op::BvUdivByZero, BitVector::udiv);
        }
        Op::BvSremInner => {
            return bitvectors::inner_division(run, node, args, Op::BvSremByZero, BitVector::srem);
        }
        Op::BvUremInner => {
            return bitvectors::inner_division(run, node, args, Op::BvUremByZero, BitVector::urem);
        }
        Op::BvSmodInner => {
            return bitvectors::inner_division(run, node, args, Op::BvSmodByZero, BitVector::smod);
        }
        // Open cases under their own names.
        Op::IntDivByZero
        | Op::IntModByZero
        | Op::IntRemByZero
        | Op::RealDivByZero
        | Op::BvSdivByZero
        | Op::BvUdivByZero
        | Op::BvSremByZero
        | Op::BvUremByZero
        | Op::BvSmodByZero => return run.open_case(run.store.head(node.term), node.term, 0, args),
        other => Err(Reason::Unsupported(other)),
    };
    Ok(value?)
}
