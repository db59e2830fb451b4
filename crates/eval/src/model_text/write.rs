//! Models as text that [`read_model`](super::read_model) reads: our witness files.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::print::print_symbol;
use smtlib::{Fun, Head, Script, Sort, SortKind, Store, Var};
use thiserror::Error;

use super::open;
use crate::fp::Float;
use crate::model::{Interpretation, Model, Open, OpenFunction};
use crate::rational::Rational;
use crate::value::{Closure, Function, Otherwise, Table, Value};

/// A value that has no written form: a language, or a real known only through enclosures.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the value of '{symbol}' cannot be written")]
pub struct Unwritable {
    pub symbol: String,
}

/// Writes a model of a script as definitions, one per line, with its open cases and universes.
pub fn write_model(store: &mut Store, script: &Script, model: &Model) -> Result<String, Unwritable> {
    let mut writer = Writer { store, model, elements: FxHashMap::default() };
    let mut body = String::new();
    let own: FxHashSet<Fun> = script.declared_funs().collect();
    let interpretations: Vec<(Fun, Interpretation)> = model
        .interpretations(writer.store)
        .map(|(fun, interpretation)| (fun, interpretation.clone()))
        .collect();
    for (fun, interpretation) in &interpretations {
        if !own.contains(fun) && writer.is_element(*fun, interpretation) {
            continue;
        }
        let line = writer.definition(*fun, interpretation).ok_or_else(|| Unwritable {
            symbol: writer.store.name(writer.store.fun(*fun).name).to_owned(),
        })?;
        body.push_str(&line);
    }
    for (open, points) in open_cases(model, writer.store) {
        let name = writer.open_name(open);
        let line = writer.open_case(open, &points).ok_or(Unwritable { symbol: name })?;
        body.push_str(&line);
    }
    Ok(format!("(\n{}{body})\n", writer.universes()))
}

/// Arguments with the value for them.
type Row = (Vec<Value>, Value);

/// Open cases with their single values, in a fixed order.
fn open_cases(model: &Model, store: &Store) -> Vec<(Open, Vec<Row>)> {
    let mut cases: Vec<(Open, Vec<Row>)> = Vec::new();
    let mut places: FxHashMap<Open, usize> = FxHashMap::default();
    for (open, args, value) in model.open().points() {
        let place = *places.entry(open).or_insert_with(|| {
            cases.push((open, Vec::new()));
            cases.len() - 1
        });
        cases[place].1.push((args.to_vec(), value.clone()));
    }
    let mut rest: Vec<Open> =
        model.open().functions().map(|(open, _)| *open).filter(|open| !places.contains_key(open)).collect();
    rest.sort_by_key(|open| (format!("{:?}", open.head), store.sort_text(open.of)));
    cases.extend(rest.into_iter().map(|open| (open, Vec::new())));
    cases
}

struct Writer<'a> {
    store: &'a mut Store,
    model: &'a Model,
    /// Names of elements that the universe of a sort has no name for, by sort: how many are used.
    elements: FxHashMap<Sort, u32>,
}

impl Writer<'_> {
    /// A constant that the reader declared for an element.
    fn is_element(&self, fun: Fun, interpretation: &Interpretation) -> bool {
        let decl = self.store.fun(fun);
        match interpretation {
            Interpretation::Value(Value::Element(number)) if decl.params.is_empty() => {
                let universe = self.model.universe(decl.result);
                universe.and_then(|universe| universe.name(*number)) == Some(self.store.name(decl.name))
            }
            _ => false,
        }
    }

    fn universes(&mut self) -> String {
        let mut sorts: Vec<Sort> = self.model.universes().collect();
        sorts.extend(self.elements.keys());
        sorts.sort_unstable();
        sorts.dedup();
        let mut out = String::new();
        for sort in sorts {
            let text = self.store.sort_text(sort);
            let universe = self.model.universe(sort);
            let named = universe.map_or(0, |universe| universe.len() as u32);
            let used = self.elements.get(&sort).copied().unwrap_or(0);
            let names: Vec<String> =
                (0..named.max(used)).map(|number| self.element_name(sort, number)).collect();
            for name in &names {
                let _ = writeln!(out, "(declare-fun {name} () {text})");
            }
            if universe.is_some_and(|universe| universe.is_closed()) {
                let cases: Vec<String> = names.iter().map(|name| format!("(= x {name})")).collect();
                let _ = writeln!(out, "(forall ((x {text})) (or {}))", cases.join(" "));
            }
        }
        out
    }

    fn element_name(&mut self, sort: Sort, number: u32) -> String {
        let used = self.elements.entry(sort).or_default();
        *used = (*used).max(number + 1);
        match self.model.universe(sort).and_then(|universe| universe.name(number)) {
            Some(name) => print_symbol(name),
            None => print_symbol(&format!("{}!val!{number}", self.store.sort_text(sort).replace('|', ""))),
        }
    }

    fn definition(&mut self, fun: Fun, interpretation: &Interpretation) -> Option<String> {
        let decl = self.store.fun(fun).clone();
        let name = print_symbol(self.store.name(decl.name));
        let result = self.store.sort_text(decl.result);
        let (params, body) = match interpretation {
            Interpretation::Value(value) if decl.params.is_empty() => {
                (String::new(), self.value(decl.result, value)?)
            }
            Interpretation::Value(Value::Function(function)) => {
                let (params, args) = self.params(&decl.params);
                (params, self.application(function, &decl.params, decl.result, &args)?)
            }
            Interpretation::Value(Value::Array(table)) => {
                // An array that serves as a function.
                let (params, args) = self.params(&decl.params);
                let [index] = *decl.params else { return None };
                let array = self.store.array(index, decl.result);
                let array = self.value(array, &Value::Array(table.clone()))?;
                (params, format!("(select {array} {})", args[0]))
            }
            Interpretation::Value(_) => return None,
            Interpretation::Body(closure) if closure.params.len() == decl.params.len() => {
                (self.var_list(&closure.params), self.closure_body(closure)?)
            }
            Interpretation::Body(closure) if closure.params.is_empty() => {
                // A function given as one value.
                let (params, args) = self.params(&decl.params);
                (params, format!("({} {})", self.closure_body(closure)?, args.join(" ")))
            }
            Interpretation::Body(_) => return None,
        };
        Some(format!("(define-fun {name} ({params}) {result} {body})\n"))
    }

    /// `(x!0 S) ...` and the names alone.
    fn params(&self, sorts: &[Sort]) -> (String, Vec<String>) {
        let names: Vec<String> = (0..sorts.len()).map(|i| format!("x!{i}")).collect();
        let list: Vec<String> = names
            .iter()
            .zip(sorts)
            .map(|(name, sort)| format!("({name} {})", self.store.sort_text(*sort)))
            .collect();
        (list.join(" "), names)
    }

    fn var_list(&self, vars: &[Var]) -> String {
        let list: Vec<String> = vars
            .iter()
            .map(|var| {
                let name = print_symbol(self.store.name(self.store.var_name(*var)));
                format!("({name} {})", self.store.sort_text(self.store.var_sort(*var)))
            })
            .collect();
        list.join(" ")
    }

    /// The body, with captured variables bound by `let`.
    fn closure_body(&mut self, closure: &Closure) -> Option<String> {
        let body = self.store.term_text(closure.body);
        let mut bindings = Vec::new();
        for (var, value) in &closure.captured {
            if closure.params.contains(var) {
                continue;
            }
            let name = print_symbol(self.store.name(self.store.var_name(*var)));
            let sort = self.store.var_sort(*var);
            bindings.push(format!("({name} {})", self.value(sort, value)?));
        }
        Some(if bindings.is_empty() { body } else { format!("(let ({}) {body})", bindings.join(" ")) })
    }

    /// A function applied to arguments that are given as text.
    fn application(
        &mut self,
        function: &Function,
        params: &[Sort],
        result: Sort,
        args: &[String],
    ) -> Option<String> {
        match function {
            Function::Table { table, .. } => {
                let mut rows = Vec::new();
                for (key, value) in table.entries() {
                    let keys = match key {
                        Value::Tuple(keys) if params.len() != 1 => keys.to_vec(),
                        key => vec![key.clone()],
                    };
                    rows.push((keys, value.clone()));
                }
                let default = match table.otherwise() {
                    Otherwise::Value(value) => self.value(result, value)?,
                    Otherwise::Closure(closure) => self.call_closure(closure, args)?,
                };
                self.cases(&rows, params, result, args, default)
            }
            Function::Closure(closure) => self.call_closure(closure, args),
            Function::Named(fun) => {
                let name = print_symbol(self.store.name(self.store.fun(*fun).name));
                Some(if args.is_empty() { name } else { format!("({name} {})", args.join(" ")) })
            }
            Function::Partial(inner, first) => {
                let Function::Named(fun) = &**inner else { return None };
                let sorts = self.store.fun(*fun).params.clone();
                let mut all = Vec::new();
                for (sort, value) in sorts.iter().zip(first.iter()) {
                    all.push(self.value(*sort, value)?);
                }
                all.extend_from_slice(args);
                self.application(inner, &sorts, result, &all)
            }
        }
    }

    fn call_closure(&mut self, closure: &Closure, args: &[String]) -> Option<String> {
        if closure.params.len() != args.len() {
            return None;
        }
        let body = self.closure_body(closure)?;
        let bindings: Vec<String> = closure
            .params
            .iter()
            .zip(args)
            .map(|(var, arg)| format!("({} {arg})", print_symbol(self.store.name(self.store.var_name(*var)))))
            .collect();
        Some(if bindings.is_empty() { body } else { format!("(let ({}) {body})", bindings.join(" ")) })
    }

    /// A chain of `ite`, one for each row.
    fn cases(
        &mut self,
        rows: &[Row],
        params: &[Sort],
        result: Sort,
        args: &[String],
        default: String,
    ) -> Option<String> {
        let mut out = String::new();
        for (keys, value) in rows {
            let mut tests = Vec::new();
            for ((sort, key), arg) in params.iter().zip(keys).zip(args) {
                tests.push(format!("(= {arg} {})", self.value(*sort, key)?));
            }
            let test = match tests.as_slice() {
                [test] => test.clone(),
                _ => format!("(and {})", tests.join(" ")),
            };
            let _ = write!(out, "(ite {test} {} ", self.value(result, value)?);
        }
        out.push_str(&default);
        out.extend(rows.iter().map(|_| ')'));
        Some(out)
    }

    fn open_name(&self, open: Open) -> String {
        match open.head {
            Head::Op(op, indices) => open::name(self.store, op, indices),
            Head::Selector(datatype, c, f) => {
                let constructor = &self.store.datatype(datatype).constructors[usize::from(c)];
                self.store.name(constructor.fields[usize::from(f)].0).to_owned()
            }
            _ => String::new(),
        }
    }

    fn open_case(&mut self, open: Open, points: &[Row]) -> Option<String> {
        let name = print_symbol(&self.open_name(open));
        let (params, result) = match open.head {
            Head::Op(op, indices) => open::signature(self.store, op, indices, open.of)?,
            Head::Selector(datatype, c, f) => {
                (vec![open.of], self.store.field_sorts(datatype, c, open.of)[usize::from(f)])
            }
            _ => return None,
        };
        let result_text = self.store.sort_text(result);
        let function = self.model.open().function(open).cloned();
        let (list, args, default) = match function {
            Some(OpenFunction::Body(closure)) => {
                let args = closure
                    .params
                    .iter()
                    .map(|var| print_symbol(self.store.name(self.store.var_name(*var))))
                    .collect();
                (self.var_list(&closure.params), args, self.closure_body(&closure)?)
            }
            Some(OpenFunction::Function(function)) => {
                let (list, args) = self.params(&params);
                let default = self.application(&function, &params, result, &args)?;
                (list, args, default)
            }
            None => {
                let (list, args) = self.params(&params);
                let default = crate::sorts::Sorts::new(self.store, self.model).default_value(result)?;
                let default = self.value(result, &default)?;
                (list, args, default)
            }
        };
        let body = self.cases(points, &params, result, &args, default)?;
        Some(format!("(define-fun {name} ({list}) {result_text} {body})\n"))
    }

    /// A value as a term.
    fn value(&mut self, sort: Sort, value: &Value) -> Option<String> {
        let kind = self.store.sort_kind(sort).clone();
        let text = self.store.sort_text(sort);
        Some(match (value, kind) {
            (Value::Bool(value), _) => value.to_string(),
            (Value::Int(value), _) => signed(value.is_negative(), &value.abs().to_string()),
            (Value::Real(value), _) => match value.to_rational() {
                Some(value) => rational(value),
                None => value.to_string(),
            },
            (Value::BitVector(bits), _) => format!("#b{}", bits.binary_digits()),
            (Value::Float(value), _) => float(value),
            (Value::RoundingMode(mode), _) => mode.symbol().to_owned(),
            (Value::Str(value), _) => value.to_literal(),
            (Value::Field(value), _) => format!("(as ff{} {text})", value.residue()),
            (Value::Seq(parts), SortKind::Seq(element)) => {
                let units: Vec<String> = parts
                    .iter()
                    .map(|part| Some(format!("(seq.unit {})", self.value(element, part)?)))
                    .collect::<Option<_>>()?;
                match units.as_slice() {
                    [] => format!("(as seq.empty {text})"),
                    [unit] => unit.clone(),
                    units => format!("(seq.++ {})", units.join(" ")),
                }
            }
            (Value::Array(table), SortKind::Array(index, element)) => {
                self.array(&text, index, element, table)?
            }
            (Value::Datatype(constructor, fields), SortKind::Datatype(datatype, args)) => {
                let sorts = self.store.field_sorts(datatype, *constructor, sort);
                let decl = &self.store.datatype(datatype).constructors[usize::from(*constructor)];
                let mut name = print_symbol(self.store.name(decl.name));
                if !args.is_empty() {
                    name = format!("(as {name} {text})");
                }
                let fields = self.values(&sorts, fields)?;
                if fields.is_empty() { name } else { format!("({name} {})", fields.join(" ")) }
            }
            (Value::Tuple(parts), SortKind::Tuple(sorts)) => {
                let parts = self.values(&sorts, parts)?;
                if parts.is_empty() {
                    "tuple.unit".to_owned()
                } else {
                    format!("(tuple {})", parts.join(" "))
                }
            }
            (Value::Set(elements), SortKind::Set(element)) => {
                let parts: Vec<String> = elements
                    .iter()
                    .map(|part| Some(format!("(set.singleton {})", self.value(element, part)?)))
                    .collect::<Option<_>>()?;
                joined("set.union", &format!("(as set.empty {text})"), &parts)
            }
            (Value::Bag(elements), SortKind::Bag(element)) => {
                let parts: Vec<String> = elements
                    .iter()
                    .map(|(part, count)| Some(format!("(bag {} {count})", self.value(element, part)?)))
                    .collect::<Option<_>>()?;
                joined("bag.union_disjoint", &format!("(as bag.empty {text})"), &parts)
            }
            (Value::Nullable(None), _) => format!("(as nullable.null {text})"),
            (Value::Nullable(Some(inner)), SortKind::Nullable(element)) => {
                format!("(nullable.some {})", self.value(element, inner)?)
            }
            (Value::Element(number), _) => self.element_name(sort, *number),
            (Value::Function(function), SortKind::Fun(params, result)) => {
                let (list, args) = self.params(&params);
                let body = self.application(function, &params, result, &args)?;
                format!("(lambda ({list}) {body})")
            }
            _ => return None,
        })
    }

    fn values(&mut self, sorts: &[Sort], values: &[Value]) -> Option<Vec<String>> {
        sorts.iter().zip(values).map(|(sort, value)| self.value(*sort, value)).collect()
    }

    fn array(&mut self, sort: &str, index: Sort, element: Sort, table: &Table) -> Option<String> {
        let mut out = match table.otherwise() {
            Otherwise::Value(value) => format!("((as const {sort}) {})", self.value(element, value)?),
            Otherwise::Closure(closure) => {
                format!("(lambda ({}) {})", self.var_list(&closure.params), self.closure_body(closure)?)
            }
        };
        let stores = table.entries().len();
        out.insert_str(0, &"(store ".repeat(stores));
        for (key, value) in table.entries() {
            let _ = write!(out, " {} {})", self.value(index, key)?, self.value(element, value)?);
        }
        Some(out)
    }
}

fn joined(union: &str, empty: &str, parts: &[String]) -> String {
    match parts {
        [] => empty.to_owned(),
        [part] => part.clone(),
        [first, rest @ ..] => rest.iter().fold(first.clone(), |sum, part| format!("({union} {sum} {part})")),
    }
}

fn signed(negative: bool, magnitude: &str) -> String {
    if negative { format!("(- {magnitude})") } else { magnitude.to_owned() }
}

fn rational(value: &Rational) -> String {
    let magnitude = value.abs();
    let text = if magnitude.is_integer() {
        format!("{}.0", magnitude.numerator())
    } else {
        format!("(/ {}.0 {}.0)", magnitude.numerator(), magnitude.denominator())
    };
    signed(value.is_negative(), &text)
}

fn float(value: &Float) -> String {
    let format = value.format();
    let sign = if value.is_negative() { '-' } else { '+' };
    let name = if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        format!("{sign}oo")
    } else if value.is_zero() {
        format!("{sign}zero")
    } else {
        let (sign, exponent, trailing) = value.to_triple();
        let digits = [sign, exponent, trailing].map(|bits| bits.binary_digits());
        return format!("(fp #b{} #b{} #b{})", digits[0], digits[1], digits[2]);
    };
    format!("(_ {name} {} {})", format.eb(), format.sb())
}
