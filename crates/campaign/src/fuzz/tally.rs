//! What rounds cost and bring, on its way to the shared state.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use smtlib::{Setting, Store};
use solver::RunClass;
use solver::run::{Accounts, Run};

use super::answers;
use super::prepare::{Prepared, RefusedLogics};
use crate::driver::{Plan, PlannedSeed};
use crate::schedule::NewCode;
use crate::shared::{Spent, run_totals};
use crate::store::{Counts, DEFAULT_OPTIONS, QuestionCounts, Totals};
use crate::target::Target;

/// What a part of a round has cost and brought.
#[derive(Default)]
pub struct Tally {
    pub counts: Counts,
    pub totals: Totals,
    /// Code that nobody had reached before.
    pub reached: NewCode,
    answers: BTreeMap<(usize, &'static str), u64>,
    constructs: BTreeMap<&'static str, u64>,
    options: BTreeMap<String, u64>,
}

/// Test cases of a round in a row that a solver refuses, or that nobody runs, before no more of them are tried: what one
/// mutant of a seed has, the others have too (a name that the solver reserves, a form that it lacks).
const PATIENCE: u32 = 3;

/// Test cases of one round that may become seeds.
const JOINING: u32 = 8;

/// How a round goes, to judge its seeds at its end.
#[derive(Default)]
pub struct RoundProgress {
    pub tests: u64,
    /// Test cases on which every solver ran out of time, or that every solver refused.
    pub fruitless: u64,
    /// Those that every solver refused.
    pub refused_by_all: u64,
    /// Test cases in a row that each solver refused, by its number.
    refused: BTreeMap<usize, u32>,
    /// Test cases in a row that nobody ran.
    idle: u32,
    /// Test cases that became seeds.
    joined: u32,
}

impl RoundProgress {
    pub fn count(&mut self, prepared: &Prepared, runs: &[Run]) {
        let fruitless = |run: &Run| run.answers.class == RunClass::Timeout || answers::refused(run);
        self.fruitless += u64::from(runs.iter().all(fruitless));
        self.refused_by_all += u64::from(runs.iter().all(answers::refused));
        self.idle = if runs.is_empty() { self.idle + 1 } else { 0 };
        for run in runs {
            let solver = prepared.target_of(run);
            let refused = self.refused.entry(solver).or_default();
            match (answers::refused(run), prepared.proposed(run)) {
                (true, []) => *refused += 1,
                // It may be for the options, which the policy hears.
                (true, _) => {}
                (false, _) => *refused = 0,
            }
        }
    }

    /// May another test case of the round become a seed? The first ones stand for all: in the first minutes nearly every
    /// one shows something new, and the mutants of one seed would crowd out all others.
    pub fn joins(&mut self) -> bool {
        self.joined += 1;
        self.joined <= JOINING
    }

    /// Does the solver take what is made of these seeds?
    pub fn takes(&self, solver: usize) -> bool {
        self.refused.get(&solver).is_none_or(|refused| *refused < PATIENCE)
    }

    /// Does anybody run what is made of these seeds?
    pub fn is_of_use(&self) -> bool {
        self.idle < PATIENCE
    }
}

impl Tally {
    /// Counts what solvers said, and remembers the logics they do not have.
    pub fn count(
        &mut self,
        prepared: &Prepared,
        runs: &[Run],
        targets: &[Target],
        store: &Store,
        refused_logics: &mut RefusedLogics,
    ) {
        for run in runs {
            let target = &targets[prepared.target_of(run)];
            *self.answers.entry((target.number, answers::word(run))).or_default() += 1;
            self.count_options(&run.configuration.request.settings);
            if answers::refuses_logic(run) {
                let logic = prepared.case.script.logic(store).unwrap_or_default();
                refused_logics.insert((target.number, logic.to_owned()));
            }
            if answers::refused(run) {
                self.totals.refusals.count(format!("{}: {}", target.name, answers::refusal(run)));
            }
        }
    }

    /// The runs with which a test case began: was its script refused? What a search tries later, with options that may not fit
    /// each other, says nothing about the script.
    pub fn count_rejected(&mut self, runs: &[Run]) {
        self.totals.rejected += u64::from(runs.iter().any(answers::refused));
    }

    /// A test case has these operators: each name once, and however often it is run.
    pub fn count_constructs(&mut self, prepared: &Prepared) {
        let names: BTreeSet<&'static str> = prepared.usage.operators.iter().map(|op| op.name()).collect();
        for name in names {
            *self.constructs.entry(name).or_default() += 1;
        }
    }

    fn count_options(&mut self, settings: &[Setting]) {
        let names = settings.iter().map(|setting| setting.option.as_str());
        for name in names.chain(settings.is_empty().then_some(DEFAULT_OPTIONS)) {
            *self.options.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// All of it, for the shared state. `accounts` are those of the solver runs, `cpu` is our own time.
    pub fn spent<'p>(
        self,
        plan: &'p Plan,
        targets: &[Target],
        accounts: &Accounts,
        questions: &QuestionCounts,
        cpu: Duration,
    ) -> Spent<'p> {
        let Tally { mut counts, reached, answers, mut totals, constructs, options } = self;
        let solvers = accounts.total();
        counts.cpu = (solvers.cpu + cpu).as_micros() as u64;
        totals.add(&run_totals(accounts));
        totals.questions.add(questions);
        totals.rounds += counts.rounds;
        totals.tests += counts.tests;
        totals.novel += counts.novel;
        if counts.tests > 0 {
            totals.engines.insert(plan.engine.clone(), counts.tests);
        }
        for ((number, word), count) in answers {
            let answers = totals.answers.entry(targets[number].name.clone()).or_default();
            *answers.entry(word.to_owned()).or_default() += count;
        }
        let generated = plan.seeds.iter().all(|seed| matches!(seed, PlannedSeed::Generated));
        let given = plan.seeds.iter().filter(|seed| matches!(seed, PlannedSeed::Text(_)));
        Spent {
            engine: &plan.engine,
            logic: generated.then_some(plan.logic.as_str()),
            seeds: given.map(PlannedSeed::name).collect(),
            counts,
            constructs: constructs.into_iter().collect(),
            options: options.into_iter().collect(),
            runs: solvers.runs,
            reached,
            totals,
        }
    }
}
