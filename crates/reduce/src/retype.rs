//! Scripts with other sorts in the place of some: every declaration, variable and term is made anew.

use std::sync::Arc;

use eval::sorts::Sorts;
use eval::{Evaluator, Interpretation, Model, to_term};
use rustc_hash::FxHashMap;
use smtlib::theory::table;
use smtlib::{
    Command, Definition, Fun, Head, Index, Integer, Literal, Op, Script, Sort, SortKind, Store, Term, Var,
};

use crate::workbench::{Draft, Workbench};

/// The draft with sorts replaced; nothing if some term has no counterpart. The model's values are carried over as far
/// as they have counterparts.
pub fn retyped(bench: &mut Workbench, sorts: &FxHashMap<Sort, Sort>) -> Option<Draft> {
    let draft = bench.draft.clone();
    let mut retype =
        Retype { store: &mut bench.store, sorts, funs: FxHashMap::default(), terms: FxHashMap::default() };
    let mut script = Script::default();
    for command in &draft.script.commands {
        script.commands.push(retype.command(command)?);
    }
    let model = match &draft.model {
        None => None,
        Some(model) => Some(Arc::new(retype.model(&draft.script, model))),
    };
    (script != draft.script).then_some(Draft { script, model })
}

struct Retype<'a> {
    store: &'a mut Store,
    sorts: &'a FxHashMap<Sort, Sort>,
    funs: FxHashMap<Fun, Fun>,
    terms: FxHashMap<Term, Term>,
}

impl Retype<'_> {
    fn sort(&mut self, sort: Sort) -> Option<Sort> {
        if let Some(new) = self.sorts.get(&sort) {
            return Some(*new);
        }
        let kind = match self.store.sort_kind(sort).clone() {
            SortKind::Seq(inner) => SortKind::Seq(self.sort(inner)?),
            SortKind::Set(inner) => SortKind::Set(self.sort(inner)?),
            SortKind::Bag(inner) => SortKind::Bag(self.sort(inner)?),
            SortKind::Nullable(inner) => SortKind::Nullable(self.sort(inner)?),
            SortKind::Array(index, element) => SortKind::Array(self.sort(index)?, self.sort(element)?),
            SortKind::Tuple(inner) => SortKind::Tuple(self.all(&inner)?.into()),
            SortKind::Declared(decl, inner) => SortKind::Declared(decl, self.all(&inner)?.into()),
            SortKind::Fun(params, result) => SortKind::Fun(self.all(&params)?.into(), self.sort(result)?),
            SortKind::Datatype(datatype, inner) => {
                // Fields would need a datatype of their own.
                let fields: Vec<Sort> = self
                    .store
                    .datatype(datatype)
                    .constructors
                    .iter()
                    .flat_map(|constructor| constructor.fields.iter().map(|(_, sort)| *sort))
                    .collect();
                if fields.iter().any(|field| self.sorts.contains_key(field)) {
                    return None;
                }
                SortKind::Datatype(datatype, self.all(&inner)?.into())
            }
            _ => return Some(sort),
        };
        Some(self.store.sort(kind))
    }

    fn all(&mut self, sorts: &[Sort]) -> Option<Vec<Sort>> {
        sorts.iter().map(|sort| self.sort(*sort)).collect()
    }

    fn var(&mut self, var: Var) -> Option<Var> {
        let sort = self.store.var_sort(var);
        let new = self.sort(sort)?;
        let name = self.store.var_name(var);
        Some(self.store.var(name, new))
    }

    fn fun(&mut self, fun: Fun) -> Option<Fun> {
        if let Some(new) = self.funs.get(&fun) {
            return Some(*new);
        }
        let decl = self.store.fun(fun).clone();
        let (params, result) = (self.all(&decl.params)?, self.sort(decl.result)?);
        if decl.definition.is_none() && *params == *decl.params && result == decl.result {
            self.funs.insert(fun, fun);
            return Some(fun);
        }
        let new = self.store.declare_fun(decl.name, &params, result);
        self.funs.insert(fun, new);
        if let Some(definition) = decl.definition {
            let vars = definition.vars.iter().map(|var| self.var(*var)).collect::<Option<Vec<Var>>>()?;
            let body = self.term(definition.body)?;
            if self.store.sort_of(body) != result {
                return None;
            }
            let recursive = definition.recursive;
            self.store.define(new, Definition { vars: vars.into(), body, recursive });
        }
        Some(new)
    }

    fn command(&mut self, command: &Command) -> Option<Command> {
        Some(match command {
            Command::DeclareFun(fun) => Command::DeclareFun(self.fun(*fun)?),
            Command::DeclareConst(fun) => Command::DeclareConst(self.fun(*fun)?),
            Command::DefineFun(fun) => Command::DefineFun(self.fun(*fun)?),
            Command::DefineFunRec(fun) => Command::DefineFunRec(self.fun(*fun)?),
            Command::DefineConst(fun) => Command::DefineConst(self.fun(*fun)?),
            Command::DefineFunsRec(funs) => {
                Command::DefineFunsRec(funs.iter().map(|fun| self.fun(*fun)).collect::<Option<_>>()?)
            }
            Command::Assert(term) => Command::Assert(self.formula(*term)?),
            Command::CheckSatAssuming(terms) => Command::CheckSatAssuming(
                terms.iter().map(|term| self.formula(*term)).collect::<Option<_>>()?,
            ),
            Command::GetValue(terms) => {
                Command::GetValue(terms.iter().map(|term| self.term(*term)).collect::<Option<_>>()?)
            }
            Command::Minimize(term, rest) => Command::Minimize(self.term(*term)?, rest.clone()),
            Command::Maximize(term, rest) => Command::Maximize(self.term(*term)?, rest.clone()),
            Command::AssertSoft(term, rest) => Command::AssertSoft(self.formula(*term)?, rest.clone()),
            Command::DefineSort { .. }
            | Command::Simplify(..)
            | Command::Eval(..)
            | Command::Opaque { .. } => {
                return None;
            }
            other => other.clone(),
        })
    }

    fn formula(&mut self, term: Term) -> Option<Term> {
        self.term(term).filter(|new| self.store.sort_of(*new) == Sort::BOOL)
    }

    fn term(&mut self, root: Term) -> Option<Term> {
        for term in self.store.subterms(&[root]) {
            if !self.terms.contains_key(&term) {
                let new = self.node(term)?;
                let wanted = self.store.sort_of(term);
                if self.sort(wanted)? != self.store.sort_of(new) {
                    return None;
                }
                self.terms.insert(term, new);
            }
        }
        self.terms.get(&root).copied()
    }

    fn node(&mut self, term: Term) -> Option<Term> {
        let args: Vec<Term> = self.store.args(term).iter().map(|arg| self.terms[arg]).collect();
        let old = self.store.sort_of(term);
        let sort = self.sort(old)?;
        match self.store.head(term) {
            Head::Literal(id) => {
                let literal = self.store.literal(id).clone();
                self.literal(literal, sort)
            }
            Head::Var(var) => {
                let var = self.var(var)?;
                Some(self.store.var_term(var))
            }
            Head::Fun(fun) => {
                let fun = self.fun(fun)?;
                self.store.call(fun, &args).ok()
            }
            Head::Bind(binder, vars) => {
                let vars: Vec<Var> = self.store.var_list(vars).to_vec();
                let vars = vars.into_iter().map(|var| self.var(var)).collect::<Option<Vec<Var>>>()?;
                let vars = self.store.vars(&vars);
                self.store.bind(binder, vars, &args).ok()
            }
            Head::Op(op, indices) => {
                let indices = self.store.index_list(indices).to_vec();
                self.operation(op, &indices, sort, &args)
            }
            _ if args == self.store.args(term) => Some(term),
            _ => self.store.rebuild(term, &args).ok(),
        }
    }

    /// The same operator where it fits the new sorts, with other indices if need be, or its namesake of another theory.
    fn operation(&mut self, op: Op, indices: &[Index], sort: Sort, args: &[Term]) -> Option<Term> {
        let mut choices: Vec<(Op, Vec<Index>)> = vec![(op, indices.to_vec())];
        choices.extend(self.indices(indices, sort, args).into_iter().map(|indices| (op, indices)));
        let namesakes = table().named(op.name()).iter().filter(|other| **other != op);
        choices.extend(namesakes.map(|other| (*other, indices.to_vec())));
        if matches!(op, Op::ToReal | Op::ToInt) && args.len() == 1 && self.store.sort_of(args[0]) == sort {
            return Some(args[0]);
        }
        if op == Op::RealDiv {
            choices.push((Op::IntDiv, Vec::new()));
        }
        for (op, indices) in choices {
            let made = if op.row().qualified.is_some() {
                self.store.qualified(op, sort, args)
            } else {
                self.store.indexed(op, &indices, args)
            };
            if let Ok(made) = made
                && self.store.sort_of(made) == sort
            {
                return Some(made);
            }
        }
        None
    }

    /// Indices that may give the result sort: lengths of extensions, bounds of extractions, formats.
    fn indices(&self, indices: &[Index], sort: Sort, args: &[Term]) -> Vec<Vec<Index>> {
        let width = |sort: Sort| match self.store.sort_kind(sort) {
            SortKind::BitVec(width) => Some(*width),
            _ => None,
        };
        let number = |place: usize| match indices.get(place) {
            Some(Index::Number(number)) => Some(*number),
            _ => None,
        };
        let argument = args.first().and_then(|arg| width(self.store.sort_of(*arg)));
        match (indices.len(), width(sort), argument, self.store.sort_kind(sort)) {
            (2, _, _, SortKind::Float(exponent, significand)) => {
                vec![vec![Index::Number(*exponent), Index::Number(*significand)]]
            }
            (2, Some(result), Some(argument), _) if result <= argument => {
                let low = number(1).unwrap_or(0).min(argument - result);
                vec![vec![Index::Number(low + result - 1), Index::Number(low)]]
            }
            (1, Some(result), Some(argument), _) => {
                let mut found = vec![vec![Index::Number(result)]];
                if result >= argument {
                    found.push(vec![Index::Number(result - argument)]);
                }
                if argument > 0 && result % argument == 0 {
                    found.push(vec![Index::Number(result / argument)]);
                }
                if let Some(number) = number(0) {
                    found.push(vec![Index::Number(number % argument.max(1))]);
                }
                found
            }
            (1, Some(result), None, _) => vec![vec![Index::Number(result)]],
            _ => Vec::new(),
        }
    }

    /// A constant like another one, in another sort.
    fn literal(&mut self, literal: Literal, sort: Sort) -> Option<Term> {
        let value: Integer = match &literal {
            Literal::Int(value) => value.clone(),
            Literal::Real(value) => value.floor(),
            Literal::BitVec(_, value) | Literal::Field(_, value) => Integer::from(value.clone()),
            Literal::String(chars) => Integer::from(chars.len()),
        };
        let natural = value.clone().max(Integer::ZERO).magnitude();
        Some(match self.store.sort_kind(sort).clone() {
            SortKind::BitVec(width) => self.store.bv(width, natural),
            SortKind::Int => self.store.int(value),
            SortKind::Real => match literal {
                Literal::Real(value) => self.store.real(value),
                _ => self.store.real(value.into()),
            },
            SortKind::Bool => self.store.bool(!value.is_zero()),
            SortKind::String if matches!(literal, Literal::String(_)) => self.store.literal_term(literal),
            SortKind::FiniteField(_) if matches!(literal, Literal::Field(..)) => {
                self.store.literal_term(literal)
            }
            _ => {
                let value = Sorts::new(self.store, &Model::new()).default_value(sort)?;
                to_term(self.store, sort, &value)?
            }
        })
    }

    /// The model with the values of constants carried over.
    fn model(&mut self, script: &Script, model: &Model) -> Model {
        let mut new = model.clone();
        for fun in script.declared_funs() {
            let Some(target) = self.funs.get(&fun).copied().filter(|target| *target != fun) else { continue };
            let Some(Interpretation::Value(value)) = model.get(fun) else { continue };
            let sort = self.store.fun(fun).result;
            let carried = to_term(self.store, sort, value).and_then(|term| {
                let term = self.term(term)?;
                Evaluator::default().evaluate(self.store, &Model::new(), term).ok()
            });
            if let Some(value) = carried {
                new.assign(target, value);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Release, parse, print};

    fn narrowed(text: &str, from: u32, to: u32) -> Option<String> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let (from, to) = (store.bitvec(from), store.bitvec(to));
        let mut bench = Workbench::new(store, Draft { script, model: None });
        let draft = retyped(&mut bench, &[(from, to)].into_iter().collect())?;
        Some(print::print(&bench.store, &draft.script, Release::STANDARD))
    }

    #[test]
    fn widths_shrink_with_constants_and_indices() {
        let text = narrowed(
            "(declare-const x (_ BitVec 32))(assert (= (bvadd x #x00000101) ((_ zero_extend 24) ((_ extract 7 0) x))))",
            32,
            8,
        )
        .expect("narrowed");
        assert!(text.contains("(declare-const x (_ BitVec 8))"), "{text}");
        assert!(text.contains("#x01") && text.contains("(_ zero_extend 0)"), "{text}");
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        let text = "(declare-const x (_ BitVec 4))(assert (= (concat x x) #x00))";
        assert_eq!(narrowed(text, 4, 2), None);
    }

    #[test]
    fn reals_become_integers_with_their_operators() {
        let mut store = Store::new();
        let text = "(declare-const x Real)(assert (< (+ x 1.5) (* 2.0 x)))";
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let mut bench = Workbench::new(store, Draft { script, model: None });
        let draft = retyped(&mut bench, &[(Sort::REAL, Sort::INT)].into_iter().collect()).expect("retyped");
        let text = print::print(&bench.store, &draft.script, Release::STANDARD);
        assert!(text.contains("(declare-const x Int)\n(assert (< (+ x 1) (* 2 x)))"), "{text}");
    }
}
