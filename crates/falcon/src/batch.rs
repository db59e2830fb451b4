//! Formulas of a few operations (section 4.1): grammar rules of all others have weight 0.

use generate::{Config, Grammar, Rng};
use smtlib::theory::{Row, SortPattern, table};
use smtlib::{Command, Op, Script, Sort, Store, Term};
use solver::Solver;

use crate::correlations::Correlations;
use crate::operation::{CommandName, Operation, Operations};

/// How often one of the operations of a batch is a command.
const COMMANDS: f64 = 0.4;

/// The weight of what formulas need to be formulas at all.
const BACKBONE: f64 = 0.3;

/// A few operations, and the grammar of formulas that have no others.
pub struct Batch {
    pub operations: Vec<Operation>,
    grammar: Grammar,
}

impl Batch {
    /// `count` operations of one logic that the solver has. Those that few formulas have had so far are preferred. Nothing if
    /// the logic drawn has no operations for this solver.
    pub fn draw(solver: &Solver, count: usize, known: &Correlations, rng: &mut Rng) -> Option<Batch> {
        let bases = grammars(solver);
        let unmet = |base: &Grammar| {
            let met = |op: &Operation| known.formulas_with(*op) > 0;
            candidates(base).iter().filter(|op| !met(op)).count()
        };
        // Every logic stays possible: options matter for how operations meet.
        let weights: Vec<f64> = bases.iter().map(|base| 1.0 + unmet(base) as f64).collect();
        let base = &bases[rng.weighted(&weights)?];
        let commands: Vec<Operation> = CommandName::ALL.into_iter().map(Operation::Command).collect();
        let mut chosen = Vec::new();
        if rng.chance(COMMANDS) {
            chosen.extend(rarest(&commands, &chosen, known, rng));
        }
        Batch::filled(base, chosen, count, known, rng)
    }

    /// The same with this operation among them. Nothing if no logic has it.
    pub fn with(
        solver: &Solver,
        wanted: Operation,
        count: usize,
        known: &Correlations,
        rng: &mut Rng,
    ) -> Option<Batch> {
        let has = |base: &Grammar| !matches!(wanted, Operation::Operator(op) if !base.allows(op));
        let mut bases = grammars(solver);
        bases.retain(has);
        // Where there is little else, the operation is met more often.
        let weights: Vec<f64> = bases.iter().map(|base| 1.0 / (1 + candidates(base).len()) as f64).collect();
        let base = &bases[rng.weighted(&weights)?];
        Batch::filled(base, vec![wanted], count, known, rng)
    }

    /// Adds operators until there are `count` operations.
    fn filled(
        base: &Grammar,
        mut chosen: Vec<Operation>,
        count: usize,
        known: &Correlations,
        rng: &mut Rng,
    ) -> Option<Batch> {
        let candidates = candidates(base);
        while chosen.len() < count {
            let Some(one) = rarest(&candidates, &chosen, known, rng) else { break };
            chosen.push(one);
        }
        Batch::of(base, chosen)
    }

    fn of(base: &Grammar, operations: Vec<Operation>) -> Option<Batch> {
        let has = |command| operations.contains(&Operation::Command(command));
        let mut config = base.config().clone();
        for row in table().rows() {
            let weight = match operations.contains(&Operation::Operator(row.op)) {
                true => 1.0,
                false if matches!(row.op, Op::Equal | Op::Not) => BACKBONE,
                // A language can be in a formula only by this.
                false if row.op == Op::StrInRe && operations.iter().any(is_language) => BACKBONE,
                false => 0.0,
            };
            config.operators.insert(row.variant.to_owned(), weight);
        }
        config.get_model = has(CommandName::GetModel);
        config.get_unsat_core = has(CommandName::GetUnsatCore);
        config.incremental = if has(CommandName::Push) || has(CommandName::Pop) { 1.0 } else { 0.0 };
        config.assumptions = if has(CommandName::GetUnsatAssumptions) { 1.0 } else { 0.0 };
        let grammar = base.with_config(config).ok()?;
        Some(Batch { operations, grammar })
    }

    /// A formula of the batch, and the operations it has.
    pub fn script(&self, store: &mut Store, rng: &mut Rng) -> (Script, Operations) {
        let mut script = self.grammar.script(store, rng);
        let wants = |command| self.operations.contains(&Operation::Command(command));
        if wants(CommandName::GetUnsatAssumptions) {
            ask(store, &mut script, ":produce-unsat-assumptions", &Command::GetUnsatAssumptions);
        }
        if wants(CommandName::GetProof) {
            ask(store, &mut script, ":produce-proofs", &Command::GetProof);
        }
        let usage = smtlib::logic::widen(store, &mut script);
        let operations = Operation::of(&usage, &script);
        (script, operations)
    }
}

/// An operation that is not chosen yet, the more probably the fewer formulas have had it.
fn rarest(
    candidates: &[Operation],
    chosen: &[Operation],
    known: &Correlations,
    rng: &mut Rng,
) -> Option<Operation> {
    let seen = |one: &Operation| known.formulas_with(*one);
    let weight = |one: &Operation| if chosen.contains(one) { 0.0 } else { 1.0 / f64::from(1 + seen(one)) };
    let weights: Vec<f64> = candidates.iter().map(weight).collect();
    rng.weighted(&weights).map(|place| candidates[place])
}

fn is_language(operation: &Operation) -> bool {
    matches!(operation, Operation::Operator(op) if op.row().result == SortPattern::Fixed(Sort::REGLAN))
}

/// Operators that formulas of the grammar may have.
fn candidates(base: &Grammar) -> Vec<Operation> {
    let made = |row: &&Row| if row.special { generate::is_made(row.op) } else { !row.args.is_empty() };
    let open = table().rows().iter().filter(made);
    open.filter(|row| base.allows(row.op)).map(|row| Operation::Operator(row.op)).collect()
}

/// All that the solver has of each logic of campaigns whose theories it has.
fn grammars(solver: &Solver) -> Vec<Grammar> {
    let theories = solver.theories();
    let has = |wanted: &[&str]| theories.is_empty() || wanted.iter().all(|name| theories.contains(name));
    let config = config(solver);
    let logics = generate::COMBINATIONS.iter().filter(|(_, theories)| has(theories));
    logics.filter_map(|(logic, _)| Grammar::new(logic, &[solver.release()], config.clone()).ok()).collect()
}

/// Small formulas that are often unsatisfiable, of theories that the solver has.
fn config(solver: &Solver) -> Config {
    let theories = solver.theories();
    let lacking = |name: &str| !theories.is_empty() && !theories.contains(&name);
    let mut config = Config {
        variables: 3,
        assertions: 6,
        depth: 3,
        nodes: 20,
        functions: 1,
        definitions: 0,
        sorts: 2,
        max_width: 16,
        quantifiers: if lacking("quantifiers") { 0.0 } else { 0.25 },
        datatypes: if lacking("datatypes") { 0.0 } else { 0.5 },
        ..Config::default()
    };
    for row in table().rows() {
        if lacking(solver::theory_name(row.theory)) {
            config.theories.insert(format!("{:?}", row.theory), 0.0);
        }
    }
    config
}

/// Asks for a result after each check.
fn ask(store: &mut Store, script: &mut Script, option: &str, question: &Command) {
    let assumes = |command: &Command| matches!(command, Command::CheckSatAssuming(_));
    let fits = |command: &Command| match question {
        Command::GetUnsatAssumptions => assumes(command),
        _ => command.is_check(),
    };
    if *question == Command::GetUnsatAssumptions && !script.commands.iter().any(assumes) {
        // No Boolean constant to assume: `true` is one.
        let truth: Vec<Term> = store.op(Op::True, &[]).into_iter().collect();
        let checks = script.commands.iter_mut().filter(|command| **command == Command::CheckSat);
        checks.for_each(|command| *command = Command::CheckSatAssuming(truth.clone()));
    }
    let commands = std::mem::take(&mut script.commands);
    let keyword = store.symbol(option);
    script.commands.push(Command::SetOption(keyword, "true".into()));
    for command in commands {
        let asks = fits(&command);
        script.commands.push(command);
        if asks {
            script.commands.push(question.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Release, print};

    #[test]
    fn formulas_of_a_batch_have_its_operations_and_no_others() {
        let solver = testkit::made_up("z3@5.4.0");
        let known = Correlations::of("z3", "5.4.0", []);
        let mut met = 0;
        for number in 0..60 {
            let mut rng = generate::rng::stream(1, number);
            let Some(batch) = Batch::draw(&solver, 4, &known, &mut rng) else { continue };
            assert!(batch.operations.len() <= 4);
            let mut store = Store::new();
            let (script, operations) = batch.script(&mut store, &mut rng);
            let text = print::print(&store, &script, Release::STANDARD);
            assert!(script.commands.iter().any(Command::is_check), "{text}");
            let extra = operations.iter().filter(|one| match one {
                Operation::Operator(op) => {
                    let backbone = matches!(op, Op::Equal | Op::Not | Op::StrInRe | Op::True);
                    !backbone && !op.row().args.is_empty() && !batch.operations.contains(one)
                }
                _ => false,
            });
            let extra: Vec<_> = extra.collect();
            assert!(extra.len() <= 2, "{extra:?} beside {:?} in {text}", batch.operations);
            met += operations.iter().filter(|one| batch.operations.contains(one)).count();
        }
        assert!(met > 90, "{met}");
    }

    #[test]
    fn a_wanted_operation_finds_a_logic_that_has_it() {
        let solver = testkit::made_up("z3@5.4.0");
        let known = Correlations::of("z3", "5.4.0", []);
        for name in ["StrReplace", "BvMul", "IntMod", "FpAdd", "push"] {
            let wanted = Operation::named(name).unwrap_or_else(|| panic!("{name}"));
            let mut rng = generate::rng::stream(3, 1);
            let met = (0..30).filter(|_| {
                let batch = Batch::with(&solver, wanted, 4, &known, &mut rng).expect("a logic");
                assert_eq!(batch.operations[0], wanted);
                batch.script(&mut Store::new(), &mut rng).1.contains(&wanted)
            });
            assert!(met.count() >= 4, "{name}");
        }
    }

    #[test]
    fn batches_come_to_theories_of_the_solver_alone_and_to_special_operators() {
        let solver = testkit::made_up("cvc5@1.4.2");
        let mut known = Correlations::of("cvc5", "1.4.2", []);
        let mut drawn = Operations::new();
        for number in 0..300 {
            let mut rng = generate::rng::stream(7, number);
            let Some(batch) = Batch::draw(&solver, 4, &known, &mut rng) else { continue };
            let operations: Operations = batch.operations.iter().copied().collect();
            known.count(&operations, &[], &[], &[]);
            drawn.extend(operations);
        }
        for name in ["SetUnion", "SeqConcat", "BagUnionMax", "RelJoin", "SetInsert", "FfBitsum"] {
            let wanted = Operation::named(name).unwrap_or_else(|| panic!("{name}"));
            assert!(drawn.contains(&wanted), "{name}");
        }
    }

    #[test]
    fn commands_of_a_batch_are_in_its_formulas() {
        let solver = testkit::made_up("z3@5.4.0");
        let base = Grammar::new("QF_LIA", &[solver.release()], config(&solver)).expect("a grammar");
        for command in CommandName::ALL {
            let wanted = Operation::Command(command);
            let batch = Batch::of(&base, vec![wanted, Operation::Operator(Op::IntLe)]).expect("a batch");
            let mut met = 0;
            for number in 0..20 {
                let mut store = Store::new();
                let (_, operations) = batch.script(&mut store, &mut generate::rng::stream(2, number));
                met += usize::from(operations.contains(&wanted));
            }
            assert!(met >= 8, "{wanted}: {met}");
        }
    }
}
