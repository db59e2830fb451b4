//! What our evaluator decides by itself: assertions without symbols, and symbols with few values.
//!
//! Symbols that have too many values stay without one. The evaluator looks only as far as it must, so an assertion may be
//! false whatever they are; it is never true by accident, since what depends on them is unknown.

use eval::sorts::Sorts;
use eval::{Budget, Evaluator, Mode, Model};
use smtlib::{Command, Fun, Head, Status, Store, Term};

use crate::frame::Frame;
use crate::models::shorten;
use crate::subject::blame;

/// Values of all symbols together that are tried.
const MOST_ROWS: usize = 1 << 12;

/// Symbols that get values.
const MOST_SYMBOLS: usize = 12;

/// Evaluation steps for one row. With [`MOST_STEPS`] for all rows it is a fraction of a second.
const STEPS: u64 = 100_000;
const MOST_STEPS: u64 = 4_000_000;

/// An answer by evaluation alone, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub answer: Status,
    pub because: String,
}

/// The answer to a check, if evaluation alone gives it.
pub fn decide(store: &Store, frame: &Frame) -> Option<Decided> {
    let decided = by_values(store, frame)?;
    // Commands that we do not look into may demand more than the assertions do.
    let more = frame.script.commands.iter().any(|command| matches!(command, Command::Opaque { .. }));
    (decided.answer == Status::Unsat || !more).then_some(decided)
}

fn by_values(store: &Store, frame: &Frame) -> Option<Decided> {
    let formulas = frame.formulas();
    let mut model = Model::new();
    let mut evaluator = Evaluator::new(Mode::Given, budget(MOST_STEPS));
    match row(store, &mut evaluator, &model, &formulas) {
        Row::False(formula) => {
            let part = blame(store, &mut evaluator, &model, formula);
            let because = format!("the evaluator finds the assertion false: {}", text(store, part));
            return Some(Decided { answer: Status::Unsat, because });
        }
        Row::True => {
            let because = "the evaluator finds every assertion true".to_owned();
            return Some(Decided { answer: Status::Sat, because });
        }
        Row::Unknown => {}
    }
    let symbols = few_valued(store, &model, &formulas);
    if symbols.is_empty() {
        return None;
    }
    let sorts: Vec<_> = symbols.iter().map(|fun| store.fun(*fun).result).collect();
    let rows = Sorts::new(store, &model).combinations(&sorts, MOST_ROWS)?;
    let share = (MOST_STEPS / rows.size_hint().0.max(1) as u64).min(STEPS);
    let mut evaluator = Evaluator::new(Mode::Given, budget(share));
    let mut all_false = true;
    for values in rows {
        for (fun, value) in symbols.iter().zip(values) {
            model.assign(*fun, value);
        }
        evaluator.forget();
        match row(store, &mut evaluator, &model, &formulas) {
            Row::True => {
                let because =
                    format!("the evaluator finds values of {} that satisfy it", names(store, &symbols));
                return Some(Decided { answer: Status::Sat, because });
            }
            Row::False(_) => {}
            Row::Unknown => all_false = false,
        }
    }
    all_false.then(|| Decided {
        answer: Status::Unsat,
        because: format!(
            "the evaluator has tried all values of {}, and none satisfies it",
            names(store, &symbols)
        ),
    })
}

/// What all formulas together are under a model with gaps.
enum Row {
    True,
    /// This one is false, whatever is in the gaps.
    False(Term),
    Unknown,
}

fn row(store: &Store, evaluator: &mut Evaluator, model: &Model, formulas: &[Term]) -> Row {
    let mut unknown = false;
    for formula in formulas {
        match evaluator.holds(store, model, *formula) {
            Ok(true) => {}
            Ok(false) => return Row::False(*formula),
            Err(_) => unknown = true,
        }
    }
    if unknown { Row::Unknown } else { Row::True }
}

fn budget(steps: u64) -> Budget {
    Budget { steps, instances: MOST_ROWS, candidates: 64, ..Budget::default() }
}

/// The constants of the formulas that have few values, those with the fewest first, as far as all values can be tried.
fn few_valued(store: &Store, model: &Model, formulas: &[Term]) -> Vec<Fun> {
    let mut roots = formulas.to_vec();
    let mut found: Vec<(u64, Fun)> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(root) = roots.pop() {
        for term in store.subterms(&[root]) {
            let Head::Fun(fun) = store.head(term) else { continue };
            if !seen.insert(fun) {
                continue;
            }
            let decl = store.fun(fun);
            if let Some(definition) = &decl.definition {
                roots.push(definition.body);
            } else if decl.params.is_empty()
                && let Some(size) = Sorts::new(store, model).cardinality(decl.result)
                && size <= MOST_ROWS as u64
            {
                found.push((size, fun));
            }
        }
    }
    found.sort_unstable();
    let mut rows = 1u64;
    let fits = |(size, _): &(u64, Fun)| {
        rows = rows.saturating_mul(*size);
        rows <= MOST_ROWS as u64
    };
    found.into_iter().take(MOST_SYMBOLS).take_while(fits).map(|(_, fun)| fun).collect()
}

fn names(store: &Store, symbols: &[Fun]) -> String {
    let names: Vec<&str> = symbols.iter().map(|fun| store.name(store.fun(*fun).name)).collect();
    names.join(", ")
}

fn text(store: &Store, term: Term) -> String {
    shorten(&store.term_text(term))
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;
    use crate::frame::frames;

    fn decided(text: &str) -> Option<(Status, String)> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let frame = frames(&store, &script).pop().expect("a check");
        decide(&store, &frame).map(|decided| (decided.answer, decided.because))
    }

    fn answer(text: &str) -> Option<Status> {
        decided(text).map(|(answer, _)| answer)
    }

    #[test]
    fn assertions_without_symbols_are_decided_with_the_part_that_is_false() {
        let (answer_is, because) =
            decided("(assert (and (= 1 1) (= (* 0 0) 1)))(check-sat)").expect("an answer");
        assert_eq!(answer_is, Status::Unsat);
        assert_eq!(because, "the evaluator finds the assertion false: (= (* 0 0) 1)");
        assert_eq!(answer("(assert (= (bvadd #b01 #b11) #b00))(check-sat)"), Some(Status::Sat));
        assert_eq!(answer("(check-sat)"), Some(Status::Sat));
    }

    #[test]
    fn one_false_assertion_is_enough_whatever_the_others_need() {
        let script =
            "(declare-const x Int)(declare-fun f (Int) Int)(assert (> (f x) 2))(assert (< 2 1))(check-sat)";
        assert_eq!(answer(script), Some(Status::Unsat));
        let script = "(declare-const x Int)(assert (> x 2))(assert (< 1 2))(check-sat)";
        assert_eq!(answer(script), None, "a true assertion says nothing about another one");
        let script = "(define-fun c () Int 3)(assert (= c 4))(check-sat)";
        assert_eq!(answer(script), Some(Status::Unsat));
        let script = "(declare-const p Bool)(check-sat-assuming (p (not p)))";
        assert_eq!(answer(script), Some(Status::Unsat));
    }

    #[test]
    fn symbols_with_few_values_are_tried_out() {
        let bits = "(declare-const a (_ BitVec 4))(declare-const b (_ BitVec 4))(declare-const p Bool)";
        let script = format!("{bits}(assert (and p (= (bvmul a b) #xf) (= (bvurem a #x2) #x0)))(check-sat)");
        assert_eq!(answer(&script), Some(Status::Unsat));
        let script = format!("{bits}(assert (and p (= (bvmul a b) #xf)))(check-sat)");
        assert_eq!(answer(&script), Some(Status::Sat));
        // x is open, and only one of the values of p leaves it so.
        let open =
            "(declare-const p Bool)(declare-const x Int)(assert (or p (> x 2)))(assert (or (not p) (< x 1)))";
        assert_eq!(answer(&format!("{open}(check-sat)")), None);
        assert_eq!(answer(&format!("{open}(assert (xor p p))(check-sat)")), Some(Status::Unsat));
    }

    #[test]
    fn what_is_open_too_large_or_about_unknown_elements_is_left_to_others() {
        assert_eq!(answer("(assert (= (div 1 0) 7))(check-sat)"), None);
        assert_eq!(
            answer("(declare-const a (_ BitVec 64))(assert (= (bvmul a a) #x0000000000000003))(check-sat)"),
            None
        );
        let elements = "(declare-sort U 0)(declare-const u U)(assert (forall ((x U)) (= x u)))(check-sat)";
        assert_eq!(answer(elements), None);
        let elements = "(declare-sort U 0)(assert (exists ((x U) (y U)) (distinct x y)))(check-sat)";
        assert_eq!(answer(elements), None);
        let elements = "(declare-sort U 0)(assert (not (exists ((x U)) (= x x))))(check-sat)";
        assert_ne!(answer(elements), Some(Status::Sat));
    }
}
