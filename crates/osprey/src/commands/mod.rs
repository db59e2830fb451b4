//! One file a command.

mod parse;

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
    Parse(parse::Parse),
}

pub fn run(arguments: Arguments) -> Result<Exit> {
    match arguments.command {
        Command::Parse(command) => command.run(),
    }
}
