//! The command line. Each command is a file in `commands`; this file only chooses.

// Standard output and error are written to in one place.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod duration;
mod exit;
mod fleet;
mod inputs;
mod interrupt;
mod limits;
mod live;
mod output;
mod status_lines;
mod summary;
mod tuning;

use clap::Parser;

fn main() -> std::process::ExitCode {
    // First of all: this same program is started again as the small process that runs solvers.
    solver::launch::serve_if_asked();
    let arguments = commands::Arguments::parse();
    // What a panic says has been printed when it arrives here; the exit code is ours to choose.
    match std::panic::catch_unwind(|| commands::run(arguments)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            output::say(&format!("osprey: error: {}", exit::described(&error)));
            if let Some(advice) = error.chain().find_map(|cause| cause.downcast_ref()).and_then(fleet::advice)
            {
                output::say(&format!("  {advice}"));
            }
            exit::of_error(&error).into()
        }
        Err(_) => exit::Exit::Internal.into(),
    }
}
