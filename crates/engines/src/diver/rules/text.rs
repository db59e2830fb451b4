//! Strings and sequences.

use std::ops::Bound;

use eval::Value;
use eval::abstraction::Interval;
use eval::integer::Integer;
use eval::string::Str;
use smtlib::{Op, Store, Term};

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;
use crate::diver::words::{Closed, Words, length};

pub(super) fn preimage(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    use Op::*;
    match (op, set) {
        (StrLt | StrLe, Constraint::Bool(truth)) => {
            let bound = node.other(i)?.clone();
            // `x < b` for the first, `x > b` for the second; a negation turns round both order and closedness.
            let below = (i == 0) == *truth;
            let closed = if (op == StrLe) == *truth { Closed::Yes } else { Closed::No };
            Some(Exact(Constraint::Words(if below {
                Words::Below(bound, closed)
            } else {
                Words::Above(bound, closed)
            })))
        }
        (
            StrPrefixof | SeqPrefixof | StrSuffixof | SeqSuffixof | StrContains | SeqContains,
            Constraint::Bool(truth),
        ) => {
            let other = node.other(i)?.clone();
            length(&other)?;
            let words = Constraint::Words(match (op, i) {
                (StrPrefixof | SeqPrefixof, 0) => Words::PrefixOf(other),
                (StrPrefixof | SeqPrefixof, _) => Words::StartingWith(other),
                (StrSuffixof | SeqSuffixof, 0) => Words::SuffixOf(other),
                (StrSuffixof | SeqSuffixof, _) => Words::EndingWith(other),
                (_, 0) => Words::Containing(other),
                (_, _) => Words::PartOf(other),
            });
            Some(Exact(if *truth { words } else { words.complement() }))
        }
        (StrLen | SeqLen, Constraint::Int(interval)) => lengths(interval),
        (StrConcat | SeqConcat, Constraint::Words(Words::Length(interval))) => {
            let others = (0..node.len())
                .filter(|j| *j != i)
                .try_fold(0usize, |sum, j| Some(sum + length(node.value(j)?)?))?;
            let others = Integer::from(others as u64);
            let (low, high) = interval.ends();
            let less =
                |end: Option<Integer>| end.map_or(Bound::Unbounded, |end| Bound::Included(&end - &others));
            lengths(&Interval { low: less(low), high: less(high) })
        }
        (StrConcat | SeqConcat, Constraint::Words(words)) => concatenation(node, i, words),
        (StrSubstr | SeqExtract | StrAt | SeqAt, _) => part(node, i),
        (StrIndexof | SeqIndexof, _) => index(node, i),
        (StrReplace | SeqReplace | StrReplaceAll | SeqReplaceAll, _) => replacement(node, i),
        (StrToCode, Constraint::Int(_))
            if node.value(0).and_then(length).is_some_and(|length| length != 1) =>
        {
            // No code for anything but single characters.
            let one = Interval::closed(Integer::ONE, Integer::ONE);
            Some(Part(Constraint::Words(Words::Length(one)).complement()))
        }
        (StrFromInt | StrFromCode, _) if node.int(0)?.is_negative() => {
            Some(Part(Constraint::Int(below_zero())))
        }
        (StrInRe, Constraint::Bool(truth)) if i == 0 => {
            node.value(1)?;
            let language = node.args()[1];
            let set = Constraint::Language(language, is_infinite(node.store, language));
            Some(Exact(if *truth { set } else { set.complement() }))
        }
        _ => None,
    }
}

fn lengths(interval: &Interval<Integer>) -> Option<Image> {
    let (low, high) = interval.ends();
    if high.is_none() && low.as_ref().is_none_or(|low| low.signum() <= 0) {
        return Some(Exact(Constraint::Any));
    }
    Some(Exact(Constraint::Words(Words::Length(interval.clone()))))
}

/// Does the expression have a star, or something that stands for one?
fn is_infinite(store: &Store, language: Term) -> bool {
    store.subterms(&[language]).iter().any(|term| {
        matches!(store.op_of(*term), Some(Op::ReStar | Op::RePlus | Op::ReAll | Op::ReComp | Op::ReDiff))
    })
}

fn below_zero() -> Interval<Integer> {
    Interval { low: Bound::Unbounded, high: Bound::Included(Integer::new(-1)) }
}

fn at_least(low: Integer) -> Image {
    Part(Constraint::Int(Interval { low: Bound::Included(low), high: Bound::Unbounded }))
}

/// The first characters of a word.
fn prefix(word: &Value, count: usize) -> Option<Value> {
    match word {
        Value::Str(word) => Some(Value::Str(Str::new(word.chars().get(..count)?)?)),
        Value::Seq(parts) => Some(Value::Seq(parts.get(..count)?.into())),
        _ => None,
    }
}

/// A word in a concatenation: free where the others see to it, otherwise it has to do what it does alone.
fn concatenation(node: &Node<'_>, i: usize, words: &Words) -> Option<Image> {
    let has = |j: usize, words: &Words| node.value(j).and_then(|value| words.contains(value)) == Some(true);
    let others = match words {
        Words::StartingWith(_) => i > 0 && has(0, words),
        Words::EndingWith(_) => i + 1 < node.len() && has(node.len() - 1, words),
        Words::Containing(_) => (0..node.len()).any(|j| j != i && has(j, words)),
        _ => return None,
    };
    if others {
        return Some(Exact(Constraint::Any));
    }
    let place = match words {
        Words::StartingWith(_) => i == 0,
        Words::EndingWith(_) => i + 1 == node.len(),
        _ => true,
    };
    (place && has(i, words)).then(|| Part(Constraint::Words(words.clone())))
}

/// A part of a word by its place: what comes after it does not count.
fn part(node: &Node<'_>, i: usize) -> Option<Image> {
    let word = node.value(0)?;
    let all = Integer::from(length(word)? as u64);
    let (from, count) = (node.int(1)?, if node.len() == 3 { node.int(2)?.clone() } else { Integer::ONE });
    let outside = from.is_negative() || *from >= all;
    let empty = count.signum() <= 0;
    match i {
        0 if from.is_negative() || empty => Some(Exact(Constraint::Any)),
        0 if outside => {
            // Words that are as short.
            let most = Interval { low: Bound::Unbounded, high: Bound::Included(from.clone()) };
            Some(Part(Constraint::Words(Words::Length(most))))
        }
        0 => {
            let end = (from + &count).to_usize()?;
            Some(Part(Constraint::Words(Words::StartingWith(prefix(word, end)?))))
        }
        1 if empty => Some(Exact(Constraint::Any)),
        1 if from.is_negative() => Some(Part(Constraint::Int(below_zero()))),
        1 if outside => Some(at_least(all)),
        2 if outside => Some(Exact(Constraint::Any)),
        2 if empty => Some(Part(Constraint::Int(Interval {
            low: Bound::Unbounded,
            high: Bound::Included(Integer::ZERO),
        }))),
        2 if from + &count >= all => Some(at_least(&all - from)),
        _ => None,
    }
}

/// Where a word is first found: what comes after the place does not count.
fn index(node: &Node<'_>, i: usize) -> Option<Image> {
    if node.len() != 3 {
        return None;
    }
    let (word, wanted, from) = (node.value(0)?, node.value(1)?, node.int(2)?);
    let found = found(word, wanted, from)?;
    match (i, found) {
        (0, Some(place)) => {
            let end = prefix(word, place + length(wanted)?)?;
            Some(Part(Constraint::Words(Words::StartingWith(end))))
        }
        // A start below zero finds nothing in any word.
        (0 | 1, None) if from.is_negative() => Some(Exact(Constraint::Any)),
        (1, None) => {
            let parts = Words::PartOf(word.clone());
            (parts.contains(wanted) == Some(false)).then(|| Part(Constraint::Words(parts).complement()))
        }
        (2, Some(place)) => {
            Some(Part(Constraint::Int(Interval::closed(from.clone(), Integer::from(place as u64)))))
        }
        (2, None) if from.is_negative() => Some(Part(Constraint::Int(below_zero()))),
        (2, None) => Some(at_least(from.clone())),
        _ => None,
    }
}

/// The first place of a word in another from a place on; `None` inside if there is none.
fn found(word: &Value, wanted: &Value, from: &Integer) -> Option<Option<usize>> {
    fn first<T: PartialEq>(word: &[T], wanted: &[T], from: &Integer) -> Option<usize> {
        let from = if from.is_negative() { return None } else { from.to_usize()? };
        let rest = word.get(from..)?;
        if wanted.is_empty() {
            return Some(from);
        }
        rest.windows(wanted.len()).position(|part| part == wanted).map(|place| from + place)
    }
    match (word, wanted) {
        (Value::Str(word), Value::Str(wanted)) => Some(first(word.chars(), wanted.chars(), from)),
        (Value::Seq(word), Value::Seq(wanted))
            if word.iter().chain(wanted.iter()).all(Value::is_definite) =>
        {
            Some(first(word, wanted, from))
        }
        _ => None,
    }
}

/// Where nothing is replaced, it does not matter by what.
fn replacement(node: &Node<'_>, i: usize) -> Option<Image> {
    let (word, old) = (node.value(0)?, node.value(1)?);
    if found(word, old, &Integer::ZERO)?.is_some() {
        return None;
    }
    match i {
        1 => Some(Part(Constraint::Words(Words::PartOf(word.clone())).complement())),
        2 => Some(Exact(Constraint::Any)),
        _ => None,
    }
}
