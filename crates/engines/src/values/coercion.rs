//! A round: enforcements, the models of solvers for them, and the mutants with the models' constants (algorithms 1 and 2).

use std::collections::VecDeque;

use eval::{EvaluatedModel, Mode, Model, Witness};
use smtlib::{Command, Script, Store, Term};

use super::config::Values;
use super::coverage::Coverage;
use super::digest::Digests;
use super::explain;
use super::found::{Found, attempt, known};
use super::memory::{Memory, digest_of, digest_with};
use super::meta::{Enforced, Meta, Side, question};
use super::watch::{self, Watched};
use crate::case::Draft;
use crate::engine::{Bench, Round};
use crate::feedback::Feedback;
use crate::models::BUDGET;

/// Solvers and random seeds that models are asked of; see [`Ask::attempt`](crate::Ask::attempt).
const VARIANTS: usize = 16;

/// Further variants that are asked about a formula that one does not decide, and after how many of them in a row that did not
/// decide anything either no more are.
const FALLBACKS: u32 = 1;
const IN_VAIN: u32 = 2;

/// Formulas that nobody decided at once and that are test cases nevertheless, in a round: most of them cost a time-out of
/// every solver, and yet one may crash.
const UNDECIDED_CASES: usize = 2;

/// Random constants drawn to find some that have not been there: a seed with one Boolean constant draws its own half of the time,
/// and an iteration without a mutant tells nothing about the bug.
const REDRAWS: usize = 20;

/// Mutants that a round makes at least, where it may make some near the seed.
const NEIGHBOURS: usize = 100;

/// All mutants of one script.
pub(crate) struct Coercion {
    pub(super) config: Values,
    pub(super) meta: Meta,
    pub(super) coverage: Coverage,
    /// Truth values of the monitors in the last model of a mutant.
    truths: Vec<Option<bool>>,
    /// Constants of the seed and of all mutants.
    seen: Digests,
    /// Test cases, and what of them is to be looked at in models.
    pending: VecDeque<(Draft, Option<Watched>)>,
    /// The mutant made last, if it was one.
    last: Option<Watched>,
    /// The skeleton has been asked about.
    begun: bool,
    /// An earlier round has left its coverage.
    goes_on: bool,
    iterations: usize,
    /// Further variants asked in a row that did not decide anything, of formulas and of mutants.
    in_vain: u32,
    in_vain_of_mutants: u32,
    /// Enforcements that somebody was asked about in vain, those included that were tried again with fewer monitors.
    undecided_cases: usize,
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
    /// Mutants of enforcements that a model was asked for or known of, and those that have one.
    pub looked_at: usize,
    pub satisfiable: usize,
    /// Enforced monitors of mutants of which a model is known, and those that have their truth value in it.
    pub modelled: usize,
    pub held: usize,
    /// The same without truth values that no model of a mutant can give.
    pub modelled_possible: usize,
    pub held_possible: usize,
}

impl Coercion {
    pub fn open(
        config: &Values,
        bench: &mut Bench<'_>,
        script: &Script,
        memory: Option<&str>,
    ) -> Option<Coercion> {
        let remembered = memory.and_then(Memory::read);
        let related = remembered.as_ref().map(|memory| memory.related.clone());
        let mut meta = Meta::of(config, bench.store, bench.rng, script, related)?;
        meta.largest_character = bench.grammar.largest_character();
        let covered =
            remembered.as_ref().and_then(|memory| Coverage::recall(memory.coverage, meta.monitors.len()));
        let mut seen = remembered.map(|memory| memory.seen).unwrap_or_default();
        seen.insert(digest_of(bench.store, &meta.holes.normalised(&meta.holes.originals())));
        let goes_on = covered.is_some();
        let impossible = meta.impossible(bench.store);
        let coverage = covered.unwrap_or_else(|| Coverage::new(meta.monitors.len()));
        Some(Coercion {
            config: config.clone(),
            coverage: coverage
                .with_impossible(&impossible, !config.possible)
                .drawn_without_goals(config.undirected()),
            seen,
            meta,
            truths: Vec::new(),
            pending: VecDeque::new(),
            last: None,
            begun: config.rbase || goes_on,
            goes_on,
            iterations: 0,
            in_vain: 0,
            in_vain_of_mutants: 0,
            undecided_cases: 0,
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
        let (draft, _) = if self.counts.mutants > made { self.pending.pop_back()? } else { return None };
        Some(draft)
    }

    /// A mutant with a witness: one enforcement beside all that the script asserts, so that the model which gives the constants
    /// satisfies the mutant, unless a hole gets another constant than the model's.
    pub fn next_satisfied(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        self.begun = true;
        let enforced = self.coverage.next(bench.rng, self.config.multief, None)?;
        self.enforce(bench, Side::Unopened, enforced);
        let is_one =
            |(draft, watched): &&(Draft, Option<Watched>)| watched.is_some() && draft.witness().is_some();
        self.pending.iter().find(is_one).map(|(draft, _)| draft.clone())
    }

    /// No goal is left, or nobody can solve what is asked.
    pub(super) fn is_done(&self) -> bool {
        let saturated = || self.coverage.is_saturated(self.config.multief);
        self.begun && !self.config.rbase && (self.is_undecided() || saturated())
    }

    /// Nobody has decided anything. A contradiction is a decision: the next combination may have a model.
    pub(super) fn nobody_decides(&self) -> bool {
        let Counts { enforcements, undecided, .. } = self.counts;
        !self.goes_on && enforcements > 0 && undecided == enforcements
    }

    /// That has been so often enough to give the seed up.
    fn is_undecided(&self) -> bool {
        let limit = self.config.undecided;
        limit > 0 && self.counts.undecided >= limit && self.nobody_decides()
    }

    fn is_over(&self) -> bool {
        self.iterations >= self.config.iterations || self.is_done()
    }

    /// A round that is saturated early has made few mutants near its seed, and they need nobody's model.
    fn wants_neighbours(&self) -> bool {
        let few = self.counts.mutants < NEIGHBOURS && self.counts.repeated < 2 * NEIGHBOURS;
        self.config.near > 0 && !self.goes_on && few && self.is_done() && !self.is_undecided()
    }

    fn neighbour(&mut self, bench: &mut Bench<'_>) {
        let constants = self.meta.holes.originals();
        let near = self.meta.neighbours(bench.store, bench.rng, &constants);
        self.mutate(bench, near, &[], Source::Random);
    }

    fn iterate(&mut self, bench: &mut Bench<'_>) {
        if !self.begun {
            self.begun = true;
            self.skeleton(bench);
            return;
        }
        self.iterations += 1;
        if self.config.rbase {
            let made = self.counts.mutants;
            for _ in 0..REDRAWS {
                let edges = !self.config.to_the_letter();
                let constants = self.meta.random_constants(bench.store, bench.rng, edges);
                self.mutate(bench, constants, &[], Source::Random);
                if self.counts.mutants > made {
                    break;
                }
            }
            return;
        }
        let known = self.config.soft.then_some(self.truths.as_slice());
        let Some(enforced) = self.coverage.next(bench.rng, self.config.multief, known) else { return };
        let sides: &[Side] = if self.config.cpog { &[Side::Asserted, Side::Negated] } else { &[Side::Bare] };
        for side in sides {
            self.enforce(bench, *side, enforced.clone());
        }
    }

    /// The skeleton itself is a test case, and its model gives the first constants: the author takes none from it, and they
    /// have nothing to do with enforcement.
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
        if let Some(evaluated) = found.model().filter(|_| !self.config.undirected()) {
            let constants = self.meta.given(bench.store, evaluated);
            self.substitute(bench, constants, &[], evaluated);
        }
    }

    /// One enforcement (steps 3 to 5 of Figure 3).
    fn enforce(&mut self, bench: &mut Bench<'_>, side: Side, mut enforced: Vec<Enforced>) {
        let first = bench.rng.below(VARIANTS) as u32;
        let lean = self.config.lean;
        let Some(mut script) = self.meta.formula(bench.store, side, &enforced, lean) else { return };
        self.counts.enforcements += 1;
        let (mut evaluated, change) = loop {
            let found = self.ask(bench, &script, first);
            let change = format!("enforced {}", explain::enforcement(bench.store, &self.meta, &enforced));
            let contradictory = matches!(found, Found::Nothing);
            match found {
                Found::Model(evaluated) => break (*evaluated, change),
                // Whatever is asked in its place, it is a test case of its own.
                Found::Nothing | Found::Crashed => {
                    self.push(Draft::agree(script.clone()).with_changes(vec![change]));
                }
                Found::Undecided => {
                    self.undecided_cases += 1;
                    if self.undecided_cases <= UNDECIDED_CASES {
                        self.push(Draft::agree(script.clone()).with_changes(vec![change]));
                    }
                }
            }
            let soft = self.config.soft;
            let core = if soft && contradictory { self.core(bench, &script, &enforced, first) } else { None };
            let fewer = if soft { self.softer(side, &enforced, core.as_deref()) } else { None };
            let softer =
                fewer.and_then(|fewer| Some((self.meta.formula(bench.store, side, &fewer, lean)?, fewer)));
            let Some(softer) = softer else {
                self.counts.undecided += usize::from(!contradictory);
                return;
            };
            (script, enforced) = softer;
        };
        self.counts.satisfied += 1;
        self.push(known(bench.store, &mut evaluated, script.clone()).with_changes(vec![change]));
        let constants = self.meta.constants(bench.store, bench.rng, &mut evaluated, &script);
        self.substitute(bench, constants, &enforced, &evaluated);
        for variant in 1..self.config.models {
            let Found::Model(mut other) = self.ask(bench, &script, first + variant) else { continue };
            let constants = self.meta.constants(bench.store, bench.rng, &mut other, &script);
            self.substitute(bench, constants, &enforced, &other);
        }
        let mut blocked = script.clone();
        for _ in 0..self.config.blocked {
            let Some(differs) = self.meta.difference(bench.store, &mut evaluated, &script) else { break };
            let Some(check) = blocked.commands.iter().position(Command::is_check) else { break };
            blocked.commands.insert(check, Command::Assert(differs));
            let Found::Model(other) = self.ask(bench, &blocked, first) else { break };
            evaluated = *other;
            let constants = self.meta.constants(bench.store, bench.rng, &mut evaluated, &script);
            self.substitute(bench, constants, &enforced, &evaluated);
        }
    }

    /// The mutant with a model's constants, and some near the seed.
    fn substitute(
        &mut self,
        bench: &mut Bench<'_>,
        constants: Vec<Term>,
        enforced: &[Enforced],
        from: &EvaluatedModel,
    ) {
        for _ in 0..self.config.near {
            let near = self.meta.neighbours(bench.store, bench.rng, &constants);
            self.mutate(bench, near, &[], Source::Near(from));
        }
        self.mutate(bench, constants, enforced, Source::Model(from));
    }

    /// A model of a formula that is one of many.
    fn ask(&mut self, bench: &mut Bench<'_>, script: &Script, variant: u32) -> Found {
        ask_in_turn(bench, script, variant, &mut self.counts.asked, &mut self.in_vain)
    }

    /// The enforcement without those of its monitors that contradict each other or the rest, by their places; without a core,
    /// without its second half. The goal, which comes first, stays. `None` if it is the only one left to drop.
    fn softer(&mut self, side: Side, enforced: &[Enforced], core: Option<&[usize]>) -> Option<Vec<Enforced>> {
        let half = enforced.len() / 2;
        let stays = |place: usize| match core {
            Some(core) => place == 0 || !core.contains(&place),
            None => place < half,
        };
        let places = enforced.iter().enumerate();
        let fewer: Vec<Enforced> = places.filter(|(place, _)| stays(*place)).map(|(_, pair)| *pair).collect();
        // What the other side of CPOG was softened to is another formula here.
        let is_softer = !fewer.is_empty() && fewer.len() < enforced.len();
        let is_new = is_softer && (side == Side::Negated || self.coverage.note(&fewer));
        is_new.then_some(fewer)
    }

    /// Places of the enforced monitors in a core of a contradictory formula, if somebody tells one.
    fn core(
        &mut self,
        bench: &mut Bench<'_>,
        script: &Script,
        enforced: &[Enforced],
        variant: u32,
    ) -> Option<Vec<usize>> {
        if enforced.len() < 2 {
            return None;
        }
        self.counts.asked += 1;
        let question = question(bench.store, script);
        let numbers = bench.ask.core(bench.store, &question, variant)?;
        // What is enforced is asserted last.
        let before = script.assertions().count().checked_sub(enforced.len())?;
        Some(numbers.into_iter().filter_map(|number| number.checked_sub(before)).collect())
    }

    /// The mutant with these constants (step 6), unless it has been made.
    fn mutate(
        &mut self,
        bench: &mut Bench<'_>,
        constants: Vec<Term>,
        enforced: &[Enforced],
        source: Source<'_>,
    ) {
        let kept = if self.config.effinal || self.config.monitored { enforced } else { &[] };
        // The author compares whole mutants, and with EFFINAL these differ in what is enforced.
        let told_apart_by = if self.config.to_the_letter() { kept } else { &[] };
        let values = self.meta.holes.normalised(&constants);
        let digest = match told_apart_by {
            [] => digest_of(bench.store, &values),
            _ => digest_with(bench.store, &values, told_apart_by),
        };
        if !self.seen.insert(digest) {
            self.counts.repeated += 1;
            return;
        }
        let script = match self.meta.mutant(bench.store, &constants, kept, self.config.effinal) {
            Some(script) => script,
            // Without what is enforced only the constants tell it from others.
            None => {
                let told_apart =
                    told_apart_by.is_empty() || self.seen.insert(digest_of(bench.store, &values));
                let script = self.meta.mutant(bench.store, &constants, &[], false);
                self.counts.repeated += usize::from(!told_apart);
                let Some(script) = script.filter(|_| told_apart) else { return };
                script
            }
        };
        self.counts.mutants += 1;
        let changes = explain::changes(bench.store, &self.meta, &constants, enforced);
        let (shown, skolems) = match source {
            Source::Random => (Shown::Nothing, Vec::new()),
            Source::Near(from) => (Shown::Nothing, Watched::skolems(&self.meta, from.model())),
            Source::Model(from) => {
                let shown = self.shown(bench, &script, &constants, (from, !enforced.is_empty()));
                (shown, Watched::skolems(&self.meta, from.model()))
            }
        };
        let (enforced, number) = (enforced.to_vec(), self.numbered);
        let pinned = !script.declared_funs().any(|fun| self.meta.skolems().contains(&fun));
        let mut watched = Watched { constants, enforced, skolems, pinned, number, modelled: false };
        if let Some(model) = shown.model() {
            let truths = watched.truths(&self.meta, bench.store, model, &|_| true);
            self.cover(truths, &watched);
            watched.modelled = true;
        }
        let draft = match shown {
            Shown::Witness(witness) => Draft::satisfied(script, witness),
            Shown::Likely(_) | Shown::Nothing => Draft::agree(script),
        };
        self.push_watched(draft.with_changes(changes), Some(watched));
    }

    /// A model of the mutant: the one that gave its constants, if it satisfies it, else one that a solver is asked for. A mutant
    /// of the skeleton's model, which nothing was enforced for, is not `counted`.
    fn shown(
        &mut self,
        bench: &mut Bench<'_>,
        script: &Script,
        constants: &[Term],
        (from, counted): (&EvaluatedModel, bool),
    ) -> Shown {
        let counted = usize::from(counted);
        let model = from.model().restricted_to(script);
        let asks = bench.rng.chance(self.config.own_models);
        if !self.config.own_only
            && let Ok(witness) = EvaluatedModel::new(model, Mode::Given, BUDGET).witness(bench.store, script)
        {
            self.counts.looked_at += counted;
            self.counts.satisfiable += counted;
            return Shown::Witness(witness);
        }
        let whole = match script.is_incremental() {
            true => self.meta.in_force(bench.store, constants),
            false => Some(script.clone()),
        };
        let Some(whole) = whole.filter(|_| asks) else { return Shown::Nothing };
        self.counts.looked_at += counted;
        let (asked, in_vain) = (&mut self.counts.asked_of_mutants, &mut self.in_vain_of_mutants);
        let Found::Model(own) = ask_in_turn(bench, &whole, 0, asked, in_vain) else { return Shown::Nothing };
        self.counts.satisfiable += counted;
        let mut model = own.model().restricted_to(script);
        model.complete(bench.store, script);
        let mut evaluated = EvaluatedModel::new(model, Mode::Given, BUDGET);
        if let Ok(witness) = evaluated.witness(bench.store, script) {
            return Shown::Witness(witness);
        }
        let refuted = whole.assertions().any(|term| evaluated.holds(bench.store, term) == Ok(false));
        if refuted { Shown::Nothing } else { Shown::Likely(evaluated.model().clone()) }
    }

    /// Notes the truth values that a model of a mutant gives the monitors.
    fn cover(&mut self, truths: Vec<Option<bool>>, watched: &Watched) {
        for (number, truth) in truths.iter().enumerate() {
            if let Some(truth) = truth {
                self.coverage.cover((number, *truth), watched.number);
            }
        }
        if !watched.modelled {
            for enforced in watched.enforced.iter().filter(|pair| watched.is_own(&self.meta, pair.0)) {
                let holds = usize::from(truths.get(enforced.0) == Some(&Some(enforced.1)));
                let possible = usize::from(!self.coverage.is_impossible(*enforced));
                self.counts.modelled += 1;
                self.counts.held += holds;
                self.counts.modelled_possible += possible;
                self.counts.held_possible += possible * holds;
            }
        }
        self.truths = truths;
    }

    /// Skeletons and enforcements are not watched: what they show is no mutant's.
    fn push(&mut self, draft: Draft) {
        self.push_watched(draft, None);
    }

    fn push_watched(&mut self, draft: Draft, watched: Option<Watched>) {
        self.numbered += 1;
        self.pending.push_back((draft, watched));
    }
}

impl Round for Coercion {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        while self.pending.is_empty() {
            if !self.is_over() {
                self.iterate(bench);
            } else if self.wants_neighbours() {
                self.neighbour(bench);
            } else {
                return None;
            }
        }
        let (draft, watched) = self.pending.pop_front()?;
        self.last = watched;
        Some(draft)
    }

    fn note(&self, store: &Store, model: &Model) -> Option<String> {
        let truths = self.last.as_ref()?.news(&self.meta, &self.coverage, store, model)?;
        Some(watch::write(&truths))
    }

    fn learn(&mut self, feedback: &Feedback) {
        let Some(watched) = self.last.take() else { return };
        let seen = feedback.seen.as_deref().and_then(|text| watch::read(text, self.meta.monitors.len()));
        let Some(truths) = seen else { return };
        if !watched.modelled && !watched.enforced.is_empty() {
            self.counts.looked_at += 1;
            self.counts.satisfiable += 1;
        }
        self.cover(truths, &watched);
    }

    fn length(&self) -> usize {
        let sides = if self.config.cpog { 2 } else { 1 };
        let of_a_model = 1 + self.config.near;
        let of_each =
            if self.config.rbase { 1 } else { 1 + of_a_model * (self.config.models + self.config.blocked) };
        let neighbours = if self.config.near > 0 { NEIGHBOURS } else { 0 };
        neighbours.max(1 + of_a_model as usize + self.config.iterations * sides * of_each as usize)
    }

    fn exhausted(&self) -> Option<&'static str> {
        let reason = if self.nobody_decides() { "no solver decides its meta-formula" } else { "saturated" };
        (self.pending.is_empty() && self.is_done() && !self.wants_neighbours()).then_some(reason)
    }

    fn memory(&self) -> Option<String> {
        let related: Vec<String> = self.meta.related().iter().map(ToString::to_string).collect();
        let (seen, coverage) = (self.seen.memory(), self.coverage.memory());
        (!self.config.rbase).then(|| format!("{};{seen};{coverage}", related.join(",")))
    }

    fn figures(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let pairs = self.coverage.count(self.config.multief);
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
            ("modelled possible", counts.modelled_possible),
            ("held possible", counts.held_possible),
            ("pairs", pairs.all),
            ("covered", pairs.covered),
            ("impossible", pairs.impossible),
            ("given up", pairs.given_up),
        ];
        figures.into_iter().map(|(name, count)| (name, count as u64)).collect()
    }

    fn explain(&self, store: &Store, name: &dyn Fn(usize) -> String) -> Option<String> {
        Some(explain::round(store, self, name))
    }
}

/// A model of a script: of one solver, or of the next ones where it does not decide. Counts the questions, and the further ones in
/// a row that were in vain.
fn ask_in_turn(
    bench: &mut Bench<'_>,
    script: &Script,
    variant: u32,
    asked: &mut usize,
    in_vain: &mut u32,
) -> Found {
    *asked += 1;
    let mut found = attempt(bench, script, variant);
    for turn in 1..=FALLBACKS {
        if found.is_decided() || *in_vain >= IN_VAIN {
            break;
        }
        *asked += 1;
        let other = attempt(bench, script, variant + turn);
        *in_vain = if other.is_decided() { 0 } else { *in_vain + 1 };
        // A crash is told unless there is a model: it is what a test case is wanted for.
        if !(matches!(found, Found::Crashed) && matches!(other, Found::Nothing | Found::Undecided)) {
            found = other;
        }
    }
    found
}

/// What is known of a mutant's models when it is made.
enum Shown {
    Witness(Witness),
    /// A solver's: under it no assertion is false, but we cannot decide all of them. It tells what is covered.
    Likely(Model),
    Nothing,
}

impl Shown {
    fn model(&self) -> Option<&Model> {
        match self {
            Shown::Witness(witness) => Some(witness.model()),
            Shown::Likely(model) => Some(model),
            Shown::Nothing => None,
        }
    }
}

/// Where the constants of a mutant come from.
#[derive(Clone, Copy)]
enum Source<'m> {
    Random,
    /// Some of them from this model.
    Near(&'m EvaluatedModel),
    /// All of them, where it has a say.
    Model(&'m EvaluatedModel),
}
