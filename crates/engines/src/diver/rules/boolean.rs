//! Connectives, equality, `ite`.

use smtlib::Op;

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;

/// Longer equalities and distinctions keep their values: the rules look at all pairs.
const LONGEST: usize = 32;

pub(super) fn preimage(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    if op == Op::Ite {
        return ite(node, i, set);
    }
    let Constraint::Bool(truth) = *set else { return None };
    match op {
        Op::Not => Some(Exact(Constraint::Bool(!truth))),
        Op::And => junction(node, i, truth, true, false),
        Op::Or => junction(node, i, truth, false, false),
        Op::Implies => junction(node, i, truth, false, true),
        Op::Xor => {
            let others =
                (0..node.len()).filter(|j| *j != i).try_fold(false, |sum, j| Some(sum != node.truth(j)?))?;
            Some(Exact(Constraint::Bool(truth != others)))
        }
        Op::Equal if node.len() <= LONGEST => equal(node, i, truth),
        Op::Distinct if node.len() <= LONGEST => distinct(node, i, truth),
        _ => None,
    }
}

/// Conjunctions (`all`) and disjunctions; an implication is a disjunction whose premises are negated.
fn junction(node: &Node<'_>, i: usize, truth: bool, all: bool, implication: bool) -> Option<Image> {
    let last = node.len() - 1;
    let negated = |j: usize| implication && j != last;
    // How many of the other arguments decide the term by themselves, and how many do not.
    let (mut deciding, mut neutral) = if all { (node.falses, node.trues) } else { (node.trues, node.falses) };
    if implication {
        // Premises count the other way round.
        let conclusion = node.truth(last);
        deciding =
            node.falses - usize::from(conclusion == Some(false)) + usize::from(conclusion == Some(true));
        neutral = node.trues - usize::from(conclusion == Some(true)) + usize::from(conclusion == Some(false));
    }
    let own = node.truth(i).map(|own| own != negated(i));
    let decides = |own: bool| own != all;
    deciding -= usize::from(own.is_some_and(decides));
    neutral -= usize::from(own.is_some_and(|own| !decides(own)));
    let place = |value: bool| Constraint::Bool(value != negated(i));
    if truth == all {
        // Every argument has to be neutral.
        (neutral + 1 == node.len()).then(|| Exact(place(all)))
    } else if deciding > 0 {
        Some(Exact(Constraint::Any))
    } else if neutral + 1 == node.len() {
        Some(Exact(place(!all)))
    } else {
        // Others are undecided: this one has to decide.
        Some(Part(place(!all)))
    }
}

fn equal(node: &Node<'_>, i: usize, truth: bool) -> Option<Image> {
    let others = node.others(i)?;
    let (first, rest) = others.split_first()?;
    if !first.is_definite() {
        return None;
    }
    let mut same = true;
    for other in rest {
        same &= first.equal(other)?;
    }
    match (same, truth) {
        (true, _) => {
            let set = Constraint::exactly((*first).clone());
            Some(Exact(if truth { set } else { set.complement() }))
        }
        (false, false) => Some(Exact(Constraint::Any)),
        (false, true) => None,
    }
}

fn distinct(node: &Node<'_>, i: usize, truth: bool) -> Option<Image> {
    let others = node.others(i)?;
    if !others.iter().all(|value| value.is_definite()) {
        return None;
    }
    let mut repeated = false;
    for (j, a) in others.iter().enumerate() {
        for b in &others[j + 1..] {
            repeated |= a.equal(b)?;
        }
    }
    if repeated {
        return (!truth).then_some(Exact(Constraint::Any));
    }
    let set = match others.as_slice() {
        [only] => Constraint::exactly((*only).clone()),
        _ => Constraint::OneOf(others.into_iter().cloned().collect()),
    };
    Some(Exact(if truth { set.complement() } else { set }))
}

fn ite(node: &Node<'_>, i: usize, set: &Constraint) -> Option<Image> {
    if i > 0 {
        let chosen = if node.truth(0)? { 1 } else { 2 };
        return Some(Exact(if i == chosen { set.clone() } else { Constraint::Any }));
    }
    let fits = |branch: usize| set.contains(node.value(branch)?);
    match (fits(1), fits(2)) {
        (Some(true), Some(true)) => Some(Exact(Constraint::Any)),
        (Some(true), Some(false)) => Some(Exact(Constraint::Bool(true))),
        (Some(false), Some(true)) => Some(Exact(Constraint::Bool(false))),
        _ => None,
    }
}
