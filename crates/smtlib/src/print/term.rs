//! Terms as text, written from an explicit stack.

use std::fmt::Write as _;

use dashu_int::UBig;
use numbers::Rational;
use rustc_hash::{FxHashMap, FxHashSet};

use super::dialect::Dialect;
use super::{sharing, sorts, write_symbol};
use crate::literal::{self, Literal};
use crate::release::Family;
use crate::sort::{Sort, SortKind};
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::{Op, SortPattern, table};
use crate::walk::{FreeVars, pattern_vars};

/// What is still to be written.
enum Task {
    Text(&'static str),
    Owned(String),
    /// A term, by its let-name if it has one.
    Term(Term),
    /// The term itself although it has a name: the right side of its binding.
    Definition(Term),
    /// A term in front of which shared sub-terms are bound.
    Scoped(Term),
    LetName(Term),
    Attributes {
        attributes: Attributes,
        from: usize,
        first_term: usize,
        term: Term,
    },
    Pattern(Pattern, Term),
    /// The names of a scope end here.
    Forget(Vec<Term>, usize),
}

pub(super) struct TermPrinter<'s> {
    store: &'s Store,
    dialect: Dialect,
    tasks: Vec<Task>,
    names: FxHashMap<Term, String>,
    scope: sharing::Scope,
    look_ahead: usize,
    free: FreeVars,
    prefix: Option<&'static str>,
    counter: usize,
    /// Constructor names that several datatypes have.
    ambiguous: Option<FxHashSet<Symbol>>,
}

impl<'s> TermPrinter<'s> {
    pub(super) fn new(store: &'s Store, dialect: Dialect) -> TermPrinter<'s> {
        TermPrinter {
            store,
            dialect,
            tasks: Vec::new(),
            names: FxHashMap::default(),
            scope: sharing::Scope::default(),
            look_ahead: 0,
            free: FreeVars::default(),
            prefix: None,
            counter: 0,
            ambiguous: None,
        }
    }

    pub(super) fn write(&mut self, out: &mut String, term: Term) {
        self.write_in_scope(out, term, &[]);
    }

    /// A function's body: the parameters are in scope.
    pub(super) fn write_in_scope(&mut self, out: &mut String, term: Term, vars: &[Var]) {
        self.counter = 0;
        self.names.clear();
        self.scope.truncate(0);
        self.scope.extend(vars.iter().copied());
        self.look_ahead = sharing::LOOK_AHEAD;
        self.tasks.push(Task::Scoped(term));
        while let Some(task) = self.tasks.pop() {
            self.step(out, task);
        }
    }

    fn step(&mut self, out: &mut String, task: Task) {
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Owned(text) => out.push_str(&text),
            Task::Term(term) => match self.names.get(&term) {
                Some(name) => out.push_str(name),
                None => self.term(out, term),
            },
            Task::Definition(term) => self.term(out, term),
            Task::Scoped(term) => self.scoped(out, term),
            Task::LetName(term) => {
                let name = self.fresh_name();
                out.push_str(&name);
                self.names.insert(term, name);
            }
            Task::Attributes { attributes, from, first_term, term } => {
                self.attributes(out, attributes, from, first_term, term);
            }
            Task::Pattern(pattern, scrutinee) => self.pattern(out, &pattern, scrutinee),
            Task::Forget(terms, scope) => {
                for term in terms {
                    self.names.remove(&term);
                }
                self.scope.truncate(scope);
            }
        }
    }

    fn fresh_name(&mut self) -> String {
        let prefix = *self.prefix.get_or_insert_with(|| free_prefix(self.store));
        self.counter += 1;
        format!("{prefix}{}", self.counter)
    }

    /// Binds what is shared, then writes the term. The annotation of a quantifier's body stays outside the
    /// bindings: solvers look for patterns directly under the quantifier.
    fn scoped(&mut self, out: &mut String, term: Term) {
        if let (Head::Annotated(attributes), false) = (self.store.head(term), self.names.contains_key(&term))
        {
            out.push_str("(! ");
            self.tasks.push(Task::Attributes { attributes, from: 0, first_term: 1, term });
            self.tasks.push(Task::Scoped(self.store.args(term)[0]));
            return;
        }
        let groups =
            sharing::groups(self.store, term, &self.scope, &self.names, &mut self.free, &mut self.look_ahead);
        if groups.is_empty() {
            self.tasks.push(Task::Term(term));
            return;
        }
        let scope = self.scope.len();
        self.tasks.push(Task::Forget(groups.concat(), scope));
        for _ in &groups {
            self.tasks.push(Task::Text(")"));
        }
        self.tasks.push(Task::Term(term));
        for group in groups.iter().rev() {
            self.tasks.push(Task::Text(") "));
            for (i, shared) in group.iter().enumerate().rev() {
                self.tasks.push(Task::Text(")"));
                self.tasks.push(Task::Definition(*shared));
                self.tasks.push(Task::Text(" "));
                self.tasks.push(Task::LetName(*shared));
                self.tasks.push(Task::Text(if i > 0 { " (" } else { "(" }));
            }
            self.tasks.push(Task::Text("(let ("));
        }
    }

    /// Writes `(`, the head, and schedules the arguments.
    fn term(&mut self, out: &mut String, term: Term) {
        let args = self.store.args(term);
        match self.store.head(term) {
            Head::Bind(binder, vars) => {
                let vars = self.store.var_list(vars);
                _ = write!(out, "({} (", binder.name());
                sorts::write_sorted_vars(out, self.store, vars, self.dialect);
                out.push(')');
                let scope = self.scope.len();
                self.tasks.push(Task::Forget(Vec::new(), scope));
                self.scope.extend(vars.iter().copied());
                self.tasks.push(Task::Text(")"));
                for arg in args.iter().rev() {
                    self.tasks.push(Task::Scoped(*arg));
                    self.tasks.push(Task::Text(" "));
                }
            }
            Head::Annotated(attributes) => {
                out.push_str("(! ");
                self.tasks.push(Task::Attributes { attributes, from: 0, first_term: 1, term });
                self.tasks.push(Task::Term(args[0]));
            }
            Head::Match(patterns) => {
                out.push_str("(match ");
                self.tasks.push(Task::Text("))"));
                let patterns = self.store.pattern_list(patterns);
                for (i, (pattern, body)) in patterns.iter().zip(&args[1..]).enumerate().rev() {
                    self.tasks.push(Task::Text(")"));
                    self.tasks.push(Task::Forget(Vec::new(), self.scope.len()));
                    self.tasks.push(Task::Scoped(*body));
                    self.tasks.push(Task::Text(" "));
                    self.tasks.push(Task::Pattern(pattern.clone(), args[0]));
                    self.tasks.push(Task::Text(if i > 0 { " (" } else { "(" }));
                }
                self.tasks.push(Task::Text(" ("));
                self.tasks.push(Task::Term(args[0]));
            }
            Head::Apply => self.application(out, args, |_, _| {}),
            Head::Op(op, indices) if self.needs_rewriting(op, args.len()) => {
                self.rewritten(out, op, indices, args)
            }
            _ if args.is_empty() => self.head(out, term),
            _ => self.application(out, args, |printer, out| {
                printer.head(out, term);
                out.push(' ');
            }),
        }
    }

    fn application(&mut self, out: &mut String, args: &[Term], head: impl FnOnce(&mut Self, &mut String)) {
        out.push('(');
        head(self, out);
        self.tasks.push(Task::Text(")"));
        for (i, arg) in args.iter().enumerate().rev() {
            self.tasks.push(Task::Term(*arg));
            if i > 0 {
                self.tasks.push(Task::Text(" "));
            }
        }
    }

    /// Operators that the dialect has only in another form.
    fn needs_rewriting(&self, op: Op, args: usize) -> bool {
        match op {
            Op::StrLt | Op::StrLe => self.dialect.binary_string_order && args > 2,
            Op::IntDivisible => self.dialect.no_divisible,
            _ => false,
        }
    }

    fn rewritten(&mut self, out: &mut String, op: Op, indices: Indices, args: &[Term]) {
        if op == Op::IntDivisible {
            out.push_str("(= (mod ");
            let divisor = match self.store.index_list(indices).first() {
                Some(Index::Number(n)) => UBig::from(*n),
                Some(Index::Big(n)) => n.as_ref().clone(),
                _ => UBig::ONE,
            };
            self.tasks.push(Task::Owned(format!(" {divisor}) 0)")));
            self.tasks.push(Task::Term(args[0]));
            return;
        }
        let name = op.row().name_for(self.dialect.release);
        out.push_str("(and");
        self.tasks.push(Task::Text(")"));
        for pair in args.windows(2).rev() {
            self.tasks.push(Task::Text(")"));
            self.tasks.push(Task::Term(pair[1]));
            self.tasks.push(Task::Text(" "));
            self.tasks.push(Task::Term(pair[0]));
            self.tasks.push(Task::Text(" "));
            self.tasks.push(Task::Text(name));
            self.tasks.push(Task::Text(" ("));
        }
    }

    fn head(&mut self, out: &mut String, term: Term) {
        let store = self.store;
        match store.head(term) {
            Head::Op(op, indices) => {
                let row = op.row();
                let name = row.name_for(self.dialect.release);
                if row.qualified.is_some() {
                    _ = write!(out, "(as {name} ");
                    sorts::write(out, store, store.sort_of(term), self.dialect);
                    out.push(')');
                } else if indices == Indices::NONE {
                    out.push_str(name);
                } else {
                    _ = write!(out, "(_ {name}");
                    self.indices(out, indices);
                    out.push(')');
                }
            }
            Head::Fun(fun) => write_symbol(out, store.name(store.fun(fun).name)),
            Head::Var(var) => write_symbol(out, store.name(store.var_name(var))),
            Head::Literal(id) => self.literal(out, store.literal(id)),
            Head::Constructor(dt, c) => {
                let decl = store.datatype(dt);
                let constructor = &decl.constructors[usize::from(c)];
                let ambiguous = self.ambiguous.get_or_insert_with(|| ambiguous_constructors(store));
                let determined = decl.params.iter().all(|param| {
                    constructor.fields.iter().any(|(_, sort)| mentions_param(store, *sort, *param))
                });
                if determined && !ambiguous.contains(&constructor.name) {
                    write_symbol(out, store.name(constructor.name));
                } else {
                    out.push_str("(as ");
                    write_symbol(out, store.name(constructor.name));
                    out.push(' ');
                    sorts::write(out, store, store.sort_of(term), self.dialect);
                    out.push(')');
                }
            }
            Head::Selector(dt, c, f) => {
                let constructor = &store.datatype(dt).constructors[usize::from(c)];
                write_symbol(out, store.name(constructor.fields[usize::from(f)].0));
            }
            Head::Tester(dt, c) => {
                out.push_str("(_ is ");
                write_symbol(out, store.name(store.datatype(dt).constructors[usize::from(c)].name));
                out.push(')');
            }
            Head::Updater(dt, c, f) => {
                out.push_str("(_ update ");
                let constructor = &store.datatype(dt).constructors[usize::from(c)];
                write_symbol(out, store.name(constructor.fields[usize::from(f)].0));
                out.push(')');
            }
            Head::Opaque(name) => {
                let text = store.name(name);
                let sort = store.sort_of(term);
                if sort != Sort::UNKNOWN {
                    out.push_str("(as ");
                    write_symbol(out, text);
                    out.push(' ');
                    sorts::write(out, store, sort, self.dialect);
                    out.push(')');
                } else if text.starts_with(['(', '|']) {
                    out.push_str(text);
                } else {
                    write_symbol(out, text);
                }
            }
            Head::Apply | Head::Bind(..) | Head::Match(_) | Head::Annotated(_) => {}
        }
    }

    fn indices(&self, out: &mut String, indices: Indices) {
        for index in self.store.index_list(indices) {
            out.push(' ');
            match index {
                Index::Number(n) => _ = write!(out, "{n}"),
                Index::Big(n) => _ = write!(out, "{n}"),
                Index::Symbol(symbol) => write_symbol(out, self.store.name(*symbol)),
                Index::Fun(fun) => write_symbol(out, self.store.name(self.store.fun(*fun).name)),
                Index::Op(op) => self.operator_index(out, *op),
            }
        }
    }

    /// An operator in `(_ map op)`. Z3 wants the signature of one that has overloads.
    fn operator_index(&self, out: &mut String, op: Op) {
        let name = op.row().name_for(self.dialect.release);
        let fixed = |pattern: &SortPattern| match pattern {
            SortPattern::Fixed(sort) => Some(*sort),
            _ => None,
        };
        let overloaded = self.dialect.release.family == Family::Z3 && table().named(name).len() > 1;
        let args: Option<Vec<Sort>> = op.row().args.iter().map(fixed).collect();
        match (args, fixed(&op.row().result)) {
            (Some(args), Some(result)) if overloaded => {
                _ = write!(out, "({name} (");
                for (i, sort) in args.into_iter().enumerate() {
                    out.push_str(if i > 0 { " " } else { "" });
                    sorts::write(out, self.store, sort, self.dialect);
                }
                out.push_str(") ");
                sorts::write(out, self.store, result, self.dialect);
                out.push(')');
            }
            _ => out.push_str(name),
        }
    }

    fn literal(&self, out: &mut String, literal: &Literal) {
        match literal {
            Literal::Int(value) if value.is_negative() => _ = write!(out, "(- {})", -value),
            Literal::Int(value) => _ = write!(out, "{value}"),
            Literal::Real(value) => write_real(out, value),
            Literal::BitVec(width, value) if width % 4 == 0 => {
                _ = write!(out, "#x{value:0digits$x}", digits = (*width / 4) as usize);
            }
            Literal::BitVec(width, value) => _ = write!(out, "#b{value:0digits$b}", digits = *width as usize),
            Literal::String(points) => literal::write_string(out, points, self.dialect.escapes),
            Literal::Field(sort, value) => {
                _ = write!(out, "(as ff{value} ");
                sorts::write(out, self.store, *sort, self.dialect);
                out.push(')');
            }
        }
    }

    /// The attributes from number `from` on; comes back after each that contains terms.
    fn attributes(
        &mut self,
        out: &mut String,
        attributes: Attributes,
        from: usize,
        first_term: usize,
        term: Term,
    ) {
        let list = self.store.attribute_list(attributes);
        let args = self.store.args(term);
        for (i, attribute) in list.iter().enumerate().skip(from) {
            _ = write!(out, " {}", self.store.name(attribute.keyword));
            let terms = match &attribute.value {
                AttributeValue::None => 0,
                AttributeValue::Text(text) => {
                    _ = write!(out, " {text}");
                    0
                }
                AttributeValue::Named(fun) => {
                    out.push(' ');
                    write_symbol(out, self.store.name(self.store.fun(*fun).name));
                    0
                }
                AttributeValue::Terms(count) => *count as usize,
                AttributeValue::Term => 1,
            };
            let listed = matches!(attribute.value, AttributeValue::Terms(_));
            if terms > 0 || listed {
                self.tasks.push(Task::Attributes {
                    attributes,
                    from: i + 1,
                    first_term: first_term + terms,
                    term,
                });
                if listed {
                    self.tasks.push(Task::Text(")"));
                }
                for (i, arg) in args[first_term..first_term + terms].iter().enumerate().rev() {
                    self.tasks.push(Task::Term(*arg));
                    if i > 0 {
                        self.tasks.push(Task::Text(" "));
                    }
                }
                self.tasks.push(Task::Text(if listed { " (" } else { " " }));
                return;
            }
        }
        out.push(')');
    }

    fn pattern(&mut self, out: &mut String, pattern: &Pattern, scrutinee: Term) {
        match pattern {
            Pattern::Var(var) => write_symbol(out, self.store.name(self.store.var_name(*var))),
            Pattern::Constructor(number, vars) => {
                let sort = self.store.sort_of(scrutinee);
                if let SortKind::Datatype(dt, _) = self.store.sort_kind(sort) {
                    let name = self.store.datatype(*dt).constructors[usize::from(*number)].name;
                    if !vars.is_empty() {
                        out.push('(');
                    }
                    write_symbol(out, self.store.name(name));
                    for var in vars {
                        out.push(' ');
                        write_symbol(out, self.store.name(self.store.var_name(*var)));
                    }
                    if !vars.is_empty() {
                        out.push(')');
                    }
                }
            }
        }
        self.scope.extend(pattern_vars(pattern));
    }
}

/// A decimal where the value has one, a quotient otherwise.
fn write_real(out: &mut String, value: &Rational) {
    if value.is_negative() {
        out.push_str("(- ");
        write_real(out, &-value);
        out.push(')');
        return;
    }
    let numerator = value.numerator();
    if value.is_integer() {
        _ = write!(out, "{numerator}.0");
        return;
    }
    let denominator = value.denominator().magnitude();
    match decimal_places(&denominator) {
        Some(places) => {
            let scale = UBig::from(10u8).pow(places);
            let scaled = &scale * numerator.magnitude() / denominator;
            let (whole, fraction) = (&scaled / &scale, &scaled % &scale);
            _ = write!(out, "{whole}.{fraction:0>places$}", fraction = fraction.to_string());
        }
        None => _ = write!(out, "(/ {numerator}.0 {denominator}.0)"),
    }
}

/// How many decimal places 1/denominator needs, if finitely many.
fn decimal_places(denominator: &UBig) -> Option<usize> {
    let twos = denominator.trailing_zeros().unwrap_or(0);
    let mut rest = denominator.clone() >> twos;
    let mut fives = 0;
    let five = UBig::from(5u8);
    while rest > UBig::ONE {
        if &rest % &five != UBig::ZERO {
            return None;
        }
        rest /= &five;
        fives += 1;
    }
    Some(twos.max(fives))
}

fn mentions_param(store: &Store, sort: Sort, param: Symbol) -> bool {
    match store.sort_kind(sort) {
        SortKind::Param(name) => *name == param,
        SortKind::Seq(s) | SortKind::Set(s) | SortKind::Bag(s) | SortKind::Nullable(s) => {
            mentions_param(store, *s, param)
        }
        SortKind::Array(i, e) => mentions_param(store, *i, param) || mentions_param(store, *e, param),
        SortKind::Tuple(sorts) | SortKind::Declared(_, sorts) | SortKind::Datatype(_, sorts) => {
            sorts.iter().any(|sort| mentions_param(store, *sort, param))
        }
        SortKind::Fun(sorts, result) => {
            sorts.iter().chain([result]).any(|sort| mentions_param(store, *sort, param))
        }
        _ => false,
    }
}

fn ambiguous_constructors(store: &Store) -> FxHashSet<Symbol> {
    let mut seen = FxHashSet::default();
    let names = store.all_datatypes().flat_map(|dt| store.datatype(dt).constructors.iter().map(|c| c.name));
    names.filter(|name| !seen.insert(*name)).collect()
}

/// A prefix for let-names that no declared name starts with.
fn free_prefix(store: &Store) -> &'static str {
    const PREFIXES: [&str; 5] = ["_v", "_let", "_osprey", "_osprey_let", "_osprey_shared"];
    let taken = |prefix: &str| {
        store.all_funs().any(|fun| store.name(store.fun(fun).name).starts_with(prefix))
            || store.all_vars().any(|var| store.name(store.var_name(var)).starts_with(prefix))
    };
    PREFIXES.into_iter().find(|prefix| !taken(prefix)).unwrap_or("_osprey_shared_term")
}
