//! Definitions by recursion: which of them surely define a function.
//!
//! `define-fun-rec` says that an equation holds for all arguments. Some equations have no solution, as that of
//! `(define-fun-rec f ((x Int)) Int (+ 1 (f x)))`, and a script with such a definition has no model, whatever it asserts
//! and whether the function is used or not. Others have several. An equation has exactly one solution if every call in
//! the body is on arguments that are smaller than the function's own in a well-founded order. That is what is looked for
//! here, for all arguments and not only for those that the script uses:
//!
//! - `calls` lists the calls of a body, each with what is known to hold where it stands
//! - `linear` has sums of integer terms and what follows from the conditions on the way
//! - `measure` compares the arguments of a call with the function's own
//!
//! Functions that call each other are looked at together. Several measures may be combined lexicographically. What is not
//! seen to descend counts as not well-founded.

mod calls;
mod linear;
mod measure;

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Fun, Head, Index, Store, Term};

use calls::{Call, calls};
use measure::{Comparison, measures};

/// Those of the functions whose definition cannot be seen to be well-founded, in the same order. Functions that only call
/// such functions are not among them.
pub fn unproven(store: &Store, funs: &[Fun]) -> Vec<Fun> {
    let mut graph = CallGraph::default();
    let mut known: FxHashMap<Fun, bool> = FxHashMap::default();
    let mut found = Vec::new();
    for fun in funs {
        let proven = match known.get(fun) {
            Some(proven) => *proven,
            None => {
                let group = graph.group(store, *fun);
                let proven = group.is_empty() || descends(store, &group).unwrap_or(false);
                known.extend(group.iter().map(|member| (*member, proven)));
                proven
            }
        };
        if !proven {
            found.push(*fun);
        }
    }
    found
}

/// All functions that the terms mention, directly or through definitions.
pub fn mentioned(store: &Store, roots: &[Term]) -> FxHashSet<Fun> {
    let mut graph = CallGraph::default();
    let direct = mentioned_directly(store, roots);
    graph.reachable(store, direct)
}

/// Which function mentions which in its body.
#[derive(Default)]
struct CallGraph {
    callees: FxHashMap<Fun, Vec<Fun>>,
}

impl CallGraph {
    fn callees(&mut self, store: &Store, fun: Fun) -> &[Fun] {
        self.callees.entry(fun).or_insert_with(|| match &store.fun(fun).definition {
            Some(definition) => mentioned_directly(store, &[definition.body]),
            None => Vec::new(),
        })
    }

    /// The functions themselves and all they mention.
    fn reachable(&mut self, store: &Store, start: Vec<Fun>) -> FxHashSet<Fun> {
        let mut seen: FxHashSet<Fun> = FxHashSet::default();
        let mut open = start;
        while let Some(fun) = open.pop() {
            if seen.insert(fun) {
                open.extend_from_slice(self.callees(store, fun));
            }
        }
        seen
    }

    /// The functions that a function calls and that call it; it is one of them if it calls itself, and without recursion
    /// there is none.
    fn group(&mut self, store: &Store, fun: Fun) -> Vec<Fun> {
        let below = self.callees(store, fun).to_vec();
        let below = self.reachable(store, below);
        if !below.contains(&fun) {
            return Vec::new();
        }
        let mut group: Vec<Fun> = below
            .into_iter()
            .filter(|other| {
                let start = self.callees(store, *other).to_vec();
                *other == fun || self.reachable(store, start).contains(&fun)
            })
            .collect();
        group.sort_unstable();
        group
    }
}

fn mentioned_directly(store: &Store, roots: &[Term]) -> Vec<Fun> {
    let mut found = FxHashSet::default();
    for term in store.subterms(roots) {
        match store.head(term) {
            Head::Fun(fun) => _ = found.insert(fun),
            Head::Op(_, indices) => found.extend(index_funs(store, indices)),
            _ => {}
        }
    }
    let mut found: Vec<Fun> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Functions among the indices of an operator, as in `(_ as-array f)`.
fn index_funs(store: &Store, indices: smtlib::Indices) -> impl Iterator<Item = Fun> + '_ {
    store.index_list(indices).iter().filter_map(|index| match index {
        Index::Fun(fun) => Some(*fun),
        _ => None,
    })
}

/// Does every call inside the group descend in a lexicographic combination of measures? `None` if the calls cannot be
/// listed.
fn descends(store: &Store, group: &[Fun]) -> Option<bool> {
    let mut open: Vec<Call> = calls(store, group)?;
    let mut measures = measures(store, group);
    while !open.is_empty() {
        // A measure that no call raises, and that some call lowers: the others remain.
        let useful = measures.iter().position(|measure| {
            let compared = open.iter().map(|call| measure.compare(store, group, call));
            let mut lowered = false;
            compared.into_iter().all(|comparison| {
                lowered |= comparison == Comparison::Less;
                comparison != Comparison::Unknown
            }) && lowered
        });
        let Some(useful) = useful else { return Some(false) };
        let measure = measures.swap_remove(useful);
        open.retain(|call| measure.compare(store, group, call) != Comparison::Less);
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Command, Mode, parse};

    /// Names of the functions that are not proven, of all that the script defines by recursion.
    fn unproven_in(text: &str) -> Vec<String> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        let mut funs = Vec::new();
        for command in &script.commands {
            match command {
                Command::DefineFunRec(fun) => funs.push(*fun),
                Command::DefineFunsRec(group) => funs.extend_from_slice(group),
                _ => {}
            }
        }
        assert!(!funs.is_empty(), "{text}");
        unproven(&store, &funs).into_iter().map(|fun| store.name(store.fun(fun).name).to_owned()).collect()
    }

    const LIST: &str = "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))";
    const TREES: &str =
        "(declare-datatypes ((T 0) (F 0)) (((leaf) (node (kids F))) ((none) (some (first T) (rest F)))))";

    #[track_caller]
    fn proven(text: &str) {
        let text = format!("{LIST}{TREES}{text}");
        assert_eq!(unproven_in(&text), Vec::<String>::new(), "{text}");
    }

    #[track_caller]
    fn refused(text: &str) {
        let text = format!("{LIST}{TREES}{text}");
        assert_ne!(unproven_in(&text), Vec::<String>::new(), "{text}");
    }

    #[test]
    fn a_definition_without_recursion_is_well_founded() {
        proven("(define-fun-rec f ((x Int)) Int (+ x 1))");
        proven("(define-fun-rec c () Int 5)");
        proven("(define-funs-rec ((f ((x Int)) Int) (g ((x Int)) Int)) ((g (+ x 1)) 7))");
    }

    #[test]
    fn equations_without_a_solution_are_refused() {
        refused("(define-fun-rec f ((x Int)) Int (+ 1 (f x)))");
        refused("(define-fun-rec c () Int (+ c 1))");
        refused("(define-fun-rec b () Bool (not b))");
        refused("(define-fun-rec f ((x Int)) Int (ite (<= x 0) 0 (+ (f x) x)))");
        refused("(define-funs-rec ((f ((x Int)) Int) (g ((x Int)) Int)) ((+ 1 (g x)) (f x)))");
    }

    #[test]
    fn integers_descend_to_a_bound_that_the_conditions_give() {
        proven("(define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (* n (f (- n 1)))))");
        proven("(define-fun-rec f ((n Int)) Int (+ n (ite (> n 0) (f (- n 1)) 0)))");
        proven("(define-fun-rec f ((n Int)) Int (ite (< n (- 5)) 1 (f (+ n (- 2)))))");
        proven("(define-fun-rec f ((n Int)) Bool (ite (< n 0) false (ite (= n 0) true (f (- n 2)))))");
        proven("(define-fun-rec f ((n Int)) Bool (or (<= n 0) (f (- n 1))))");
        proven("(define-fun-rec f ((n Int)) Bool (and (> n 0) (not (f (- n 1)))))");
        proven("(define-fun-rec f ((n Int)) Bool (=> (> n 0) (f (- n 1))))");
        proven("(define-fun-rec up ((n Int)) Int (ite (>= n 100) n (up (+ n 1))))");
        proven("(define-fun-rec f ((x Int) (y Int)) Int (ite (< y x) 0 (+ x (f (+ 1 x) y))))");
        proven("(define-fun-rec f ((n Int)) Int (ite (<= n 0) 0 (f (div n 2))))");
        proven("(define-fun-rec gcd ((a Int) (b Int)) Int (ite (<= b 0) a (gcd b (mod a b))))");
        proven("(define-fun-rec f ((n Int)) Int (ite (> n 0) (f (- 7)) 0))");
    }

    #[test]
    fn integers_that_may_pass_their_bound_are_refused() {
        // Nothing holds the negative numbers.
        refused("(define-fun-rec f ((n Int)) Int (ite (= n 0) 1 (* n (f (- n 1)))))");
        refused("(define-fun-rec f ((n Int)) Bool (or (= n 0) (f (- n 1))))");
        refused("(define-fun-rec f ((n Int)) Int (ite (<= n 0) (f (- n 1)) 1))");
        refused("(define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (f (+ n 1))))");
        refused("(define-fun-rec f ((n Int)) Int (ite (< n 0) 0 (f (div n 2))))");
        refused("(define-fun-rec f ((n Int)) Int (ite (<= n 0) 0 (f (div n (- 2)))))");
        refused("(define-fun-rec f ((n Int) (k Int)) Int (ite (<= n k) 0 (f (- n 1) (- k 1))))");
        // Reals descend for ever.
        refused("(define-fun-rec f ((x Real)) Real (ite (<= x 0.0) 0.0 (f (/ x 2.0))))");
        // The condition comes after the call, or stands beside it.
        refused("(define-fun-rec f ((n Int)) Bool (and (f (- n 1)) (> n 0)))");
        refused("(define-fun-rec f ((n Int)) Bool (xor (> n 0) (f (- n 1))))");
        refused("(define-fun-rec f ((n Int)) Int (+ (ite (> n 0) 1 0) (f (- n 1))))");
    }

    #[test]
    fn datatypes_descend_through_selectors_of_the_right_constructor() {
        proven("(define-fun-rec len ((l L)) Int (ite ((_ is cons) l) (+ 1 (len (tail l))) 0))");
        proven("(define-fun-rec len ((l L)) Int (ite ((_ is nil) l) 0 (+ 1 (len (tail l)))))");
        proven("(define-fun-rec len ((l L)) Int (ite (= l nil) 0 (+ 1 (len (tail l)))))");
        proven("(define-fun-rec len ((l L)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))");
        proven("(define-fun-rec app ((x L) (y L)) L (match x (((cons h t) (cons h (app t y))) (nil y))))");
        proven(
            "(define-fun-rec f ((l L)) Int (ite (and ((_ is cons) l) ((_ is cons) (tail l))) (f (tail (tail l))) 0))",
        );
        proven(
            "(define-fun-rec f ((l L)) Int (ite (and ((_ is cons) l) ((_ is cons) (tail l))) \
             (f (cons (head (tail l)) (tail (tail l)))) 0))",
        );
        proven(
            "(define-funs-rec ((t ((x T)) Int) (f ((x F)) Int)) \
             ((match x ((leaf 1) ((node k) (f k)))) (match x ((none 0) ((some a r) (+ (t a) (f r)))))))",
        );
    }

    #[test]
    fn a_selector_of_the_wrong_constructor_is_any_value() {
        refused("(define-fun-rec len ((l L)) Int (+ 1 (len (tail l))))");
        refused("(define-fun-rec len ((l L)) Int (ite ((_ is nil) l) (len (tail l)) 0))");
        refused("(define-fun-rec f ((l L)) Int (ite ((_ is cons) l) (f (tail (tail l))) 0))");
        refused("(define-fun-rec f ((l L)) Int (ite ((_ is cons) l) (f (cons 0 (tail l))) 0))");
        refused("(define-fun-rec f ((l L)) Int (match l ((nil 0) ((cons h t) (f l)))))");
        refused("(define-fun-rec f ((l L)) Int (ite ((_ is cons) l) (f (cons (head l) (tail l))) 0))");
        refused("(define-fun-rec f ((l L)) Int (ite ((_ is cons) l) (f (cons 1 (tail (tail l)))) 0))");
    }

    #[test]
    fn values_of_codatatypes_do_not_end() {
        let text = "(declare-codatatypes ((S 0)) (((end) (next (value Int) (more S)))))
            (define-fun-rec f ((s S)) Int (ite ((_ is next) s) (f (more s)) 0))";
        assert_eq!(unproven_in(text), ["f"]);
    }

    #[test]
    fn strings_and_sequences_descend_by_length() {
        proven(
            "(define-fun-rec f ((s String)) Int (ite (= s \"\") 0 (+ 1 (f (str.substr s 1 (- (str.len s) 1))))))",
        );
        proven(
            "(define-fun-rec f ((s (Seq Int))) Int \
             (ite (> (seq.len s) 0) (+ 1 (f (seq.extract s 1 (- (seq.len s) 1)))) 0))",
        );
        refused("(define-fun-rec f ((s String)) Int (ite (= s \"\") 0 (f (str.substr s 0 (str.len s)))))");
        refused("(define-fun-rec f ((s String)) Int (f (str.substr s 1 (str.len s))))");
        refused("(define-fun-rec f ((s String)) Int (ite (= s \"a\") 0 (f (str.substr s 1 5))))");
    }

    #[test]
    fn measures_combine_lexicographically() {
        proven(
            "(define-fun-rec a ((m Int) (n Int)) Int (ite (<= m 0) (+ n 1) \
             (ite (<= n 0) (a (- m 1) 1) (a (- m 1) (a m (- n 1))))))",
        );
        proven(
            "(define-fun-rec merge ((x L) (y L)) L (ite (= x nil) y (ite (= y nil) x \
             (ite (< (head x) (head y)) (cons (head x) (merge (tail x) y)) (cons (head y) (merge x (tail y)))))))",
        );
        refused(
            "(define-fun-rec f ((m Int) (n Int)) Int \
             (ite (or (<= m 0) (<= n 0)) 0 (+ (f (- m 1) (+ n 1)) (f (+ m 1) (- n 1)))))",
        );
    }

    #[test]
    fn calls_that_cannot_be_followed_are_refused() {
        // Under a binder.
        refused(
            "(define-fun-rec f ((n Int)) Bool (ite (<= n 0) true (exists ((n Int)) (and (> n 0) (f (- n 1))))))",
        );
        refused("(define-fun-rec f ((n Int)) Bool (and (> n 0) (forall ((k Int)) (f (- k 1)))))");
        // A name that hides a parameter.
        refused(
            "(declare-datatypes ((B 0)) (((box (n Int) (inner L)))))
             (define-fun-rec f ((b B) (n Int)) Int (ite (<= n 0) 0 (match b (((box n l) (f b (- n 1)))))))",
        );
        // As a function value.
        refused("(define-fun-rec f ((n Int)) Int (ite (<= n 0) 0 (select (_ as-array f) (- n 1))))");
    }

    #[test]
    fn only_the_group_that_fails_is_named() {
        let text = "(define-fun-rec good ((n Int)) Int (ite (<= n 0) 0 (good (- n 1))))
            (define-fun-rec bad ((n Int)) Int (+ 1 (bad n)))
            (define-fun-rec user ((n Int)) Int (bad (good n)))";
        assert_eq!(unproven_in(text), ["bad"]);
    }

    #[test]
    fn a_deep_body_neither_overflows_nor_takes_for_ever() {
        let (open, close) = ("(ite (> n 0) ".repeat(20_000), " 0)".repeat(20_000));
        refused(&format!("(define-fun-rec f ((n Int)) Int {open}(f (- n 1)){close})"));
    }
}
