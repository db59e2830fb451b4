//! Terms in the source text: a machine with an explicit stack, so that nesting depth costs no stack.

use dashu_int::{IBig, UBig};
use numbers::{Integer, Rational};
use rustc_hash::{FxHashMap, FxHashSet};

use super::resolve::Callee;
use super::{Mode, Parser};
use crate::lexer::{Kind, Token};
use crate::literal::{self, Escapes, Literal};
use crate::position::ParseError;
use crate::sort::{Sort, SortKind};
use crate::symbol::Symbol;
use crate::term::*;

/// A construct whose parts are still being read.
pub(super) enum Frame {
    /// An application: arguments are the values from `base` on.
    Application {
        callee: Callee,
        base: usize,
        start: usize,
    },
    /// `let`: the values from `base` on belong to the names from `names` on.
    LetBindings {
        base: usize,
        names: usize,
        start: usize,
    },
    LetBody {
        scope: usize,
        start: usize,
    },
    Bind {
        binder: Binder,
        vars: Vars,
        scope: usize,
        base: usize,
        start: usize,
    },
    Annotation {
        base: usize,
        attributes: Vec<Attribute>,
        start: usize,
    },
    /// The list after `:pattern`.
    PatternTerms {
        base: usize,
        keyword: Symbol,
    },
    /// The term after `:no-pattern`.
    PatternTerm {
        keyword: Symbol,
    },
    Match {
        base: usize,
        patterns: Vec<Pattern>,
        scope: usize,
        start: usize,
    },
}

/// What to do after a step of the machine.
enum Step {
    /// Read the next token.
    Go,
    /// A term is complete.
    Value(Term),
}

impl Parser<'_> {
    /// Reads one term.
    pub(super) fn term(&mut self) -> Result<Term, ParseError> {
        let floor = self.frames.len();
        let result = self.run(floor);
        if result.is_err() {
            self.frames.truncate(floor);
        }
        result
    }

    fn run(&mut self, floor: usize) -> Result<Term, ParseError> {
        loop {
            let token = self.next()?;
            let mut step = match token.kind {
                Kind::Open => self.open(token)?,
                Kind::Close if self.frames.len() > floor => self.close(token)?,
                _ => Step::Value(self.atom(token)?),
            };
            while let Step::Value(term) = step {
                if self.frames.len() == floor {
                    return Ok(term);
                }
                step = self.deliver(term)?;
            }
        }
    }

    /// After `(`.
    fn open(&mut self, open: Token) -> Result<Step, ParseError> {
        let mut start = open.start;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Symbol => {
                    let symbol = self.symbol_of(token);
                    // A quoted |let| is an ordinary name.
                    if symbol.0 <= Symbol::WITNESS.0 && self.source[token.start] != b'|' {
                        return self.open_reserved(symbol, start);
                    }
                    let base = self.values.len();
                    self.frames.push(Frame::Application { callee: Callee::Name(symbol), base, start });
                    return Ok(Step::Go);
                }
                Kind::Open => {
                    let callee = self.compound_head()?;
                    let term_follows = matches!(callee, Callee::Value);
                    let base = self.values.len();
                    self.frames.push(Frame::Application { callee, base, start });
                    if !term_follows {
                        return Ok(Step::Go);
                    }
                    start = token.start;
                }
                _ => return Err(self.unexpected(token, "a function symbol after '('")),
            }
        }
    }

    fn open_reserved(&mut self, symbol: Symbol, start: usize) -> Result<Step, ParseError> {
        let base = self.values.len();
        match symbol {
            Symbol::LET => {
                self.expect(Kind::Open, "the list of let-bindings")?;
                let names = self.let_names.len();
                self.frames.push(Frame::LetBindings { base, names, start });
                self.next_let_binding(start)?;
                Ok(Step::Go)
            }
            Symbol::FORALL => self.open_binder(Binder::Forall, start),
            Symbol::EXISTS => self.open_binder(Binder::Exists, start),
            Symbol::LAMBDA => self.open_binder(Binder::Lambda, start),
            Symbol::CHOICE | Symbol::WITNESS => self.open_binder(Binder::Choice, start),
            Symbol::COMPREHENSION => self.open_binder(Binder::Comprehension, start),
            Symbol::MATCH => {
                let scope = self.shadowed.len();
                self.frames.push(Frame::Match { base, patterns: Vec::new(), scope, start });
                Ok(Step::Go)
            }
            Symbol::BANG => {
                self.frames.push(Frame::Annotation { base, attributes: Vec::new(), start });
                Ok(Step::Go)
            }
            Symbol::UNDERSCORE => {
                // (_ f x) with a term argument is cvc5's curried application; (_ name index...) an atom.
                let callee = self.indexed_identifier()?;
                self.resolve(callee, self.values.len(), start).map(Step::Value)
            }
            Symbol::AS => {
                let callee = self.qualified_identifier()?;
                self.resolve(callee, self.values.len(), start).map(Step::Value)
            }
            _ => {
                // `is`, `update`, `char`, `par` as plain function names.
                self.frames.push(Frame::Application { callee: Callee::Name(symbol), base, start });
                Ok(Step::Go)
            }
        }
    }

    /// After `((`: an identifier, or a term that is to be applied.
    fn compound_head(&mut self) -> Result<Callee, ParseError> {
        let token = self.peek()?;
        match (token.kind, self.bytes(token)) {
            (Kind::Symbol, b"_") => {
                self.next()?;
                self.indexed_identifier()
            }
            (Kind::Symbol, b"as") => {
                self.next()?;
                self.qualified_identifier()
            }
            _ => Ok(Callee::Value),
        }
    }

    fn open_binder(&mut self, binder: Binder, start: usize) -> Result<Step, ParseError> {
        self.expect(Kind::Open, "the list of bound variables")?;
        let scope = self.shadowed.len();
        let vars = self.sorted_vars()?;
        let vars = self.store.vars(&vars);
        let base = self.values.len();
        self.frames.push(Frame::Bind { binder, vars, scope, base, start });
        Ok(Step::Go)
    }

    /// `(x S) ...)` after the opening parenthesis; binds the names.
    pub(super) fn sorted_vars(&mut self) -> Result<Vec<Var>, ParseError> {
        let mut named = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close => break,
                Kind::Open => {
                    let name = self.expect_symbol("a variable name")?;
                    let sort = self.sort()?;
                    self.expect(Kind::Close, "')' after the variable's sort")?;
                    named.push((name, sort));
                }
                _ => return Err(self.unexpected(token, "a sorted variable '(name Sort)'")),
            }
        }
        Ok(named.into_iter().map(|(name, sort)| self.bind_var(name, sort)).collect())
    }

    /// Binds a variable. One that shadows another gets a fresh name, so that no let-bound term is captured when
    /// it takes the place of its name.
    fn bind_var(&mut self, name: Symbol, sort: Sort) -> Var {
        let suspect = self.capture_budget == 0 && self.let_depth > 0 && self.globals.contains_key(&name);
        let unique = if suspect || self.local(name).is_some() { self.store.fresh_symbol(name) } else { name };
        let var = self.store.var(unique, sort);
        let term = self.store.var_term(var);
        self.bind_local(name, term);
        var
    }

    /// Between let-bindings: the next name, or the end of the list.
    fn next_let_binding(&mut self, start: usize) -> Result<(), ParseError> {
        let token = self.next()?;
        match token.kind {
            Kind::Open => {
                let name = self.expect_symbol("a name to bind")?;
                self.let_names.push(name);
                Ok(())
            }
            Kind::Close => {
                let Some(Frame::LetBindings { base, names, .. }) = self.frames.pop() else {
                    return Err(ParseError::new(start, "misplaced let"));
                };
                let scope = self.shadowed.len();
                for i in 0..self.let_names.len() - names {
                    let (name, term) = (self.let_names[names + i], self.values[base + i]);
                    self.bind_local(name, term);
                }
                self.let_names.truncate(names);
                self.values.truncate(base);
                self.let_depth += 1;
                self.frames.push(Frame::LetBody { scope, start });
                Ok(())
            }
            _ => Err(self.unexpected(token, "a let-binding '(name term)'")),
        }
    }

    /// Hands a finished term to the construct it stands in.
    fn deliver(&mut self, term: Term) -> Result<Step, ParseError> {
        self.values.push(term);
        match self.frames.last_mut() {
            Some(Frame::LetBindings { start, .. }) => {
                let start = *start;
                self.expect(Kind::Close, "')' after the let-bound term")?;
                self.next_let_binding(start)?;
                Ok(Step::Go)
            }
            Some(Frame::Annotation { .. }) => self.attributes(),
            Some(Frame::PatternTerm { keyword }) => {
                let keyword = *keyword;
                self.frames.pop();
                self.add_attribute(keyword, AttributeValue::Term);
                self.attributes()
            }
            Some(Frame::Match { .. }) => self.match_step(),
            _ => Ok(Step::Go),
        }
    }

    /// After `)`: the construct on top is complete.
    fn close(&mut self, token: Token) -> Result<Step, ParseError> {
        match self.frames.pop() {
            Some(Frame::Application { callee, base, start }) => {
                let term = self.resolve(callee, base, start)?;
                self.values.truncate(base);
                Ok(Step::Value(term))
            }
            Some(Frame::LetBody { scope, start }) => {
                self.let_depth -= 1;
                self.unbind_to(scope);
                self.one_value(start, "let")
            }
            Some(Frame::Bind { binder, vars, scope, base, start }) => {
                self.unbind_to(scope);
                let built = if self.store.var_list(vars).is_empty() && binder.is_quantifier() {
                    // An empty list of variables is accepted by solvers and means nothing.
                    self.values[base..]
                        .first()
                        .copied()
                        .ok_or_else(|| ParseError::new(start, "expected the body of the quantifier"))?
                } else {
                    let vars = self.avoid_capture(vars, base);
                    self.store
                        .bind(binder, vars, &self.values[base..])
                        .map_err(|error| ParseError::new(start, error.to_string()))?
                };
                self.values.truncate(base);
                Ok(Step::Value(built))
            }
            Some(Frame::PatternTerms { base, keyword }) => {
                let count = (self.values.len() - base) as u32;
                self.add_attribute(keyword, AttributeValue::Terms(count));
                self.attributes()
            }
            _ => Err(self.unexpected(token, "a term")),
        }
    }

    /// Renames bound variables that would capture a constant of the same name: a let-bound term from outside may
    /// mention it.
    fn avoid_capture(&mut self, vars: Vars, base: usize) -> Vars {
        if self.let_depth == 0 {
            return vars;
        }
        let list = self.store.var_list(vars).to_vec();
        if !list.iter().any(|var| self.globals.contains_key(&self.store.var_name(*var))) {
            return vars;
        }
        if self.capture_budget == 0 {
            return vars;
        }
        let mut mentioned = FxHashSet::default();
        let subterms = self.store.subterms(&self.values[base..]);
        self.capture_budget = self.capture_budget.saturating_sub(subterms.len());
        for term in subterms {
            if let Head::Fun(fun) = self.store.head(term) {
                mentioned.insert(self.store.fun(fun).name);
            }
        }
        let mut renamed = FxHashMap::default();
        let mut new = Vec::with_capacity(list.len());
        for var in list {
            if mentioned.contains(&self.store.var_name(var)) {
                let fresh = self.store.fresh_symbol(self.store.var_name(var));
                let sort = self.store.var_sort(var);
                let fresh = self.store.var(fresh, sort);
                let (from, to) = (self.store.var_term(var), self.store.var_term(fresh));
                renamed.insert(from, to);
                new.push(fresh);
            } else {
                new.push(var);
            }
        }
        if renamed.is_empty() {
            return vars;
        }
        for i in base..self.values.len() {
            if let Ok(body) = self.store.substitute(self.values[i], &renamed) {
                self.values[i] = body;
            }
        }
        self.store.vars(&new)
    }

    fn one_value(&mut self, start: usize, construct: &str) -> Result<Step, ParseError> {
        self.values
            .pop()
            .map(Step::Value)
            .ok_or_else(|| ParseError::new(start, format!("expected a term as the body of {construct}")))
    }

    fn add_attribute(&mut self, keyword: Symbol, value: AttributeValue) {
        if let Some(Frame::Annotation { attributes, .. }) = self.frames.last_mut() {
            attributes.push(Attribute { keyword, value });
        }
    }

    /// Reads attributes up to a nested term or the end of the annotation.
    fn attributes(&mut self) -> Result<Step, ParseError> {
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Keyword => {
                    let text = self.text(token);
                    let keyword = self.store.symbol(&text);
                    match text.as_ref() {
                        ":pattern" => {
                            self.expect(Kind::Open, "the list of pattern terms")?;
                            let base = self.values.len();
                            self.frames.push(Frame::PatternTerms { base, keyword });
                            return Ok(Step::Go);
                        }
                        ":no-pattern" => {
                            self.frames.push(Frame::PatternTerm { keyword });
                            return Ok(Step::Go);
                        }
                        ":named" => {
                            let name = self.expect_symbol("a name")?;
                            let value = self.name_term(name);
                            self.add_attribute(keyword, value);
                        }
                        _ => {
                            let value = match self.peek()?.kind {
                                Kind::Keyword | Kind::Close => AttributeValue::None,
                                _ => AttributeValue::Text(super::flat_text(self.skip()?).into()),
                            };
                            self.add_attribute(keyword, value);
                        }
                    }
                }
                Kind::Close => break,
                _ => return Err(self.unexpected(token, "an attribute or ')'")),
            }
        }
        let Some(Frame::Annotation { base, attributes, start }) = self.frames.pop() else {
            return Err(ParseError::new(0, "misplaced annotation"));
        };
        let attributes = self.store.attributes(attributes);
        let built = self
            .store
            .annotate(attributes, &self.values[base..])
            .map_err(|error| ParseError::new(start, error.to_string()))?;
        self.values.truncate(base);
        Ok(Step::Value(built))
    }

    /// Declares the name of a named term.
    fn name_term(&mut self, name: Symbol) -> AttributeValue {
        let term = match self.frames.last() {
            Some(Frame::Annotation { base, .. }) => self.values[*base],
            _ => return AttributeValue::None,
        };
        let fun = self.store.declare_fun(name, &[], self.store.sort_of(term));
        self.store.define(fun, Definition { vars: Box::new([]), body: term, recursive: false });
        self.add_global(name, super::Global::Fun(fun));
        AttributeValue::Named(fun)
    }

    /// The scrutinee or a case's body has just been read.
    fn match_step(&mut self) -> Result<Step, ParseError> {
        let Some(Frame::Match { base, patterns, scope, .. }) = self.frames.last() else {
            return Err(ParseError::new(0, "misplaced match"));
        };
        let (base, scope, first) = (*base, *scope, patterns.is_empty());
        if first {
            self.expect(Kind::Open, "the list of match cases")?;
        } else {
            self.expect(Kind::Close, "')' after the case's term")?;
            self.unbind_to(scope);
        }
        let token = self.next()?;
        match token.kind {
            Kind::Open => {
                let scrutinee = self.store.sort_of(self.values[base]);
                let pattern = self.pattern(scrutinee)?;
                if let Some(Frame::Match { patterns, .. }) = self.frames.last_mut() {
                    patterns.push(pattern);
                }
                Ok(Step::Go)
            }
            Kind::Close => {
                self.expect(Kind::Close, "')' at the end of match")?;
                let Some(Frame::Match { base, patterns, start, .. }) = self.frames.pop() else {
                    return Err(ParseError::new(token.start, "misplaced match"));
                };
                let patterns = self.store.patterns(patterns);
                let built = self
                    .store
                    .match_term(patterns, &self.values[base..])
                    .map_err(|error| ParseError::new(start, error.to_string()))?;
                self.values.truncate(base);
                Ok(Step::Value(built))
            }
            _ => Err(self.unexpected(token, "a match case")),
        }
    }

    fn pattern(&mut self, scrutinee: Sort) -> Result<Pattern, ParseError> {
        let token = self.next()?;
        match token.kind {
            Kind::Symbol => {
                let name = self.symbol_of(token);
                if let Some(number) = self.constructor_number(scrutinee, name) {
                    return Ok(Pattern::Constructor(number, Box::new([])));
                }
                Ok(Pattern::Var(self.bind_var(name, scrutinee)))
            }
            Kind::Open => {
                let name = self.expect_symbol("a constructor")?;
                let (Some(number), SortKind::Datatype(dt, _)) =
                    (self.constructor_number(scrutinee, name), self.store.sort_kind(scrutinee))
                else {
                    let name = self.store.name(name);
                    return Err(ParseError::new(
                        token.start,
                        format!("'{name}' is not a constructor of the matched term's sort"),
                    ));
                };
                let sorts = self.store.field_sorts(*dt, number, scrutinee);
                let mut vars = Vec::new();
                while self.peek()?.kind != Kind::Close {
                    let name = self.expect_symbol("a variable")?;
                    let Some(sort) = sorts.get(vars.len()) else {
                        return Err(ParseError::new(token.start, "too many variables in this pattern"));
                    };
                    vars.push(self.bind_var(name, *sort));
                }
                self.next()?;
                if vars.len() != sorts.len() {
                    return Err(ParseError::new(
                        token.start,
                        format!("expected {} variable(s) in this pattern, found {}", sorts.len(), vars.len()),
                    ));
                }
                Ok(Pattern::Constructor(number, vars.into()))
            }
            _ => Err(self.unexpected(token, "a pattern")),
        }
    }

    fn constructor_number(&self, sort: Sort, name: Symbol) -> Option<u16> {
        let SortKind::Datatype(dt, _) = self.store.sort_kind(sort) else { return None };
        let place = self.store.datatype(*dt).constructors.iter().position(|c| c.name == name)?;
        Some(place as u16)
    }

    /// A literal or a symbol.
    fn atom(&mut self, token: Token) -> Result<Term, ParseError> {
        let literal = match token.kind {
            Kind::Symbol => {
                let symbol = self.symbol_of(token);
                return match self.local(symbol) {
                    Some(term) => Ok(term),
                    None => self.resolve(Callee::Name(symbol), self.values.len(), token.start),
                };
            }
            Kind::Numeral => {
                let value = integer(self.bytes(token));
                if self.numerals_are_real { Literal::Real(value.into()) } else { Literal::Int(value) }
            }
            Kind::Decimal if self.mode == Mode::Strict && self.bytes(token).ends_with(b".") => {
                return Err(self.unexpected(token, "a decimal with digits after the point"));
            }
            Kind::Decimal => Literal::Real(decimal(self.bytes(token))),
            Kind::Hexadecimal => {
                let digits = &self.bytes(token)[2..];
                Literal::BitVec(4 * digits.len() as u32, natural(digits, 16))
            }
            Kind::Binary => {
                let digits = &self.bytes(token)[2..];
                Literal::BitVec(digits.len() as u32, natural(digits, 2))
            }
            Kind::String => {
                let text = self.text(token);
                let inner = text[1..text.len() - 1].replace("\"\"", "\"");
                // The text says at its end how it writes characters, and few have any that it matters for.
                let escapes = match inner.contains("\\x") {
                    true => *self.escapes.get_or_insert_with(|| Escapes::of(self.source)),
                    false => Escapes::Unicode,
                };
                Literal::String(literal::unescape(&inner, escapes))
            }
            Kind::FieldElement => return self.field_element(token),
            _ => return Err(self.unexpected(token, "a term")),
        };
        Ok(self.store.literal_term(literal))
    }

    /// `#f3m5`: three in the field of order five.
    fn field_element(&mut self, token: Token) -> Result<Term, ParseError> {
        let text = self.text(token);
        let parts = text[2..].split_once('m').and_then(|(value, order)| {
            let value = IBig::from_str_radix(value, 10).ok()?;
            let order = UBig::from_str_radix(order, 10).ok()?;
            (order > UBig::ONE).then_some((value, order))
        });
        match parts {
            Some((value, order)) => Ok(self.field_literal(&value, order)),
            None => Err(self.unexpected(token, "a finite field element '#fVALUEmORDER'")),
        }
    }

    pub(super) fn field_literal(&mut self, value: &IBig, order: UBig) -> Term {
        use dashu_int::ops::RemEuclid;
        let residue = value.rem_euclid(&IBig::from(order.clone()));
        let sort = self.store.sort(SortKind::FiniteField(Box::new(order)));
        self.store.literal_term(Literal::Field(sort, residue))
    }
}

/// The value of a run of digits that the lexer has checked.
pub(super) fn natural(digits: &[u8], radix: u32) -> UBig {
    if let Some(small) = small_natural(digits, radix) {
        return UBig::from(small);
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| UBig::from_str_radix(text, radix).ok())
        .unwrap_or_default()
}

/// The same for few digits, which most numbers have.
fn small_natural(digits: &[u8], radix: u32) -> Option<u64> {
    (digits.len() <= 16).then(|| {
        digits.iter().fold(0u64, |value, digit| {
            value * u64::from(radix) + u64::from(char::from(*digit).to_digit(radix).unwrap_or(0))
        })
    })
}

fn integer(digits: &[u8]) -> Integer {
    match small_natural(digits, 10) {
        Some(small) => Integer::from(small),
        None => Integer::from(natural(digits, 10)),
    }
}

/// The value of digits with a point among or behind them.
pub(super) fn decimal(text: &[u8]) -> Rational {
    let dot = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let fraction = text.get(dot + 1..).unwrap_or(&[]);
    let digits: Vec<u8> = text[..dot].iter().chain(fraction).copied().collect();
    let denominator = match fraction.len() {
        places @ 0..=16 => Integer::from(10u64.pow(places as u32)),
        places => Integer::from(UBig::from(10u8).pow(places)),
    };
    Rational::new(integer(&digits), denominator).unwrap_or_default()
}
