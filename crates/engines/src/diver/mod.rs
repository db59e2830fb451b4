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
mod formula;
mod mutate;
mod places;
mod rules;
mod score;
mod words;

use eval::{EvaluatedModel, to_term};
use generate::{Config as GrammarConfig, Grammar, Rng, Scope};
use rustc_hash::FxHashSet;
use smtlib::literal::Literal;
use smtlib::{Fun, Head, Op, Release, Script, Sort, Store, Term};

pub use config::Diver;
pub use constraint::{Constraint, Stated};
pub use convert::convert;
use formula::Formula;
pub use mutate::MutationCounts;
pub use places::{Place, Places, constraint_at};
pub use rules::Ground;
pub use score::score;
pub use words::{Closed, Words};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::feedback::Feedback;
use crate::models::{self, Satisfied, Wanted};
use crate::skeleton::Skeleton;
use crate::vocabulary::leave_out_hidden;
use mutate::{Mutant, Tools, Workpiece};

/// Places drawn before a formula is given up.
const DRAWS: usize = 40;
/// Literals of the seed and values of the model that random terms are made of.
const CONSTANTS: usize = 200;
/// A mutant with this many nodes of new terms is not mutated further.
const GROWTH: usize = 400;
/// Nodes of a formula, shared ones once, that are worth one more mutant of it before another is analysed.
const NODES_A_MUTANT: usize = 400;
/// At most so many more: chains have to grow in large formulas too.
const MORE: usize = 4;
/// While the pool has fewer members than this, chains come before the cost of the analysis.
const YOUNG: usize = 8;
/// Mutants of one formula until then.
const YOUNG_BATCH: usize = 2;
/// What is left of symbols and nodes in a mutant that others are made of, in quarters of the seed's.
const LEFT: usize = 3;
/// Formulas up to this size are looked at whole to see what is left.
const SMALL: usize = 2_000;
/// Members of the pool that a later round may start from.
const HEIRS: usize = 4;

impl Engine for Diver {
    fn name(&self) -> &str {
        "diver"
    }

    fn has_witness(&self) -> bool {
        true
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        Mutants::open(self, bench).map(|round| Box::new(round) as Box<dyn Round>)
    }
}

/// What a seed is made of: mutants that lose most of it are dull.
struct Substance {
    symbols: FxHashSet<Fun>,
    nodes: usize,
}

/// What a mutant still has of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// No symbol at all.
    Nothing,
    Little,
    Enough,
}

impl Substance {
    fn of(store: &Store, assertions: &[Term]) -> Substance {
        let terms = store.subterms(assertions);
        Substance {
            symbols: terms.iter().filter_map(|term| symbol(store, *term)).collect(),
            nodes: terms.len(),
        }
    }

    /// Looks at a mutant in which `old` was replaced.
    fn left_in(&self, store: &Store, formula: &Formula, old: Term) -> Left {
        if self.nodes > SMALL && store.subterms(&[old]).len() * 8 < self.nodes {
            return Left::Enough;
        }
        let terms = store.subterms(&formula.assertions);
        let symbols: FxHashSet<Fun> = terms.iter().filter_map(|term| symbol(store, *term)).collect();
        let symbols = symbols.intersection(&self.symbols).count();
        if symbols == 0 && !self.symbols.is_empty() {
            Left::Nothing
        } else if symbols * 4 < self.symbols.len() * LEFT || terms.len() * 4 < self.nodes * LEFT {
            Left::Little
        } else {
            Left::Enough
        }
    }
}

fn symbol(store: &Store, term: Term) -> Option<Fun> {
    match store.head(term) {
        Head::Fun(fun) => Some(fun),
        _ => None,
    }
}

/// A model and the formulas it satisfies.
struct Side {
    evaluated: EvaluatedModel,
    /// A solver gave the model.
    solved: bool,
    substance: Substance,
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
    made_of_work: usize,
    tried: usize,
    /// The stream of extra options, if they are wanted.
    options: Option<Rng>,
    counts: MutationCounts,
    /// The mutants of this round have left the seed's logic.
    wide: bool,
}

impl Mutants {
    pub fn open(config: &Diver, bench: &mut Bench<'_>) -> Option<Mutants> {
        let seed = bench.seeds.first()?;
        let mut skeleton = Skeleton::of(bench.store, &seed.script)?;
        skeleton.inline_definitions(bench.store);
        if skeleton.in_force.is_empty() {
            return None;
        }
        if bench.store.subterms(&skeleton.in_force).len() > config.largest {
            return None;
        }
        let wide = bench.rng.chance(config.widen) && skeleton.leave_logic(bench.store);
        let hidden = bench.rng.chance(config.hidden);
        let freedom = Freedom { wide, hidden };
        let grammar = small_terms(bench.grammar, bench.store, &skeleton, config, freedom);
        let wanted =
            Wanted { asked: config.models, random: config.random_models, open_cases: config.open_cases };
        // A stream of its own: the mutants are the same with and without options.
        let options = (config.options > 0).then(|| bench.rng.fork("diver options"));
        let models = models::satisfying(bench, &mut skeleton, wanted);
        let sides: Vec<Side> = models
            .into_iter()
            .map(|Satisfied { evaluated, assertions, solved }| Side {
                solved,
                scope: material(bench.store, &skeleton, &assertions, &evaluated, grammar.largest_character()),
                substance: Substance::of(bench.store, &assertions),
                pool: vec![Formula::new(assertions)],
                evaluated,
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
            made_of_work: 0,
            tried: 0,
            options,
            counts: MutationCounts::default(),
            wide,
        })
    }

    /// How many random terms were tried and accepted.
    pub fn counts(&self) -> MutationCounts {
        self.counts
    }

    /// Takes a formula to mutate: the present one until its batch is done.
    fn take_work(&mut self, bench: &mut Bench<'_>) -> Option<(usize, Workpiece)> {
        if let Some((number, mut work)) = self.work.take() {
            let batch = match self.sides[number].pool.len() {
                0..YOUNG => self.config.batch.min(YOUNG_BATCH),
                _ => self.config.batch + (work.nodes / NODES_A_MUTANT).min(MORE),
            };
            if self.made_of_work < batch {
                return Some((number, work));
            }
            self.sides[number].scope.take_usage(&mut work.scope);
        }
        self.made_of_work = 0;
        let number = bench.rng.below(self.sides.len());
        let side = &mut self.sides[number];
        // Of two the one that is farther from the seed, so that chains grow.
        let (one, other) = (bench.rng.pick(&side.pool)?, bench.rng.pick(&side.pool)?);
        let formula = if one.changes.len() < other.changes.len() { other } else { one }.clone();
        let mut scope = side.scope.clone();
        scope.take_usage(&mut side.scope);
        for fun in &formula.fresh {
            scope.add_function(bench.store, *fun);
        }
        let places =
            Places::analyse(bench.store, &mut side.evaluated, &formula.assertions, self.config.uniform);
        let nodes = bench.store.subterms(&formula.assertions).len();
        Some((number, Workpiece { formula, places, nodes, scope }))
    }

    /// Gives the last mutant a place in the pool.
    fn keep_last(&mut self, bench: &mut Bench<'_>) {
        let Some((number, formula)) = self.last.take() else { return };
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
        self.keep_last(bench);
        for _ in 0..DRAWS {
            let (number, mut work) = self.take_work(bench)?;
            let Side { evaluated, substance, .. } = &mut self.sides[number];
            let made = work.mutate(&mut Tools {
                config: &self.config,
                grammar: &self.grammar,
                bench: &mut *bench,
                evaluated: &mut *evaluated,
                counts: &mut self.counts,
            });
            let test = made.and_then(|Mutant { mut formula, new, old }| {
                formula.drop_dead(bench.store, old);
                let left = substance.left_in(bench.store, &formula, old);
                if left == Left::Nothing {
                    return None;
                }
                let script = self.skeleton.script(&formula.fresh, &formula.assertions);
                let witness = evaluated.witness(bench.store, &script).ok()?;
                let pooled = left == Left::Enough && formula.grown <= GROWTH;
                Some((formula, new, script, witness, pooled))
            });
            self.work = Some((number, work));
            let Some((formula, new, script, witness, pooled)) = test else {
                // A formula that yields nothing is put back sooner.
                self.made_of_work += 1;
                continue;
            };
            self.made_of_work += 1;
            let changes = formula.changes.iter().map(|change| change.text.clone()).collect();
            self.last = pooled.then_some((number, formula));
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
        Some((self.counts.accepted, self.counts.tried))
    }

    fn heirs(&self) -> Vec<Script> {
        // What comes of them would never be in the seed's logic again, and solvers set up by its name.
        if self.wide {
            return Vec::new();
        }
        // A later round has to ask for a model of them: in vain where nobody had one of the seed.
        let sides = self.sides.iter().filter(|side| side.solved);
        let mut members: Vec<&Formula> = sides.flat_map(|side| &side.pool[1..]).collect();
        members.sort_by_key(|formula| std::cmp::Reverse(formula.changes.len()));
        let scripts = members.into_iter().take(HEIRS);
        scripts.map(|formula| self.skeleton.script(&formula.fresh, &formula.assertions)).collect()
    }

    fn learn(&mut self, feedback: &Feedback) {
        if feedback.is_finding() || feedback.is_hopeless() || feedback.is_rejected() {
            self.last = None;
        }
    }
}

/// How far the new terms of a round may go.
#[derive(Clone, Copy)]
struct Freedom {
    /// Beyond the seed's logic.
    wide: bool,
    /// To operators that solvers hide in the seed's logic.
    hidden: bool,
}

/// The grammar of the seed's logic for terms of few operators; of all logics without new quantifiers if it may be left.
fn small_terms(
    grammar: &Grammar,
    store: &Store,
    skeleton: &Skeleton,
    settings: &Diver,
    Freedom { wide, hidden }: Freedom,
) -> Grammar {
    let script = skeleton.script(&[], &[]);
    let mut config = GrammarConfig {
        nodes: settings.growth,
        sharing: 0.0,
        quantifiers: grammar.config().quantifiers.min(0.03),
        leaves: 0.2,
        constants: 0.3,
        arity: 3,
        ..grammar.config().clone()
    };
    if wide {
        // Hardly anything is decided about these.
        config.theories.insert("Transcendentals".to_owned(), 0.0);
    }
    let logic = if wide { "QF_ALL" } else { script.logic(store).unwrap_or(&grammar.logic().name) };
    let mut releases = grammar.releases().to_vec();
    if !hidden {
        leave_out_hidden(&mut config, logic, &releases);
    }
    releases.extend(settings.standard_only.then_some(Release::STANDARD));
    Grammar::new(logic, &releases, config.clone())
        .or_else(|_| Grammar::new(&grammar.logic().name, &releases, config))
        .unwrap_or_else(|_| grammar.clone())
}

/// What random terms are made of: variables of the formula, constants of the formula and of the model.
fn material(
    store: &mut Store,
    skeleton: &Skeleton,
    assertions: &[Term],
    evaluated: &EvaluatedModel,
    largest: u32,
) -> Scope {
    let script = skeleton.script(&[], &[]);
    let mut scope = Scope::of_script(store, &script);
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let literals = store.subterms(assertions);
    let literals: Vec<Term> = literals.into_iter().filter(|term| is_constant(store, *term)).collect();
    for term in literals.into_iter().take(CONSTANTS) {
        if seen.insert(term) {
            scope.add_constant(store, term);
        }
    }
    let values: Vec<(Sort, eval::Value)> = script
        .declared_funs()
        .filter(|fun| store.fun(*fun).params.is_empty())
        .filter_map(|fun| match evaluated.model().get(fun)? {
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
            && is_readable(store, term, largest)
            && seen.insert(term)
        {
            scope.add_constant(store, term);
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

/// Has it no character above this one?
fn is_readable(store: &Store, term: Term, largest: u32) -> bool {
    store.subterms(&[term]).iter().all(|term| match store.head(*term) {
        Head::Literal(literal) => match store.literal(literal) {
            Literal::String(points) => points.iter().all(|point| *point <= largest),
            _ => true,
        },
        _ => true,
    })
}
