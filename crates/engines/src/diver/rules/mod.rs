//! Constraint rules: from the set allowed for a term to the sets allowed for its arguments.
//!
//! Each rule states a preimage: the values of one argument, the others as they are under the model, for which the term
//! stays in its set (the paper's tables I and II). Where that is hard to state the argument keeps its present value,
//! which is always sound.

mod bits;
mod boolean;
mod data;
mod floats;
mod numbers;
mod text;

use eval::bv::BitVector;
use eval::integer::Integer;
use eval::rational::Rational;
use eval::{EvaluatedModel, Model, Value};
use smtlib::{Head, Indices, Op, Store, Term};

use super::constraint::{Constraint, Stated};

/// A preimage, or a part of it that has the present value in it.
enum Image {
    Exact(Constraint),
    Part(Constraint),
}

use Image::{Exact, Part};

/// Where a term stands, as far as its arguments' constraints go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ground {
    /// Outside all binders: arguments have values.
    Outside,
    /// Below a binder, where only monotonicity says something.
    Inside,
}

/// What the arguments of a term are constrained to, and on which ground they stand.
pub fn arguments(
    store: &Store,
    evaluated: &mut EvaluatedModel,
    term: Term,
    parent: &Stated,
    ground: Ground,
    out: &mut Vec<Stated>,
) -> Ground {
    out.clear();
    let args = store.args(term);
    let head = store.head(term);
    let binds = matches!(head, Head::Bind(..) | Head::Match(_));
    if parent.set == Constraint::Any {
        out.resize(args.len(), Stated::ANY);
    } else if ground == Ground::Inside || binds {
        out.extend((0..args.len()).map(|i| by_polarity(store, term, i, &parent.set)));
    } else if matches!(head, Head::Annotated(_)) {
        out.resize(args.len(), Stated::UNSTATED);
        if let Some(first) = out.first_mut() {
            *first = parent.clone();
        }
    } else {
        let values: Vec<Option<Value>> =
            args.iter().map(|arg| evaluated.evaluate(store, *arg).ok()).collect();
        let node = Node::new(store, term, &values, evaluated.model());
        out.extend((0..args.len()).map(|i| node.argument(i, parent)));
    }
    if binds { Ground::Inside } else { ground }
}

/// A formula at a positive place may become true everywhere, one at a negative place false.
fn by_polarity(store: &Store, term: Term, child: usize, parent: &Constraint) -> Stated {
    match (store.child_polarity(term, child), parent) {
        (Some(rising), Constraint::Bool(truth)) => Stated::partial(Constraint::Bool(*truth == rising)),
        _ => Stated::UNSTATED,
    }
}

/// A term with the values of its arguments.
struct Node<'a> {
    store: &'a Store,
    term: Term,
    head: Head,
    values: &'a [Option<Value>],
    /// How many arguments are known to be true and false.
    trues: usize,
    falses: usize,
    /// The sum of all arguments, for the additions.
    sum: Option<Value>,
    /// What functions are.
    model: &'a Model,
}

impl<'a> Node<'a> {
    fn new(store: &'a Store, term: Term, values: &'a [Option<Value>], model: &'a Model) -> Node<'a> {
        let head = store.head(term);
        let count = |truth| values.iter().filter(|value| **value == Some(Value::Bool(truth))).count();
        let (trues, falses) = (count(true), count(false));
        let sum = match head {
            Head::Op(Op::IntAdd, _) => values
                .iter()
                .try_fold(Integer::ZERO, |sum, value| Some(&sum + value.as_ref()?.as_int()?))
                .map(Value::Int),
            Head::Op(Op::RealAdd, _) => values
                .iter()
                .try_fold(Rational::ZERO, |sum, value| Some(&sum + value.as_ref()?.as_rational()?))
                .map(Value::from),
            Head::Op(Op::BvAdd, _) => bits::fold(values, None, BitVector::add).map(Value::BitVector),
            _ => None,
        };
        Node { store, term, head, values, trues, falses, sum, model }
    }

    fn argument(&self, i: usize, parent: &Stated) -> Stated {
        let image = match &parent.set {
            Constraint::Unstated => None,
            set @ Constraint::Not(_) if self.head == Head::Op(Op::Ite, Indices::NONE) => {
                self.preimage(i, set)
            }
            Constraint::Not(_) if self.leans_on_present() => None,
            // The preimage of a complement is the complement of the preimage, if that is exact.
            Constraint::Not(inner) => match self.preimage(i, inner) {
                Some(Exact(Constraint::Any)) | Some(Part(_)) | None => None,
                Some(Exact(set)) => Some(Exact(set.complement())),
            },
            set => self.preimage(i, set),
        };
        match image {
            Some(Exact(Constraint::Any)) => Stated::ANY,
            Some(Exact(set)) => Stated { set, complete: parent.complete },
            Some(Part(set)) => Stated::partial(set),
            None => match &self.values[i] {
                // Languages are handles that the evaluator may take back.
                Some(Value::Regex(_)) | None => Stated::UNSTATED,
                Some(value) => Stated::partial(Constraint::exactly(value.clone())),
            },
        }
    }

    /// Does the rule use that the term's present value is in the set? The value is never in what a complement leaves
    /// out.
    fn leans_on_present(&self) -> bool {
        use Op::*;
        match self.head {
            Head::Op(op, _) => matches!(
                op,
                BvAnd
                    | BvOr
                    | BvMul
                    | BvNand
                    | BvNor
                    | BvUdiv
                    | BvConcat
                    | BvZeroExtend
                    | BvSignExtend
                    | UbvToInt
                    | SbvToInt
                    | BvShl
                    | BvLshr
                    | BvAshr
            ),
            Head::Constructor(..) => true,
            _ => false,
        }
    }

    fn preimage(&self, i: usize, set: &Constraint) -> Option<Image> {
        match self.head {
            Head::Op(op, _) => boolean::preimage(self, op, i, set)
                .or_else(|| numbers::preimage(self, op, i, set))
                .or_else(|| bits::preimage(self, op, i, set))
                .or_else(|| floats::preimage(self, op, i, set))
                .or_else(|| text::preimage(self, op, i, set))
                .or_else(|| data::array(self, op, i, set)),
            Head::Constructor(..) | Head::Selector(..) | Head::Tester(..) => data::datatype(self, i, set),
            Head::Fun(fun) => data::call(self, fun, i, set),
            _ => None,
        }
    }

    fn value(&self, i: usize) -> Option<&Value> {
        self.values.get(i)?.as_ref()
    }

    fn truth(&self, i: usize) -> Option<bool> {
        self.value(i)?.as_bool()
    }

    fn int(&self, i: usize) -> Option<&Integer> {
        self.value(i)?.as_int()
    }

    fn rational(&self, i: usize) -> Option<&Rational> {
        self.value(i)?.as_rational()
    }

    fn bv(&self, i: usize) -> Option<&BitVector> {
        self.value(i)?.as_bv()
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    /// The argument terms.
    fn args(&self) -> &'a [Term] {
        self.store.args(self.term)
    }

    /// The one other argument of a binary term.
    fn other(&self, i: usize) -> Option<&Value> {
        if self.len() == 2 { self.value(1 - i) } else { None }
    }

    /// The values of all other arguments.
    fn others(&self, i: usize) -> Option<Vec<&Value>> {
        (0..self.len()).filter(|j| *j != i).map(|j| self.value(j)).collect()
    }

    /// The number at a place of the operator's indices.
    fn index(&self, place: usize) -> Option<u32> {
        match self.head {
            Head::Op(_, indices) => self.store.index_number(indices, place),
            _ => None,
        }
    }
}
