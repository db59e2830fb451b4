//! Semantic fusion (Winterer, Zhang, Su: Validating SMT Solvers via Semantic Fusion, PLDI 2020).
//!
//! Two satisfiable seeds are conjoined, two unsatisfiable ones disjoined. Pairs of variables x, y of the two
//! are fused into a fresh z = f(x, y), and random occurrences of x and y are replaced by inversions over z; the answer
//! stays the seeds'. For unsatisfiable seeds the fusion constraints z = f(x, y), x = r_x, y = r_y are asserted too.

mod apart;
mod inversion;

use eval::side_conditions::side_conditions;
use eval::{Budget, Derivation, Evaluator, Model, STATUS_OF, Witness};
use rustc_hash::FxHashMap;
use smtlib::{Command, Fun, Op, Script, Status, Store, Term};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round, Seed};
use crate::sites::Sites;
use apart::Part;
use inversion::{Fused, fuse, is_fusible};

/// Draws of pairs and occurrences before a round is given up.
const TRIES: usize = 16;

pub struct Fusion {
    /// Mutants of a pair of seeds; 30 is the default of the authors' tool yinyang.
    pub iterations: usize,
    /// At most this many pairs of variables are fused at once.
    pub pairs: usize,
    /// Probability that an occurrence of a fused variable is replaced.
    pub replace: f64,
}

impl Default for Fusion {
    fn default() -> Fusion {
        Fusion { iterations: 30, pairs: 2, replace: 0.5 }
    }
}

impl Engine for Fusion {
    fn name(&self) -> &str {
        "fusion"
    }

    fn seeds_wanted(&self) -> usize {
        2
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let [first, second, ..] = bench.seeds else { return None };
        // The answer of such a seed is not that of its formulas alone.
        let constrained = |seed: &Seed| !side_conditions(bench.store, &seed.script).is_empty();
        if constrained(first) || constrained(second) {
            return None;
        }
        let (status, first_from) = answer(bench, first)?;
        let (other, second_from) = answer(bench, second)?;
        if status != other {
            return None;
        }
        let one = Part::of(bench.store, &first.script)?;
        let (two, renamed) = Part::of(bench.store, &second.script)?.apart_from(bench.store, &one)?;
        let mut candidates = Vec::new();
        for x in &one.constants {
            let sort = bench.store.fun(*x).result;
            if is_fusible(bench.store, bench.grammar, sort) {
                let same = two.constants.iter().filter(|y| bench.store.fun(**y).result == sort);
                candidates.extend(same.map(|y| (*x, *y)));
            }
        }
        if candidates.is_empty() {
            return None;
        }
        let model = match status {
            Status::Sat => joint_model(bench, first, second, &one, &renamed),
            _ => None,
        };
        Some(Box::new(Pair {
            from: format!("{first_from}; {second_from}"),
            logic: common_logic(bench.store, &first.script, &second.script),
            status,
            one,
            two,
            candidates,
            model,
            length: self.iterations,
            made: 0,
            pairs: self.pairs.max(1),
            replace: self.replace,
        }))
    }
}

/// What is known about a seed's answer: what it brings along, or what solvers agree on.
fn answer(bench: &mut Bench<'_>, seed: &Seed) -> Option<(Status, String)> {
    let stated = || Some((seed.script.status(bench.store)?, format!("{STATUS_OF}{}", seed.name)));
    let known = seed.status.clone().or_else(stated);
    let known = known.filter(|(status, _)| *status != Status::Unknown);
    known
        .or_else(|| bench.ask.agreed_status(bench.store, &seed.script))
        .filter(|(status, _)| *status != Status::Unknown)
}

/// The logic of both where it is one and leaves room for sums; `ALL` otherwise.
fn common_logic(store: &Store, first: &Script, second: &Script) -> String {
    match (first.logic(store), second.logic(store)) {
        (Some(a), Some(b)) if a == b && !a.ends_with("DL") => a.to_owned(),
        _ => "ALL".to_owned(),
    }
}

/// Models of both seeds as one.
fn joint_model(
    bench: &mut Bench<'_>,
    first: &Seed,
    second: &Seed,
    one: &Part,
    renamed: &FxHashMap<Fun, Fun>,
) -> Option<Model> {
    // Elements of declared sorts are numbered within one model.
    if one.declarations.iter().any(|command| matches!(command, Command::DeclareSort(_))) {
        return None;
    }
    let mut model = bench.ask.model(bench.store, &first.script, 0)?;
    let other = bench.ask.model(bench.store, &second.script, 0)?;
    for (fun, interpretation) in other.interpretations(bench.store) {
        let fun = renamed.get(&fun).copied().unwrap_or(fun);
        if model.get(fun).is_none() {
            model.interpret(fun, interpretation.clone());
        }
    }
    Some(model)
}

struct Pair {
    from: String,
    logic: String,
    status: Status,
    one: Part,
    two: Part,
    candidates: Vec<(Fun, Fun)>,
    model: Option<Model>,
    length: usize,
    made: usize,
    pairs: usize,
    replace: f64,
}

impl Round for Pair {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.made == self.length {
            return None;
        }
        self.made += 1;
        let (script, fused) = (0..TRIES).find_map(|_| self.fused(bench))?;
        let changes = fused.iter().map(|fused| describe(bench.store, fused)).collect();
        Some(self.draft(bench.store, script, &fused).with_changes(changes))
    }

    fn length(&self) -> usize {
        self.length
    }
}

impl Pair {
    fn fused(&self, bench: &mut Bench<'_>) -> Option<(Script, Vec<Fused>)> {
        let store = &mut *bench.store;
        let mut fused: Vec<Fused> = Vec::new();
        for _ in 0..bench.rng.between(1, self.pairs) {
            let (x, y) = *bench.rng.pick(&self.candidates)?;
            let (x, y) = (store.call(x, &[]).ok()?, store.call(y, &[]).ok()?);
            // A variable is fused once: its inversions must mean one z.
            if !fused.iter().any(|earlier| earlier.x == x || earlier.y == y) {
                fused.push(fuse(store, bench.rng, x, y)?);
            }
        }
        let assertions = self.one.assertions.iter().chain(&self.two.assertions);
        let mut body = Script { commands: assertions.map(|term| Command::Assert(*term)).collect() };
        let mut sites = Sites::of(store, &body);
        let mut replaced = false;
        for place in 0..sites.len() {
            let term = sites.term(place);
            let back = fused.iter().find_map(|fused| match term {
                term if term == fused.x => Some(fused.x_back),
                term if term == fused.y => Some(fused.y_back),
                _ => None,
            });
            if let Some(back) = back
                && bench.rng.chance(self.replace)
            {
                sites.replace(store, &mut body, place, back)?;
                replaced = true;
            }
        }
        if !replaced {
            return None;
        }
        let terms: Vec<Term> = body.assertions().collect();
        Some((self.script(store, &terms, &fused)?, fused))
    }

    fn script(&self, store: &mut Store, terms: &[Term], fused: &[Fused]) -> Option<Script> {
        let logic = store.symbol(&self.logic);
        let mut commands = vec![Command::SetLogic(logic)];
        commands.extend_from_slice(&self.one.declarations);
        commands.extend_from_slice(&self.two.declarations);
        commands.extend(fused.iter().map(|fused| Command::DeclareConst(fused.fun)));
        if self.status == Status::Sat {
            commands.extend(terms.iter().map(|term| Command::Assert(*term)));
        } else {
            let (first, second) = terms.split_at(self.one.assertions.len());
            let (first, second) = (store.and(first).ok()?, store.and(second).ok()?);
            commands.push(Command::Assert(store.or(&[first, second]).ok()?));
            for Fused { x, y, z, forward, x_back, y_back, .. } in fused {
                for sides in [[*z, *forward], [*x, *x_back], [*y, *y_back]] {
                    commands.push(Command::Assert(store.op(Op::Equal, &sides).ok()?));
                }
            }
        }
        commands.push(Command::CheckSat);
        Some(Script { commands })
    }

    /// The joint model with z = f(x, y) if it checks out by our own evaluation; the argument of the paper otherwise.
    fn draft(&self, store: &Store, script: Script, fused: &[Fused]) -> Draft {
        if let Some(model) = &self.model
            && let Some(witness) = witness(store, &script, fused, model.clone())
        {
            return Draft::satisfied(script, witness);
        }
        let rule = match self.status {
            Status::Sat => "SAT fusion: a model of both seeds with z = f(x, y)",
            _ => "UNSAT fusion: under z = f(x, y) the disjunction of both seeds",
        };
        let steps = std::iter::once(rule.to_owned()).chain(fused.iter().map(|fused| describe(store, fused)));
        let derivation = Derivation { answer: self.status, from: self.from.clone(), steps: steps.collect() };
        Draft::derived(script, derivation)
    }
}

fn witness(store: &Store, script: &Script, fused: &[Fused], mut model: Model) -> Option<Witness> {
    let budget = Budget::default();
    for fused in fused {
        let mut evaluator = Evaluator::new(eval::Mode::Choose, budget);
        let value = evaluator.evaluate(store, &model, fused.forward).ok()?;
        model.assign(fused.fun, value);
    }
    Witness::check(store, script, model, budget).ok()
}

fn describe(store: &Store, fused: &Fused) -> String {
    format!(
        "{} = f({}, {}), f = {}",
        store.term_text(fused.z),
        store.term_text(fused.x),
        store.term_text(fused.y),
        fused.rule
    )
}
