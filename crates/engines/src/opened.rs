//! The parts of a seed, and quantifiers opened: what is left of a seed that no model is known for.

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Binder, Fun, Head, Op, Store, Term};

/// Bound variables of a seed that become constants.
const CONSTANTS: usize = 64;

/// Quantifiers inside one another that are opened.
const LEVELS: usize = 8;

/// The formulas that hold together if and only if all of these do: conjunctions are taken apart, also those that are
/// denied disjunctions and implications.
pub(crate) fn conjuncts(store: &mut Store, formulas: &[Term]) -> Vec<Term> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<(Term, bool)> = FxHashSet::default();
    let mut stack: Vec<(Term, bool)> = formulas.iter().rev().map(|term| (*term, true)).collect();
    while let Some((term, asserted)) = stack.pop() {
        if !seen.insert((term, asserted)) {
            continue;
        }
        let args = store.args(term);
        match (store.head(term), asserted) {
            (Head::Op(Op::Not, _), _) => stack.push((args[0], !asserted)),
            (Head::Annotated(_), _) => stack.push((args[0], asserted)),
            (Head::Op(Op::And, _), true) | (Head::Op(Op::Or, _), false) => {
                stack.extend(args.iter().rev().map(|arg| (*arg, asserted)));
            }
            (Head::Op(Op::Implies, _), false) => {
                let last = args.len() - 1;
                stack.extend(args.iter().enumerate().rev().map(|(place, arg)| (*arg, place < last)));
            }
            (Head::Op(Op::True, _), true) | (Head::Op(Op::False, _), false) => {}
            (_, true) => found.push(term),
            (_, false) => found.extend(store.not(term)),
        }
    }
    found
}

/// Puts the bodies of quantifiers in their places, with constants for the variables. A model of the formula gives a
/// model of the result where all quantifiers stand at places with a polarity: what holds for all holds for some, and
/// what exists has a name. The constants are added to `constants`; nothing if there is no quantifier to open.
pub(crate) fn open(store: &mut Store, formula: Term, constants: &mut Vec<Fun>) -> Option<Term> {
    let mut opened = formula;
    for _ in 0..LEVELS {
        let mut bodies = FxHashMap::default();
        for quantifier in outermost(store, opened) {
            let Some(body) = body(store, quantifier, constants) else { continue };
            bodies.insert(quantifier, body);
        }
        if bodies.is_empty() {
            break;
        }
        opened = store.substitute(opened, &bodies).ok()?;
    }
    (opened != formula).then_some(opened)
}

/// The quantifiers that no other binder is around.
fn outermost(store: &Store, formula: Term) -> Vec<Term> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![formula];
    while let Some(term) = stack.pop() {
        if !store.mentions_vars(term) || !seen.insert(term) {
            continue;
        }
        match store.head(term) {
            Head::Bind(Binder::Forall | Binder::Exists, _) => found.push(term),
            Head::Bind(..) | Head::Match(_) => {}
            _ => stack.extend(store.args(term).iter().rev()),
        }
    }
    found
}

fn body(store: &mut Store, quantifier: Term, constants: &mut Vec<Fun>) -> Option<Term> {
    let Head::Bind(_, vars) = store.head(quantifier) else { return None };
    let vars = store.var_list(vars).to_vec();
    if constants.len() + vars.len() > CONSTANTS {
        return None;
    }
    let mut body = store.args(quantifier)[0];
    // Patterns are for quantifiers alone.
    while let Head::Annotated(_) = store.head(body) {
        body = store.args(body)[0];
    }
    let mut values = FxHashMap::default();
    for var in vars {
        let name = store.fresh_symbol(store.var_name(var));
        let fun = store.declare_fun(name, &[], store.var_sort(var));
        values.insert(store.var_term(var), store.call(fun, &[]).ok()?);
        constants.push(fun);
    }
    store.substitute(body, &values).ok()
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;

    fn assertions(store: &mut Store, text: &str) -> Vec<Term> {
        let script = parse(store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        script.assertions().collect()
    }

    #[test]
    fn denied_implications_and_disjunctions_are_conjunctions() {
        let mut store = Store::new();
        let text = "(declare-const p Bool)(declare-const q Bool)(declare-const r Bool)
            (assert (and p (! (not (or q (not r))) :note 1)))(assert (not (=> p q (and q r))))(assert true)";
        let formulas = assertions(&mut store, text);
        let parts = conjuncts(&mut store, &formulas);
        let parts: Vec<String> = parts.iter().map(|part| store.term_text(*part)).collect();
        assert_eq!(parts, ["p", "(not q)", "r", "q", "(not (and q r))"]);
    }

    #[test]
    fn nested_quantifiers_are_opened_without_their_patterns() {
        let mut store = Store::new();
        let text = "(declare-fun f (Int) Int)(assert (or (forall ((x Int)) (! (exists ((y Int) (x Real))
            (and (> (f y) 0) (> x 0.0))) :pattern ((f x)))) (exists ((x Int)) (= (f x) 1))))";
        let formulas = assertions(&mut store, text);
        let mut constants = Vec::new();
        let opened = open(&mut store, formulas[0], &mut constants).expect("it has quantifiers");
        assert!(!store.mentions_vars(opened));
        assert_eq!(store.term_text(opened), "(or (and (> (f y!1) 0) (> x!4 0.0)) (= (f x!3) 1))");
        assert_eq!(constants.len(), 4);
        assert_eq!(open(&mut store, opened, &mut constants), None);
    }

    #[test]
    fn a_seed_with_very_many_variables_keeps_its_quantifiers() {
        let mut store = Store::new();
        let vars: String = (0..CONSTANTS + 1).map(|number| format!("(x{number} Int)")).collect();
        let formulas = assertions(&mut store, &format!("(assert (exists ({vars}) (> x0 x1)))"));
        assert_eq!(open(&mut store, formulas[0], &mut Vec::new()), None);
    }
}
