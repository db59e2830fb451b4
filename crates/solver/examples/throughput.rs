//! Executions a second, plain against fast: `throughput [DIRECTORY [SPEC...]]`. Prints one JSON object a line,
//! behind solver and workload where there is only a plain start.

use std::path::Path;
use std::time::Duration;

use solver::fast::ExecMode;
use solver::fast::throughput::{Workload, compare, measure};
use solver::launch::{RunnerConfig, serve_if_asked};
use solver::limits::Limits;
use solver::{Adapters, Home, Solvers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    serve_if_asked();
    let files = match std::env::args_os().nth(1) {
        Some(directory) => Workload::files(Path::new(&directory), 50)?,
        None => Workload::built_in(),
    };
    let seeds =
        Workload { name: files.name.clone(), scripts: files.scripts.iter().take(20).cloned().collect() };
    let solvers = Solvers::new(Adapters::built_in(), Home::of_user()?);
    let limits = Limits::wall(Duration::from_secs(5));
    let mut specs: Vec<String> = std::env::args().skip(2).collect();
    if specs.is_empty() {
        specs = ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2", "yices@2.6.5"].map(String::from).to_vec();
    }
    for spec in specs {
        for solver in solvers.resolve(&spec, &|_, _| ())? {
            let modes: Vec<_> = solver.fast_modes().collect();
            for workload in [&Workload::trivial(200), &files, &seeds.mutants(10)] {
                for mode in &modes {
                    let comparison = compare(&solver, *mode, workload, &limits, &RunnerConfig::default())?;
                    println!("{}", serde_json::to_string(&comparison)?);
                }
                if modes.is_empty() {
                    let config = RunnerConfig::default();
                    let plain = measure(&solver, ExecMode::Plain, workload, &limits, &config)?;
                    println!("{} {} {}", spec, workload.name, serde_json::to_string(&plain)?);
                }
            }
        }
    }
    Ok(())
}
