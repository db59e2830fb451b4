//! The skeleton of a seed (definitions III.1 and III.3): every constant becomes a hole, a fresh constant symbol.

use eval::{EvaluatedModel, Evaluator, Model, to_term};
use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{AttributeValue, Command, Fun, Head, Literal, Op, Script, Sort, SortKind, Store, Term};

use crate::quality::formulas;
use crate::sites::without_status;

/// Constants beyond this number stay as they are.
const HOLES: usize = 256;

/// Formulas up to this size have a hole for each place where a constant is written. In larger ones a constant inside a
/// shared term is one hole: written out they could be exponentially large.
const WRITTEN_OUT: u64 = 4_000;

/// Inlining definitions must not make a seed larger than this, in nodes; what is shared counts once.
const INLINED: usize = 50_000;

/// A place where a constant stood.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// The symbol that stands there now.
    pub fun: Fun,
    /// The symbol as a term.
    pub term: Term,
    pub sort: Sort,
    /// The constant of the seed, as it is written there.
    pub original: Term,
    /// The same value as the store writes it.
    normal: Term,
}

/// A script with holes in place of its constants.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Without declarations of the holes.
    script: Script,
    list: Vec<Hole>,
}

impl Holes {
    /// `None` for a script without constants, or one that a hole cannot be declared for: resets take declarations away.
    ///
    /// Definitions that constants occur in are inlined, and so are all if a term has a name: the name would go on to
    /// stand for the old term.
    pub fn of(store: &mut Store, script: &Script) -> Option<Holes> {
        let mut script = without_status(store, script);
        if script.commands.iter().any(super::is_reset) {
            return None;
        }
        if must_inline(store, &script) {
            inline(store, &mut script)?;
        }
        let roots = formulas(&script);
        let size = roots.iter().fold(0u64, |sum, root| sum.saturating_add(store.tree_size(*root)));
        let mut digger = Digger::new(store, &roots, size <= WRITTEN_OUT);
        for command in &mut script.commands {
            match command {
                Command::Assert(term) => *term = digger.dig(*term)?,
                Command::CheckSatAssuming(terms) => {
                    for term in terms {
                        *term = digger.dig(*term)?;
                    }
                }
                _ => {}
            }
        }
        let list = digger.holes;
        (!list.is_empty()).then_some(Holes { script, list })
    }

    /// Constants for all holes as the store writes their values: the seed may write one value in several ways.
    pub fn normalised(&self, constants: &[Term]) -> Vec<Term> {
        let written: FxHashMap<Term, Term> =
            self.list.iter().map(|hole| (hole.original, hole.normal)).collect();
        constants.iter().map(|constant| written.get(constant).copied().unwrap_or(*constant)).collect()
    }

    pub fn list(&self) -> &[Hole] {
        &self.list
    }

    /// The skeleton as a script of its own, the holes declared.
    pub fn skeleton(&self) -> Script {
        let settings = |command: &Command| {
            matches!(command, Command::SetLogic(_) | Command::SetOption(..) | Command::SetInfo(..))
        };
        let first = self.script.commands.iter().position(|command| !settings(command));
        let first = first.unwrap_or(self.script.commands.len());
        let mut commands = self.script.commands[..first].to_vec();
        commands.extend(self.list.iter().map(|hole| Command::DeclareConst(hole.fun)));
        commands.extend_from_slice(&self.script.commands[first..]);
        Script { commands }
    }

    /// The constants that a model gives the holes; the seed's own where the language cannot write the value down.
    pub fn constants(&self, store: &mut Store, evaluated: &mut EvaluatedModel) -> Vec<Term> {
        let constant = |hole: &Hole| {
            let value = evaluated.evaluate(store, hole.term).ok();
            let constant = value.and_then(|value| to_term(store, hole.sort, &value));
            constant.filter(|constant| *constant != hole.normal).unwrap_or(hole.original)
        };
        self.list.iter().map(constant).collect()
    }

    /// The constants of the seed.
    pub fn originals(&self) -> Vec<Term> {
        self.list.iter().map(|hole| hole.original).collect()
    }

    /// What stands in the holes for these constants, one for each hole.
    pub fn filling(&self, constants: &[Term]) -> FxHashMap<Term, Term> {
        self.list.iter().map(|hole| hole.term).zip(constants.iter().copied()).collect()
    }

    /// The script with these constants in its holes.
    pub fn substitute(&self, store: &mut Store, constants: &[Term]) -> Option<Script> {
        let filling = self.filling(constants);
        let mut script = self.script.clone();
        for command in &mut script.commands {
            match command {
                Command::Assert(term) => *term = store.replace_in_place(*term, &filling).ok()?,
                Command::CheckSatAssuming(terms) => {
                    for term in terms {
                        *term = store.replace_in_place(*term, &filling).ok()?;
                    }
                }
                _ => {}
            }
        }
        Some(script)
    }
}

/// A whole value written down: a literal, a negative number, a fraction, a float with its three parts.
pub(super) fn is_constant(store: &Store, term: Term) -> bool {
    let literal = |term: Term| matches!(store.head(term), Head::Literal(_));
    let args = store.args(term);
    match store.head(term) {
        Head::Literal(_) => true,
        Head::Op(Op::True | Op::False, _) => true,
        Head::Op(Op::FpNan | Op::FpPlusZero | Op::FpMinusZero, _) => true,
        Head::Op(Op::FpPlusInfinity | Op::FpMinusInfinity, _) => true,
        Head::Op(Op::Fp, _) => args.iter().all(|arg| literal(*arg)),
        Head::Op(Op::IntNeg, _) => literal(args[0]),
        Head::Op(Op::RealNeg, _) => literal(args[0]) || is_fraction(store, args[0]),
        Head::Op(Op::RealDiv, _) => is_fraction(store, term),
        _ => false,
    }
}

fn is_fraction(store: &Store, term: Term) -> bool {
    let [numerator, denominator] = store.args(term) else { return false };
    if store.op_of(term) != Some(Op::RealDiv) {
        return false;
    }
    let number = |term: Term| match store.head(term) {
        Head::Literal(id) => match store.literal(id) {
            Literal::Real(value) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    };
    let above = match store.op_of(*numerator) {
        Some(Op::RealNeg) => number(store.args(*numerator)[0]),
        _ => number(*numerator),
    };
    above.is_some() && number(*denominator).is_some_and(|value| !value.is_zero())
}

/// A constant's value as the store writes it.
fn normal(store: &mut Store, constant: Term, sort: Sort) -> Option<Term> {
    let value = Evaluator::default().evaluate(store, &Model::new(), constant).ok()?;
    to_term(store, sort, &value)
}

/// Sorts whose constants are replaced.
fn is_supported(store: &Store, sort: Sort) -> bool {
    use SortKind::{BitVec, Bool, FiniteField, Float, Int, Real, String};
    matches!(store.sort_kind(sort), Bool | Int | Real | String | BitVec(_) | Float(..) | FiniteField(_))
}

fn must_inline(store: &Store, script: &Script) -> bool {
    let named = |term: &Term| match store.head(*term) {
        Head::Annotated(attributes) => store
            .attribute_list(attributes)
            .iter()
            .any(|attribute| matches!(attribute.value, AttributeValue::Named(_))),
        _ => false,
    };
    let bodies = script.commands.iter().filter_map(|command| match command {
        Command::DefineFun(fun) | Command::DefineConst(fun) => {
            Some(store.fun(*fun).definition.as_ref()?.body)
        }
        _ => None,
    });
    let bodies: Vec<Term> = bodies.collect();
    store.subterms(&bodies).iter().any(|term| is_constant(store, *term))
        || store.subterms(&formulas(script)).iter().any(named)
}

fn inline(store: &mut Store, script: &mut Script) -> Option<()> {
    for command in &mut script.commands {
        match command {
            Command::Assert(term) => *term = store.inline_definitions(*term).ok()?,
            Command::CheckSatAssuming(terms) => {
                for term in terms {
                    *term = store.inline_definitions(*term).ok()?;
                }
            }
            _ => {}
        }
    }
    (store.subterms(&formulas(script)).len() <= INLINED).then_some(())
}

/// Puts holes into terms.
struct Digger<'s> {
    store: &'s mut Store,
    /// Terms with a constant somewhere inside.
    with_constants: FxHashSet<Term>,
    /// Shared terms that have been done, if they are to stay shared.
    done: Option<FxHashMap<Term, Term>>,
    holes: Vec<Hole>,
}

/// What is left to do with a term.
enum Visit {
    Enter(Term),
    /// A term that stays as it is.
    Keep(Term),
    /// All arguments are done.
    Leave(Term),
}

impl<'s> Digger<'s> {
    fn new(store: &'s mut Store, roots: &[Term], written_out: bool) -> Digger<'s> {
        let mut with_constants = FxHashSet::default();
        for term in store.subterms(roots) {
            let inside = || store.args(term).iter().any(|arg| with_constants.contains(arg));
            if is_constant(store, term) || inside() {
                with_constants.insert(term);
            }
        }
        let done = (!written_out).then(FxHashMap::default);
        Digger { store, with_constants, done, holes: Vec::new() }
    }

    fn dig(&mut self, root: Term) -> Option<Term> {
        let mut results: Vec<Term> = Vec::new();
        let mut stack = vec![Visit::Enter(root)];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Keep(term) => results.push(term),
                Visit::Enter(term) if is_constant(self.store, term) => results.push(self.hole(term)?),
                Visit::Enter(term) => {
                    let known = self.done.as_ref().and_then(|done| done.get(&term));
                    if let Some(known) = known {
                        results.push(*known);
                    } else if self.with_constants.contains(&term) {
                        stack.push(Visit::Leave(term));
                        let head = self.store.head(term);
                        for (place, arg) in self.store.args(term).iter().enumerate().rev() {
                            // Terms in attributes are hints, and of unknown operators nothing is known.
                            // What a constant array holds must be a value for some solvers.
                            let kept = matches!(head, Head::Annotated(_)) && place > 0
                                || matches!(head, Head::Opaque(_) | Head::Op(Op::ConstArray, _));
                            stack.push(if kept { Visit::Keep(*arg) } else { Visit::Enter(*arg) });
                        }
                    } else {
                        results.push(term);
                    }
                }
                Visit::Leave(term) => {
                    let first = results.len() - self.store.args(term).len();
                    let args = results.split_off(first);
                    let new = self.store.rebuild(term, &args).ok()?;
                    if let Some(done) = &mut self.done {
                        done.insert(term, new);
                    }
                    results.push(new);
                }
            }
        }
        results.pop()
    }

    /// A hole for a constant, or the constant itself.
    fn hole(&mut self, original: Term) -> Option<Term> {
        let sort = self.store.sort_of(original);
        if self.holes.len() == HOLES || !is_supported(self.store, sort) {
            return Some(original);
        }
        let name = self.store.fresh_name("h");
        let fun = self.store.declare_fun(name, &[], sort);
        let term = self.store.call(fun, &[]).ok()?;
        let normal = normal(self.store, original, sort).unwrap_or(original);
        self.holes.push(Hole { fun, term, sort, original, normal });
        Some(term)
    }
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, Release, parse, print};

    use super::*;

    fn dug(store: &mut Store, text: &str) -> Option<Holes> {
        let script = parse(store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        Holes::of(store, &script)
    }

    /// The formulas of the skeleton, and the constants that were there.
    fn skeleton(text: &str) -> (Vec<String>, Vec<String>) {
        let mut store = Store::new();
        let holes = dug(&mut store, text).expect("constants");
        let formulas = formulas(&holes.skeleton()).iter().map(|term| store.term_text(*term)).collect();
        let originals = holes.list().iter().map(|hole| store.term_text(hole.original)).collect();
        (formulas, originals)
    }

    #[test]
    fn the_skeleton_of_figure_2() {
        let mut store = Store::new();
        let text = "(declare-fun x () Int)(assert (or (< x 7) (> x (- 1))))(check-sat)";
        let holes = dug(&mut store, text).expect("two constants");
        let printed = print::print(&store, &holes.skeleton(), Release::STANDARD);
        let expected = "(declare-const h!1 Int)\n(declare-const h!2 Int)\n(declare-fun x () Int)\n\
            (assert (or (< x h!1) (> x h!2)))\n(check-sat)\n";
        assert_eq!(printed, expected);
        let constants = [store.int(6), store.int(7)];
        let mutant = holes.substitute(&mut store, &constants).expect("of the same sorts");
        let printed = print::print(&store, &mutant, Release::STANDARD);
        assert_eq!(printed, "(declare-fun x () Int)\n(assert (or (< x 6) (> x 7)))\n(check-sat)\n");
        let same = holes.substitute(&mut store, &holes.originals()).expect("of the same sorts");
        let same = print::print(&store, &same, Release::STANDARD);
        assert_eq!(same, "(declare-fun x () Int)\n(assert (or (< x 7) (> x (- 1))))\n(check-sat)\n");
    }

    #[test]
    fn a_constant_is_a_whole_value() {
        let text = "(declare-fun a () Float32)(declare-fun r () Real)(declare-fun b () (_ BitVec 8))
            (declare-fun s () String)
            (assert (= r (- (/ 1.0 3.0)) 2.5))(assert (or true (= b #x0f (_ bv3 8))))
            (assert (or (= a (fp #b0 #x7f #b00000000000000000000000)) (= a (_ NaN 8 24)) (= s \"u\")))";
        let (formulas, originals) = skeleton(text);
        assert_eq!(formulas[0], "(= r h!1 h!2)");
        assert_eq!(formulas[1], "(or h!3 (= b h!4 h!5))");
        assert_eq!(formulas[2], "(or (= a h!6) (= a h!7) (= s h!8))");
        assert_eq!(originals[0], "(- (/ 1.0 3.0))");
        assert_eq!(&originals[2..5], ["true", "#x0f", "#x03"]);
    }

    #[test]
    fn what_a_constant_array_holds_stays_a_value() {
        let text =
            "(declare-fun a () (Array Int Int))(assert (= a (store ((as const (Array Int Int)) 5) 1 2)))";
        let (formulas, originals) = skeleton(text);
        assert_eq!(formulas, ["(= a (store ((as const (Array Int Int)) 5) h!1 h!2))"]);
        assert_eq!(originals, ["1", "2"]);
    }

    #[test]
    fn one_value_in_two_spellings_is_one_value() {
        let mut store = Store::new();
        let text = "(declare-fun f () (_ FloatingPoint 3 3))
            (assert (or (= f (_ +zero 3 3)) (= f (fp #b0 #b000 #b00))))";
        let holes = dug(&mut store, text).expect("two constants");
        let [plain, spelled] = holes.originals()[..] else { panic!("two holes") };
        let swapped = holes.normalised(&[spelled, plain]);
        assert_ne!(plain, spelled);
        assert_eq!(swapped, holes.normalised(&holes.originals()));
        assert_eq!(swapped[0], swapped[1]);
    }

    #[test]
    fn equal_constants_at_two_places_are_two_holes() {
        let (formulas, originals) = skeleton("(declare-fun f (Int) Int)(assert (= (f 3) (+ (f 3) 3)))");
        assert_eq!(formulas, ["(= (f h!1) (+ (f h!2) h!3))"]);
        assert_eq!(originals, ["3", "3", "3"]);
    }

    #[test]
    fn shared_terms_of_a_large_formula_stay_shared() {
        let lets: String = (0..40).map(|i| format!("(let ((x{} (+ x{i} x{i} 1)))", i + 1)).collect();
        let text = format!("(declare-fun x0 () Int)(assert {lets}(> x40 5){})", ")".repeat(40));
        let (_, originals) = skeleton(&text);
        assert_eq!(originals.len(), 41);
    }

    #[test]
    fn named_terms_and_definitions_with_constants_are_inlined() {
        let text = "(declare-fun x () Int)(define-fun f ((y Int)) Bool (> y 3))
            (assert (! (f x) :named n))(assert (=> n (f 4)))";
        let (formulas, _) = skeleton(text);
        assert_eq!(formulas, ["(> x h!1)", "(=> (> x h!2) (> h!3 h!4))"]);
    }

    #[test]
    fn indices_patterns_and_rounding_modes_stay() {
        let text = "(declare-fun f (Int) Int)(declare-fun b () (_ BitVec 8))
            (assert (forall ((x Int)) (! (> (f x) 0) :pattern ((f x) (f 0)))))
            (assert (= ((_ extract 3 0) b) #x1))
            (assert (fp.isNaN ((_ to_fp 8 24) RNE 0.5)))";
        let (formulas, originals) = skeleton(text);
        assert_eq!(originals, ["0", "#x1", "0.5"]);
        assert!(formulas[0].contains("(f 0)"), "{}", formulas[0]);
    }

    #[test]
    fn scripts_without_constants_or_with_resets_have_no_skeleton() {
        let mut store = Store::new();
        for text in ["(declare-fun x () Int)(assert (> x x))", "(assert (> 1 2))(reset)(assert (> 1 2))"] {
            assert!(dug(&mut store, text).is_none(), "{text}");
        }
    }
}
