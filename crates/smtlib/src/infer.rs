//! Sort inference: what sort an operator gives for these indices and arguments, or why it does not apply.

use thiserror::Error;

use crate::sort::{Sort, SortKind};
use crate::store::Store;
use crate::term::{Fun, Head, Index, Term};
use crate::theory::{Arity, Bindings, Op, Row};

/// Why a term cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SortError {
    #[error("'{name}' cannot be applied to arguments of sorts ({found}); expected {expected}")]
    Arguments { name: String, found: String, expected: String },
    #[error("'{name}' takes {expected} argument(s), found {found}")]
    Count { name: String, expected: String, found: usize },
    #[error("'{name}' expects {expected} {}, found {found}", if *.expected == 1 { "index" } else { "indices" })]
    IndexCount { name: String, expected: usize, found: usize },
    #[error("the indices of '{name}' are out of range for its arguments")]
    IndexRange { name: String },
    #[error("'{name}' needs its sort: write (as {name} SORT)")]
    NeedsSort { name: String },
    #[error("expected a term of sort {expected}, found sort {found}")]
    Expected { expected: String, found: String },
    #[error("a term of sort {found} is not a function")]
    NotAFunction { found: String },
}

impl Store {
    /// The sort of `(op args...)`. `qualified` is the sort of an `(as op SORT)`.
    pub fn infer(
        &mut self,
        op: Op,
        indices: &[Index],
        qualified: Option<Sort>,
        args: &[Term],
    ) -> Result<Sort, SortError> {
        let row = op.row();
        if row.special {
            return self.infer_special(op, indices, args);
        }
        let mut bindings = Bindings::default();
        self.bind_indices(row, indices, &mut bindings)?;
        if let Some(pattern) = &row.qualified {
            let Some(sort) = qualified else {
                return Err(SortError::NeedsSort { name: row.name.to_owned() });
            };
            if !pattern.matches(self, sort, &mut bindings) {
                return Err(self.argument_error(row, args));
            }
        }
        let (least, most) = row.arg_count();
        if args.len() < least || args.len() > most {
            return Err(SortError::Count {
                name: row.name.to_owned(),
                expected: if most == usize::MAX { format!("at least {least}") } else { least.to_string() },
                found: args.len(),
            });
        }
        let result = match row.arity {
            Arity::LeftAssoc if row.result != row.args[0] => self.fold_left(row, args, bindings),
            _ => self.bind_arguments(row, args, &mut bindings),
        };
        match result {
            Some(sort) => Ok(sort),
            None => Err(self.argument_error(row, args)),
        }
    }

    fn bind_indices(&self, row: &Row, indices: &[Index], bindings: &mut Bindings) -> Result<(), SortError> {
        if indices.len() != row.indices.len() {
            return Err(SortError::IndexCount {
                name: row.name.to_owned(),
                expected: row.indices.len(),
                found: indices.len(),
            });
        }
        for (slot, index) in row.indices.iter().zip(indices) {
            match index {
                Index::Number(n) => bindings.numbers[usize::from(*slot)] = Some(*n),
                // Only (_ divisible n) has no width to compute; any positive number is fine there.
                Index::Big(_) if row.op == Op::IntDivisible => {}
                _ => return Err(SortError::IndexRange { name: row.name.to_owned() }),
            }
        }
        Ok(())
    }

    fn bind_arguments(&mut self, row: &Row, args: &[Term], bindings: &mut Bindings) -> Option<Sort> {
        for (i, arg) in args.iter().enumerate() {
            let pattern = if row.arity == Arity::RightAssoc && i + 1 == args.len() {
                &row.args[1]
            } else {
                row.arg(i)?
            };
            if !pattern.matches(self, self.sort_of(*arg), bindings) {
                return None;
            }
        }
        if !row.constraints.iter().all(|constraint| constraint.holds(bindings)) {
            return None;
        }
        let opaque = args.iter().any(|arg| self.is_opaque_sort(self.sort_of(*arg)));
        match row.result.instantiate(self, bindings) {
            None if opaque => Some(self.unknown_sort()),
            result => result,
        }
    }

    /// Left-associative operators whose result is not their argument sort, such as `concat`.
    fn fold_left(&mut self, row: &Row, args: &[Term], start: Bindings) -> Option<Sort> {
        let mut acc = self.sort_of(args[0]);
        for arg in &args[1..] {
            let mut bindings = start;
            let fits = row.args[0].matches(self, acc, &mut bindings)
                && row.args[1].matches(self, self.sort_of(*arg), &mut bindings)
                && row.constraints.iter().all(|constraint| constraint.holds(&bindings));
            if !fits {
                return None;
            }
            acc = match row.result.instantiate(self, &bindings) {
                Some(sort) => sort,
                None if self.is_opaque_sort(acc) || self.is_opaque_sort(self.sort_of(*arg)) => {
                    self.unknown_sort()
                }
                None => return None,
            };
        }
        Some(acc)
    }

    fn argument_error(&self, row: &Row, args: &[Term]) -> SortError {
        let found: Vec<String> = args.iter().map(|arg| self.sort_text(self.sort_of(*arg))).collect();
        SortError::Arguments {
            name: row.name.to_owned(),
            found: found.join(" "),
            expected: crate::theory::ROW_TEXTS[row.op as usize].signature().to_owned(),
        }
    }

    /// The sort of a function applied to `args`: its result, or a function sort when arguments are missing.
    pub fn infer_call(&mut self, fun: Fun, args: &[Term]) -> Result<Sort, SortError> {
        let decl = self.fun(fun);
        let fits = args.len() <= decl.params.len()
            && decl.params.iter().zip(args).all(|(param, arg)| {
                let sort = self.sort_of(*arg);
                self.compatible(*param, sort)
            });
        if fits && args.len() == decl.params.len() {
            return Ok(decl.result);
        }
        if fits {
            let (rest, result) = (decl.params[args.len()..].to_vec(), decl.result);
            return Ok(self.function_sort(&rest, result));
        }
        // A function may return a function value that takes the remaining arguments.
        if args.len() > decl.params.len() && matches!(self.sort_kind(decl.result), SortKind::Fun(..)) {
            let sort = self.function_sort(&decl.params.clone(), decl.result);
            return self.infer_apply(sort, args);
        }
        let name = self.name(decl.name).to_owned();
        if args.len() != decl.params.len() {
            return Err(SortError::Count {
                name,
                expected: decl.params.len().to_string(),
                found: args.len(),
            });
        }
        let found: Vec<String> = args.iter().map(|arg| self.sort_text(self.sort_of(*arg))).collect();
        let expected: Vec<String> = decl.params.iter().map(|sort| self.sort_text(*sort)).collect();
        Err(SortError::Arguments { name, found: found.join(" "), expected: expected.join(" ") })
    }

    /// The sort of a function value applied to `args`.
    pub fn infer_apply(&mut self, function: Sort, args: &[Term]) -> Result<Sort, SortError> {
        if self.is_opaque_sort(function) {
            return Ok(self.unknown_sort());
        }
        let (params, result) = match self.sort_kind(function) {
            SortKind::Fun(params, result) => (params.clone(), *result),
            // Z3 and higher-order users apply arrays as functions.
            SortKind::Array(index, element) => (Box::from([*index]), *element),
            _ => return Err(SortError::NotAFunction { found: self.sort_text(function) }),
        };
        if args.len() > params.len()
            && matches!(self.sort_kind(result), SortKind::Fun(..) | SortKind::Array(..))
        {
            self.infer_apply(function, &args[..params.len()])?;
            return self.infer_apply(result, &args[params.len()..]);
        }
        if args.len() > params.len() {
            return Err(SortError::Count {
                name: "function application".to_owned(),
                expected: params.len().to_string(),
                found: args.len(),
            });
        }
        for (param, arg) in params.iter().zip(args) {
            let sort = self.sort_of(*arg);
            if !self.compatible(*param, sort) {
                return Err(SortError::Expected {
                    expected: self.sort_text(*param),
                    found: self.sort_text(sort),
                });
            }
        }
        Ok(self.function_sort(&params[args.len()..], result))
    }

    /// `sort` if the term has it or is opaque, an error otherwise.
    pub fn expect_sort(&self, term: Term, sort: Sort) -> Result<(), SortError> {
        let found = self.sort_of(term);
        if self.compatible(found, sort) {
            return Ok(());
        }
        Err(SortError::Expected { expected: self.sort_text(sort), found: self.sort_text(found) })
    }

    /// The same sort as far as is known: opaque parts fit everything.
    pub fn compatible(&self, a: Sort, b: Sort) -> bool {
        if a == b {
            return true;
        }
        match (self.sort_kind(a), self.sort_kind(b)) {
            (SortKind::Opaque(_), _) | (_, SortKind::Opaque(_)) => true,
            (SortKind::Seq(a), SortKind::Seq(b))
            | (SortKind::Set(a), SortKind::Set(b))
            | (SortKind::Bag(a), SortKind::Bag(b))
            | (SortKind::Nullable(a), SortKind::Nullable(b)) => self.compatible(*a, *b),
            (SortKind::Array(ai, ae), SortKind::Array(bi, be)) => {
                self.compatible(*ai, *bi) && self.compatible(*ae, *be)
            }
            (SortKind::Tuple(a), SortKind::Tuple(b)) => self.all_compatible(a, b),
            (SortKind::Fun(..), SortKind::Fun(..)) => {
                let ((a, ar), (b, br)) = (self.flat_function(a), self.flat_function(b));
                self.all_compatible(&a, &b) && self.compatible(ar, br)
            }
            (SortKind::Declared(x, a), SortKind::Declared(y, b)) => x == y && self.all_compatible(a, b),
            (SortKind::Datatype(x, a), SortKind::Datatype(y, b)) => x == y && self.all_compatible(a, b),
            _ => false,
        }
    }

    /// All parameters and the last result of a curried function sort.
    pub(crate) fn flat_function(&self, sort: Sort) -> (Vec<Sort>, Sort) {
        let (mut all, mut last) = (Vec::new(), sort);
        while let SortKind::Fun(params, result) = self.sort_kind(last) {
            all.extend_from_slice(params);
            last = *result;
        }
        (all, last)
    }

    fn all_compatible(&self, a: &[Sort], b: &[Sort]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.compatible(*a, *b))
    }

    /// A node of the same head over other children: the one way every mutation goes through.
    pub fn rebuild(&mut self, term: Term, args: &[Term]) -> Result<Term, SortError> {
        let (head, sort) = (self.head(term), self.sort_of(term));
        let old = self.args(term);
        let same_sorts = old.len() == args.len()
            && old.iter().zip(args).all(|(old, new)| self.sort_of(*old) == self.sort_of(*new));
        if same_sorts {
            return Ok(self.node(head, args, sort));
        }
        match head {
            Head::Op(op, indices) => {
                let qualified = op.row().qualified.is_some().then_some(sort);
                let indices_list = self.index_list(indices).to_vec();
                let sort = self.infer(op, &indices_list, qualified, args)?;
                Ok(self.node(head, args, sort))
            }
            Head::Fun(fun) => {
                let sort = self.infer_call(fun, args)?;
                Ok(self.node(head, args, sort))
            }
            Head::Apply => self.apply(args),
            Head::Constructor(..) | Head::Selector(..) | Head::Tester(..) | Head::Updater(..) => {
                self.datatype_node(head, args, Some(sort))
            }
            Head::Bind(binder, vars) => self.bind(binder, vars, args),
            Head::Match(patterns) => self.match_term(patterns, args),
            Head::Annotated(attributes) => self.annotate(attributes, args),
            Head::Opaque(_) => Ok(self.node(head, args, sort)),
            Head::Var(_) | Head::Literal(_) => Ok(term),
        }
    }
}
