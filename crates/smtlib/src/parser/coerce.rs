//! Tolerant mode: what Z3 and cvc5 accept beyond the standard, turned into standard terms with a note.

use numbers::{Integer, Rational};

use super::Parser;
use super::term::decimal;
use crate::literal::Literal;
use crate::sort::{Sort, SortKind};
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::{Arity, Op};

impl Parser<'_> {
    /// Integers become reals: literals directly, other terms under `to_real`.
    fn real_of(&mut self, term: Term) -> Term {
        if self.store.sort_of(term) != Sort::INT {
            return term;
        }
        match self.store.head(term) {
            Head::Literal(id) => match self.store.literal(id).clone() {
                Literal::Int(value) => self.store.literal_term(Literal::Real(Rational::from(value))),
                _ => term,
            },
            Head::Op(Op::IntNeg, _)
                if matches!(self.store.head(self.store.args(term)[0]), Head::Literal(_)) =>
            {
                let inner = self.store.args(term)[0];
                let inner = self.real_of(inner);
                self.store.node(Head::Op(Op::RealNeg, Indices::NONE), &[inner], Sort::REAL)
            }
            _ => self.store.node(Head::Op(Op::ToReal, Indices::NONE), &[term], Sort::REAL),
        }
    }

    /// Whole real literals become integers (numerals in a logic that made them Real).
    fn whole_of(&mut self, term: Term) -> Term {
        if let Head::Literal(id) = self.store.head(term)
            && let Literal::Real(value) = self.store.literal(id)
            && let Some(whole) = value.to_integer()
        {
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
                let sorts: Vec<Sort> = self.store.datatype(dt).constructors[usize::from(c)]
                    .fields
                    .iter()
                    .map(|(_, s)| *s)
                    .collect();
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
            Sort::REAL => self.real_of(term),
            Sort::INT => self.whole_of(term),
            _ if matches!(self.store.sort_kind(wanted), SortKind::Array(..)) => self.array_of(term),
            _ => term,
        }
    }

    /// What else `(name values...)` may mean.
    pub(super) fn coerce_name(&mut self, name: Symbol, base: usize, start: usize) -> Option<Term> {
        let ops = self.store.symbols.ops(name);
        if let Some(term) = self.identity_conversion(ops, base) {
            self.note(
                start,
                format!("'{}' applied to a term that has its result sort already", self.store.name(name)),
            );
            return Some(term);
        }
        if let Some(term) = self.mixed_arithmetic(ops, base) {
            self.note(start, "mixed Int and Real arguments: conversions inserted");
            return Some(term);
        }
        if let Some(term) = self.functions_as_arrays(ops, base) {
            self.note(start, "a function used as an array, as in Z3");
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
        if let Some(term) = self.truncated(ops, base) {
            self.note(
                start,
                "Real or Bool arguments where integers are expected: conversions inserted, as in Z3",
            );
            return Some(term);
        }
        if let Some(term) = self.signed_number(name, base) {
            self.note(start, "a negative number written as one token, as in Z3");
            return Some(term);
        }
        if ops.iter().any(|op| matches!(op, Op::IntPow | Op::RealPow)) && self.values.len() - base > 2 {
            // Z3 takes powers of powers in one application.
            self.count_opaque(name);
            return Some(self.store.opaque(name, &self.values[base..]));
        }
        if self.values.len() > base || ops.is_empty() {
            return None;
        }
        self.operator_value(ops).or_else(|| {
            // An overloaded operator as a value, or a constant without its sort: which one is meant shows only
            // where it is used.
            self.bare_constants |= ops.iter().any(|op| op.row().qualified.is_some());
            self.count_opaque(name);
            Some(self.store.opaque(name, &[]))
        })
    }

    /// Z3 reads `-1` as a number.
    fn signed_number(&mut self, name: Symbol, base: usize) -> Option<Term> {
        let digits = self.store.name(name).strip_prefix('-')?.to_owned();
        if self.values.len() > base || !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        match digits.split_once('.') {
            None => {
                let value: Integer = digits.parse().ok()?;
                let negated = if self.numerals_are_real {
                    self.store.real(-Rational::from(value))
                } else {
                    self.store.int(-value)
                };
                Some(negated)
            }
            Some((whole, fraction)) => {
                let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
                if !plain(whole) || !plain(fraction) {
                    return None;
                }
                let positive = self.store.literal_term(Literal::Real(decimal(digits.as_bytes())));
                self.store.op(Op::RealNeg, &[positive]).ok()
            }
        }
    }

    /// Z3's last resort: `to_int` of a real; for the index of an array also 1 or 0 of a Boolean.
    fn truncated(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let mut args = self.values[base..].to_vec();
        if let (Some(Op::Select | Op::Store), true) = (ops.first(), args.len() > 1) {
            args[1] = self.as_int(args[1]);
            if let Some(term) = self.try_ops(ops, &args) {
                return Some(term);
            }
            args[1] = self.real_of(args[1]);
            return self.try_ops(ops, &args);
        }
        if !ops.iter().any(|op| matches!(op, Op::IntDiv | Op::IntMod | Op::IntRem)) {
            return None;
        }
        for arg in &mut args {
            if self.store.sort_of(*arg) == Sort::REAL {
                *arg = self.as_int(*arg);
            }
        }
        self.try_ops(ops, &args)
    }

    fn as_int(&mut self, term: Term) -> Term {
        match self.store.sort_of(term) {
            Sort::REAL => {
                let whole = self.whole_of(term);
                if whole != term {
                    return whole;
                }
                self.store.node(Head::Op(Op::ToInt, Indices::NONE), &[term], Sort::INT)
            }
            Sort::BOOL => {
                let (one, zero) = (self.store.int(1), self.store.int(0));
                self.store.node(Head::Op(Op::Ite, Indices::NONE), &[term, one, zero], Sort::INT)
            }
            _ => term,
        }
    }

    /// In Z3 a lambda is an array, and so is a function symbol where an array is expected.
    fn functions_as_arrays(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let args = self.values[base..].to_vec();
        if !args.iter().any(|arg| matches!(self.store.sort_kind(self.store.sort_of(*arg)), SortKind::Fun(..)))
        {
            return None;
        }
        if ops.first() == Some(&Op::Select)
            && matches!(self.store.head(args[0]), Head::Var(_) | Head::Fun(_) | Head::Apply)
            && let Ok(term) = self.store.apply(&args)
        {
            return Some(term);
        }
        let arrays: Vec<Term> = args.iter().map(|arg| self.array_of(*arg)).collect();
        self.try_ops(ops, &arrays)
    }

    /// A function value as an array over its parameters.
    fn array_of(&mut self, term: Term) -> Term {
        let (params, result) = self.store.flat_function(self.store.sort_of(term));
        if params.is_empty() {
            return term;
        }
        let sort = params.iter().rev().fold(result, |inner, param| self.store.array(*param, inner));
        match self.store.head(term) {
            Head::Bind(Binder::Lambda, vars) => {
                let body = self.store.args(term).to_vec();
                self.store.node(Head::Bind(Binder::Lambda, vars), &body, sort)
            }
            Head::Fun(fun) if self.store.args(term).is_empty() => {
                let indices = self.store.indices(&[Index::Fun(fun)]);
                self.store.node(Head::Op(Op::AsArray, indices), &[], sort)
            }
            Head::Op(Op::Ite, _) => self.cases_to_array(term),
            _ => term,
        }
    }

    /// A choice between functions as a choice between arrays. Models of Z3 have long chains of them.
    fn cases_to_array(&mut self, term: Term) -> Term {
        let mut cases = Vec::new();
        let mut last = term;
        while let (Head::Op(Op::Ite, _), [condition, then, otherwise]) =
            (self.store.head(last), self.store.args(last))
        {
            cases.push((*condition, *then));
            last = *otherwise;
        }
        let mut array = self.array_of(last);
        for (condition, then) in cases.into_iter().rev() {
            let then = self.array_of(then);
            match self.store.op(Op::Ite, &[condition, then, array]) {
                Ok(choice) => array = choice,
                Err(_) => return term,
            }
        }
        array
    }

    /// `(seq.contains seq.empty x)`: cvc5 gives a constant without its sort the sort of its neighbour.
    pub(super) fn qualify_bare_constants(&mut self, base: usize) {
        for i in base..self.values.len() {
            let Head::Opaque(name) = self.store.head(self.values[i]) else { continue };
            let Some(op) = self.store.symbols.ops(name).iter().find(|op| op.row().qualified.is_some()) else {
                continue;
            };
            let neighbour = self.values[base..].iter().find_map(|value| {
                let sort = self.store.sort_of(*value);
                self.store.infer(*op, &[], Some(sort), &[]).ok().filter(|_| !self.store.is_opaque_sort(sort))
            });
            if let Some(sort) = neighbour
                && let Ok(constant) = self.store.qualified(*op, sort, &[])
            {
                self.values[i] = constant;
                if let Some(count) = self.opaque.get_mut(&name) {
                    *count -= 1;
                }
                self.opaque.retain(|_, count| *count > 0);
            }
        }
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
            let ints: Vec<Term> = args.iter().map(|arg| self.whole_of(*arg)).collect();
            if let Some(term) = self.try_ops(ops, &ints) {
                return Some(term);
            }
        }
        if sorts.contains(&Sort::INT) {
            let reals: Vec<Term> = args.iter().map(|arg| self.real_of(*arg)).collect();
            if let Some(term) = self.try_ops(ops, &reals) {
                return Some(term);
            }
            // (select a 1) over an array indexed by Real, (store a 1 2.0), (ite c 1 x): one argument at a time.
            for i in 0..args.len() {
                let mut some = args.clone();
                some[i] = self.real_of(args[i]);
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
            // Z3 alone accepts it, and reads it so.
            (Op::BvXnor, [term]) => self.store.op(Op::BvNot, &[*term]).ok(),
            (_, [term]) => {
                let (arity, sort) = (op.row().arity, self.store.sort_of(*term));
                match arity {
                    Arity::Chainable | Arity::Pairwise => Some(self.store.bool(true)),
                    _ => {
                        // Any overload for this sort will do: the argument itself is the value.
                        let fits = ops.iter().any(|op| {
                            let result = self.store.infer(*op, &[], None, &[*term, *term]);
                            result.is_ok_and(|result| self.store.compatible(result, sort))
                        });
                        fits.then_some(*term)
                    }
                }
            }
            _ => None,
        }
    }

    /// `(select a i j)` and `(store a i j v)` on Z3's arrays of several indices; `str.indexof` from the start.
    fn many_indices(&mut self, ops: &[Op], base: usize) -> Option<Term> {
        let args = self.values[base..].to_vec();
        match ops.first()? {
            Op::StrIndexof | Op::SeqIndexof if args.len() == 2 => {
                let zero = self.store.int(0);
                self.try_ops(ops, &[args[0], args[1], zero])
            }
            Op::Select if args.len() > 2 => args[1..]
                .iter()
                .try_fold(args[0], |array, index| self.store.op(Op::Select, &[array, *index]).ok()),
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

    /// An operator without its arguments is a function value.
    fn operator_value(&mut self, ops: &[Op]) -> Option<Term> {
        let row = ops
            .iter()
            .map(|op| op.row())
            .find(|row| row.indices.is_empty() && !row.special && !row.args.is_empty())?;
        let bindings = crate::theory::Bindings::default();
        let params = row
            .args
            .iter()
            .map(|pattern| pattern.instantiate(self.store, &bindings))
            .collect::<Option<Vec<_>>>()?;
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
        if let [Index::Op(first)] = indices {
            for overload in crate::theory::table().named(first.name()) {
                for op in self.store.symbols.ops(name) {
                    if let Ok(term) = self.store.indexed(*op, &[Index::Op(*overload)], &args) {
                        return Some(term);
                    }
                }
            }
        }
        for convert in [Parser::real_of, Parser::whole_of] {
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

    /// The constant array of an element deep inside nested arrays.
    fn constant_array(&mut self, sort: Sort, value: Term) -> Option<Term> {
        let mut sorts = vec![sort];
        while let SortKind::Array(_, element) = self.store.sort_kind(*sorts.last()?) {
            sorts.push(*element);
        }
        let mut term = self.coerce_to(value, sorts.pop()?);
        for sort in sorts.into_iter().rev() {
            term = self.store.qualified(Op::ConstArray, sort, &[term]).ok()?;
        }
        Some(term)
    }

    /// `(as name SORT)` where the sort is that of the whole application or only a reminder.
    pub(super) fn coerce_qualified(&mut self, name: Symbol, sort: Sort, base: usize) -> Option<Term> {
        // Z3's arrays of several indices, and numerals in the wrong sort.
        if let (SortKind::Array(_, element), "const", Some(value)) =
            (self.store.sort_kind(sort), self.store.name(name), self.values.get(base).copied())
        {
            let element = *element;
            let value = match self.store.sort_kind(element) {
                SortKind::Array(..) if self.store.sort_of(value) != element => {
                    self.constant_array(element, value)?
                }
                _ => self.coerce_to(value, element),
            };
            return self.store.qualified(Op::ConstArray, sort, &[value]).ok();
        }
        if self.local(name).is_some() || self.globals.contains_key(&name) {
            return None;
        }
        let args = self.values[base..].to_vec();
        let ops = self.store.symbols.ops(name);
        if ops.is_empty() {
            return None;
        }
        self.try_ops(ops, &args).or_else(|| {
            // An old or partial form, such as (as NaN Double).
            self.count_opaque(name);
            Some(self.store.node(Head::Opaque(name), &args, sort))
        })
    }
}
