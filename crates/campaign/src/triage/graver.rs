//! A wrong model of a script that no model satisfies: what is wrong is the answer.

use std::sync::Arc;

use oracle::Kind;
use smtlib::{Command, Mode, Script, Store, print};
use solver::run::{Configuration, PartyId, Purpose, Run, Runner};

use super::reduction::ReducedFinding;
use super::rerun::{Rerun, RerunInput};
use super::verdicts::Reproduction;

/// So many others are asked at most.
const OTHERS: usize = 3;

impl Reproduction {
    /// The graver finding behind a reduced one: a wrong `sat`, if our evaluation or the answers of independent solvers show
    /// that the script has no model. Nothing if it has one, or nobody can tell.
    pub(super) fn graver(&self, small: &ReducedFinding, runner: &mut dyn Runner) -> Option<Reproduction> {
        if self.finding.kind != Kind::InvalidModel || !self.finding.is_pending() {
            return None;
        }
        let accused = small.reduced.best.configuration.as_ref().or(self.configurations.first())?;
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, small.small.script.as_bytes(), Mode::Tolerant).ok()?;
        let script = without_models(&parsed.script);
        let text = print::print(&store, &script, accused.release());
        let mut parties = vec![Arc::clone(accused)];
        parties.extend(independent(accused, runner));
        let input = RerunInput {
            text: &text,
            script: Some(&script),
            witness: None,
            expectation: &eval::Expectation::Agree,
            kind: Kind::SolutionSoundness,
        };
        // Who cannot be run has nothing to say: the finding stays what it is.
        let judged = Rerun::make(&mut store, input, &parties, runner, Purpose::Confirmation).ok()?;
        judged.misbehaviour(Kind::SolutionSoundness).filter(|verdict| verdict.accused.is_some())?;
        let answered = |party: &Arc<Configuration>| {
            Run::of(&judged.runs, party.id).is_some_and(|run| run.answers.trusted().next().is_some())
        };
        parties.retain(answered);
        let mut finding = self.finding.clone();
        finding.kind = Kind::SolutionSoundness;
        // How the input was made says nothing about a part of it.
        finding.expectation = eval::Expectation::Agree;
        let ancestors = self.ancestors.clone();
        Some(Reproduction { finding, input: text, witness: None, configurations: parties, ancestors })
    }
}

/// The script without questions about its models.
fn without_models(script: &Script) -> Script {
    let mut script = script.clone();
    script.commands.retain(|command| !matches!(command, Command::GetModel | Command::GetValue(_)));
    script
}

/// Other solvers, one of each line: those of the campaign first. Another release of the accused's own line may be one. Its word
/// alone accuses nobody, and the judge sees to that; but a `sat` whose models are all false by our evaluation has no weight
/// against an `unsat`, whoever says it.
fn independent(accused: &Configuration, runner: &dyn Runner) -> Vec<Arc<Configuration>> {
    let mut found: Vec<Arc<Configuration>> = Vec::new();
    for other in runner.configurations().iter().rev().chain(runner.third_opinions()) {
        let known = found.iter().any(|one| one.lineage() == other.lineage());
        if other.solver.name() != accused.solver.name() && !known && found.len() < OTHERS {
            let id = PartyId(accused.id.0 + 1 + found.len() as u32);
            found.push(Arc::new(Configuration { id, ..Configuration::clone(other) }));
        }
    }
    found
}
