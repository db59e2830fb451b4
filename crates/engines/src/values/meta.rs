//! The meta-formula of a seed (definitions III.4 and III.5): monitors for what is to be coerced.

use eval::well_founded::mentioned as mentioned_in;
use eval::{EvaluatedModel, to_term};
use generate::Rng;
use rustc_hash::FxHashSet;
use smtlib::literal::LARGEST_CHARACTER;
use smtlib::{Command, Fun, Op, Script, Sort, Store, Term, logic};

use super::config::Values;
use super::constants::{is_readable, random_constant, uniform_constant};
use super::domains::{domain, relations};
use super::expressions::{Expressions, is_compound};
use super::holes::{Hole, Holes};
use super::skolems::Skolems;
use crate::skeleton::Skeleton;

/// A seed has at most so many monitors; relations of holes are at most half of them.
const MONITORS: usize = 300;

/// Probability that a hole which nothing constrains keeps the seed's constant.
const KEEPS: f64 = 0.5;

/// Probability that a constant from nowhere is random rather than another one of the seed.
const RANDOM: f64 = 0.25;

/// Share of the mutants near the seed that have a pattern of equal and unequal constants, and of how many.
const PATTERNS: f64 = 0.67;
const PATTERN: usize = 4;

/// Constants drawn to find one unlike the others.
const DRAWS: usize = 6;

/// A Boolean constant that says whether something holds.
#[derive(Clone, Copy, Debug)]
pub struct Monitor {
    pub fun: Fun,
    /// The constant as a term.
    pub term: Term,
    /// What it is equal to.
    pub says: Term,
    /// It mentions a constant that stands for a variable of a quantifier.
    pub is_opened: bool,
}

/// One monitor made true or false.
pub type Enforced = (usize, bool);

/// Which assertions of the skeleton stand in a meta-formula (section V-D).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// None.
    Bare,
    /// All.
    Asserted,
    /// All, each negated.
    Negated,
    /// All as they are: quantifiers are not opened, so that a model is one of the seed with other constants.
    Unopened,
}

/// A skeleton and its monitors.
#[derive(Debug)]
pub struct Meta {
    pub holes: Holes,
    pub monitors: Vec<Monitor>,
    /// Declarations, and what the skeleton asserts.
    skeleton: Skeleton,
    /// Opened quantifiers, and constants for their variables.
    skolems: Skolems,
    /// Numbers of the holes whose relations are monitored.
    related: Vec<usize>,
    /// The largest character of constants.
    pub largest_character: u32,
}

impl Meta {
    /// `None` for scripts without constants or that cannot be taken apart, and larger ones than wanted. The relations of
    /// the holes with the numbers `related` are monitored, where these are known, else those of random ones.
    pub fn of(
        config: &Values,
        store: &mut Store,
        rng: &mut Rng,
        script: &Script,
        related: Option<Vec<usize>>,
    ) -> Option<Meta> {
        let holes = Holes::of(store, script)?;
        let skeleton = Skeleton::of(store, &holes.skeleton())?;
        if skeleton.everything.is_empty() || store.subterms(&skeleton.everything).len() > config.largest {
            return None;
        }
        let mut meta = Meta {
            holes,
            skeleton,
            monitors: Vec::new(),
            skolems: Skolems::default(),
            related: Vec::new(),
            largest_character: LARGEST_CHARACTER,
        };
        if !config.rbase {
            meta.related = related.unwrap_or_else(|| meta.some_holes(rng, config.relc));
            meta.watch(config, store);
        }
        Some(meta)
    }

    /// Numbers of random holes, in order.
    fn some_holes(&self, rng: &mut Rng, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.holes.list().len()).collect();
        rng.shuffle(&mut numbers);
        numbers.truncate(count);
        numbers.sort_unstable();
        numbers
    }

    fn watch(&mut self, config: &Values, store: &mut Store) {
        let skolems = Skolems::of(store, &self.skeleton.everything, config.quantifiers);
        let opened: Vec<Term> =
            self.skeleton.everything.iter().map(|formula| skolems.open(*formula)).collect();
        let all = Expressions::of(store, &opened);
        let mut said: Vec<Term> = Vec::new();
        for expression in &all.found {
            let wanted = store.sort_of(expression.term) == Sort::BOOL && is_compound(store, expression.term);
            if wanted && (expression.leaf || !config.leafopt) {
                said.extend(all.closed(store, expression, expression.term));
            }
        }
        if config.adomain || config.adomaine {
            for term in self.variables(store, &skolems.constants) {
                said.extend(domain(store, term));
            }
        }
        if config.adomaine {
            for expression in &all.found {
                if store.args(expression.term).is_empty() {
                    continue;
                }
                for predicate in domain(store, expression.term) {
                    said.extend(all.closed(store, expression, predicate));
                }
            }
        }
        let languages = config.to_the_letter();
        let mut seen = FxHashSet::default();
        let mut usable = |store: &Store, says: &Term| {
            seen.insert(*says) && (languages || !has_open_language(store, *says))
        };
        said.retain(|says| usable(store, says));
        let mut relating: Vec<Term> = Vec::new();
        let related = self.related.iter().filter_map(|number| self.holes.list().get(*number));
        let chosen: Vec<Hole> = related.copied().collect();
        for (place, one) in chosen.iter().enumerate() {
            for other in &chosen[place + 1..] {
                relating.extend(relations(store, one.term, other.term));
            }
        }
        relating.retain(|says| usable(store, says));
        self.skolems = skolems;
        // Large seeds must not lose their relations, nor all that their last assertions say.
        let relating = evenly(relating, MONITORS / 2);
        let mut said = evenly(said, MONITORS - relating.len());
        said.extend(relating);
        for says in said {
            let name = store.fresh_name("m");
            let fun = store.declare_fun(name, &[], Sort::BOOL);
            let Ok(term) = store.call(fun, &[]) else { continue };
            let is_opened =
                mentioned_in(store, &[says]).iter().any(|fun| self.skolems.constants.contains(fun));
            self.monitors.push(Monitor { fun, term, says, is_opened });
        }
    }

    /// Truth values of monitors that no model of a mutant gives them: the falsehood of what is asserted, of its conjuncts,
    /// and of instances of what is said of all values.
    pub fn impossible(&self, store: &Store) -> Vec<Enforced> {
        let said = self.skolems.settled(store, &self.skeleton.in_force);
        let of = |(number, monitor): (usize, &Monitor)| Some((number, !*said.get(&monitor.says)?));
        self.monitors.iter().enumerate().filter_map(of).collect()
    }

    /// The constant symbols of the seed, and those that stand for variables of its quantifiers.
    fn variables(&self, store: &mut Store, skolems: &[Fun]) -> Vec<Term> {
        let holes: FxHashSet<Fun> = self.holes.list().iter().map(|hole| hole.fun).collect();
        let declared = Script { commands: self.skeleton.preamble().to_vec() };
        let funs: Vec<Fun> = declared
            .declared_funs()
            .filter(|fun| !holes.contains(fun) && store.fun(*fun).params.is_empty())
            .chain(skolems.iter().copied())
            .collect();
        funs.into_iter().filter_map(|fun| store.call(fun, &[]).ok()).collect()
    }

    /// The meta-formula with some monitors enforced: a test case. A `lean` one has no others.
    pub fn formula(
        &self,
        store: &mut Store,
        side: Side,
        enforced: &[Enforced],
        lean: bool,
    ) -> Option<Script> {
        let monitors: Vec<&Monitor> = match lean {
            true => enforced.iter().filter_map(|(number, _)| self.monitors.get(*number)).collect(),
            false => self.monitors.iter().collect(),
        };
        let fresh: Vec<Fun> = self
            .skolems
            .constants
            .iter()
            .copied()
            .chain(monitors.iter().map(|monitor| monitor.fun))
            .collect();
        let mut assertions = Vec::new();
        for monitor in monitors {
            assertions.push(store.op(Op::Equal, &[monitor.term, monitor.says]).ok()?);
        }
        match side {
            Side::Bare => {}
            Side::Unopened => assertions.extend_from_slice(&self.skeleton.in_force),
            Side::Asserted => {
                assertions.extend(self.skeleton.in_force.iter().map(|formula| self.skolems.open(*formula)));
            }
            Side::Negated => {
                for formula in &self.skeleton.in_force {
                    assertions.push(store.not(self.skolems.open(*formula)).ok()?);
                }
            }
        }
        assertions.extend(self.enforcement(store, enforced)?);
        Some(self.skeleton.script(&fresh, &assertions))
    }

    /// The assertions that enforce monitors.
    pub fn enforcement(&self, store: &mut Store, enforced: &[Enforced]) -> Option<Vec<Term>> {
        let literal = |(number, truth): &Enforced| {
            let term = self.monitors.get(*number)?.term;
            if *truth { Some(term) } else { store.op(Op::Not, &[term]).ok() }
        };
        enforced.iter().map(literal).collect()
    }

    /// What the seed asserts with these constants, with one check: whose model is a model of the mutant.
    pub fn in_force(&self, store: &mut Store, constants: &[Term]) -> Option<Script> {
        let filling = self.holes.filling(constants);
        let formulas = self.skeleton.in_force.iter();
        let formulas = formulas.map(|formula| store.replace_in_place(*formula, &filling).ok());
        let formulas = formulas.collect::<Option<Vec<_>>>()?;
        if formulas.is_empty() {
            return None;
        }
        let mut script = self.skeleton.script(&[], &formulas);
        let holes: FxHashSet<Fun> = self.holes.list().iter().map(|hole| hole.fun).collect();
        script
            .commands
            .retain(|command| !matches!(command, Command::DeclareConst(fun) if holes.contains(fun)));
        Some(script)
    }

    /// The mutant with these constants; with monitors if these are wanted, and with their enforcement (section V-G).
    /// `None` if they are and the script has levels that they would belong to.
    pub fn mutant(
        &self,
        store: &mut Store,
        constants: &[Term],
        kept: &[Enforced],
        enforce: bool,
    ) -> Option<Script> {
        let mut script = self.holes.substitute(store, constants)?;
        if kept.is_empty() {
            return Some(script);
        }
        if script.is_incremental() {
            return None;
        }
        let filling = self.holes.filling(constants);
        let mut commands: Vec<Command> =
            self.skolems.constants.iter().map(|fun| Command::DeclareConst(*fun)).collect();
        for (number, _) in kept {
            let Monitor { fun, term, says, .. } = *self.monitors.get(*number)?;
            let says = store.replace_in_place(says, &filling).ok()?;
            commands.push(Command::DeclareConst(fun));
            commands.push(Command::Assert(store.op(Op::Equal, &[term, says]).ok()?));
        }
        if enforce {
            commands.extend(self.enforcement(store, kept)?.into_iter().map(Command::Assert));
        }
        let check = script.commands.iter().position(Command::is_check).unwrap_or(script.commands.len());
        script.commands.splice(check..check, commands);
        Some(script)
    }

    /// The constants that a model gives the holes; the seed's own where a solver of the group could not read it.
    pub fn given(&self, store: &mut Store, evaluated: &mut EvaluatedModel) -> Vec<Term> {
        let mut constants = self.holes.constants(store, evaluated);
        for (constant, hole) in constants.iter_mut().zip(self.holes.list()) {
            if !is_readable(store, *constant, self.largest_character) {
                *constant = hole.original;
            }
        }
        constants
    }

    /// The constants that a model of a formula gives the holes. One that the formula does not mention would get the same value
    /// each time: it gets the seed's, one that the seed has elsewhere or a random one instead.
    pub fn constants(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        evaluated: &mut EvaluatedModel,
        formula: &Script,
    ) -> Vec<Term> {
        let mut constants = self.given(store, evaluated);
        let mentioned = mentioned(store, formula);
        for (place, hole) in self.holes.list().iter().enumerate() {
            if mentioned.contains(&hole.term) {
                continue;
            }
            constants[place] = if rng.chance(KEEPS) { hole.original } else { self.other(store, rng, *hole) };
        }
        constants
    }

    /// Says that some hole which a formula mentions has another value than in this model of it. `None` if no hole in it has
    /// a value that can be written down.
    pub fn difference(
        &self,
        store: &mut Store,
        evaluated: &mut EvaluatedModel,
        formula: &Script,
    ) -> Option<Term> {
        let mentioned = mentioned(store, formula);
        let mut differences = Vec::new();
        for hole in self.holes.list().iter().filter(|hole| mentioned.contains(&hole.term)) {
            let value = evaluated.evaluate(store, hole.term).ok();
            let Some(value) = value.and_then(|value| to_term(store, hole.sort, &value)) else { continue };
            let same = store.op(Op::Equal, &[hole.term, value]).ok()?;
            differences.push(store.op(Op::Not, &[same]).ok()?);
        }
        if differences.is_empty() { None } else { store.or(&differences).ok() }
    }

    /// Constants near the seed's: some of them a model's, or a pattern of equal and unequal ones.
    pub fn neighbours(&self, store: &mut Store, rng: &mut Rng, given: &[Term]) -> Vec<Term> {
        if rng.chance(PATTERNS) {
            return self.pattern(store, rng);
        }
        let mut constants = Vec::with_capacity(given.len());
        for (hole, given) in self.holes.list().iter().zip(given) {
            constants.push(match rng.below(4) {
                0 => *given,
                1 => self.other(store, rng, *hole),
                _ => hole.original,
            });
        }
        constants
    }

    /// The seed's constants but for some holes of one sort: each of these is equal to one before or unlike all of them.
    /// Which places are equal decides as much as what stands there, and a model tells little of it: solvers like to give
    /// one value to everything.
    fn pattern(&self, store: &mut Store, rng: &mut Rng) -> Vec<Term> {
        let holes = self.holes.list();
        let mut constants = self.holes.originals();
        let Some(sort) = rng.pick(holes).map(|hole| hole.sort) else { return constants };
        let mut places: Vec<usize> = (0..holes.len()).filter(|place| holes[*place].sort == sort).collect();
        rng.shuffle(&mut places);
        places.truncate(PATTERN);
        let mut used: Vec<Term> = Vec::new();
        for place in places {
            let same = if rng.chance(0.5) { rng.pick(&used).copied() } else { None };
            constants[place] = same.unwrap_or_else(|| {
                let mut draws = (0..DRAWS).map(|_| self.other(store, rng, holes[place]));
                let new = draws.find(|new| !used.contains(new));
                new.unwrap_or(holes[place].original)
            });
            used.push(constants[place]);
        }
        constants
    }

    /// A constant for a hole that knows nothing of a model: one that stands elsewhere in the seed, or a random one.
    fn other(&self, store: &mut Store, rng: &mut Rng, hole: Hole) -> Term {
        if rng.chance(RANDOM) {
            return random_constant(store, rng, hole.sort, self.largest_character).unwrap_or(hole.original);
        }
        let others = self.holes.list().iter().filter(|other| other.sort == hole.sort);
        let mut others: Vec<Term> = others.map(|other| other.original).collect();
        others.sort_unstable();
        others.dedup();
        rng.pick(&others).copied().unwrap_or(hole.original)
    }

    /// Random constants for all holes, half of them edge values if these are wanted.
    pub fn random_constants(&self, store: &mut Store, rng: &mut Rng, edges: bool) -> Vec<Term> {
        let largest = self.largest_character;
        let draw = if edges { random_constant } else { uniform_constant };
        let constant = |hole: &Hole| draw(store, rng, hole.sort, largest).unwrap_or(hole.original);
        self.holes.list().iter().map(constant).collect()
    }

    /// Numbers of the holes whose relations are monitored.
    pub fn related(&self) -> &[usize] {
        &self.related
    }

    /// Constants for variables of quantifiers.
    pub fn skolems(&self) -> &[Fun] {
        &self.skolems.constants
    }
}

/// The script with a plain check instead of a tactic, in a logic that is wide enough: as a question to any solver.
pub fn question(store: &mut Store, script: &Script) -> Script {
    let mut script = script.clone();
    for command in &mut script.commands {
        if matches!(command, Command::CheckSatUsing(_)) {
            *command = Command::CheckSat;
        }
    }
    logic::widen(store, &mut script);
    script
}

/// Every term in what a formula asserts.
fn mentioned(store: &Store, formula: &Script) -> FxHashSet<Term> {
    let asserted: Vec<Term> = formula.assertions().collect();
    store.subterms(&asserted).into_iter().collect()
}

/// At most so many of a list, from all parts of it, in order. Nothing random: a later round of the seed has to find the same.
fn evenly(list: Vec<Term>, most: usize) -> Vec<Term> {
    let all = list.len().max(most);
    let stays = |place: usize| (place + 1) * most / all > place * most / all;
    list.into_iter().enumerate().filter(|(place, _)| stays(*place)).map(|(_, term)| term).collect()
}

/// A language with a symbol in it: solvers decide next to nothing about these.
fn has_open_language(store: &Store, formula: Term) -> bool {
    store.subterms(&[formula]).into_iter().any(|term| {
        matches!(store.op_of(term), Some(Op::StrToRe | Op::ReRange))
            && store.args(term).iter().any(|arg| !super::holes::is_constant(store, *arg))
    })
}

#[cfg(test)]
mod tests {
    use generate::rng;
    use smtlib::{Mode, Release, parse, print};

    use super::super::config::Preset;
    use super::*;

    fn meta(store: &mut Store, text: &str, config: &Values) -> Meta {
        let script = parse(store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        Meta::of(config, store, &mut rng::stream(1, 1), &script, None).expect("a skeleton")
    }

    fn said(text: &str, config: &Values) -> Vec<String> {
        let mut store = Store::new();
        let meta = meta(&mut store, text, config);
        meta.monitors.iter().map(|monitor| store.term_text(monitor.says)).collect()
    }

    const FIGURE_3: &str = "(declare-fun x () Int)(assert (or (> x 3) (< x 5)))(check-sat)";

    #[test]
    fn the_meta_formula_and_an_enforcement_of_figure_3() {
        let mut store = Store::new();
        let meta = meta(&mut store, FIGURE_3, &Preset::Skolu.settings());
        let script = meta.formula(&mut store, Side::Bare, &[(1, true)], false).expect("well-sorted");
        let expected = "(declare-const h!1 Int)\n(declare-const h!2 Int)\n(declare-fun x () Int)\n\
            (declare-const m!1 Bool)\n(declare-const m!2 Bool)\n(declare-const m!3 Bool)\n\
            (assert (= m!1 (> x h!1)))\n(assert (= m!2 (< x h!2)))\n\
            (assert (= m!3 (or (> x h!1) (< x h!2))))\n(assert m!2)\n(check-sat)\n";
        assert_eq!(print::print(&store, &script, Release::STANDARD), expected);
    }

    #[test]
    fn both_meta_formulas_of_section_v_d() {
        let mut store = Store::new();
        let meta = meta(&mut store, FIGURE_3, &Preset::Cpog.settings());
        let mut last = |side| {
            let script = meta.formula(&mut store, side, &[], false).expect("well-sorted");
            store.term_text(script.assertions().last().expect("assertions"))
        };
        assert_eq!(last(Side::Asserted), "(or (> x h!1) (< x h!2))");
        assert_eq!(last(Side::Negated), "(not (or (> x h!1) (< x h!2)))");
    }

    #[test]
    fn no_quantifier_that_is_opened_is_left_in_a_meta_formula() {
        let text = "(declare-fun p () Bool)(declare-fun x () Int)(assert (and p (exists ((y Int)) (< y x))))
            (assert (or p (forall ((y Int)) (exists ((z Int)) (and (< z y) (< z 3))))))(check-sat)";
        for preset in [Preset::Skolu, Preset::BlendB, Preset::Cpog] {
            let mut store = Store::new();
            let meta = meta(&mut store, text, &preset.settings());
            for side in [Side::Bare, Side::Asserted, Side::Negated, Side::Unopened] {
                let script = meta.formula(&mut store, side, &[(0, true)], false).expect("well-sorted");
                let text = print::print(&store, &script, Release::STANDARD);
                let has_quantifiers = text.contains("exists") || text.contains("forall");
                assert_eq!(has_quantifiers, side == Side::Unopened, "{text}");
            }
        }
        let skolu = said(text, &Preset::Skolu.settings());
        assert_eq!(skolu[..2], ["(< q!1 x)", "(and p (< q!1 x))"]);
        assert!(said(text, &Preset::Noskole.settings()).iter().any(|says| says.contains("exists")));
    }

    #[test]
    fn monitors_of_variables_sub_expressions_leaves_and_relations() {
        let basic = said(FIGURE_3, &Preset::Skolu.settings());
        let domain = ["(= x 0)", "(< x 0)", "(> x 0)"];
        assert_eq!(
            said(FIGURE_3, &Preset::Adomain.settings()),
            [&basic[..], &domain.map(String::from)].concat()
        );
        assert_eq!(said(FIGURE_3, &Preset::Leafopt.settings()), basic[..2]);
        let related = said(FIGURE_3, &Preset::Relc3.settings());
        assert_eq!(related.len(), basic.len() + 6);
        assert_eq!(related[3], "(= h!1 h!2)");
        let text = "(declare-fun x () Int)(declare-fun y () Int)(assert (< x (+ 1 y)))";
        let all = said(text, &Preset::Adomaine.settings());
        for part in ["(= (+ h!1 y) 0)", "(< (+ h!1 y) 0)", "(> (+ h!1 y) 0)", "(= x 0)", "(> y 0)"] {
            assert!(all.iter().any(|says| says == part), "{part} in {all:?}");
        }
    }

    #[test]
    fn a_large_seed_keeps_its_relations_and_some_monitors_of_every_part() {
        let ors: String = (0..400).map(|number| format!("(= x {number})")).collect();
        let text = format!("(declare-fun x () Int)(assert (or {ors}))(check-sat)");
        let said = said(&text, &Preset::Relc3.settings());
        assert_eq!(said.len(), MONITORS);
        assert!(said[MONITORS - 1].starts_with("(<= h!"), "{}", said[MONITORS - 1]);
        let relations = said.iter().filter(|says| !says.contains('x')).count();
        assert_eq!(relations, 18);
        assert!(said.iter().any(|says| says.starts_with("(= x 39")), "one of the last ten: {said:?}");
    }

    #[test]
    fn definitions_of_let_are_kept() {
        let text = "(assert (let ((x 8)) (and (< x 3) (< x 4))))";
        let said = said(text, &Preset::Skolu.settings());
        assert_eq!(said, ["(< h!1 h!2)", "(< h!3 h!4)", "(and (< h!1 h!2) (< h!3 h!4))"]);
    }

    #[test]
    fn an_enforcement_stays_in_the_mutant_as_in_section_v_g() {
        let mut store = Store::new();
        let meta = meta(&mut store, FIGURE_3, &Preset::Effinal.settings());
        let constants = [store.int(2), store.int(1)];
        let script = meta.mutant(&mut store, &constants, &[(1, true)], true).expect("one level");
        let expected = "(declare-fun x () Int)\n(assert (or (> x 2) (< x 1)))\n(declare-const m!2 Bool)\n\
            (assert (= m!2 (< x 1)))\n(assert m!2)\n(check-sat)\n";
        assert_eq!(print::print(&store, &script, Release::STANDARD), expected);
    }

    #[test]
    fn languages_with_holes_are_not_monitored_and_these_holes_are_still_filled() {
        let mut store = Store::new();
        let text = "(declare-fun x () String)(assert (str.in_re x (re.+ (str.to_re \"ab\"))))
            (assert (= x \"c\"))(check-sat)";
        let to_the_letter = said(text, &Preset::Skolu.settings());
        assert_eq!(to_the_letter.len(), 2, "the author monitors them: {to_the_letter:?}");
        let meta = meta(&mut store, text, &Values { paper: false, ..Preset::Skolu.settings() });
        let said: Vec<String> = meta.monitors.iter().map(|monitor| store.term_text(monitor.says)).collect();
        assert_eq!(said, ["(= x h!2)"]);
        let mut evaluated = EvaluatedModel::new(eval::Model::new(), eval::Mode::Given, crate::models::BUDGET);
        let mut rng = rng::stream(2, 2);
        let formula = meta.formula(&mut store, Side::Bare, &[], false).expect("well-sorted");
        let first: FxHashSet<Term> =
            (0..20).map(|_| meta.constants(&mut store, &mut rng, &mut evaluated, &formula)[0]).collect();
        assert!(first.len() > 2, "{first:?}");
    }

    #[test]
    fn a_lean_formula_leaves_the_holes_alone_that_it_does_not_mention() {
        let mut store = Store::new();
        let text = "(declare-fun x () Int)(assert (< x 41))(assert (> x 17))(check-sat)";
        let meta = meta(&mut store, text, &Preset::Skolu.settings());
        let number =
            |says| meta.monitors.iter().position(|one| store.term_text(one.says) == says).expect("one");
        let enforced = [(number("(< x h!1)"), true)];
        let mut rng = rng::stream(2, 2);
        for (side, other_is_free) in [(Side::Bare, true), (Side::Asserted, false)] {
            let formula = meta.formula(&mut store, side, &enforced, true).expect("well-sorted");
            let mut model = eval::Model::new();
            model.complete(&store, &formula);
            let mut evaluated = EvaluatedModel::new(model, eval::Mode::Given, crate::models::BUDGET);
            let difference = meta.difference(&mut store, &mut evaluated, &formula).expect("a hole");
            let difference = store.term_text(difference);
            assert!(difference.contains("h!1"), "{difference}");
            assert_eq!(difference.contains("h!2"), !other_is_free, "{difference}");
            let mut other = FxHashSet::default();
            for _ in 0..20 {
                let constants = meta.constants(&mut store, &mut rng, &mut evaluated, &formula);
                assert_eq!(store.term_text(constants[0]), "0", "the model's");
                other.insert(store.term_text(constants[1]));
            }
            assert_eq!(other.contains("17") && other.len() > 2, other_is_free, "{other:?}");
        }
    }

    #[test]
    fn a_question_has_a_plain_check_and_a_logic_that_is_wide_enough() {
        let mut store = Store::new();
        let text = "(set-logic QF_LIA)(declare-fun x () Int)(assert (< (* 2 x) 3))(check-sat-using smt)";
        let meta = meta(&mut store, text, &Values::default());
        let script = meta.formula(&mut store, Side::Bare, &[], false).expect("well-sorted");
        assert_eq!(script.commands.last(), Some(&Command::CheckSatUsing("smt".into())));
        let asked = question(&mut store, &script);
        assert_eq!(asked.commands.last(), Some(&Command::CheckSat));
        assert_eq!(asked.logic(&store), Some("QF_NIA"));
    }

    #[test]
    fn an_assertion_and_its_conjuncts_are_false_in_no_model_of_a_mutant() {
        let mut store = Store::new();
        let text = "(declare-fun x () Int)(assert (and (> x 3) (not (or (< x 9) (= x 20)))))
            (assert (or (= x 1) (= x 2)))(check-sat)";
        let meta = meta(&mut store, text, &Preset::Skolu.settings());
        let said = |(number, truth): &Enforced| {
            format!("{} = {truth}", store.term_text(meta.monitors[*number].says))
        };
        let mut impossible: Vec<String> = meta.impossible(&store).iter().map(said).collect();
        impossible.sort();
        let expected = [
            "(< x h!2) = true",
            "(= x h!3) = true",
            "(> x h!1) = false",
            "(and (> x h!1) (not (or (< x h!2) (= x h!3)))) = false",
            "(not (or (< x h!2) (= x h!3))) = false",
            "(or (< x h!2) (= x h!3)) = true",
            "(or (= x h!4) (= x h!5)) = false",
        ];
        assert_eq!(impossible, expected);
    }
}
