//! A solver under test: what it accepts, the text it gets, how it is started.

use std::collections::BTreeSet;
use std::sync::Arc;

use falcon::Correlations;
use smtlib::Release;
use smtlib::logic::Usage;
use solver::Solver;
use solver::coverage::Code;
use solver::options::{OptionRules, OptionTable};
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
    /// Its code and what that is known by, where it is watched what of it is reached.
    pub code: Option<(u64, Arc<Code>)>,
    /// Which of its options matter for which operations, where the policy needs that and it is known.
    pub correlations: Option<Arc<Correlations>>,
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
        Target {
            number,
            solver,
            name,
            release,
            table: None,
            reference: false,
            code: None,
            correlations: None,
            theories,
        }
    }

    /// The same with its options.
    #[must_use]
    pub fn with_table(mut self, table: Option<OptionTable>) -> Target {
        self.solver.rules = table.as_ref().map(|table| Arc::new(OptionRules::of(table)));
        Target { table, ..self }
    }

    /// The same with what is known about its options.
    #[must_use]
    pub fn correlated(self, correlations: Option<Correlations>) -> Target {
        Target { correlations: correlations.map(Arc::new), ..self }
    }

    /// The same with its code to be watched.
    #[must_use]
    pub fn watched(self, code: Code) -> Target {
        Target { code: Some((code.key(), Arc::new(code))), ..self }
    }

    /// The solver as the user named it, as a party with the target's number.
    pub fn configuration(&self) -> Configuration {
        Configuration::new(PartyId(self.number as u32), self.solver.clone())
    }

    /// Solvers in order, numbered.
    pub fn numbered(solvers: impl IntoIterator<Item = Solver>) -> Vec<Target> {
        solvers.into_iter().enumerate().map(|(number, solver)| Target::new(number, solver)).collect()
    }

    /// The dialects that some solvers read.
    pub fn releases(targets: &[Target]) -> Vec<Release> {
        targets.iter().map(|target| target.release).collect()
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
