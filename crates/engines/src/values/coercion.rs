//! A round: enforcements, the models of solvers for them, and the mutants with the models' constants (algorithms 1 and 2).

use std::collections::VecDeque;

use eval::{Budget, EvaluatedModel, Evaluator, Mode, Model, Witness};
use rustc_hash::FxHashSet;
use smtlib::{Command, Op, Script, Store, Term};

use super::config::Values;
use super::coverage::Coverage;
use super::explain;
use super::meta::{Enforced, Meta, Side, question};
use crate::case::Draft;
use crate::engine::{Bench, Round};
use crate::models::BUDGET;

/// What the evaluation of one monitor may cost: there are hundreds of them, and one that stays undecided is of no harm.
const OF_A_MONITOR: Budget = Budget { steps: 10_000, instances: 1 << 8, candidates: 16, ..BUDGET };

/// Monitors with quantifiers whose truth is looked at under one model.
const QUANTIFIED: usize = 8;

/// Solvers and random seeds that models are asked of; see [`Ask::model`](crate::Ask::model).
const VARIANTS: usize = 16;

/// Probability that a hole keeps its constant where some are to.
const PINNED: f64 = 0.5;

/// Enforcements without a model, none before them having had one, after which no more are tried.
const UNDECIDED: usize = 4;

/// All mutants of one script.
pub(crate) struct Coercion {
    config: Values,
    pub(super) meta: Meta,
    pub(super) coverage: Coverage,
    /// Truth values of the monitors in the last model of a mutant.
    truths: Vec<Option<bool>>,
    /// Constants of the seed and of all mutants.
    seen: FxHashSet<Vec<Term>>,
    pending: VecDeque<Draft>,
    /// The skeleton has been asked about.
    begun: bool,
    iterations: usize,
    /// Test cases so far, those that are pending included.
    numbered: usize,
    pub(super) counts: Counts,
}

/// What a round has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Enforcements, and how many of them had a model.
    pub enforcements: usize,
    pub satisfied: usize,
    pub mutants: usize,
    /// Substitutions that gave constants seen before.
    pub repeated: usize,
    /// Enforced monitors of mutants of which a model is known, and those that have their truth value in it.
    pub modelled: usize,
    pub held: usize,
}

impl Coercion {
    pub fn open(config: &Values, bench: &mut Bench<'_>, script: &Script) -> Option<Coercion> {
        let meta = Meta::of(config, bench.store, bench.rng, script)?;
        Some(Coercion {
            config: config.clone(),
            coverage: Coverage::new(meta.monitors.len()),
            seen: FxHashSet::from_iter([meta.holes.originals()]),
            meta,
            truths: Vec::new(),
            pending: VecDeque::new(),
            begun: config.rbase,
            iterations: 0,
            numbered: 0,
            counts: Counts::default(),
        })
    }

    /// The next mutant, without skeleton and enforcements.
    pub fn next_mutant(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        self.begun = true;
        let made = self.counts.mutants;
        while self.counts.mutants == made && !self.is_over() {
            self.iterate(bench);
        }
        if self.counts.mutants > made { self.pending.pop_back() } else { None }
    }

    /// No goal is left, or nobody can solve what is asked.
    pub(super) fn is_done(&self) -> bool {
        let saturated = || self.coverage.is_saturated(self.config.multief);
        self.begun && !self.config.rbase && (self.is_undecided() || saturated())
    }

    fn is_undecided(&self) -> bool {
        self.counts.satisfied == 0 && self.counts.enforcements >= UNDECIDED
    }

    fn is_over(&self) -> bool {
        self.iterations >= self.config.iterations || self.is_done()
    }

    fn iterate(&mut self, bench: &mut Bench<'_>) {
        if !self.begun {
            self.begun = true;
            self.skeleton(bench);
            return;
        }
        self.iterations += 1;
        if self.config.rbase {
            let constants = self.meta.random_constants(bench.store, bench.rng);
            self.mutate(bench, constants, &[], None);
            return;
        }
        let known = self.config.soft.then_some(self.truths.as_slice());
        let Some(enforced) = self.coverage.next(bench.rng, self.config.multief, known) else { return };
        let sides: &[Side] = if self.config.cpog { &[Side::Asserted, Side::Negated] } else { &[Side::Bare] };
        for side in sides {
            self.enforce(bench, *side, enforced.clone());
        }
    }

    /// The skeleton itself is a test case, and its model gives the first constants.
    fn skeleton(&mut self, bench: &mut Bench<'_>) {
        let script = self.meta.holes.skeleton();
        let change = "skeleton: a fresh constant for each constant of the seed".to_owned();
        let model = ask(bench, &script, 0);
        let Some(mut evaluated) = model else {
            self.push(Draft::agree(script).with_changes(vec![change]));
            return;
        };
        self.push(known(bench.store, &mut evaluated, script).with_changes(vec![change]));
        let constants = self.meta.holes.constants(bench.store, &mut evaluated);
        self.mutate(bench, constants, &[], Some(&mut evaluated));
    }

    /// One enforcement (steps 3 to 5 of Figure 3).
    fn enforce(&mut self, bench: &mut Bench<'_>, side: Side, mut enforced: Vec<Enforced>) {
        let first = bench.rng.below(VARIANTS) as u32;
        let Some(mut script) = self.meta.formula(bench.store, side, &enforced) else { return };
        self.counts.enforcements += 1;
        let mut evaluated = ask(bench, &script, first);
        while evaluated.is_none() && self.config.soft {
            let Some(fewer) = self.softer(&enforced) else { break };
            let Some(formula) = self.meta.formula(bench.store, side, &fewer) else { break };
            (enforced, script) = (fewer, formula);
            evaluated = ask(bench, &script, first);
        }
        let change = format!("enforced {}", explain::enforcement(bench.store, &self.meta, &enforced));
        let Some(mut evaluated) = evaluated else {
            self.push(Draft::agree(script).with_changes(vec![change]));
            return;
        };
        self.counts.satisfied += 1;
        self.push(known(bench.store, &mut evaluated, script.clone()).with_changes(vec![change]));
        let mut constants = self.meta.constants(bench.store, bench.rng, &mut evaluated);
        self.mutate(bench, constants.clone(), &enforced, Some(&mut evaluated));
        for variant in 1..self.config.models {
            let Some(mut other) = self.another(bench, &script, first + variant) else { break };
            constants = self.meta.constants(bench.store, bench.rng, &mut other);
            self.mutate(bench, constants.clone(), &enforced, Some(&mut other));
        }
        for _ in 0..self.config.blocked {
            let Some(blocked) = self.blocked(bench.store, &script, &constants) else { break };
            script = blocked;
            let Some(mut other) = ask(bench, &script, first) else { break };
            constants = self.meta.constants(bench.store, bench.rng, &mut other);
            self.mutate(bench, constants.clone(), &enforced, Some(&mut other));
        }
    }

    /// Another model of an enforcement, near the seed where that is wanted and can be had.
    fn another(&self, bench: &mut Bench<'_>, script: &Script, variant: u32) -> Option<EvaluatedModel> {
        let pinned = self.config.near.then(|| self.pinned(bench, script)).flatten();
        let found = pinned.and_then(|pinned| ask(bench, &pinned, variant));
        found.or_else(|| ask(bench, script, variant))
    }

    /// The enforcement with the seed's constants in some holes.
    fn pinned(&self, bench: &mut Bench<'_>, script: &Script) -> Option<Script> {
        let mut script = script.clone();
        let check = script.commands.iter().position(Command::is_check)?;
        for hole in self.meta.holes.list() {
            if bench.rng.chance(PINNED) {
                let same = bench.store.op(Op::Equal, &[hole.term, hole.original]).ok()?;
                script.commands.insert(check, Command::Assert(same));
            }
        }
        Some(script)
    }

    /// The enforcement without its second half; the goal, which comes first, stays.
    fn softer(&mut self, enforced: &[Enforced]) -> Option<Vec<Enforced>> {
        let fewer = &enforced[..enforced.len() / 2];
        (!fewer.is_empty() && self.coverage.note(fewer)).then(|| fewer.to_vec())
    }

    /// The enforcement with other constants than these in some hole.
    fn blocked(&self, store: &mut Store, script: &Script, constants: &[Term]) -> Option<Script> {
        let mut differences = Vec::new();
        for (hole, constant) in self.meta.holes.list().iter().zip(constants) {
            let same = store.op(Op::Equal, &[hole.term, *constant]).ok()?;
            differences.push(store.op(Op::Not, &[same]).ok()?);
        }
        let differs = store.or(&differences).ok()?;
        let mut script = script.clone();
        let check = script.commands.iter().position(Command::is_check)?;
        script.commands.insert(check, Command::Assert(differs));
        Some(script)
    }

    /// The mutant with these constants (step 6), unless it has been made.
    fn mutate(
        &mut self,
        bench: &mut Bench<'_>,
        constants: Vec<Term>,
        enforced: &[Enforced],
        from: Option<&mut EvaluatedModel>,
    ) {
        if !self.seen.insert(constants.clone()) {
            self.counts.repeated += 1;
            return;
        }
        let kept = if self.config.effinal { enforced } else { &[] };
        let script = self.meta.mutant(bench.store, &constants, kept);
        let script = script.or_else(|| self.meta.mutant(bench.store, &constants, &[]));
        let Some(script) = script else { return };
        self.counts.mutants += 1;
        let changes = explain::changes(bench.store, &self.meta, &constants, enforced);
        let witness = from.and_then(|from| {
            let witness = self.witness(bench, &script, &constants, from)?;
            self.cover(bench.store, witness.model(), from, &constants, enforced);
            Some(witness)
        });
        let draft = match witness {
            Some(witness) => Draft::satisfied(script, witness),
            None => Draft::agree(script),
        };
        self.push(draft.with_changes(changes));
    }

    /// A model that satisfies the mutant: the one that gave its constants, else one that a solver is asked for.
    fn witness(
        &self,
        bench: &mut Bench<'_>,
        script: &Script,
        constants: &[Term],
        from: &EvaluatedModel,
    ) -> Option<Witness> {
        let model = from.model().restricted_to(script);
        if let Ok(witness) = EvaluatedModel::new(model, Mode::Given, BUDGET).witness(bench.store, script) {
            return Some(witness);
        }
        if !bench.rng.chance(self.config.own_models) {
            return None;
        }
        let whole = if script.is_incremental() {
            self.meta.in_force(bench.store, constants)?
        } else {
            script.clone()
        };
        let own = ask(bench, &whole, 0)?;
        let mut model = own.model().restricted_to(script);
        model.complete(bench.store, script);
        EvaluatedModel::new(model, Mode::Given, BUDGET).witness(bench.store, script).ok()
    }

    /// Notes what a model of the mutant made last covers. Variables of quantifiers have no value in it: they keep that of
    /// the model that gave the constants.
    fn cover(
        &mut self,
        store: &Store,
        model: &Model,
        from: &EvaluatedModel,
        constants: &[Term],
        enforced: &[Enforced],
    ) {
        let mut model = model.clone();
        let mut evaluator = Evaluator::default();
        for (hole, constant) in self.meta.holes.list().iter().zip(constants) {
            if let Ok(value) = evaluator.evaluate(store, &Model::new(), *constant) {
                model.assign(hole.fun, value);
            }
        }
        for skolem in self.meta.skolems() {
            if let Some(value) = from.model().get(*skolem) {
                model.interpret(*skolem, value.clone());
            }
        }
        let mut evaluated = EvaluatedModel::new(model, Mode::Given, OF_A_MONITOR);
        let mut quantified = 0;
        let truths = self.meta.monitors.iter().map(|monitor| {
            quantified += usize::from(store.has_binder(monitor.says));
            let cheap = !store.has_binder(monitor.says) || quantified <= QUANTIFIED;
            cheap.then(|| evaluated.holds(store, monitor.says).ok()).flatten()
        });
        let truths: Vec<Option<bool>> = truths.collect();
        for (number, truth) in truths.iter().enumerate() {
            if let Some(truth) = truth {
                self.coverage.cover((number, *truth), self.numbered);
            }
        }
        let holds = |(number, truth): &&Enforced| truths.get(*number) == Some(&Some(*truth));
        self.counts.modelled += enforced.len();
        self.counts.held += enforced.iter().filter(holds).count();
        self.truths = truths;
    }

    fn push(&mut self, draft: Draft) {
        self.numbered += 1;
        self.pending.push_back(draft);
    }
}

impl Round for Coercion {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        while self.pending.is_empty() && !self.is_over() {
            self.iterate(bench);
        }
        self.pending.pop_front()
    }

    fn length(&self) -> usize {
        let sides = if self.config.cpog { 2 } else { 1 };
        let of_each = if self.config.rbase { 1 } else { 1 + self.config.models + self.config.blocked };
        2 + self.config.iterations * sides * of_each as usize
    }

    fn exhausted(&self) -> Option<&'static str> {
        let reason = if self.is_undecided() { "no solver decides its meta-formula" } else { "saturated" };
        (self.pending.is_empty() && self.is_done()).then_some(reason)
    }

    fn explain(&self, store: &Store) -> Option<String> {
        Some(explain::round(store, self))
    }
}

/// A model of a script from a solver, with a value for everything that the script declares.
fn ask(bench: &mut Bench<'_>, script: &Script, variant: u32) -> Option<EvaluatedModel> {
    let question = question(bench.store, script);
    let mut model = bench.ask.model(bench.store, &question, variant)?;
    model.complete(bench.store, script);
    Some(EvaluatedModel::new(model, Mode::Given, OF_A_MONITOR))
}

/// A test case with the model as witness where our evaluator finds that it is one.
fn known(store: &Store, evaluated: &mut EvaluatedModel, script: Script) -> Draft {
    match evaluated.witness(store, &script) {
        Ok(witness) => Draft::satisfied(script, witness),
        Err(_) => Draft::agree(script),
    }
}
