//! Fusion functions with their inversions (Winterer, Zhang, Su: Validating SMT Solvers via Semantic Fusion, PLDI 2020).
//!
//! For z = f(x, y) the inversions give x and y back: `r_x = x` and `r_y = y` whenever z = f(x, y), for *all* x and y.
//! The paper's products x·y with the inversion z div y are left out, since they fail where a factor is zero; products
//! here have a constant factor that can be undone (not zero, for bit-vectors odd).

use dashu_int::UBig;
use generate::{Grammar, Rng};
use smtlib::{Fun, Index, Op, Rational, Sort, SortKind, Store, Term};

/// Two variables fused into a third.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    pub x: Term,
    pub y: Term,
    /// The fresh variable.
    pub fun: Fun,
    pub z: Term,
    /// f(x, y).
    pub forward: Term,
    pub x_back: Term,
    pub y_back: Term,
    pub rule: &'static str,
}

/// Has the sort fusion functions?
pub(super) fn is_fusible(store: &Store, grammar: &Grammar, sort: Sort) -> bool {
    match store.sort_kind(sort) {
        SortKind::Bool | SortKind::Int | SortKind::Real | SortKind::String | SortKind::BitVec(_) => true,
        SortKind::FiniteField(_) => grammar.allows(Op::FfAdd),
        SortKind::Seq(_) => grammar.allows(Op::SeqConcat),
        _ => false,
    }
}

/// Fuses two variables of the same sort with a function chosen at random.
pub(super) fn fuse(store: &mut Store, rng: &mut Rng, x: Term, y: Term) -> Option<Fused> {
    let sort = store.sort_of(x);
    match store.sort_kind(sort).clone() {
        SortKind::Bool => Fusion::new(store, x, y, sort).boolean(),
        SortKind::Int => Fusion::new(store, x, y, sort).integer(rng),
        SortKind::Real => Fusion::new(store, x, y, sort).real(rng),
        SortKind::String => Fusion::new(store, x, y, sort).string(rng),
        SortKind::Seq(_) => Fusion::new(store, x, y, sort).sequence(),
        SortKind::BitVec(width) if rng.chance(0.15) => {
            let wide = store.bitvec(2 * width);
            Fusion::new(store, x, y, wide).concat(width)
        }
        SortKind::BitVec(width) => Fusion::new(store, x, y, sort).bitvector(rng, width),
        SortKind::FiniteField(_) => Fusion::new(store, x, y, sort).field(),
        _ => None,
    }
}

struct Fusion<'s> {
    store: &'s mut Store,
    x: Term,
    y: Term,
    fun: Fun,
    z: Term,
}

impl Fusion<'_> {
    fn new(store: &mut Store, x: Term, y: Term, sort: Sort) -> Fusion<'_> {
        let name = store.fresh_name("fused");
        let fun = store.declare_fun(name, &[], sort);
        // A constant of a declared function without parameters always exists.
        let z = store.call(fun, &[]).unwrap_or(x);
        Fusion { store, x, y, fun, z }
    }

    fn op(&mut self, op: Op, args: &[Term]) -> Option<Term> {
        self.store.op(op, args).ok()
    }

    fn done(&self, rule: &'static str, forward: Term, x_back: Term, y_back: Term) -> Option<Fused> {
        Some(Fused { x: self.x, y: self.y, fun: self.fun, z: self.z, forward, x_back, y_back, rule })
    }

    fn boolean(mut self) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let forward = self.op(Op::Xor, &[x, y])?;
        let x_back = self.op(Op::Xor, &[z, y])?;
        let y_back = self.op(Op::Xor, &[x, z])?;
        self.done("x xor y", forward, x_back, y_back)
    }

    /// z = x + y, with the inverse operation.
    fn sum(mut self, add: Op, sub: Op, rule: &'static str) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let forward = self.op(add, &[x, y])?;
        let x_back = self.op(sub, &[z, y])?;
        let y_back = self.op(sub, &[z, x])?;
        self.done(rule, forward, x_back, y_back)
    }

    /// z = x - y.
    fn difference(mut self, add: Op, sub: Op, rule: &'static str) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let forward = self.op(sub, &[x, y])?;
        let x_back = self.op(add, &[z, y])?;
        let y_back = self.op(sub, &[x, z])?;
        self.done(rule, forward, x_back, y_back)
    }

    fn integer(mut self, rng: &mut Rng) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        match rng.below(4) {
            0 => self.sum(Op::IntAdd, Op::IntSub, "x + y"),
            1 => self.difference(Op::IntAdd, Op::IntSub, "x - y"),
            2 => {
                let c = self.store.int(rng.between(1, 20));
                let forward = self.op(Op::IntAdd, &[x, c, y])?;
                let x_back = self.op(Op::IntSub, &[z, c, y])?;
                let y_back = self.op(Op::IntSub, &[z, c, x])?;
                self.done("x + c + y", forward, x_back, y_back)
            }
            _ => {
                let c = self.store.int(rng.between(2, 9));
                let scaled = self.op(Op::IntMul, &[c, x])?;
                let forward = self.op(Op::IntAdd, &[scaled, y])?;
                let rest = self.op(Op::IntSub, &[z, y])?;
                // The division is exact: rest = c x.
                let x_back = self.op(Op::IntDiv, &[rest, c])?;
                let y_back = self.op(Op::IntSub, &[z, scaled])?;
                self.done("c x + y", forward, x_back, y_back)
            }
        }
    }

    fn real(mut self, rng: &mut Rng) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        match rng.below(3) {
            0 => self.sum(Op::RealAdd, Op::RealSub, "x + y"),
            1 => self.difference(Op::RealAdd, Op::RealSub, "x - y"),
            _ => {
                let a = self.store.real(Rational::from(rng.between(2, 9)));
                let b = self.store.real(Rational::from(rng.between(2, 9)));
                let c = self.store.real(Rational::from(rng.between(0, 20)));
                let ax = self.op(Op::RealMul, &[a, x])?;
                let by = self.op(Op::RealMul, &[b, y])?;
                let forward = self.op(Op::RealAdd, &[ax, by, c])?;
                let rest = self.op(Op::RealSub, &[z, by, c])?;
                let x_back = self.op(Op::RealDiv, &[rest, a])?;
                let rest = self.op(Op::RealSub, &[z, ax, c])?;
                let y_back = self.op(Op::RealDiv, &[rest, b])?;
                self.done("a x + b y + c", forward, x_back, y_back)
            }
        }
    }

    fn string(mut self, rng: &mut Rng) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let zero = self.store.int(0);
        let (x_length, y_length) = (self.op(Op::StrLen, &[x])?, self.op(Op::StrLen, &[y])?);
        let x_back = self.op(Op::StrSubstr, &[z, zero, x_length])?;
        match rng.below(3) {
            0 => {
                let forward = self.op(Op::StrConcat, &[x, y])?;
                let y_back = self.op(Op::StrSubstr, &[z, x_length, y_length])?;
                self.done("x ++ y", forward, x_back, y_back)
            }
            1 => {
                // x stands at the very front of z, so its first occurrence there is the one replaced.
                let forward = self.op(Op::StrConcat, &[x, y])?;
                let empty = self.store.string(&[]);
                let y_back = self.op(Op::StrReplace, &[z, x, empty])?;
                self.done("x ++ y, y by replace", forward, x_back, y_back)
            }
            _ => {
                let length = rng.between(1, 4);
                let between: Vec<u32> = (0..length).map(|_| u32::from('a') + rng.below(3) as u32).collect();
                let between = self.store.string(&between);
                let forward = self.op(Op::StrConcat, &[x, between, y])?;
                let length = self.store.int(length);
                let start = self.op(Op::IntAdd, &[x_length, length])?;
                let y_back = self.op(Op::StrSubstr, &[z, start, y_length])?;
                self.done("x ++ c ++ y", forward, x_back, y_back)
            }
        }
    }

    fn sequence(mut self) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let zero = self.store.int(0);
        let (x_length, y_length) = (self.op(Op::SeqLen, &[x])?, self.op(Op::SeqLen, &[y])?);
        let forward = self.op(Op::SeqConcat, &[x, y])?;
        let x_back = self.op(Op::SeqExtract, &[z, zero, x_length])?;
        let y_back = self.op(Op::SeqExtract, &[z, x_length, y_length])?;
        self.done("x seq.++ y", forward, x_back, y_back)
    }

    fn bitvector(mut self, rng: &mut Rng, width: u32) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        match rng.below(5) {
            0 => self.sum(Op::BvAdd, Op::BvSub, "x + y"),
            1 => self.difference(Op::BvAdd, Op::BvSub, "x - y"),
            2 => self.sum(Op::BvXor, Op::BvXor, "x xor y"),
            3 => self.sum(Op::BvXnor, Op::BvXnor, "x xnor y"),
            _ => {
                let factor = UBig::from(2 * rng.below(8) + 3);
                let inverse = odd_inverse(&factor, width);
                let c = self.store.bv(width, factor);
                let inverse = self.store.bv(width, inverse);
                let scaled = self.op(Op::BvMul, &[c, x])?;
                let forward = self.op(Op::BvAdd, &[scaled, y])?;
                let rest = self.op(Op::BvSub, &[z, y])?;
                let x_back = self.op(Op::BvMul, &[inverse, rest])?;
                let y_back = self.op(Op::BvSub, &[z, scaled])?;
                self.done("c x + y, c odd", forward, x_back, y_back)
            }
        }
    }

    fn concat(mut self, width: u32) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let forward = self.op(Op::BvConcat, &[x, y])?;
        let high = [Index::Number(2 * width - 1), Index::Number(width)];
        let x_back = self.store.indexed(Op::BvExtract, &high, &[z]).ok()?;
        let low = [Index::Number(width - 1), Index::Number(0)];
        let y_back = self.store.indexed(Op::BvExtract, &low, &[z]).ok()?;
        self.done("concat x y", forward, x_back, y_back)
    }

    fn field(mut self) -> Option<Fused> {
        let (x, y, z) = (self.x, self.y, self.z);
        let (minus_x, minus_y) = (self.op(Op::FfNeg, &[x])?, self.op(Op::FfNeg, &[y])?);
        let forward = self.op(Op::FfAdd, &[x, y])?;
        let x_back = self.op(Op::FfAdd, &[z, minus_y])?;
        let y_back = self.op(Op::FfAdd, &[z, minus_x])?;
        self.done("x ff.add y", forward, x_back, y_back)
    }
}

/// The inverse of an odd number modulo 2^width, by Newton's iteration: each step doubles the right bits.
fn odd_inverse(odd: &UBig, width: u32) -> UBig {
    let modulus = UBig::ONE << width as usize;
    let two = UBig::from(2u8);
    let mut inverse = UBig::ONE;
    let mut right = 1;
    while right < width {
        let product = (odd * &inverse) % &modulus;
        inverse = (&inverse * ((&modulus + &two - product) % &modulus)) % &modulus;
        right *= 2;
    }
    inverse % modulus
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law every fusion function must keep, for constants of all kinds, zeros and empty strings among them.
    #[test]
    fn inversions_give_both_variables_back_for_all_values() {
        let release = smtlib::Release::new(smtlib::Family::Cvc5, smtlib::Version::LATEST);
        let grammar = Grammar::new("ALL", &[release], generate::Config::default()).expect("a logic");
        let mut store = Store::new();
        let mut sorts = vec![Sort::BOOL, Sort::INT, Sort::REAL, Sort::STRING];
        sorts.extend([1, 2, 8, 65].map(|width| store.bitvec(width)));
        sorts.push(store.sort(SortKind::FiniteField(Box::new(UBig::from(17u8)))));
        sorts.push(store.sort(SortKind::Seq(Sort::INT)));
        let mark = store.mark();
        let mut rng = generate::rng::stream(21, 0);
        for sort in sorts {
            for _ in 0..300 {
                let mut scope = generate::Scope::new();
                let mut model = eval::Model::new();
                let mut evaluator = eval::Evaluator::new(eval::Mode::Choose, eval::Budget::default());
                let [x, y] = ["x", "y"].map(|name| {
                    let constant =
                        grammar.term(&mut store, &mut rng, sort, &mut scope, 0).expect("a constant");
                    let value = evaluator.evaluate(&store, &model, constant).expect("a constant's value");
                    let name = store.symbol(name);
                    let fun = store.declare_fun(name, &[], sort);
                    model.assign(fun, value);
                    store.call(fun, &[]).expect("a constant")
                });
                let fused = fuse(&mut store, &mut rng, x, y).expect("a fusible sort");
                let z = evaluator.evaluate(&store, &model, fused.forward).expect("f(x, y)");
                model.assign(fused.fun, z);
                evaluator.forget();
                for (variable, back) in [(x, fused.x_back), (y, fused.y_back)] {
                    let expected = evaluator.evaluate(&store, &model, variable);
                    assert_eq!(evaluator.evaluate(&store, &model, back), expected, "{}", fused.rule);
                }
                store.reset(&mark);
            }
        }
    }

    #[test]
    fn odd_numbers_have_inverses_of_any_width() {
        for width in [1, 2, 3, 8, 31, 64, 129] {
            let modulus = UBig::ONE << width as usize;
            for odd in [1u32, 3, 5, 7, 9, 11, 13, 17] {
                let odd = UBig::from(odd);
                assert_eq!(
                    (&odd * odd_inverse(&odd, width)) % &modulus,
                    UBig::ONE % &modulus,
                    "{odd} at {width}"
                );
            }
        }
    }
}
