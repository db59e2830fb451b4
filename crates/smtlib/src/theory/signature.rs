//! Reads the text of a row: pattern, signature and attributes of the `.ops` format.

use super::pattern::{Comparison, Constraint, Expr, SortPattern};
use super::{Alias, Arity, Row, RowText};
use crate::release::Availability;
use crate::sort::Sort;

/// Reads one row; the error says what is wrong with its text.
pub(super) fn read(text: &RowText) -> Result<Row, String> {
    let mut slots = Slots::default();
    let special = text.signature == "special";
    let (name, indices, qualified) = read_name(text.pattern, special, &mut slots)?;
    let (args, result) = if special {
        (Vec::new(), SortPattern::Fixed(Sort::BOOL))
    } else {
        read_signature(text.signature, &mut slots)?
    };
    let mut row = Row {
        op: text.op,
        variant: text.variant,
        theory: text.theory,
        name,
        indices,
        qualified,
        args,
        result,
        special,
        arity: Arity::Fixed,
        nary_extension: false,
        constraints: Vec::new(),
        partial: false,
        std27: false,
        only: None,
        in_logics: Availability::default(),
        aliases: Vec::new(),
    };
    for attribute in text.attributes {
        read_attribute(attribute.trim(), &mut row, &mut slots)?;
    }
    Ok(row)
}

fn read_attribute(attribute: &'static str, row: &mut Row, slots: &mut Slots) -> Result<(), String> {
    let (word, rest) = attribute.split_once(' ').unwrap_or((attribute, ""));
    let rest = rest.trim();
    match word {
        "left-assoc" => row.arity = Arity::LeftAssoc,
        "left-assoc-ext" => {
            row.arity = Arity::LeftAssoc;
            row.nary_extension = true;
        }
        "right-assoc" => row.arity = Arity::RightAssoc,
        "chainable" => row.arity = Arity::Chainable,
        "pairwise" => row.arity = Arity::Pairwise,
        "partial" => row.partial = true,
        "std27" => row.std27 = true,
        "only" => row.only = Some(rest.parse()?),
        "in-logics" => row.in_logics = rest.parse()?,
        "alias" => {
            let (name, native) = rest.split_once(' ').unwrap_or((rest, ""));
            row.aliases.push(Alias { name, native: native.parse()? });
        }
        "where" => {
            for constraint in rest.split(',') {
                row.constraints.push(read_constraint(constraint.trim(), slots)?);
            }
        }
        _ => return Err(format!("unknown attribute '{attribute}'")),
    }
    Ok(())
}

/// Letters used so far, in order: their place is their slot.
#[derive(Default)]
struct Slots {
    sorts: Vec<char>,
    numbers: Vec<char>,
}

fn slot(letters: &mut Vec<char>, letter: char) -> Result<u8, String> {
    let place = letters.iter().position(|known| *known == letter).unwrap_or_else(|| {
        letters.push(letter);
        letters.len() - 1
    });
    if place >= 6 { Err("more than six variables".to_owned()) } else { Ok(place as u8) }
}

type Name = (&'static str, Vec<u8>, Option<SortPattern>);

fn read_name(pattern: &'static str, special: bool, slots: &mut Slots) -> Result<Name, String> {
    if let Some(inner) = pattern.strip_prefix("(_ ").and_then(|rest| rest.strip_suffix(')')) {
        let mut words = inner.split_whitespace();
        let name = words.next().ok_or("empty pattern")?;
        if special {
            return Ok((name, Vec::new(), None));
        }
        let indices = words
            .map(|word| match single_letter(word) {
                Some(letter) if letter.is_ascii_lowercase() => slot(&mut slots.numbers, letter),
                _ => Err(format!("'{word}' is not an index variable")),
            })
            .collect::<Result<_, _>>()?;
        return Ok((name, indices, None));
    }
    if let Some(inner) = pattern.strip_prefix("(as ").and_then(|rest| rest.strip_suffix(')')) {
        let (name, sort) = inner.split_once(' ').ok_or("expected a sort after the name")?;
        let mut tokens = Tokens::new(sort);
        let sort = read_sort(&mut tokens, slots)?;
        return Ok((name, Vec::new(), Some(sort)));
    }
    Ok((pattern, Vec::new(), None))
}

fn single_letter(word: &str) -> Option<char> {
    let mut chars = word.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn read_signature(text: &str, slots: &mut Slots) -> Result<(Vec<SortPattern>, SortPattern), String> {
    let mut tokens = Tokens::new(text);
    let mut args = Vec::new();
    while tokens.peek() != Some("->") {
        args.push(read_sort(&mut tokens, slots)?);
    }
    tokens.next();
    let result = read_sort(&mut tokens, slots)?;
    match tokens.next() {
        None => Ok((args, result)),
        Some(extra) => Err(format!("unexpected '{extra}' after the result sort")),
    }
}

fn read_sort(tokens: &mut Tokens<'_>, slots: &mut Slots) -> Result<SortPattern, String> {
    let token = tokens.next().ok_or("a sort is missing")?;
    if token != "(" {
        return match (token, single_letter(token)) {
            (_, Some(letter)) if letter.is_ascii_uppercase() => {
                Ok(SortPattern::Var(slot(&mut slots.sorts, letter)?))
            }
            _ => fixed_sort(token).map(SortPattern::Fixed).ok_or_else(|| format!("unknown sort '{token}'")),
        };
    }
    let head = tokens.next().ok_or("a sort is missing")?;
    let pattern = match head {
        "BitVec" => SortPattern::BitVec(read_expr(tokens.next().ok_or("a width is missing")?, slots)?),
        "Float" => {
            let e = read_expr(tokens.next().ok_or("an exponent width is missing")?, slots)?;
            let s = read_expr(tokens.next().ok_or("a significand width is missing")?, slots)?;
            SortPattern::Float(e, s)
        }
        "FiniteField" => {
            let letter = tokens.next().and_then(single_letter).ok_or("a field variable is missing")?;
            SortPattern::FiniteField(slot(&mut slots.sorts, letter)?)
        }
        "Seq" => SortPattern::Seq(Box::new(read_sort(tokens, slots)?)),
        "Set" => SortPattern::Set(Box::new(read_sort(tokens, slots)?)),
        "Bag" => SortPattern::Bag(Box::new(read_sort(tokens, slots)?)),
        "Nullable" => SortPattern::Nullable(Box::new(read_sort(tokens, slots)?)),
        "Array" => {
            let index = read_sort(tokens, slots)?;
            SortPattern::Array(Box::new(index), Box::new(read_sort(tokens, slots)?))
        }
        "->" => {
            let mut sorts = Vec::new();
            while tokens.peek() != Some(")") {
                sorts.push(read_sort(tokens, slots)?);
            }
            let result = sorts.pop().ok_or("a function sort needs a result")?;
            SortPattern::Fun(sorts, Box::new(result))
        }
        other => return Err(format!("unknown sort '{other}'")),
    };
    match tokens.next() {
        Some(")") => Ok(pattern),
        _ => Err("expected ')'".to_owned()),
    }
}

fn fixed_sort(name: &str) -> Option<Sort> {
    Some(match name {
        "Bool" => Sort::BOOL,
        "Int" => Sort::INT,
        "Real" => Sort::REAL,
        "String" => Sort::STRING,
        "RegLan" => Sort::REGLAN,
        "RoundingMode" => Sort::ROUNDING_MODE,
        "Unit" => Sort::UNIT,
        _ => return None,
    })
}

/// Reads `i-j+1`, `m*i`, `m`, `8`: sums and differences of products, from the left.
fn read_expr(text: &str, slots: &mut Slots) -> Result<Expr, String> {
    if let Some(place) = text.rfind(['+', '-']) {
        let left = Box::new(read_expr(&text[..place], slots)?);
        let right = Box::new(read_expr(&text[place + 1..], slots)?);
        return Ok(if text.as_bytes()[place] == b'+' {
            Expr::Add(left, right)
        } else {
            Expr::Sub(left, right)
        });
    }
    if let Some((left, right)) = text.rsplit_once('*') {
        let left = Box::new(read_expr(left, slots)?);
        return Ok(Expr::Mul(left, Box::new(read_expr(right, slots)?)));
    }
    if let Ok(number) = text.parse() {
        return Ok(Expr::Num(number));
    }
    match single_letter(text) {
        Some(letter) if letter.is_ascii_lowercase() => Ok(Expr::Var(slot(&mut slots.numbers, letter)?)),
        _ => Err(format!("'{text}' is not a width")),
    }
}

fn read_constraint(text: &str, slots: &mut Slots) -> Result<Constraint, String> {
    for (sign, comparison) in [("<=", Comparison::LessEq), ("<", Comparison::Less), ("=", Comparison::Equal)]
    {
        if let Some((left, right)) = text.split_once(sign) {
            let left = read_expr(left.trim(), slots)?;
            return Ok(Constraint { left, comparison, right: read_expr(right.trim(), slots)? });
        }
    }
    Err(format!("'{text}' is not a comparison"))
}

/// Words and parentheses of a signature.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Tokens<'a> {
        Tokens { rest: text }
    }

    fn split(&self) -> Option<(&'a str, &'a str)> {
        let rest = self.rest.trim_start();
        let end = match rest.chars().next()? {
            '(' | ')' => 1,
            _ => rest.find([' ', '(', ')']).unwrap_or(rest.len()),
        };
        Some(rest.split_at(end))
    }

    fn peek(&self) -> Option<&'a str> {
        self.split().map(|(token, _)| token)
    }

    fn next(&mut self) -> Option<&'a str> {
        let (token, rest) = self.split()?;
        self.rest = rest;
        Some(token)
    }
}
