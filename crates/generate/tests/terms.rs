//! Random terms over the symbols of a script: what they are made of.

use std::collections::BTreeMap;

use generate::{Config, Grammar, Scope, rng};
use smtlib::{Mode, Op, Sort, Store, parse};

/// What many terms have in them.
#[derive(Default)]
struct Made {
    operators: BTreeMap<&'static str, usize>,
    conditions: usize,
    literal: usize,
}

impl Made {
    fn share(&self, wanted: impl Fn(&str) -> bool) -> f64 {
        let all: usize = self.operators.values().sum();
        let some: usize =
            self.operators.iter().filter(|(name, _)| wanted(name)).map(|(_, count)| *count).sum();
        some as f64 / all as f64
    }

    fn most_frequent(&self) -> f64 {
        let most = self.operators.values().max().copied().unwrap_or(0);
        most as f64 / self.operators.values().sum::<usize>() as f64
    }
}

/// Terms of the sorts of the declared constants and of formulas.
fn made(logic: &str, declarations: &str) -> Made {
    let mut store = Store::new();
    let script = parse(&mut store, declarations.as_bytes(), Mode::Strict).expect(declarations).script;
    let config =
        Config { nodes: 5, sharing: 0.0, quantifiers: 0.0, leaves: 0.2, constants: 0.3, ..Config::default() };
    let grammar = Grammar::new(logic, &[], config).expect("a logic");
    let mut scope = Scope::of_script(&mut store, &script);
    let mut sorts: Vec<Sort> = scope.sorts().to_vec();
    sorts.retain(|sort| !scope.leaves(*sort).is_empty() || *sort == Sort::BOOL);
    let mut rng = rng::stream(3, 1);
    let mut made = Made::default();
    for number in 0..4_000 {
        let sort = sorts[number % sorts.len()];
        let Some(term) = grammar.term(&mut store, &mut rng, sort, &mut scope, 1 + number % 4) else {
            continue;
        };
        for part in store.subterms(&[term]) {
            let args = store.args(part);
            if let (Some(op), false) = (store.op_of(part), args.is_empty()) {
                *made.operators.entry(op.name()).or_default() += 1;
            }
            for arg in args.iter().filter(|arg| store.sort_of(**arg) == Sort::BOOL) {
                made.conditions += 1;
                made.literal += usize::from(matches!(store.op_of(*arg), Some(Op::True | Op::False)));
            }
        }
    }
    made
}

#[test]
fn no_operator_takes_over_and_conditions_are_seldom_literal() {
    for (logic, declarations, most) in [
        (
            "QF_AX",
            "(declare-sort I 0)(declare-sort E 0)(declare-const i I)(declare-const j I)(declare-const a (Array I E))",
            0.35,
        ),
        ("QF_BV", "(declare-const a (_ BitVec 8))(declare-const b (_ BitVec 8))", 0.08),
        ("QF_LIA", "(declare-const x Int)(declare-const y Int)", 0.3),
        ("QF_FP", "(declare-const x (_ FloatingPoint 8 24))(declare-const m RoundingMode)", 0.2),
        ("QF_SLIA", "(declare-const s String)(declare-const x Int)", 0.2),
    ] {
        let made = made(logic, declarations);
        assert!(made.most_frequent() < most, "{logic}: {} in {:?}", made.most_frequent(), made.operators);
        assert!(made.conditions > 100, "{logic}");
        assert!(made.literal * 5 < made.conditions, "{logic}: {} of {}", made.literal, made.conditions);
    }
}

#[test]
fn regular_expressions_are_made_of_more_than_words() {
    let made = made("QF_SLIA", "(declare-const s String)(declare-const t String)(declare-const x Int)");
    assert!(made.share(|name| name.starts_with("re.")) > 0.08, "{:?}", made.operators);
}
