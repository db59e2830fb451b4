//! Measures of a function's arguments, and how a call changes them.

use smtlib::{Fun, Head, Literal, Op, Sort, SortKind, Store, Term, Var};

use super::calls::Call;
use super::linear::{Atom, Linear, number};

/// Measures that are tried for one group of functions.
const MEASURES: usize = 400;

/// How the measure of a call's arguments compares with that of the function's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    /// Smaller, in an order without infinite descent.
    Less,
    /// Not larger.
    LessOrEqual,
    Unknown,
}

use Comparison::*;

/// One measure for each function of a group, all of one kind.
pub(super) enum Measure {
    /// The size of an argument that is a value of a datatype.
    Size(Vec<Var>),
    /// The length of a string or sequence.
    Length(Vec<Var>),
    /// A sum of integer arguments. A call that lowers it must stand where the sum has a lower bound. The least of these
    /// bounds serves all of them: below it the measure counts as zero.
    Sum(Vec<Linear>),
}

/// The measures to try: every choice of an argument, or of a sum, for each function.
pub(super) fn measures(store: &Store, group: &[Fun]) -> Vec<Measure> {
    let params = |wanted: &dyn Fn(&SortKind) -> bool| -> Vec<Vec<Var>> {
        let of = |fun: &Fun| {
            let vars = store.fun(*fun).definition.as_ref().map(|definition| &definition.vars);
            let all = vars.into_iter().flat_map(|vars| vars.iter().copied());
            all.filter(|var| wanted(store.sort_kind(store.var_sort(*var)))).collect()
        };
        group.iter().map(of).collect()
    };
    let data = params(&|kind| matches!(kind, SortKind::Datatype(..)));
    let texts = params(&|kind| matches!(kind, SortKind::String | SortKind::Seq(_)));
    let sums: Vec<Vec<Linear>> =
        params(&|kind| *kind == SortKind::Int).iter().map(|vars| sums(vars)).collect();
    let mut found: Vec<Measure> = Vec::new();
    found.extend(choices(&data).into_iter().map(Measure::Size));
    found.extend(choices(&texts).into_iter().map(Measure::Length));
    found.extend(choices(&sums).into_iter().map(Measure::Sum));
    found
}

/// An argument, its negation, the difference of two.
fn sums(vars: &[Var]) -> Vec<Linear> {
    let mut found: Vec<Linear> = vars.iter().map(|var| Linear::var(*var)).collect();
    found.extend(vars.iter().filter_map(|var| Linear::default().minus(&Linear::var(*var))));
    for more in vars {
        let others = vars.iter().filter(|less| *less != more);
        found.extend(others.filter_map(|less| Linear::var(*more).minus(&Linear::var(*less))));
    }
    found
}

/// One of each list, in all ways; where these are too many, only those that take the same place of every list.
fn choices<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
    let count = lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()));
    if count.is_none_or(|count| count > MEASURES) {
        let same_place = |place: usize| lists.iter().map(|list| list[place].clone()).collect();
        return (0..shortest.min(MEASURES)).map(same_place).collect();
    }
    lists.iter().fold(vec![Vec::new()], |chosen, list| {
        let with = |rest: &Vec<T>, next: &T| rest.iter().chain([next]).cloned().collect();
        chosen.iter().flat_map(|rest| list.iter().map(move |next| with(rest, next))).collect()
    })
}

impl Measure {
    pub fn compare(&self, store: &Store, group: &[Fun], call: &Call) -> Comparison {
        let arg = |var: Var| argument(store, group, call, var);
        let compared = match self {
            Measure::Size(vars) => {
                arg(vars[call.callee]).map(|arg| size(store, call, arg, vars[call.caller]))
            }
            Measure::Length(vars) => {
                arg(vars[call.callee]).map(|arg| length(store, call, arg, vars[call.caller]))
            }
            Measure::Sum(sums) => sum(store, group, call, &sums[call.caller], &sums[call.callee]),
        };
        compared.unwrap_or(Unknown)
    }
}

/// What the call gives for a parameter of the function it calls.
fn argument(store: &Store, group: &[Fun], call: &Call, var: Var) -> Option<Term> {
    let vars = &store.fun(group[call.callee]).definition.as_ref()?.vars;
    let place = vars.iter().position(|own| *own == var)?;
    call.args.get(place).copied()
}

fn size(store: &Store, call: &Call, arg: Term, param: Var) -> Comparison {
    match call.place.origin(store, arg) {
        Some(origin) if origin.param == param && origin.proper => Less,
        Some(origin) if origin.param == param => LessOrEqual,
        _ => Unknown,
    }
}

/// A string or sequence against one that it may be a part of.
fn length(store: &Store, call: &Call, arg: Term, param: Var) -> Comparison {
    let is_param = |term: Term| store.head(term) == Head::Var(param);
    if is_param(arg) {
        return LessOrEqual;
    }
    if !matches!(store.op_of(arg), Some(Op::StrSubstr | Op::SeqExtract)) || !is_param(store.args(arg)[0]) {
        return Unknown;
    }
    // What begins after the first element is shorter, if there is a first element.
    let shortened = number(store, store.args(arg)[1]).is_some_and(|from| from >= 1);
    if shortened && is_not_empty(store, call, param) { Less } else { LessOrEqual }
}

fn is_not_empty(store: &Store, call: &Call, param: Var) -> bool {
    let is_param = |term: &Term| store.head(*term) == Head::Var(param);
    let is_length = |term: &Term| {
        matches!(store.op_of(*term), Some(Op::StrLen | Op::SeqLen)) && is_param(&store.args(*term)[0])
    };
    let is_empty = |term: &Term| match store.head(*term) {
        Head::Literal(literal) => matches!(store.literal(literal), Literal::String(text) if text.is_empty()),
        Head::Op(op, _) => op == Op::SeqEmpty,
        _ => false,
    };
    let is_zero = |term: &Term| number(store, *term) == Some(0);
    let mut found = false;
    call.place.each_atom(store, |atom, holds| {
        let args = store.args(atom);
        let differ = match store.op_of(atom) {
            Some(Op::Equal) => !holds,
            Some(Op::Distinct) => holds,
            _ => false,
        };
        if differ && args.len() == 2 {
            found |= args.iter().any(is_param) && args.iter().any(is_empty);
            found |= args.iter().any(is_length) && args.iter().any(is_zero);
        }
    });
    let facts = &call.at_least_zero;
    found
        || facts.iter().flat_map(|fact| fact.atoms.keys()).any(|atom| match atom {
            Atom::Term(term) if is_length(term) => {
                let length = Linear { atoms: [(*atom, 1)].into(), constant: 0 };
                length.lower_bound(facts).is_some_and(|bound| bound >= 1)
            }
            _ => false,
        })
}

fn sum(store: &Store, group: &[Fun], call: &Call, own: &Linear, callees: &Linear) -> Option<Comparison> {
    let facts = &call.at_least_zero;
    let bounded = own.lower_bound(facts);
    let mut given = Linear { constant: callees.constant, ..Linear::default() };
    for (atom, coefficient) in &callees.atoms {
        let Atom::Var(var) = atom else { return None };
        let arg = argument(store, group, call, *var)?;
        if callees.atoms.len() == 1
            && *coefficient == 1
            && let Some(compared) = divided(store, arg, own, bounded)
        {
            return Some(compared);
        }
        debug_assert_eq!(store.sort_of(arg), Sort::INT);
        let arg = Linear::of(store, arg)?;
        given = match coefficient {
            1 => given.minus(&Linear::default().minus(&arg)?)?,
            -1 => given.minus(&arg)?,
            _ => return None,
        };
    }
    let descent = own.minus(&given)?.lower_bound(facts)?;
    Some(match descent {
        1.. if bounded.is_some() => Less,
        0.. => LessOrEqual,
        _ => Unknown,
    })
}

/// Quotients and remainders: `(div n 2)` is less than a positive `n`, and `(mod k n)` too.
fn divided(store: &Store, arg: Term, own: &Linear, bound: Option<i64>) -> Option<Comparison> {
    let (op, args) = (store.op_of(arg)?, store.args(arg));
    let &[left, right] = args else { return None };
    let is_own = |term: Term| Linear::of(store, term).is_some_and(|sum| sum == *own);
    match op {
        Op::IntDiv if is_own(left) && number(store, right)? >= 2 => match bound? {
            1.. => Some(Less),
            0 => Some(LessOrEqual),
            _ => None,
        },
        Op::IntMod if is_own(right) && bound? >= 1 => Some(Less),
        _ => None,
    }
}
