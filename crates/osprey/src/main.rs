//! The command line. Each command is a file in `commands`; this file only chooses.

mod commands;
mod exit;
mod inputs;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let arguments = commands::Arguments::parse();
    match commands::run(arguments) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("osprey: error: {error:#}");
            exit::of_error(&error).into()
        }
    }
}
