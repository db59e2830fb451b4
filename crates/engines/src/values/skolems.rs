//! Formulas with their quantifiers opened: the body in the quantifier's place, constants in the variables' (section V-C).

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Binder, Fun, Head, Op, Store, Term, Var};

use super::config::Quantifiers;

/// What became of the quantifiers of some formulas, whatever their polarity.
#[derive(Debug, Default)]
pub struct Skolems {
    /// Constants that stand for variables of quantifiers.
    pub constants: Vec<Fun>,
    /// Terms with an opened quantifier in them, and what stands there now.
    opened: FxHashMap<Term, Term>,
}

impl Skolems {
    /// Quantifiers below other binders stay: these are not looked into.
    pub fn of(store: &mut Store, formulas: &[Term], quantifiers: Quantifiers) -> Skolems {
        let mut all = Skolems::default();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut stack: Vec<(Term, bool)> = formulas.iter().rev().map(|root| (*root, false)).collect();
        while let Some((term, ready)) = stack.pop() {
            if ready {
                if let Some(new) = all.rewritten(store, term, quantifiers).filter(|new| *new != term) {
                    all.opened.insert(term, new);
                }
            } else if seen.insert(term) && is_looked_into(store, term) {
                stack.push((term, true));
                stack.extend(store.args(term).iter().rev().map(|arg| (*arg, false)));
            }
        }
        all
    }

    /// The formula with its quantifiers opened.
    pub fn open(&self, formula: Term) -> Term {
        self.opened.get(&formula).copied().unwrap_or(formula)
    }

    /// What else has this truth value wherever the formula has it: the instance of what is said of all values. `None` for
    /// anything else, and where something inside that exists would need a value of its own.
    pub fn instance(&self, store: &Store, formula: Term, truth: bool) -> Option<Term> {
        let says_all = if truth { Binder::Forall } else { Binder::Exists };
        let mut body = formula;
        loop {
            match store.head(body) {
                Head::Bind(binder, _) if binder == says_all => body = store.args(body)[0],
                Head::Annotated(_) => body = store.args(body)[0],
                _ => break,
            }
        }
        (body != formula && !self.opened.contains_key(&body)).then(|| self.opened.get(&formula).copied())?
    }

    /// The formulas that have a known truth value where others are true: these, their conjuncts, and their instances, with their
    /// quantifiers opened.
    pub fn settled(&self, store: &Store, formulas: &[Term]) -> FxHashMap<Term, bool> {
        let mut settled: FxHashMap<Term, bool> = FxHashMap::default();
        let mut left: Vec<(Term, bool)> = formulas.iter().map(|formula| (*formula, true)).collect();
        while let Some((formula, truth)) = left.pop() {
            // What exists need not be the value that a constant has.
            if !self.opened.contains_key(&formula) {
                settled.insert(formula, truth);
            }
            left.extend(self.instance(store, formula, truth).map(|instance| (instance, truth)));
            match (store.op_of(formula), truth) {
                (Some(Op::Not), _) => left.extend(store.args(formula).iter().map(|arg| (*arg, !truth))),
                (Some(Op::And), true) | (Some(Op::Or), false) => {
                    left.extend(store.args(formula).iter().map(|arg| (*arg, truth)));
                }
                _ => {}
            }
        }
        settled
    }

    /// A term whose arguments are done.
    fn rewritten(&mut self, store: &mut Store, term: Term, quantifiers: Quantifiers) -> Option<Term> {
        match store.head(term) {
            Head::Bind(binder, vars) if skolemises(quantifiers, binder) => {
                let vars = store.var_list(vars).to_vec();
                let mut body = self.open(store.args(term)[0]);
                // Patterns are for quantifiers alone.
                while let Head::Annotated(_) = store.head(body) {
                    body = store.args(body)[0];
                }
                self.instantiated(store, body, &vars)
            }
            _ => {
                let args: Vec<Term> = store.args(term).iter().map(|arg| self.open(*arg)).collect();
                if args == store.args(term) { None } else { store.rebuild(term, &args).ok() }
            }
        }
    }

    /// The body of a quantifier with fresh constants for its variables.
    fn instantiated(&mut self, store: &mut Store, body: Term, vars: &[Var]) -> Option<Term> {
        let mut values = FxHashMap::default();
        for var in vars {
            let name = store.fresh_name("q");
            let fun = store.declare_fun(name, &[], store.var_sort(*var));
            values.insert(store.var_term(*var), store.call(fun, &[]).ok()?);
            self.constants.push(fun);
        }
        store.substitute(body, &values).ok()
    }
}

fn skolemises(quantifiers: Quantifiers, binder: Binder) -> bool {
    match quantifiers {
        Quantifiers::Skolu => binder.is_quantifier(),
        Quantifiers::Noskole => false,
        Quantifiers::Mixed => binder == Binder::Exists,
        Quantifiers::Dual => binder == Binder::Forall,
    }
}

fn is_looked_into(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Bind(binder, _) => binder.is_quantifier(),
        Head::Match(_) | Head::Opaque(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;

    fn assertions(store: &mut Store, text: &str) -> Vec<Term> {
        let script = parse(store, text.as_bytes(), Mode::Strict).expect(text).script;
        script.assertions().collect()
    }

    fn opened(text: &str, quantifiers: Quantifiers) -> String {
        let mut store = Store::new();
        let formulas = assertions(&mut store, text);
        let skolems = Skolems::of(&mut store, &formulas, quantifiers);
        store.term_text(skolems.open(formulas[0]))
    }

    #[test]
    fn the_body_stands_in_the_place_of_its_quantifier() {
        let text = "(declare-fun p () Bool)(declare-fun x () Int)
            (assert (and p (exists ((y Int)) (and (< y x) (forall ((z Int)) (< z y))))))";
        assert_eq!(opened(text, Quantifiers::Skolu), "(and p (and (< q!2 x) (< q!1 q!2)))");
        assert_eq!(opened(text, Quantifiers::Mixed), "(and p (and (< q!1 x) (forall ((z Int)) (< z q!1))))");
        assert_eq!(opened(text, Quantifiers::Dual), "(and p (exists ((y Int)) (and (< y x) (< q!1 y))))");
        let noskole = "(and p (exists ((y Int)) (and (< y x) (forall ((z Int)) (< z y)))))";
        assert_eq!(opened(text, Quantifiers::Noskole), noskole);
    }

    #[test]
    fn patterns_go_with_their_quantifier_and_a_variable_of_the_same_name_keeps_its_own_binder() {
        let text = "(declare-fun f (Int) Int)
            (assert (exists ((x Int)) (! (and (> (f x) 0) (forall ((x Int)) (> x (f x)))) :pattern ((f x)))))";
        assert_eq!(
            opened(text, Quantifiers::Mixed),
            "(and (> (f q!1) 0) (forall ((x!1 Int)) (> x!1 (f x!1))))"
        );
        assert_eq!(opened(text, Quantifiers::Skolu), "(and (> (f q!2) 0) (> q!1 (f q!1)))");
    }

    #[test]
    fn quantifiers_below_other_binders_stay() {
        let text = "(declare-fun a () (-> Int Bool))
            (assert (exists ((z Int)) (= a (lambda ((i Int)) (exists ((j Int)) (> i j z))))))";
        assert_eq!(
            opened(text, Quantifiers::Skolu),
            "(= a (lambda ((i Int)) (exists ((j Int)) (> i j q!1))))"
        );
    }

    #[test]
    fn what_is_said_of_all_values_is_settled_of_the_constants_and_what_exists_is_not() {
        let mut store = Store::new();
        let text = "(declare-fun p () Bool)(declare-fun x () Int)
            (assert (and p (forall ((y Int)) (! (forall ((z Int)) (and (< y x) (< z y))) :pattern ((+ x y))))))
            (assert (exists ((y Int)) (< y 1)))(assert (not (exists ((y Int)) (= y 2))))
            (assert (forall ((y Int)) (exists ((z Int)) (= y z))))";
        let formulas = assertions(&mut store, text);
        let skolems = Skolems::of(&mut store, &formulas, Quantifiers::Skolu);
        let settled = skolems.settled(&store, &formulas);
        let mut settled: Vec<String> =
            settled.iter().map(|(term, truth)| format!("{} {truth}", store.term_text(*term))).collect();
        settled.sort();
        let expected = [
            "(< q!1 q!2) true",
            "(< q!2 x) true",
            "(= q!4 2) false",
            "(and (< q!2 x) (< q!1 q!2)) true",
            "p true",
        ];
        assert_eq!(settled, expected);
    }
}
