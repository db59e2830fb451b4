//! Operators whose signature no pattern can express: what the language accepts, the evaluator computes or leaves open.

use eval::sorts::Sorts;
use eval::{Budget, Evaluator, Mode, Model};
use smtlib::theory::table;
use smtlib::{Index, Mode as Reading, Store, Term, parse};

const SORTS: [&str; 13] = [
    "Int",
    "Bool",
    "(Seq Int)",
    "(Array Int Int)",
    "(Array Int (Array Int Int))",
    "(-> Int Int)",
    "(-> Int Int Int)",
    "(Tuple Int Int)",
    "(-> (Tuple Int Int) Int Int)",
    "(Set (Tuple Int Int))",
    "(Bag (Tuple Int Int))",
    "(Nullable Int)",
    "RegLan",
];

#[test]
fn what_is_accepted_can_be_evaluated() {
    let mut store = Store::new();
    let text: String =
        SORTS.iter().enumerate().map(|(place, sort)| format!("(declare-const c{place} {sort})\n")).collect();
    let script = parse(&mut store, text.as_bytes(), Reading::Tolerant).expect("declarations").script;
    let mut model = Model::new();
    let mut terms: Vec<Term> = Vec::new();
    for fun in script.declared_funs() {
        if let Some(value) = Sorts::new(&store, &Model::new()).default_value(store.fun(fun).result) {
            model.assign(fun, value);
        }
        terms.push(store.call(fun, &[]).expect("a constant"));
    }
    let mut tuples: Vec<Vec<Term>> = vec![Vec::new()];
    let mut shorter = tuples.clone();
    for _ in 0..3 {
        shorter = shorter
            .iter()
            .flat_map(|args| terms.iter().map(move |term| [&**args, &[*term]].concat()))
            .collect();
        tuples.extend(shorter.iter().cloned());
    }
    let special: Vec<_> = table().rows().iter().filter(|row| row.special).map(|row| row.op).collect();
    let indices = [vec![], vec![Index::Number(0)], vec![Index::Number(1), Index::Number(7)]];
    let mut accepted = 0;
    for op in special {
        for args in &tuples {
            for indices in &indices {
                let mark = store.mark();
                if let Ok(term) = store.indexed(op, indices, args) {
                    accepted += 1;
                    // It may be open; it must not end us.
                    let _ = Evaluator::new(Mode::Choose, Budget::default()).evaluate(&store, &model, term);
                }
                store.reset(&mark);
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn folds_want_a_function_of_their_elements() {
    let accepted = |term: &str| {
        let text = format!(
            "(declare-const s (Seq Int))(declare-const f (Array Int (Array Int Int)))(declare-const g (Array Int Int))\
             (declare-const i Int)(declare-const b Bool)(assert (= {term} {term}))"
        );
        parse(&mut Store::new(), text.as_bytes(), Reading::Tolerant).is_ok()
    };
    for good in
        ["(seq.foldl f i s)", "(seq.mapi f i s)", "(seq.foldli (lambda ((x Int) (y Int) (z Int)) x) i i s)"]
    {
        assert!(accepted(good), "{good}");
    }
    for bad in
        ["(seq.foldl f i)", "(seq.foldl g i s)", "(seq.foldl f b s)", "(seq.foldl f i i)", "(seq.mapi f b s)"]
    {
        assert!(!accepted(bad), "{bad}");
    }
}
