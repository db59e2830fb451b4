//! The command line. Each command is a file in `commands`; this file only chooses.

// Standard output and error are written to in one place.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod copies;
mod duration;
mod exit;
mod inputs;
mod interrupt;
mod limits;
mod live;
mod output;
mod secrets;
mod solver_choice;
mod status_lines;
mod summary;
mod tuning;

use std::io::Write as _;

use clap::Parser;

/// Terms, values and texts are small and short-lived: the C library's allocator took a sixth of our own CPU time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // First of all: this same program is started again as the small process that runs solvers.
    solver::launch::serve_if_asked();
    if let Err(error) = secrets::hide() {
        return fail(&anyhow::Error::from(error).context("cannot hide the password of the address"));
    }
    let arguments = match commands::Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help that is asked for is a result like any other, and a full disk its failure.
        Err(help) if !help.use_stderr() => {
            return match output::written(help.print().and_then(|()| std::io::stdout().flush())) {
                Ok(()) => exit::Exit::Clean.into(),
                Err(error) => fail(&error),
            };
        }
        Err(error) => error.exit(),
    };
    // What a panic says has been printed when it arrives here; the exit code is ours to choose.
    match std::panic::catch_unwind(|| commands::run(arguments)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => fail(&error),
        Err(_) => exit::Exit::Internal.into(),
    }
}

/// Says what went wrong, and what to do about it where that is known.
fn fail(error: &anyhow::Error) -> std::process::ExitCode {
    output::say(&format!("osprey: error: {}", exit::described(error)));
    if let Some(advice) = error.chain().find_map(|cause| cause.downcast_ref()).and_then(solver_choice::advice)
    {
        output::say(&format!("  {advice}"));
    }
    exit::of_error(error).into()
}
