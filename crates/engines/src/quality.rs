//! What mutants look like, in numbers: which operators new terms have, how far mutants are from their seed, how many are
//! left when trivial differences are taken away.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use generate::Grammar;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::Serialize;
use smtlib::{Command, Head, Indices, Op, Script, Sort, SortKind, Store, Term};

use crate::case::TestCase;

/// Counts over mutants. Counts of several seeds add up.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    mutants: u64,
    changes: u64,
    /// Terms that engines made.
    terms: u64,
    /// Of these, without any operator.
    leaves: u64,
    /// Levels of operators of all new terms together.
    levels: u64,
    operators: BTreeMap<&'static str, u64>,
    /// Operators that could have been used.
    available: BTreeSet<&'static str>,
    /// Boolean arguments in new terms.
    conditions: u64,
    /// Of these, `true` and `false`.
    literal: u64,
    /// Mutants in which no symbol of the seed is left.
    ungrounded: u64,
    distinct: FxHashSet<u64>,
    tried: u64,
    accepted: u64,
}

/// The counts as figures to show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub mutants: u64,
    /// Mutants that still differ when units are propagated and fresh names are taken for the same.
    pub distinct: u64,
    /// From the seed to the mutant.
    pub changes_per_mutant: f64,
    /// New terms of the last change, as the engine tells them.
    pub new_terms: u64,
    pub bare_leaves: u64,
    /// Levels of operators of a new term.
    pub levels: f64,
    /// Boolean arguments in new terms.
    pub conditions: u64,
    pub literal_conditions: u64,
    /// Mutants without any symbol of the seed.
    pub without_symbols: u64,
    pub operators_used: u64,
    pub operators_available: u64,
    /// Share of the most frequent operator in new terms.
    pub most_frequent: f64,
    /// Random terms that the model accepted, of those tried, where an engine tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_per_try: Option<f64>,
    pub operators: BTreeMap<&'static str, u64>,
}

impl Quality {
    /// Tells which operators mutants of this seed may use.
    pub fn begin(&mut self, store: &Store, grammar: &Grammar, seed: &Script) {
        let roots = formulas(seed);
        let mut sorts: BTreeSet<Sort> = store.subterms(&roots).iter().map(|t| store.sort_of(*t)).collect();
        sorts.insert(Sort::BOOL);
        if sorts.contains(&Sort::STRING) {
            sorts.extend([Sort::REGLAN, Sort::INT]);
        }
        if sorts.iter().any(|sort| matches!(store.sort_kind(*sort), SortKind::Float(..))) {
            sorts.insert(Sort::ROUNDING_MODE);
        }
        let sorts: Vec<Sort> = sorts.into_iter().collect();
        self.available.extend(grammar.in_play(store, &sorts).into_iter().map(Op::name));
    }

    /// Counts a mutant of the seed.
    pub fn count(&mut self, store: &Store, seed: &Script, case: &TestCase) {
        self.mutants += 1;
        self.changes += case.provenance.changes.len() as u64;
        for term in &case.new_terms {
            self.count_term(store, *term);
        }
        let roots = formulas(&case.script);
        let declared: FxHashSet<_> = seed.declared_funs().collect();
        let grounded = store.subterms(&roots).iter().any(|term| match store.head(*term) {
            Head::Fun(fun) => declared.contains(&fun),
            _ => false,
        });
        self.ungrounded += u64::from(!grounded && !declared.is_empty());
        self.distinct.insert(shape(store, &roots));
    }

    fn count_term(&mut self, store: &Store, term: Term) {
        self.terms += 1;
        let levels = store.depth(term) - 1;
        self.levels += levels;
        self.leaves += u64::from(levels == 0);
        for part in store.subterms(&[term]) {
            let args = store.args(part);
            if args.is_empty() || is_literal(store, part) {
                continue;
            }
            if let Head::Op(op, _) = store.head(part) {
                *self.operators.entry(op.name()).or_default() += 1;
            }
            for arg in args.iter().filter(|arg| store.sort_of(**arg) == Sort::BOOL) {
                self.conditions += 1;
                self.literal += u64::from(matches!(store.op_of(*arg), Some(Op::True | Op::False)));
            }
        }
    }

    /// Counts random terms that an engine tried and its model accepted.
    pub fn effort(&mut self, (accepted, tried): (u64, u64)) {
        self.accepted += accepted;
        self.tried += tried;
    }

    pub fn add(&mut self, other: &Quality) {
        self.mutants += other.mutants;
        self.changes += other.changes;
        self.terms += other.terms;
        self.leaves += other.leaves;
        self.levels += other.levels;
        self.conditions += other.conditions;
        self.literal += other.literal;
        self.ungrounded += other.ungrounded;
        self.tried += other.tried;
        self.accepted += other.accepted;
        self.available.extend(&other.available);
        self.distinct.extend(&other.distinct);
        for (op, count) in &other.operators {
            *self.operators.entry(op).or_default() += count;
        }
    }

    pub fn figures(&self) -> Figures {
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let used = self.operators.keys().filter(|op| self.available.contains(*op)).count() as u64;
        Figures {
            mutants: self.mutants,
            distinct: self.distinct.len() as u64,
            changes_per_mutant: share(self.changes, self.mutants),
            new_terms: self.terms,
            bare_leaves: self.leaves,
            levels: share(self.levels, self.terms),
            conditions: self.conditions,
            literal_conditions: self.literal,
            without_symbols: self.ungrounded,
            operators_used: used,
            operators_available: self.available.len() as u64,
            most_frequent: share(
                self.operators.values().copied().max().unwrap_or(0),
                self.operators.values().sum(),
            ),
            accepted_per_try: (self.tried > 0).then(|| share(self.accepted, self.tried)),
            operators: self.operators.clone(),
        }
    }
}

/// Everything a script asserts or assumes.
pub(crate) fn formulas(script: &Script) -> Vec<Term> {
    let mut found = Vec::new();
    for command in &script.commands {
        match command {
            Command::Assert(term) => found.push(*term),
            Command::CheckSatAssuming(terms) => found.extend_from_slice(terms),
            _ => {}
        }
    }
    found
}

/// A hash of what formulas say together: units are propagated, their order does not count, fresh constants of a sort are
/// all the same.
fn shape(store: &Store, roots: &[Term]) -> u64 {
    let mut units: FxHashMap<Term, bool> = FxHashMap::default();
    let mut open: Vec<(Term, bool)> = roots.iter().map(|root| (*root, true)).collect();
    let subterms = store.subterms(roots);
    loop {
        let known = truths(store, &subterms, &units);
        let mut left = Vec::new();
        let before = units.len();
        let mut stack = std::mem::take(&mut open);
        while let Some((term, truth)) = stack.pop() {
            // What follows from the rest says nothing new; what was an atom is a unit.
            if known.get(&term) == Some(&truth) {
                continue;
            }
            match junction(store, term, truth) {
                Junction::All(parts) => stack.extend(parts),
                Junction::Some(parts) => {
                    let mut undecided = parts.iter().filter(|(part, _)| !known.contains_key(part));
                    match (undecided.next(), undecided.next()) {
                        (Some(last), None) => stack.push(*last),
                        _ => left.push((term, truth)),
                    }
                }
                Junction::Atom => _ = units.insert(term, truth),
            }
        }
        open = left;
        if units.len() == before {
            break;
        }
    }
    let known = truths(store, &subterms, &units);
    let hashes = hashes(store, &subterms, &known, &units);
    let mut all: Vec<u64> = units.iter().map(|(term, truth)| mix(hashes[term], u64::from(*truth))).collect();
    all.extend(open.iter().map(|(term, truth)| mix(hashes[term], 2 + u64::from(*truth))));
    all.sort_unstable();
    all.dedup();
    all.into_iter().fold(0, mix)
}

enum Junction {
    All(Vec<(Term, bool)>),
    Some(Vec<(Term, bool)>),
    Atom,
}

/// What has to hold for a formula to have this truth: all of some parts, or one of them.
fn junction(store: &Store, term: Term, truth: bool) -> Junction {
    let args = store.args(term);
    let parts = |value: bool| args.iter().map(|arg| (*arg, value)).collect::<Vec<_>>();
    match (store.op_of(term), truth) {
        (Some(Op::True | Op::False), _) => Junction::All(Vec::new()),
        (Some(Op::Not), _) => Junction::All(parts(!truth)),
        (Some(Op::And), true) | (Some(Op::Or), false) => Junction::All(parts(truth)),
        (Some(Op::And), false) | (Some(Op::Or), true) => Junction::Some(parts(truth)),
        (Some(Op::Implies), _) => {
            let mut parts = parts(!truth);
            if let Some(last) = parts.last_mut() {
                last.1 = truth;
            }
            if truth { Junction::Some(parts) } else { Junction::All(parts) }
        }
        _ => Junction::Atom,
    }
}

/// The truth of formulas as far as it follows from the units.
fn truths(store: &Store, subterms: &[Term], units: &FxHashMap<Term, bool>) -> FxHashMap<Term, bool> {
    let mut known: FxHashMap<Term, bool> = FxHashMap::default();
    for term in subterms {
        let args = store.args(*term);
        let truth = units.get(term).copied().or_else(|| match store.op_of(*term)? {
            Op::True => Some(true),
            Op::False => Some(false),
            Op::Not => known.get(&args[0]).map(|truth| !truth),
            op @ (Op::And | Op::Or) => {
                let neutral = op == Op::And;
                if args.iter().any(|arg| known.get(arg) == Some(&!neutral)) {
                    Some(!neutral)
                } else {
                    args.iter().all(|arg| known.contains_key(arg)).then_some(neutral)
                }
            }
            Op::Implies => {
                let (conclusion, premises) = args.split_last()?;
                if known.get(conclusion) == Some(&true)
                    || premises.iter().any(|arg| known.get(arg) == Some(&false))
                {
                    Some(true)
                } else {
                    args.iter().all(|arg| known.contains_key(arg)).then_some(false)
                }
            }
            Op::Ite => {
                let chosen = if *known.get(&args[0])? { args[1] } else { args[2] };
                known.get(&chosen).copied()
            }
            _ => None,
        });
        if let Some(truth) = truth {
            known.insert(*term, truth);
        }
    }
    known
}

/// A hash of each term's structure with known formulas replaced by their truth.
fn hashes(
    store: &Store,
    subterms: &[Term],
    known: &FxHashMap<Term, bool>,
    units: &FxHashMap<Term, bool>,
) -> FxHashMap<Term, u64> {
    let mut hashes: FxHashMap<Term, u64> = FxHashMap::default();
    for term in subterms {
        // What cannot decide a conjunction or disjunction is not there.
        let neutral = match store.op_of(*term) {
            Some(Op::And) => Some(true),
            Some(Op::Or) => Some(false),
            _ => None,
        };
        let mut parts: Vec<u64> = store
            .args(*term)
            .iter()
            .filter(|arg| neutral.is_none() || known.get(arg).copied() != neutral)
            .map(|arg| known.get(arg).map_or_else(|| hashes[arg], |truth| u64::from(*truth)))
            .collect();
        if matches!(store.op_of(*term), Some(Op::And | Op::Or | Op::Xor | Op::Equal | Op::Distinct)) {
            parts.sort_unstable();
        }
        // A decided formula inside another is its truth; a unit is what it says.
        let own = match known.get(term) {
            Some(truth) if !units.contains_key(term) => u64::from(*truth),
            _ => parts.into_iter().fold(head_hash(store, *term), mix),
        };
        hashes.insert(*term, own);
    }
    hashes
}

fn head_hash(store: &Store, term: Term) -> u64 {
    let mut hasher = FxHasher::default();
    match store.head(term) {
        Head::Op(op, indices) => {
            hasher.write(op.name().as_bytes());
            if indices != Indices::NONE {
                for place in 0..2 {
                    hasher.write_u32(store.index_number(indices, place).unwrap_or(u32::MAX));
                }
            }
        }
        Head::Fun(fun) => {
            let name = store.name(store.fun(fun).name);
            hasher.write(if name.starts_with("fresh!") { b"fresh" } else { name.as_bytes() });
        }
        Head::Bind(binder, _) => hasher.write(binder.name().as_bytes()),
        _ if store.args(term).is_empty() => hasher.write(store.term_text(term).as_bytes()),
        _ => hasher.write_u8(1),
    }
    hasher.write(store.sort_text(store.sort_of(term)).as_bytes());
    hasher.finish()
}

fn mix(a: u64, b: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(a);
    hasher.write_u64(b);
    hasher.finish()
}

/// A literal that is written with an operator: `(- 3)`, `(/ 1.0 3.0)`, `(fp #b0 #b11 #b1)`.
fn is_literal(store: &Store, term: Term) -> bool {
    let plain = |term: &Term| matches!(store.head(*term), Head::Literal(_));
    match store.op_of(term) {
        Some(Op::IntNeg | Op::RealNeg) => {
            store.args(term).iter().all(|arg| plain(arg) || is_literal(store, *arg))
        }
        Some(Op::RealDiv | Op::Fp) => store.args(term).iter().all(plain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;

    fn shape_of(assertions: &str) -> u64 {
        let mut store = Store::new();
        let text = format!(
            "(declare-const a Bool)(declare-const b Bool)(declare-const c Bool)
             (declare-const fresh!1 Int)(declare-const fresh!2 Int){assertions}"
        );
        let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect(assertions).script;
        shape(&store, &formulas(&script))
    }

    #[test]
    fn formulas_that_come_down_to_the_same_units_have_one_shape() {
        let units = shape_of("(assert a)(assert (not b))");
        assert_eq!(shape_of("(assert (and a (not b)))"), units);
        assert_eq!(shape_of("(assert (not b))(assert (or b a))(assert (=> c a))"), units);
        assert_eq!(shape_of("(assert (not (or (not a) b)))(assert (or a c))"), units);
        assert_ne!(shape_of("(assert a)"), units);
    }

    #[test]
    fn clauses_and_their_truth_values_tell_shapes_apart() {
        let clause = shape_of("(assert (or a b))");
        assert_eq!(shape_of("(assert (or b a))"), clause);
        assert_ne!(shape_of("(assert (or a b c))"), clause);
        assert_ne!(shape_of("(assert (or a (not b)))"), clause);
        assert_eq!(
            shape_of("(assert (not c))(assert (or a b c))"),
            shape_of("(assert (or b a))(assert (not c))")
        );
    }

    #[test]
    fn names_of_fresh_constants_do_not_count() {
        assert_eq!(shape_of("(assert (< fresh!1 3))"), shape_of("(assert (< fresh!2 3))"));
        assert_ne!(shape_of("(assert (< fresh!1 3))"), shape_of("(assert (< fresh!1 4))"));
    }

    #[test]
    fn literals_that_are_written_with_an_operator_are_no_operators() {
        let mut store = Store::new();
        let text = "(declare-const x Int)(declare-const r Real)(declare-const f Float16)
            (assert (< (- 3) (- x)))(assert (< (- (/ 1.0 3.0)) (/ r 2.0)))(assert (fp.lt f (fp #b0 #b00001 #b0000000000)))";
        let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect("well-sorted").script;
        let mut quality = Quality::default();
        script.assertions().for_each(|term| quality.count_term(&store, term));
        let counts: Vec<(&str, u64)> = quality.operators.iter().map(|(op, count)| (*op, *count)).collect();
        let mut counts: Vec<String> = counts.iter().map(|(op, count)| format!("{op} {count}")).collect();
        counts.sort();
        assert_eq!(counts, ["- 1", "/ 1", "< 2", "fp.lt 1"]);
    }
}
