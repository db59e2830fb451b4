//! Sequences.

use std::sync::Arc;

use smtlib::{Head, Indices, Op};

use super::Node;
use super::args::{int, seq};
use super::strings::exponent;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::sequence;
use crate::unknown::Reason;
use crate::value::Value;

fn made(parts: Vec<Value>) -> Value {
    Value::Seq(parts.into())
}

/// Searching compares elements, whose identity must show in their form.
fn comparable(args: &[Value]) -> Result<(), Reason> {
    if args.iter().all(Value::is_definite) { Ok(()) } else { Err(Reason::UndecidedEquality) }
}

pub fn concat(args: &[Value]) -> Result<Value, Reason> {
    let parts = args.iter().map(seq).collect::<Result<Vec<&[Value]>, Reason>>()?;
    Ok(made(sequence::concat(&parts)?))
}

pub fn length(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::int(seq(&args[0])?.len() as i64))
}

pub fn at(args: &[Value]) -> Result<Value, Reason> {
    Ok(made(sequence::at(seq(&args[0])?, sequence::position(int(&args[1])?)).to_vec()))
}

/// `seq.nth`; outside the sequence a function of both arguments, under Z3's name for it.
pub fn nth(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match sequence::nth(seq(&args[0])?, sequence::position(int(&args[1])?)) {
        Some(value) => Ok(value.clone()),
        None => run.open_case(Head::Op(Op::SeqNthOutside, Indices::NONE), node.term, 0, args),
    }
}

pub fn extract(args: &[Value]) -> Result<Value, Reason> {
    let (start, count) = (sequence::position(int(&args[1])?), sequence::position(int(&args[2])?));
    Ok(made(sequence::extract(seq(&args[0])?, start, count).to_vec()))
}

pub fn relate(args: &[Value], holds: impl Fn(&[Value], &[Value]) -> bool) -> Result<Value, Reason> {
    comparable(args)?;
    Ok(Value::Bool(holds(seq(&args[0])?, seq(&args[1])?)))
}

pub fn index_of(args: &[Value]) -> Result<Value, Reason> {
    comparable(args)?;
    let from = sequence::position(int(&args[2])?);
    Ok(place(sequence::index_of(seq(&args[0])?, seq(&args[1])?, from)))
}

pub fn last_index_of(args: &[Value]) -> Result<Value, Reason> {
    comparable(args)?;
    Ok(place(sequence::last_index_of(seq(&args[0])?, seq(&args[1])?)))
}

fn place(found: Option<usize>) -> Value {
    Value::Int(found.map_or(Integer::new(-1), |place| Integer::new(place as i64)))
}

pub fn replace(args: &[Value]) -> Result<Value, Reason> {
    comparable(&args[..2])?;
    Ok(made(sequence::replace(seq(&args[0])?, seq(&args[1])?, seq(&args[2])?)?))
}

pub fn replace_all(args: &[Value]) -> Result<Value, Reason> {
    comparable(&args[..2])?;
    Ok(made(sequence::replace_all(seq(&args[0])?, seq(&args[1])?, seq(&args[2])?)?))
}

pub fn update(args: &[Value]) -> Result<Value, Reason> {
    let place = sequence::position(int(&args[1])?);
    Ok(made(sequence::update(seq(&args[0])?, place, seq(&args[2])?)))
}

pub fn reverse(args: &[Value]) -> Result<Value, Reason> {
    Ok(made(sequence::reverse(seq(&args[0])?)))
}

pub fn power(args: &[Value]) -> Result<Value, Reason> {
    let part = seq(&args[0])?;
    let count = exponent(&args[1], part.len())?;
    Ok(made(sequence::concat(&vec![part; count])?))
}

pub fn unit(args: &[Value]) -> Value {
    Value::Seq(Arc::from([args[0].clone()]))
}

/// Z3's `seq.map`: a function on every element.
pub fn map(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut parts = Vec::new();
    for element in seq(&args[1])? {
        parts.push(run.apply_function(node.term, &args[0], std::slice::from_ref(element))?);
    }
    Ok(made(parts))
}

/// Z3's `seq.mapi`: the function also takes the place, counted from an offset.
pub fn mapi(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut place = int(&args[1])?.clone();
    let mut parts = Vec::new();
    for element in seq(&args[2])? {
        let values = [Value::Int(place.clone()), element.clone()];
        parts.push(run.apply_function(node.term, &args[0], &values)?);
        place = &place + &Integer::ONE;
    }
    Ok(made(parts))
}

pub fn foldl(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut result = args[1].clone();
    for element in seq(&args[2])? {
        result = run.apply_function(node.term, &args[0], &[result, element.clone()])?;
    }
    Ok(result)
}

pub fn foldli(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut place = int(&args[1])?.clone();
    let mut result = args[2].clone();
    for element in seq(&args[3])? {
        let values = [Value::Int(place.clone()), result, element.clone()];
        result = run.apply_function(node.term, &args[0], &values)?;
        place = &place + &Integer::ONE;
    }
    Ok(result)
}
