//! Generated scripts whose variables are of the sorts that the logic is about, as the paper's: free choice would make half of
//! them Boolean, or rounding modes, which leave little to solve.

use generate::{Grammar, Rng, Scope};
use smtlib::{Command, Fun, Script, Sort, Store};

/// Variables of the script that sorts and functions are taken from: enough for every sort to be among them.
const MANY: usize = 24;

/// A script of the grammar: as many variables, assertions and levels as its settings say.
pub fn filled(grammar: &Grammar, store: &mut Store, rng: &mut Rng) -> Script {
    let config = grammar.config();
    let (variables, assertions, depth) = (config.variables, config.assertions, config.depth);
    let frame = grammar.sized(MANY, 1, 1).script(store, rng);
    // A heap is known to the grammar's own scope only.
    if frame.commands.iter().any(|command| matches!(command, Command::Opaque { .. })) {
        return grammar.script(store, rng);
    }
    let mut sorts = main_sorts(store, &frame);
    rng.shuffle(&mut sorts);
    let mut script = Script { commands: Vec::new() };
    for command in frame.commands {
        match command {
            Command::DeclareConst(_) | Command::Assert(_) | Command::CheckSat => {}
            other => script.commands.push(other),
        }
    }
    for number in 0..variables.max(1) {
        // Each sort once before any of them twice: some have no terms without a variable.
        let sort = sorts.get(number).or_else(|| rng.pick(&sorts)).copied().unwrap_or(Sort::BOOL);
        let name = store.symbol(&format!("x{number}"));
        let fun = store.declare_fun(name, &[], sort);
        script.commands.push(Command::DeclareConst(fun));
    }
    let mut scope = Scope::of_script(store, &script);
    for _ in 0..assertions.max(1) {
        let term = grammar.term(store, rng, Sort::BOOL, &mut scope, depth);
        script.commands.extend(term.map(Command::Assert));
    }
    script.commands.push(Command::CheckSat);
    script
}

/// The sorts of a script's variables without those that are only means to an end.
fn main_sorts(store: &Store, script: &Script) -> Vec<Sort> {
    let mut sorts: Vec<Sort> = Vec::new();
    let constants = script.declared_funs().filter(|fun: &Fun| store.fun(*fun).params.is_empty());
    for sort in constants.map(|fun| store.fun(fun).result) {
        if !matches!(sort, Sort::BOOL | Sort::ROUNDING_MODE) && !sorts.contains(&sort) {
            sorts.push(sort);
        }
    }
    sorts
}
