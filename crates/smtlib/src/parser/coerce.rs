//! Tolerant mode: what Z3 and cvc5 accept beyond the standard, turned into standard terms with a note.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::Parser;
use crate::literal::Literal;
use crate::sort::{Sort, SortKind};
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::{Arity, Op};

impl Parser<'_> {
    /// Integers become reals: literals directly, other terms under `to_real`.
    fn to_real(&mut self, term: Term) -> Term {
        if self.store.sort_of(term) != Sort::INT {
            return term;
        }
        match self.store.head(term) {
            Head::Literal(id) => match self.store.literal(id).clone() {
                Literal::Int(value) => self.store.literal_term(Literal::Real(RBig::from(value))),
                _ => term,
            },
            Head::Op(Op::IntNeg, _) if matches!(self.store.head(self.store.args(term)[0]), Head::Literal(_)) => {
                let inner = self.store.args(term)[0];
                let inner = self.to_real(inner);
                self.store.node(Head::Op(Op::RealNeg, Indices::NONE), &[inner], Sort::REAL)
            }
            _ => self.store.node(Head::Op(Op::ToReal, Indices::NONE), &[term], Sort::REAL),
        }
    }

    /// Whole real literals become integers (numerals in a logic that made them Real).
    fn to_int(&mut self, term: Term) -> Term {
        if let Head::Literal(id) = self.store.head(term)
            && let Literal::Real(value) = self.store.literal(id)
            && *value.denominator() == UBig::ONE
        {
            let whole: IBig = value.numerator().clone();
            return self.store.literal_term(Literal::Int(whole));
        }
        term
    }

    /// Arguments of a function whose parameter is Real (or Int) are adapted in place.
    pub(super) fn coerce_call(&mut self, fun: Fun, base: usize) {
        let params = self.store.fun(fun).params.len();
        for i in 0..params.min(self.values.len() - base) {
            let wanted = self.store.fun(fun).params[i];
            self.coerce_value(base + i, wanted);
        }
    }

    /// Arguments of a constructor or updater; true if one changed.
    pub(super) fn coerce_fields(&mut self, head: Head, base: usize) -> bool {
        let before = self.values[base..].to_vec();
        match head {
            Head::Constructor(dt, c) => {
                let sorts: Vec<Sort> =
                    self.store.datatype(dt).constructors[usize::from(c)].fields.iter().map(|(_, s)| *s).collect();
                for (i, sort) in sorts.into_iter().enumerate().take(before.len()) {
                    self.coerce_value(base + i, sort);
                }
            }
            Head::Updater(dt, c, f) if before.len() == 2 => {
                let sort = self.store.datatype(dt).constructors[usize::from(c)].fields[usize::from(f)].1;
                self.coerce_value(base + 1, sort);
            }
            _ => {}
        }
        before != self.values[base..]
    }

    fn coerce_value(&mut self, place: usize, wanted: Sort) {
        self.values[place] = self.coerce_to(self.values[place], wanted);
    }

    /// The term in the wanted sort if numbers allow it, otherwise as it is.
    pub(super) fn coerce_to(&mut self, term: Term, wanted: Sort) -> Term {
        match wanted {
            Sort::REAL => self.to_real(term),
            Sort::INT => self.to_int(term),
            _ => term,
        }
    }

    /// What else `(name values...)` may mean.
    pub(super) fn coerce_name(&mut self, name: Symbol, base: usize, start: usize) -> Option<Term> {
        let ops = self.store.symbols.ops(name);
        if let Some(term) = self.identity_conversion(ops, base) {
            self.note(start, format!("'{}' applied to a term that has its result sort already", self.store.name(name)));
            return Some(term);
        }
        if let Some(term) = self.mixed_arithmetic(ops, base) {
            self.note(start, "mixed Int and Real arguments: conversions inserted");
            return Some(term);
        }
        if let Some(term) = self.few_arguments(ops, base) {
            self.note(start, format!("'{}' with fewer than two arguments", self.store.name(name)));
            return Some(term);
        }
        if let Some(term) = self.many_indices(ops, base) {
            return Some(term);
        }
        if let Some(term) = self.sequence_twin(name, base) {
            self.note(start, format!("'{}' used across strings and sequences", self.store.name(name)));
            return Some(term);
        }
        self.operator_value(ops, base)
    }

    fn try_ops(&mut self, ops: &[Op], args: &[Term]) -> Option<Term> {
        ops.iter().find_map(|op| {
            let sort = self.store.infer(*op, &[], None, args).ok()?;
            Some(self.store.node(Head::Op(*op, Indices::NONE), args, sort))
        })
    }

    fn identity_conversion(&self, ops: &[Op], base: usize) -> Option<Term> {
        let [term] = self.values[base..] else { return None };
        let sort = self.store.sort_of(term);
        let same = match ops.first()? {
            Op::ToReal => sort == Sort::REAL,
            Op::ToInt => sort == Sort::INT,
            _ => false,
        };
        same.then_some(term)
    }

    fn mixed_arithmetic(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let args = self.values[base..].to_vec();
        let sorts: Vec<Sort> = args.iter().map(|arg| self.store.sort_of(*arg)).collect();
        if sorts.contains(&Sort::REAL) {
            let ints: Vec<Term> = args.iter().map(|arg| self.to_int(*arg)).collect();
            if let Some(term) = self.try_ops(ops, &ints) {
                return Some(term);
            }
        }
        if sorts.contains(&Sort::INT) {
            let reals: Vec<Term> = args.iter().map(|arg| self.to_real(*arg)).collect();
            if let Some(term) = self.try_ops(ops, &reals) {
                return Some(term);
            }
            // (select a 1) over an array indexed by Real, (store a 1 2.0), (ite c 1 x): one argument at a time.
            for i in 0..args.len() {
                let mut some = args.clone();
                some[i] = self.to_real(args[i]);
                if let Some(term) = self.try_ops(ops, &some) {
                    return Some(term);
                }
            }
        }
        None
    }

    /// `(and p)`, `(+ x)`, `(and)`, `(distinct x)`, `(= x)`.
    fn few_arguments(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let args = self.values[base..].to_vec();
        let op = *ops.iter().find(|op| op.row().arity != Arity::Fixed)?;
        match (op, args.as_slice()) {
            (Op::And, []) => Some(self.store.bool(true)),
            (Op::Or, []) => Some(self.store.bool(false)),
            (_, [term]) => {
                let (arity, sort) = (op.row().arity, self.store.sort_of(*term));
                match arity {
                    Arity::Chainable | Arity::Pairwise => Some(self.store.bool(true)),
                    _ => {
                        // Any overload for this sort will do: the argument itself is the value.
                        let fits = ops.iter().any(|op| self.store.infer(*op, &[], None, &[*term, *term]) == Ok(sort));
                        fits.then_some(*term)
                    }
                }
            }
            _ => None,
        }
    }

    /// `(select a i j)` and `(store a i j v)` on Z3's arrays of several indices.
    fn many_indices(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let args = self.values[base..].to_vec();
        match ops.first()? {
            Op::Select if args.len() > 2 => {
                args[1..].iter().try_fold(args[0], |array, index| self.store.op(Op::Select, &[array, *index]).ok())
            }
            Op::Store if args.len() > 3 => {
                let (array, indices, value) = (args[0], &args[1..args.len() - 1], args[args.len() - 1]);
                let mut arrays = vec![array];
                for index in &indices[..indices.len() - 1] {
                    let inner = self.store.op(Op::Select, &[*arrays.last()?, *index]).ok()?;
                    arrays.push(inner);
                }
                let mut value = value;
                for (array, index) in arrays.iter().zip(indices).rev() {
                    value = self.store.op(Op::Store, &[*array, *index, value]).ok()?;
                }
                Some(value)
            }
            _ => None,
        }
    }

    /// Z3 takes `seq.len` of strings and `str.++` of sequences.
    fn sequence_twin(&mut self, name: Symbol, base: usize) -> Option<Term> {
        let text = self.store.name(name);
        let twin = match text.split_once('.')? {
            ("seq", "extract") => "str.substr".to_owned(),
            ("str", "substr") => "seq.extract".to_owned(),
            ("seq", "to.re" | "to_re") => "str.to_re".to_owned(),
            ("seq", "in.re" | "in_re") => "str.in_re".to_owned(),
            ("seq", rest) => format!("str.{rest}"),
            ("str", rest) => format!("seq.{rest}"),
            _ => return None,
        };
        let args = self.values[base..].to_vec();
        self.try_ops(crate::theory::table().named(&twin), &args)
    }

    /// An operator without its arguments is a function value: an opaque name until somebody applies it.
    fn operator_value(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        if self.values.len() > base {
            return None;
        }
        let row = ops.iter().map(|op| op.row()).find(|row| row.indices.is_empty() && !row.special && !row.args.is_empty())?;
        let bindings = crate::theory::Bindings::default();
        let params =
            row.args.iter().map(|pattern| pattern.instantiate(self.store, &bindings)).collect::<Option<Vec<_>>>()?;
        let vars: Vec<Var> = params
            .iter()
            .map(|sort| {
                let name = self.store.fresh_name("arg");
                self.store.var(name, *sort)
            })
            .collect();
        let args: Vec<Term> = vars.iter().map(|var| self.store.var_term(*var)).collect();
        let body = self.store.op(row.op, &args).ok()?;
        self.store.quantify(Binder::Lambda, &vars, body).ok()
    }

    /// Indexed operators with mixed arithmetic, or given their index as an argument or the other way round.
    pub(super) fn coerce_indexed(
        &mut self,
        name: Symbol,
        indices: &[Index],
        base: usize,
        start: usize,
    ) -> Option<Term> {
        let args: Vec<Term> = self.values[base..].to_vec();
        for convert in [Parser::to_real, Parser::to_int] {
            let converted: Vec<Term> = args.iter().map(|arg| convert(self, *arg)).collect();
            for op in self.store.symbols.ops(name) {
                if let Ok(term) = self.store.indexed(*op, indices, &converted) {
                    self.note(start, "mixed Int and Real arguments: conversions inserted");
                    return Some(term);
                }
            }
        }
        None
    }

    /// `(as name SORT)` where the sort is that of the whole application or only a reminder.
    pub(super) fn coerce_qualified(
        &mut self,
        name: Symbol,
        sort: Sort,
        base: usize,
    ) -> Option<Term> {
        // Z3's arrays of several indices, and numerals in the wrong sort.
        if let (SortKind::Array(_, element), "const") = (self.store.sort_kind(sort), self.store.name(name)) {
            let element = *element;
            let value = *self.values.get(base)?;
            if let SortKind::Array(..) = self.store.sort_kind(element) {
                let inner = self.store.qualified(Op::ConstArray, element, &[value]).ok()?;
                return self.store.qualified(Op::ConstArray, sort, &[inner]).ok();
            }
            let value = if element == Sort::REAL { self.to_real(value) } else { self.to_int(value) };
            return self.store.qualified(Op::ConstArray, sort, &[value]).ok();
        }
        if self.local(name).is_some() || self.globals.contains_key(&name) {
            return None;
        }
        let args = self.values[base..].to_vec();
        let ops = self.store.symbols.ops(name);
        self.try_ops(ops, &args)
    }
}
