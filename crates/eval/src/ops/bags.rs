//! Bags: finite multisets.

use std::collections::BTreeMap;

use super::Node;
use super::args::{bag, bool, int, set};
use super::fold::fold_any_order;
use super::sets;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

type Counts = Vec<(Value, Integer)>;

pub fn made(elements: Counts) -> Result<Value, Reason> {
    Value::bag(elements).ok_or(Reason::UndecidedEquality)
}

/// `(bag e n)`: empty unless the multiplicity is positive.
pub fn single(args: &[Value]) -> Result<Value, Reason> {
    made(vec![(args[0].clone(), int(&args[1])?.clone())])
}

fn count_in(bag: &[(Value, Integer)], element: &Value) -> Integer {
    match bag.binary_search_by(|(other, _)| other.cmp(element)) {
        Ok(place) => bag[place].1.clone(),
        Err(_) => Integer::ZERO,
    }
}

/// Combines the multiplicities of every element of any of the bags.
pub fn combine(args: &[Value], combine: impl Fn(&Integer, &Integer) -> Integer) -> Result<Value, Reason> {
    let bags = args.iter().map(bag).collect::<Result<Vec<&[(Value, Integer)]>, Reason>>()?;
    let (first, rest) = bags.split_first().ok_or(Reason::Opaque)?;
    let mut result: Counts = first.to_vec();
    for other in rest {
        let left: BTreeMap<Value, Integer> = result.into_iter().collect();
        let mut elements: Vec<&Value> = left.keys().chain(other.iter().map(|(e, _)| e)).collect();
        elements.sort_unstable();
        elements.dedup();
        result = elements
            .into_iter()
            .map(|element| {
                let count = left.get(element).cloned().unwrap_or(Integer::ZERO);
                (element.clone(), combine(&count, &count_in(other, element)))
            })
            .filter(|(_, count)| count.signum() > 0)
            .collect();
    }
    made(result)
}

pub fn subtract(a: &Integer, b: &Integer) -> Integer {
    if a > b { a - b } else { Integer::ZERO }
}

pub fn remove(a: &Integer, b: &Integer) -> Integer {
    if b.is_zero() { a.clone() } else { Integer::ZERO }
}

pub fn subbag(args: &[Value]) -> Result<Value, Reason> {
    let (inner, outer) = (bag(&args[0])?, bag(&args[1])?);
    Ok(Value::Bool(inner.iter().all(|(element, count)| *count <= count_in(outer, element))))
}

pub fn count(args: &[Value]) -> Result<Integer, Reason> {
    let elements = bag(&args[1])?;
    if !elements.is_empty() && !args[0].is_definite() {
        return Err(Reason::UndecidedEquality);
    }
    Ok(count_in(elements, &args[0]))
}

/// The set of a bag's elements, as a bag.
pub fn distinct_elements(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Bag(bag(&args[0])?.iter().map(|(element, _)| (element.clone(), Integer::ONE)).collect()))
}

pub fn size(args: &[Value]) -> Result<Integer, Reason> {
    Ok(bag(&args[0])?.iter().fold(Integer::ZERO, |sum, (_, count)| &sum + count))
}

pub fn from_set(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Bag(set(&args[0])?.iter().map(|element| (element.clone(), Integer::ONE)).collect()))
}

pub fn to_set(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Set(bag(&args[0])?.iter().map(|(element, _)| element.clone()).collect()))
}

/// `bag.choose`: the only element; otherwise a choice of the solver's.
pub fn choose(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match bag(&args[0])? {
        [(only, _)] => Ok(only.clone()),
        elements => {
            let sort = run.store.sort_of(node.term);
            let first = elements.first().map(|(element, _)| element.clone());
            run.open_case_or(run.store.head(node.term), node.term, 0, args, |run| {
                first.or_else(|| run.sorts().default_value(sort))
            })
        }
    }
}

pub fn mapped(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut images = Vec::new();
    for (element, count) in bag(&args[1])? {
        let image = run.apply_function(node.term, &args[0], std::slice::from_ref(element))?;
        images.push((image, count.clone()));
    }
    Ok(made(images)?)
}

pub fn filtered(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut kept = Vec::new();
    for (element, count) in bag(&args[1])? {
        if run.apply_function(node.term, &args[0], std::slice::from_ref(element))? == Value::TRUE {
            kept.push((element.clone(), count.clone()));
        }
    }
    Ok(Value::Bag(kept.into()))
}

pub fn quantified(run: &mut Computation, node: Node, args: &[Value], wanted: bool) -> Result<Value, Fault> {
    let elements = bag(&args[1])?.iter().map(|(element, _)| element);
    sets::decided(run, node, &args[0], elements, wanted)
}

/// Every element as often as it occurs.
pub fn repeated(elements: &[(Value, Integer)]) -> Result<Vec<Value>, Reason> {
    let mut all = Vec::new();
    for (element, count) in elements {
        let count = count.to_usize().filter(|count| all.len() + count <= 1 << 16);
        let count = count.ok_or(Reason::Budget(Budget::Length))?;
        all.extend(std::iter::repeat_n(element.clone(), count));
    }
    Ok(all)
}

pub fn fold(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let elements = repeated(bag(&args[2])?)?;
    fold_any_order(run, node, &args[0], &args[1], &elements)
}

/// `bag.partition`: the classes of a relation, if it is an equivalence on the elements.
pub fn partition(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let elements = bag(&args[1])?;
    if elements.is_empty() || elements.len() > 64 {
        return Err(Reason::Disputed.into());
    }
    let size = elements.len();
    let mut related = vec![false; size * size];
    for i in 0..size {
        for j in 0..size {
            let pair = [elements[i].0.clone(), elements[j].0.clone()];
            related[i * size + j] = *bool(&run.apply_function(node.term, &args[0], &pair)?)?;
        }
    }
    let holds = |i: usize, j: usize| related[i * size + j];
    let equivalence = (0..size).all(|i| {
        holds(i, i)
            && (0..size).all(|j| holds(i, j) == holds(j, i))
            && (0..size).all(|j| !holds(i, j) || (0..size).all(|k| holds(i, k) == holds(j, k)))
    });
    if !equivalence {
        return Err(Reason::Disputed.into());
    }
    let classes = (0..size).filter(|i| (0..*i).all(|j| !holds(*i, j))).map(|i| {
        let class = (0..size).filter(|j| holds(i, *j)).map(|j| elements[j].clone()).collect();
        (Value::Bag(class), Integer::ONE)
    });
    Ok(made(classes.collect())?)
}
