//! A solver under test: what it accepts, the text it gets, how it is started.

use std::collections::BTreeSet;

use smtlib::Release;
use smtlib::logic::Usage;
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
        self.solver.accepts_among(usage, &self.theories)
    }

    /// Does it claim a theory of the adapters' vocabulary?
    pub fn has(&self, theory: &str) -> bool {
        self.theories.is_empty() || self.theories.contains(theory)
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
