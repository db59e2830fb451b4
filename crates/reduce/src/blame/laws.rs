//! Other ways to say the same: exact equivalences, as data.
//!
//! A form is tried in the place of an operator: if the bug stays, that operator alone is not to blame. Every equivalence is
//! put to our evaluator on many values by the tests of this file.

use std::sync::OnceLock;

use dashu_int::UBig;
use smtlib::theory::table;
use smtlib::{Binder, Head, Index, Op, Rational, SortKind, Store, Term};

use super::names;

/// Equivalences for terms of some sorts: `a`, `b` and `c` stand for any terms, `k` for a number other than 0. `zero`,
/// `one` and `least` are bit-vectors of the width of `a`.
struct Laws {
    /// The kinds of sorts of `a`, `b` and `c`, as in names of constructs. Laws are used at no others: these are tested.
    sorts: &'static [&'static str],
    /// Left sides are one operator on different letters. A right side of the same form is read backwards too.
    laws: &'static [(&'static str, &'static str)],
}

const LAWS: &[Laws] = &[
    Laws {
        sorts: &["Bool Bool Bool"],
        laws: &[
            ("(not a)", "(= a false)"),
            ("(=> a b)", "(or (not a) b)"),
            ("(and a b)", "(not (or (not a) (not b)))"),
            ("(or a b)", "(not (and (not a) (not b)))"),
            ("(xor a b)", "(distinct a b)"),
            ("(xor a b)", "(not (= a b))"),
            ("(= a b)", "(not (xor a b))"),
            ("(= a b)", "(or (and a b) (not (or a b)))"),
            ("(distinct a b)", "(or (and a (not b)) (and b (not a)))"),
            ("(ite a b c)", "(or (and a b) (and (not a) c))"),
            ("(ite a b c)", "(and (=> a b) (or a c))"),
        ],
    },
    Laws {
        sorts: &[
            "Int Int",
            "Real Real",
            "String String",
            "BitVec BitVec",
            "Float Float",
            "Array Array",
            "Seq Seq",
            "Set Set",
        ],
        laws: &[("(distinct a b)", "(not (= a b))"), ("(= a b)", "(not (distinct a b))")],
    },
    Laws {
        sorts: &["Int Int Int", "Real Real Real"],
        laws: &[
            ("(= a b)", "(and (<= a b) (>= a b))"),
            ("(< a b)", "(not (<= b a))"),
            ("(< a b)", "(> b a)"),
            ("(<= a b)", "(not (< b a))"),
            ("(<= a b)", "(>= b a)"),
            ("(> a b)", "(not (<= a b))"),
            ("(>= a b)", "(not (< a b))"),
            ("(- a b)", "(+ a (* -1 b))"),
            ("(- a)", "(* -1 a)"),
            ("(+ a b)", "(- a (* -1 b))"),
            ("(abs a)", "(ite (< a 0) (- a) a)"),
        ],
    },
    Laws {
        sorts: &["Int Int Int"],
        laws: &[
            ("(mod a k)", "(- a (* k (div a k)))"),
            ("(rem a k)", "(ite (< k 0) (- (mod a k)) (mod a k))"),
        ],
    },
    Laws {
        sorts: &["Real Real Real"],
        laws: &[("(is_int a)", "(= a (to_real (to_int a)))"), ("(/ a k)", "(* (/ 1 k) a)")],
    },
    Laws {
        sorts: &["BitVec BitVec BitVec"],
        laws: &[
            ("(= a b)", "(and (bvule a b) (bvuge a b))"),
            ("(bvult a b)", "(bvugt b a)"),
            ("(bvult a b)", "(not (bvule b a))"),
            ("(bvule a b)", "(bvuge b a)"),
            ("(bvule a b)", "(not (bvult b a))"),
            ("(bvugt a b)", "(not (bvule a b))"),
            ("(bvuge a b)", "(not (bvult a b))"),
            ("(bvslt a b)", "(bvsgt b a)"),
            ("(bvslt a b)", "(bvult (bvxor a least) (bvxor b least))"),
            ("(bvsle a b)", "(bvsge b a)"),
            ("(bvsle a b)", "(not (bvslt b a))"),
            ("(bvsgt a b)", "(not (bvsle a b))"),
            ("(bvsge a b)", "(not (bvslt a b))"),
            ("(bvsub a b)", "(bvadd a (bvneg b))"),
            ("(bvadd a b)", "(bvsub a (bvneg b))"),
            ("(bvneg a)", "(bvadd (bvnot a) one)"),
            ("(bvneg a)", "(bvsub zero a)"),
            ("(bvnot a)", "(bvsub (bvneg a) one)"),
            ("(bvand a b)", "(bvnot (bvor (bvnot a) (bvnot b)))"),
            ("(bvor a b)", "(bvnot (bvand (bvnot a) (bvnot b)))"),
            ("(bvxor a b)", "(bvor (bvand a (bvnot b)) (bvand (bvnot a) b))"),
            ("(bvnand a b)", "(bvnot (bvand a b))"),
            ("(bvnor a b)", "(bvnot (bvor a b))"),
            ("(bvxnor a b)", "(bvnot (bvxor a b))"),
            ("(bvcomp a b)", "(ite (= a b) #b1 #b0)"),
            ("(bvurem a b)", "(bvsub a (bvmul b (bvudiv a b)))"),
            (
                "(bvsdiv a b)",
                "(ite (bvslt a zero) (ite (bvslt b zero) (bvudiv (bvneg a) (bvneg b)) (bvneg (bvudiv (bvneg a) b))) \
                 (ite (bvslt b zero) (bvneg (bvudiv a (bvneg b))) (bvudiv a b)))",
            ),
            (
                "(bvsrem a b)",
                "(ite (bvslt a zero) (bvneg (bvurem (bvneg a) (ite (bvslt b zero) (bvneg b) b))) \
                 (bvurem a (ite (bvslt b zero) (bvneg b) b)))",
            ),
            ("(bvashr a b)", "(ite (bvslt a zero) (bvnot (bvlshr (bvnot a) b)) (bvlshr a b))"),
            ("(bvuaddo a b)", "(bvult (bvadd a b) a)"),
            ("(bvusubo a b)", "(bvult a b)"),
        ],
    },
    Laws {
        sorts: &["Float Float Float"],
        laws: &[
            ("(fp.lt a b)", "(fp.gt b a)"),
            ("(fp.leq a b)", "(fp.geq b a)"),
            ("(fp.leq a b)", "(or (fp.lt a b) (fp.eq a b))"),
            ("(fp.eq a b)", "(and (fp.leq a b) (fp.geq a b))"),
            ("(fp.isNaN a)", "(not (fp.eq a a))"),
            ("(fp.isZero a)", "(fp.eq a (fp.neg a))"),
            ("(fp.isNegative a)", "(fp.isPositive (fp.neg a))"),
            ("(fp.isPositive a)", "(fp.isNegative (fp.neg a))"),
            ("(fp.abs a)", "(ite (fp.isNegative a) (fp.neg a) a)"),
        ],
    },
    Laws {
        sorts: &["RoundingMode Float Float"],
        laws: &[("(fp.sub a b c)", "(fp.add a b (fp.neg c))"), ("(fp.add a b c)", "(fp.sub a b (fp.neg c))")],
    },
    Laws {
        sorts: &["String String String"],
        laws: &[
            ("(= a b)", "(and (str.<= a b) (str.<= b a))"),
            ("(str.prefixof a b)", "(= a (str.substr b 0 (str.len a)))"),
            ("(str.suffixof a b)", "(= a (str.substr b (- (str.len b) (str.len a)) (str.len a)))"),
            ("(str.contains a b)", "(>= (str.indexof a b 0) 0)"),
            ("(str.contains a b)", "(or (= b \"\") (distinct (str.replace a b \"\") a))"),
            ("(str.<= a b)", "(or (= a b) (str.< a b))"),
            ("(str.< a b)", "(and (str.<= a b) (distinct a b))"),
            ("(str.is_digit a)", "(str.in_re a (re.range \"0\" \"9\"))"),
            ("(str.is_digit a)", "(and (<= 48 (str.to_code a)) (<= (str.to_code a) 57))"),
            (
                "(str.replace a b c)",
                "(ite (str.contains a b) (str.++ (str.substr a 0 (str.indexof a b 0)) c \
                 (str.substr a (+ (str.indexof a b 0) (str.len b)) (str.len a))) a)",
            ),
        ],
    },
    Laws { sorts: &["String Int Int"], laws: &[("(str.at a b)", "(str.substr a b 1)")] },
    Laws { sorts: &["Seq Int Int"], laws: &[("(seq.at a b)", "(seq.extract a b 1)")] },
    Laws {
        sorts: &["Seq Seq Seq"],
        laws: &[
            ("(seq.prefixof a b)", "(= a (seq.extract b 0 (seq.len a)))"),
            ("(seq.suffixof a b)", "(= a (seq.extract b (- (seq.len b) (seq.len a)) (seq.len a)))"),
            ("(seq.contains a b)", "(>= (seq.indexof a b 0) 0)"),
            (
                "(seq.replace a b c)",
                "(ite (seq.contains a b) (seq.++ (seq.extract a 0 (seq.indexof a b 0)) c \
                 (seq.extract a (+ (seq.indexof a b 0) (seq.len b)) (seq.len a))) a)",
            ),
        ],
    },
    Laws {
        sorts: &["RegLan RegLan RegLan"],
        laws: &[
            ("(re.+ a)", "(re.++ a (re.* a))"),
            ("(re.* a)", "(re.union (str.to_re \"\") (re.+ a))"),
            ("(re.opt a)", "(re.union a (str.to_re \"\"))"),
            ("(re.diff a b)", "(re.inter a (re.comp b))"),
            ("(re.comp a)", "(re.diff re.all a)"),
            ("(re.union a b)", "(re.comp (re.inter (re.comp a) (re.comp b)))"),
            ("(re.inter a b)", "(re.comp (re.union (re.comp a) (re.comp b)))"),
            ("re.none", "(re.comp re.all)"),
            ("re.all", "(re.* re.allchar)"),
        ],
    },
    Laws {
        sorts: &["Set Set Set"],
        laws: &[
            ("(set.subset a b)", "(= (set.union a b) b)"),
            ("(set.inter a b)", "(set.minus a (set.minus a b))"),
        ],
    },
    Laws { sorts: &["Int Set Set"], laws: &[("(set.member a b)", "(set.subset (set.singleton a) b)")] },
];

/// An expression of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Word(&'static str),
    Call(Vec<Pattern>),
}

impl Pattern {
    fn read(text: &'static str) -> Pattern {
        let mut open: Vec<Vec<Pattern>> = vec![Vec::new()];
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '(' | ')' => 1,
                _ if first.is_whitespace() => 1,
                _ => rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len()),
            };
            let (word, after) = rest.split_at(length);
            rest = after;
            let done = match word.trim() {
                "" => continue,
                "(" => {
                    open.push(Vec::new());
                    continue;
                }
                ")" => Pattern::Call(open.pop().unwrap_or_default()),
                word => Pattern::Word(word),
            };
            if let Some(outer) = open.last_mut() {
                outer.push(done);
            }
        }
        open.into_iter().flatten().next().unwrap_or(Pattern::Call(Vec::new()))
    }

    /// The operator's name and its letters, where it is one operator on different letters.
    fn flat(&self) -> Option<(&'static str, Vec<&'static str>)> {
        let parts = match self {
            Pattern::Word(name) => return Some((name, Vec::new())),
            Pattern::Call(parts) => parts,
        };
        let mut words = Vec::new();
        for part in parts {
            match part {
                Pattern::Word(word) if !words.contains(word) => words.push(*word),
                _ => return None,
            }
        }
        let (name, letters) = words.split_first()?;
        letters.iter().all(|word| LETTERS.contains(word)).then(|| (*name, letters.to_vec()))
    }

    /// The pattern with terms for letters; nothing if it is not well-sorted.
    fn filled(&self, store: &mut Store, letters: &[(&'static str, Term)], real: bool) -> Option<Term> {
        match self {
            Pattern::Word(word) => constant(store, word, letters, real),
            Pattern::Call(parts) => {
                let (Pattern::Word(name), args) = parts.split_first()? else { return None };
                let args: Option<Vec<Term>> =
                    args.iter().map(|arg| arg.filled(store, letters, real)).collect();
                let args = args?;
                table().named(name).iter().find_map(|op| store.op(*op, &args).ok())
            }
        }
    }
}

const LETTERS: [&str; 4] = ["a", "b", "c", "k"];

fn constant(store: &mut Store, word: &str, letters: &[(&'static str, Term)], real: bool) -> Option<Term> {
    if let Some((_, term)) = letters.iter().find(|(letter, _)| *letter == word) {
        return Some(*term);
    }
    let number = |store: &mut Store, number: i64| match real {
        true => store.real(Rational::from(number)),
        false => store.int(number),
    };
    let first = letters.first().map(|(_, term)| store.sort_kind(store.sort_of(*term)).clone());
    let mut bits = |value: &dyn Fn(u32) -> UBig| match first {
        Some(SortKind::BitVec(width)) => Some(store.bv(width, value(width))),
        _ => None,
    };
    match word {
        "true" => Some(store.bool(true)),
        "false" => Some(store.bool(false)),
        "#b0" => Some(store.bv(1, UBig::ZERO)),
        "#b1" => Some(store.bv(1, UBig::ONE)),
        "zero" => bits(&|_| UBig::ZERO),
        "one" => bits(&|_| UBig::ONE),
        "least" => bits(&|width| UBig::ONE << (width as usize - 1)),
        _ if word.starts_with('"') => {
            let characters: Vec<u32> = word.trim_matches('"').chars().map(u32::from).collect();
            Some(store.string(&characters))
        }
        _ => match word.parse::<i64>() {
            Ok(value) => Some(number(store, value)),
            Err(_) => table().named(word).iter().find_map(|op| store.op(*op, &[]).ok()),
        },
    }
}

/// One direction of an equivalence.
struct Law {
    /// Operators that the left side may be.
    operators: &'static [Op],
    letters: Vec<&'static str>,
    right: Pattern,
    sorts: &'static [&'static str],
}

fn laws() -> &'static [Law] {
    static READ: OnceLock<Vec<Law>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut read = Vec::new();
        for group in LAWS {
            for (left, right) in group.laws {
                let (left, right) = (Pattern::read(left), Pattern::read(right));
                for (from, to) in [(&left, &right), (&right, &left)] {
                    // A letter that stands for numbers only does not tell which one, read backwards.
                    if let Some((name, letters)) = from.flat() {
                        let operators = table().named(name);
                        read.push(Law { operators, letters, right: to.clone(), sorts: group.sorts });
                    }
                }
            }
        }
        read
    })
}

impl Law {
    /// The right side for a term of the form of the left side, at sorts that it has been tested at.
    fn applied(&self, store: &mut Store, term: Term) -> Option<Term> {
        let Head::Op(op, _) = store.head(term) else { return None };
        let args = store.args(term).to_vec();
        if !self.operators.contains(&op) || args.len() != self.letters.len() {
            return None;
        }
        let letters: Vec<(&'static str, Term)> = self.letters.iter().copied().zip(args).collect();
        let fits = |sorts: &&&str| {
            LETTERS[..3].iter().zip(sorts.split(' ')).all(|(letter, kind)| {
                let bound = letters.iter().find(|(other, _)| other == letter);
                bound.is_none_or(|(_, term)| names::kind(store, store.sort_of(*term)) == kind)
            })
        };
        self.sorts.iter().find(fits)?;
        if letters.iter().any(|(letter, term)| *letter == "k" && !is_nonzero(store, *term)) {
            return None;
        }
        let sort = store.sort_of(term);
        let filled = [false, true].into_iter().find_map(|real| self.right.filled(store, &letters, real));
        filled.filter(|new| store.sort_of(*new) == sort)
    }
}

/// A number that is surely not 0.
fn is_nonzero(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Literal(literal) => match store.literal(literal) {
            smtlib::Literal::Int(value) => !value.is_zero(),
            smtlib::Literal::Real(value) => !value.is_zero(),
            _ => false,
        },
        Head::Op(Op::IntNeg | Op::RealNeg, _) => is_nonzero(store, store.args(term)[0]),
        _ => false,
    }
}

/// Other terms with the same value under every model, in none of whose new parts the term's own construct occurs.
pub(super) fn equivalents(store: &mut Store, term: Term) -> Vec<Term> {
    let own = names::of_term(store, term);
    let old = store.subterms(&[term]);
    let mut found: Vec<Term> = laws().iter().filter_map(|law| law.applied(store, term)).collect();
    found.extend(special(store, term));
    found.retain(|new| {
        let parts = store.subterms(&[*new]);
        parts.iter().all(|part| (old.contains(part) && *part != term) || names::of_term(store, *part) != own)
    });
    let mut different = Vec::new();
    for new in found {
        if !different.contains(&new) {
            different.push(new);
        }
    }
    different
}

/// What the table has no words for: any number of arguments, indices, binders.
fn special(store: &mut Store, term: Term) -> Vec<Term> {
    let args = store.args(term).to_vec();
    match store.head(term) {
        Head::Op(op @ (Op::And | Op::Or), _) if args.len() > 2 => {
            let dual = if op == Op::And { Op::Or } else { Op::And };
            let negated: Result<Vec<Term>, _> = args.iter().map(|arg| store.not(*arg)).collect();
            let inner = negated.and_then(|negated| store.op(dual, &negated));
            inner.and_then(|inner| store.not(inner)).into_iter().collect()
        }
        Head::Op(Op::Distinct, _) if args.len() > 2 => {
            let mut pairs = Vec::new();
            for (place, one) in args.iter().enumerate() {
                for other in &args[place + 1..] {
                    let equal = store.op(Op::Equal, &[*one, *other]);
                    pairs.extend(equal.and_then(|equal| store.not(equal)));
                }
            }
            store.and(&pairs).into_iter().collect()
        }
        Head::Op(Op::BvZeroExtend, indices) => {
            let count = store.index_number(indices, 0).filter(|count| *count > 0);
            let zeros = count.map(|count| store.bv(count, UBig::ZERO));
            zeros.and_then(|zeros| store.op(Op::BvConcat, &[zeros, args[0]]).ok()).into_iter().collect()
        }
        Head::Op(Op::BvRepeat, indices) => {
            let count = store.index_number(indices, 0).filter(|count| (2..=8).contains(count));
            let copies = count.map(|count| vec![args[0]; count as usize]);
            copies.and_then(|copies| store.op(Op::BvConcat, &copies).ok()).into_iter().collect()
        }
        Head::Op(op @ (Op::BvRotateLeft | Op::BvRotateRight), indices) => {
            let (Some(by), SortKind::BitVec(width)) =
                (store.index_number(indices, 0), store.sort_kind(store.sort_of(term)).clone())
            else {
                return Vec::new();
            };
            let left = if op == Op::BvRotateLeft { by % width } else { (width - by % width) % width };
            rotated(store, args[0], width, left).into_iter().collect()
        }
        Head::Op(Op::RePower, indices) => {
            let count = store.index_number(indices, 0).filter(|count| (2..=8).contains(count));
            let copies = count.map(|count| vec![args[0]; count as usize]);
            copies.and_then(|copies| store.op(Op::ReConcat, &copies).ok()).into_iter().collect()
        }
        Head::Bind(binder @ (Binder::Forall | Binder::Exists), vars) => {
            let dual = if binder == Binder::Forall { Binder::Exists } else { Binder::Forall };
            let inner = store.not(args[0]).and_then(|body| store.bind(dual, vars, &[body]));
            inner.and_then(|inner| store.not(inner)).into_iter().collect()
        }
        // Names and patterns are no part of the meaning.
        Head::Annotated(_) => vec![args[0]],
        _ => Vec::new(),
    }
}

/// The bits of a vector with the upper ones moved to the end.
fn rotated(store: &mut Store, bits: Term, width: u32, left: u32) -> Option<Term> {
    if left == 0 {
        return Some(bits);
    }
    let mut cut = |high: u32, low: u32| {
        store.indexed(Op::BvExtract, &[Index::Number(high), Index::Number(low)], &[bits]).ok()
    };
    let (low, high) = (cut(width - left - 1, 0)?, cut(width - 1, width - left)?);
    store.op(Op::BvConcat, &[low, high]).ok()
}

#[cfg(test)]
mod tests {
    use eval::sorts::Sorts;
    use eval::{Budget, Evaluator, Mode, Model, Value};
    use generate::rng;
    use smtlib::{Command, Fun, Sort, parse};

    use super::*;

    /// Values that letters take together.
    const SAMPLES: u64 = 400;

    /// Constants of every kind of sort for the letters, and numbers and languages.
    fn scene(store: &mut Store) -> Vec<(String, Fun)> {
        let kinds = [
            ("Bool", "Bool"),
            ("Int", "Int"),
            ("Real", "Real"),
            ("String", "String"),
            ("RoundingMode", "RoundingMode"),
            ("BitVec", "(_ BitVec 5)"),
            ("Float", "(_ FloatingPoint 3 5)"),
            ("Array", "(Array Int Bool)"),
            ("Seq", "(Seq Int)"),
            ("Set", "(Set Int)"),
        ];
        let mut text = String::new();
        for (_, sort) in kinds {
            for letter in ["a", "b", "c"] {
                text += &format!("(declare-const |{letter} {sort}| {sort})");
            }
        }
        let script = parse(store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script").script;
        let names =
            kinds.iter().flat_map(|(kind, _)| ["a", "b", "c"].map(|letter| format!("{letter} {kind}")));
        names.zip(script.declared_funs()).collect()
    }

    fn languages(store: &mut Store) -> Vec<Term> {
        let text = "(declare-const r RegLan)(assert (str.in_re \"\" (re.union re.none re.all re.allchar (str.to_re \"\") \
                    (str.to_re \"a\") (re.range \"a\" \"c\") (re.* (str.to_re \"ab\")) (re.comp (str.to_re \"ab\")))))";
        let script = parse(store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script").script;
        let root = script.assertions().next().expect("an assertion");
        store.args(store.args(root)[1]).to_vec()
    }

    /// What tells two terms apart: an equation, or membership of a constant string in both languages.
    fn agreement(store: &mut Store, left: Term, right: Term, string: Term) -> Term {
        let mut side = |term: Term| match store.sort_of(term) {
            Sort::REGLAN => store.op(Op::StrInRe, &[string, term]).expect("a membership"),
            _ => term,
        };
        let sides = [side(left), side(right)];
        store.op(Op::Equal, &sides).expect("an equation")
    }

    /// Puts many values for the constants to a formula that must always hold.
    fn always_holds(store: &Store, constants: &[Fun], formula: Term) {
        let mut decided = 0;
        for sample in 0..SAMPLES {
            let mut random = rng::stream(7, sample);
            let mut model = Model::new();
            for fun in constants {
                let sort = store.fun(*fun).result;
                let sorts = Sorts::new(store, &model);
                let edges = sorts.edge_values(sort);
                // All pairs of edge values come first.
                let place = sample as usize
                    / if model.value(constants[0]).is_some() { edges.len().max(1) } else { 1 };
                let edge =
                    (sample < SAMPLES / 2).then(|| edges.get(place % edges.len().max(1)).cloned()).flatten();
                let value: Option<Value> = edge.or_else(|| sorts.random_value(sort, &mut random));
                model.assign(*fun, value.expect("a value"));
            }
            match Evaluator::new(Mode::Choose, Budget::default()).holds(store, &model, formula) {
                Ok(true) => decided += 1,
                Ok(false) => panic!("{} is false under {model:?}", store.term_text(formula)),
                Err(_) => {}
            }
        }
        assert!(decided > SAMPLES / 2, "{}: only {decided} values decide it", store.term_text(formula));
    }

    #[test]
    fn both_sides_of_every_law_have_the_same_value() {
        let mut store = Store::new();
        let scene = scene(&mut store);
        let languages = languages(&mut store);
        let string = scene.iter().find(|(name, _)| name == "a String").expect("a constant").1;
        let word = store.call(string, &[]).expect("a constant");
        for law in laws() {
            let mut used = 0;
            for sorts in law.sorts {
                let kinds: Vec<&str> = sorts.split(' ').collect();
                for choice in 0..8 {
                    let mut constants = Vec::new();
                    let mut args = Vec::new();
                    for letter in &law.letters {
                        let kind =
                            LETTERS.iter().position(|known| known == letter).and_then(|at| kinds.get(at));
                        let arg = match (*letter, kind.copied()) {
                            ("k", _) if kinds[0] == "Real" => {
                                store.real(Rational::from([3, -2, 1, 7][choice % 4]))
                            }
                            ("k", _) => store.int([3, -2, 1, 7][choice % 4]),
                            (letter, Some("RegLan")) => {
                                languages
                                    [(choice + usize::from(letter == "b") * (choice + 3)) % languages.len()]
                            }
                            (letter, Some(kind)) => {
                                let wanted = format!("{letter} {kind}");
                                let fun =
                                    scene.iter().find(|(name, _)| *name == wanted).expect("a constant").1;
                                constants.push(fun);
                                store.call(fun, &[]).expect("a constant")
                            }
                            (_, None) => break,
                        };
                        args.push(arg);
                    }
                    let terms: Vec<Term> =
                        law.operators.iter().filter_map(|op| store.op(*op, &args).ok()).collect();
                    for term in terms {
                        let Some(form) = law.applied(&mut store, term) else { continue };
                        used += 1;
                        if store.sort_of(term) == Sort::REGLAN {
                            constants.push(string);
                        }
                        let formula = agreement(&mut store, term, form, word);
                        always_holds(&store, &constants, formula);
                    }
                    let varies = law.letters.contains(&"k") || kinds[0] == "RegLan";
                    if !varies {
                        break;
                    }
                }
            }
            assert!(used > 0, "never used: {:?} {:?}", law.operators, law.right);
        }
    }

    #[test]
    fn forms_of_operators_with_indices_and_many_arguments_say_the_same() {
        let text = "(declare-const a (_ BitVec 5))(declare-const p Bool)(declare-const q Bool)(declare-const s String)
            (assert (= a ((_ rotate_left 2) a)))(assert (= a ((_ rotate_right 12) a)))
            (assert (= #b00000 ((_ extract 4 0) ((_ zero_extend 3) a))))(assert (= ((_ repeat 3) a) ((_ repeat 3) #b01010)))
            (assert (and p q (= a #b00000)))(assert (or p q (= a #b00000)))(assert (distinct a #b00001 #b00011))
            (assert (str.in_re s ((_ re.^ 2) (re.opt (re.range \"a\" \"c\")))))
            (assert (forall ((x Bool)) (or x p)))(assert (exists ((x Bool)) (and x p)))(assert (! (or p q) :named n))";
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script").script;
        let constants: Vec<Fun> = script.declared_funs().collect();
        let word = store.call(constants[3], &[]).expect("a constant");
        let mut seen = Vec::new();
        for term in store.subterms(&script.terms(&store)) {
            if store.mentions_vars(term) && !matches!(store.head(term), Head::Bind(..)) {
                continue;
            }
            for form in special(&mut store, term) {
                let formula = agreement(&mut store, term, form, word);
                always_holds(&store, &constants, formula);
                seen.push(names::of_term(&store, term).unwrap_or_default().into_owned());
            }
        }
        seen.sort();
        seen.dedup();
        let all = [
            ":named",
            "and",
            "distinct BitVec",
            "exists",
            "forall",
            "or",
            "re.^",
            "repeat",
            "rotate_left",
            "rotate_right",
            "zero_extend",
        ];
        assert_eq!(seen, all);
    }

    #[test]
    fn a_form_does_without_the_construct_and_fits_the_sort() {
        let text = "(declare-const x Int)(declare-const y Int)(declare-const r Real)(assert (= x (mod y 3)))
                    (assert (= x (mod y x)))(assert (< r 1.5))(assert (not (< x y)))";
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script").script;
        let forms = |store: &mut Store, place: usize| -> Vec<String> {
            let Some(Command::Assert(root)) = script.commands.get(place) else { return Vec::new() };
            let inner = store.args(*root).iter().copied().find(|arg| !store.args(*arg).is_empty());
            let forms = equivalents(store, inner.unwrap_or(*root));
            forms.iter().map(|form| store.term_text(*form)).collect()
        };
        assert_eq!(forms(&mut store, 3), ["(- y (* 3 (div y 3)))"]);
        assert!(forms(&mut store, 4).is_empty(), "x may be 0");
        assert_eq!(forms(&mut store, 5), ["(not (<= 1.5 r))", "(> 1.5 r)"]);
        assert_eq!(forms(&mut store, 6), ["(not (<= y x))", "(> y x)"]);
    }
}
