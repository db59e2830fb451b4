//! The printer: scripts, terms and sorts as text for a solver release.
//!
//! For [`Release::STANDARD`] the text is canonical: parsing it gives the same script, and printing that gives the
//! same text. Shared sub-terms are written once, under `let`, in every command.

mod commands;
mod dialect;
mod sharing;
mod sorts;
mod term;

use std::fmt::Write as _;

use crate::lexer::is_simple_symbol;
use crate::literal::{Escapes, HEX_NOTE};
use crate::logic::{Usage, is_higher_order};
use crate::release::Release;
use crate::script::{Command, Script};
use crate::sort::Sort;
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::{Fun, Term};
use crate::theory::Op;
pub use commands::{Treatment, treatment};
pub use dialect::Dialect;
use term::TermPrinter;

/// The script in a release's dialect, one command per line.
pub fn print(store: &Store, script: &Script, release: Release) -> String {
    print_in(store, script, Dialect::of(release))
}

/// The script in a dialect, one command per line.
pub fn print_in(store: &Store, script: &Script, dialect: Dialect) -> String {
    let mut printer = Printer::new(store, dialect);
    for command in &script.commands {
        if printer.treated(command) {
            printer.out.push('\n');
        }
    }
    note_escapes(&mut printer.out, dialect);
    printer.out
}

/// Ends a text that was put together of printed parts: it says so where its strings are not written as in the standard.
pub fn note_escapes(text: &mut String, dialect: Dialect) {
    if dialect.escapes == Escapes::Hex && text.contains("\\x") {
        text.push_str(HEX_NOTE);
        text.push('\n');
    }
}

/// Do two releases get the same text of a script that uses this? It is never wrong with a yes; strings, sets, functions
/// as values and operators beyond the standard are not looked into.
pub fn same_text(usage: &Usage, one: Release, other: Release) -> bool {
    let special = usage.strings
        || usage.sequences
        || usage.beyond
        || usage.higher_order
        || usage.logic.as_deref().is_some_and(is_higher_order)
        || usage.opaque
        || !usage.missing.is_empty()
        || usage.extended;
    one == other
        || !special
            && usage.operators.iter().all(|op| {
                let row = op.row();
                row.is_standard() && *op != Op::IntDivisible && row.name_for(one) == row.name_for(other)
            })
}

/// One command; nothing if solvers of the release's family do without it.
pub fn print_command(store: &Store, command: &Command, release: Release) -> String {
    let mut printer = Printer::new(store, Dialect::of(release));
    printer.treated(command);
    printer.out
}

/// One term.
pub fn print_term(store: &Store, term: Term, release: Release) -> String {
    let mut printer = Printer::new(store, Dialect::of(release));
    printer.term(term);
    printer.out
}

/// A name with bars if it needs them.
pub fn print_symbol(name: &str) -> String {
    let mut out = String::new();
    write_symbol(&mut out, name);
    out
}

impl Store {
    /// A sort as the standard writes it.
    pub fn sort_text(&self, sort: Sort) -> String {
        let mut out = String::new();
        sorts::write(&mut out, self, sort, Dialect::of(Release::STANDARD));
        out
    }

    /// A term as the standard writes it.
    pub fn term_text(&self, term: Term) -> String {
        print_term(self, term, Release::STANDARD)
    }
}

const RESERVED: [&str; 14] = [
    "!",
    "_",
    "as",
    "BINARY",
    "DECIMAL",
    "exists",
    "forall",
    "HEXADECIMAL",
    "lambda",
    "let",
    "match",
    "NUMERAL",
    "par",
    "STRING",
];

pub(crate) fn write_symbol(out: &mut String, name: &str) {
    if is_simple_symbol(name) && !RESERVED.contains(&name) {
        out.push_str(name);
    } else {
        // A bar or backslash cannot be written at all; such names exist only in broken files.
        out.push('|');
        out.extend(name.chars().map(|c| if c == '|' { '!' } else { c }));
        out.push('|');
    }
}

struct Printer<'s> {
    store: &'s Store,
    dialect: Dialect,
    out: String,
    terms: TermPrinter<'s>,
}

impl<'s> Printer<'s> {
    fn new(store: &'s Store, dialect: Dialect) -> Printer<'s> {
        Printer { store, dialect, out: String::new(), terms: TermPrinter::new(store, dialect) }
    }

    fn term(&mut self, term: Term) {
        self.terms.write(&mut self.out, term);
    }

    fn symbol(&mut self, symbol: Symbol) {
        write_symbol(&mut self.out, self.store.name(symbol));
    }

    fn sort(&mut self, sort: Sort) {
        sorts::write(&mut self.out, self.store, sort, self.dialect);
    }

    /// Writes a command as the family gets it; tells whether there is anything.
    fn treated(&mut self, command: &Command) -> bool {
        match treatment(self.store, command, self.dialect.release.family) {
            Treatment::LeftOut => return false,
            Treatment::PlainCheck => self.command(&Command::CheckSat),
            Treatment::Kept | Treatment::Missing => self.command(command),
        }
        true
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::SetLogic(logic)
                if self.dialect.no_higher_order_logics && is_higher_order(self.store.name(*logic)) =>
            {
                self.out.push_str("(set-logic ALL)");
            }
            Command::SetLogic(logic) => self.named("set-logic", *logic),
            Command::SetOption(keyword, value) => self.keyed("set-option", *keyword, value),
            Command::SetInfo(keyword, value) => self.keyed("set-info", *keyword, value),
            Command::GetInfo(keyword) => self.keyed("get-info", *keyword, ""),
            Command::GetOption(keyword) => self.keyed("get-option", *keyword, ""),
            Command::DeclareSort(decl) => {
                let (name, arity) = self.store.sort_decl(*decl);
                self.out.push_str("(declare-sort ");
                self.symbol(name);
                _ = write!(self.out, " {arity})");
            }
            Command::DefineSort { name, params, sort } => {
                self.out.push_str("(define-sort ");
                self.symbol(*name);
                self.out.push_str(" (");
                self.symbols(params);
                self.out.push_str(") ");
                self.sort(*sort);
                self.out.push(')');
            }
            Command::DeclareDatatypes(datatypes) => {
                sorts::write_datatypes(&mut self.out, self.store, datatypes, self.dialect)
            }
            Command::DeclareFun(fun) => self.declare_fun(*fun),
            Command::DeclareConst(fun) => {
                self.out.push_str("(declare-const ");
                self.symbol(self.store.fun(*fun).name);
                self.out.push(' ');
                self.sort(self.store.fun(*fun).result);
                self.out.push(')');
            }
            Command::DefineFun(fun) => self.define("define-fun", *fun),
            Command::DefineFunRec(fun) => self.define("define-fun-rec", *fun),
            Command::DefineConst(fun) => {
                self.out.push_str("(define-const ");
                self.symbol(self.store.fun(*fun).name);
                self.out.push(' ');
                self.sort(self.store.fun(*fun).result);
                self.body(*fun);
                self.out.push(')');
            }
            Command::DefineFunsRec(funs) => self.define_all(funs),
            Command::Assert(term) => self.with_term("assert", *term, ""),
            Command::Minimize(term, rest) => self.with_term("minimize", *term, rest),
            Command::Maximize(term, rest) => self.with_term("maximize", *term, rest),
            Command::AssertSoft(term, rest) => self.with_term("assert-soft", *term, rest),
            Command::Simplify(term, rest) => self.with_term("simplify", *term, rest),
            Command::Eval(term, rest) => self.with_term("eval", *term, rest),
            Command::CheckSatAssuming(terms) => self.with_terms("check-sat-assuming", terms),
            Command::GetValue(terms) => self.with_terms("get-value", terms),
            Command::CheckSatUsing(tactic) => self.plain("check-sat-using", tactic),
            Command::Echo(text) => self.plain("echo", text),
            Command::Push(levels) => self.plain("push", &levels.to_string()),
            Command::Pop(levels) => self.plain("pop", &levels.to_string()),
            Command::CheckSat => self.plain("check-sat", ""),
            Command::GetModel => self.plain("get-model", ""),
            Command::GetUnsatCore => self.plain("get-unsat-core", ""),
            Command::GetUnsatAssumptions => self.plain("get-unsat-assumptions", ""),
            Command::GetAssertions => self.plain("get-assertions", ""),
            Command::GetAssignment => self.plain("get-assignment", ""),
            Command::GetProof => self.plain("get-proof", ""),
            Command::Reset => self.plain("reset", ""),
            Command::ResetAssertions => self.plain("reset-assertions", ""),
            Command::Exit => self.plain("exit", ""),
            Command::Opaque { text, .. } => self.out.push_str(text),
        }
    }

    fn plain(&mut self, name: &str, rest: &str) {
        self.out.push('(');
        self.out.push_str(name);
        self.rest(rest);
    }

    /// Further text, if any, and the closing parenthesis.
    fn rest(&mut self, rest: &str) {
        if !rest.is_empty() {
            self.out.push(' ');
            self.out.push_str(rest);
        }
        self.out.push(')');
    }

    fn named(&mut self, name: &str, symbol: Symbol) {
        self.out.push('(');
        self.out.push_str(name);
        self.out.push(' ');
        self.symbol(symbol);
        self.out.push(')');
    }

    fn keyed(&mut self, name: &str, keyword: Symbol, value: &str) {
        self.out.push('(');
        self.out.push_str(name);
        self.out.push(' ');
        self.out.push_str(self.store.name(keyword));
        self.rest(value);
    }

    fn with_term(&mut self, name: &str, term: Term, rest: &str) {
        self.out.push('(');
        self.out.push_str(name);
        self.out.push(' ');
        self.term(term);
        self.rest(rest);
    }

    fn with_terms(&mut self, name: &str, terms: &[Term]) {
        self.out.push('(');
        self.out.push_str(name);
        self.out.push_str(" (");
        for (i, term) in terms.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            self.term(*term);
        }
        self.out.push_str("))");
    }

    fn symbols(&mut self, symbols: &[Symbol]) {
        for (i, symbol) in symbols.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            self.symbol(*symbol);
        }
    }

    fn declare_fun(&mut self, fun: Fun) {
        let decl = self.store.fun(fun);
        self.out.push_str("(declare-fun ");
        self.symbol(decl.name);
        self.out.push_str(" (");
        for (i, param) in decl.params.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            self.sort(*param);
        }
        self.out.push_str(") ");
        self.sort(decl.result);
        self.out.push(')');
    }

    /// `name ((x S) ...) R`.
    fn header(&mut self, fun: Fun) {
        let decl = self.store.fun(fun);
        self.symbol(decl.name);
        self.out.push_str(" (");
        if let Some(definition) = &decl.definition {
            sorts::write_sorted_vars(&mut self.out, self.store, &definition.vars, self.dialect);
        }
        self.out.push_str(") ");
        self.sort(decl.result);
    }

    fn body(&mut self, fun: Fun) {
        if let Some(definition) = &self.store.fun(fun).definition {
            self.out.push(' ');
            let (vars, body) = (definition.vars.clone(), definition.body);
            self.terms.write_in_scope(&mut self.out, body, &vars);
        }
    }

    fn define(&mut self, name: &str, fun: Fun) {
        self.out.push('(');
        self.out.push_str(name);
        self.out.push(' ');
        self.header(fun);
        self.body(fun);
        self.out.push(')');
    }

    fn define_all(&mut self, funs: &[Fun]) {
        self.out.push_str("(define-funs-rec (");
        for (i, fun) in funs.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            self.out.push('(');
            self.header(*fun);
            self.out.push(')');
        }
        self.out.push_str(") (");
        for (i, fun) in funs.iter().enumerate() {
            if i > 0 {
                self.out.push(' ');
            }
            let before = self.out.len();
            self.body(*fun);
            // `body` starts with a space.
            self.out.remove(before);
        }
        self.out.push_str("))");
    }
}
