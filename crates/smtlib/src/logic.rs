//! Logics: what a script uses, and the smallest standard logic that covers it.

use std::collections::BTreeSet;

use crate::literal::Literal;
use crate::print::{Treatment, treatment};
use crate::release::{Family, Release};
use crate::script::{Command, Script};
use crate::sort::{Sort, SortKind};
use crate::store::Store;
use crate::term::{Binder, Fun, Head, Term};
use crate::theory::{Op, Theory};

/// Are numerals of sort Real in this logic? True for the logics whose only arithmetic is over the reals.
pub(crate) fn numerals_are_real(logic: &str) -> bool {
    let arithmetic = logic.trim_end_matches('T');
    ["LRA", "NRA", "RDL"].iter().any(|suffix| arithmetic.ends_with(suffix))
        && !["LIRA", "NIRA"].iter().any(|suffix| arithmetic.ends_with(suffix))
}

/// What a script uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    pub operators: BTreeSet<Op>,
    pub theories: BTreeSet<Theory>,
    pub quantifiers: bool,
    /// Declared functions with parameters, or declared sorts.
    pub uninterpreted: bool,
    pub arrays: bool,
    pub bitvectors: bool,
    /// Something of such a sort is declared, defined or bound; the parts of floats are bit-vectors without that.
    pub named_bitvectors: bool,
    /// The same of integers or reals: some solvers have no such sort in logics without arithmetic.
    pub named_numbers: bool,
    pub floats: bool,
    pub datatypes: bool,
    pub strings: bool,
    pub sequences: bool,
    pub ints: bool,
    pub reals: bool,
    pub nonlinear: bool,
    pub finite_fields: bool,
    /// Sets, bags, tuples, nullables, separation logic: only `ALL` covers them.
    pub beyond: bool,
    /// Lambdas, function values, choice.
    pub higher_order: bool,
    /// Some term is opaque.
    pub opaque: bool,
    /// Some solvers get other commands than the script has.
    pub extended: bool,
    /// Families of solvers that lack a command which cannot be left out.
    pub missing: BTreeSet<Family>,
    /// Shapes of terms that some solvers refuse although they have the operators.
    pub forms: BTreeSet<Form>,
    /// The largest code point in a string literal.
    pub largest_character: u32,
    /// The logic that it names.
    pub logic: Option<Box<str>>,
}

/// A shape of terms that some solvers refuse although they have all of its operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// A choice between regular languages: `ite`, `match` or `select`.
    LanguageChoice,
    /// A variable, constant or function over regular languages.
    LanguageSymbol,
    /// `re.range` between terms that are not literals.
    OpenRange,
    /// A power whose exponent is not a positive numeral.
    OpenPower,
    /// An array indexed by arrays.
    ArrayIndex,
    /// A lambda that is an array.
    ArrayLambda,
}

impl Form {
    /// As adapter files name it.
    pub fn name(self) -> &'static str {
        match self {
            Form::LanguageChoice => "language-choice",
            Form::LanguageSymbol => "language-symbol",
            Form::OpenRange => "open-range",
            Form::OpenPower => "open-power",
            Form::ArrayIndex => "array-index",
            Form::ArrayLambda => "array-lambda",
        }
    }

    /// All of them.
    pub const ALL: [Form; 6] = [
        Form::LanguageChoice,
        Form::LanguageSymbol,
        Form::OpenRange,
        Form::OpenPower,
        Form::ArrayIndex,
        Form::ArrayLambda,
    ];
}

/// Looks at every term and declaration of a script.
pub fn usage(store: &Store, script: &Script) -> Usage {
    let mut usage = Usage { logic: script.logic(store).map(Box::from), ..Usage::default() };
    for command in &script.commands {
        match command {
            Command::DeclareFun(fun) | Command::DeclareConst(fun) => {
                usage.uninterpreted |= !store.fun(*fun).params.is_empty();
                usage.see_signature(store, *fun);
            }
            Command::DefineFun(fun) | Command::DefineFunRec(fun) | Command::DefineConst(fun) => {
                usage.see_signature(store, *fun);
            }
            Command::DeclareSort(_) => usage.uninterpreted = true,
            Command::DeclareDatatypes(_) => usage.datatypes = true,
            _ => {}
        }
        usage.see_treatment(store, command);
    }
    usage.named_bitvectors = usage.bitvectors;
    usage.named_numbers = usage.ints || usage.reals;
    let mut sorts = BTreeSet::new();
    for term in store.subterms(&script.terms(store)) {
        sorts.insert(store.sort_of(term));
        usage.see(store, term);
    }
    for sort in sorts {
        usage.see_sort(store, sort);
    }
    usage
}

impl Usage {
    fn see(&mut self, store: &Store, term: Term) {
        match store.head(term) {
            Head::Op(op, _) => {
                self.operators.insert(op);
                self.theories.insert(op.row().theory);
                self.nonlinear |= is_nonlinear(store, op, store.args(term));
                self.see_form(store, term, op);
            }
            Head::Bind(binder, vars) => {
                match binder {
                    Binder::Forall | Binder::Exists => self.quantifiers = true,
                    Binder::Comprehension => self.beyond = true,
                    Binder::Lambda | Binder::Choice => self.higher_order = true,
                }
                if matches!(store.sort_kind(store.sort_of(term)), SortKind::Array(..))
                    && binder == Binder::Lambda
                {
                    self.forms.insert(Form::ArrayLambda);
                }
                for var in store.var_list(vars) {
                    let sort = store.var_sort(*var);
                    self.named_bitvectors |= matches!(store.sort_kind(sort), SortKind::BitVec(_));
                    self.named_numbers |= matches!(store.sort_kind(sort), SortKind::Int | SortKind::Real);
                    if sort == Sort::REGLAN {
                        self.forms.insert(Form::LanguageSymbol);
                    }
                    self.see_sort(store, sort);
                }
            }
            Head::Literal(literal) => {
                if let Literal::String(points) = store.literal(literal) {
                    let largest = points.iter().copied().max().unwrap_or_default();
                    self.largest_character = self.largest_character.max(largest);
                }
            }
            Head::Apply => self.higher_order = true,
            Head::Match(_) => {
                self.datatypes = true;
                if store.sort_of(term) == Sort::REGLAN {
                    self.forms.insert(Form::LanguageChoice);
                }
            }
            Head::Opaque(_) => self.opaque = true,
            _ => {}
        }
    }

    fn see_treatment(&mut self, store: &Store, command: &Command) {
        // Every other command is part of the standard.
        use Command::{AssertSoft, CheckSatUsing, Eval, Maximize, Minimize, Opaque, Simplify};
        if !matches!(
            command,
            CheckSatUsing(_)
                | Minimize(..)
                | Maximize(..)
                | AssertSoft(..)
                | Simplify(..)
                | Eval(..)
                | Opaque { .. }
        ) {
            return;
        }
        for family in Family::all() {
            match treatment(store, command, family) {
                Treatment::Kept => {}
                Treatment::Missing => _ = self.missing.insert(family),
                Treatment::PlainCheck | Treatment::LeftOut => self.extended = true,
            }
        }
    }

    fn see_form(&mut self, store: &Store, term: Term, op: Op) {
        let literal = |arg: &Term| matches!(store.head(*arg), Head::Literal(_));
        let args = store.args(term);
        match op {
            Op::Ite | Op::Select if store.sort_of(term) == Sort::REGLAN => {
                self.forms.insert(Form::LanguageChoice);
            }
            Op::ReRange if !args.iter().all(literal) => _ = self.forms.insert(Form::OpenRange),
            Op::IntPow | Op::RealPow if !args.get(1).is_some_and(|arg| is_positive(store, *arg)) => {
                self.forms.insert(Form::OpenPower);
            }
            _ => {}
        }
    }

    fn see_signature(&mut self, store: &Store, fun: Fun) {
        let decl = store.fun(fun);
        for sort in decl.params.iter().chain([&decl.result]) {
            if *sort == Sort::REGLAN && decl.definition.is_none() {
                self.forms.insert(Form::LanguageSymbol);
            }
            self.see_sort(store, *sort);
        }
    }

    fn see_sort(&mut self, store: &Store, sort: Sort) {
        match store.sort_kind(sort) {
            SortKind::Bool => {}
            SortKind::Int => self.ints = true,
            SortKind::Real => self.reals = true,
            SortKind::String | SortKind::RegLan => self.strings = true,
            SortKind::RoundingMode | SortKind::Float(..) => self.floats = true,
            SortKind::BitVec(_) => self.bitvectors = true,
            SortKind::FiniteField(_) => self.finite_fields = true,
            SortKind::Seq(element) => {
                self.sequences = true;
                self.see_sort(store, *element);
            }
            SortKind::Set(element) | SortKind::Bag(element) | SortKind::Nullable(element) => {
                self.beyond = true;
                self.see_sort(store, *element);
            }
            SortKind::Tuple(_) => self.beyond = true,
            SortKind::Array(index, element) => {
                self.arrays = true;
                if matches!(store.sort_kind(*index), SortKind::Array(..)) {
                    self.forms.insert(Form::ArrayIndex);
                }
                self.see_sort(store, *index);
                self.see_sort(store, *element);
            }
            SortKind::Fun(..) => self.higher_order = true,
            SortKind::Declared(..) => self.uninterpreted = true,
            SortKind::Datatype(..) => self.datatypes = true,
            SortKind::Param(_) | SortKind::Opaque(_) => self.opaque = true,
        }
    }

    /// The smallest standard logic; `ALL` (`HO_ALL`) where no standard name covers the script.
    pub fn logic(&self) -> String {
        if self.higher_order {
            return "HO_ALL".to_owned();
        }
        if self.beyond || self.opaque || self.sequences {
            return "ALL".to_owned();
        }
        let prefix = if self.quantifiers { "" } else { "QF_" };
        if self.finite_fields {
            let others =
                self.arrays || self.bitvectors || self.floats || self.strings || self.ints || self.reals;
            return if others || self.quantifiers { "ALL".to_owned() } else { "QF_FF".to_owned() };
        }
        let mut name = String::new();
        for (used, letters) in [
            (self.arrays, "A"),
            (self.uninterpreted, "UF"),
            (self.bitvectors, "BV"),
            (self.floats, "FP"),
            (self.datatypes, "DT"),
            (self.strings, "S"),
        ] {
            if used {
                name.push_str(letters);
            }
        }
        // The theory of strings comes with integers.
        let ints = self.ints || self.strings;
        if ints || self.reals {
            name.push(if self.nonlinear { 'N' } else { 'L' });
            name.push_str(match (ints, self.reals) {
                (true, true) => "IRA",
                (true, false) => "IA",
                _ => "RA",
            });
        }
        match name.as_str() {
            "" => name.push_str("UF"),
            "A" => name.push('X'),
            _ => {}
        }
        format!("{prefix}{name}")
    }
}

/// Products of two non-constants, and division, modulus or remainder by a non-constant or by zero: what that is depends on
/// the dividend in any way, and cvc5 and Yices refuse it in linear logics.
fn is_nonlinear(store: &Store, op: Op, args: &[Term]) -> bool {
    match op {
        Op::IntMul | Op::RealMul => args.iter().filter(|arg| !is_constant(store, **arg)).count() > 1,
        Op::IntDiv
        | Op::IntMod
        | Op::IntRem
        | Op::RealDiv
        | Op::IntDivTotal
        | Op::IntModTotal
        | Op::RealDivTotal => args.iter().skip(1).any(|arg| number(store, *arg).is_none_or(is_zero)),
        // Whatever their operands are.
        Op::IntPow | Op::RealPow | Op::IntPow2 | Op::IntLog2 | Op::IntAnd | Op::IntParamAnd => true,
        _ => op.row().theory == Theory::Transcendentals,
    }
}

fn is_positive(store: &Store, term: Term) -> bool {
    let Head::Literal(literal) = store.head(term) else { return false };
    match store.literal(literal) {
        Literal::Int(value) => !value.is_zero() && !value.is_negative(),
        Literal::Real(value) => !value.is_zero() && !value.is_negative(),
        _ => false,
    }
}

/// A number, written with literals, signs, quotients and conversions.
fn is_constant(store: &Store, term: Term) -> bool {
    number(store, term).is_some()
}

fn is_zero(literal: &Literal) -> bool {
    match literal {
        Literal::Int(value) => value.is_zero(),
        Literal::Real(value) => value.is_zero(),
        _ => false,
    }
}

/// The literal in a number that is written with literals, signs, quotients and conversions: what is divided, of a quotient.
fn number(store: &Store, mut term: Term) -> Option<&Literal> {
    loop {
        match store.head(term) {
            Head::Literal(literal) => return Some(store.literal(literal)),
            Head::Op(Op::IntNeg | Op::RealNeg | Op::ToReal | Op::ToInt, _) => term = store.args(term)[0],
            Head::Op(Op::RealDiv, _) => {
                let args = store.args(term);
                if !args[1..].iter().all(|arg| matches!(store.head(*arg), Head::Literal(_))) {
                    return None;
                }
                term = args[0];
            }
            _ => return None,
        }
    }
}

/// Puts a script that has left its logic into one that it fits, whoever reads it: see [`widen_for`].
pub fn widen(store: &mut Store, script: &mut Script) -> Usage {
    widen_for(store, script, &[])
}

/// Puts a script that has left its logic into one that it fits: `ALL` for operators that one of these releases hides in the
/// logics of the standard (all that are not standard, if no release is given), or `HO_ALL` if it was a logic of functions as
/// values; nonlinear for linear arithmetic, linear for difference arithmetic, with bit-vectors or numbers where some are declared (Z3
/// does not know the sort of bit-vectors in `QF_FP`, and cvc5 not that of reals). Mutants leave the logic of their seed, and solvers then refuse them. Tells what the
/// script uses.
pub fn widen_for(store: &mut Store, script: &mut Script, releases: &[Release]) -> Usage {
    let mut usage = usage(store, script);
    let Some(name) = usage.logic.as_deref().map(str::to_owned) else { return usage };
    let wider = if usage.operators.iter().any(|op| is_hidden(*op, releases)) {
        if is_higher_order(&name) { "HO_ALL".to_owned() } else { "ALL".to_owned() }
    } else if !has_arithmetic(&name) && (usage.named_numbers || usage.theories.iter().any(is_numbers)) {
        usage.logic()
    } else {
        let name = if usage.named_bitvectors { with_bitvectors(&name) } else { name.clone() };
        with_arithmetic(&name, usage.nonlinear, || is_difference(store, script))
    };
    if wider == name {
        return usage;
    }
    let symbol = store.symbol(&wider);
    for command in &mut script.commands {
        if let Command::SetLogic(logic) = command {
            *logic = symbol;
        }
    }
    usage.logic = Some(wider.into());
    usage
}

/// Must a script with this operator be in the widest logic, so that the releases that have it find it there?
pub fn is_hidden(op: Op, releases: &[Release]) -> bool {
    let row = op.row();
    if row.is_standard() {
        return false;
    }
    let mut having = releases.iter().filter(|release| row.accepted_by(**release)).peekable();
    having.peek().is_none() || having.any(|release| row.hidden_from(*release))
}

/// Is it a logic in which functions are values?
pub fn is_higher_order(name: &str) -> bool {
    name.starts_with("HO_")
}

/// Does the logic's name promise numbers with their operators? `QF_S` does not to everybody.
fn has_arithmetic(name: &str) -> bool {
    name.ends_with("ALL")
        || ["IA", "RA", "DL"].iter().any(|letters| name.trim_end_matches('T').ends_with(letters))
}

fn is_numbers(theory: &Theory) -> bool {
    matches!(theory, Theory::Ints | Theory::Reals | Theory::Transcendentals)
}

/// The name of a logic of floats with bit-vectors.
fn with_bitvectors(name: &str) -> String {
    if name.contains("BV") { name.to_owned() } else { name.replacen("FP", "BVFP", 1) }
}

/// The logic's name with arithmetic that is wide enough.
fn with_arithmetic(name: &str, nonlinear: bool, difference: impl FnOnce() -> bool) -> String {
    let letter = if nonlinear { 'N' } else { 'L' };
    for (suffix, field) in [("IDL", "IA"), ("RDL", "RA")] {
        if let Some(rest) = name.strip_suffix(suffix) {
            let fits = !nonlinear && difference();
            return if fits { name.to_owned() } else { format!("{rest}{letter}{field}") };
        }
    }
    for suffix in ["LIRA", "LIA", "LRA"] {
        if let Some(rest) = name.strip_suffix(suffix)
            && nonlinear
        {
            return format!("{rest}N{}", &suffix[1..]);
        }
    }
    name.to_owned()
}

/// Is all arithmetic a comparison of two constants, of a constant and a number, or of a difference and a number?
fn is_difference(store: &Store, script: &Script) -> bool {
    let is_arithmetic =
        |term: Term| matches!(store.sort_kind(store.sort_of(term)), SortKind::Int | SortKind::Real);
    let is_minus = |term: Term| matches!(store.head(term), Head::Op(Op::IntSub | Op::RealSub, _));
    store.subterms(&script.terms(store)).into_iter().all(|term| {
        let args = store.args(term);
        match store.head(term) {
            Head::Op(..) if is_constant(store, term) => true,
            Head::Op(Op::IntSub | Op::RealSub, _) => {
                args.len() == 2 && args.iter().all(|arg| !is_constant(store, *arg) && !is_minus(*arg))
            }
            Head::Op(Op::Ite, _) if is_arithmetic(term) => args[1..].iter().all(|arg| !is_minus(*arg)),
            Head::Op(..) if is_arithmetic(term) => false,
            // A comparison: beside a difference there is room for one number only.
            Head::Op(..) if args.iter().any(|arg| is_minus(*arg)) => {
                args.len() == 2 && args.iter().any(|arg| is_constant(store, *arg))
            }
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Mode, parse};

    fn widened(text: &str) -> String {
        let mut store = Store::new();
        let mut script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("well-formed").script;
        widen(&mut store, &mut script);
        script.logic(&store).unwrap_or_default().to_owned()
    }

    #[test]
    fn a_script_that_has_left_its_logic_gets_a_wider_one() {
        let xy = "(declare-fun x () Int)(declare-fun y () Int)";
        for (logic, formula, wider) in [
            ("QF_IDL", "(< (- x y) 3)", "QF_IDL"),
            ("QF_IDL", "(distinct x y)", "QF_IDL"),
            ("QF_IDL", "(<= x (- 7))", "QF_IDL"),
            ("QF_IDL", "(< (+ x y) 3)", "QF_LIA"),
            ("QF_IDL", "(< (- x y) (- y x))", "QF_LIA"),
            ("QF_IDL", "(< (* x y) 3)", "QF_NIA"),
            ("QF_LIA", "(< (* 2 x) 3)", "QF_LIA"),
            ("QF_LIA", "(< (* x x) 3)", "QF_NIA"),
            ("QF_UFLIA", "(= (mod x y) 3)", "QF_UFNIA"),
            ("QF_LIA", "(= (div x (- 3)) y)", "QF_LIA"),
            ("QF_LIA", "(= (mod x 0) y)", "QF_NIA"),
            ("QF_LIA", "(= (div 3 (- 0)) y)", "QF_NIA"),
            ("QF_LIRA", "(= (/ (to_real x) 0.0) 1.0)", "QF_NIRA"),
            ("QF_LIRA", "(= (/ (to_real x) (/ 0.0 2.0)) 1.0)", "QF_NIRA"),
            ("ALL", "(< (* x x) 3)", "ALL"),
            ("QF_S", "(< x (str.len \"a\"))", "QF_SLIA"),
            ("QF_S", "(str.prefixof \"a\" \"ab\")", "QF_SLIA"),
            ("QF_UF", "(= x y)", "QF_LIA"),
            ("QF_LIA", "(set.member x (set.singleton y))", "ALL"),
            ("HO_ALL", "(set.member x (set.singleton y))", "HO_ALL"),
            ("HO_LIA", "(set.member x (set.singleton y))", "HO_ALL"),
        ] {
            let text = format!("(set-logic {logic}){xy}(assert {formula})(check-sat)");
            assert_eq!(widened(&text), wider, "{text}");
        }
        for (logic, script, wider) in [
            // The parts of a float alone do not count.
            ("QF_FP", "(assert (fp.isNaN (fp #b0 #b11111 #b1000000000)))", "QF_FP"),
            ("QF_FP", "(declare-const b (_ BitVec 16))(assert (= b b))", "QF_BVFP"),
            ("QF_UFFPLRA", "(define-fun f ((b (_ BitVec 16))) Bool true)(assert (f #x0000))", "QF_UFBVFPLRA"),
            ("FPLRA", "(assert (forall ((b (_ BitVec 16))) (= b b)))", "BVFPLRA"),
            // Nor does the number that a float is made of.
            ("QF_FP", "(declare-const f Float16)(assert (= f ((_ to_fp 5 11) RNE 0.5)))", "QF_FP"),
            (
                "QF_FP",
                "(declare-const h Real)(declare-const f Float16)(assert (= f ((_ to_fp 5 11) RNE h)))",
                "QF_FPLRA",
            ),
            ("QF_UFBV", "(declare-fun f (Int) Bool)(declare-const h Int)(assert (f h))", "QF_UFLIA"),
            ("FP", "(assert (forall ((r Real)) (fp.isNaN ((_ to_fp 5 11) RNE r))))", "FPLRA"),
            ("QF_S", "(assert (str.prefixof \"a\" \"ab\"))", "QF_S"),
            ("QF_ABVFP", "(declare-const b (_ BitVec 16))(assert (= b b))", "QF_ABVFP"),
        ] {
            let text = format!("(set-logic {logic}){script}(check-sat)");
            assert_eq!(widened(&text), wider, "{text}");
        }
    }
}
