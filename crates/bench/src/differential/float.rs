//! Real functions by the machine's floating point: a computation that shares nothing with the enclosures of the
//! evaluator, for functions that solvers leave undecided.

use smtlib::{Head, Literal, Op, Rational, Store, Term};

/// Nearer than this (relative to the larger side, absolute below one) and rounding may have decided.
const MARGIN: f64 = 1e-9;

/// What `(< left right)` is, unless the sides are too near to each other or a function is not known here.
pub(super) fn comparison(store: &Store, term: Term) -> Option<bool> {
    let (Some(Op::RealLt), [left, right]) = (store.op_of(term), store.args(term)) else { return None };
    // At zero the machine's functions are exact.
    let arguments = store.args(*left).iter().map(|arg| value(store, *arg));
    let exact = arguments.len() > 0 && arguments.into_iter().all(|arg| arg == Some(0.0));
    let (left, right) = (value(store, *left)?, value(store, *right)?);
    let scale = left.abs().max(right.abs()).max(1.0);
    let apart = exact || (left - right).abs() > MARGIN * scale;
    (left.is_finite() && right.is_finite() && apart).then_some(left < right)
}

fn value(store: &Store, term: Term) -> Option<f64> {
    let op = match store.head(term) {
        Head::Literal(literal) => {
            return match store.literal(literal) {
                Literal::Real(value) => Some(value.f64_bounds().0),
                Literal::Int(value) => Some(Rational::from(value.clone()).f64_bounds().0),
                _ => None,
            };
        }
        Head::Op(op, _) => op,
        _ => return None,
    };
    let args = store.args(term).iter().map(|arg| value(store, *arg)).collect::<Option<Vec<_>>>()?;
    Some(match (op, args.as_slice()) {
        (Op::RealNeg, [x]) => -x,
        (Op::RealDiv, [x, y]) => x / y,
        (Op::RealPi, []) => std::f64::consts::PI,
        (Op::RealEuler, []) => std::f64::consts::E,
        (Op::Exp, [x]) => x.exp(),
        (Op::Log, [x]) => x.ln(),
        (Op::Sqrt, [x]) => x.sqrt(),
        (Op::Sin, [x]) => x.sin(),
        (Op::Cos, [x]) => x.cos(),
        (Op::Tan, [x]) => x.tan(),
        (Op::Csc, [x]) => x.sin().recip(),
        (Op::Sec, [x]) => x.cos().recip(),
        (Op::Cot, [x]) => x.tan().recip(),
        (Op::Arcsin, [x]) => x.asin(),
        (Op::Arccos, [x]) => x.acos(),
        (Op::Arctan, [x]) => x.atan(),
        (Op::Arccsc, [x]) => x.recip().asin(),
        (Op::Arcsec, [x]) => x.recip().acos(),
        (Op::Arccot, [x]) => arccot(*x),
        (Op::Arctan2, [y, x]) => y.atan2(*x),
        (Op::Sinh, [x]) => x.sinh(),
        (Op::Cosh, [x]) => x.cosh(),
        (Op::Tanh, [x]) => x.tanh(),
        (Op::Asinh, [x]) => x.asinh(),
        (Op::Acosh, [x]) => x.acosh(),
        (Op::Atanh, [x]) => x.atanh(),
        _ => return None,
    })
}

/// The inverse of the cotangent with values between 0 and pi.
fn arccot(x: f64) -> f64 {
    std::f64::consts::FRAC_PI_2 - x.atan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Script, Session};

    fn decided(text: &str) -> Option<bool> {
        let mut store = Store::new();
        let term = Session::new(&mut store, &Script::default(), text.as_bytes()).term();
        comparison(&store, term.expect("well-formed").expect("a term"))
    }

    #[test]
    fn sides_that_are_apart_are_told_apart() {
        assert_eq!(decided("(< (sinh (/ 1.0 2.0)) 0.5)"), Some(false));
        assert_eq!(decided("(< (arctan (- 1.0)) 0.0)"), Some(true));
        assert_eq!(decided("(< (arccot (- 1.0)) 2.0)"), Some(false));
        assert_eq!(decided("(< (sinh 0.0) 0.0)"), Some(false));
    }

    #[test]
    fn sides_that_may_be_equal_are_not() {
        assert_eq!(decided("(< (sin 3.141592653589793) 0.0)"), None);
        assert_eq!(decided("(< (log (- 1.0)) 0.0)"), None);
    }
}
