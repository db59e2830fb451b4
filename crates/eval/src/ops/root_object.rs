//! Z3's `(root-obj polynomial index)`: a root of a polynomial in one variable, which is a name of its own.

use smtlib::{Head, Literal, Op, Store, Term};

use super::Node;
use crate::algebraic::{MAX_DEGREE, Polynomial, Real};
use crate::evaluate::Computation;
use crate::rational::Rational;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

/// Coefficients from the constant one upwards.
type Coefficients = Vec<Rational>;

pub fn root(run: &Computation, node: Node) -> Result<Value, Reason> {
    let [polynomial, index] = run.store.args(node.term) else { return Err(Reason::Opaque) };
    let index = constant(run.store, *index).and_then(|index| index.to_integer()?.to_usize());
    let coefficients = coefficients(run.store, *polynomial)?;
    let polynomial = Polynomial::from_rationals(&coefficients);
    let root = Real::from_root_index(polynomial, index.ok_or(Reason::Opaque)?);
    root.map(Value::Real).map_err(|_| Reason::Opaque)
}

/// The coefficients of a term. Sub-terms have smaller numbers, so one pass in order of number is enough.
fn coefficients(store: &Store, root: Term) -> Result<Coefficients, Reason> {
    let mut known: rustc_hash::FxHashMap<Term, Coefficients> = rustc_hash::FxHashMap::default();
    for term in store.subterms(&[root]) {
        let args: Vec<&Coefficients> = store.args(term).iter().map(|arg| &known[arg]).collect();
        let value = match (store.head(term), args.as_slice()) {
            (Head::Literal(_), _) => vec![constant(store, term).ok_or(Reason::Opaque)?],
            (Head::Opaque(_) | Head::Var(_) | Head::Fun(_), []) => vec![Rational::ZERO, Rational::ONE],
            (Head::Op(Op::IntNeg | Op::RealNeg, _), [a]) => scaled(a, &Rational::from(-1)),
            (Head::Op(Op::ToReal, _), [a]) => (*a).clone(),
            (Head::Op(Op::IntAdd | Op::RealAdd, _), [first, rest @ ..]) => {
                rest.iter().fold((*first).clone(), |sum, part| plus(&sum, part))
            }
            (Head::Op(Op::IntSub | Op::RealSub, _), [first, rest @ ..]) => {
                let minus = Rational::from(-1);
                rest.iter().fold((*first).clone(), |sum, part| plus(&sum, &scaled(part, &minus)))
            }
            (Head::Op(Op::IntMul | Op::RealMul, _), [first, rest @ ..]) => {
                rest.iter().try_fold((*first).clone(), |product, part| times(&product, part))?
            }
            (Head::Op(Op::RealDiv, _), [a, b]) if b.len() == 1 => {
                scaled(a, &b[0].recip().ok_or(Reason::Opaque)?)
            }
            (Head::Op(Op::IntPow | Op::RealPow, _), [base, exponent]) if exponent.len() == 1 => {
                let count = exponent[0].to_integer().and_then(|count| count.to_usize());
                let count = count.filter(|count| *count <= MAX_DEGREE).ok_or(Reason::Opaque)?;
                (0..count).try_fold(vec![Rational::ONE], |product, _| times(&product, base))?
            }
            _ => return Err(Reason::Opaque),
        };
        known.insert(term, value);
    }
    Ok(known.remove(&root).unwrap_or_default())
}

fn constant(store: &Store, term: Term) -> Option<Rational> {
    let Head::Literal(id) = store.head(term) else { return None };
    match store.literal(id) {
        Literal::Int(value) => Some(Rational::from(value.clone())),
        Literal::Real(value) => Some(value.clone()),
        _ => None,
    }
}

fn scaled(a: &[Rational], factor: &Rational) -> Coefficients {
    a.iter().map(|coefficient| coefficient * factor).collect()
}

fn plus(a: &[Rational], b: &[Rational]) -> Coefficients {
    let at = |list: &[Rational], i: usize| list.get(i).cloned().unwrap_or(Rational::ZERO);
    (0..a.len().max(b.len())).map(|i| &at(a, i) + &at(b, i)).collect()
}

fn times(a: &[Rational], b: &[Rational]) -> Result<Coefficients, Reason> {
    if a.len() + b.len() > 2 * MAX_DEGREE {
        return Err(Reason::Budget(Budget::NumberSize));
    }
    let mut product = vec![Rational::ZERO; (a.len() + b.len()).saturating_sub(1)];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] = &product[i + j] + &(x * y);
        }
    }
    Ok(product)
}
