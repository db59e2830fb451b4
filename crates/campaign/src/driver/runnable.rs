//! Scripts as solvers get them.

use smtlib::logic::Usage;
use smtlib::{Command, Release, Script, Store};

/// The one piece of information that changes how a script is read.
const VERSION: &str = ":smt-lib-version";

/// The option without which there are no proofs.
const PROOFS: &str = ":produce-proofs";

/// The script as solvers get it: without what the seed's file says about itself, which is not true of a mutant (Z3
/// complains about a wrong `:status`), and in the logic `ALL` if it uses what one of the releases hides in the others (Z3
/// does that with some operators of its own). It always begins with a setting, as fast starts need it. With what it uses.
pub fn runnable(store: &mut Store, script: &Script, releases: &[Release]) -> (Script, Usage) {
    let mut script = script.clone();
    let usage = smtlib::logic::widen_for(store, &mut script, releases);
    let proofs = |command: &Command| {
        matches!(command, Command::SetOption(keyword, value)
            if store.name(*keyword) == PROOFS && value.as_ref() == "true")
    };
    let proves = script.commands.iter().any(proofs);
    script.commands.retain(|command| match command {
        Command::SetInfo(keyword, _) => store.name(*keyword) == VERSION,
        // Nobody can have a proof who has not said so at the beginning.
        Command::GetProof => proves,
        Command::GetAssertions | Command::Exit => false,
        _ => true,
    });
    if !script.commands.iter().any(Command::is_check) {
        script.commands.push(Command::CheckSat);
    }
    let set = |command: &Command| {
        matches!(command, Command::SetLogic(_) | Command::SetOption(..) | Command::SetInfo(..))
    };
    if !script.commands.first().is_some_and(set) {
        let version = Command::SetInfo(store.symbol(VERSION), "2.6".into());
        script.commands.insert(0, version);
    }
    (script, usage)
}

/// The script with a request for a model at its end, unless it has one.
pub fn asking_for_model(script: &Script) -> Script {
    let mut script = script.clone();
    if !script.commands.contains(&Command::GetModel) {
        script.commands.push(Command::GetModel);
    }
    script
}
