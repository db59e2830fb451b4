//! From a name and arguments to a term: local names, the script's functions, datatypes, the theory table.

use dashu_int::{IBig, UBig};

use super::{Global, Mode, Parser};
use crate::infer::SortError;
use crate::lexer::{Kind, Token};
use crate::literal::Literal;
use crate::position::ParseError;
use crate::print::print_symbol;
use crate::sort::{Sort, SortKind};
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::*;
use crate::theory::Op;

/// What stands in function position.
#[derive(Clone, Debug)]
pub(super) enum Callee {
    Name(Symbol),
    /// `(_ name index...)`.
    Indexed(Symbol, Vec<Index>),
    /// `(as name SORT)`.
    Qualified(Symbol, Sort),
    /// A term: the first of the values.
    Value,
    /// An identifier in a form nobody knows, as text.
    Strange(Symbol),
}

impl Parser<'_> {
    /// After `(_`: reads to the closing parenthesis.
    pub(super) fn indexed_identifier(&mut self) -> Result<Callee, ParseError> {
        let head = self.next()?;
        if head.kind != Kind::Symbol {
            return self.strange(head);
        }
        let name = self.symbol_of(head);
        let mut indices = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close => return Ok(Callee::Indexed(name, indices)),
                Kind::Numeral => indices.push(index_number(super::term::natural(self.bytes(token), 10))),
                Kind::Hexadecimal => {
                    indices.push(index_number(super::term::natural(&self.bytes(token)[2..], 16)));
                }
                Kind::Symbol => {
                    let symbol = self.symbol_of(token);
                    indices.push(self.symbol_index(symbol));
                }
                Kind::Open if matches!(self.store.name(name), "is" | "map" | "as-array" | "update") => {
                    // (_ is (cons (Int) L)), (_ map (+ (Int Int) Int)): the symbol with its signature.
                    let symbol = self.expect_symbol("a function symbol")?;
                    while self.peek()?.kind != Kind::Close {
                        self.skip()?;
                    }
                    self.next()?;
                    indices.push(self.symbol_index(symbol));
                }
                Kind::End => return Err(self.unexpected(token, "an index or ')'")),
                _ => return self.strange(head),
            }
        }
    }

    fn symbol_index(&mut self, symbol: Symbol) -> Index {
        let fun = self.globals.get(&symbol).and_then(|globals| {
            globals.iter().rev().find_map(|global| match global {
                Global::Fun(fun) => Some(*fun),
                _ => None,
            })
        });
        match (fun, self.store.symbols.ops(symbol).first()) {
            (Some(fun), _) => Index::Fun(fun),
            (None, Some(op)) if !self.globals.contains_key(&symbol) => Index::Op(*op),
            _ => Index::Symbol(symbol),
        }
    }

    /// An identifier of unknown form: skipped up to its closing parenthesis and kept as text.
    fn strange(&mut self, from: Token) -> Result<Callee, ParseError> {
        // Back to the token after `_`, then skip item by item.
        self.lexer = crate::lexer::Lexer::new(self.source);
        self.lexer.seek(from.start);
        self.peeked = None;
        let mut text = String::from("(_");
        while self.peek()?.kind != Kind::Close {
            text.push(' ');
            let part = self.skip()?;
            text.push_str(&super::flat_text(part));
        }
        self.next()?;
        text.push(')');
        if self.mode == Mode::Strict {
            return Err(ParseError::new(from.start, format!("unknown identifier '{text}'")));
        }
        Ok(Callee::Strange(self.store.symbol(&text)))
    }

    /// After `(as`: reads to the closing parenthesis.
    pub(super) fn qualified_identifier(&mut self) -> Result<Callee, ParseError> {
        let token = self.next()?;
        let callee = match token.kind {
            Kind::Symbol => {
                let name = self.symbol_of(token);
                Callee::Qualified(name, self.sort()?)
            }
            // (as (_ name index) SORT): the indices say it all.
            Kind::Open => {
                let underscore = self.expect(Kind::Symbol, "'_'")?;
                if self.bytes(underscore) != b"_" {
                    return Err(self.unexpected(underscore, "'_'"));
                }
                let callee = self.indexed_identifier()?;
                self.sort()?;
                callee
            }
            _ => return Err(self.unexpected(token, "an identifier")),
        };
        self.expect(Kind::Close, "')' after the sort")?;
        Ok(callee)
    }

    /// The term for a callee applied to the values from `base` on (left in place).
    pub(super) fn resolve(&mut self, callee: Callee, base: usize, start: usize) -> Result<Term, ParseError> {
        let at = |error: SortError| ParseError::new(start, error.to_string());
        match callee {
            Callee::Name(name) => self.resolve_name(name, base, start),
            Callee::Indexed(name, indices) => self.resolve_indexed(name, &indices, base, start),
            Callee::Qualified(name, sort) => self.resolve_qualified(name, sort, base, start),
            Callee::Value => {
                let children = self.values[base..].to_vec();
                self.applied(&children).map_err(at)
            }
            Callee::Strange(name) => {
                self.count_opaque(name);
                Ok(self.store.opaque(name, &self.values[base..]))
            }
        }
    }

    /// A term applied to others. `((f) x)` is `(f x)`: they are printed alike.
    fn applied(&mut self, children: &[Term]) -> Result<Term, SortError> {
        if let [function, args @ ..] = children
            && !args.is_empty()
            && self.store.args(*function).is_empty()
        {
            match self.store.head(*function) {
                Head::Fun(fun) if !self.store.fun(fun).params.is_empty() => {
                    return self.store.call(fun, args);
                }
                Head::Opaque(name) if self.store.sort_of(*function) == Sort::UNKNOWN => {
                    return Ok(self.store.opaque(name, args));
                }
                _ => {}
            }
        }
        self.store.apply(children)
    }

    fn resolve_name(&mut self, name: Symbol, base: usize, start: usize) -> Result<Term, ParseError> {
        let mut first_error = None;
        if self.bare_constants {
            self.qualify_bare_constants(base);
        }
        if let Some(function) = self.local(name) {
            let mut children = vec![function];
            children.extend_from_slice(&self.values[base..]);
            return self.applied(&children).map_err(|error| ParseError::new(start, error.to_string()));
        }
        if !self.globals.is_empty()
            && let Some(globals) = self.globals.get(&name)
        {
            // The newest declaration first; older ones may be overloads (Z3 allows them). A full application
            // of an overload goes before a function value.
            let count = self.values.len() - base;
            if let [only] = globals[..] {
                match self.call_global(only, base, None) {
                    Ok(term) => return Ok(term),
                    Err(error) => first_error = Some(error),
                }
            } else {
                let full = |store: &Store, global: &Global| match global {
                    Global::Fun(fun) => store.fun(*fun).params.len() == count,
                    _ => true,
                };
                let mut order: Vec<Global> = globals.iter().rev().copied().collect();
                order.sort_by_key(|global| !full(self.store, global));
                // An overload that fits as it is goes before one that needs conversions.
                for global in &order {
                    if let Global::Fun(fun) = global
                        && full(self.store, global)
                        && let Ok(term) = self.store.call(*fun, &self.values[base..])
                    {
                        return Ok(term);
                    }
                }
                for global in order {
                    match self.call_global(global, base, None) {
                        Ok(term) => return Ok(term),
                        Err(error) => _ = first_error.get_or_insert(error),
                    }
                }
            }
        }
        let ops = self.store.symbols.ops(name);
        for op in ops {
            if op.row().qualified.is_some() {
                continue;
            }
            match self.store.infer(*op, &[], None, &self.values[base..]) {
                Ok(sort) => {
                    if self.mode == Mode::Strict {
                        self.check_strict(*op, name, base, start)?;
                    }
                    return Ok(self.store.node(Head::Op(*op, Indices::NONE), &self.values[base..], sort));
                }
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        let known = first_error.is_some();
        if self.mode == Mode::Tolerant
            && let Some(term) = self.coerce_name(name, base, start)
        {
            return Ok(term);
        }
        match first_error {
            Some(error) => Err(ParseError::new(start, error.to_string())),
            None if self.mode == Mode::Strict && !known => {
                Err(ParseError::new(start, format!("unknown symbol '{}'", self.store.name(name))))
            }
            None => {
                // A name in bars that looks like a compound identifier keeps its bars.
                let name = match self.store.name(name) {
                    text if text.starts_with('(') => self.store.symbol(&format!("|{text}|")),
                    _ => name,
                };
                self.count_opaque(name);
                Ok(self.store.opaque(name, &self.values[base..]))
            }
        }
    }

    /// Strict mode refuses operators, names and arities that the standard does not have.
    fn check_strict(&self, op: Op, name: Symbol, base: usize, start: usize) -> Result<(), ParseError> {
        let row = op.row();
        let text = self.store.name(name);
        let message = if !row.is_standard() {
            format!("'{text}' is not an operator of the standard")
        } else if text != row.name && !(text.len() == 3 && row.result.is_rounding_mode()) {
            format!("'{text}' is not in the standard; write '{}'", row.name)
        } else if row.nary_extension && self.values.len() - base > 2 {
            format!("'{text}' takes two arguments in the standard")
        } else {
            return Ok(());
        };
        Err(ParseError::new(start, message))
    }

    pub(super) fn call_global(
        &mut self,
        global: Global,
        base: usize,
        sort: Option<Sort>,
    ) -> Result<Term, SortError> {
        let head = match global {
            Global::Fun(fun) => {
                return match self.store.call(fun, &self.values[base..]) {
                    Err(error) if self.mode == Mode::Tolerant => {
                        self.coerce_call(fun, base);
                        self.store.call(fun, &self.values[base..]).map_err(|_| error)
                    }
                    result => result,
                };
            }
            Global::Constructor(dt, c) => Head::Constructor(dt, c),
            Global::Selector(dt, c, f) => Head::Selector(dt, c, f),
            Global::Tester(dt, c) => Head::Tester(dt, c),
        };
        match self.store.datatype_node(head, &self.values[base..], sort) {
            Err(SortError::NeedsSort { .. }) if self.mode == Mode::Tolerant => {
                // The instance shows only where the constructor is used.
                if let SortKind::Opaque(unknown) = self.store.sort_kind(Sort::UNKNOWN) {
                    self.count_opaque(*unknown);
                }
                let Head::Constructor(dt, _) = head else {
                    unreachable!("only constructors need their sort")
                };
                let unknown = vec![Sort::UNKNOWN; self.store.datatype(dt).params.len()];
                let instance = self.store.sort(SortKind::Datatype(dt, unknown.into()));
                self.store.datatype_node(head, &self.values[base..], Some(instance))
            }
            Err(error) if self.mode == Mode::Tolerant => {
                if self.coerce_fields(head, base) {
                    return self.store.datatype_node(head, &self.values[base..], sort);
                }
                // A constructor or selector as a function value.
                self.datatype_function(head, base).ok_or(error)
            }
            result => result,
        }
    }

    /// `cons` without arguments in a higher-order position: eta-expanded to a lambda.
    fn datatype_function(&mut self, head: Head, base: usize) -> Option<Term> {
        if self.values.len() > base {
            return None;
        }
        let (dt, params) = match head {
            Head::Constructor(dt, c) if self.store.datatype(dt).params.is_empty() => {
                let instance = self.store.sort(SortKind::Datatype(dt, Box::new([])));
                (dt, self.store.field_sorts(dt, c, instance))
            }
            Head::Selector(dt, ..) | Head::Tester(dt, _) if self.store.datatype(dt).params.is_empty() => {
                (dt, vec![self.store.sort(SortKind::Datatype(dt, Box::new([])))])
            }
            _ => return None,
        };
        let _ = dt;
        let vars: Vec<Var> = params
            .iter()
            .map(|sort| {
                let name = self.store.fresh_name("arg");
                self.store.var(name, *sort)
            })
            .collect();
        let args: Vec<Term> = vars.iter().map(|var| self.store.var_term(*var)).collect();
        let body = self.store.datatype_node(head, &args, None).ok()?;
        self.store.quantify(Binder::Lambda, &vars, body).ok()
    }

    fn resolve_indexed(
        &mut self,
        name: Symbol,
        indices: &[Index],
        base: usize,
        start: usize,
    ) -> Result<Term, ParseError> {
        if let Some(term) = self.indexed_literal(name, indices) {
            return Ok(term);
        }
        if let Some(result) = self.datatype_indexed(name, indices, base) {
            return result.map_err(|error| ParseError::new(start, error.to_string()));
        }
        let mut first_error = None;
        for op in self.store.symbols.ops(name) {
            match self.store.infer(*op, indices, None, &self.values[base..]) {
                Ok(sort) => {
                    if self.mode == Mode::Strict {
                        self.check_strict(*op, name, base, start)?;
                    }
                    let indices = self.store.indices(indices);
                    return Ok(self.store.node(Head::Op(*op, indices), &self.values[base..], sort));
                }
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        if self.mode == Mode::Tolerant
            && let Some(term) = self.coerce_indexed(name, indices, base, start)
        {
            return Ok(term);
        }
        if let Some(error) = first_error {
            return Err(ParseError::new(start, error.to_string()));
        }
        let text = self.indexed_text(name, indices);
        if self.mode == Mode::Strict {
            return Err(ParseError::new(start, format!("unknown identifier '{text}'")));
        }
        let symbol = self.store.symbol(&text);
        self.count_opaque(symbol);
        Ok(self.store.opaque(symbol, &self.values[base..]))
    }

    fn indexed_text(&self, name: Symbol, indices: &[Index]) -> String {
        let mut text = format!("(_ {}", print_symbol(self.store.name(name)));
        for index in indices {
            text.push(' ');
            match index {
                Index::Number(n) => text.push_str(&n.to_string()),
                Index::Big(n) => text.push_str(&n.to_string()),
                Index::Symbol(symbol) => text.push_str(&print_symbol(self.store.name(*symbol))),
                Index::Fun(fun) => text.push_str(&print_symbol(self.store.name(self.store.fun(*fun).name))),
                Index::Op(op) => text.push_str(op.name()),
            }
        }
        text.push(')');
        text
    }

    /// `(_ bv10 32)` and `(_ char #x41)`.
    fn indexed_literal(&mut self, name: Symbol, indices: &[Index]) -> Option<Term> {
        let text = self.store.name(name);
        match indices {
            [Index::Number(width)] if *width > 0 && text.starts_with("bv") && text.len() > 2 => {
                let digits = &text.as_bytes()[2..];
                if !digits.iter().all(u8::is_ascii_digit) {
                    return None;
                }
                let value = super::term::natural(digits, 10);
                Some(self.store.bv(*width, value))
            }
            [Index::Number(code)] if name == Symbol::CHAR && *code <= 0x2FFFF => {
                Some(self.store.string(&[*code]))
            }
            _ => None,
        }
    }

    /// `(_ is cons)` and `(_ update head)`.
    fn datatype_indexed(
        &mut self,
        name: Symbol,
        indices: &[Index],
        base: usize,
    ) -> Option<Result<Term, SortError>> {
        let [index] = indices else { return None };
        let symbol = match index {
            Index::Symbol(symbol) => *symbol,
            Index::Fun(fun) => self.store.fun(*fun).name,
            Index::Op(op) => self.store.symbol(op.name()),
            _ => return None,
        };
        let globals = self.globals.get(&symbol)?.clone();
        let mut last = None;
        for global in globals.iter().rev() {
            let head = match (name, global) {
                (Symbol::IS, Global::Constructor(dt, c)) => Head::Tester(*dt, *c),
                (Symbol::UPDATE, Global::Selector(dt, c, f)) => Head::Updater(*dt, *c, *f),
                // Z3's (_ update-field f).
                (_, Global::Selector(dt, c, f)) if self.store.name(name) == "update-field" => {
                    Head::Updater(*dt, *c, *f)
                }
                _ => continue,
            };
            match self.store.datatype_node(head, &self.values[base..], None) {
                Ok(term) => return Some(Ok(term)),
                Err(error) => last = Some(Err(error)),
            }
        }
        last
    }

    fn resolve_qualified(
        &mut self,
        name: Symbol,
        sort: Sort,
        base: usize,
        start: usize,
    ) -> Result<Term, ParseError> {
        let mut first_error = None;
        if let Some(globals) = self.globals.get(&name).cloned() {
            for global in globals.iter().rev() {
                match self.call_global(*global, base, Some(sort)) {
                    Ok(term) if self.store.sort_of(term) == sort || base < self.values.len() => {
                        return Ok(term);
                    }
                    Ok(term) => {
                        first_error.get_or_insert(SortError::Expected {
                            expected: self.store.sort_text(sort),
                            found: self.store.sort_text(self.store.sort_of(term)),
                        });
                    }
                    Err(error) => _ = first_error.get_or_insert(error),
                }
            }
        }
        for op in self.store.symbols.ops(name) {
            let qualified = op.row().qualified.is_some().then_some(sort);
            match self.store.infer(*op, &[], qualified, &self.values[base..]) {
                Ok(found) if found == sort || qualified.is_some() => {
                    return Ok(self.store.node(Head::Op(*op, Indices::NONE), &self.values[base..], found));
                }
                Ok(_) => {}
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        if let Some(term) = self.qualified_literal(name, sort) {
            return Ok(term);
        }
        if self.mode == Mode::Tolerant
            && let Some(term) = self.coerce_qualified(name, sort, base)
        {
            return Ok(term);
        }
        if let Some(error) = first_error {
            return Err(ParseError::new(start, error.to_string()));
        }
        if self.mode == Mode::Strict {
            let name = self.store.name(name);
            return Err(ParseError::new(start, format!("unknown symbol '{name}'")));
        }
        self.count_opaque(name);
        Ok(self.store.node(Head::Opaque(name), &self.values[base..], sort))
    }

    /// `(as ff3 (_ FiniteField 5))`, `(as seq.empty String)`.
    fn qualified_literal(&mut self, name: Symbol, sort: Sort) -> Option<Term> {
        let text = self.store.name(name);
        match self.store.sort_kind(sort) {
            SortKind::FiniteField(order) => {
                let value = IBig::from_str_radix(text.strip_prefix("ff")?, 10).ok()?;
                let order = order.as_ref().clone();
                Some(self.field_literal(&value, order))
            }
            SortKind::String if text == "seq.empty" => {
                Some(self.store.literal_term(Literal::String(Box::new([]))))
            }
            _ => None,
        }
    }
}

fn index_number(value: UBig) -> Index {
    match u32::try_from(&value) {
        Ok(small) => Index::Number(small),
        Err(_) => Index::Big(Box::new(value)),
    }
}
