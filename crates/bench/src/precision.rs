//! `osprey bench precision`: are the pairs of options and operations that were learned right? (Section 6.3 of Falcon's paper,
//! which has people look at them.)
//!
//! Pairs are sampled, and each gets a run of its own on fresh formulas with the operation: does the option, changed alone,
//! change anything that can be observed? Options that matter for nearly everything are counted apart: they are right
//! whatever the operation is.

use std::collections::BTreeSet;
use std::time::Duration;

use falcon::batch::Batch;
use falcon::groups::Effect;
use falcon::laboratory::{self, Calibration, Laboratory, SolverLaboratory};
use falcon::{Class, Correlations, Operation, Thresholds};
use generate::Rng;
use smtlib::theory::Theory;
use smtlib::{Setting, Store, print};
use solver::coverage::Code;
use solver::limits::Limits;
use solver::options::{OptionTable, SolverOption};
use solver::{Home, RunRequest, Solver};

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What to sample.
pub struct Precision {
    pub solver: Solver,
    pub table: OptionTable,
    pub known: Correlations,
    /// Where site lists are remembered.
    pub home: Home,
    /// Pairs of each theory.
    pub pairs: usize,
    /// Fresh formulas of each pair, at most.
    pub formulas: usize,
    /// CPU time of one run.
    pub timeout: Duration,
    pub rng_seed: u64,
    pub command: String,
}

/// The theories of the paper's figure 5.
const THEORIES: [Theory; 3] = [Theory::Ints, Theory::BitVectors, Theory::Strings];

/// Formulas that are made before a pair is given up: most do not have the operation in a logic that was drawn.
const ATTEMPTS: usize = 40;

/// Operations of a formula.
const OPERATIONS: usize = 4;

/// What became of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Right,
    Wrong,
    /// No formula with the operation could be used.
    Open,
}

impl Precision {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let mut draft =
            Draft::new("precision", "Options that matter: learned pairs tried again", &self.command);
        draft.versions = vec![self.solver.name()];
        draft.rng_seed = Some(self.rng_seed);
        let code = Code::of(&self.solver, &self.home)?;
        let limits = Limits { cpu: Some(self.timeout), ..Limits::wall(self.timeout.saturating_mul(5)) };
        let mut laboratory = SolverLaboratory::new(&self.solver, &code, limits)?;
        let thresholds = Thresholds::default();
        let general: BTreeSet<&str> = self.known.general(&thresholds).into_iter().collect();
        let mut summary = Table::new(
            "",
            &["theory", "options", "pairs learned", "tried", "right", "wrong", "open", "precision"],
        );
        let mut each = Table::detail("Every pair", &["theory", "option", "operation", "outcome"]);
        let mut rng = generate::rng::stream(self.rng_seed, 0);
        for theory in THEORIES {
            for of_general in [false, true] {
                let wanted = |option: &str| general.contains(option) == of_general;
                let mut pairs = self.learned(theory, &wanted, &thresholds);
                let all = pairs.len();
                rng.shuffle(&mut pairs);
                pairs.truncate(self.pairs);
                let calibration = self.calibrate(&mut laboratory, &pairs, watch)?;
                let mut counts = [0u64; 3];
                for (place, (option, operation)) in pairs.iter().enumerate() {
                    if watch.stopped() {
                        draft.partial = Some("ended by the user".to_owned());
                        break;
                    }
                    watch.progress(
                        place,
                        pairs.len(),
                        &format!("{theory:?}: {} and {operation}", option.name),
                    );
                    let outcome =
                        self.try_pair(&mut laboratory, option, *operation, &calibration, &mut rng)?;
                    counts[outcome as usize] += 1;
                    let word = ["right", "wrong", "open"][outcome as usize];
                    each.row([
                        format!("{theory:?}").into(),
                        option.name.as_str().into(),
                        operation.to_string().into(),
                        word.into(),
                    ]);
                }
                let [right, wrong, open] = counts;
                summary.row([
                    format!("{theory:?}").into(),
                    if of_general { "that matter for nearly everything" } else { "others" }.into(),
                    all.into(),
                    (right + wrong + open).into(),
                    right.into(),
                    wrong.into(),
                    open.into(),
                    Cell::percent(right as f64, (right + wrong) as f64),
                ]);
            }
        }
        draft.summary.push(format!(
            "Correlations of {} ({} formulas, {} runs). A pair is right if the option, changed alone, changes the answer, the \
             output or the functions reached on one of {} fresh formulas with the operation.",
            self.known.release(),
            self.known.formulas,
            self.known.runs,
            self.formulas,
        ));
        draft.tables.extend([summary, each]);
        Ok(draft.finish())
    }

    /// The relevant pairs of a theory's operators.
    fn learned(
        &self,
        theory: Theory,
        wanted: &dyn Fn(&str) -> bool,
        thresholds: &Thresholds,
    ) -> Vec<(&SolverOption, Operation)> {
        let mut pairs = Vec::new();
        for (operation, _) in self.known.operations() {
            if !matches!(operation, Operation::Operator(op) if op.row().theory == theory) {
                continue;
            }
            let relevant = self.table.options.iter().filter(|option| {
                wanted(&option.name)
                    && self.known.class(&option.name, operation, thresholds) == Class::Relevant
            });
            pairs.extend(relevant.map(|option| (option, operation)));
        }
        pairs
    }

    fn calibrate(
        &self,
        laboratory: &mut dyn Laboratory,
        pairs: &[(&SolverOption, Operation)],
        watch: &dyn Watch,
    ) -> Result<Calibration, BenchError> {
        let options: BTreeSet<&str> = pairs.iter().map(|(option, _)| option.name.as_str()).collect();
        let chosen = self.table.options.iter().filter(|option| options.contains(option.name.as_str()));
        let settings: Vec<Setting> = chosen
            .filter_map(|option| Some(Setting::new(&option.name, option.alternatives().first()?)))
            .collect();
        let usual = |option: &SolverOption| Some(Setting::new(&option.name, option.default.as_ref()?));
        let named = |option: &&SolverOption| options.contains(option.name.as_str());
        let defaults: Vec<Setting> = self.table.options.iter().filter(named).filter_map(usual).collect();
        let calibration = Calibration::of(laboratory, &settings, defaults, &|| watch.stopped())?;
        calibration.ok_or_else(|| BenchError::Usage(format!("{} does not answer", self.solver.name())))
    }

    fn try_pair(
        &self,
        laboratory: &mut dyn Laboratory,
        option: &SolverOption,
        operation: Operation,
        calibration: &Calibration,
        rng: &mut Rng,
    ) -> Result<Outcome, BenchError> {
        let values = option.alternatives();
        let mut used = 0;
        for _ in 0..ATTEMPTS {
            if used == self.formulas {
                break;
            }
            let Some(batch) = Batch::with(&self.solver, operation, OPERATIONS, &self.known, rng) else {
                continue;
            };
            let mut store = Store::new();
            let (script, operations) = batch.script(&mut store, rng);
            if !operations.contains(&operation) {
                continue;
            }
            let text = print::print(&store, &script, self.solver.release());
            let script = text.as_bytes();
            let Some((control, request)) = laboratory::control(laboratory, script, calibration)? else {
                continue;
            };
            used += 1;
            let value = rng.pick(&values).cloned().unwrap_or_default();
            let settings = vec![Setting::new(&option.name, value)];
            let shown = laboratory.run(script, &RunRequest { settings, ..request })?;
            if control.effect(&shown) == Effect::Changed {
                return Ok(Outcome::Right);
            }
        }
        Ok(if used > 0 { Outcome::Wrong } else { Outcome::Open })
    }
}
