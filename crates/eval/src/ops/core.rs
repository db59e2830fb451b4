//! The core theory, and Z3's counting constraints.

use smtlib::Index;

use super::Node;
use super::args::bool;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::unknown::Reason;
use crate::value::Value;

pub fn xor(args: &[Value]) -> Result<Value, Reason> {
    let mut odd = false;
    for arg in args {
        odd ^= *bool(arg)?;
    }
    Ok(Value::Bool(odd))
}

/// `=`: chainable. No arguments here means that they are one and the same term.
pub fn equal(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let Some(first) = run.store.args(node.term).first() else { return Err(Reason::Opaque.into()) };
    let sort = run.store.sort_of(*first);
    let mut fault = None;
    for pair in args.windows(2) {
        match run.equal(node.term, sort, &pair[0], &pair[1]) {
            Ok(true) => {}
            Ok(false) => return Ok(Value::FALSE),
            Err(other) => fault = Some(other),
        }
    }
    fault.map_or(Ok(Value::TRUE), Err)
}

/// `distinct`: pairwise.
pub fn distinct(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    if args.len() > 8 && args.iter().all(Value::is_definite) {
        let mut sorted: Vec<&Value> = args.iter().collect();
        sorted.sort_unstable();
        return Ok(Value::Bool(sorted.windows(2).all(|pair| pair[0] != pair[1])));
    }
    let sort = run.store.sort_of(run.store.args(node.term)[0]);
    let mut fault = None;
    for (i, a) in args.iter().enumerate() {
        for b in &args[i + 1..] {
            match run.equal(node.term, sort, a, b) {
                Ok(false) => {}
                Ok(true) => return Ok(Value::FALSE),
                Err(other) => fault = Some(other),
            }
        }
    }
    fault.map_or(Ok(Value::TRUE), Err)
}

/// How many arguments are true, and the bound.
pub fn count(run: &Computation, node: Node, args: &[Value]) -> Result<(Integer, Integer), Reason> {
    let mut count = 0i64;
    for arg in args {
        count += i64::from(*bool(arg)?);
    }
    let bound = run.store.index_list(node.indices).first().ok_or(Reason::Opaque)?;
    Ok((Integer::new(count), number(bound)?))
}

/// The sum of the coefficients of true arguments, and the bound. The first index is the bound.
pub fn weigh(run: &Computation, node: Node, args: &[Value]) -> Result<(Integer, Integer), Reason> {
    let (bound, weights) = run.store.index_list(node.indices).split_first().ok_or(Reason::Opaque)?;
    if weights.len() != args.len() {
        return Err(Reason::Opaque);
    }
    let mut sum = Integer::ZERO;
    for (weight, arg) in weights.iter().zip(args) {
        if *bool(arg)? {
            sum = &sum + &number(weight)?;
        }
    }
    Ok((sum, number(bound)?))
}

/// An index as a number. Negative ones reach us as symbols and are not looked into.
pub fn number(index: &Index) -> Result<Integer, Reason> {
    match index {
        Index::Number(n) => Ok(Integer::from(i64::from(*n))),
        Index::Big(n) => Ok(Integer::from((**n).clone())),
        _ => Err(Reason::Opaque),
    }
}
