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
use crate::engine::{Attempt, Bench, Round};
use crate::models::BUDGET;

/// What the evaluation of one monitor may cost: there are hundreds of them, and one that stays undecided is of no harm.
const OF_A_MONITOR: Budget = Budget { steps: 10_000, instances: 1 << 8, candidates: 16, ..BUDGET };

/// Monitors with quantifiers whose truth is looked at under one model.
const QUANTIFIED: usize = 8;

/// Solvers and random seeds that models are asked of; see [`Ask::attempt`](crate::Ask::attempt).
const VARIANTS: usize = 16;

/// Enforcements without a model, none before them having had one, after which no more are tried.
const UNDECIDED: usize = 4;

/// Formulas that nobody decided at once and that are test cases nevertheless, in a round: most of them cost a time-out of
/// every solver, and yet one may crash.
const UNDECIDED_CASES: usize = 2;

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
    /// An earlier round has left its coverage.
    goes_on: bool,
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
    /// Formulas that nobody decided at once.
    pub undecided: usize,
    pub mutants: usize,
    /// Substitutions that gave constants seen before.
    pub repeated: usize,
    /// Questions about skeleton and enforcements, and about mutants.
    pub asked: usize,
    pub asked_of_mutants: usize,
    /// Mutants that a model was asked for or known of, and those that have one.
    pub looked_at: usize,
    pub satisfiable: usize,
    /// Enforced monitors of mutants of which a model is known, and those that have their truth value in it.
    pub modelled: usize,
    pub held: usize,
}

impl Coercion {
    pub fn open(
        config: &Values,
        bench: &mut Bench<'_>,
        script: &Script,
        memory: Option<&str>,
    ) -> Option<Coercion> {
        let remembered = memory.and_then(read_memory);
        let related = remembered.as_ref().map(|(related, _)| related.clone());
        let meta = Meta::of(config, bench.store, bench.rng, script, related)?;
        let covered = remembered.and_then(|(_, text)| Coverage::recall(text, meta.monitors.len()));
        let goes_on = covered.is_some();
        Some(Coercion {
            config: config.clone(),
            coverage: covered.unwrap_or_else(|| Coverage::new(meta.monitors.len())),
            seen: FxHashSet::from_iter([meta.holes.originals()]),
            meta,
            truths: Vec::new(),
            pending: VecDeque::new(),
            begun: config.rbase || goes_on,
            goes_on,
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
        !self.goes_on && self.counts.satisfied == 0 && self.counts.enforcements >= UNDECIDED
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
        let mut found = self.ask(bench, &script, 0);
        // The first test case of all: undecided or not, it is tried.
        let draft = found.model().map_or_else(
            || Draft::agree(script.clone()),
            |evaluated| known(bench.store, evaluated, script.clone()),
        );
        self.push(draft.with_changes(vec![change]));
        if let Some(evaluated) = found.model() {
            let constants = self.meta.holes.constants(bench.store, evaluated);
            self.substitute(bench, constants, &[], evaluated);
        }
    }

    /// One enforcement (steps 3 to 5 of Figure 3).
    fn enforce(&mut self, bench: &mut Bench<'_>, side: Side, mut enforced: Vec<Enforced>) {
        let first = bench.rng.below(VARIANTS) as u32;
        let lean = self.config.lean;
        let Some(mut script) = self.meta.formula(bench.store, side, &enforced, lean) else { return };
        self.counts.enforcements += 1;
        let mut found = self.ask(bench, &script, first);
        while matches!(found, Found::Nothing | Found::Undecided) && self.config.soft {
            let Some(fewer) = self.softer(&enforced) else { break };
            let Some(formula) = self.meta.formula(bench.store, side, &fewer, lean) else { break };
            (enforced, script) = (fewer, formula);
            found = self.ask(bench, &script, first);
        }
        let change = format!("enforced {}", explain::enforcement(bench.store, &self.meta, &enforced));
        let mut evaluated = match found {
            Found::Model(evaluated) => *evaluated,
            Found::Nothing => {
                self.push(Draft::agree(script).with_changes(vec![change]));
                return;
            }
            Found::Undecided => {
                self.counts.undecided += 1;
                if self.counts.undecided <= UNDECIDED_CASES {
                    self.push(Draft::agree(script).with_changes(vec![change]));
                }
                return;
            }
        };
        self.counts.satisfied += 1;
        self.push(known(bench.store, &mut evaluated, script.clone()).with_changes(vec![change]));
        let mut constants = self.meta.constants(bench.store, bench.rng, &mut evaluated);
        self.substitute(bench, constants.clone(), &enforced, &mut evaluated);
        for variant in 1..self.config.models {
            let Found::Model(mut other) = self.ask(bench, &script, first + variant) else { break };
            constants = self.meta.constants(bench.store, bench.rng, &mut other);
            self.substitute(bench, constants.clone(), &enforced, &mut other);
        }
        for _ in 0..self.config.blocked {
            let Some(blocked) = self.blocked(bench.store, &script, &constants) else { break };
            script = blocked;
            let Found::Model(mut other) = self.ask(bench, &script, first) else { break };
            constants = self.meta.constants(bench.store, bench.rng, &mut other);
            self.substitute(bench, constants.clone(), &enforced, &mut other);
        }
    }

    /// The mutant with a model's constants, and some near the seed.
    fn substitute(
        &mut self,
        bench: &mut Bench<'_>,
        constants: Vec<Term>,
        enforced: &[Enforced],
        from: &mut EvaluatedModel,
    ) {
        for _ in 0..self.config.near {
            let near = self.meta.neighbours(bench.store, bench.rng, &constants);
            self.mutate(bench, near, &[], None);
        }
        self.mutate(bench, constants, enforced, Some(from));
    }

    /// A model of a formula that is one of many.
    fn ask(&mut self, bench: &mut Bench<'_>, script: &Script, variant: u32) -> Found {
        self.counts.asked += 1;
        attempt(bench, script, variant)
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

    /// The mutant with these constants (step 6), unless it has been made. `from` is the model that gave them.
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
        let kept = if self.config.effinal || self.config.monitored { enforced } else { &[] };
        let script = self.meta.mutant(bench.store, &constants, kept, self.config.effinal);
        let script = script.or_else(|| self.meta.mutant(bench.store, &constants, &[], false));
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
        &mut self,
        bench: &mut Bench<'_>,
        script: &Script,
        constants: &[Term],
        from: &EvaluatedModel,
    ) -> Option<Witness> {
        let model = from.model().restricted_to(script);
        let asks = bench.rng.chance(self.config.own_models);
        if !self.config.own_only
            && let Ok(witness) = EvaluatedModel::new(model, Mode::Given, BUDGET).witness(bench.store, script)
        {
            self.counts.looked_at += 1;
            self.counts.satisfiable += 1;
            return Some(witness);
        }
        if !asks {
            return None;
        }
        let whole = if script.is_incremental() {
            self.meta.in_force(bench.store, constants)?
        } else {
            script.clone()
        };
        self.counts.asked_of_mutants += 1;
        self.counts.looked_at += 1;
        let Found::Model(own) = attempt(bench, &whole, 0) else { return None };
        self.counts.satisfiable += 1;
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
        let of_a_model = 1 + self.config.near;
        let of_each =
            if self.config.rbase { 1 } else { 1 + of_a_model * (self.config.models + self.config.blocked) };
        1 + of_a_model as usize + self.config.iterations * sides * of_each as usize
    }

    fn exhausted(&self) -> Option<&'static str> {
        let reason = if self.is_undecided() { "no solver decides its meta-formula" } else { "saturated" };
        (self.pending.is_empty() && self.is_done()).then_some(reason)
    }

    fn memory(&self) -> Option<String> {
        let related: Vec<String> = self.meta.related().iter().map(ToString::to_string).collect();
        (!self.config.rbase).then(|| format!("{};{}", related.join(","), self.coverage.memory()))
    }

    fn figures(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let (covered, pairs) = self.coverage.count();
        let figures = [
            ("enforcements", counts.enforcements),
            ("satisfied", counts.satisfied),
            ("mutants", counts.mutants),
            ("asked", counts.asked),
            ("asked of mutants", counts.asked_of_mutants),
            ("looked at", counts.looked_at),
            ("satisfiable", counts.satisfiable),
            ("modelled", counts.modelled),
            ("held", counts.held),
            ("pairs", pairs),
            ("covered", covered),
        ];
        figures.into_iter().map(|(name, count)| (name, count as u64)).collect()
    }

    fn explain(&self, store: &Store) -> Option<String> {
        Some(explain::round(store, self))
    }
}

/// What a memory says: the related holes, and the coverage as text.
fn read_memory(text: &str) -> Option<(Vec<usize>, &str)> {
    let (related, coverage) = text.split_once(';')?;
    let numbers = related.split(',').filter(|number| !number.is_empty());
    Some((numbers.map(|number| number.parse().ok()).collect::<Option<Vec<usize>>>()?, coverage))
}

/// What a solver makes of a formula.
enum Found {
    Model(Box<EvaluatedModel>),
    /// It says that there is no model.
    Nothing,
    Undecided,
}

impl Found {
    fn model(&mut self) -> Option<&mut EvaluatedModel> {
        match self {
            Found::Model(model) => Some(&mut **model),
            Found::Nothing | Found::Undecided => None,
        }
    }
}

/// A model of a script from a solver, with a value for everything that the script declares.
fn attempt(bench: &mut Bench<'_>, script: &Script, variant: u32) -> Found {
    let question = question(bench.store, script);
    match bench.ask.attempt(bench.store, &question, variant) {
        Attempt::Model(mut model) => {
            model.complete(bench.store, script);
            Found::Model(Box::new(EvaluatedModel::new(model, Mode::Given, OF_A_MONITOR)))
        }
        Attempt::Refuted => Found::Nothing,
        Attempt::Undecided => Found::Undecided,
    }
}

/// A test case with the model as witness where our evaluator finds that it is one.
fn known(store: &Store, evaluated: &mut EvaluatedModel, script: Script) -> Draft {
    match evaluated.witness(store, &script) {
        Ok(witness) => Draft::satisfied(script, witness),
        Err(_) => Draft::agree(script),
    }
}
