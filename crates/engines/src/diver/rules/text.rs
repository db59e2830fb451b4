//! Strings and sequences.

use std::ops::Bound;

use eval::abstraction::Interval;
use eval::integer::Integer;
use smtlib::{Op, Store, Term};

use super::{Exact, Image, Node};
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
