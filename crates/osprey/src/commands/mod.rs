//! One file a command.

mod generate;
mod parse;
mod solvers;

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
    Generate(generate::Generate),
    Parse(parse::Parse),
    Solvers(solvers::Solvers),
}

pub fn run(arguments: Arguments) -> Result<Exit> {
    match arguments.command {
        Command::Generate(command) => command.run(),
        Command::Parse(command) => command.run(),
        Command::Solvers(command) => command.run(),
    }
}
