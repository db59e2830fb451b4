//! A solver with the options of a test case: one party to a comparison.

use std::fmt;

use serde::{Deserialize, Serialize};
use smtlib::{Family, Release};

use crate::adapter::RunRequest;
use crate::solver::Solver;

/// The number of a party. Whoever puts runs side by side numbers the parties; runs that are compared have different
/// numbers, and verdicts name parties by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartyId(pub u32);

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A solver with the options of a test case: one party to a comparison.
#[derive(Debug, Clone)]
pub struct Configuration {
    pub id: PartyId,
    pub solver: Solver,
    pub request: RunRequest,
}

impl Configuration {
    /// The solver as the user named it.
    pub fn new(id: PartyId, solver: Solver) -> Self {
        Configuration { id, solver, request: RunRequest::default() }
    }

    /// Solvers as the user named them, numbered in their order from 0.
    pub fn numbered(solvers: impl IntoIterator<Item = Solver>) -> Vec<Configuration> {
        (0..).map(PartyId).zip(solvers).map(|(id, solver)| Configuration::new(id, solver)).collect()
    }

    /// `z3@4.8.7 model_validate=true`.
    pub fn name(&self) -> String {
        let mut words = vec![self.solver.name()];
        words.extend(self.options());
        words.join(" ")
    }

    /// The release, as the theory table and the printer know it.
    pub fn release(&self) -> Release {
        self.solver.release()
    }

    /// The line of releases it belongs to.
    pub fn lineage(&self) -> Family {
        self.solver.lineage()
    }

    /// All options as words of the command line: the user's, then the test case's.
    pub fn options(&self) -> Vec<String> {
        let settings = self.request.settings.iter().map(|setting| self.solver.option_word(setting));
        self.solver.options.iter().cloned().chain(settings).collect()
    }

    /// How many options there are.
    pub fn option_count(&self) -> usize {
        self.solver.options.len() + self.request.settings.len()
    }

    /// The command line for a file of this name, as the solver's developers would type it. Some words depend on the script:
    /// without it they are there.
    pub fn command_line(&self, file: &str, script: Option<&[u8]>) -> String {
        self.solver.shown(&self.request, file, script)
    }

    /// The same party without the solver's own checks of its results, and with models available. A failed check of its
    /// own often takes the answer with it.
    #[must_use]
    pub fn for_models(&self) -> Configuration {
        let mut other = self.clone();
        let call = self.solver.adapter.call_for(self.solver.version(), self.solver.installed.how.way());
        if let Some(call) = call {
            let checks: Vec<&String> =
                [&call.check_models, &call.check_cores, &call.check_proofs].into_iter().flatten().collect();
            other.solver.options.retain(|word| !checks.contains(&word));
            other.request.settings.retain(|setting| !checks.contains(&&self.solver.option_word(setting)));
        }
        other.request.check_models = false;
        other.request.check_cores = false;
        other.request.check_proofs = false;
        other.request.models = true;
        other
    }

    /// The same party with the solver's own check of its models, if it has one.
    pub fn checking_models(&self) -> Option<Configuration> {
        let call = self.solver.adapter.call_for(self.solver.version(), self.solver.installed.how.way())?;
        if call.check_models.is_empty() {
            return None;
        }
        let mut other = self.clone();
        other.request.models = true;
        other.request.check_models = true;
        Some(other)
    }

    /// The same party with everything the solver has switched on.
    #[must_use]
    pub fn broadened(&self) -> Configuration {
        let mut other = self.clone();
        other.request.broad = true;
        other
    }
}

#[cfg(test)]
mod tests {
    use smtlib::Setting;

    use super::*;
    use crate::solver::tests::solver;

    #[test]
    fn a_party_asked_for_its_model_is_the_same_party_without_its_own_checks() {
        let mut party =
            Configuration::new(PartyId(3), solver("z3", Some("4.8.7"), &["model_validate=true", "a=1"]));
        party.request.settings = vec![Setting::new("model_validate", "true"), Setting::new("b", "2")];
        let asked = party.for_models();
        assert_eq!(asked.id, PartyId(3));
        assert_eq!(asked.options(), ["a=1", "b=2"]);
        assert!(asked.request.models && !party.request.models);
    }

    #[test]
    fn settings_are_written_as_the_solver_takes_them() {
        let settings = vec![Setting::new("a", "true"), Setting::new("b", "false"), Setting::new("c", "3")];
        let words = |name| {
            let mut party = Configuration::new(PartyId(0), solver(name, None, &["-q"]));
            party.request.settings = settings.clone();
            party.options().join(" ")
        };
        assert_eq!(words("z3"), "-q a=true b=false c=3");
        assert_eq!(words("cvc5"), "-q --a --no-b --c=3");
    }
}
