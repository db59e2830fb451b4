//! The names of what scripts are made of: the same for every test case, so that they can be counted.

use std::borrow::Cow;
use std::sync::OnceLock;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use smtlib::theory::{Theory, table};
use smtlib::{AttributeValue, Command, Head, Op, Script, Sort, SortKind, Store, Term};
use solver::run::Configuration;

/// The name of a construct: an operator with the sort it is used at, a binder, a kind of command, an option.
pub type Name = Cow<'static, str>;

/// The constructs of a script, sorted and without repetition. Values, constants and variables are none.
pub fn constructs(store: &Store, script: &Script) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for command in &script.commands {
        of_command(store, command, &mut names);
    }
    if script.commands.iter().filter(|command| command.is_check()).count() > 1 {
        names.push(Cow::Borrowed(SEVERAL_CHECKS));
    }
    // Most heads occur often: looked up once each.
    let mut seen = FxHashSet::default();
    let mut heads = FxHashSet::default();
    let mut stack = script.terms(store);
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        stack.extend_from_slice(store.args(term));
        if is_value(store, term) {
            continue;
        }
        if heads.insert((store.head(term), sort_that_tells(store, term), is_linear_product(store, term))) {
            names.extend(of_term(store, term));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The options of a solver, as constructs.
pub fn options(configuration: &Configuration) -> Vec<Name> {
    configuration.options().iter().map(|word| option(word)).collect()
}

/// More than one check in a script.
pub(super) const SEVERAL_CHECKS: &str = "several checks";

/// What a declared function with arguments is called: its own name says nothing.
const UNINTERPRETED: &str = "uninterpreted function";

fn option(word: &str) -> Name {
    Cow::Owned(format!("{OPTION}{word}"))
}

/// How the names of tactics begin.
pub const TACTIC: &str = "tactic ";

/// How the names of options begin.
pub const OPTION: &str = "option ";

/// What a command is called, where it is more than a declaration or an assertion.
pub(super) fn of_command(store: &Store, command: &Command, names: &mut Vec<Name>) {
    let name = match command {
        Command::SetLogic(logic) => Cow::Owned(format!("logic {}", store.name(*logic))),
        Command::SetOption(keyword, value) => {
            option(&format!("{}={value}", store.name(*keyword).trim_start_matches(':')))
        }
        Command::DefineFun(_) | Command::DefineConst(_) => Cow::Borrowed("define-fun"),
        Command::DefineFunRec(_) | Command::DefineFunsRec(_) => Cow::Borrowed("define-fun-rec"),
        Command::CheckSatAssuming(_) => Cow::Borrowed("check-sat-assuming"),
        Command::CheckSatUsing(tactic) => {
            names.extend(tactics(tactic).map(|tactic| Cow::Owned(format!("{TACTIC}{tactic}"))));
            return;
        }
        Command::Push(_) | Command::Pop(_) => Cow::Borrowed("push"),
        Command::GetModel => Cow::Borrowed("get-model"),
        Command::GetUnsatCore => Cow::Borrowed("get-unsat-core"),
        Command::GetUnsatAssumptions => Cow::Borrowed("get-unsat-assumptions"),
        Command::GetAssignment => Cow::Borrowed("get-assignment"),
        Command::GetProof => Cow::Borrowed("get-proof"),
        Command::GetValue(_) => Cow::Borrowed("get-value"),
        Command::Reset => Cow::Borrowed("reset"),
        Command::ResetAssertions => Cow::Borrowed("reset-assertions"),
        Command::Minimize(..) => Cow::Borrowed("minimize"),
        Command::Maximize(..) => Cow::Borrowed("maximize"),
        Command::AssertSoft(..) => Cow::Borrowed("assert-soft"),
        Command::Simplify(..) => Cow::Borrowed("simplify"),
        Command::Eval(..) => Cow::Borrowed("eval"),
        Command::Opaque { name, .. } => Cow::Owned(store.name(*name).to_owned()),
        Command::SetInfo(..)
        | Command::GetInfo(_)
        | Command::GetOption(_)
        | Command::DeclareSort(_)
        | Command::DefineSort { .. }
        | Command::DeclareDatatypes(_)
        | Command::DeclareFun(_)
        | Command::DeclareConst(_)
        | Command::Assert(_)
        | Command::CheckSat
        | Command::GetAssertions
        | Command::Echo(_)
        | Command::Exit => return,
    };
    names.push(name);
}

/// The tactics in a call of one, without what combines them and their parameters.
pub fn tactics(text: &str) -> impl Iterator<Item = &str> {
    const COMBINE: [&str; 12] = [
        "then",
        "and-then",
        "or-else",
        "par-or",
        "par-then",
        "try-for",
        "if",
        "when",
        "fail-if",
        "repeat",
        "using-params",
        "!",
    ];
    let words = text.split(|c: char| c.is_whitespace() || c == '(' || c == ')');
    let mut parameter = false;
    words.filter(move |word| {
        let value = std::mem::replace(&mut parameter, word.starts_with(':'));
        !value
            && !word.is_empty()
            && !word.starts_with(':')
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && !COMBINE.contains(word)
    })
}

/// What a term is called by its head; nothing for values, constants and variables.
pub(super) fn of_term(store: &Store, term: Term) -> Option<Name> {
    Some(match store.head(term) {
        Head::Op(op, _) => {
            if is_value(store, term) {
                return None;
            }
            if is_linear_product(store, term) {
                return Some(Cow::Borrowed(if op == Op::IntMul { "* Int linear" } else { "* Real linear" }));
            }
            Cow::Borrowed(named(op, sort_that_tells(store, term).map(|sort| class(store.sort_kind(sort)))))
        }
        Head::Fun(fun) if store.args(term).is_empty() || store.fun(fun).definition.is_some() => return None,
        Head::Fun(_) => Cow::Borrowed(UNINTERPRETED),
        Head::Var(_) | Head::Literal(_) => return None,
        Head::Constructor(..) => Cow::Borrowed("constructor"),
        Head::Selector(..) => Cow::Borrowed("selector"),
        Head::Tester(..) => Cow::Borrowed("tester"),
        Head::Updater(..) => Cow::Borrowed("update"),
        Head::Apply => Cow::Borrowed("apply"),
        Head::Bind(binder, _) => Cow::Borrowed(binder.name()),
        Head::Match(_) => Cow::Borrowed("match"),
        Head::Annotated(attributes) => {
            let mut list = store.attribute_list(attributes).iter();
            // Other attributes are remarks.
            let telling = list.find(|attribute| {
                matches!(
                    attribute.value,
                    AttributeValue::Named(_) | AttributeValue::Terms(_) | AttributeValue::Term
                )
            })?;
            match telling.value {
                AttributeValue::Named(_) => Cow::Borrowed(":named"),
                AttributeValue::Terms(_) => Cow::Borrowed(":pattern"),
                _ => Cow::Borrowed(":no-pattern"),
            }
        }
        Head::Opaque(name) => Cow::Owned(store.name(name).to_owned()),
    })
}

/// Whether a term only writes a value down: true, false, a sign or quotient of numerals, the parts of a float.
pub(super) fn is_value(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Literal(_) => true,
        Head::Op(Op::True | Op::False, _) => true,
        Head::Op(Op::IntNeg | Op::RealNeg | Op::RealDiv | Op::Fp, _) => {
            let literal = |arg: &Term| match store.head(*arg) {
                Head::Literal(_) => true,
                Head::Op(Op::IntNeg | Op::RealNeg, _) => {
                    matches!(store.head(store.args(*arg)[0]), Head::Literal(_))
                }
                _ => false,
            };
            store.args(term).iter().all(literal)
        }
        _ => false,
    }
}

/// A product of at most one term that is no number is another thing than one of several.
fn is_linear_product(store: &Store, term: Term) -> bool {
    matches!(store.head(term), Head::Op(Op::IntMul | Op::RealMul, _))
        && store.args(term).iter().filter(|arg| !is_value(store, **arg)).count() <= 1
}

/// The sort that tells apart what bears one name: the last argument's.
fn sort_that_tells(store: &Store, term: Term) -> Option<Sort> {
    let Head::Op(op, _) = store.head(term) else { return None };
    let last = store.args(term).last()?;
    overloaded(op).then(|| store.sort_of(*last))
}

/// The kinds of sorts that names tell apart.
const CLASSES: [&str; 18] = [
    "Bool",
    "Int",
    "Real",
    "String",
    "RegLan",
    "RoundingMode",
    "BitVec",
    "Float",
    "FiniteField",
    "Seq",
    "Set",
    "Bag",
    "Nullable",
    "Array",
    "Tuple",
    "->",
    "Datatype",
    "Uninterpreted",
];

fn class(kind: &SortKind) -> usize {
    match kind {
        SortKind::Bool => 0,
        SortKind::Int => 1,
        SortKind::Real => 2,
        SortKind::String => 3,
        SortKind::RegLan => 4,
        SortKind::RoundingMode => 5,
        SortKind::BitVec(_) => 6,
        SortKind::Float(..) => 7,
        SortKind::FiniteField(_) => 8,
        SortKind::Seq(_) => 9,
        SortKind::Set(_) => 10,
        SortKind::Bag(_) => 11,
        SortKind::Nullable(_) => 12,
        SortKind::Array(..) => 13,
        SortKind::Tuple(_) => 14,
        SortKind::Fun(..) => 15,
        SortKind::Datatype(..) => 16,
        SortKind::Declared(..) | SortKind::Param(_) | SortKind::Opaque(_) => 17,
    }
}

/// The kind of a sort, as names of constructs tell it.
pub(super) fn kind(store: &Store, sort: Sort) -> &'static str {
    CLASSES[class(store.sort_kind(sort))]
}

/// The names of overloaded operators at every kind of sort, made once.
struct Names {
    /// By number of the operator; empty where the name says it all.
    sorted: Vec<Vec<String>>,
}

fn names() -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| {
        let sorted = |row: &smtlib::theory::Row| {
            let same_name = table().rows().iter().filter(|other| other.name == row.name).count() > 1;
            let told_apart = matches!(row.theory, Theory::Ints | Theory::Reals | Theory::Floats) && same_name;
            if !told_apart && !matches!(row.op, Op::Equal | Op::Distinct | Op::Ite) {
                return Vec::new();
            }
            CLASSES.iter().map(|class| format!("{} {class}", row.name)).collect()
        };
        Names { sorted: table().rows().iter().map(sorted).collect() }
    })
}

fn overloaded(op: Op) -> bool {
    !names().sorted[op as usize].is_empty()
}

fn named(op: Op, class: Option<usize>) -> &'static str {
    match class.and_then(|class| names().sorted[op as usize].get(class)) {
        Some(name) => name,
        None => op.name(),
    }
}

/// What a construct does in a script, which decides how much it says about a bug that needs it: the first most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// An operator that computes something, a binder.
    Computes,
    /// An option, a tactic, the logic, a command.
    Setting,
    /// A comparison: what a bug is seen through.
    Tests,
    /// Writes a value down.
    Writes,
    /// A Boolean connective.
    Connects,
}

impl Role {
    /// The most telling first.
    pub(super) const ALL: [Role; 5] =
        [Role::Computes, Role::Setting, Role::Tests, Role::Writes, Role::Connects];

    pub(super) fn of(store: &Store, term: Term) -> Role {
        let Head::Op(op, _) = store.head(term) else { return Role::Computes };
        let boolean =
            |place: usize| store.args(term).get(place).is_some_and(|arg| store.sort_of(*arg) == Sort::BOOL);
        match op {
            Op::Not | Op::And | Op::Or | Op::Implies | Op::Xor => Role::Connects,
            Op::Equal | Op::Distinct if boolean(0) => Role::Connects,
            Op::Ite if boolean(1) => Role::Connects,
            Op::Equal | Op::Distinct => Role::Tests,
            _ if Role::compares(op) => Role::Tests,
            _ if store.args(term).is_empty()
                && (op.row().theory == Theory::Floats || store.sort_of(term) == Sort::REGLAN) =>
            {
                Role::Writes
            }
            Op::Fp | Op::SeqUnit | Op::SeqEmpty | Op::SetEmpty | Op::SetSingleton => Role::Writes,
            Op::StrToRe => Role::Writes,
            _ => Role::Computes,
        }
    }

    fn compares(op: Op) -> bool {
        matches!(
            op,
            Op::IntLe
                | Op::IntLt
                | Op::IntGe
                | Op::IntGt
                | Op::RealLe
                | Op::RealLt
                | Op::RealGe
                | Op::RealGt
                | Op::BvUlt
                | Op::BvUle
                | Op::BvUgt
                | Op::BvUge
                | Op::BvSlt
                | Op::BvSle
                | Op::BvSgt
                | Op::BvSge
                | Op::FpLe
                | Op::FpLt
                | Op::FpGe
                | Op::FpGt
                | Op::FpEq
                | Op::FpIsNormal
                | Op::FpIsSubnormal
                | Op::FpIsZero
                | Op::FpIsInfinite
                | Op::FpIsNan
                | Op::FpIsNegative
                | Op::FpIsPositive
        )
    }
}

#[cfg(test)]
mod tests {
    use smtlib::{Mode, parse};

    use super::*;

    fn of(text: &str) -> String {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        constructs(&store, &script).join(", ")
    }

    #[test]
    fn overloaded_operators_carry_their_sort_and_others_do_not() {
        let text = "(declare-const x Int)(declare-const r Real)(declare-const a (Array Int Real))
                    (assert (= (+ x (mod x 3)) (- 1)))(assert (> (+ r (select a x)) (ite (= a a) r 1.5)))(check-sat)";
        assert_eq!(of(text), "+ Int, + Real, = Array, = Int, > Real, ite Real, mod, select");
    }

    #[test]
    fn a_product_with_a_number_is_another_construct_than_one_of_variables() {
        let text = "(declare-const x Int)(declare-const y Real)(assert (= (* 2 x) (* x x x)))
                    (assert (< (* y (/ 1.0 3.0)) (* (- 2.0) y y)))(check-sat)";
        assert_eq!(of(text), "* Int, * Int linear, * Real, * Real linear, < Real, = Int");
    }

    #[test]
    fn commands_options_and_tactics_are_constructs() {
        let text = "(set-logic QF_NRA)(set-option :opt.priority lex)(declare-fun f (Int) Int)(push 1)(assert (= (f 1) 2))
                    (check-sat-using (then (using-params simplify :som true) (or-else qfnra smt)))(pop 1)(check-sat)";
        assert_eq!(
            of(text),
            "= Int, logic QF_NRA, option opt.priority=lex, push, several checks, tactic qfnra, tactic simplify, \
             tactic smt, uninterpreted function"
        );
    }

    #[test]
    fn binders_and_values_of_floats() {
        let text = "(declare-const x Float32)(assert (exists ((y Float32)) (fp.lt x (fp.rem y (fp.add RNE y x)))))
                    (assert (= x (fp #b0 #x01 #b00000000000000000000001)))(assert (= x ((_ to_fp 8 24) RNE 0.1)))(check-sat)";
        assert_eq!(of(text), "= Float, exists, fp.add, fp.lt, fp.rem, roundNearestTiesToEven, to_fp Real");
    }
}
