//! What every operator computes: one arm per row of the theory table.
//!
//! Rows without an evaluation answer [`Reason::Unsupported`]:
//!
//! | rows | why |
//! | --- | --- |
//! | `sep`, `wand`, `pto`, `sep.emp`, `sep.nil` | They speak about a heap, which is no part of a model here. |
//! | `linear-order`, `partial-order`, `piecewise-linear-order`, `tree-order` | Relations that Z3 chooses itself and does not print in models. |
//! | `char.*`, `re.of.pred` | Z3's sort of characters has no values in the language core. |
//! | `re.reverse` | No printed regular expression needs it, and languages here have no reversal. |
//! | `set.comprehension` | Read as a binder, never as an operator. |
//!
//! Where Z3 and cvc5 disagree about an operator that no standard defines, the case is [`Reason::Disputed`]:
//! powers with negative or zero exponents at zero, `int.log2` and `piand` of numbers that are not positive, loops
//! with negative bounds, `str.power` with a negative exponent, folds whose result depends on the order, groups of
//! an empty table, Z3's `default` over a finite index sort, and the arc cotangent of negative numbers.

mod args;
mod arrays;
mod bags;
mod bitvectors;
mod core;
mod finite_fields;
mod floats;
mod fold;
mod functions;
mod ints;
mod reals;
mod relations;
mod root_object;
mod sequences;
mod sets;
mod strings;
mod transcendentals;

use std::cmp::Ordering;

use smtlib::{Indices, Op, Term};

use crate::bv::BitVector;
use crate::enclosure::Function;
use crate::evaluate::{Computation, Fault};
use crate::finite_field::FieldElement;
use crate::fp::Float;
use crate::regex::Arena;
use crate::sequence;
use crate::string::Str;
use crate::unknown::Reason;
use crate::value::Value;
use args::{bv, chain, float, int, str};
use relations::Kind;

/// An operator where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub op: Op,
    pub indices: Indices,
    pub term: Term,
}

/// The value of an operator for known arguments.
pub(crate) fn apply(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
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
        | Op::BvSmodByZero
        | Op::SeqNthOutside => return run.open_case(run.store.head(node.term), node.term, 0, args),
        Op::RootObject => root_object::root(run, node),

        Op::Select => return arrays::select(run, args),
        Op::Store => arrays::store(args),
        Op::ConstArray => arrays::constant(run, node, args),
        Op::EqRange => return arrays::eqrange(run, node, args),
        Op::ArrayDefault => arrays::default(args),
        Op::ArrayMap => return arrays::map(run, node, args),
        Op::AsArray => return arrays::of_function(run, node),
        Op::ArrayExt => return arrays::difference(run, node, args),
        Op::ArraySetUnion => return arrays::set_combine(run, args, |a, b| a || b),
        Op::ArraySetInter => return arrays::set_combine(run, args, |a, b| a && b),
        Op::ArraySetMinus => return arrays::set_combine(run, args, |a, b| a && !b),
        Op::ArraySetComplement => {
            return arrays::pointwise(run, args, |_, values| Ok(Value::Bool(!*args::bool(&values[0])?)));
        }
        Op::ArraySetSubset => return arrays::set_subset(run, args),
        Op::ArraySetCard => arrays::set_size(args).map(Value::Int),
        Op::ArraySetHasSize => {
            arrays::set_size(args).and_then(|size| Ok(Value::Bool(size == *int(&args[1])?)))
        }

        Op::Apply => return functions::apply(run, node, args),
        Op::FmfCard => functions::cardinality_index(run, node),
        Op::FmfCardOf => functions::cardinality_argument(run, node, args),
        Op::TransitiveClosure => return functions::transitive_closure(run, node, args),
        Op::NullableNull => Ok(Value::Nullable(None)),
        Op::NullableSome => Ok(Value::Nullable(Some(args[0].clone().into()))),
        Op::NullableVal => return functions::nullable_value(run, node, args),
        Op::NullableIsNull => functions::nullable(args).map(|inner| Value::Bool(inner.is_none())),
        Op::NullableIsSome => functions::nullable(args).map(|inner| Value::Bool(inner.is_some())),
        Op::NullableLift => return functions::lift(run, node, args),
        Op::NullableLiftOperator => return functions::lift_index(run, node, args),

        Op::StrConcat => strings::concat(args),
        Op::StrLen => str(&args[0]).map(|word| Value::Int(word.length())),
        Op::StrLt => chain(args, str, |a, b| a < b),
        Op::StrLe => chain(args, str, |a, b| a <= b),
        Op::StrAt => str(&args[0]).and_then(|word| Ok(word.at(int(&args[1])?).into())),
        Op::StrSubstr => {
            str(&args[0]).and_then(|word| Ok(word.substr(int(&args[1])?, int(&args[2])?).into()))
        }
        Op::StrPrefixof => strings::test2(args, |part, word| part.is_prefix_of(word)),
        Op::StrSuffixof => strings::test2(args, |part, word| part.is_suffix_of(word)),
        Op::StrContains => strings::test2(args, |word, part| word.contains(part)),
        Op::StrIndexof => strings::index_of(args),
        Op::StrReplace => strings::replace(args, Str::replace),
        Op::StrReplaceAll => strings::replace(args, Str::replace_all),
        Op::StrIsDigit => str(&args[0]).map(|word| Value::Bool(word.is_digit())),
        Op::StrToCode => str(&args[0]).map(|word| Value::Int(word.to_code())),
        Op::StrFromCode => int(&args[0]).map(|code| Str::from_code(code).into()),
        Op::StrToInt => str(&args[0]).map(|word| Value::Int(word.to_int())),
        Op::StrFromInt => int(&args[0]).map(|value| Str::from_int(value).into()),
        Op::StrToRe => str(&args[0]).map(|word| Value::Regex(run.arena().literal(word))),
        Op::StrInRe | Op::SeqInRe => strings::matches(run, args),
        Op::StrReplaceRe => strings::replace_re(run, args, Arena::replace),
        Op::StrReplaceReAll => strings::replace_re(run, args, Arena::replace_all),
        Op::StrUpdate => {
            str(&args[0]).and_then(|word| Ok(word.update(int(&args[1])?, str(&args[2])?).into()))
        }
        Op::StrRev => str(&args[0]).map(|word| word.reverse().into()),
        Op::StrToLower => str(&args[0]).map(|word| word.to_lower().into()),
        Op::StrToUpper => str(&args[0]).map(|word| word.to_upper().into()),
        Op::StrIndexofRe => strings::index_of_re(run, args),
        Op::StrLastIndexof => {
            str(&args[0]).and_then(|word| Ok(Value::Int(word.last_index_of(str(&args[1])?))))
        }
        Op::StrFromUbv => bv(&args[0]).map(|bits| Str::from_ubv(bits).into()),
        Op::StrFromSbv => bv(&args[0]).map(|bits| Str::from_sbv(bits).into()),
        Op::StrPower => strings::power(args),

        Op::ReNone => Ok(Value::Regex(run.arena().none())),
        Op::ReAll => Ok(Value::Regex(run.arena().all())),
        Op::ReAllchar => Ok(Value::Regex(run.arena().allchar())),
        Op::ReConcat => strings::language(run, args, |arena, parts| {
            parts[1..].iter().fold(parts[0], |left, right| arena.concat(left, *right))
        }),
        Op::ReUnion => strings::language(run, args, |arena, parts| arena.union(parts)),
        Op::ReInter => strings::language(run, args, |arena, parts| arena.inter(parts)),
        Op::ReStar => strings::language(run, args, |arena, parts| arena.star(parts[0])),
        Op::RePlus => strings::language(run, args, |arena, parts| arena.plus(parts[0])),
        Op::ReOpt => strings::language(run, args, |arena, parts| arena.opt(parts[0])),
        Op::ReComp => strings::language(run, args, |arena, parts| arena.comp(parts[0])),
        Op::ReDiff => strings::language(run, args, |arena, parts| {
            parts[1..].iter().fold(parts[0], |left, right| arena.diff(left, *right))
        }),
        Op::ReXor => strings::language(run, args, |arena, parts| {
            let (left, right) = (arena.diff(parts[0], parts[1]), arena.diff(parts[1], parts[0]));
            arena.union(&[left, right])
        }),
        Op::ReRange => strings::range(run, args),
        Op::RePower => strings::power_re(run, node, args),
        Op::ReLoop => strings::indexed_loop(run, node, args, true),
        Op::ReLoopFrom => strings::indexed_loop(run, node, args, false),
        Op::ReLoopBounds | Op::ReLoopBoundFrom => strings::argument_loop(run, args),

        Op::SeqEmpty => Ok(Value::Seq(Default::default())),
        Op::SeqUnit => Ok(sequences::unit(args)),
        Op::SeqConcat => sequences::concat(args),
        Op::SeqLen => sequences::length(args),
        Op::SeqNth => return sequences::nth(run, node, args),
        Op::SeqNthInner => return sequences::nth(run, node, args),
        Op::SeqAt => sequences::at(args),
        Op::SeqExtract => sequences::extract(args),
        Op::SeqContains => sequences::relate(args, sequence::contains),
        Op::SeqPrefixof => sequences::relate(args, |part, whole| sequence::has_prefix(whole, part)),
        Op::SeqSuffixof => sequences::relate(args, |part, whole| sequence::has_suffix(whole, part)),
        Op::SeqIndexof => sequences::index_of(args),
        Op::SeqLastIndexof => sequences::last_index_of(args),
        Op::SeqReplace => sequences::replace(args),
        Op::SeqReplaceAll => sequences::replace_all(args),
        Op::SeqUpdate => sequences::update(args),
        Op::SeqRev => sequences::reverse(args),
        Op::SeqPower => sequences::power(args),
        Op::SeqMap => return sequences::map(run, node, args),
        Op::SeqMapi => return sequences::mapi(run, node, args),
        Op::SeqFoldl => return sequences::foldl(run, node, args),
        Op::SeqFoldli => return sequences::foldli(run, node, args),
        Op::SeqToRe => return strings::seq_to_re(run, args),

        Op::RoundNearestTiesToEven
        | Op::RoundNearestTiesToAway
        | Op::RoundTowardPositive
        | Op::RoundTowardNegative
        | Op::RoundTowardZero => Ok(floats::rounding_mode(node.op)),
        Op::Fp | Op::ToFpFromFields => floats::from_fields(args),
        Op::FpPlusInfinity => floats::special(run, node, |format| Float::infinity(format, false)),
        Op::FpMinusInfinity => floats::special(run, node, |format| Float::infinity(format, true)),
        Op::FpPlusZero => floats::special(run, node, |format| Float::zero(format, false)),
        Op::FpMinusZero => floats::special(run, node, |format| Float::zero(format, true)),
        Op::FpNan => floats::special(run, node, Float::nan),
        Op::FpAbs => floats::unary(args, Float::abs),
        Op::FpNeg => floats::unary(args, Float::neg),
        Op::FpAdd => floats::rounded2(args, Float::add),
        Op::FpSub => floats::rounded2(args, Float::sub),
        Op::FpMul => floats::rounded2(args, Float::mul),
        Op::FpDiv => floats::rounded2(args, Float::div),
        Op::FpFma => floats::fma(args),
        Op::FpSqrt => floats::rounded1(args, Float::sqrt),
        Op::FpRem => floats::rem(args),
        Op::FpRoundToIntegral => floats::rounded1(args, Float::round_to_integral),
        Op::FpMin | Op::FpMinInner => return floats::extremum(run, node, args, Float::min),
        Op::FpMax | Op::FpMaxInner => return floats::extremum(run, node, args, Float::max),
        Op::FpLe => chain(args, float, Float::leq),
        Op::FpLt => chain(args, float, Float::lt),
        Op::FpGe => chain(args, float, Float::geq),
        Op::FpGt => chain(args, float, Float::gt),
        Op::FpEq => chain(args, float, Float::ieee_eq),
        Op::FpIsNormal => floats::test(args, Float::is_normal),
        Op::FpIsSubnormal => floats::test(args, Float::is_subnormal),
        Op::FpIsZero => floats::test(args, Float::is_zero),
        Op::FpIsInfinite => floats::test(args, Float::is_infinite),
        Op::FpIsNan => floats::test(args, Float::is_nan),
        Op::FpIsNegative => floats::test(args, Float::is_negative),
        Op::FpIsPositive => floats::test(args, Float::is_positive),
        Op::ToFpFromBv | Op::ToFpBv => floats::from_bits(run, node, args),
        Op::ToFpFromFp | Op::ToFpFp => floats::from_float(run, node, args),
        Op::ToFpFromReal | Op::ToFpReal => floats::from_real(run, node, args),
        Op::ToFpFromSigned | Op::ToFpSigned => floats::from_signed(run, node, args),
        Op::ToFpFromUnsigned => floats::from_unsigned(run, node, args),
        Op::ToFpFromInt => floats::from_int(run, node, args),
        Op::ToFpFromBareReal => floats::from_bare_real(run, node, args),
        Op::ToFpFromRealExponent => floats::from_scaled(run, node, args, 1, 2),
        Op::ToFpFromExponentReal => floats::from_scaled(run, node, args, 2, 1),
        Op::FpToUbv | Op::FpToUbvInner => return floats::to_bits(run, node, args, false),
        Op::FpToSbv | Op::FpToSbvInner => return floats::to_bits(run, node, args, true),
        Op::FpToReal | Op::FpToRealInner => return floats::to_real(run, node, args),
        Op::FpToIeeeBv | Op::FpToIeeeBvInner => return floats::to_ieee(run, node, args),

        Op::FfAdd => finite_fields::fold(args, FieldElement::plus),
        Op::FfMul => finite_fields::fold(args, FieldElement::times),
        Op::FfNeg => finite_fields::negate(args),
        Op::FfBitsum => finite_fields::bitsum(args),

        Op::SetEmpty => Ok(Value::Set(Default::default())),
        Op::SetUniverse | Op::SetComplement => sets::universe(),
        Op::SetSingleton => sets::singleton(args),
        Op::SetUnion => sets::union(args),
        Op::SetInter => sets::filter(args, true),
        Op::SetMinus => sets::filter(args, false),
        Op::SetSubset => sets::subset(args),
        Op::SetMember => sets::member(args),
        Op::SetInsert => sets::insert(args),
        Op::SetCard => sets::size(args).map(|size| Value::int(size as i64)),
        Op::SetChoose => return sets::choose(run, node, args),
        Op::SetIsSingleton => sets::size(args).map(|size| Value::Bool(size == 1)),
        Op::SetIsEmpty => sets::size(args).map(|size| Value::Bool(size == 0)),
        Op::SetFilter | Op::SetFilterArray => return sets::filtered(run, node, args),
        Op::SetMap | Op::SetMapArray => return sets::mapped(run, node, args),
        Op::SetAll => return sets::quantified(run, node, args, false),
        Op::SetSome => return sets::quantified(run, node, args, true),
        Op::SetRange => sets::range(args),
        Op::SetFold => return sets::fold(run, node, args),

        Op::BagEmpty => Ok(Value::Bag(Default::default())),
        Op::BagMake => bags::single(args),
        Op::BagUnionMax => bags::combine(args, |a, b| a.max(b).clone()),
        Op::BagUnionDisjoint => bags::combine(args, |a, b| a + b),
        Op::BagInterMin => bags::combine(args, |a, b| a.min(b).clone()),
        Op::BagDifferenceSubtract => bags::combine(args, bags::subtract),
        Op::BagDifferenceRemove => bags::combine(args, bags::remove),
        Op::BagSubbag => bags::subbag(args),
        Op::BagCount => bags::count(args).map(Value::Int),
        Op::BagMember => bags::count(args).map(|count| Value::Bool(!count.is_zero())),
        Op::BagSetof => bags::distinct_elements(args),
        Op::BagCard => bags::size(args).map(Value::Int),
        Op::BagChoose => return bags::choose(run, node, args),
        Op::BagIsSingleton => bags::size(args).map(|size| Value::Bool(size.is_one())),
        Op::BagFromSet => bags::from_set(args),
        Op::BagToSet => bags::to_set(args),
        Op::BagMap => return bags::mapped(run, node, args),
        Op::BagFilter => return bags::filtered(run, node, args),
        Op::BagAll => return bags::quantified(run, node, args, false),
        Op::BagSome => return bags::quantified(run, node, args, true),
        Op::BagFold => return bags::fold(run, node, args),
        Op::BagPartition => return bags::partition(run, node, args),

        Op::TupleMake | Op::TupleUnit => Ok(Value::Tuple(args.into())),
        Op::TupleSelect => relations::tuple_select(run, node, args),
        Op::TupleUpdate => relations::tuple_update(run, node, args),
        Op::TupleProject | Op::TupleProjectNone => relations::tuple_project(run, node, args),
        Op::RelJoin => relations::compose(args),
        Op::RelProduct | Op::RelTableJoin | Op::RelTableJoinNone => {
            relations::join(run, node, args, Kind::Relation)
        }
        Op::RelTranspose => relations::transpose(args),
        Op::RelTclosure => relations::closure(args),
        Op::RelJoinImage => relations::join_image(args),
        Op::RelIden => relations::identity(args),
        Op::RelGroup | Op::RelGroupNone => relations::group(run, node, args, Kind::Relation),
        Op::RelAggregate | Op::RelAggregateNone => {
            return relations::aggregate(run, node, args, Kind::Relation);
        }
        Op::RelProject | Op::RelProjectNone => relations::project(run, node, args, Kind::Relation),
        Op::TableProduct | Op::TableJoin | Op::TableJoinNone => relations::join(run, node, args, Kind::Table),
        Op::TableProject | Op::TableProjectNone => relations::project(run, node, args, Kind::Table),
        Op::TableGroup | Op::TableGroupNone => relations::group(run, node, args, Kind::Table),
        Op::TableAggregate | Op::TableAggregateNone => {
            return relations::aggregate(run, node, args, Kind::Table);
        }

        Op::RealPi => Ok(transcendentals::pi()),
        Op::RealEuler => transcendentals::euler(),
        Op::Exp => transcendentals::apply(args, Function::Exp),
        Op::Log => transcendentals::apply(args, Function::Log),
        Op::Sqrt => transcendentals::sqrt(args),
        Op::Sin => transcendentals::apply(args, Function::Sin),
        Op::Cos => transcendentals::apply(args, Function::Cos),
        Op::Tan => transcendentals::apply(args, Function::Tan),
        Op::Csc => transcendentals::apply(args, Function::Csc),
        Op::Sec => transcendentals::apply(args, Function::Sec),
        Op::Cot => transcendentals::apply(args, Function::Cot),
        Op::Arcsin => transcendentals::apply(args, Function::Asin),
        Op::Arccos => transcendentals::apply(args, Function::Acos),
        Op::Arctan => transcendentals::apply(args, Function::Atan),
        Op::Arccsc => transcendentals::apply(args, Function::Acsc),
        Op::Arcsec => transcendentals::apply(args, Function::Asec),
        Op::Arccot => transcendentals::arccot(args),
        Op::Arctan2 => transcendentals::arctan2(args),
        Op::Sinh => transcendentals::apply(args, Function::Sinh),
        Op::Cosh => transcendentals::apply(args, Function::Cosh),
        Op::Tanh => transcendentals::apply(args, Function::Tanh),
        Op::Asinh => transcendentals::apply(args, Function::Asinh),
        Op::Acosh => transcendentals::apply(args, Function::Acosh),
        Op::Atanh => transcendentals::apply(args, Function::Atanh),
        Op::RealMin => reals::extremum(args, Ordering::Less),
        Op::RealMax => reals::extremum(args, Ordering::Greater),

        // See the table above.
        Op::SepEmp
        | Op::SepNil
        | Op::SepStar
        | Op::SepWand
        | Op::SepPto
        | Op::LinearOrder
        | Op::PartialOrder
        | Op::PiecewiseLinearOrder
        | Op::TreeOrder
        | Op::CharLe
        | Op::CharToInt
        | Op::CharToBv
        | Op::CharFromBv
        | Op::CharIsDigit
        | Op::ReOfPred
        | Op::ReReverse
        | Op::SetComprehension => Err(Reason::Unsupported(node.op)),
    };
    Ok(value?)
}
