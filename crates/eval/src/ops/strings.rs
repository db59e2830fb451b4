//! Strings and regular expressions.

use super::Node;
use super::args::{int, regex, str};
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::regex::{Arena, Re, TooHard};
use crate::sequence::{MAX_LENGTH, TooLong};
use crate::string::Str;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

const TOO_LONG: Reason = Reason::Budget(Budget::Length);

impl From<TooLong> for Reason {
    fn from(_: TooLong) -> Reason {
        TOO_LONG
    }
}

impl From<TooHard> for Reason {
    fn from(why: TooHard) -> Reason {
        match why {
            TooHard::Length => TOO_LONG,
            _ => Reason::Budget(Budget::Regex),
        }
    }
}

pub fn concat(args: &[Value]) -> Result<Value, Reason> {
    let parts = args.iter().map(str).collect::<Result<Vec<&Str>, Reason>>()?;
    Ok(Value::Str(Str::concat(&parts)?))
}

pub fn test2(args: &[Value], holds: impl Fn(&Str, &Str) -> bool) -> Result<Value, Reason> {
    Ok(Value::Bool(holds(str(&args[0])?, str(&args[1])?)))
}

pub fn index_of(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Int(str(&args[0])?.index_of(str(&args[1])?, int(&args[2])?)))
}

pub fn replace(
    args: &[Value],
    apply: impl Fn(&Str, &Str, &Str) -> Result<Str, TooLong>,
) -> Result<Value, Reason> {
    Ok(Value::Str(apply(str(&args[0])?, str(&args[1])?, str(&args[2])?)?))
}

/// How often `power` repeats its argument; open for negative numbers.
pub fn exponent(value: &Value, length: usize) -> Result<usize, Reason> {
    let count = int(value)?;
    if count.is_negative() {
        return Err(Reason::Disputed);
    }
    if length == 0 {
        return Ok(0);
    }
    count.to_usize().filter(|count| count.saturating_mul(length) <= MAX_LENGTH).ok_or(TOO_LONG)
}

pub fn power(args: &[Value]) -> Result<Value, Reason> {
    let word = str(&args[0])?;
    let count = exponent(&args[1], word.len())?;
    Ok(Value::Str(Str::concat(&vec![word; count])?))
}

pub fn matches(run: &mut Computation, args: &[Value]) -> Result<Value, Reason> {
    let (word, language) = (str(&args[0])?, regex(&args[1])?);
    Ok(Value::Bool(run.arena().matches(*language, word)?))
}

pub fn replace_re(
    run: &mut Computation,
    args: &[Value],
    apply: impl Fn(&mut Arena, &Str, Re, &Str) -> Result<Str, TooHard>,
) -> Result<Value, Reason> {
    let (word, language, by) = (str(&args[0])?, regex(&args[1])?, str(&args[2])?);
    Ok(Value::Str(apply(run.arena(), word, *language, by)?))
}

pub fn index_of_re(run: &mut Computation, args: &[Value]) -> Result<Value, Reason> {
    let (word, language, from) = (str(&args[0])?, regex(&args[1])?, int(&args[2])?);
    Ok(Value::Int(run.arena().index_of(word, *language, from)?))
}

/// An operator that builds a language from languages.
pub fn language(
    run: &mut Computation,
    args: &[Value],
    build: impl Fn(&mut Arena, &[Re]) -> Re,
) -> Result<Value, Reason> {
    let parts = args.iter().map(|arg| regex(arg).copied()).collect::<Result<Vec<Re>, Reason>>()?;
    Ok(Value::Regex(build(run.arena(), &parts)))
}

pub fn range(run: &mut Computation, args: &[Value]) -> Result<Value, Reason> {
    let (first, last) = (str(&args[0])?, str(&args[1])?);
    Ok(Value::Regex(run.arena().range(first, last)))
}

/// Loops with their bounds as indices. A lower bound above the upper one gives the empty language.
pub fn indexed_loop(run: &mut Computation, node: Node, args: &[Value], upper: bool) -> Result<Value, Reason> {
    let min = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    let max = if upper {
        Some(run.store.index_number(node.indices, 1).ok_or(Reason::Opaque)?.into())
    } else {
        None
    };
    repeat(run, &args[0], min.into(), max)
}

/// Loops with their bounds as arguments.
pub fn argument_loop(run: &mut Computation, args: &[Value]) -> Result<Value, Reason> {
    let bound = |value: &Value| {
        let number: &Integer = int(value)?;
        if number.is_negative() {
            return Err(Reason::Disputed);
        }
        number.to_u64().ok_or(Reason::Budget(Budget::Regex))
    };
    let min = bound(&args[1])?;
    let max = args.get(2).map(bound).transpose()?;
    repeat(run, &args[0], min, max)
}

pub fn power_re(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let count = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?.into();
    repeat(run, &args[0], count, Some(count))
}

fn repeat(run: &mut Computation, body: &Value, min: u64, max: Option<u64>) -> Result<Value, Reason> {
    let body = *regex(body)?;
    let arena = run.arena();
    if max.is_some_and(|max| max < min) {
        return Ok(Value::Regex(arena.none()));
    }
    Ok(Value::Regex(arena.repeat(body, min, max)))
}

/// Z3's names for strings in regular expressions over sequences.
pub fn seq_to_re(run: &mut Computation, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Regex(run.arena().literal(str(&args[0])?)))
}
