//! What a script says once constants are worked out: candidates that say the same mostly fare the same.

use std::hash::{Hash, Hasher};

use eval::{Evaluator, Model, to_term};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smtlib::print::print_command;
use smtlib::{Command, Head, Op, Rational, Release, Script, Store, Term};

/// Meanings of scripts that were not interesting. Whether another script of the same meaning is worth a run depends on
/// the bug: a wrong answer goes by the meaning, a crash often by the form. So the first of them are run all the same, and
/// only if none of them is interesting are later ones left out.
#[derive(Debug, Default)]
pub struct Meanings {
    failed: FxHashSet<u64>,
    /// Candidates run although their meaning had failed already, and failed too.
    confirmed: usize,
    /// One of them was interesting.
    refuted: bool,
    /// What the best script says, which has not failed whatever becomes of others that say it too.
    best: u64,
}

/// So many candidates must have fared like others of their meaning before it is relied on.
const ENOUGH: usize = 6;

impl Meanings {
    /// Whether a script need not be run.
    pub fn settle(&self, meaning: u64) -> bool {
        !self.refuted && self.confirmed >= ENOUGH && self.failed.contains(&meaning)
    }

    /// The best script says this now.
    pub fn take(&mut self, meaning: u64) {
        self.refuted |= self.failed.remove(&meaning);
        self.best = meaning;
    }

    /// A script of this meaning was not interesting.
    pub fn fail(&mut self, meaning: u64) {
        if meaning != self.best && !self.failed.insert(meaning) {
            self.confirmed += 1;
        }
    }
}

/// The script's meaning as a number that outlives the store's terms. The store has some terms more afterwards.
pub fn meaning(store: &mut Store, script: &Script) -> u64 {
    let mut hasher = FxHasher::default();
    let mut done: FxHashMap<Term, Term> = FxHashMap::default();
    let truth = store.bool(true);
    let mut roots: Vec<Term> = Vec::new();
    for command in &script.commands {
        match command {
            Command::Assert(root) => {
                let root = folded(store, *root, &mut done);
                if root != truth {
                    roots.push(root);
                    store.term_text(root).hash(&mut hasher);
                }
            }
            Command::DeclareConst(_) | Command::DeclareFun(_) => {}
            other => {
                other.terms(store, &mut roots);
                print_command(store, other, Release::STANDARD).hash(&mut hasher);
            }
        }
    }
    // Declarations count where they are used.
    let mut used: Vec<String> = Vec::new();
    for term in store.subterms(&roots) {
        if let Head::Fun(fun) = store.head(term) {
            used.push(print_command(store, &Command::DeclareFun(fun), Release::STANDARD));
        }
    }
    used.sort_unstable();
    used.dedup();
    used.hash(&mut hasher);
    hasher.finish()
}

/// The term without constants that do not matter.
fn folded(store: &mut Store, root: Term, done: &mut FxHashMap<Term, Term>) -> Term {
    for term in store.subterms(&[root]) {
        if done.contains_key(&term) {
            continue;
        }
        let args: Vec<Term> = store.args(term).iter().map(|arg| done[arg]).collect();
        let new = if args == store.args(term) { term } else { store.rebuild(term, &args).unwrap_or(term) };
        let simple = simplified(store, new).unwrap_or(new);
        done.insert(term, simple);
    }
    done[&root]
}

/// The same term in simpler words, if it has some.
fn simplified(store: &mut Store, term: Term) -> Option<Term> {
    let (yes, no) = (store.bool(true), store.bool(false));
    let args = store.args(term).to_vec();
    if let Head::Bind(binder, _) = store.head(term) {
        return (binder.is_quantifier() && (args[0] == yes || args[0] == no)).then(|| args[0]);
    }
    let op = store.op_of(term)?;
    let literal =
        |store: &Store, term: Term| term == yes || term == no || matches!(store.head(term), Head::Literal(_));
    if !args.is_empty() && args.iter().all(|arg| literal(store, *arg)) {
        let value = Evaluator::default().evaluate(store, &Model::new(), term).ok()?;
        let sort = store.sort_of(term);
        return to_term(store, sort, &value).filter(|value| literal(store, *value));
    }
    match (op, args.as_slice()) {
        (Op::And, _) => Some(joined(store, op, &args, yes, Some(no))),
        (Op::Or, _) => Some(joined(store, op, &args, no, Some(yes))),
        (Op::Not, [inner]) if store.op_of(*inner) == Some(Op::Not) => Some(store.args(*inner)[0]),
        (Op::Implies, [a, b]) if *a == yes => Some(*b),
        (Op::Implies, [a, b]) if *a == no || *b == yes => Some(yes),
        (Op::Implies, [a, b]) if *b == no => store.not(*a).ok(),
        (Op::Ite, [c, a, _]) if *c == yes => Some(*a),
        (Op::Ite, [c, _, b]) if *c == no => Some(*b),
        (Op::Ite, [_, a, b]) if a == b => Some(*a),
        (Op::Equal, [a, b]) if a == b => Some(yes),
        (Op::Equal, [a, b]) if *a == yes => Some(*b),
        (Op::Equal, [a, b]) if *b == yes => Some(*a),
        (Op::Equal, [a, b]) if *a == no => store.not(*b).ok(),
        (Op::Equal, [a, b]) if *b == no => store.not(*a).ok(),
        (Op::IntAdd, _) => {
            let zero = store.int(0);
            Some(joined(store, op, &args, zero, None))
        }
        (Op::IntMul, _) => {
            let (zero, one) = (store.int(0), store.int(1));
            Some(joined(store, op, &args, one, Some(zero)))
        }
        (Op::RealAdd, _) => {
            let zero = store.real(Rational::ZERO);
            Some(joined(store, op, &args, zero, None))
        }
        (Op::RealMul, _) => {
            let (zero, one) = (store.real(Rational::ZERO), store.real(Rational::ONE));
            Some(joined(store, op, &args, one, Some(zero)))
        }
        _ => None,
    }
}

/// An operator over those arguments that matter: not the neutral one, and nothing beside the one that decides.
fn joined(store: &mut Store, op: Op, args: &[Term], neutral: Term, decisive: Option<Term>) -> Term {
    if let Some(decisive) = decisive
        && args.contains(&decisive)
    {
        return decisive;
    }
    let kept: Vec<Term> = args.iter().copied().filter(|arg| *arg != neutral).collect();
    match kept.as_slice() {
        [] => neutral,
        [one] => *one,
        kept => store.op(op, kept).unwrap_or(neutral),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, parse};

    #[test]
    fn constants_that_do_not_matter_do_not_change_the_meaning() {
        let mut store = Store::new();
        let mut of = |assertion: &str| {
            let text = format!("(declare-const p Bool)(declare-const x Int){assertion}(check-sat)");
            let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
            // Each text declares constants of its own: compared by what is left in words.
            let mut done = FxHashMap::default();
            let roots: Vec<Term> = script.assertions().collect();
            let words: Vec<String> = roots
                .into_iter()
                .map(|root| {
                    let root = folded(&mut store, root, &mut done);
                    store.term_text(root)
                })
                .collect();
            words.join(" ")
        };
        assert_eq!(of("(assert (and p true))"), "p");
        assert_eq!(of("(assert (or p (= 1 1)))"), "true");
        assert_eq!(of("(assert (=> p (> (+ x 0 (* 1 x)) (* x 0))))"), "(=> p (> (+ x x) 0))");
        assert_eq!(
            of("(assert (forall ((y Int)) (and p (not (not (= y x))))))"),
            "(forall ((y Int)) (and p (= y x)))"
        );
    }

    #[test]
    fn scripts_of_one_meaning_have_one_number() {
        let mut store = Store::new();
        let text = "(declare-const p Bool)(assert p)(assert (and true p))(assert (or p true))(check-sat)";
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let mut without = script.clone();
        without.commands.remove(3);
        let mut other = script.clone();
        other.commands.remove(1);
        let number = meaning(&mut store, &script);
        assert_eq!(meaning(&mut store, &without), number);
        assert_ne!(meaning(&mut store, &other), number);
    }

    #[test]
    fn it_is_relied_on_after_a_while_and_never_after_a_surprise() {
        let mut meanings = Meanings::default();
        meanings.take(7);
        for _ in 0..ENOUGH {
            meanings.fail(1);
        }
        assert!(!meanings.settle(1));
        meanings.fail(1);
        assert!(meanings.settle(1) && !meanings.settle(2));
        meanings.fail(7);
        assert!(!meanings.settle(7), "the best script says it");
        meanings.take(1);
        meanings.take(7);
        meanings.fail(1);
        assert!(!meanings.settle(1));
    }
}
