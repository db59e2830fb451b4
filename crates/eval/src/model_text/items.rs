//! The statements of a model, whatever the dialect wraps them in.

use smtlib::lexer::Kind;

use super::ModelError;
use super::tokens::{Expr, Tokens};

/// One statement. Numbers are places in the tokens.
#[derive(Debug)]
pub(super) enum Item {
    /// `(define-fun name ((x S) ...) R body)`.
    Define { at: Expr, name: String, params: Vec<Param>, result: Vec<Expr>, body: Expr },
    /// `(declare-fun S!val!0 () S)`.
    Element { name: String, sort: Vec<Expr> },
    /// `(forall ((x S)) (or (= x ...) ...))`: there are no other elements. Empty where the formula is another one.
    Closed { at: Expr, sort: Vec<Expr>, elements: Vec<String> },
    /// Yices: `(= x 1)`.
    Equation { at: Expr, name: String, value: Expr },
    /// Yices: `(function @fun_1 (type ...) (= (@fun_1 1) 2) ... (default 0))`.
    Function { at: Expr, name: String, kind: Expr, rows: Vec<(Vec<Expr>, Expr)>, default: Option<Expr> },
    /// A term with its value, as `get-value` prints them.
    Pair { term: Expr, value: Expr },
}

#[derive(Debug)]
pub(super) struct Param {
    pub name: Expr,
    pub sort: Vec<Expr>,
}

/// Words that solvers print around a model.
const ANSWERS: [&str; 5] = ["sat", "unknown", "unsat", "success", "delta-sat"];

/// All statements of the text, in order, and whether a model is there at all (it may be empty).
pub(super) fn items(tokens: &Tokens<'_>) -> Result<(Vec<Item>, bool), ModelError> {
    let mut found = Vec::new();
    let mut seen = false;
    for expr in tokens.top() {
        if !tokens.is_list(expr) {
            let answer = tokens.name(expr).is_some_and(|word| ANSWERS.contains(&word.as_str()));
            if answer {
                continue;
            }
            return Err(unexpected(tokens, expr, "a model"));
        }
        seen = true;
        let parts = tokens.parts(expr);
        match parts.first() {
            None => {}
            Some(first) if tokens.is(*first, "model") => statements(tokens, &parts[1..], &mut found)?,
            Some(first) if tokens.is_list(*first) => statements(tokens, &parts, &mut found)?,
            Some(_) => statements(tokens, &[expr], &mut found)?,
        }
    }
    Ok((found, seen))
}

fn statements(tokens: &Tokens<'_>, exprs: &[Expr], found: &mut Vec<Item>) -> Result<(), ModelError> {
    for expr in exprs {
        if let Some(item) = statement(tokens, *expr)? {
            found.push(item);
        }
    }
    Ok(())
}

fn statement(tokens: &Tokens<'_>, at: Expr) -> Result<Option<Item>, ModelError> {
    if !tokens.is_list(at) {
        return Err(unexpected(tokens, at, "a statement '(...)'"));
    }
    let parts = tokens.parts(at);
    let head = match parts.first() {
        Some(first) if tokens.kind(*first) == Kind::Symbol => tokens.text(*first),
        Some(_) => String::new(),
        None => return Ok(None),
    };
    let item = match head.as_str() {
        "define-fun" | "define-fun-rec" => define(tokens, at, &parts)?,
        "define-const" => {
            let [_, name, sort @ .., body] = parts.as_slice() else {
                return Err(unexpected(tokens, at, "a definition"));
            };
            Item::Define {
                at,
                name: symbol(tokens, *name)?,
                params: Vec::new(),
                result: sort.to_vec(),
                body: *body,
            }
        }
        "declare-fun" => {
            let [_, name, params, sort @ ..] = parts.as_slice() else {
                return Err(unexpected(tokens, at, "a declaration"));
            };
            if !tokens.parts(*params).is_empty() {
                return Ok(None);
            }
            Item::Element { name: symbol(tokens, *name)?, sort: sort.to_vec() }
        }
        "declare-const" => {
            let [_, name, sort @ ..] = parts.as_slice() else {
                return Err(unexpected(tokens, at, "a declaration"));
            };
            Item::Element { name: symbol(tokens, *name)?, sort: sort.to_vec() }
        }
        // What the script says already.
        "declare-sort"
        | "declare-datatypes"
        | "declare-datatype"
        | "declare-codatatypes"
        | "define-sort"
        | "define-funs-rec" => return Ok(None),
        "forall" => closed(tokens, at, &parts)?,
        "error" => {
            let message = parts.get(1).map_or(String::new(), |part| tokens.text(*part));
            return Err(ModelError::Solver { offset: tokens.offset(at), message });
        }
        "=" => match parts.as_slice() {
            [_, name, value] if tokens.kind(*name) == Kind::Symbol => {
                Item::Equation { at, name: symbol(tokens, *name)?, value: *value }
            }
            // (= (f 1) 2): a single value of a function; tables come with `function`.
            [_, term, value] => Item::Pair { term: *term, value: *value },
            _ => return Err(unexpected(tokens, at, "an equation")),
        },
        "function" => function(tokens, at, &parts)?,
        _ => match parts.as_slice() {
            [term, value] => Item::Pair { term: *term, value: *value },
            _ => return Err(unexpected(tokens, at, "a definition or a term with its value")),
        },
    };
    Ok(Some(item))
}

fn define(tokens: &Tokens<'_>, at: Expr, parts: &[Expr]) -> Result<Item, ModelError> {
    let [_, name, list, result @ .., body] = parts else {
        return Err(unexpected(tokens, at, "a definition"));
    };
    if !tokens.is_list(*list) {
        return Err(unexpected(tokens, *list, "the list of parameters"));
    }
    let mut params = Vec::new();
    for param in tokens.parts(*list) {
        // Old releases of Z3 print sorts without the bars they need, so a sort may be several words.
        let [name, sort @ ..] = &tokens.parts(param)[..] else {
            return Err(unexpected(tokens, param, "a parameter '(name Sort)'"));
        };
        symbol(tokens, *name)?;
        params.push(Param { name: *name, sort: sort.to_vec() });
    }
    Ok(Item::Define { at, name: symbol(tokens, *name)?, params, result: result.to_vec(), body: *body })
}

fn closed(tokens: &Tokens<'_>, at: Expr, parts: &[Expr]) -> Result<Item, ModelError> {
    let variables = parts.get(1).map_or(Vec::new(), |list| tokens.parts(*list));
    let variable = variables.first().map_or(Vec::new(), |variable| tokens.parts(*variable));
    let ([name, sort @ ..], [_, _, body]) = (variable.as_slice(), parts) else {
        return Err(unexpected(tokens, at, "a cardinality constraint"));
    };
    if variables.len() != 1 || sort.is_empty() {
        return Err(unexpected(tokens, at, "a cardinality constraint"));
    }
    let name = symbol(tokens, *name)?;
    let body_parts = tokens.parts(*body);
    let equations = match body_parts.as_slice() {
        [word, equations @ ..] if tokens.is(*word, "or") => equations,
        _ => std::slice::from_ref(body),
    };
    let element = |equation: &Expr| match tokens.parts(*equation).as_slice() {
        [word, left, right] if tokens.is(*word, "=") => match (tokens.name(*left), tokens.name(*right)) {
            (Some(left), Some(right)) if left == name => Some(right),
            (Some(left), Some(right)) if right == name => Some(left),
            _ => None,
        },
        _ => None,
    };
    let elements = equations.iter().map(element).collect::<Option<Vec<String>>>().unwrap_or_default();
    Ok(Item::Closed { at, sort: sort.to_vec(), elements })
}

fn function(tokens: &Tokens<'_>, at: Expr, parts: &[Expr]) -> Result<Item, ModelError> {
    let [_, name, kind, rest @ ..] = parts else {
        return Err(unexpected(tokens, at, "a function table"));
    };
    let [word, kind] = tokens.parts(*kind)[..] else {
        return Err(unexpected(tokens, *kind, "the type of the function"));
    };
    if !tokens.is(word, "type") {
        return Err(unexpected(tokens, word, "'type'"));
    }
    let mut rows = Vec::new();
    let mut default = None;
    for row in rest {
        match tokens.parts(*row)[..] {
            [word, value] if tokens.is(word, "default") => default = Some(value),
            [word, call, value] if tokens.is(word, "=") && tokens.is_list(call) => {
                let args = tokens.parts(call);
                rows.push((args[1.min(args.len())..].to_vec(), value));
            }
            _ => return Err(unexpected(tokens, *row, "a row of the function table")),
        }
    }
    Ok(Item::Function { at, name: symbol(tokens, *name)?, kind, rows, default })
}

fn symbol(tokens: &Tokens<'_>, expr: Expr) -> Result<String, ModelError> {
    tokens.name(expr).ok_or_else(|| unexpected(tokens, expr, "a name"))
}

fn unexpected(tokens: &Tokens<'_>, expr: Expr, expected: &str) -> ModelError {
    let start = tokens.offset(expr);
    let text = tokens.slice(start, tokens.end(tokens.last(expr)));
    let short: String = text.chars().take(40).collect();
    ModelError::text(start, format!("expected {expected}, found '{short}'"))
}
