//! The statements of a model as commands for the reader of scripts.
//!
//! All that is only a model's own is declared first, so that the order of the statements does not matter: Z3
//! prints auxiliary functions after their use. Bodies of the script's symbols come under names of their own and
//! in the script's sorts, because old releases of Z3 print sorts wrongly.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::lexer::Kind;
use smtlib::print::print_symbol;
use smtlib::{Command, Fun, Release, Script, Sort, SortKind, Store};

use super::items::{Item, Param};
use super::rewrite::{Constant, Rewriter, abstract_name};
use super::tokens::{Expr, Tokens, represented};
use super::{ModelError, Note, open};
use crate::algebraic::Real;
use crate::bv::BitVector;
use crate::integer::Integer;
use crate::rational::Rational;
use crate::value::Value;

/// A command, and what it is for.
pub(super) struct Piece {
    /// The place in the solver's text.
    pub offset: usize,
    pub text: String,
    pub role: Role,
}

pub(super) enum Role {
    Element(String),
    Number(Option<Real>),
    /// A constant whose sort has these elements and no others.
    Universe(Vec<String>),
    Auxiliary(String),
    Body(Target),
}

/// What a body belongs to.
pub(super) enum Target {
    Script(Vec<Fun>),
    Auxiliary(String),
    Open(String),
    /// The value of a pair, by its number.
    Value(usize),
}

pub(super) struct Planned {
    pub pieces: Vec<Piece>,
    /// Constants of the script whose values are plain literals, which most are: they need no reader.
    pub values: Vec<(Vec<Fun>, Value)>,
    pub notes: Vec<Note>,
}

/// What a model says about all elements of a sort.
struct Closed {
    offset: usize,
    sort: String,
    elements: Vec<String>,
}

pub(super) struct Plan<'t, 'a> {
    tokens: &'t Tokens<'a>,
    store: &'t Store,
    rewriter: Rewriter<'t, 'a>,
    source: &'a [u8],
    declared: FxHashMap<String, Vec<Fun>>,
    /// Functions that the script defines: the model has nothing to say about them.
    defined: FxHashSet<String>,
    selectors: FxHashSet<String>,
    universes: Vec<Closed>,
    auxiliary: Vec<Piece>,
    bodies: Vec<Piece>,
    values: Vec<(Vec<Fun>, Value)>,
    /// Names that the model defines more than once: the last definition counts.
    repeated: FxHashSet<String>,
    notes: Vec<Note>,
}

impl<'t, 'a> Plan<'t, 'a> {
    pub fn new(
        store: &'t Store,
        script: &Script,
        source: &'a [u8],
        tokens: &'t Tokens<'a>,
        release: Release,
        sorts: FxHashMap<String, Sort>,
    ) -> Plan<'t, 'a> {
        let name = |fun: &Fun| store.name(store.fun(*fun).name).to_owned();
        let mut declared: FxHashMap<String, Vec<Fun>> = FxHashMap::default();
        let mut defined = FxHashSet::default();
        let mut selectors = FxHashSet::default();
        let mut known = FxHashSet::default();
        for command in &script.commands {
            match command {
                Command::DeclareFun(fun) | Command::DeclareConst(fun) => {
                    known.insert(name(fun));
                    declared.entry(name(fun)).or_default().push(*fun);
                }
                Command::DefineFun(fun) | Command::DefineFunRec(fun) | Command::DefineConst(fun) => {
                    known.insert(name(fun));
                    defined.insert(name(fun));
                }
                Command::DefineFunsRec(funs) => {
                    known.extend(funs.iter().map(name));
                    defined.extend(funs.iter().map(name));
                }
                Command::DeclareDatatypes(datatypes) => {
                    for constructor in datatypes.iter().flat_map(|dt| &store.datatype(*dt).constructors) {
                        known.insert(store.name(constructor.name).to_owned());
                        selectors
                            .extend(constructor.fields.iter().map(|field| store.name(field.0).to_owned()));
                    }
                }
                _ => {}
            }
        }
        let mut rewriter = Rewriter::new(tokens, store, release, sorts);
        rewriter.known = known;
        Plan {
            tokens,
            store,
            rewriter,
            source,
            declared,
            defined,
            selectors,
            universes: Vec::new(),
            auxiliary: Vec::new(),
            bodies: Vec::new(),
            values: Vec::new(),
            repeated: FxHashSet::default(),
            notes: Vec::new(),
        }
    }

    /// The commands for a model.
    pub fn model(mut self, items: Vec<Item>) -> Result<Planned, ModelError> {
        self.elements(&items)?;
        let mut defined: FxHashSet<&str> = FxHashSet::default();
        for item in &items {
            if let Item::Define { name, .. } | Item::Equation { name, .. } = item
                && !defined.insert(name)
            {
                self.repeated.insert(name.clone());
            }
            match item {
                Item::Define { name, .. } if !self.declared.contains_key(name) => {
                    self.rewriter.known.insert(name.clone());
                }
                Item::Function { name, .. } => _ = self.rewriter.tables.insert(name.clone()),
                _ => {}
            }
        }
        for item in items {
            match item {
                Item::Define { at, name, params, result, body } => {
                    self.definition(at, &name, &params, &result, body)?;
                }
                Item::Equation { at, name, value } => self.equation(at, &name, value)?,
                Item::Function { at, name, kind, rows, default } => {
                    self.table(at, &name, kind, &rows, default)?;
                }
                Item::Pair { term, value } => match self.tokens.name(term) {
                    Some(name) if !self.tokens.is_list(term) => self.equation(term, &name, value)?,
                    _ => self.note(term, "passed over: the value of a compound term"),
                },
                Item::Element { .. } | Item::Closed { .. } => {}
            }
        }
        Ok(self.finish())
    }

    /// The commands for the terms of pairs.
    pub fn terms(mut self, items: &[Item]) -> Result<Planned, ModelError> {
        for (term, _) in pairs(items) {
            let text = self.rewriter.expr(term, None)?;
            let text = format!("(define {} {text})", self.fresh());
            self.body(term, text, Target::Value(self.bodies.len()));
        }
        Ok(self.finish())
    }

    /// The commands for the values of pairs. The sorts are those of the terms that could be read.
    pub fn values(mut self, items: &[Item], sorts: &[(usize, Sort)]) -> Result<Planned, ModelError> {
        self.elements(items)?;
        let values: Vec<Expr> = pairs(items).map(|(_, value)| value).collect();
        for (pair, (item, sort)) in sorts.iter().enumerate() {
            let Some(value) = values.get(*item) else { continue };
            let text = self.rewriter.expr(*value, Some(*sort))?;
            let text = format!("(define-fun {} () {} {text})", self.fresh(), self.store.sort_text(*sort));
            self.body(*value, text, Target::Value(pair));
        }
        Ok(self.finish())
    }

    fn finish(self) -> Planned {
        let mut pieces = Vec::new();
        for constant in self.rewriter.constants {
            pieces.push(match constant {
                Constant::Element { name, sort } => Piece {
                    offset: 0,
                    text: format!("(declare-fun {} () {sort})", print_symbol(&name)),
                    role: Role::Element(name),
                },
                Constant::Number { name, value } => Piece {
                    offset: 0,
                    text: format!("(declare-fun {name} () Real)"),
                    role: Role::Number(value),
                },
            });
        }
        for (number, Closed { offset, sort, elements }) in self.universes.into_iter().enumerate() {
            let text = format!("(declare-fun @universe!{number} () {sort})");
            pieces.push(Piece { offset, text, role: Role::Universe(elements) });
        }
        pieces.extend(self.auxiliary);
        pieces.extend(self.bodies);
        Planned { pieces, values: self.values, notes: self.notes }
    }

    /// Elements and universes first, in the order in which the model lists them.
    fn elements(&mut self, items: &[Item]) -> Result<(), ModelError> {
        for listed in represented(self.source) {
            let mut elements = Vec::new();
            for element in &listed.elements {
                let inner = element.strip_prefix("(as ").and_then(|rest| rest.strip_suffix(')'));
                let name = match inner.and_then(|inner| inner.strip_suffix(listed.sort.as_str())) {
                    Some(name) => abstract_name(name, &listed.sort),
                    None => element.trim_matches('|').to_owned(),
                };
                self.rewriter.element(&name, &listed.sort);
                elements.push(name);
            }
            if listed.cardinality == Some(elements.len()) {
                self.universes.push(Closed { offset: listed.offset, sort: listed.sort, elements });
            }
        }
        for item in items {
            match item {
                Item::Element { name, sort } if !self.declared.contains_key(name) => {
                    let sort = self.rewriter.all(sort)?;
                    self.rewriter.element(name, &sort);
                    self.rewriter.known.insert(name.clone());
                }
                Item::Closed { at, sort, elements } => {
                    let (offset, sort) = (self.tokens.offset(*at), self.rewriter.all(sort)?);
                    self.universes.push(Closed { offset, sort, elements: elements.clone() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn definition(
        &mut self,
        at: Expr,
        name: &str,
        params: &[Param],
        result: &[Expr],
        body: Expr,
    ) -> Result<(), ModelError> {
        if self.declared.contains_key(name) {
            if let Some((funs, value)) = self.plain_value(name, params, body) {
                self.values.push((funs, value));
                return Ok(());
            }
            let printed = self.rewriter.all(result)?;
            return self.script_definition(at, name, params, Some(&printed), body);
        }
        if self.defined.contains(name) {
            return Ok(());
        }
        let sort = self.rewriter.all(result)?;
        let header = self.header(params, None)?;
        let text = self.rewriter.expr(body, self.named_sort(result))?;
        let text = format!("(define-fun {} ({header}) {sort} {text})", self.fresh());
        if self.selectors.contains(name) || open::is_operator(name) {
            self.body(at, text, Target::Open(name.to_owned()));
            return Ok(());
        }
        let sorts: Vec<String> =
            params.iter().map(|param| self.rewriter.all(&param.sort)).collect::<Result<_, _>>()?;
        self.declare_auxiliary(at, name, &sorts.join(" "), &sort);
        self.body(at, text, Target::Auxiliary(name.to_owned()));
        Ok(())
    }

    /// The constants of this name, all of one sort, and their value if it is a literal of that sort.
    fn plain_value(&self, name: &str, params: &[Param], body: Expr) -> Option<(Vec<Fun>, Value)> {
        let funs = self.declared.get(name)?;
        let first = self.store.fun(*funs.first()?);
        let alike = |fun: &Fun| {
            let decl = self.store.fun(*fun);
            decl.params.is_empty() && decl.result == first.result
        };
        if !params.is_empty() || self.repeated.contains(name) || !funs.iter().all(alike) {
            return None;
        }
        Some((funs.clone(), self.literal(first.result, body)?))
    }

    /// A literal of a sort: true or false, an integer, a decimal, bits. Anything else is for the reader of scripts.
    fn literal(&self, sort: Sort, body: Expr) -> Option<Value> {
        let tokens = self.tokens;
        let negated = tokens.is_list(body);
        let place = if negated { body + 2 } else { body };
        if negated
            && (!tokens.is(body + 1, "-")
                || tokens.last(body) != body + 3
                || self.rewriter.known.contains("-"))
        {
            return None;
        }
        let text = std::str::from_utf8(tokens.bytes(place)).ok()?;
        match (self.store.sort_kind(sort), tokens.kind(place)) {
            (SortKind::Bool, Kind::Symbol) if !negated => match text {
                "true" => Some(Value::TRUE),
                "false" => Some(Value::FALSE),
                _ => None,
            },
            (SortKind::Int, Kind::Numeral) => {
                let value: Integer = text.parse().ok()?;
                Some(Value::Int(if negated { -&value } else { value }))
            }
            (SortKind::Real, Kind::Decimal) if !self.rewriter.rounds() => {
                let value: Rational = text.parse().ok()?;
                Some(Value::Real(Real::Rational(if negated { -&value } else { value })))
            }
            (SortKind::BitVec(width), Kind::Binary | Kind::Hexadecimal) if !negated => {
                let value: BitVector = text.parse().ok()?;
                (value.width() == *width).then_some(Value::BitVector(value))
            }
            _ => None,
        }
    }

    /// A definition of a symbol that the script declares.
    fn script_definition(
        &mut self,
        at: Expr,
        name: &str,
        params: &[Param],
        printed: Option<&str>,
        body: Expr,
    ) -> Result<(), ModelError> {
        let store = self.store;
        let funs = self.overload(name, params)?;
        let Some(decl) = funs.first().map(|fun| store.fun(*fun)) else {
            self.note(at, format!("passed over: '{name}' has another number of parameters in the script"));
            return Ok(());
        };
        let mut body = self.rewriter.expr(body, Some(decl.result))?;
        if decl.result == Sort::BOOL && printed == Some("(_ BitVec 1)") {
            // Boolector has no sort of its own for truth values.
            body = format!("(= {body} #b1)");
        }
        let text = if params.len() == decl.params.len() {
            let header = self.header(params, Some(&decl.params))?;
            format!("(define-fun {} ({header}) {} {body})", self.fresh(), store.sort_text(decl.result))
        } else if params.is_empty() {
            // A function as one value.
            let sorts: Vec<String> = decl.params.iter().map(|sort| store.sort_text(*sort)).collect();
            let sort = format!("(-> {} {})", sorts.join(" "), store.sort_text(decl.result));
            format!("(define-fun {} () {sort} {body})", self.fresh())
        } else {
            // An array or function constant with parameters.
            let header = self.header(params, None)?;
            let sort = store.sort_text(decl.result);
            format!("(define-fun {} () {sort} (lambda ({header}) {body}))", self.fresh())
        };
        self.body(at, text, Target::Script(funs));
        Ok(())
    }

    /// The script's symbols of a name that a definition with these parameters can be meant for.
    fn overload(&mut self, name: &str, params: &[Param]) -> Result<Vec<Fun>, ModelError> {
        let store = self.store;
        let funs = self.declared.get(name).cloned().unwrap_or_default();
        let fits = |fun: &Fun| {
            let count = store.fun(*fun).params.len();
            count == params.len() || count == 0 || params.is_empty()
        };
        let mut found: Vec<Fun> =
            funs.iter().copied().filter(|fun| store.fun(*fun).params.len() == params.len()).collect();
        if found.is_empty() {
            found = funs.into_iter().filter(fits).collect();
        }
        if found.len() > 1 {
            let sorts: Vec<String> =
                params.iter().map(|param| self.rewriter.all(&param.sort)).collect::<Result<_, _>>()?;
            let exact = |fun: &Fun| {
                let decl = store.fun(*fun);
                decl.params.len() == sorts.len()
                    && decl.params.iter().zip(&sorts).all(|(sort, text)| store.sort_text(*sort) == *text)
            };
            if found.iter().any(exact) {
                found.retain(exact);
            }
            let Some(first) = found.first().map(|fun| store.fun(*fun)) else { return Ok(found) };
            // Declared again after pop, or in several levels: all of them.
            found.retain(|fun| {
                store.fun(*fun).params == first.params && store.fun(*fun).result == first.result
            });
        }
        Ok(found)
    }

    /// The value of a symbol without parameters in the text.
    fn equation(&mut self, at: Expr, name: &str, value: Expr) -> Result<(), ModelError> {
        let table = self.tokens.name(value).filter(|value| self.rewriter.tables.contains(value));
        let store = self.store;
        let Some(decl) = self.declared.get(name).and_then(|funs| funs.last()).map(|fun| store.fun(*fun))
        else {
            self.note(at, format!("passed over: the script does not declare '{name}'"));
            return Ok(());
        };
        match table {
            Some(table) if !decl.params.is_empty() => {
                let mut header = String::new();
                let mut args = String::new();
                for (i, sort) in decl.params.iter().enumerate() {
                    let _ = write!(header, "(x!{i} {})", store.sort_text(*sort));
                    let _ = write!(args, " x!{i}");
                }
                let result = store.sort_text(decl.result);
                let call = format!("({}{args})", print_symbol(&table));
                let text = format!("(define-fun {} ({header}) {result} {call})", self.fresh());
                let funs = self.declared.get(name).cloned().unwrap_or_default();
                self.body(at, text, Target::Script(funs));
                Ok(())
            }
            _ => self.script_definition(at, name, &[], None, value),
        }
    }

    /// A function table becomes an auxiliary function.
    fn table(
        &mut self,
        at: Expr,
        name: &str,
        kind: Expr,
        rows: &[(Vec<Expr>, Expr)],
        default: Option<Expr>,
    ) -> Result<(), ModelError> {
        let parts = self.tokens.parts(kind);
        let [_, params @ .., result] = parts.as_slice() else {
            self.note(at, "passed over: a function table without its type");
            return Ok(());
        };
        let params_text: Vec<String> =
            params.iter().map(|sort| self.rewriter.all(&[*sort])).collect::<Result<_, _>>()?;
        let result_text = self.rewriter.all(&[*result])?;
        let mut header = String::new();
        for (i, sort) in params_text.iter().enumerate() {
            let _ = write!(header, "(x!{i} {sort})");
        }
        let result_sort = self.named_sort(&[*result]);
        let mut body = String::new();
        for (args, value) in rows {
            body.push_str("(ite (and true");
            for (i, arg) in args.iter().enumerate() {
                let sort = params.get(i).and_then(|sort| self.named_sort(&[*sort]));
                let arg = self.rewriter.expr(*arg, sort)?;
                let _ = write!(body, " (= x!{i} {arg})");
            }
            let value = self.rewriter.expr(*value, result_sort)?;
            let _ = write!(body, ") {value} ");
        }
        match default {
            Some(default) => body.push_str(&self.rewriter.expr(default, result_sort)?),
            None => {
                let otherwise = format!("{name}!else");
                self.declare_auxiliary(at, &otherwise, "", &result_text);
                body.push_str(&print_symbol(&otherwise));
            }
        }
        body.extend(rows.iter().map(|_| ')'));
        self.declare_auxiliary(at, name, &params_text.join(" "), &result_text);
        let text = format!("(define-fun {} ({header}) {result_text} {body})", self.fresh());
        self.body(at, text, Target::Auxiliary(name.to_owned()));
        Ok(())
    }

    fn declare_auxiliary(&mut self, at: Expr, name: &str, params: &str, result: &str) {
        let text = format!("(declare-fun {} ({params}) {result})", print_symbol(name));
        let offset = self.tokens.offset(at);
        self.auxiliary.push(Piece { offset, text, role: Role::Auxiliary(name.to_owned()) });
    }

    /// The parameter list, with the given sorts or those of the text.
    fn header(&mut self, params: &[Param], sorts: Option<&[Sort]>) -> Result<String, ModelError> {
        let mut out = String::new();
        for (i, param) in params.iter().enumerate() {
            let sort = match sorts.and_then(|sorts| sorts.get(i)) {
                Some(sort) => self.store.sort_text(*sort),
                None => self.rewriter.all(&param.sort)?,
            };
            let _ = write!(out, "({} {sort})", self.tokens.text(param.name));
        }
        Ok(out)
    }

    /// The declared sort of this name.
    fn named_sort(&self, sort: &[Expr]) -> Option<Sort> {
        match sort {
            [sort] => self.rewriter.sort(&self.tokens.name(*sort)?),
            _ => None,
        }
    }

    /// A name for the next body.
    fn fresh(&self) -> String {
        format!("@body!{}", self.bodies.len())
    }

    fn body(&mut self, at: Expr, text: String, target: Target) {
        self.bodies.push(Piece { offset: self.tokens.offset(at), text, role: Role::Body(target) });
    }

    fn note(&mut self, at: Expr, message: impl Into<String>) {
        self.notes.push(Note { offset: self.tokens.offset(at), message: message.into() });
    }
}

/// The script's own sorts without parameters, by name.
pub(super) fn declared_sorts(store: &mut Store, script: &Script) -> FxHashMap<String, Sort> {
    let mut sorts = FxHashMap::default();
    for command in &script.commands {
        if let Command::DeclareSort(decl) = command
            && store.sort_decl(*decl).1 == 0
        {
            let sort = store.sort(SortKind::Declared(*decl, Box::new([])));
            sorts.insert(store.name(store.sort_decl(*decl).0).to_owned(), sort);
        }
    }
    sorts
}

/// Terms with their values.
fn pairs(items: &[Item]) -> impl Iterator<Item = (Expr, Expr)> + '_ {
    items.iter().filter_map(|item| match item {
        Item::Pair { term, value } => Some((*term, *value)),
        _ => None,
    })
}
