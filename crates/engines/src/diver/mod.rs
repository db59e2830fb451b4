//! DIVER (Kim, So, Oh: DIVER: Oracle-Guided SMT Solver Testing with Unrestricted Random Mutations, ICSE 2023): any random
//! change of a satisfiable formula that its model still satisfies.
//!
//! - [`Constraint`]: the values that may stand at a place (section III-A)
//! - [`Places`]: the pre-analysis of a formula and the weighted choice (section III-B)
//! - [`Diver`]: the engine and its settings

mod complicate;
mod config;
mod constraint;
mod convert;
mod mutate;
mod places;
mod rules;
mod score;
mod words;

use eval::{EvaluatedModel, to_term};
use generate::{Config as GrammarConfig, Grammar, Rng, Scope};
use rustc_hash::FxHashSet;
use smtlib::{Fun, Head, Op, Sort, Store, Term};

pub use config::Diver;
pub use constraint::{Constraint, Stated};
pub use convert::convert;
pub use mutate::Tally;
pub use places::{Place, Places, constraint_at};
pub use rules::Ground;
pub use score::score;
pub use words::{Closed, Words};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::feedback::Feedback;
use crate::models::{self, Wanted};
use crate::skeleton::Skeleton;
use mutate::{Tools, Workpiece};

/// Places drawn before a formula is given up.
const DRAWS: usize = 40;
/// Literals of the seed and values of the model that random terms are made of.
const CONSTANTS: usize = 200;
/// A mutant with this many more places than the seed is not mutated further.
const GROWTH: usize = 400;

impl Engine for Diver {
    fn name(&self) -> &str {
        "diver"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        Mutants::open(self, bench).map(|round| Box::new(round) as Box<dyn Round>)
    }
}

/// A formula of the pool: assertions true under the model, and the fresh constants in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Formula {
    pub fresh: Vec<Fun>,
    pub assertions: Vec<Term>,
    /// What was done to the seed.
    pub changes: Vec<String>,
}

/// A model and the formulas it satisfies.
struct Side {
    world: EvaluatedModel,
    pool: Vec<Formula>,
    scope: Scope,
}

/// A round: all mutants of one seed.
pub struct Mutants {
    config: Diver,
    skeleton: Skeleton,
    grammar: Grammar,
    sides: Vec<Side>,
    work: Option<(usize, Workpiece)>,
    /// The mutant made last; it joins the pool unless something is wrong with it.
    last: Option<(usize, Formula)>,
    limit: usize,
    made_of_work: usize,
    tried: usize,
    made: usize,
    /// The stream of extra options, if they are wanted.
    options: Option<Rng>,
    tally: Tally,
}

impl Mutants {
    pub fn open(config: &Diver, bench: &mut Bench<'_>) -> Option<Mutants> {
        let seed = bench.seeds.first()?;
        let mut skeleton = Skeleton::of(bench.store, &seed.script)?;
        skeleton.inline_definitions(bench.store);
        if skeleton.in_force.is_empty() {
            return None;
        }
        let size: u64 = skeleton.in_force.iter().map(|term| bench.store.tree_size(*term)).sum();
        if size > config.largest {
            return None;
        }
        let grammar = small_terms(bench.grammar, bench.store, &skeleton, config.growth);
        let wanted =
            Wanted { asked: config.models, random: config.random_models, open_cases: config.open_cases };
        // A stream of its own: the mutants are the same with and without options.
        let options = (config.options > 0).then(|| bench.rng.fork("diver options"));
        let models = models::satisfying(bench, &skeleton, wanted);
        let seed = Formula { assertions: skeleton.in_force.clone(), ..Formula::default() };
        let sides: Vec<Side> = models
            .into_iter()
            .map(|world| Side {
                scope: material(bench.store, &skeleton, &world),
                pool: vec![seed.clone()],
                world,
            })
            .collect();
        if sides.is_empty() {
            return None;
        }
        Some(Mutants {
            config: config.clone(),
            skeleton,
            grammar,
            sides,
            work: None,
            last: None,
            limit: size as usize + GROWTH,
            made_of_work: 0,
            tried: 0,
            made: 0,
            options,
            tally: Tally::default(),
        })
    }

    /// How many random terms were tried and accepted.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Takes a formula to mutate: the present one until its batch is done.
    fn take_work(&mut self, bench: &mut Bench<'_>) -> Option<(usize, Workpiece)> {
        if self.made_of_work < self.config.batch
            && let Some(work) = self.work.take()
        {
            return Some(work);
        }
        self.made_of_work = 0;
        let number = bench.rng.below(self.sides.len());
        let side = &mut self.sides[number];
        let formula = bench.rng.pick(&side.pool)?.clone();
        let mut scope = side.scope.clone();
        for fun in &formula.fresh {
            scope.add_function(bench.store, *fun);
        }
        let places = Places::analyse(bench.store, &mut side.world, &formula.assertions, self.config.uniform);
        Some((number, Workpiece { formula, places, scope }))
    }

    /// Gives the last mutant a place in the pool.
    fn keep_last(&mut self, bench: &mut Bench<'_>) {
        let Some((number, formula)) = self.last.take() else { return };
        let size: u64 = formula.assertions.iter().map(|term| bench.store.tree_size(*term)).sum();
        if size as usize > self.limit {
            return;
        }
        let pool = &mut self.sides[number].pool;
        if pool.len() < self.config.pool.max(1) {
            pool.push(formula);
        } else if pool.len() > 1 {
            // The seed itself stays.
            let place = bench.rng.between(1, pool.len() - 1);
            pool[place] = formula;
        }
    }
}

impl Round for Mutants {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.tried == self.config.mutants {
            return None;
        }
        self.tried += 1;
        if self.made.is_multiple_of(4) {
            self.keep_last(bench);
        }
        for _ in 0..DRAWS {
            let (number, mut work) = self.take_work(bench)?;
            let world = &mut self.sides[number].world;
            let made = work.mutate(&mut Tools {
                config: &self.config,
                grammar: &self.grammar,
                bench: &mut *bench,
                world: &mut *world,
                tally: &mut self.tally,
            });
            let test = made.and_then(|(formula, new)| {
                let script = self.skeleton.script(&formula.fresh, &formula.assertions);
                let witness = world.witness(bench.store, &script).ok()?;
                Some((formula, new, script, witness))
            });
            self.work = Some((number, work));
            let Some((formula, new, script, witness)) = test else {
                // A formula that yields nothing is put back sooner.
                self.made_of_work += 1;
                continue;
            };
            self.made_of_work += 1;
            let changes = formula.changes.clone();
            self.last = Some((number, formula));
            self.made += 1;
            let options = match &mut self.options {
                Some(rng) => bench.options.draw(rng, self.config.options),
                None => Vec::new(),
            };
            let draft = Draft::satisfied(script, witness).with_changes(changes).with_new_terms(vec![new]);
            return Some(draft.with_options(options));
        }
        None
    }

    fn length(&self) -> usize {
        self.config.mutants
    }

    fn effort(&self) -> Option<(u64, u64)> {
        Some((self.tally.accepted, self.tally.tried))
    }

    fn learn(&mut self, feedback: &Feedback) {
        if feedback.is_finding() || feedback.is_hopeless() || feedback.is_rejected() {
            self.last = None;
        }
    }
}

/// The grammar of the seed's logic for terms of few operators.
fn small_terms(grammar: &Grammar, store: &Store, skeleton: &Skeleton, growth: usize) -> Grammar {
    let script = skeleton.script(&[], &[]);
    let config = GrammarConfig {
        nodes: growth,
        sharing: 0.0,
        quantifiers: grammar.config().quantifiers.min(0.03),
        leaves: 0.2,
        constants: 0.4,
        arity: 3,
        ..grammar.config().clone()
    };
    let logic = script.logic(store).unwrap_or(&grammar.logic().name);
    Grammar::new(logic, grammar.releases(), config.clone())
        .or_else(|_| Grammar::new(&grammar.logic().name, grammar.releases(), config))
        .unwrap_or_else(|_| grammar.clone())
}

/// What random terms are made of: variables of the formula, constants of the formula and of the model.
fn material(store: &mut Store, skeleton: &Skeleton, world: &EvaluatedModel) -> Scope {
    let script = skeleton.script(&[], &[]);
    let mut scope = Scope::of_script(store, &script);
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let literals = store.subterms(&skeleton.in_force);
    let literals: Vec<Term> = literals.into_iter().filter(|term| is_constant(store, *term)).collect();
    for term in literals.into_iter().take(CONSTANTS) {
        if seen.insert(term) {
            scope.add_leaf(store, term);
        }
    }
    let values: Vec<(Sort, eval::Value)> = script
        .declared_funs()
        .filter(|fun| store.fun(*fun).params.is_empty())
        .filter_map(|fun| match world.model().get(fun)? {
            eval::Interpretation::Value(value) => Some((store.fun(fun).result, value.clone())),
            eval::Interpretation::Body(_) => None,
        })
        .take(CONSTANTS)
        .collect();
    for (sort, value) in values {
        if matches!(sort, Sort::BOOL) {
            continue;
        }
        if let Some(term) = to_term(store, sort, &value)
            && is_plain(store, term)
            && seen.insert(term)
        {
            scope.add_leaf(store, term);
        }
    }
    scope
}

fn is_constant(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Literal(_) => true,
        Head::Op(Op::True | Op::False, _) => false,
        Head::Op(..) => store.args(term).is_empty() && !matches!(store.sort_of(term), Sort::REGLAN),
        _ => false,
    }
}

/// Array values need operators that not every logic has.
fn is_plain(store: &Store, term: Term) -> bool {
    store.subterms(&[term]).iter().all(|term| store.op_of(*term) != Some(Op::ConstArray))
}
