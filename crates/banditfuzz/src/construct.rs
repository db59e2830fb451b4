//! Constructs: the arms of the bandit, and which of them are of the same kind.

use std::fmt;

use generate::Grammar;
use smtlib::theory::{Row, SortPattern, Theory, table};
use smtlib::{Family, Head, Literal, Op, Sort, SortKind, Store, Term};

/// A grammatical construct that can be put into an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// An operator, a predicate, a connective or a rounding mode.
    Operator(Op),
    /// A class of constants.
    Constant(Class),
    /// A sort for the variables of another one of its family.
    Sort(Width),
    /// A command in the place of a plain check.
    Command(Question),
}

/// Constants that solvers treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    True,
    False,
    Zero,
    One,
    Negative,
    Small,
    Large,
    AllOnes,
    NaN,
    PlusInfinity,
    MinusInfinity,
    PlusZero,
    MinusZero,
    Subnormal,
    Normal,
    EmptyString,
    Character,
    LongString,
}

/// A sort that has others beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Float(u32, u32),
    BitVec(u32),
}

/// Other ways to ask than by one plain check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A check before the last assertion, which stands on a level of its own.
    Push,
    /// The last assertion is assumed.
    Assuming,
}

/// Constructs of the same kind may stand in each other's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A formula about terms.
    Predicate,
    /// A formula about formulas.
    Connective,
    /// A term of this sort.
    Operator(Sort),
    RoundingMode,
    /// A value of this sort.
    Constant(Sort),
}

impl Construct {
    /// All that a grammar has.
    pub fn all(grammar: &Grammar) -> Vec<Construct> {
        let usable = |row: &&Row| grammar.allows(row.op) && !row.special && !is_value_maker(row.op);
        let mut all: Vec<Construct> =
            table().rows().iter().filter(usable).map(|row| Construct::Operator(row.op)).collect();
        let logic = grammar.logic();
        let mut classes = vec![Class::True, Class::False];
        if logic.ints || logic.reals || logic.bitvectors {
            classes.extend([Class::Zero, Class::One, Class::Small, Class::Large]);
        }
        if logic.ints || logic.reals {
            classes.push(Class::Negative);
        }
        if logic.bitvectors {
            classes.push(Class::AllOnes);
        }
        if logic.floats {
            classes.extend([Class::NaN, Class::PlusInfinity, Class::MinusInfinity, Class::PlusZero]);
            classes.extend([Class::MinusZero, Class::Subnormal, Class::Normal]);
        }
        if logic.strings {
            classes.extend([Class::EmptyString, Class::Character, Class::LongString]);
        }
        all.extend(classes.into_iter().map(Construct::Constant));
        if logic.floats {
            // cvc5 calls all other formats experimental.
            let cvc5 = grammar.releases().iter().any(|release| release.family == Family::Cvc5);
            let formats: &[(u32, u32)] =
                if cvc5 { &[(8, 24), (11, 53)] } else { &[(5, 11), (8, 24), (11, 53)] };
            all.extend(formats.iter().map(|(e, s)| Construct::Sort(Width::Float(*e, *s))));
        }
        if logic.bitvectors {
            let widths = [8, 16, 32, 64].into_iter().filter(|width| *width <= grammar.config().max_width);
            all.extend(widths.map(|width| Construct::Sort(Width::BitVec(width))));
        }
        all.extend([Question::Push, Question::Assuming].map(Construct::Command));
        all
    }

    /// Can it stand where a construct of this kind stands?
    pub fn fits(self, store: &Store, kind: Kind) -> bool {
        match (self, kind) {
            (Construct::Operator(op), Kind::RoundingMode) => {
                op.row().result == SortPattern::Fixed(Sort::ROUNDING_MODE) && op.row().args.is_empty()
            }
            (Construct::Operator(op), Kind::Predicate) => {
                let row = op.row();
                row.result == SortPattern::Fixed(Sort::BOOL)
                    && !row.args.is_empty()
                    && !is_about_formulas(row)
            }
            (Construct::Operator(op), Kind::Connective) => {
                let row = op.row();
                let formula = |pattern: &SortPattern| {
                    matches!(pattern, SortPattern::Fixed(Sort::BOOL) | SortPattern::Var(_))
                };
                row.theory == Theory::Core
                    && !row.args.is_empty()
                    && row.args.iter().chain([&row.result]).all(formula)
            }
            (Construct::Operator(op), Kind::Operator(sort)) => {
                let row = op.row();
                let nullary = sort == Sort::REGLAN;
                (!row.args.is_empty() || nullary) && gives(store, row, sort)
            }
            (Construct::Constant(class), Kind::Constant(sort)) => class.fits(store, sort),
            _ => false,
        }
    }
}

/// Predicates over formulas alone are connectives.
fn is_about_formulas(row: &Row) -> bool {
    row.args.iter().all(|pattern| *pattern == SortPattern::Fixed(Sort::BOOL))
}

/// Operators that write values down.
fn is_value_maker(op: Op) -> bool {
    use Op::*;
    matches!(op, True | False | Fp | FpNan | FpPlusInfinity | FpMinusInfinity | FpPlusZero | FpMinusZero)
}

fn gives(store: &Store, row: &Row, sort: Sort) -> bool {
    if sort == Sort::BOOL {
        return false;
    }
    // Solvers do not choose between regular languages.
    if sort == Sort::REGLAN && matches!(row.result, SortPattern::Var(_)) {
        return false;
    }
    match (&row.result, store.sort_kind(sort)) {
        (SortPattern::BitVec(_), SortKind::BitVec(_)) | (SortPattern::Float(..), SortKind::Float(..)) => true,
        (SortPattern::BitVec(_) | SortPattern::Float(..), _) => false,
        (pattern, _) => pattern.matches(store, sort, &mut smtlib::theory::Bindings::default()),
    }
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Construct::Operator(op) => f.write_str(&operator_name(*op)),
            Construct::Constant(class) => f.write_str(class.name()),
            Construct::Sort(Width::Float(e, s)) => write!(f, "sort (_ FloatingPoint {e} {s})"),
            Construct::Sort(Width::BitVec(width)) => write!(f, "sort (_ BitVec {width})"),
            Construct::Command(Question::Push) => f.write_str("push"),
            Construct::Command(Question::Assuming) => f.write_str("check-sat-assuming"),
        }
    }
}

/// The name in SMT-LIB, with the theory where several operators share it; the short one of rounding modes.
fn operator_name(op: Op) -> String {
    let row = op.row();
    if let ([], [alias]) = (row.args.as_slice(), row.aliases.as_slice()) {
        return alias.name.to_owned();
    }
    match table().named(row.name) {
        [] | [_] => row.name.to_owned(),
        _ => format!("{} ({:?})", row.name, row.theory),
    }
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::True => "true",
            Class::False => "false",
            Class::Zero => "constant 0",
            Class::One => "constant 1",
            Class::Negative => "negative constant",
            Class::Small => "small constant",
            Class::Large => "large constant",
            Class::AllOnes => "constant -1",
            Class::NaN => "NaN",
            Class::PlusInfinity => "+oo",
            Class::MinusInfinity => "-oo",
            Class::PlusZero => "+zero",
            Class::MinusZero => "-zero",
            Class::Subnormal => "subnormal constant",
            Class::Normal => "normal constant",
            Class::EmptyString => "\"\"",
            Class::Character => "string of one character",
            Class::LongString => "longer string",
        }
    }

    fn fits(self, store: &Store, sort: Sort) -> bool {
        use Class::*;
        match self {
            True | False => sort == Sort::BOOL,
            Negative => matches!(sort, Sort::INT | Sort::REAL),
            Zero | One | Small | Large => {
                matches!(sort, Sort::INT | Sort::REAL) || matches!(store.sort_kind(sort), SortKind::BitVec(_))
            }
            AllOnes => matches!(store.sort_kind(sort), SortKind::BitVec(_)),
            EmptyString | Character | LongString => sort == Sort::STRING,
            _ => matches!(store.sort_kind(sort), SortKind::Float(..)),
        }
    }

    /// The class of a term that is a constant.
    pub fn of(store: &Store, term: Term) -> Option<Class> {
        let literal = |term: Term| match store.head(term) {
            Head::Literal(id) => Some(store.literal(id)),
            _ => None,
        };
        const SMALL: i32 = 16;
        match literal(term) {
            Some(Literal::Int(value)) => Some(match value {
                value if value.is_zero() => Class::Zero,
                value if *value == 1.into() => Class::One,
                value if value.is_negative() => Class::Negative,
                value if *value <= SMALL.into() => Class::Small,
                _ => Class::Large,
            }),
            Some(Literal::Real(value)) => Some(match value {
                value if value.is_zero() => Class::Zero,
                value if *value == 1.into() => Class::One,
                value if value.is_negative() => Class::Negative,
                value if *value <= SMALL.into() => Class::Small,
                _ => Class::Large,
            }),
            Some(Literal::BitVec(width, value)) => Some(match value {
                value if value.is_zero() => Class::Zero,
                value if value.count_ones() == *width as usize => Class::AllOnes,
                value if value.is_one() => Class::One,
                value if u32::try_from(value).is_ok_and(|value| value <= SMALL as u32) => Class::Small,
                _ => Class::Large,
            }),
            Some(Literal::String(text)) => Some(match text.len() {
                0 => Class::EmptyString,
                1 => Class::Character,
                _ => Class::LongString,
            }),
            Some(_) => None,
            None => match (store.op_of(term)?, store.args(term)) {
                (Op::True, _) => Some(Class::True),
                (Op::False, _) => Some(Class::False),
                (Op::FpNan, _) => Some(Class::NaN),
                (Op::FpPlusInfinity, _) => Some(Class::PlusInfinity),
                (Op::FpMinusInfinity, _) => Some(Class::MinusInfinity),
                (Op::FpPlusZero, _) => Some(Class::PlusZero),
                (Op::FpMinusZero, _) => Some(Class::MinusZero),
                (Op::IntNeg | Op::RealNeg, [arg]) => literal(*arg).map(|_| Class::Negative),
                (Op::RealDiv, [a, b]) => literal(*a).and(literal(*b)).map(|_| Class::Small),
                (Op::Fp, [_, exponent, fraction]) => match (literal(*exponent)?, literal(*fraction)?) {
                    (Literal::BitVec(_, exponent), Literal::BitVec(..)) if exponent.is_zero() => {
                        Some(Class::Subnormal)
                    }
                    (Literal::BitVec(..), Literal::BitVec(..)) => Some(Class::Normal),
                    _ => None,
                },
                _ => None,
            },
        }
    }
}

impl Kind {
    /// The kind of what stands at the head of a term; nothing for variables, functions and binders.
    pub fn of(store: &Store, term: Term) -> Option<Kind> {
        let sort = store.sort_of(term);
        if Class::of(store, term).is_some() {
            return Some(Kind::Constant(sort));
        }
        let op = store.op_of(term)?;
        let args = store.args(term);
        if sort == Sort::ROUNDING_MODE {
            return args.is_empty().then_some(Kind::RoundingMode);
        }
        if is_value_maker(op) {
            return None;
        }
        if sort != Sort::BOOL {
            return Some(Kind::Operator(sort));
        }
        match args.iter().all(|arg| store.sort_of(*arg) == Sort::BOOL) {
            true => Some(Kind::Connective),
            false => Some(Kind::Predicate),
        }
    }
}
