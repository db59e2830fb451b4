//! What a logic's name allows, read from its letters.

use thiserror::Error;

use smtlib::theory::{Row, SortPattern, Theory};
use smtlib::{Op, Sort};

/// How far arithmetic may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    None,
    /// Comparisons of variables and of their differences with constants.
    Difference,
    /// Products and quotients with constants only.
    Linear,
    Nonlinear,
}

/// A logic: which sorts, theories and binders its formulas may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logic {
    pub name: String,
    pub quantifiers: bool,
    /// Lambdas and function values.
    pub higher_order: bool,
    /// Free function symbols.
    pub functions: bool,
    /// Free sort symbols.
    pub sorts: bool,
    pub arrays: bool,
    pub bitvectors: bool,
    pub floats: bool,
    pub datatypes: bool,
    pub strings: bool,
    pub ints: bool,
    pub reals: bool,
    pub arithmetic: Arithmetic,
    pub finite_fields: bool,
    pub transcendentals: bool,
    /// One of the widest logics, where solvers have what they hide in all others.
    pub wide: bool,
    /// What no letter stands for.
    pub extensions: Extensions,
    /// Its name tells which theories of a wide logic are wanted: scripts have all of them.
    pub focused: bool,
}

/// Theories that only some solvers have, all of them without a letter.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Extensions {
    pub sequences: bool,
    pub sets: bool,
    pub bags: bool,
    pub tuples: bool,
    pub nullables: bool,
    pub separation: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "'{0}' is not a logic: expected letters such as QF_ A UF BV FP DT S FF with LIA, NIA, LRA, NRA, LIRA, NIRA, IDL or \
     RDL at the end, or ALL, also with theories to choose (ALL+sets+ints: {words})",
    words = words()
)]
pub struct UnknownLogic(pub String);

/// The letters, each with what it switches on. Longer ones first where one is the start of another.
type Letters = (&'static str, fn(&mut Logic));
const LETTERS: &[Letters] = &[
    ("AX", |l| (l.arrays, l.sorts) = (true, true)),
    ("A", |l| l.arrays = true),
    ("UF", |l| (l.functions, l.sorts) = (true, true)),
    ("BV", |l| l.bitvectors = true),
    ("FP", |l| l.floats = true),
    ("FF", |l| l.finite_fields = true),
    ("DT", |l| l.datatypes = true),
    ("S", |l| (l.strings, l.ints) = (true, true)),
    ("IDL", |l| (l.ints, l.arithmetic) = (true, Arithmetic::Difference)),
    ("RDL", |l| (l.reals, l.arithmetic) = (true, Arithmetic::Difference)),
    ("LIRA", |l| (l.ints, l.reals, l.arithmetic) = (true, true, Arithmetic::Linear)),
    ("NIRA", |l| (l.ints, l.reals, l.arithmetic) = (true, true, Arithmetic::Nonlinear)),
    ("LIA", |l| (l.ints, l.arithmetic) = (true, Arithmetic::Linear)),
    ("LRA", |l| (l.reals, l.arithmetic) = (true, Arithmetic::Linear)),
    ("NIA", |l| (l.ints, l.arithmetic) = (true, Arithmetic::Nonlinear)),
    ("NRA", |l| (l.reals, l.arithmetic) = (true, Arithmetic::Nonlinear)),
    // cvc5's mark for transcendental functions.
    ("T", |l| l.transcendentals = true),
];

/// Theories of a wide logic, each with what it switches on.
const THEORIES: &[Letters] = &[
    ("ints", |l| l.ints = true),
    ("reals", |l| l.reals = true),
    ("nonlinear", |l| l.arithmetic = Arithmetic::Nonlinear),
    ("transcendentals", |l| (l.reals, l.transcendentals) = (true, true)),
    ("bitvectors", |l| l.bitvectors = true),
    ("floats", |l| l.floats = true),
    ("strings", |l| (l.strings, l.ints) = (true, true)),
    ("arrays", |l| l.arrays = true),
    ("functions", |l| (l.functions, l.sorts) = (true, true)),
    ("datatypes", |l| l.datatypes = true),
    ("fields", |l| l.finite_fields = true),
    ("sequences", |l| (l.extensions.sequences, l.ints) = (true, true)),
    ("sets", |l| (l.extensions.sets, l.ints) = (true, true)),
    ("relations", |l| (l.extensions.sets, l.extensions.tuples, l.ints) = (true, true, true)),
    ("bags", |l| (l.extensions.bags, l.ints) = (true, true)),
    ("tables", |l| (l.extensions.bags, l.extensions.tuples, l.ints) = (true, true, true)),
    ("tuples", |l| l.extensions.tuples = true),
    ("nullables", |l| l.extensions.nullables = true),
    ("separation", |l| (l.extensions.separation, l.ints) = (true, true)),
];

fn words() -> String {
    THEORIES.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
}

impl std::str::FromStr for Logic {
    type Err = UnknownLogic;

    fn from_str(name: &str) -> Result<Logic, UnknownLogic> {
        let unknown = || UnknownLogic(name.to_owned());
        let mut logic = Logic {
            name: name.to_owned(),
            quantifiers: true,
            higher_order: false,
            functions: false,
            sorts: false,
            arrays: false,
            bitvectors: false,
            floats: false,
            datatypes: false,
            strings: false,
            ints: false,
            reals: false,
            arithmetic: Arithmetic::None,
            finite_fields: false,
            transcendentals: false,
            wide: false,
            extensions: Extensions::default(),
            focused: false,
        };
        let mut chosen = name.split('+');
        let mut rest = chosen.next().unwrap_or_default();
        if let Some(after) = rest.strip_prefix("HO_") {
            logic.higher_order = true;
            rest = after;
        }
        if let Some(after) = rest.strip_prefix("QF_") {
            logic.quantifiers = false;
            rest = after;
        }
        if rest == "ALL" {
            logic.wide = true;
            match name.contains('+') {
                true => logic.allow(chosen).ok_or_else(unknown)?,
                false => logic.allow_all(),
            }
            return Ok(logic);
        }
        if rest.is_empty() || name.contains('+') {
            return Err(unknown());
        }
        while !rest.is_empty() {
            let (letters, switch) =
                LETTERS.iter().find(|(letters, _)| rest.starts_with(letters)).ok_or_else(unknown)?;
            switch(&mut logic);
            rest = &rest[letters.len()..];
        }
        Ok(logic)
    }
}

impl Logic {
    fn allow_all(&mut self) {
        for (_, switch) in LETTERS {
            switch(self);
        }
        self.arithmetic = Arithmetic::Nonlinear;
        // Separation logic wants a heap, and goes with little else.
        self.extensions = Extensions {
            sequences: true,
            sets: true,
            bags: true,
            tuples: true,
            nullables: true,
            separation: false,
        };
    }

    /// Some theories of a wide logic.
    fn allow<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Option<()> {
        for word in words {
            let (_, switch) = THEORIES.iter().find(|(name, _)| *name == word)?;
            switch(self);
        }
        if self.arithmetic == Arithmetic::None && (self.ints || self.reals) {
            self.arithmetic = Arithmetic::Linear;
        }
        self.focused = true;
        Some(())
    }

    /// As scripts name it: theories are chosen here, and `QF_ALL` is our word for `ALL` without quantifiers.
    pub fn declared_name(&self) -> &str {
        match self.name.split('+').next().unwrap_or_default() {
            "QF_ALL" => "ALL",
            "HO_QF_ALL" => "HO_ALL",
            name => name,
        }
    }

    pub fn is_difference(&self) -> bool {
        self.arithmetic == Arithmetic::Difference
    }

    pub fn is_linear(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Difference | Arithmetic::Linear)
    }

    /// May an operator of the table occur, as far as its theory and sorts go?
    pub fn admits(&self, row: &Row) -> bool {
        let theory = match row.theory {
            Theory::Core => true,
            Theory::Ints => self.ints && self.arithmetic != Arithmetic::None,
            Theory::Reals => self.reals,
            Theory::Transcendentals => self.reals && self.transcendentals,
            Theory::BitVectors => self.bitvectors,
            Theory::Floats => self.floats,
            Theory::Strings | Theory::Regexes => self.strings,
            Theory::Arrays => self.arrays,
            Theory::FiniteFields => self.finite_fields,
            Theory::Sequences => self.extensions.sequences,
            Theory::Sets => self.extensions.sets,
            Theory::Bags => self.extensions.bags,
            Theory::Tuples => self.extensions.tuples,
            Theory::Nullables => self.extensions.nullables,
            Theory::Separation => self.extensions.separation,
            Theory::Functions => self.higher_order && row.op == Op::Apply,
        };
        theory
            && self.has_operator(row)
            && row.args.iter().chain([&row.result]).all(|pattern| self.has_pattern(pattern))
    }

    /// Theories beyond the standard's that its name asks for.
    pub fn named_theories(&self) -> Vec<Theory> {
        let Extensions { sequences, sets, bags, tuples, nullables, separation } = self.extensions;
        // A wide logic has whatever a solver has, unless theories were chosen.
        let named = self.focused || !self.wide;
        let all = [
            (named && sequences, Theory::Sequences),
            (named && sets, Theory::Sets),
            (named && bags, Theory::Bags),
            (named && tuples, Theory::Tuples),
            (named && nullables, Theory::Nullables),
            (named && separation, Theory::Separation),
            (named && self.finite_fields, Theory::FiniteFields),
            (named && self.transcendentals, Theory::Transcendentals),
            (self.higher_order, Theory::Functions),
        ];
        all.into_iter().filter(|(has, _)| *has).map(|(_, theory)| theory).collect()
    }

    /// Rules about single operators.
    fn has_operator(&self, row: &Row) -> bool {
        let arithmetic = matches!(row.theory, Theory::Ints | Theory::Reals);
        match row.op {
            // Z3 knows the power only in its own, widest logic.
            Op::IntPow | Op::RealPow => self.wide,
            // Part of the mixed theory alone.
            Op::IsInt => self.ints,
            op if self.is_linear() && is_never_linear(op) => false,
            // Differences are made where they may stand: on one side of a comparison.
            _ => !(self.is_difference() && arithmetic && row.result != SortPattern::Fixed(Sort::BOOL)),
        }
    }

    fn has_pattern(&self, pattern: &SortPattern) -> bool {
        match pattern {
            SortPattern::Fixed(sort) => match *sort {
                Sort::INT => self.ints,
                Sort::REAL => self.reals,
                Sort::STRING | Sort::REGLAN => self.strings,
                Sort::ROUNDING_MODE => self.floats,
                Sort::UNIT => self.extensions.tuples,
                _ => true,
            },
            SortPattern::Var(_) => true,
            // The theory of floating-point numbers brings the sort of bit-vectors, without their operators.
            SortPattern::BitVec(_) => self.bitvectors || self.floats,
            SortPattern::Float(..) => self.floats,
            SortPattern::FiniteField(_) => self.finite_fields,
            SortPattern::Seq(p) => self.extensions.sequences && self.has_pattern(p),
            SortPattern::Set(p) => self.extensions.sets && self.has_pattern(p),
            SortPattern::Bag(p) => self.extensions.bags && self.has_pattern(p),
            SortPattern::Nullable(p) => self.extensions.nullables && self.has_pattern(p),
            SortPattern::Array(i, e) => self.arrays && self.has_pattern(i) && self.has_pattern(e),
            SortPattern::Fun(params, result) => {
                self.higher_order && params.iter().chain([&**result]).all(|pattern| self.has_pattern(pattern))
            }
        }
    }
}

/// Operators that no choice of operands makes linear.
fn is_never_linear(op: Op) -> bool {
    matches!(op, Op::IntPow2 | Op::IntLog2 | Op::IntAnd | Op::IntParamAnd)
}

/// The logics of the SMT-LIB catalogue and of the yearly competition, and cvc5's finite fields.
pub const STANDARD: &[&str] = &[
    "ABV",
    "ABVFP",
    "ABVFPLRA",
    "ALIA",
    "ANIA",
    "AUFBV",
    "AUFBVDTLIA",
    "AUFBVDTNIA",
    "AUFBVDTNIRA",
    "AUFBVFP",
    "AUFDTLIA",
    "AUFDTLIRA",
    "AUFDTNIRA",
    "AUFFPDTNIRA",
    "AUFLIA",
    "AUFLIRA",
    "AUFNIA",
    "AUFNIRA",
    "BV",
    "BVFP",
    "BVFPLRA",
    "FP",
    "FPLRA",
    "LIA",
    "LIRA",
    "LRA",
    "NIA",
    "NIRA",
    "NRA",
    "QF_ABV",
    "QF_ABVFP",
    "QF_ABVFPLRA",
    "QF_ALIA",
    "QF_ANIA",
    "QF_AUFBV",
    "QF_AUFBVFP",
    "QF_AUFBVLIA",
    "QF_AUFBVNIA",
    "QF_AUFLIA",
    "QF_AUFNIA",
    "QF_AX",
    "QF_BV",
    "QF_BVFP",
    "QF_BVFPLRA",
    "QF_BVLRA",
    "QF_DT",
    "QF_FF",
    "QF_FP",
    "QF_FPLRA",
    "QF_IDL",
    "QF_LIA",
    "QF_LIRA",
    "QF_LRA",
    "QF_NIA",
    "QF_NIRA",
    "QF_NRA",
    "QF_RDL",
    "QF_S",
    "QF_SLIA",
    "QF_SNIA",
    "QF_UF",
    "QF_UFBV",
    "QF_UFBVDT",
    "QF_UFBVFP",
    "QF_UFBVLIA",
    "QF_UFDT",
    "QF_UFDTLIA",
    "QF_UFDTLIRA",
    "QF_UFDTNIA",
    "QF_UFFP",
    "QF_UFFPDTNIRA",
    "QF_UFIDL",
    "QF_UFLIA",
    "QF_UFLRA",
    "QF_UFNIA",
    "QF_UFNRA",
    "UF",
    "UFBV",
    "UFBVDT",
    "UFBVFP",
    "UFBVLIA",
    "UFDT",
    "UFDTLIA",
    "UFDTLIRA",
    "UFDTNIA",
    "UFDTNIRA",
    "UFFPDTNIRA",
    "UFIDL",
    "UFLIA",
    "UFLRA",
    "UFNIA",
    "UFNIRA",
    "UFNRA",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn logic(name: &str) -> Logic {
        name.parse().expect(name)
    }

    #[test]
    fn letters_are_read_in_any_combination() {
        let l = logic("QF_AUFBVFP");
        assert!(l.arrays && l.functions && l.bitvectors && l.floats && !l.quantifiers && !l.ints);
        let l = logic("UFDTLIRA");
        assert!(l.datatypes && l.ints && l.reals && l.is_linear() && l.quantifiers && !l.arrays);
        assert!(logic("QF_SLIA").strings && logic("QF_S").ints);
        assert!(logic("QF_UFIDL").is_difference());
        assert!(logic("ALL").extensions.sets && logic("QF_NRAT").transcendentals);
        assert!(logic("HO_ALL").higher_order && !logic("ALL").higher_order);
        for name in STANDARD {
            logic(name);
        }
    }

    #[test]
    fn theories_of_a_wide_logic_can_be_chosen() {
        let l = logic("QF_ALL+sets+bitvectors");
        assert!(l.extensions.sets && l.bitvectors && l.ints && l.is_linear() && !l.quantifiers);
        assert!(!l.extensions.bags && !l.strings && !l.reals && l.focused && !logic("ALL").focused);
        assert_eq!((l.declared_name(), logic("HO_ALL+bags").declared_name()), ("ALL", "HO_ALL"));
        let relations = logic("ALL+relations+nonlinear");
        assert!(relations.extensions.tuples && !relations.is_linear() && relations.quantifiers);
        assert!(!logic("ALL").extensions.separation && logic("ALL+separation").extensions.separation);
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "QF_", "QF_XYZ", "LIA2", "all", "QF_LIA+sets", "ALL+", "ALL+heaps"] {
            assert_eq!(name.parse::<Logic>(), Err(UnknownLogic(name.to_owned())));
        }
    }

    #[test]
    fn operators_need_their_theory_and_all_their_sorts() {
        assert!(!logic("QF_BV").admits(Op::UbvToInt.row()) && logic("ALL").admits(Op::UbvToInt.row()));
        assert!(
            !logic("QF_FP").admits(Op::ToFpFromReal.row())
                && logic("QF_FPLRA").admits(Op::ToFpFromReal.row())
        );
        assert!(logic("QF_FP").admits(Op::Fp.row()) && !logic("QF_FP").admits(Op::BvAdd.row()));
        assert!(!logic("QF_LIA").admits(Op::IntPow.row()));
        assert!(!logic("QF_LIA").admits(Op::RealAdd.row()));
    }
}
