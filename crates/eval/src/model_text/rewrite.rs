//! Expressions of a model in the words of the reader of scripts.
//!
//! What only models contain becomes a constant: elements of declared sorts, algebraic numbers, numbers that
//! were printed rounded. String literals of old dialects are written in the standard one.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::lexer::Kind;
use smtlib::print::print_symbol;
use smtlib::{Family, Release, Sort, SortKind, Store};

use super::ModelError;
use super::tokens::{Expr, Tokens};
use crate::algebraic::{Polynomial, Real};
use crate::integer::Integer;
use crate::string::{Escapes, Str};

/// A constant that stands for something only models contain.
pub(super) enum Constant {
    /// An element of a sort, which is given as text.
    Element { name: String, sort: String },
    /// A real number; `None` if only an approximation is known.
    Number { name: String, value: Option<Real> },
}

pub(super) struct Rewriter<'t, 'a> {
    pub tokens: &'t Tokens<'a>,
    store: &'t Store,
    escapes: Escapes,
    /// Backslashes are printed as they are, so that text may look like an escape (Z3 before 4.8.13).
    plain_backslash: bool,
    /// Decimals are roundings (Yices prints exact numbers as fractions).
    rounds: bool,
    /// Names that the script or the model gives a meaning.
    pub known: FxHashSet<String>,
    /// Names of function tables that stand for arrays.
    pub tables: FxHashSet<String>,
    /// Sorts of the script by name, where a name means one sort.
    sorts: FxHashMap<String, Sort>,
    /// Names of sorts that need bars but may come without, split into words.
    broken: Vec<(Vec<String>, String)>,
    pub constants: Vec<Constant>,
    elements: FxHashMap<String, usize>,
}

impl<'t, 'a> Rewriter<'t, 'a> {
    pub fn new(
        tokens: &'t Tokens<'a>,
        store: &'t Store,
        release: Release,
        sorts: FxHashMap<String, Sort>,
    ) -> Self {
        let before = |version: &str| version.parse().is_ok_and(|version| release.version < version);
        let escapes = match release.family {
            Family::Z3 if before("4.8.11") => Escapes::LegacyZ3,
            Family::Cvc4 if before("1.8") => Escapes::LegacyCvc4,
            _ => Escapes::Standard,
        };
        let mut broken: Vec<(Vec<String>, String)> = sorts
            .keys()
            .filter(|name| name.contains(' '))
            .map(|name| (name.split(' ').map(str::to_owned).collect(), print_symbol(name)))
            .collect();
        broken.sort();
        Rewriter {
            tokens,
            store,
            escapes,
            plain_backslash: release.family == Family::Z3 && before("4.8.13"),
            rounds: release.family == Family::Yices,
            known: FxHashSet::default(),
            tables: FxHashSet::default(),
            sorts,
            broken,
            constants: Vec::new(),
            elements: FxHashMap::default(),
        }
    }

    /// Whether decimals are roundings.
    pub fn rounds(&self) -> bool {
        self.rounds
    }

    /// The declared sort of a name.
    pub fn sort(&self, name: &str) -> Option<Sort> {
        self.sorts.get(name).copied()
    }

    /// The name of the constant for an element of a sort.
    pub fn element(&mut self, name: &str, sort: &str) -> String {
        if !self.elements.contains_key(name) {
            self.elements.insert(name.to_owned(), self.constants.len());
            self.constants.push(Constant::Element { name: name.to_owned(), sort: sort.to_owned() });
        }
        print_symbol(name)
    }

    fn number(&mut self, value: Option<Real>) -> String {
        let mut number = self.constants.len();
        // A witness written from a model that we read has such names already.
        while self.known.contains(&format!("@number!{number}")) {
            number += 1;
        }
        let name = format!("@number!{number}");
        self.known.insert(name.clone());
        self.constants.push(Constant::Number { name: name.clone(), value });
        name
    }

    /// Several expressions, separated by blanks.
    pub fn all(&mut self, exprs: &[Expr]) -> Result<String, ModelError> {
        let mut out = String::new();
        if let (Some(first), Some(last)) = (exprs.first(), exprs.last()) {
            self.range(&mut out, *first, self.tokens.last(*last))?;
        }
        Ok(out)
    }

    /// One expression; its sort helps to understand a lone name.
    pub fn expr(&mut self, expr: Expr, sort: Option<Sort>) -> Result<String, ModelError> {
        if let (Some(name), Some(sort)) = (self.tokens.name(expr), sort)
            && matches!(self.store.sort_kind(sort), SortKind::Declared(..))
            && !self.known.contains(&name)
        {
            let text = self.store.sort_text(sort);
            return Ok(self.element(&name, &text));
        }
        let mut out = String::new();
        self.range(&mut out, expr, self.tokens.last(expr))?;
        Ok(out)
    }

    fn range(&mut self, out: &mut String, first: usize, last: usize) -> Result<(), ModelError> {
        let mut at = first;
        while at <= last {
            if !out.is_empty() && !out.ends_with('(') && self.tokens.kind(at) != Kind::Close {
                out.push(' ');
            }
            at = self.token(out, at)? + 1;
        }
        Ok(())
    }

    /// Writes what starts at a token and returns the last token of it.
    fn token(&mut self, out: &mut String, at: usize) -> Result<usize, ModelError> {
        let tokens = self.tokens;
        match tokens.kind(at) {
            Kind::Open => {
                if let Some(constant) = self.special(at)? {
                    out.push_str(&constant);
                    return Ok(tokens.last(at));
                }
                out.push('(');
            }
            Kind::Decimal => {
                let question = tokens.is(at + 1, "?") && tokens.offset(at + 1) == tokens.end(at);
                if question || self.rounds {
                    let name = self.number(None);
                    out.push_str(&name);
                    return Ok(if question { at + 1 } else { at });
                }
                out.push_str(&tokens.text(at));
            }
            Kind::String => {
                let text = tokens.text(at);
                let mut content = text[1..text.len() - 1].replace("\"\"", "\"");
                if self.plain_backslash && self.escapes == Escapes::Standard {
                    content = without_idle_escapes(&content);
                }
                let string = Str::from_literal(&content, self.escapes)
                    .map_err(|error| ModelError::text(tokens.offset(at), error.to_string()))?;
                out.push_str(&string.to_literal());
            }
            Kind::Symbol => return Ok(self.symbol(out, at)),
            _ => out.push_str(&tokens.text(at)),
        }
        Ok(at)
    }

    fn symbol(&mut self, out: &mut String, at: usize) -> usize {
        let tokens = self.tokens;
        let text = tokens.text(at);
        if self.rounds && text.starts_with('-') && text.contains('.') {
            let name = self.number(None);
            out.push_str(&name);
            return at;
        }
        for (words, name) in &self.broken {
            let fits = words.iter().enumerate().all(|(i, word)| tokens.bytes(at + i) == word.as_bytes());
            if fits {
                out.push_str(name);
                return at + words.len() - 1;
            }
        }
        let name = tokens.name(at).unwrap_or_default();
        if self.tables.contains(&name) {
            out.push_str(&format!("(_ as-array {})", print_symbol(&name)));
            return at;
        }
        if !self.known.contains(&name)
            && let Some(sort) = self.sort_of_element(&name)
        {
            let text = self.store.sort_text(sort);
            out.push_str(&self.element(&name, &text));
            return at;
        }
        out.push_str(&text);
        at
    }

    /// The sort that the name of an element tells: `S!val!0` (Z3), `@uc_S_0` (CVC4).
    fn sort_of_element(&self, name: &str) -> Option<Sort> {
        let of = match name.rsplit_once("!val!") {
            Some((sort, number)) => Some((sort, number)),
            None => name.strip_prefix("@uc_").and_then(|rest| rest.rsplit_once('_')),
        };
        let (sort, number) = of?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| self.sorts.get(sort).copied())?
    }

    /// Lists that stand for a constant.
    fn special(&mut self, at: usize) -> Result<Option<String>, ModelError> {
        let tokens = self.tokens;
        if tokens.is(at + 1, "_") && tokens.is(at + 2, "real_algebraic_number") {
            let text = tokens.slice(tokens.offset(at + 3), tokens.offset(tokens.last(at)));
            let value = Real::parse_cvc5(&text)
                .map_err(|error| ModelError::text(tokens.offset(at), error.to_string()))?;
            return Ok(Some(self.number(Some(value))));
        }
        if tokens.is(at + 1, "root-obj") {
            let value = self.root(at)?;
            return Ok(Some(self.number(Some(value))));
        }
        if tokens.is(at + 1, "as")
            && tokens.kind(at + 2) == Kind::Symbol
            && tokens.text(at + 2).trim_start_matches('|').starts_with('@')
        {
            // Before cvc5 1.1 names that need bars are broken into pieces: (as @|a b|_0 |a b|).
            let [_, first, .., sort] = tokens.parts(at)[..] else { return Ok(None) };
            let name = tokens.slice(tokens.offset(first), tokens.offset(sort));
            let sort = self.all(&[sort])?;
            return Ok(Some(self.element(&abstract_name(&name, &sort), &sort)));
        }
        Ok(None)
    }

    /// Z3's `(root-obj polynomial index)`.
    fn root(&self, at: usize) -> Result<Real, ModelError> {
        let tokens = self.tokens;
        let malformed = || ModelError::text(tokens.offset(at), "this is not a root of a polynomial");
        let [_, sum, index] = tokens.parts(at)[..] else { return Err(malformed()) };
        let index: usize = tokens.text(index).parse().map_err(|_| malformed())?;
        let monomials = match tokens.parts(sum).split_first() {
            Some((head, rest)) if tokens.is(*head, "+") => rest.to_vec(),
            _ => vec![sum],
        };
        let mut coefficients = Vec::new();
        for monomial in monomials {
            let (coefficient, power) = self.monomial(monomial, 4).ok_or_else(malformed)?;
            if coefficients.len() <= power {
                coefficients.resize(power + 1, Integer::ZERO);
            }
            coefficients[power] = &coefficients[power] + &coefficient;
        }
        Real::from_root_index(Polynomial::new(coefficients), index)
            .map_err(|error| ModelError::text(tokens.offset(at), error.to_string()))
    }

    /// `3`, `(- 3)`, `x`, `(^ x 2)`, `(* 3 x)`, `(- (^ x 2))`; nothing nests deeper.
    fn monomial(&self, at: usize, depth: usize) -> Option<(Integer, usize)> {
        let tokens = self.tokens;
        let depth = depth.checked_sub(1)?;
        match tokens.parts(at).as_slice() {
            [] if tokens.is(at, "x") => Some((Integer::from(1), 1)),
            [] => Some((tokens.text(at).parse().ok()?, 0)),
            [minus, inner] if tokens.is(*minus, "-") => {
                let (coefficient, power) = self.monomial(*inner, depth)?;
                Some((-&coefficient, power))
            }
            [power, x, exponent] if tokens.is(*power, "^") && tokens.is(*x, "x") => {
                let exponent: usize = tokens.text(*exponent).parse().ok()?;
                (exponent <= MAX_POWER).then_some((Integer::from(1), exponent))
            }
            [times, factor, rest] if tokens.is(*times, "*") => {
                let (factor, power) = self.monomial(*factor, depth)?;
                let (coefficient, more) = self.monomial(*rest, depth)?;
                Some((&factor * &coefficient, power + more))
            }
            _ => None,
        }
    }
}

/// What looks like the escape of a character that needs none is text: those releases print a backslash as it is.
fn without_idle_escapes(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find("\\u{") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let digits = escape[3..].split('}').next().unwrap_or_default();
        let idle = u32::from_str_radix(digits, 16).is_ok_and(|code| (0x20..0x7F).contains(&code));
        out.push_str(if idle { "\\u{5c}" } else { "\\" });
        rest = &escape[1..];
    }
    out.push_str(rest);
    out
}

/// Polynomials of higher degree are not worth the memory of their zeros.
const MAX_POWER: usize = 1 << 12;

/// The name of the constant for `(as @name SORT)`.
pub(super) fn abstract_name(name: &str, sort: &str) -> String {
    format!("(as {} {})", name.trim().replace('|', ""), sort.replace('|', ""))
}
