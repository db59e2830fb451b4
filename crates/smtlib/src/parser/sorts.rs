//! Sorts in the source text.

use dashu_int::UBig;

use super::{Mode, Parser, SortName};
use crate::lexer::Kind;
use crate::position::ParseError;
use crate::sort::{Sort, SortKind};
use crate::symbol::Symbol;

/// Sorts nested deeper than this are refused; no real file comes near.
const DEPTH: usize = 400;

impl Parser<'_> {
    pub(super) fn sort(&mut self) -> Result<Sort, ParseError> {
        self.sort_at(0)
    }

    fn sort_at(&mut self, depth: usize) -> Result<Sort, ParseError> {
        let token = self.next()?;
        if depth > DEPTH {
            return Err(ParseError::new(token.start, "this sort is nested too deeply"));
        }
        match token.kind {
            Kind::Symbol => {
                let symbol = self.symbol_of(token);
                self.named_sort(symbol, &[], token.start)
            }
            Kind::Open => {
                let head = self.next()?;
                if head.kind != Kind::Symbol {
                    return Err(self.unexpected(head, "a sort name"));
                }
                if self.bytes(head) == b"_" {
                    return self.indexed_sort(head.start);
                }
                let name = self.symbol_of(head);
                let mut args = Vec::new();
                while self.peek()?.kind != Kind::Close {
                    args.push(self.sort_at(depth + 1)?);
                }
                self.next()?;
                self.named_sort(name, &args, head.start)
            }
            _ => Err(self.unexpected(token, "a sort")),
        }
    }

    fn indexed_sort(&mut self, offset: usize) -> Result<Sort, ParseError> {
        let name = self.expect_symbol("BitVec, FloatingPoint or FiniteField")?;
        let mut numbers = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close => break,
                Kind::Numeral => numbers.push(token),
                _ => return Err(self.unexpected(token, "a number")),
            }
        }
        let small = |parser: &Self, place: usize| -> Option<u32> {
            std::str::from_utf8(parser.bytes(*numbers.get(place)?)).ok()?.parse().ok()
        };
        let sort = match (self.store.name(name), numbers.len()) {
            ("BitVec", 1) => match small(self, 0) {
                Some(width) if width > 0 => Some(self.store.bitvec(width)),
                _ => None,
            },
            ("FloatingPoint", 2) => match (small(self, 0), small(self, 1)) {
                (Some(e), Some(s)) if e >= 2 && s >= 2 => Some(self.store.float(e, s)),
                _ => None,
            },
            ("FiniteField", 1) => {
                let order = std::str::from_utf8(self.bytes(numbers[0])).ok();
                let order = order.and_then(|text| UBig::from_str_radix(text, 10).ok());
                order
                    .filter(|order| *order > UBig::ONE)
                    .map(|order| self.store.sort(SortKind::FiniteField(Box::new(order))))
            }
            _ => return self.unknown_sort_name(name, offset),
        };
        sort.ok_or_else(|| {
            ParseError::new(offset, format!("the indices of sort {} are out of range", self.store.name(name)))
        })
    }

    fn unknown_sort_name(&mut self, name: Symbol, offset: usize) -> Result<Sort, ParseError> {
        if self.mode == Mode::Strict {
            return Err(ParseError::new(offset, format!("unknown sort '{}'", self.store.name(name))));
        }
        self.count_opaque(name);
        Ok(self.store.sort(SortKind::Opaque(name)))
    }

    /// A sort by name and arguments: the script's own sorts first, then the standard ones.
    fn named_sort(&mut self, name: Symbol, args: &[Sort], offset: usize) -> Result<Sort, ParseError> {
        if let Some(known) = self.sorts.get(&name).cloned() {
            let expected = match &known {
                SortName::Declared(decl) => self.store.sort_decl(*decl).1 as usize,
                SortName::Datatype(dt) => self.store.datatype(*dt).params.len(),
                SortName::Defined { params, .. } => params.len(),
            };
            if expected != args.len() {
                let name = self.store.name(name);
                return Err(ParseError::new(
                    offset,
                    format!("sort '{name}' takes {expected} argument(s), found {}", args.len()),
                ));
            }
            return Ok(match known {
                SortName::Declared(decl) => self.store.sort(SortKind::Declared(decl, args.into())),
                SortName::Datatype(dt) => self.store.sort(SortKind::Datatype(dt, args.into())),
                SortName::Defined { params, sort } => self.store.substitute_sort(sort, &params, args),
            });
        }
        let kind = match (self.store.name(name), args) {
            ("Bool", []) => SortKind::Bool,
            ("Int", []) => SortKind::Int,
            ("Real", []) => SortKind::Real,
            ("String", []) => SortKind::String,
            ("RegLan", []) | ("RegEx", [_]) => SortKind::RegLan,
            ("RoundingMode", []) => SortKind::RoundingMode,
            ("Float16", []) => SortKind::Float(5, 11),
            ("Float32", []) => SortKind::Float(8, 24),
            ("Float64", []) => SortKind::Float(11, 53),
            ("Float128", []) => SortKind::Float(15, 113),
            ("UnitTuple", []) => SortKind::Tuple(Box::new([])),
            ("Seq", [element]) => SortKind::Seq(*element),
            ("Set", [element]) if self.sets_are_arrays => SortKind::Array(*element, Sort::BOOL),
            ("Set" | "FiniteSet", [element]) => SortKind::Set(*element),
            ("Bag", [element]) => SortKind::Bag(*element),
            ("Nullable", [element]) => SortKind::Nullable(*element),
            ("Tuple", sorts) => SortKind::Tuple(sorts.into()),
            ("Relation", sorts) => SortKind::Set(self.store.sort(SortKind::Tuple(sorts.into()))),
            ("Table", sorts) => SortKind::Bag(self.store.sort(SortKind::Tuple(sorts.into()))),
            ("Array", [index, element]) => SortKind::Array(*index, *element),
            // Z3's arrays of several indices are curried here.
            ("Array", [first, middle @ .., element]) if !middle.is_empty() => {
                let inner =
                    middle.iter().rev().fold(*element, |inner, index| self.store.array(*index, inner));
                SortKind::Array(*first, inner)
            }
            ("->" | "=>", [params @ .., result]) if !params.is_empty() => {
                return Ok(self.store.function_sort(params, *result));
            }
            _ => return self.unknown_sort_name(name, offset),
        };
        Ok(self.store.sort(kind))
    }
}
