//! The machine: frames for terms whose children are being evaluated, and a stack of children's values.

use smtlib::{Head, Indices, Literal, Op, SortKind, Term};

use super::call::Scope;
use super::{Computation, Evaluated};
use crate::algebraic::Real;
use crate::bv::{BitVector, MAX_WIDTH};
use crate::finite_field::FieldElement;
use crate::integer::Integer;
use crate::model::Interpretation;
use crate::ops;
use crate::string::Str;
use crate::unknown::{Budget, Reason, Unknown};
use crate::value::Value;

/// A term under evaluation.
pub(super) struct Frame {
    term: Term,
    /// The child to look at next.
    next: u32,
    /// Where its children's values start on the operand stack.
    base: u32,
    step: Step,
}

/// What a frame does with the values of its children.
enum Step {
    /// Collects all of them; the first unknown one decides.
    All,
    /// Looks at none of them: binders, and equations between one term and itself.
    None,
    /// Collects the first one: `match`.
    First,
    /// `and` and `or`: the value that decides, and an unknown argument so far.
    Until(bool, Option<Unknown>),
    Implies(Option<Unknown>),
    Condition,
    /// The condition of an `ite` is unknown; its branches may still agree.
    Branches(Unknown),
    /// The child's value is the frame's.
    Pass,
    /// The same, in an environment to be left.
    Body(Box<Scope>),
}

/// What the top frame comes to.
enum Progress {
    /// It is finished.
    Done(Evaluated),
    /// It waits for a child that needs a frame of its own.
    Waits(Term),
}

impl Computation<'_> {
    /// The value of a term in the present environment.
    pub(crate) fn value_of(&mut self, root: Term) -> Evaluated {
        if let Some(ready) = self.ready(root) {
            return ready;
        }
        let floor = self.evaluator.frames.len();
        self.push(root)?;
        loop {
            let mut result = match self.advance() {
                Progress::Done(result) => result,
                Progress::Waits(child) => match self.push(child) {
                    Ok(()) => continue,
                    Err(unknown) => {
                        self.unwind(floor);
                        return Err(unknown);
                    }
                },
            };
            // The value goes to the frame below, which may be finished by it.
            loop {
                self.pop(&result);
                if self.evaluator.frames.len() == floor {
                    return result;
                }
                match self.take(result) {
                    Some(next) => result = next,
                    None => break,
                }
            }
        }
    }

    /// Feeds the top frame with values at hand.
    fn advance(&mut self) -> Progress {
        let store = self.store;
        loop {
            let Some(frame) = self.evaluator.frames.last() else {
                unreachable!("the root's frame is on the stack")
            };
            if matches!(frame.step, Step::All) {
                // The common case, without looking at the frame for every child.
                let args = store.args(frame.term);
                let mut next = frame.next as usize;
                while let Some(child) = args.get(next) {
                    match self.operand(*child) {
                        Some(Ok(())) => next += 1,
                        Some(Err(unknown)) => return Progress::Done(Err(unknown)),
                        None => {
                            self.top().next = next as u32;
                            return Progress::Waits(*child);
                        }
                    }
                }
            } else if let Some(child) = self.next_child(frame) {
                match self.ready(child) {
                    None => return Progress::Waits(child),
                    Some(value) => match self.take(value) {
                        Some(result) => return Progress::Done(result),
                        None => continue,
                    },
                }
            }
            if let Some(result) = self.complete() {
                return Progress::Done(result);
            }
            // A call: its body has become a child.
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.evaluator.frames.last_mut().unwrap_or_else(|| unreachable!("the root's frame is on the stack"))
    }

    /// Puts the value of a term on the operand stack, if it needs no frame.
    #[inline]
    fn operand(&mut self, term: Term) -> Option<Result<(), Unknown>> {
        let evaluator = &mut *self.evaluator;
        match evaluator.memory.get(self.store, term) {
            // The copy is made where it will lie.
            Some(Ok(value)) => evaluator.operands.extend_from_slice(std::slice::from_ref(value)),
            Some(Err(unknown)) => return Some(Err(*unknown)),
            None => match self.leaf(term)? {
                Ok(value) => self.evaluator.operands.push(value),
                Err(unknown) => return Some(Err(unknown)),
            },
        }
        Some(Ok(()))
    }

    /// A value that needs no frame.
    #[inline]
    fn ready(&mut self, term: Term) -> Option<Evaluated> {
        match self.evaluator.memory.get(self.store, term) {
            Some(value) => Some(value.clone()),
            None => self.leaf(term),
        }
    }

    /// The value of a term without children, computed now.
    fn leaf(&mut self, term: Term) -> Option<Evaluated> {
        let value = match self.store.head(term) {
            Head::Literal(id) => self.literal(id).map_err(|reason| reason.at(term)),
            Head::Var(var) => match self.evaluator.bindings.get(var.index()) {
                Some(Some(value)) => return Some(Ok(value.clone())),
                _ => return Some(Err(Reason::Unbound.at(term))),
            },
            Head::Fun(fun) if self.store.args(term).is_empty() => {
                let decl = self.store.fun(fun);
                if decl.definition.is_some() || !decl.params.is_empty() {
                    return None;
                }
                match self.model.get(fun) {
                    Some(Interpretation::Value(value)) => Ok(value.clone()),
                    Some(Interpretation::Body(_)) => return None,
                    None => Err(Reason::Uninterpreted(fun).at(term)),
                }
            }
            Head::Op(Op::True, _) => return Some(Ok(Value::TRUE)),
            Head::Op(Op::False, _) => return Some(Ok(Value::FALSE)),
            Head::Opaque(_) => Err(Reason::Opaque.at(term)),
            _ => return None,
        };
        self.evaluator.memory.put(self.store, term, value.clone());
        Some(value)
    }

    #[inline]
    fn push(&mut self, term: Term) -> Result<(), Unknown> {
        let evaluator = &mut *self.evaluator;
        if evaluator.steps_left == 0 || evaluator.memory.is_worn() {
            return Err(Reason::Budget(Budget::Steps).at(term));
        }
        evaluator.steps_left -= 1;
        let step = match self.store.head(term) {
            Head::Op(op, _) => match op {
                Op::And => Step::Until(false, None),
                Op::Or => Step::Until(true, None),
                Op::Implies => Step::Implies(None),
                Op::Ite => Step::Condition,
                Op::Equal if self.store.args(term).windows(2).all(|pair| pair[0] == pair[1]) => Step::None,
                // Its polynomial has a variable that is bound by nothing.
                Op::RootObject => Step::None,
                _ => Step::All,
            },
            Head::Annotated(_) => Step::Pass,
            // Their children are evaluated in environments of their own.
            Head::Bind(..) => Step::None,
            Head::Match(_) => Step::First,
            _ => Step::All,
        };
        evaluator.frames.push(Frame { term, next: 0, base: evaluator.operands.len() as u32, step });
        Ok(())
    }

    /// The child whose value the frame needs next, or `None` when it has all it needs.
    fn next_child(&self, frame: &Frame) -> Option<Term> {
        match &frame.step {
            Step::Body(scope) => Some(scope.body),
            Step::None => None,
            Step::First if frame.next > 0 => None,
            _ => self.store.args(frame.term).get(frame.next as usize).copied(),
        }
    }

    /// Hands the value of the child at `next` to the top frame. An answer is the frame's own value.
    #[inline]
    fn take(&mut self, value: Evaluated) -> Option<Evaluated> {
        let evaluator = &mut *self.evaluator;
        let frame = evaluator.frames.last_mut()?;
        match &mut frame.step {
            Step::All | Step::First | Step::None => match value {
                Ok(value) => {
                    evaluator.operands.push(value);
                    frame.next += 1;
                    None
                }
                Err(unknown) => Some(Err(unknown)),
            },
            Step::Until(stop, unknown) => match value {
                Ok(Value::Bool(value)) if value == *stop => Some(Ok(Value::Bool(value))),
                other => {
                    frame.next += 1;
                    if let Err(reason) = other {
                        unknown.get_or_insert(reason);
                    }
                    None
                }
            },
            Step::Implies(unknown) => {
                let last = frame.next as usize + 1 == self.store.args(frame.term).len();
                match value {
                    Ok(Value::Bool(value)) if value == last => Some(Ok(Value::TRUE)),
                    other => {
                        frame.next += 1;
                        if let Err(reason) = other {
                            unknown.get_or_insert(reason);
                        }
                        None
                    }
                }
            }
            Step::Condition => match value {
                Ok(Value::Bool(value)) => {
                    frame.next = if value { 1 } else { 2 };
                    frame.step = Step::Pass;
                    None
                }
                Ok(_) => Some(Err(Reason::Opaque.at(frame.term))),
                Err(unknown) => {
                    frame.next = 1;
                    frame.step = Step::Branches(unknown);
                    None
                }
            },
            Step::Branches(unknown) => match value {
                Ok(value) if frame.next == 1 => {
                    frame.next = 2;
                    evaluator.operands.push(value);
                    None
                }
                Ok(value) if evaluator.operands.last().and_then(|then| then.equal(&value)) == Some(true) => {
                    Some(Ok(value))
                }
                _ => Some(Err(*unknown)),
            },
            Step::Pass | Step::Body(_) => Some(value),
        }
    }

    /// The value of the top frame, all of whose children are known; `None` if it goes on with a body.
    fn complete(&mut self) -> Option<Evaluated> {
        let frame = self.evaluator.frames.last()?;
        let (term, base) = (frame.term, frame.base as usize);
        match &frame.step {
            Step::Until(stop, unknown) => return Some(unknown.map_or(Ok(Value::Bool(!stop)), Err)),
            Step::Implies(unknown) => return Some(unknown.map_or(Ok(Value::FALSE), Err)),
            _ => {}
        }
        // The values are taken off for the time of the operation, which may evaluate further terms.
        let operands = std::mem::take(&mut self.evaluator.operands);
        let result = match self.store.head(term) {
            // The common case, without a detour through `Applied`.
            Head::Op(op, indices) => {
                let value = self.operation(op, indices, term, &operands[base..]);
                self.evaluator.operands = operands;
                return Some(value);
            }
            _ => self.apply(term, &operands[base..]),
        };
        self.evaluator.operands = operands;
        match result {
            Applied::Value(value) => Some(value),
            Applied::Enter(scope) => {
                if let Some(frame) = self.evaluator.frames.last_mut() {
                    frame.step = Step::Body(scope);
                }
                None
            }
        }
    }

    /// Removes the top frame and remembers its value.
    #[inline]
    fn pop(&mut self, result: &Evaluated) {
        let Some(frame) = self.evaluator.frames.pop() else { return };
        self.evaluator.operands.truncate(frame.base as usize);
        if let Step::Body(scope) = frame.step {
            self.leave(*scope, result);
        }
        if !matches!(result, Err(unknown) if unknown.is_transient()) {
            self.evaluator.memory.put(self.store, frame.term, result.clone());
        }
    }

    /// Gives up: removes frames down to `floor` and leaves their environments.
    fn unwind(&mut self, floor: usize) {
        while self.evaluator.frames.len() > floor {
            let Some(frame) = self.evaluator.frames.pop() else { return };
            self.evaluator.operands.truncate(frame.base as usize);
            if let Step::Body(scope) = frame.step {
                self.restore(*scope);
            }
        }
    }

    fn literal(&self, id: smtlib::LiteralId) -> Result<Value, Reason> {
        Ok(match self.store.literal(id) {
            Literal::Int(value) => Value::Int(value.clone()),
            Literal::Real(value) => Value::Real(Real::Rational(value.clone())),
            Literal::BitVec(width, value) => {
                if !(1..=MAX_WIDTH).contains(width) {
                    return Err(Reason::Budget(Budget::Width));
                }
                Value::BitVector(BitVector::from_ubig(*width, value.clone()))
            }
            Literal::String(chars) => Value::Str(Str::new(chars).ok_or(Reason::Opaque)?),
            Literal::Field(sort, value) => {
                let order = self.store.field_order(*sort).ok_or(Reason::Opaque)?;
                let order = std::sync::Arc::new(Integer::from(order.clone()));
                let value = Integer::from(value.clone());
                Value::Field(FieldElement::new(&value, order).ok_or(Reason::Opaque)?)
            }
        })
    }

    #[inline(always)]
    fn operation(&mut self, op: Op, indices: Indices, term: Term, args: &[Value]) -> Evaluated {
        // The operator itself as a value.
        if args.is_empty() && matches!(self.store.sort_kind(self.store.sort_of(term)), SortKind::Fun(..)) {
            return Err(Reason::Opaque.at(term));
        }
        match ops::apply(self, ops::Node { op, indices, term }, args) {
            Ok(value) => Ok(value),
            Err(fault) => self.fixed_by_model(op, term, args, fault),
        }
    }

    /// The value of a node from the values of its children.
    pub(super) fn apply(&mut self, term: Term, args: &[Value]) -> Applied {
        let value = match self.store.head(term) {
            Head::Op(op, indices) => self.operation(op, indices, term, args),
            Head::Fun(fun) => return self.call(term, fun, args),
            Head::Apply => match args.split_first() {
                Some((function, args)) => return self.call_value(term, function, args),
                None => Err(Reason::Opaque.at(term)),
            },
            Head::Bind(binder, vars) => self.bind(term, binder, vars),
            Head::Match(patterns) => return self.select_case(term, patterns, &args[0]),
            Head::Constructor(_, constructor) => Ok(Value::Datatype(constructor, args.into())),
            Head::Tester(_, wanted) => match &args[0] {
                Value::Datatype(constructor, _) => Ok(Value::Bool(*constructor == wanted)),
                _ => Err(Reason::Opaque.at(term)),
            },
            Head::Selector(_, wanted, field) => match &args[0] {
                Value::Datatype(constructor, fields) if *constructor == wanted => {
                    Ok(fields[usize::from(field)].clone())
                }
                Value::Datatype(..) => {
                    self.open_case(self.store.head(term), term, 0, args).map_err(|fault| fault.at(term))
                }
                _ => Err(Reason::Opaque.at(term)),
            },
            Head::Updater(_, wanted, field) => match &args[0] {
                Value::Datatype(constructor, fields) if *constructor == wanted => {
                    let mut fields = fields.to_vec();
                    fields[usize::from(field)] = args[1].clone();
                    Ok(Value::Datatype(wanted, fields.into()))
                }
                // Another constructor: unchanged.
                other => Ok(other.clone()),
            },
            Head::Var(_) | Head::Literal(_) | Head::Annotated(_) | Head::Opaque(_) => {
                Err(Reason::Opaque.at(term))
            }
        };
        Applied::Value(value)
    }
}

/// What applying a head to values comes to.
pub(super) enum Applied {
    Value(Evaluated),
    /// The value of a body in a new environment.
    Enter(Box<Scope>),
}
