//! Folding over collections without an order: decided only where the order does not matter.

use super::Node;
use crate::evaluate::{Computation, Fault};
use crate::unknown::Reason;
use crate::value::Value;

/// Collections with more elements are not folded in every order.
const MAX_ELEMENTS: usize = 6;
/// Equal elements have one order only, however many there are.
const MAX_EQUAL: usize = 4096;

/// `f(e1, f(e2, ... initial))` if it is the same for every order of the elements.
pub fn fold_any_order(
    run: &mut Computation,
    node: Node,
    function: &Value,
    initial: &Value,
    elements: &[Value],
) -> Result<Value, Fault> {
    let equal = elements.windows(2).all(|pair| pair[0] == pair[1]);
    if elements.len() > if equal { MAX_EQUAL } else { MAX_ELEMENTS } {
        return Err(Reason::Disputed.into());
    }
    let mut order: Vec<usize> = (0..elements.len()).collect();
    let result = fold_in(run, node, function, initial, elements, &order)?;
    if equal {
        return Ok(result);
    }
    while next_permutation(&mut order) {
        let other = fold_in(run, node, function, initial, elements, &order)?;
        if result.equal(&other) != Some(true) {
            return Err(Reason::Disputed.into());
        }
    }
    Ok(result)
}

fn fold_in(
    run: &mut Computation,
    node: Node,
    function: &Value,
    initial: &Value,
    elements: &[Value],
    order: &[usize],
) -> Result<Value, Fault> {
    let mut result = initial.clone();
    for place in order {
        result = run.apply_function(node.term, function, &[elements[*place].clone(), result])?;
    }
    Ok(result)
}

/// The next order of the numbers, or false after the last one.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(fall) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let next = order.iter().rposition(|number| *number > order[fall]).unwrap_or(fall);
    order.swap(fall, next);
    order[fall + 1..].reverse();
    true
}
