//! The sub-expressions of a skeleton, made closed: copied quantifiers go with their variables (sections IV-A and V-C).

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Binder, Head, Sort, Store, Term, Var};

/// Sub-expressions beyond this number are not looked at.
const EXPRESSIONS: usize = 4_000;

/// All sub-expressions of some formulas.
#[derive(Debug, Default)]
pub struct Expressions {
    /// Arguments before what they stand in.
    pub found: Vec<Expression>,
    scopes: Vec<Scope>,
}

/// A sub-expression where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    pub term: Term,
    /// No Boolean compound term stands inside (section V-B).
    pub leaf: bool,
    scope: usize,
}

/// The copied quantifiers around a place, outermost first.
type Scope = Vec<(Binder, Vec<Var>)>;

enum Visit {
    Enter(Term, usize),
    Leave(Term, usize),
}

impl Expressions {
    /// All quantifiers that are left in the formulas are copied. What is below other binders is not looked at: it has no meaning
    /// elsewhere.
    pub fn of(store: &Store, formulas: &[Term]) -> Expressions {
        let mut all = Expressions { scopes: vec![Vec::new()], ..Expressions::default() };
        let mut seen: FxHashSet<(Term, usize)> = FxHashSet::default();
        let mut inner: FxHashMap<Term, bool> = FxHashMap::default();
        let mut stack: Vec<Visit> = formulas.iter().rev().map(|root| Visit::Enter(*root, 0)).collect();
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Enter(term, scope) => {
                    if !seen.insert((term, scope)) || all.found.len() >= EXPRESSIONS {
                        continue;
                    }
                    match store.head(term) {
                        Head::Annotated(_) => stack.push(Visit::Enter(store.args(term)[0], scope)),
                        Head::Bind(binder, vars) if binder.is_quantifier() => {
                            stack.push(Visit::Leave(term, scope));
                            let vars = store.var_list(vars).to_vec();
                            let body = store.args(term)[0];
                            let mut inside = all.scopes[scope].clone();
                            inside.push((binder, vars));
                            all.scopes.push(inside);
                            stack.push(Visit::Enter(body, all.scopes.len() - 1));
                        }
                        Head::Bind(..) | Head::Match(_) | Head::Opaque(_) => {
                            stack.push(Visit::Leave(term, scope))
                        }
                        _ => {
                            stack.push(Visit::Leave(term, scope));
                            stack.extend(store.args(term).iter().rev().map(|arg| Visit::Enter(*arg, scope)));
                        }
                    }
                }
                Visit::Leave(term, scope) => {
                    let leaf = !has_compound_inside(store, term, &mut inner);
                    all.found.push(Expression { term, leaf, scope });
                }
            }
        }
        all
    }

    /// A predicate about an expression as a closed formula: the copied quantifiers whose variables it mentions stand
    /// round it. `None` if it mentions variables of something else.
    pub fn closed(&self, store: &mut Store, expression: &Expression, predicate: Term) -> Option<Term> {
        if !store.mentions_vars(predicate) {
            return Some(predicate);
        }
        let mut formula = predicate;
        for (binder, vars) in self.scopes[expression.scope].iter().rev() {
            let free = store.free_vars(formula);
            let vars: Vec<Var> = vars.iter().copied().filter(|var| free.contains(var)).collect();
            if !vars.is_empty() {
                formula = store.quantify(*binder, &vars, formula).ok()?;
            }
        }
        store.free_vars(formula).is_empty().then_some(formula)
    }
}

/// More than a single variable or constant.
pub fn is_compound(store: &Store, term: Term) -> bool {
    !store.args(term).is_empty() && !super::holes::is_constant(store, term)
}

/// Does a Boolean compound term stand strictly inside? `known` has the answers for smaller terms.
fn has_compound_inside(store: &Store, term: Term, known: &mut FxHashMap<Term, bool>) -> bool {
    let mut stack = vec![(term, false)];
    while let Some((term, ready)) = stack.pop() {
        if known.contains_key(&term) {
            continue;
        }
        if !ready {
            stack.push((term, true));
            stack.extend(store.args(term).iter().map(|arg| (*arg, false)));
            continue;
        }
        let inside = store.args(term).iter().any(|arg| {
            store.sort_of(*arg) == Sort::BOOL && is_compound(store, *arg)
                || known.get(arg).copied().unwrap_or(false)
        });
        known.insert(term, inside);
    }
    known.get(&term).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::super::config::Quantifiers;
    use super::super::skolems::Skolems;
    use super::*;

    /// The Boolean compound sub-expressions, closed, and whether each is a leaf.
    fn found(text: &str, quantifiers: Quantifiers) -> Vec<(String, bool)> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect(text).script;
        let formulas: Vec<Term> = script.assertions().collect();
        let skolems = Skolems::of(&mut store, &formulas, quantifiers);
        let formulas: Vec<Term> = formulas.iter().map(|formula| skolems.open(*formula)).collect();
        let all = Expressions::of(&store, &formulas);
        let mut found = Vec::new();
        for expression in &all.found {
            if store.sort_of(expression.term) == Sort::BOOL && is_compound(&store, expression.term) {
                let closed = all.closed(&mut store, expression, expression.term).expect("it can be closed");
                found.push((store.term_text(closed), expression.leaf));
            }
        }
        found
    }

    fn texts(text: &str, quantifiers: Quantifiers) -> Vec<String> {
        found(text, quantifiers).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn variables_of_quantifiers_become_constants_or_the_quantifier_is_copied() {
        let exists = "(assert (exists ((x Int)) (> x 3)))";
        assert_eq!(texts(exists, Quantifiers::Skolu), ["(> q!1 3)"]);
        assert_eq!(texts(exists, Quantifiers::Mixed), ["(> q!1 3)"]);
        let forall = "(assert (forall ((x Int)) (or (> x 3) (> x 4))))";
        let whole = "(forall ((x Int)) (or (> x 3) (> x 4)))";
        let copied = ["(forall ((x Int)) (> x 3))", "(forall ((x Int)) (> x 4))", whole, whole];
        assert_eq!(texts(forall, Quantifiers::Noskole), copied);
        assert_eq!(texts(forall, Quantifiers::Mixed), copied);
        let opened = ["(> q!1 3)", "(> q!1 4)", "(or (> q!1 3) (> q!1 4))"];
        assert_eq!(texts(forall, Quantifiers::Skolu), opened);
        assert_eq!(texts(forall, Quantifiers::Dual), opened);
        let copied = ["(exists ((x Int)) (> x 3))", "(exists ((x Int)) (> x 3))"];
        assert_eq!(texts(exists, Quantifiers::Dual), copied);
    }

    #[test]
    fn what_an_opened_quantifier_stands_in_is_free_of_it_too() {
        let text = "(declare-fun p () Bool)(declare-fun x () Int)
            (assert (or (and p (exists ((y Int)) (< y x))) (forall ((y Int)) (=> p (exists ((z Int)) (< z y))))))";
        let whole = "(or (and p (< q!1 x)) (=> p (< q!2 q!3)))";
        let opened = ["(< q!1 x)", "(and p (< q!1 x))", "(< q!2 q!3)", "(=> p (< q!2 q!3))", whole];
        assert_eq!(texts(text, Quantifiers::Skolu), opened);
        let outer = "(forall ((y Int)) (=> p (< q!2 y)))";
        let mixed = texts(text, Quantifiers::Mixed);
        assert_eq!(mixed[2..5], ["(forall ((y Int)) (< q!2 y))", outer, outer]);
        assert_eq!(mixed[5], format!("(or (and p (< q!1 x)) {outer})"));
    }

    #[test]
    fn only_quantifiers_whose_variables_are_mentioned_are_copied() {
        let text = "(declare-fun p () Int)
            (assert (forall ((x Int) (z Int)) (exists ((y Int)) (and (> x p) (> y x) (> p 0)))))";
        let copied = texts(text, Quantifiers::Noskole);
        assert_eq!(
            copied[..3],
            ["(forall ((x Int)) (> x p))", "(forall ((x Int)) (exists ((y Int)) (> y x)))", "(> p 0)",]
        );
        let mixed = texts(text, Quantifiers::Mixed);
        assert_eq!(mixed[1], "(forall ((x Int)) (> q!1 x))");
    }

    #[test]
    fn variables_of_one_name_are_kept_apart() {
        let text = "(assert (or (exists ((x Int)) (> x 3)) (exists ((x Int)) (and (> x 3) (< x 9)))))";
        let opened = texts(text, Quantifiers::Skolu);
        assert_eq!(opened[0], "(> q!1 3)");
        assert_eq!(opened[1..3], ["(> q!2 3)", "(< q!2 9)"]);
    }

    #[test]
    fn leaves_are_compound_terms_without_boolean_compound_terms_inside() {
        let text = "(declare-fun x () Int)(declare-fun p () Bool)(declare-fun f (Bool) Int)
            (assert (and (< x 2) (> (f (not p)) 3) (=> p p)))";
        let found = found(text, Quantifiers::Skolu);
        let leaves: Vec<&str> =
            found.iter().filter(|(_, leaf)| *leaf).map(|(text, _)| text.as_str()).collect();
        assert_eq!(leaves, ["(< x 2)", "(not p)", "(=> p p)"]);
    }

    #[test]
    fn nothing_below_other_binders_is_taken_out() {
        let text = "(declare-fun a () (-> Int Bool))(assert (= a (lambda ((i Int)) (> i 3))))";
        assert_eq!(texts(text, Quantifiers::Skolu), ["(= a (lambda ((i Int)) (> i 3)))"]);
    }
}
