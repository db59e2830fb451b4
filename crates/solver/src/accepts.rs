//! Which scripts a solver claims to take: its theories, its operators, the logics it refuses by name.

use std::collections::BTreeSet;

use smtlib::logic::Usage;
use smtlib::print::Dialect;
use smtlib::theory::Theory;

use crate::solver::Solver;

impl Solver {
    /// Does it claim everything the script uses? A solver of which nothing is known claims all of the standard.
    pub fn accepts(&self, usage: &Usage) -> bool {
        let theories = self.theories().into_iter().map(str::to_owned).collect();
        self.accepts_among(usage, &theories)
    }

    /// The same for who has listed its theories already.
    pub fn accepts_among(&self, usage: &Usage, theories: &BTreeSet<String>) -> bool {
        let needs = needs(usage);
        let theories_ok = theories.is_empty() || needs.iter().all(|need| theories.contains(*need));
        let operators = usage.operators.iter().map(|op| op.name());
        let features = needs.iter().copied().chain(usage.nonlinear.then_some("nonlinear")).chain(operators);
        let release = self.release();
        theories_ok
            && usage.operators.iter().all(|op| op.row().accepted_by(release))
            && !usage.missing.contains(&release.family)
            && !usage.forms.iter().any(|form| self.adapter.lacks_form(form.name(), self.version()))
            && usage.largest_character <= Dialect::of(release).largest_character
            && self.adapter.accepts_logic(usage.logic.as_deref().unwrap_or_default(), features)
    }
}

/// What a script needs, in the adapters' vocabulary.
fn needs(usage: &Usage) -> BTreeSet<&'static str> {
    let mut needs: BTreeSet<&'static str> =
        usage.theories.iter().map(|theory| theory_name(*theory)).collect();
    let features = [
        (usage.quantifiers, "quantifiers"),
        (usage.uninterpreted, "functions"),
        (usage.arrays, "arrays"),
        (usage.bitvectors, "bitvectors"),
        (usage.floats, "floats"),
        (usage.datatypes, "datatypes"),
        (usage.strings, "strings"),
        (usage.sequences, "sequences"),
        (usage.ints, "ints"),
        (usage.reals, "reals"),
        (usage.finite_fields, "finite_fields"),
        (usage.higher_order, "lambdas"),
    ];
    needs.extend(features.iter().filter(|(used, _)| *used).map(|(_, need)| *need));
    needs
}

/// The adapters' name of a theory.
pub fn theory_name(theory: Theory) -> &'static str {
    match theory {
        Theory::Arrays => "arrays",
        Theory::Bags => "bags",
        Theory::BitVectors => "bitvectors",
        Theory::Core => "core",
        Theory::FiniteFields => "finite_fields",
        Theory::Floats => "floats",
        Theory::Functions => "functions",
        Theory::Ints => "ints",
        Theory::Nullables => "nullables",
        Theory::Reals => "reals",
        Theory::Regexes => "regexes",
        Theory::Tuples => "relations_tuples",
        Theory::Separation => "separation",
        Theory::Sequences => "sequences",
        Theory::Sets => "sets",
        Theory::Strings => "strings",
        Theory::Transcendentals => "transcendentals",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Adapters;
    use crate::solver::tests::solver;
    use smtlib::logic::usage;
    use smtlib::{Mode, Store, parse};

    #[test]
    fn a_logic_that_is_refused_by_name_is_not_claimed() {
        let adapters = Adapters::built_in();
        let adapter = adapters.get("yices").expect("a built-in adapter");
        for (text, claimed) in [
            ("(set-logic QF_LIA)(declare-const x Int)(assert (> x 0))", true),
            ("(set-logic QF_AUFBV)(declare-const p Bool)(assert p)", true),
            ("(set-logic QF_NRA)(declare-const x Real)(assert (> (* x x) 0.0))", true),
            ("(set-logic QF_NIA)(declare-const x Int)(assert ((_ divisible 3) x))", false),
            ("(set-logic ALL)(declare-const x Real)(assert (> (* x x) 0.0))", false),
            ("(set-logic ALL)(declare-const x Real)(assert (> x 0.0))", true),
            ("(set-logic NRA)(declare-const p Bool)(assert p)", false),
            ("(set-logic QF_UFDT)(declare-const p Bool)(assert p)", false),
            ("(declare-const p Bool)(assert p)", false),
        ] {
            let mut store = Store::new();
            let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect("well-sorted").script;
            let usage = usage(&store, &script);
            let operators = usage.operators.iter().map(|op| op.name());
            let features =
                needs(&usage).into_iter().chain(usage.nonlinear.then_some("nonlinear")).chain(operators);
            let logic = usage.logic.as_deref().unwrap_or_default();
            assert_eq!(adapter.accepts_logic(logic, features), claimed, "{text}");
        }
    }

    #[test]
    fn what_a_release_cannot_read_is_not_claimed() {
        let (old, new) = (solver("z3", Some("4.8.7"), &[]), solver("z3", Some("5.4.0"), &[]));
        let cvc5 = solver("cvc5", Some("1.4.2"), &[]);
        let s = "(declare-const s String)(declare-const b Bool)";
        for (text, claimed) in [
            (format!("{s}(assert (= s \"\\u{{ff}}\"))"), [true, true, true]),
            (format!("{s}(assert (= s \"\\u{{3b87}}\"))"), [false, true, true]),
            (
                format!("{s}(assert (str.in_re s (ite b (str.to_re \"a\") (str.to_re s))))"),
                [true, true, false],
            ),
            (format!("{s}(assert (str.in_re s (re.range s \"b\")))"), [true, true, false]),
            ("(declare-fun r () RegLan)(assert true)".to_owned(), [true, true, false]),
            ("(declare-const a (Array (Array Int Int) Int))(assert (= a a))".to_owned(), [true, true, false]),
            (
                "(set-logic HO_ALL)(declare-const f (-> Int Int))(assert (= f f))".to_owned(),
                [true, true, true],
            ),
            ("(set-logic ALL)(declare-const f (-> Int Int))(assert (= f f))".to_owned(), [true, true, false]),
            (
                "(set-logic HO_ALL)(declare-const a (Array Int Int))(assert (= a (lambda ((x Int)) x)))"
                    .to_owned(),
                [true, true, false],
            ),
            (format!("{s}(assert b)(check-sat)(block-model :literals)(check-sat)"), [false, false, true]),
            (format!("{s}(assert b)(minimize 1)(apply simplify)(check-sat-using smt)"), [true, true, true]),
        ] {
            let mut store = Store::new();
            let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect(&text).script;
            let usage = usage(&store, &script);
            assert_eq!([&old, &new, &cvc5].map(|solver| solver.accepts(&usage)), claimed, "{text}");
        }
    }
}
