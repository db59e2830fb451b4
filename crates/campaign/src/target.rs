//! A solver under test: what it accepts, the text it gets, how it is started.

use std::collections::BTreeSet;

use smtlib::Release;
use smtlib::logic::Usage;
use smtlib::theory::Theory;
use solver::Solver;
use solver::options::OptionTable;
use solver::run::{Configuration, PartyId};

/// A solver under test.
#[derive(Debug)]
pub struct Target {
    /// Its place among the solvers of the campaign.
    pub number: usize,
    pub solver: Solver,
    /// `z3@4.8.7`, with the user's options where there are any.
    pub name: String,
    /// The dialect it reads.
    pub release: Release,
    /// Its options, where the policy needs them.
    pub table: Option<OptionTable>,
    /// Not under test: asked only where an answer needs another opinion.
    pub reference: bool,
    theories: BTreeSet<String>,
}

impl Target {
    pub fn new(number: usize, solver: Solver) -> Target {
        let mut name = solver.name();
        for option in &solver.options {
            name.push(' ');
            name.push_str(option);
        }
        let release = solver.release();
        let theories = solver.theories().into_iter().map(str::to_owned).collect();
        Target { number, solver, name, release, table: None, reference: false, theories }
    }

    /// The same with its options.
    #[must_use]
    pub fn with_table(self, table: Option<OptionTable>) -> Target {
        Target { table, ..self }
    }

    /// The solver as the user named it, as a party with the target's number.
    pub fn configuration(&self) -> Configuration {
        Configuration::new(PartyId(self.number as u32), self.solver.clone())
    }

    /// Solvers in order, numbered.
    pub fn numbered(solvers: impl IntoIterator<Item = Solver>) -> Vec<Target> {
        solvers.into_iter().enumerate().map(|(number, solver)| Target::new(number, solver)).collect()
    }

    /// The same as a reference.
    #[must_use]
    pub fn as_reference(self) -> Target {
        Target { reference: true, ..self }
    }

    /// Does it claim everything the script uses? A solver of which nothing is known claims all of the standard.
    pub fn accepts(&self, usage: &Usage) -> bool {
        let needs = needs(usage);
        let theories_ok = self.theories.is_empty() || needs.iter().all(|need| self.theories.contains(*need));
        let operators = usage.operators.iter().map(|op| op.name());
        let features = needs.iter().copied().chain(usage.nonlinear.then_some("nonlinear")).chain(operators);
        theories_ok
            && usage.operators.iter().all(|op| op.row().accepted_by(self.release))
            && self.solver.adapter.accepts_logic(usage.logic.as_deref().unwrap_or_default(), features)
    }

    /// Does it claim a theory of the adapters' vocabulary?
    pub fn has(&self, theory: &str) -> bool {
        self.theories.is_empty() || self.theories.contains(theory)
    }
}

/// What a script needs, in the adapters' vocabulary.
fn needs(usage: &Usage) -> BTreeSet<&'static str> {
    let mut needs: BTreeSet<&'static str> = usage.theories.iter().map(|theory| name(*theory)).collect();
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
pub fn name(theory: Theory) -> &'static str {
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
    use smtlib::logic::usage;
    use smtlib::{Mode, Store, parse};
    use solver::Adapters;

    use super::*;

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
}
