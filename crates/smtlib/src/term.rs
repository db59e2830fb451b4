//! The parts of a term: what stands at its head, and what heads refer to.

use crate::sort::{Datatype, Sort};
use crate::symbol::Symbol;
use crate::theory::Op;

/// A term of the store that made it. Equal terms have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// A dense number, for side tables. Sub-terms have smaller numbers than the terms they stand in.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function or constant declared or defined by a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fun(pub(crate) u32);

impl Fun {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable bound by a quantifier, lambda, match or function definition: a name with a sort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub(crate) u32);

impl Var {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) u32);)*
    };
}

ids! {
    /// An interned [`Literal`](crate::Literal).
    LiteralId,
    /// An interned list of indices.
    Indices,
    /// An interned list of bound variables.
    Vars,
    /// The patterns of a `match`.
    Patterns,
    /// The attributes of an annotated term.
    Attributes,
}

impl Indices {
    /// No indices.
    pub const NONE: Indices = Indices(0);
}

/// What stands at the head of a term; the arguments are the term's children.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Head {
    /// A theory operator with its indices.
    Op(Op, Indices),
    /// A declared or defined function. With fewer arguments than parameters it is a function value.
    Fun(Fun),
    /// A bound variable.
    Var(Var),
    Literal(LiteralId),
    /// A datatype's constructor (by number).
    Constructor(Datatype, u16),
    /// A field of a constructor.
    Selector(Datatype, u16, u16),
    Tester(Datatype, u16),
    /// `(_ update field)`.
    Updater(Datatype, u16, u16),
    /// Application of a function value: the first child is the function.
    Apply,
    /// A binder over its children: one body, for a comprehension predicate and element.
    Bind(Binder, Vars),
    /// `match`: the first child is matched, then one child a case.
    Match(Patterns),
    /// `(! t ...)`: the first child is the term, then the terms inside attributes in order.
    Annotated(Attributes),
    /// An operator nobody knows, with its arguments.
    Opaque(Symbol),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Binder {
    Forall,
    Exists,
    Lambda,
    /// Hilbert's choice.
    Choice,
    /// cvc5's set comprehension.
    Comprehension,
}

impl Binder {
    pub fn name(self) -> &'static str {
        match self {
            Binder::Forall => "forall",
            Binder::Exists => "exists",
            Binder::Lambda => "lambda",
            Binder::Choice => "choice",
            Binder::Comprehension => "set.comprehension",
        }
    }

    /// `forall` and `exists`.
    pub fn is_quantifier(self) -> bool {
        matches!(self, Binder::Forall | Binder::Exists)
    }
}

/// An index of `(_ name index ...)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    Number(u32),
    /// A number that does not fit 32 bits.
    Big(Box<dashu_int::UBig>),
    Symbol(Symbol),
    /// A function of the script, as in `(_ as-array f)`.
    Fun(Fun),
    /// A theory operator used as a function, as in `(_ map or)`.
    Op(Op),
}

/// A case's pattern in a `match`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Matches anything and binds it.
    Var(Var),
    /// A constructor with a variable for each field.
    Constructor(u16, Box<[Var]>),
}

/// An attribute of an annotation, a command or `set-info`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Attribute {
    /// With its colon.
    pub keyword: Symbol,
    pub value: AttributeValue,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttributeValue {
    None,
    /// Any S-expression, as text.
    Text(Box<str>),
    /// `:named`: the name, also declared as a function that stands for the term.
    Named(Fun),
    /// A list of terms in parentheses (`:pattern`): that many of the annotated term's children.
    Terms(u32),
    /// One term (`:no-pattern`): one child.
    Term,
}

/// Where a sub-term stands: child numbers from the root.
pub type Path = Vec<u32>;

/// The sign of a Boolean position: may its sub-formula be weakened (positive) or strengthened (negative)
/// without making a true formula false?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Polarity {
    Positive,
    Negative,
    /// Under an operator that is not monotone.
    Both,
}

impl Polarity {
    /// The polarity under a negation.
    pub fn flip(self) -> Polarity {
        match self {
            Polarity::Positive => Polarity::Negative,
            Polarity::Negative => Polarity::Positive,
            Polarity::Both => Polarity::Both,
        }
    }
}

/// A function's declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunDecl {
    pub name: Symbol,
    pub params: Box<[Sort]>,
    pub result: Sort,
    pub definition: Option<Definition>,
}

/// The body of a defined function or named term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub vars: Box<[Var]>,
    pub body: Term,
    pub recursive: bool,
}

/// A datatype's declaration. Field sorts mention [`SortKind::Param`](crate::SortKind) for its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatatypeDecl {
    pub name: Symbol,
    pub params: Box<[Symbol]>,
    pub constructors: Vec<ConstructorDecl>,
    /// Declared with `declare-codatatypes`.
    pub codatatype: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstructorDecl {
    pub name: Symbol,
    pub fields: Vec<(Symbol, Sort)>,
}
