//! The evaluator against solvers, operator by operator: ground terms with the values we compute, which the solver must
//! confirm.
//!
//! A mismatch that nobody can explain is a mistake, of ours or of the solver's; there must be none.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::differential::{Amount, Comparison, Passed, compare, operators};
use generate::rng;
use smtlib::Op;
use smtlib::theory::Theory;
use solver::Solver;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, RunError, RunRules, Runner as _, SolverRunner};

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What to compare.
#[derive(Clone, Debug)]
pub struct EvalDiff {
    pub solvers: Vec<Solver>,
    /// Cases of each operator; fewer where there are not so many.
    pub cases: usize,
    /// One operator by its name in SMT-LIB or in the theory table; all of them otherwise.
    pub operator: Option<String>,
    pub rng_seed: u64,
    /// Solvers running at the same time.
    pub jobs: usize,
    /// How it was asked for, for the report.
    pub command: String,
}

/// How one solver sees one operator, or why it was not asked.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The solver's place in the list.
    pub solver: usize,
    pub op: Op,
    pub result: Result<Comparison, Passed>,
}

/// Results, and whether all is well.
#[derive(Debug)]
pub struct DifferentialResult {
    pub compared: Vec<Compared>,
    pub report: Report,
}

/// A run that has not ended after this time is stuck at a case; of a few transcendental ones, after the shorter time.
const PATIENCE: Duration = Duration::from_secs(10);
const TRANSCENDENTAL_PATIENCE: Duration = Duration::from_secs(2);
/// What a solver learns about transcendental functions slows it down more and more.
const TRANSCENDENTAL_BATCH: usize = 5;
const MILLISECONDS: u32 = 1000;

impl DifferentialResult {
    /// Cases that a solver denies and nobody can explain.
    pub fn unexplained(&self) -> usize {
        self.comparisons().map(|(_, comparison)| comparison.mismatches.len()).sum()
    }

    fn comparisons(&self) -> impl Iterator<Item = (&Compared, &Comparison)> {
        self.compared.iter().filter_map(|compared| Some((compared, compared.result.as_ref().ok()?)))
    }
}

impl EvalDiff {
    pub fn run(&self, watch: &dyn Watch) -> Result<DifferentialResult, BenchError> {
        let chosen = self.chosen()?;
        let steps: Vec<(usize, Op)> =
            (0..self.solvers.len()).flat_map(|solver| chosen.iter().map(move |op| (solver, *op))).collect();
        let draft = Draft::new("eval-diff", "The evaluator against solvers", &self.command);
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(steps.len()));
        let worker = || -> Result<(), BenchError> {
            let configurations = Configuration::numbered(self.solvers.iter().cloned());
            let mut runner = SolverRunner::new(
                configurations,
                RunRules::with_limits(Limits::wall(PATIENCE.max(TRANSCENDENTAL_PATIENCE))),
            )
            .map_err(|error| self.failed(error))?;
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some((solver, op)) = steps.get(place).filter(|_| !watch.stopped()) else { return Ok(()) };
                watch.progress(
                    place,
                    steps.len(),
                    &format!("{} {}", self.solvers[*solver].name(), op.name()),
                );
                let result = self.one(&mut runner, *solver, *op)?;
                let compared = Compared { solver: *solver, op: *op, result };
                done.lock().unwrap_or_else(PoisonError::into_inner).push((place, compared));
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        let compared: Vec<Compared> = done.into_iter().map(|(_, compared)| compared).collect();
        let ended_early = compared.len() < steps.len();
        let mut outcome = DifferentialResult { compared, report: draft.finish() };
        self.describe(&mut outcome, chosen.len());
        if ended_early {
            outcome.report.partial = Some("ended by the user".to_owned());
        }
        Ok(outcome)
    }

    fn failed(&self, source: RunError) -> BenchError {
        let names: Vec<String> = self.solvers.iter().map(Solver::name).collect();
        BenchError::Run { solver: names.join(", "), source }
    }

    fn chosen(&self) -> Result<Vec<Op>, BenchError> {
        let Some(name) = &self.operator else { return Ok(operators().collect()) };
        let named = |op: &Op| op.name() == name || op.row().variant.eq_ignore_ascii_case(name);
        let chosen: Vec<Op> = operators().filter(named).collect();
        if chosen.is_empty() {
            return Err(BenchError::Usage(format!("no operator is called '{name}'")));
        }
        Ok(chosen)
    }

    /// The cases of one operator depend on the seed and the operator alone.
    fn one(
        &self,
        runner: &mut SolverRunner,
        solver: usize,
        op: Op,
    ) -> Result<Result<Comparison, Passed>, BenchError> {
        let mut rng = rng::stream(self.rng_seed, op as u64);
        let (batch, patience) = match op.row().theory {
            Theory::Transcendentals => (TRANSCENDENTAL_BATCH, TRANSCENDENTAL_PATIENCE),
            _ => (self.cases, PATIENCE),
        };
        let amount = Amount { cases: self.cases, batch, milliseconds: MILLISECONDS };
        let configuration = Arc::clone(&runner.configurations()[solver]);
        let mut ask = |script: &str| -> Result<String, BenchError> {
            let run =
                runner.run_within(&configuration, script.as_bytes(), Purpose::Measurement, Some(patience));
            let run = run.map_err(|error| self.failed(error))?;
            Ok(String::from_utf8_lossy(&run.outcome.stdout).into_owned())
        };
        compare(op, configuration.release(), amount, &mut rng, &mut ask)
    }

    fn describe(&self, outcome: &mut DifferentialResult, operators: usize) {
        let names: Vec<String> = self.solvers.iter().map(Solver::name).collect();
        let tables = [
            by_theory(outcome, &names),
            mismatches(outcome, &names),
            explained(outcome, &names),
            by_operator(outcome, &names),
        ];
        let nobody = without_confirmation(outcome);
        let cases: usize = outcome.comparisons().map(|(_, comparison)| comparison.total()).sum();
        let unexplained = outcome.unexplained();
        let report = &mut outcome.report;
        report.versions = names;
        report.rng_seed = Some(self.rng_seed);
        report.summary.push(format!(
            "{operators} operators, up to {} cases each for every solver: {cases} cases, {unexplained} unexplained \
             mismatches. Each case is a ground equation between a term with the operator on top and the value we \
             compute; edge values come first.",
            self.cases
        ));
        report.tables.extend(tables);
        for (why, ops) in nobody {
            let names: Vec<&str> = ops.iter().map(|op| op.row().variant).collect();
            report.skip(names.join(", "), why);
        }
    }
}

fn by_theory(outcome: &DifferentialResult, names: &[String]) -> Table {
    let mut table = Table::new(
        "By theory",
        &[
            "theory",
            "solver",
            "operators",
            "cases",
            "confirmed",
            "computed otherwise",
            "undecided",
            "refused",
        ],
    );
    let mut theories: Vec<Theory> = Vec::new();
    for (compared, _) in outcome.comparisons() {
        if !theories.contains(&compared.op.row().theory) {
            theories.push(compared.op.row().theory);
        }
    }
    for theory in theories {
        for (solver, name) in names.iter().enumerate() {
            let of: Vec<&Comparison> = outcome
                .comparisons()
                .filter(|(compared, _)| compared.solver == solver && compared.op.row().theory == theory)
                .map(|(_, comparison)| comparison)
                .collect();
            let sum =
                |part: fn(&Comparison) -> usize| Cell::from(of.iter().map(|one| part(one)).sum::<usize>());
            if !of.is_empty() {
                table.row([
                    format!("{theory:?}").into(),
                    name.as_str().into(),
                    of.len().into(),
                    sum(Comparison::total),
                    sum(|one| one.confirmed),
                    sum(|one| one.computed),
                    sum(|one| one.undecided),
                    sum(|one| one.refused),
                ]);
            }
        }
    }
    table
}

fn mismatches(outcome: &DifferentialResult, names: &[String]) -> Table {
    let mut table = Table::new("Unexplained mismatches", &["operator", "solver", "term", "our value"]);
    for (compared, comparison) in outcome.comparisons() {
        for case in &comparison.mismatches {
            table.row([
                compared.op.name().into(),
                names[compared.solver].as_str().into(),
                case.term.as_str().into(),
                case.value.as_str().into(),
            ]);
        }
    }
    table
}

fn explained(outcome: &DifferentialResult, names: &[String]) -> Table {
    let mut table = Table::new(
        "Mismatches that are the solver's, each supported by another way to the same value",
        &["operator", "solver", "cases", "why", "for instance"],
    );
    for (compared, comparison) in outcome.comparisons() {
        let mut row = |count: usize, why: &str, instance: &str| {
            let (operator, solver) = (compared.op.name(), names[compared.solver].as_str());
            table.row([operator.into(), solver.into(), count.into(), why.into(), instance.into()]);
        };
        if let Some((case, why)) = comparison.explained.first() {
            row(comparison.explained.len(), why, &format!("(= {} {})", case.term, case.value));
        }
        if let Some(case) = comparison.contradictory.first() {
            let why = "denied after push and pop, confirmed in a script of its own";
            row(comparison.contradictory.len(), why, &format!("(= {} {})", case.term, case.value));
        }
    }
    table
}

fn by_operator(outcome: &DifferentialResult, names: &[String]) -> Table {
    let mut table = Table::detail(
        "By operator",
        &[
            "operator",
            "solver",
            "cases",
            "confirmed",
            "computed otherwise",
            "undecided",
            "refused",
            "complaint",
        ],
    );
    for (compared, comparison) in outcome.comparisons() {
        table.row([
            compared.op.row().variant.into(),
            names[compared.solver].as_str().into(),
            comparison.total().into(),
            comparison.confirmed.into(),
            comparison.computed.into(),
            comparison.undecided.into(),
            comparison.refused.into(),
            comparison.complaint.as_deref().map(|text| text.chars().take(160).collect::<String>()).into(),
        ]);
    }
    table
}

/// Operators for which no solver and no other computation confirmed a case, by reason.
pub fn without_confirmation(outcome: &DifferentialResult) -> Vec<(&'static str, Vec<Op>)> {
    let mut found: Vec<(&'static str, Vec<Op>)> = Vec::new();
    let mut ops: Vec<Op> = outcome.compared.iter().map(|compared| compared.op).collect();
    ops.sort_unstable_by_key(|op| *op as u16);
    ops.dedup();
    for op in ops {
        let results: Vec<&Result<Comparison, Passed>> =
            outcome.compared.iter().filter(|one| one.op == op).map(|one| &one.result).collect();
        let seen = |one: &&Result<Comparison, Passed>| {
            one.as_ref().is_ok_and(|comparison| comparison.confirmed + comparison.computed > 0)
        };
        if results.iter().any(seen) {
            continue;
        }
        let passed = |wanted: Passed| results.iter().any(|one| one.as_ref().err() == Some(&wanted));
        let why = if results.iter().any(|one| one.is_ok()) {
            "the solvers that have it decided no case"
        } else if passed(Passed::Unsupported) {
            "it has no evaluation"
        } else if passed(Passed::NoGroundTerm) {
            "its value is a choice of the model, or it stands only in binders and models"
        } else {
            "none of these solvers has it"
        };
        match found.iter_mut().find(|(other, _)| *other == why) {
            Some((_, list)) => list.push(op),
            None => found.push((why, vec![op])),
        }
    }
    found
}
