//! A script with a model put in: declarations become definitions, and any solver can be asked whether it holds.
//!
//! What cannot be written (irrational numbers, functions over elements nobody can name) stays declared. The script is
//! then easier to satisfy, so that `unsat` still refutes the model; only `sat` says less.

use std::fmt::Write as _;

use eval::value::{Function, Otherwise, Table};
use eval::{Interpretation, Model, Value, to_term};
use rustc_hash::FxHashSet;
use smtlib::print::{Dialect, note_escapes, print_command, print_symbol, print_term};
use smtlib::{Command, Family, Fun, Head, Release, Sort, SortKind, Store, Term};

use crate::frame::Frame;

/// A script with a model put in.
#[derive(Debug, Clone)]
pub struct Ground {
    pub text: String,
    /// Everything the model says is in it, and it leaves nothing open.
    pub complete: bool,
}

/// The frame with the model put in, in a release's dialect. Symbols the model leaves out stay declared.
pub fn ground(store: &mut Store, frame: &Frame, model: &Model, left_out: &[Fun], release: Release) -> Ground {
    let mut writer = Writer {
        store,
        model,
        left_out,
        release,
        text: String::new(),
        complete: left_out.is_empty(),
        written: FxHashSet::default(),
        elements: Vec::new(),
    };
    for command in &frame.script.commands {
        match command {
            Command::SetLogic(logic) => writer.logic(*logic),
            Command::SetOption(..) | Command::SetInfo(..) | Command::Assert(_) => {}
            Command::DeclareFun(fun) | Command::DeclareConst(fun) => writer.symbol(*fun, 0),
            other => writer.command(other),
        }
    }
    writer.distinct_elements();
    for formula in frame.formulas() {
        writer.command(&Command::Assert(formula));
    }
    writer.text.push_str("(check-sat)\n");
    note_escapes(&mut writer.text, Dialect::of(release));
    Ground { text: writer.text, complete: writer.complete }
}

/// Models of Z3 define helper functions by helper functions, but not without end.
const DEEPEST: usize = 100;

struct Writer<'a> {
    store: &'a mut Store,
    model: &'a Model,
    left_out: &'a [Fun],
    release: Release,
    text: String,
    complete: bool,
    written: FxHashSet<Fun>,
    /// Elements of declared sorts that have a constant.
    elements: Vec<(Sort, u32)>,
}

impl Writer<'_> {
    fn command(&mut self, command: &Command) {
        self.text.push_str(&print_command(self.store, command, self.release));
        self.text.push('\n');
    }

    /// Values may need more than the script's logic has (constant arrays, conversions).
    fn logic(&mut self, logic: smtlib::Symbol) {
        match self.release.family {
            Family::Z3 => {}
            Family::Cvc5 | Family::Cvc4 => {
                let higher_order = smtlib::logic::is_higher_order(self.store.name(logic));
                self.text.push_str(if higher_order { "(set-logic HO_ALL)\n" } else { "(set-logic ALL)\n" });
            }
            _ => self.command(&Command::SetLogic(logic)),
        }
    }

    /// A declared symbol: defined as the model says where that can be written.
    fn symbol(&mut self, fun: Fun, depth: usize) {
        if !self.written.insert(fun) {
            return;
        }
        if self.left_out.contains(&fun) || depth > DEEPEST {
            self.complete = false;
            return self.declare(fun);
        }
        let definition = match self.model.get(fun) {
            None => None,
            Some(Interpretation::Value(value)) => self.value_definition(fun, &value.clone()),
            Some(Interpretation::Body(closure)) => {
                let closure = closure.clone();
                if closure.captured.is_empty() {
                    self.body_definition(&closure.params, closure.body, depth)
                } else {
                    None
                }
            }
        };
        match definition {
            Some((params, body)) => {
                let decl = self.store.fun(fun);
                let (name, result) = (decl.name, decl.result);
                let name = print_symbol(self.store.name(name));
                let result = self.store.sort_text(result);
                _ = writeln!(self.text, "(define-fun {name} ({params}) {result} {body})");
            }
            None => {
                self.complete = false;
                self.declare(fun);
            }
        }
    }

    fn declare(&mut self, fun: Fun) {
        self.command(&Command::DeclareFun(fun));
    }

    /// Parameters and body as text.
    fn value_definition(&mut self, fun: Fun, value: &Value) -> Option<(String, String)> {
        let decl = self.store.fun(fun);
        let (params, result) = (decl.params.clone(), decl.result);
        match value {
            Value::Function(function) if !params.is_empty() => match &**function {
                Function::Table { arity, table } if *arity as usize == params.len() => {
                    self.table_definition(&params, result, table)
                }
                Function::Closure(closure) if closure.captured.is_empty() => {
                    self.body_definition(&closure.params, closure.body, 0)
                }
                _ => None,
            },
            _ if params.is_empty() => Some((String::new(), self.value(result, value)?)),
            _ => None,
        }
    }

    fn table_definition(&mut self, params: &[Sort], result: Sort, table: &Table) -> Option<(String, String)> {
        let Otherwise::Value(default) = table.otherwise() else { return None };
        let mut names = String::new();
        for (place, sort) in params.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            _ = write!(names, "{space}(x!{place} {})", self.store.sort_text(*sort));
        }
        let mut body = self.value(result, default)?;
        for (key, value) in table.entries().iter().rev() {
            let keys: Vec<Value> = match (key, params.len()) {
                (Value::Tuple(parts), count) if count > 1 => parts.to_vec(),
                (key, _) => vec![key.clone()],
            };
            let mut tests = Vec::new();
            for (place, (sort, key)) in params.iter().zip(&keys).enumerate() {
                tests.push(format!("(= x!{place} {})", self.value(*sort, key)?));
            }
            let test = if tests.len() == 1 { tests.remove(0) } else { format!("(and {})", tests.join(" ")) };
            let value = self.value(result, value)?;
            body = format!("(ite {test} {value} {body})");
        }
        Some((names, body))
    }

    /// A body, after everything it calls.
    fn body_definition(
        &mut self,
        params: &[smtlib::Var],
        body: Term,
        depth: usize,
    ) -> Option<(String, String)> {
        for term in self.store.subterms(&[body]) {
            if self.store.is_opaque(term) {
                return None;
            }
            if let Head::Fun(fun) = self.store.head(term)
                && self.store.fun(fun).definition.is_none()
            {
                self.symbol(fun, depth + 1);
            }
        }
        let mut names = String::new();
        for (place, var) in params.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let name = print_symbol(self.store.name(self.store.var_name(*var)));
            _ = write!(names, "{space}({name} {})", self.store.sort_text(self.store.var_sort(*var)));
        }
        Some((names, print_term(self.store, body, self.release)))
    }

    fn value(&mut self, sort: Sort, value: &Value) -> Option<String> {
        if let Value::Element(number) = value {
            return Some(self.element(sort, *number));
        }
        let term = to_term(self.store, sort, value)?;
        Some(print_term(self.store, term, self.release))
    }

    /// The constant of an element, declared at its first use.
    fn element(&mut self, sort: Sort, number: u32) -> String {
        let name = element_name(self.store, sort, number);
        if !self.elements.contains(&(sort, number)) {
            self.elements.push((sort, number));
            let sort = self.store.sort_text(sort);
            _ = writeln!(self.text, "(declare-fun {name} () {sort})");
            // Which other elements there are is not said.
            self.complete = false;
        }
        name
    }

    fn distinct_elements(&mut self) {
        let mut sorts: Vec<Sort> = self.elements.iter().map(|(sort, _)| *sort).collect();
        sorts.sort_unstable();
        sorts.dedup();
        for sort in sorts {
            let names: Vec<String> = self
                .elements
                .iter()
                .filter(|(of, _)| *of == sort)
                .map(|(_, number)| element_name(self.store, sort, *number))
                .collect();
            if names.len() > 1 {
                _ = writeln!(self.text, "(assert (distinct {}))", names.join(" "));
            }
        }
    }
}

fn element_name(store: &Store, sort: Sort, number: u32) -> String {
    let sort = match store.sort_kind(sort) {
        SortKind::Declared(decl, _) => store.name(store.sort_decl(*decl).0).to_string(),
        _ => store.sort_text(sort),
    };
    print_symbol(&format!("{sort}!element!{number}"))
}
