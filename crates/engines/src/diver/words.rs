//! Sets of strings and sequences that string predicates state: the paper's regular expressions, kept as the predicate
//! they come from.

use std::cmp::Ordering;

use eval::Value;
use eval::abstraction::Interval;
use eval::integer::Integer;

/// A set of words; the parameter is a string or a sequence.
#[derive(Clone, PartialEq, Debug)]
pub enum Words {
    /// Smaller than this in `str.<`, or also equal to it.
    Below(Value, Closed),
    /// Greater than this, or also equal to it.
    Above(Value, Closed),
    /// Prefixes of this word.
    PrefixOf(Value),
    SuffixOf(Value),
    PartOf(Value),
    /// Words with this prefix.
    StartingWith(Value),
    EndingWith(Value),
    Containing(Value),
    /// Words of certain lengths.
    Length(Interval<Integer>),
}

/// Is the bound itself in the set?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    Yes,
    No,
}

impl Words {
    /// Are there infinitely many words: does the regular expression need a star (the paper's scores)?
    pub fn is_infinite(&self) -> bool {
        match self {
            Words::Below(word, _) => length(word).is_some_and(|length| length > 0),
            Words::Above(..) | Words::StartingWith(_) | Words::EndingWith(_) | Words::Containing(_) => true,
            Words::PrefixOf(_) | Words::SuffixOf(_) | Words::PartOf(_) => false,
            // Words of a bounded length are many, though their expression has no star.
            Words::Length(interval) => interval.ends().1.is_none_or(|most| most.signum() > 0),
        }
    }

    pub fn contains(&self, value: &Value) -> Option<bool> {
        match self {
            Words::Below(bound, closed) => below(value, bound, *closed),
            Words::Above(bound, closed) => below(bound, value, *closed),
            Words::PrefixOf(whole) => two(value, whole, is_prefix, is_prefix),
            Words::StartingWith(part) => two(part, value, is_prefix, is_prefix),
            Words::SuffixOf(whole) => two(value, whole, is_suffix, is_suffix),
            Words::EndingWith(part) => two(part, value, is_suffix, is_suffix),
            Words::PartOf(whole) => two(value, whole, is_part, is_part),
            Words::Containing(part) => two(part, value, is_part, is_part),
            Words::Length(interval) => Some(interval.contains(&Integer::new(length(value)? as i64))),
        }
    }
}

pub(super) fn length(word: &Value) -> Option<usize> {
    match word {
        Value::Str(word) => Some(word.len()),
        Value::Seq(parts) => Some(parts.len()),
        _ => None,
    }
}

fn below(a: &Value, b: &Value, closed: Closed) -> Option<bool> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(match a.chars().cmp(b.chars()) {
            Ordering::Less => true,
            Ordering::Equal => closed == Closed::Yes,
            Ordering::Greater => false,
        }),
        _ => None,
    }
}

/// A relation of two words of one kind. Elements that are equal only by deep reasoning make it undecided.
fn two(
    a: &Value,
    b: &Value,
    chars: fn(&[u32], &[u32]) -> bool,
    elements: fn(&[Value], &[Value]) -> bool,
) -> Option<bool> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(chars(a.chars(), b.chars())),
        (Value::Seq(a), Value::Seq(b)) if a.iter().chain(b.iter()).all(Value::is_definite) => {
            Some(elements(a, b))
        }
        _ => None,
    }
}

fn is_prefix<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    whole.starts_with(part)
}

fn is_suffix<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    whole.ends_with(part)
}

fn is_part<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|window| window == part)
}
