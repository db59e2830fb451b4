//! Tuples, relations (sets of tuples) and tables (bags of tuples) of cvc5.

use std::collections::BTreeMap;

use smtlib::Index;

use super::Node;
use super::args::{bag, int, set, tuple};
use super::bags;
use super::fold::fold_any_order;
use super::sets;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

/// Products with more rows are refused.
const MAX_ROWS: usize = 1 << 16;

/// A table: rows with multiplicities. Relations are tables whose rows all count once.
type Rows = Vec<(Vec<Value>, Integer)>;

/// What the rows are put back into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Relation,
    Table,
}

impl Kind {
    fn rows(self, value: &Value) -> Result<Rows, Reason> {
        match self {
            Kind::Relation => {
                set(value)?.iter().map(|row| Ok((tuple(row)?.to_vec(), Integer::ONE))).collect()
            }
            Kind::Table => {
                bag(value)?.iter().map(|(row, count)| Ok((tuple(row)?.to_vec(), count.clone()))).collect()
            }
        }
    }

    fn made(self, rows: Rows) -> Result<Value, Reason> {
        let rows = rows.into_iter().map(|(row, count)| (Value::tuple(row), count));
        self.collected(rows.collect())
    }

    fn collected(self, values: Vec<(Value, Integer)>) -> Result<Value, Reason> {
        match self {
            Kind::Relation => sets::made(values.into_iter().map(|(value, _)| value).collect()),
            Kind::Table => bags::made(values),
        }
    }
}

/// The numbers that stand as indices.
fn columns(run: &Computation, node: Node) -> Result<Vec<usize>, Reason> {
    let indices = run.store.index_list(node.indices).iter();
    indices
        .map(|index| match index {
            Index::Number(n) => Ok(*n as usize),
            _ => Err(Reason::Opaque),
        })
        .collect()
}

fn picked(row: &[Value], columns: &[usize]) -> Result<Vec<Value>, Reason> {
    columns.iter().map(|column| row.get(*column).cloned().ok_or(Reason::Opaque)).collect()
}

pub fn tuple_select(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let column = columns(run, node)?.first().copied().ok_or(Reason::Opaque)?;
    tuple(&args[0])?.get(column).cloned().ok_or(Reason::Opaque)
}

pub fn tuple_update(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let column = columns(run, node)?.first().copied().ok_or(Reason::Opaque)?;
    let mut parts = tuple(&args[0])?.to_vec();
    *parts.get_mut(column).ok_or(Reason::Opaque)? = args[1].clone();
    Ok(Value::tuple(parts))
}

pub fn tuple_project(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::tuple(picked(tuple(&args[0])?, &columns(run, node)?)?))
}

pub fn project(run: &Computation, node: Node, args: &[Value], kind: Kind) -> Result<Value, Reason> {
    let columns = columns(run, node)?;
    let rows = kind.rows(&args[0])?;
    let rows = rows.into_iter().map(|(row, count)| Ok((picked(&row, &columns)?, count)));
    kind.made(rows.collect::<Result<Rows, Reason>>()?)
}

/// Pairs of rows that agree in the given columns (pairs of a left and a right one); without columns, all pairs.
pub fn join(run: &Computation, node: Node, args: &[Value], kind: Kind) -> Result<Value, Reason> {
    let columns = columns(run, node)?;
    if !columns.len().is_multiple_of(2) {
        return Err(Reason::Opaque);
    }
    let (left, right) = (kind.rows(&args[0])?, kind.rows(&args[1])?);
    if left.len().saturating_mul(right.len()) > MAX_ROWS {
        return Err(Reason::Budget(Budget::Length));
    }
    let mut rows = Vec::new();
    for (a, m) in &left {
        for (b, n) in &right {
            if columns.chunks(2).all(|pair| a.get(pair[0]) == b.get(pair[1])) {
                rows.push((a.iter().chain(b).cloned().collect(), m * n));
            }
        }
    }
    kind.made(rows)
}

/// `rel.join`: the composition; the last column of one is the first of the other.
pub fn compose(args: &[Value]) -> Result<Value, Reason> {
    let (left, right) = (Kind::Relation.rows(&args[0])?, Kind::Relation.rows(&args[1])?);
    if left.len().saturating_mul(right.len()) > MAX_ROWS {
        return Err(Reason::Budget(Budget::Length));
    }
    let mut rows = Vec::new();
    for (a, _) in &left {
        for (b, _) in &right {
            if a.last() == b.first() {
                let row = a[..a.len().saturating_sub(1)].iter().chain(b.get(1..).unwrap_or_default());
                rows.push((row.cloned().collect(), Integer::ONE));
            }
        }
    }
    Kind::Relation.made(rows)
}

pub fn transpose(args: &[Value]) -> Result<Value, Reason> {
    let mut rows = Kind::Relation.rows(&args[0])?;
    rows.iter_mut().for_each(|(row, _)| row.reverse());
    Kind::Relation.made(rows)
}

/// The transitive closure of a binary relation.
pub fn closure(args: &[Value]) -> Result<Value, Reason> {
    let mut closed = args[0].clone();
    loop {
        let longer = compose(&[closed.clone(), args[0].clone()])?;
        let next = sets::union(&[closed.clone(), longer])?;
        if next == closed {
            return Ok(closed);
        }
        closed = next;
    }
}

/// `rel.join_image`: the elements related to at least so many others.
pub fn join_image(args: &[Value]) -> Result<Value, Reason> {
    let least = int(&args[1])?;
    if least.signum() <= 0 {
        return Err(Reason::Disputed);
    }
    let mut counts: BTreeMap<Value, i64> = BTreeMap::new();
    for (row, _) in Kind::Relation.rows(&args[0])? {
        *counts.entry(row.first().cloned().ok_or(Reason::Opaque)?).or_default() += 1;
    }
    let related = counts.into_iter().filter(|(_, count)| Integer::new(*count) >= *least);
    Kind::Relation.made(related.map(|(element, _)| (vec![element], Integer::ONE)).collect())
}

/// `rel.iden`: every element with itself.
pub fn identity(args: &[Value]) -> Result<Value, Reason> {
    let rows = Kind::Relation.rows(&args[0])?.into_iter().map(|(row, _)| {
        let element = row.first().cloned().ok_or(Reason::Opaque)?;
        Ok((vec![element.clone(), element], Integer::ONE))
    });
    Kind::Relation.made(rows.collect::<Result<Rows, Reason>>()?)
}

/// The rows by what they have in some columns. What an empty table gives is not documented.
fn groups(run: &Computation, node: Node, value: &Value, kind: Kind) -> Result<Vec<Rows>, Reason> {
    let columns = columns(run, node)?;
    let mut groups: BTreeMap<Vec<Value>, Rows> = BTreeMap::new();
    for (row, count) in kind.rows(value)? {
        groups.entry(picked(&row, &columns)?).or_default().push((row, count));
    }
    if groups.is_empty() { Err(Reason::Disputed) } else { Ok(groups.into_values().collect()) }
}

pub fn group(run: &Computation, node: Node, args: &[Value], kind: Kind) -> Result<Value, Reason> {
    let groups = groups(run, node, &args[0], kind)?;
    let parts = groups.into_iter().map(|rows| Ok((kind.made(rows)?, Integer::ONE)));
    kind.collected(parts.collect::<Result<Vec<_>, Reason>>()?)
}

/// A fold over every group, in whatever order.
pub fn aggregate(run: &mut Computation, node: Node, args: &[Value], kind: Kind) -> Result<Value, Fault> {
    let mut results = Vec::new();
    for rows in groups(run, node, &args[2], kind)? {
        let rows: Vec<(Value, Integer)> =
            rows.into_iter().map(|(row, count)| (Value::tuple(row), count)).collect();
        let elements = bags::repeated(&rows)?;
        results.push((fold_any_order(run, node, &args[0], &args[1], &elements)?, Integer::ONE));
    }
    Ok(kind.collected(results)?)
}
