//! `osprey bench museum`: known bugs found again.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use bench::museum::peer::Mutator;
use bench::museum::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Find known bugs of old releases again
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench museum museum --mutants 100
  osprey bench museum museum --filter version=4.8.7 --engine storm,opfuzz --runs 3
  osprey bench museum museum --clean                       the newest releases instead: every hit is a false alarm
  osprey bench museum museum --peer 'yinyang-opfuzz=opfuzz -i {count} -m 1 -s {out} -b {out} -l {out} \"{solver};/bin/true\" {seed}'

An engine has found a bug again if it makes a formula other than the trigger on which the item's release misbehaves in
the same way, confirmed by a fresh start, while the newest release of the line is clean.")]
pub struct Museum {
    /// The museum: a folder of items, or one that has a folder `items`
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Engines, separated by commas; auto for all that start from a formula. Transforms may follow (storm+values); for comparisons there are diver-uniform and diver-no-complicate
    #[arg(long, value_name = "LIST", default_value = "auto", value_delimiter = ',')]
    engine: Vec<String>,

    /// Mutants of each engine for each item
    #[arg(long, value_name = "N", default_value_t = 100)]
    mutants: u64,

    /// Repetitions with other random choices; the best one counts
    #[arg(long, value_name = "R", default_value_t = 1)]
    runs: u64,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// Only wrong answers, and wrong models that references confirm
    #[arg(long)]
    proven: bool,

    /// Go on to the next item when one engine has found the bug
    #[arg(long)]
    any: bool,

    /// Put the newest release in the place of the old one: every hit is a false alarm
    #[arg(long)]
    clean: bool,

    /// Releases without the bugs, which are asked; the newest z3 and cvc5 here unless told otherwise
    #[arg(long = "reference", value_name = "SPEC")]
    references: Vec<String>,

    /// Another fuzzer that makes mutants, judged like our engines: NAME=COMMAND with {seed} {count} {solver} {out}
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<Mutator>,

    /// Time of one engine for one item
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    item_time: Duration,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Museum {
    pub fn run(self) -> Result<Exit> {
        let engines = self.engines()?;
        if let Some(peer) = self.peers.iter().find(|peer| engines.iter().any(|own| own.name() == peer.name)) {
            bail!("'{}' is an engine of ours: give the peer another name", peer.name);
        }
        let solvers = solver_choice::all(&[])?;
        let references = match self.references.as_slice() {
            [] => solver_choice::default_pair(&solvers)?,
            specs => solver_choice::resolve(&solvers, specs)?,
        };
        let settings = Settings {
            folder: self.folder,
            filters: self.filters,
            proven: self.proven,
            peers: self.peers,
            mutants: self.mutants,
            runs: self.runs,
            any: self.any,
            clean: self.clean,
            item_time: self.item_time,
            rng_seed: self.rng_seed,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let report = museum::run(&settings, &solvers, &references, &engines, &Terminal::new())?;
        self.common.publish(&report)
    }

    /// The engines named; those that start from nothing have no place here.
    fn engines(&self) -> Result<Vec<Box<dyn engines::Engine>>> {
        let usual: Vec<_> =
            engines::all().into_iter().filter(|engine| engine.seeds_wanted() > 0 && !engine.once()).collect();
        let variants = engines::variants();
        let names: Vec<&str> = usual.iter().chain(&variants).map(|engine| engine.name()).collect();
        let (composed, plain): (Vec<&String>, Vec<&String>) =
            self.engine.iter().partition(|name| name.contains('+'));
        let known = |name: &str| ["auto", "none"].contains(&name) || names.contains(&name);
        if let Some(name) = plain.iter().find(|name| !known(name)) {
            bail!(
                "'{name}' is no engine that starts from a formula; there are {} and auto",
                names.join(", ")
            );
        }
        let auto = self.engine.iter().any(|name| name == "auto");
        let named = |engine: &dyn engines::Engine| self.engine.iter().any(|name| name == engine.name());
        let mut chosen: Vec<_> = usual.into_iter().filter(|engine| auto || named(engine.as_ref())).collect();
        chosen.extend(variants.into_iter().filter(|engine| named(engine.as_ref())));
        for name in composed {
            chosen.push(engines::parse(name, &engines::Tuning::default())?);
        }
        Ok(chosen)
    }
}
