//! The command line. Each command is a file in `commands`; this file only chooses.

mod commands;
mod duration;
mod exit;
mod fleet;
mod inputs;
mod interrupt;
mod live;
mod output;
mod summary;
mod tuning;

use clap::Parser;

fn main() -> std::process::ExitCode {
    // First of all: this same program is started again as the small process that runs solvers.
    solver::launch::serve_if_asked();
    let arguments = commands::Arguments::parse();
    match commands::run(arguments) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("osprey: error: {}", exit::described(&error));
            if let Some(advice) = error.chain().find_map(|cause| cause.downcast_ref()).and_then(fleet::advice)
            {
                eprintln!("  {advice}");
            }
            exit::of_error(&error).into()
        }
    }
}
