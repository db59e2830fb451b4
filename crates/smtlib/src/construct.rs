//! Checked construction of terms: nothing ill-sorted can be built.

use dashu_int::UBig;
use dashu_int::ops::BitTest;
use numbers::{Integer, Rational};

use crate::infer::SortError;
use crate::literal::Literal;
use crate::sort::{Datatype, Sort, SortKind};
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::Op;

impl Store {
    /// `(op args...)` for an operator without indices.
    pub fn op(&mut self, op: Op, args: &[Term]) -> Result<Term, SortError> {
        self.indexed(op, &[], args)
    }

    /// `((_ op indices...) args...)`.
    pub fn indexed(&mut self, op: Op, indices: &[Index], args: &[Term]) -> Result<Term, SortError> {
        let sort = self.infer(op, indices, None, args)?;
        let indices = self.indices(indices);
        Ok(self.node(Head::Op(op, indices), args, sort))
    }

    /// `((as op SORT) args...)`.
    pub fn qualified(&mut self, op: Op, sort: Sort, args: &[Term]) -> Result<Term, SortError> {
        let sort = self.infer(op, &[], Some(sort), args)?;
        Ok(self.node(Head::Op(op, Indices::NONE), args, sort))
    }

    /// A call of a declared or defined function; a missing argument gives a function value.
    pub fn call(&mut self, fun: Fun, args: &[Term]) -> Result<Term, SortError> {
        let sort = self.infer_call(fun, args)?;
        if args.len() > self.fun(fun).params.len() {
            let params = self.fun(fun).params.len();
            let function = self.call(fun, &args[..params])?;
            let children: Vec<Term> =
                std::iter::once(function).chain(args[params..].iter().copied()).collect();
            return self.apply(&children);
        }
        Ok(self.node(Head::Fun(fun), args, sort))
    }

    /// A function value (first child) applied to the other children.
    pub fn apply(&mut self, children: &[Term]) -> Result<Term, SortError> {
        let Some((function, args)) = children.split_first() else {
            return Err(SortError::Count {
                name: "application".to_owned(),
                expected: "at least 1".to_owned(),
                found: 0,
            });
        };
        let sort = self.infer_apply(self.sort_of(*function), args)?;
        if args.is_empty() {
            // Applied to nothing it is itself: `((f))` has no printed form of its own.
            return Ok(*function);
        }
        Ok(self.node(Head::Apply, children, sort))
    }

    /// A bound variable as a term.
    pub fn var_term(&mut self, var: Var) -> Term {
        let sort = self.var_sort(var);
        self.node(Head::Var(var), &[], sort)
    }

    pub fn literal_term(&mut self, literal: Literal) -> Term {
        let sort = match &literal {
            Literal::Int(_) => Sort::INT,
            Literal::Real(_) => Sort::REAL,
            Literal::BitVec(width, _) => self.bitvec(*width),
            Literal::String(_) => Sort::STRING,
            Literal::Field(sort, _) => *sort,
        };
        let id = self.literal_id(literal);
        self.node(Head::Literal(id), &[], sort)
    }

    /// An integer constant; a negative one is `(- n)`.
    pub fn int(&mut self, value: impl Into<Integer>) -> Term {
        let value: Integer = value.into();
        if value.is_negative() {
            let positive = self.literal_term(Literal::Int(-value));
            return self.node(Head::Op(Op::IntNeg, Indices::NONE), &[positive], Sort::INT);
        }
        self.literal_term(Literal::Int(value))
    }

    /// A rational constant as the standard writes it: decimals, `/` and `-`.
    pub fn real(&mut self, value: Rational) -> Term {
        let negative = value.is_negative();
        let mut term = self.literal_term(Literal::Real(value.numerator().abs().into()));
        if !value.is_integer() {
            let denominator = self.literal_term(Literal::Real(value.denominator().into()));
            term = self.node(Head::Op(Op::RealDiv, Indices::NONE), &[term, denominator], Sort::REAL);
        }
        if negative {
            term = self.node(Head::Op(Op::RealNeg, Indices::NONE), &[term], Sort::REAL);
        }
        term
    }

    /// A bit-vector constant; the value is taken modulo 2^width.
    pub fn bv(&mut self, width: u32, value: UBig) -> Term {
        let value = if value.bit_len() > width as usize { value & ones(width) } else { value };
        self.literal_term(Literal::BitVec(width, value))
    }

    pub fn string(&mut self, code_points: &[u32]) -> Term {
        self.literal_term(Literal::String(code_points.into()))
    }

    pub fn bool(&mut self, value: bool) -> Term {
        let op = if value { Op::True } else { Op::False };
        self.node(Head::Op(op, Indices::NONE), &[], Sort::BOOL)
    }

    /// The negation; a double negation is removed.
    pub fn not(&mut self, term: Term) -> Result<Term, SortError> {
        if self.op_of(term) == Some(Op::Not) {
            return Ok(self.args(term)[0]);
        }
        self.op(Op::Not, &[term])
    }

    /// The conjunction of any number of terms.
    pub fn and(&mut self, terms: &[Term]) -> Result<Term, SortError> {
        self.junction(Op::And, terms)
    }

    /// The disjunction of any number of terms.
    pub fn or(&mut self, terms: &[Term]) -> Result<Term, SortError> {
        self.junction(Op::Or, terms)
    }

    fn junction(&mut self, op: Op, terms: &[Term]) -> Result<Term, SortError> {
        match terms {
            [] => Ok(self.bool(op == Op::And)),
            [term] => {
                self.expect_sort(*term, Sort::BOOL)?;
                Ok(*term)
            }
            _ => self.op(op, terms),
        }
    }

    /// A quantifier, lambda, choice or comprehension.
    pub fn bind(&mut self, binder: Binder, vars: Vars, children: &[Term]) -> Result<Term, SortError> {
        let expected = if binder == Binder::Comprehension { 2 } else { 1 };
        if children.len() != expected {
            return Err(SortError::Count {
                name: binder.name().to_owned(),
                expected: expected.to_string(),
                found: children.len(),
            });
        }
        if binder != Binder::Lambda {
            self.expect_sort(children[0], Sort::BOOL)?;
        }
        let var_sorts: Vec<Sort> = self.var_list(vars).iter().map(|var| self.var_sort(*var)).collect();
        let sort = match binder {
            Binder::Forall | Binder::Exists => Sort::BOOL,
            Binder::Lambda => {
                let body = self.sort_of(children[0]);
                self.function_sort(&var_sorts, body)
            }
            Binder::Choice => var_sorts.first().copied().unwrap_or(Sort::UNKNOWN),
            Binder::Comprehension => {
                let element = self.sort_of(children[1]);
                self.sort(SortKind::Set(element))
            }
        };
        Ok(self.node(Head::Bind(binder, vars), children, sort))
    }

    /// Universal quantification over variables given as a list.
    pub fn quantify(&mut self, binder: Binder, vars: &[Var], body: Term) -> Result<Term, SortError> {
        let vars = self.vars(vars);
        self.bind(binder, vars, &[body])
    }

    /// `(! term attributes...)`; terms inside attributes follow the term as children.
    pub fn annotate(&mut self, attributes: Attributes, children: &[Term]) -> Result<Term, SortError> {
        let sort = self.sort_of(children[0]);
        Ok(self.node(Head::Annotated(attributes), children, sort))
    }

    /// `match` with its scrutinee and one body a pattern.
    pub fn match_term(&mut self, patterns: Patterns, children: &[Term]) -> Result<Term, SortError> {
        let count = self.pattern_list(patterns).len() + 1;
        if children.len() != count || count < 2 {
            return Err(SortError::Count {
                name: "match".to_owned(),
                expected: count.to_string(),
                found: children.len(),
            });
        }
        let sort = self.sort_of(children[1]);
        for child in &children[2..] {
            self.expect_sort(*child, sort)?;
        }
        Ok(self.node(Head::Match(patterns), children, sort))
    }

    /// A constructor, selector, tester or updater application. The instance of a parametric datatype comes from
    /// the arguments, or from `result` (a constructor under `as`).
    pub fn datatype_node(
        &mut self,
        head: Head,
        args: &[Term],
        result: Option<Sort>,
    ) -> Result<Term, SortError> {
        let (sort, expected) = match head {
            Head::Constructor(dt, constructor) => {
                let instance = self.constructor_instance(dt, constructor, args, result)?;
                (instance, self.field_sorts(dt, constructor, instance))
            }
            Head::Selector(dt, constructor, field) => {
                let instance = self.instance_of(dt, args)?;
                (self.field_sorts(dt, constructor, instance)[usize::from(field)], vec![instance])
            }
            Head::Tester(dt, _) => (Sort::BOOL, vec![self.instance_of(dt, args)?]),
            Head::Updater(dt, constructor, field) => {
                let instance = self.instance_of(dt, args)?;
                let value = self.field_sorts(dt, constructor, instance)[usize::from(field)];
                (instance, vec![instance, value])
            }
            _ => unreachable!("only datatype heads are passed here"),
        };
        if expected.len() != args.len() {
            let name = self.datatype_head_name(head);
            return Err(SortError::Count { name, expected: expected.len().to_string(), found: args.len() });
        }
        for (sort, arg) in expected.iter().zip(args) {
            self.expect_sort(*arg, *sort)?;
        }
        Ok(self.node(head, args, sort))
    }

    fn instance_of(&mut self, dt: Datatype, args: &[Term]) -> Result<Sort, SortError> {
        let found = args.first().map(|arg| self.sort_of(*arg));
        match found.map(|sort| self.sort_kind(sort)) {
            Some(SortKind::Datatype(of, _)) if *of == dt => Ok(found.unwrap_or(Sort::UNKNOWN)),
            Some(SortKind::Opaque(_)) => {
                let count = self.datatype(dt).params.len();
                let unknown = vec![Sort::UNKNOWN; count];
                Ok(self.sort(SortKind::Datatype(dt, unknown.into())))
            }
            _ => Err(SortError::Expected {
                expected: self.name(self.datatype(dt).name).to_owned(),
                found: found.map_or_else(|| "nothing".to_owned(), |sort| self.sort_text(sort)),
            }),
        }
    }

    fn constructor_instance(
        &mut self,
        dt: Datatype,
        constructor: u16,
        args: &[Term],
        result: Option<Sort>,
    ) -> Result<Sort, SortError> {
        let params = self.datatype(dt).params.clone();
        if params.is_empty() {
            return Ok(self.sort(SortKind::Datatype(dt, Box::new([]))));
        }
        if let Some(result) = result
            && matches!(self.sort_kind(result), SortKind::Datatype(of, _) if *of == dt)
        {
            return Ok(result);
        }
        let fields: Vec<Sort> = self.datatype(dt).constructors[usize::from(constructor)]
            .fields
            .iter()
            .map(|(_, sort)| *sort)
            .collect();
        let mut found = vec![None; params.len()];
        for (field, arg) in fields.iter().zip(args) {
            self.solve_params(*field, self.sort_of(*arg), &params, &mut found);
        }
        if found.contains(&None) {
            return Err(SortError::NeedsSort {
                name: self.name(self.datatype(dt).constructors[usize::from(constructor)].name).to_owned(),
            });
        }
        let sorts: Box<[Sort]> = found.into_iter().flatten().collect();
        Ok(self.sort(SortKind::Datatype(dt, sorts)))
    }

    /// Finds sort parameters by matching a field's sort against an argument's.
    fn solve_params(&self, pattern: Sort, sort: Sort, params: &[Symbol], found: &mut [Option<Sort>]) {
        match (self.sort_kind(pattern), self.sort_kind(sort)) {
            (SortKind::Param(name), _) => {
                if let Some(i) = params.iter().position(|param| param == name) {
                    found[i].get_or_insert(sort);
                }
            }
            (SortKind::Seq(p), SortKind::Seq(s))
            | (SortKind::Set(p), SortKind::Set(s))
            | (SortKind::Bag(p), SortKind::Bag(s))
            | (SortKind::Nullable(p), SortKind::Nullable(s)) => self.solve_params(*p, *s, params, found),
            (SortKind::Array(pi, pe), SortKind::Array(i, e)) => {
                self.solve_params(*pi, *i, params, found);
                self.solve_params(*pe, *e, params, found);
            }
            (SortKind::Tuple(ps), SortKind::Tuple(ss))
            | (SortKind::Declared(_, ps), SortKind::Declared(_, ss))
            | (SortKind::Datatype(_, ps), SortKind::Datatype(_, ss)) => {
                for (p, s) in ps.iter().zip(ss.iter()) {
                    self.solve_params(*p, *s, params, found);
                }
            }
            (SortKind::Fun(ps, p), SortKind::Fun(ss, s)) => {
                for (p, s) in ps.iter().zip(ss.iter()) {
                    self.solve_params(*p, *s, params, found);
                }
                self.solve_params(*p, *s, params, found);
            }
            _ => {}
        }
    }

    /// The name of a constructor, selector, tester or updater, for messages.
    pub(crate) fn datatype_head_name(&self, head: Head) -> String {
        let constructor = |dt: Datatype, c: u16| &self.datatype(dt).constructors[usize::from(c)];
        match head {
            Head::Constructor(dt, c) => self.name(constructor(dt, c).name).to_owned(),
            Head::Selector(dt, c, f) => self.name(constructor(dt, c).fields[usize::from(f)].0).to_owned(),
            Head::Tester(dt, c) => format!("is {}", self.name(constructor(dt, c).name)),
            Head::Updater(dt, c, f) => {
                format!("update {}", self.name(constructor(dt, c).fields[usize::from(f)].0))
            }
            _ => String::new(),
        }
    }

    /// An operator nobody knows, kept with its arguments.
    pub fn opaque(&mut self, name: Symbol, args: &[Term]) -> Term {
        self.node(Head::Opaque(name), args, Sort::UNKNOWN)
    }
}

/// 2^width - 1.
pub(crate) fn ones(width: u32) -> UBig {
    (UBig::ONE << width as usize) - UBig::ONE
}
