//! One file per command.

mod bench;
mod check;
mod constructs;
mod eval;
mod findings;
mod fuzz;
mod generate;
mod learn;
mod localize;
mod museum;
mod mutate;
mod parse;
mod perf;
mod reduce;
mod replay;
mod report;
mod serve;
mod solvers;
mod worker;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// Finds bugs in SMT solvers.
#[derive(Parser)]
#[command(name = "osprey", version, about, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Bench),
    Check(check::Check),
    Eval(eval::Eval),
    Findings(findings::Findings),
    Fuzz(Box<fuzz::Fuzz>),
    Generate(generate::Generate),
    Learn(learn::Learn),
    Localize(localize::Localize),
    Museum(museum::Museum),
    Mutate(mutate::Mutate),
    Parse(parse::Parse),
    Perf(perf::Perf),
    Reduce(reduce::Reduce),
    Replay(replay::Replay),
    Report(report::Report),
    Serve(serve::Serve),
    Solvers(solvers::Solvers),
    Worker(worker::Worker),
}

pub fn run(arguments: Arguments) -> Result<Exit> {
    match arguments.command {
        Command::Bench(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Eval(command) => command.run(),
        Command::Findings(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Learn(command) => command.run(),
        Command::Localize(command) => command.run(),
        Command::Museum(command) => command.run(),
        Command::Mutate(command) => command.run(),
        Command::Parse(command) => command.run(),
        Command::Perf(command) => command.run(),
        Command::Reduce(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Solvers(command) => command.run(),
        Command::Worker(command) => command.run(),
    }
}
