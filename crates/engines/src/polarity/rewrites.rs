//! Stronger and weaker formulas for a given one: each rule is an implication valid in all models.

use generate::logic::Arithmetic;
use generate::{Grammar, Rng};
use smtlib::{Binder, Head, Op, Sort, SortKind, Store, Term};

/// What a formula may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// The new formula implies the old one.
    Stronger,
    /// The old formula implies the new one.
    Weaker,
}

impl Want {
    pub fn opposite(self) -> Want {
        match self {
            Want::Stronger => Want::Weaker,
            Want::Weaker => Want::Stronger,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Want::Stronger => "stronger",
            Want::Weaker => "weaker",
        }
    }
}

/// Rules `(stronger, weaker)` over the same arguments. NaN keeps `=` out of the floating-point orders.
const SAME_ARGUMENTS: &[(Op, Op)] = &[
    (Op::And, Op::Or),
    (Op::IntLt, Op::IntLe),
    (Op::IntGt, Op::IntGe),
    (Op::RealLt, Op::RealLe),
    (Op::RealGt, Op::RealGe),
    (Op::BvUlt, Op::BvUle),
    (Op::BvUgt, Op::BvUge),
    (Op::BvSlt, Op::BvSle),
    (Op::BvSgt, Op::BvSge),
    (Op::StrLt, Op::StrLe),
    (Op::FpLt, Op::FpLe),
    (Op::FpGt, Op::FpGe),
    (Op::FpEq, Op::FpLe),
    (Op::FpEq, Op::FpGe),
    (Op::StrPrefixof, Op::StrLe),
];

/// Rules for the arguments of one sort: equality above orders, orders above distinctness.
const WITH_EQUALITY: &[(Op, Sort)] = &[
    (Op::IntLe, Sort::INT),
    (Op::IntGe, Sort::INT),
    (Op::RealLe, Sort::REAL),
    (Op::RealGe, Sort::REAL),
    (Op::StrLe, Sort::STRING),
    (Op::StrPrefixof, Sort::STRING),
    (Op::StrSuffixof, Sort::STRING),
    (Op::StrContains, Sort::STRING),
];
const BV_WITH_EQUALITY: &[Op] = &[Op::BvUle, Op::BvUge, Op::BvSle, Op::BvSge];
/// Strict orders, which imply that neighbours differ.
const STRICT: &[(Op, Sort)] = &[
    (Op::IntLt, Sort::INT),
    (Op::IntGt, Sort::INT),
    (Op::RealLt, Sort::REAL),
    (Op::RealGt, Sort::REAL),
    (Op::StrLt, Sort::STRING),
];
const BV_STRICT: &[Op] = &[Op::BvUlt, Op::BvUgt, Op::BvSlt, Op::BvSgt];

/// Formulas that are stronger (or weaker) than the given one, with the names of the rules.
pub fn rewrites(
    store: &mut Store,
    grammar: &Grammar,
    rng: &mut Rng,
    term: Term,
    want: Want,
) -> Vec<(Term, &'static str)> {
    let mut found = Vec::new();
    match store.head(term) {
        Head::Bind(binder, vars) => {
            let other = match (binder, want) {
                // Sorts are never empty.
                (Binder::Exists, Want::Stronger) => Some((Binder::Forall, "exists -> forall")),
                (Binder::Forall, Want::Weaker) => Some((Binder::Exists, "forall -> exists")),
                _ => None,
            };
            if let Some((other, rule)) = other {
                let body = store.args(term).to_vec();
                found.extend(store.bind(other, vars, &body).ok().map(|new| (new, rule)));
            }
        }
        Head::Op(op, _) => {
            let args = store.args(term).to_vec();
            let mut rules = Rules { store, grammar, want, found: &mut found };
            rules.connectives(rng, op, &args);
            rules.tables(op, &args);
            rules.slack(rng, op, &args);
        }
        _ => {}
    }
    found
}

struct Rules<'a> {
    store: &'a mut Store,
    grammar: &'a Grammar,
    want: Want,
    found: &'a mut Vec<(Term, &'static str)>,
}

impl Rules<'_> {
    fn add(&mut self, op: Op, args: &[Term], rule: &'static str) {
        let core = matches!(op, Op::And | Op::Or | Op::Not | Op::Implies | Op::Equal | Op::Distinct);
        if (core || self.grammar.allows(op))
            && let Ok(new) = self.store.op(op, args)
        {
            self.found.push((new, rule));
        }
    }

    fn connectives(&mut self, rng: &mut Rng, op: Op, args: &[Term]) {
        let boolean = args.first().is_some_and(|arg| self.store.sort_of(*arg) == Sort::BOOL);
        match (op, self.want) {
            (Op::Or, Want::Stronger) | (Op::And, Want::Weaker) if args.len() > 1 => {
                let mut fewer = args.to_vec();
                fewer.remove(rng.below(args.len()));
                if let [only] = fewer[..] {
                    self.found.push((only, "one part alone"));
                } else {
                    self.add(op, &fewer, "one part less");
                }
            }
            (Op::Implies, Want::Stronger) => {
                let mut fewer = args.to_vec();
                fewer.remove(rng.below(args.len() - 1));
                if let [only] = fewer[..] {
                    self.found.push((only, "the conclusion alone"));
                } else {
                    self.add(op, &fewer, "one premise less");
                }
            }
            (Op::Xor, _) if args.len() == 2 => match self.want {
                Want::Weaker => self.add(Op::Or, args, "xor -> or"),
                Want::Stronger => {
                    if let Ok(negated) = self.store.not(args[1]) {
                        self.add(Op::And, &[args[0], negated], "xor -> and not");
                    }
                }
            },
            (Op::Equal, _) if boolean && args.len() == 2 => match self.want {
                Want::Stronger => self.add(Op::And, args, "= -> and"),
                Want::Weaker => self.add(Op::Implies, args, "= -> =>"),
            },
            (Op::Ite, _) if args.len() == 3 && self.store.sort_of(args[1]) == Sort::BOOL => match self.want {
                Want::Stronger => self.add(Op::And, &args[..2], "ite -> and"),
                Want::Weaker => self.add(Op::Or, &args[1..], "ite -> or"),
            },
            _ => {}
        }
    }

    fn tables(&mut self, op: Op, args: &[Term]) {
        for (strong, weak) in SAME_ARGUMENTS {
            match self.want {
                Want::Stronger if *weak == op => self.add(*strong, args, "a stronger operator"),
                Want::Weaker if *strong == op => self.add(*weak, args, "a weaker operator"),
                _ => {}
            }
        }
        let Some(sort) = args.first().map(|arg| self.store.sort_of(*arg)) else { return };
        let bits = matches!(self.store.sort_kind(sort), SortKind::BitVec(_));
        let binary = args.len() == 2;
        let weak: Vec<Op> = if bits {
            BV_WITH_EQUALITY.to_vec()
        } else {
            WITH_EQUALITY.iter().filter(|(_, of)| *of == sort).map(|(op, _)| *op).collect()
        };
        let strict: Vec<Op> = if bits {
            BV_STRICT.to_vec()
        } else {
            STRICT.iter().filter(|(_, of)| *of == sort).map(|(op, _)| *op).collect()
        };
        match (op, self.want) {
            (Op::Equal, Want::Weaker) if binary => {
                weak.iter().for_each(|weak| self.add(*weak, args, "= -> an order"));
            }
            (Op::Distinct, Want::Stronger) if binary => {
                strict.iter().for_each(|strict| self.add(*strict, args, "distinct -> a strict order"));
            }
            (op, Want::Stronger) if binary && weak.contains(&op) => {
                self.add(Op::Equal, args, "an order -> =")
            }
            (op, Want::Weaker) if binary && strict.contains(&op) => {
                self.add(Op::Distinct, args, "a strict order -> distinct");
            }
            _ => {}
        }
        if let ([a, b], true) = (args, binary) {
            match (op, self.want) {
                (Op::StrContains, Want::Stronger) => {
                    self.add(Op::StrPrefixof, &[*b, *a], "contains -> prefixof");
                    self.add(Op::StrSuffixof, &[*b, *a], "contains -> suffixof");
                }
                (Op::StrPrefixof | Op::StrSuffixof, Want::Weaker) => {
                    self.add(Op::StrContains, &[*b, *a], "prefixof or suffixof -> contains");
                }
                _ => {}
            }
        }
    }

    /// Orders of numbers with a positive constant added on one side.
    fn slack(&mut self, rng: &mut Rng, op: Op, args: &[Term]) {
        use Op::*;
        let [a, b] = *args else { return };
        let (add, less) = match op {
            IntLe | IntLt => (IntAdd, true),
            IntGe | IntGt => (IntAdd, false),
            RealLe | RealLt => (RealAdd, true),
            RealGe | RealGt => (RealAdd, false),
            _ => return,
        };
        let arithmetic = self.grammar.logic().arithmetic;
        if matches!(arithmetic, Arithmetic::Difference | Arithmetic::None) {
            return;
        }
        let amount = 1 + rng.below(8) as i64;
        let amount = if add == IntAdd { self.store.int(amount) } else { self.store.real(amount.into()) };
        // A larger left side makes `<=` stronger and `>=` weaker.
        let left = less == (self.want == Want::Stronger);
        let Ok(moved) = self.store.op(add, &[if left { a } else { b }, amount]) else { return };
        let args = if left { [moved, b] } else { [a, moved] };
        self.add(op, &args, "a side moved by a constant");
    }
}
