//! Formulas to evaluate: random ones over Bool, Int and 64-bit vectors, and short string operations.

use eval::{Model, Value, sorts::Sorts, to_term};
use generate::{Rng, rng};
use smtlib::{Head, Op, Release, Sort, Store, Term};

/// A store with constants of the three sorts, a model for them, and random terms.
pub(super) struct Formulas {
    pub store: Store,
    pub model: Model,
    constants: Vec<Term>,
    bits: Sort,
    rng: Rng,
}

/// Constants of each sort.
const CONSTANTS: usize = 20;

impl Formulas {
    pub fn new(seed: u64) -> Formulas {
        let mut store = Store::new();
        let bits = store.bitvec(64);
        let mut formulas =
            Formulas { store, model: Model::new(), constants: Vec::new(), bits, rng: rng::stream(seed, 0) };
        for sort in [Sort::BOOL, Sort::INT, bits] {
            for number in 0..CONSTANTS {
                formulas.constant(sort, number);
            }
        }
        formulas
    }

    fn constant(&mut self, sort: Sort, number: usize) {
        let name = self.store.symbol(&format!("c{}!{number}", sort.index()));
        let fun = self.store.declare_fun(name, &[], sort);
        let value = match Sorts::new(&self.store, &self.model).random_value(sort, &mut self.rng) {
            // Numbers as people write them; sums of large ones would measure the arithmetic.
            Some(Value::Int(n)) => Value::int(n.to_i64().unwrap_or(7) % 1000),
            Some(other) => other,
            None => return,
        };
        self.model.assign(fun, value);
        if let Ok(constant) = self.store.call(fun, &[]) {
            self.constants.push(constant);
        }
    }

    /// `xor` of Boolean terms of depth 8: nothing in it ends the evaluation early.
    pub fn formula(&mut self, parts: usize) -> Term {
        let parts: Vec<Term> = (0..parts).map(|_| self.term(Sort::BOOL, 8)).collect();
        self.made(Op::Xor, &parts)
    }

    pub fn term(&mut self, sort: Sort, depth: u32) -> Term {
        let pick = self.rng.bits() as usize;
        if depth == 0 {
            let fitting: Vec<Term> =
                self.constants.iter().copied().filter(|term| self.store.sort_of(*term) == sort).collect();
            return fitting[pick % fitting.len()];
        }
        let bits = self.bits;
        let (op, of) = if sort == Sort::BOOL {
            let choices = [
                (Op::And, Sort::BOOL),
                (Op::Or, Sort::BOOL),
                (Op::Xor, Sort::BOOL),
                (Op::IntLe, Sort::INT),
                (Op::Equal, Sort::INT),
                (Op::BvUlt, bits),
                (Op::BvSle, bits),
            ];
            choices[pick % choices.len()]
        } else if sort == Sort::INT {
            ([Op::IntAdd, Op::IntSub, Op::IntAdd][pick % 3], sort)
        } else {
            ([Op::BvAdd, Op::BvMul, Op::BvAnd, Op::BvXor, Op::BvShl][pick % 5], sort)
        };
        let args = [self.term(of, depth - 1), self.term(of, depth - 1)];
        self.made(op, &args)
    }

    /// A way down from the root and a small term that fits there.
    pub fn replacement(&mut self, root: Term, depth: usize) -> (Vec<u32>, Term) {
        let mut path = Vec::new();
        let mut here = root;
        while path.len() < depth && !self.store.args(here).is_empty() {
            let child = self.rng.below(self.store.args(here).len()) as u32;
            path.push(child);
            here = self.store.args(here)[child as usize];
        }
        let sort = self.store.sort_of(here);
        (path, self.term(sort, 1))
    }

    /// Declarations of the constants, and assertions that give them their values.
    pub fn declarations(&mut self) -> String {
        let mut text = String::new();
        for constant in self.constants.clone() {
            let Head::Fun(fun) = self.store.head(constant) else { continue };
            let sort = self.store.sort_of(constant);
            let Some(value) = self.model.value(fun).cloned() else { continue };
            let Some(value) = to_term(&mut self.store, sort, &value) else { continue };
            let print = |term| smtlib::print::print_term(&self.store, term, Release::STANDARD);
            let (name, value) = (print(constant), print(value));
            let sort = self.store.sort_text(sort);
            text.push_str(&format!("(declare-const {name} {sort})\n(assert (= {name} {value}))\n"));
        }
        text
    }

    fn made(&mut self, op: Op, args: &[Term]) -> Term {
        self.store.op(op, args).expect("arguments of the operator's sorts")
    }
}

/// Concatenation, search, replacement, characters and membership on strings of a few letters.
pub(super) fn strings(store: &mut Store) -> Vec<Term> {
    let mut terms = Vec::new();
    for number in 0..64_u32 {
        let a = store.string(&[97 + number % 3, 98, 97]);
        let b = store.string(&[98, 97 + number % 5]);
        let from = store.int(i64::from(number % 4));
        let mut make = |op, args: &[Term]| store.op(op, args).expect("arguments of the operator's sorts");
        let joined = make(Op::StrConcat, &[a, b]);
        let place = make(Op::StrIndexof, &[joined, b, from]);
        let language = make(Op::StrToRe, &[b]);
        let star = make(Op::ReStar, &[language]);
        terms.push(make(Op::StrReplace, &[joined, b, a]));
        terms.push(make(Op::StrAt, &[joined, place]));
        terms.push(make(Op::StrInRe, &[joined, star]));
    }
    terms
}
