//! Argument values: the edges of each sort first, then random ones that tend to interact.

use generate::Rng;
use smtlib::theory::Theory;
use smtlib::{Head, Index, Op, Sort, SortKind, Store, Term};

use eval::Model;
use eval::Value;
use eval::integer::Integer;
use eval::rational::Rational;
use eval::sorts::Sorts;
use eval::string::Str;
use eval::to_term;

pub(super) struct Arguments<'r> {
    pub rng: &'r mut Rng,
    model: Model,
}

/// A prime that no number of combinations is a multiple of.
const STEP: usize = 7919;

/// Characters at the ends of the alphabet, of the basic plane and of the surrogates.
const ODD_CHARS: [u32; 8] = [0, 0x7F, 0x80, 0xFF, 0xD800, 0xDFFF, 0xFFFF, 0x2FFFF];

impl<'r> Arguments<'r> {
    pub fn new(rng: &'r mut Rng) -> Self {
        Arguments { rng, model: Model::new() }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.rng.below(from.len())]
    }

    /// The terms of a list of arguments. The first attempts go through the combinations of edge values.
    pub fn list(
        &mut self,
        store: &mut Store,
        theory: Theory,
        sorts: &[Sort],
        attempt: usize,
    ) -> Option<Vec<Term>> {
        // Numbers alone are not indices into anything.
        let theory = if sorts.iter().all(|sort| *sort == Sort::INT) { Theory::Ints } else { theory };
        let edges: Vec<Vec<Value>> = sorts.iter().map(|sort| self.edges(store, theory, *sort)).collect();
        let combinations =
            edges.iter().map(Vec::len).filter(|length| *length > 0).fold(1, usize::saturating_mul);
        // Every other attempt is such a combination, as long as there are new ones. They come in large steps, so that
        // even a few cases see every edge.
        let systematic = attempt.is_multiple_of(2) && attempt / 2 < combinations;
        let mut place = (attempt / 2).wrapping_mul(STEP) % combinations;
        sorts
            .iter()
            .zip(&edges)
            .map(|(sort, edges)| {
                if systematic && !edges.is_empty() {
                    let digit = place % edges.len();
                    place /= edges.len();
                    return to_term(store, *sort, &edges[digit]);
                }
                self.term(store, theory, *sort)
            })
            .collect()
    }

    /// A random argument of a sort.
    pub fn term(&mut self, store: &mut Store, theory: Theory, sort: Sort) -> Option<Term> {
        if sort == Sort::REGLAN {
            return self.regex(store, 2);
        }
        let value = self.value(store, theory, sort)?;
        to_term(store, sort, &value)
    }

    fn value(&mut self, store: &Store, theory: Theory, sort: Sort) -> Option<Value> {
        let textual = matches!(theory, Theory::Strings | Theory::Regexes | Theory::Sequences);
        match sort {
            // Indices and counts that hit.
            Sort::INT if textual && self.below(4) > 0 => Some(Value::int(self.below(9) as i64 - 2)),
            Sort::INT if theory == Theory::Ints && self.below(3) == 0 => {
                Some(Value::int(self.below(12) as i64 - 5))
            }
            // Large numbers only cost the solvers' time.
            Sort::REAL if theory == Theory::Transcendentals => {
                let (numerator, denominator) = (self.below(41) as i64 - 20, 1 + self.below(8) as i64);
                Rational::new(Integer::new(numerator), Integer::new(denominator)).map(Value::from)
            }
            Sort::STRING if self.below(3) > 0 => {
                let length = self.below(6);
                let chars: Vec<u32> = (0..length)
                    .map(|_| match self.below(16) {
                        0 => *self.pick(&ODD_CHARS),
                        1 | 2 => u32::from(b'0') + self.below(10) as u32,
                        3 => u32::from(b'A') + self.below(3) as u32,
                        _ => u32::from(b'a') + self.below(2) as u32,
                    })
                    .collect();
                Str::new(&chars).map(Value::Str)
            }
            _ => {
                // Elements of collections that occur in several of them.
                if let (
                    SortKind::Seq(Sort::INT) | SortKind::Set(Sort::INT) | SortKind::Bag(Sort::INT),
                    true,
                ) = (store.sort_kind(sort), self.below(3) > 0)
                {
                    return self.small_collection(store, sort);
                }
                Sorts::new(store, &self.model).random_value(sort, self.rng)
            }
        }
    }

    fn small_collection(&mut self, store: &Store, sort: Sort) -> Option<Value> {
        let length = self.below(5);
        let elements: Vec<Value> = (0..length).map(|_| Value::int(self.below(3) as i64)).collect();
        match store.sort_kind(sort) {
            SortKind::Seq(_) => Some(Value::Seq(elements.into())),
            SortKind::Set(_) => Value::set(elements),
            _ => Value::bag(elements.into_iter().map(|element| (element, Integer::ONE)).collect()),
        }
    }

    fn edges(&mut self, store: &Store, theory: Theory, sort: Sort) -> Vec<Value> {
        let mut edges = Sorts::new(store, &self.model).edge_values(sort);
        if sort == Sort::STRING {
            edges.extend(ODD_CHARS.iter().filter_map(|char| Str::new(&[*char])).map(Value::Str));
        }
        if sort == Sort::REAL && theory == Theory::Transcendentals {
            let fractions = [(0, 1), (1, 1), (-1, 1), (1, 2), (-1, 2), (2, 1), (-3, 1)];
            edges = fractions
                .into_iter()
                .filter_map(|(n, d)| Rational::new(Integer::new(n), Integer::new(d)))
                .map(Value::from)
                .collect();
        }
        if sort == Sort::INT && matches!(theory, Theory::Strings | Theory::Regexes | Theory::Sequences) {
            edges =
                [0, -1, 1, 2, 3, 55_296, 196_607, 196_608, i64::MAX].into_iter().map(Value::int).collect();
        }
        edges
    }

    /// A regular expression over few letters.
    pub fn regex(&mut self, store: &mut Store, depth: usize) -> Option<Term> {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(8) {
                0 => store.op(Op::ReAll, &[]).ok(),
                1 => store.op(Op::ReNone, &[]).ok(),
                2 => store.op(Op::ReAllchar, &[]).ok(),
                3 | 4 => {
                    let ends = ["a", "b", "", "ab", "c", "\u{2FFFF}"];
                    let [low, high] = [*self.pick(&ends), *self.pick(&ends)].map(|text| {
                        let chars: Vec<u32> = text.chars().map(u32::from).collect();
                        store.string(&chars)
                    });
                    store.op(Op::ReRange, &[low, high]).ok()
                }
                _ => {
                    let word = self.term(store, Theory::Strings, Sort::STRING)?;
                    store.op(Op::StrToRe, &[word]).ok()
                }
            };
        }
        let one = self.regex(store, depth - 1)?;
        let unary = [Op::ReStar, Op::RePlus, Op::ReOpt, Op::ReComp];
        let binary = [Op::ReConcat, Op::ReUnion, Op::ReInter, Op::ReDiff];
        match self.below(10) {
            0..=3 => {
                let op = *self.pick(&unary);
                store.op(op, &[one]).ok()
            }
            4 => {
                let bounds = [self.below(3), self.below(4)].map(|n| Index::Number(n as u32));
                store.indexed(Op::ReLoop, &bounds, &[one]).ok()
            }
            _ => {
                let two = self.regex(store, depth - 1)?;
                let op = *self.pick(&binary);
                store.op(op, &[one, two]).ok()
            }
        }
    }

    /// A word, with a good chance to be one of the language.
    pub fn word(&mut self, store: &mut Store, language: Term) -> Option<Term> {
        let words: Vec<Term> = store
            .subterms(&[language])
            .into_iter()
            .filter(|term| {
                store.sort_of(*term) == Sort::STRING && matches!(store.head(*term), Head::Literal(_))
            })
            .collect();
        match self.below(4) {
            0 if !words.is_empty() => Some(*self.pick(&words)),
            1 if words.len() > 1 => {
                let parts = [*self.pick(&words), *self.pick(&words)];
                store.op(Op::StrConcat, &parts).ok()
            }
            _ => self.term(store, Theory::Strings, Sort::STRING),
        }
    }
}
