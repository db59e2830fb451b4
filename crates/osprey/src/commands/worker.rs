//! `osprey worker`: more processes on a running campaign.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use campaign::{Campaign, CampaignError, Program, Settings, store};
use clap::Args;

use super::fuzz::{Exec, known_bugs};
use crate::exit::{Exit, naming};
use crate::live::Live;
use crate::{duration, interrupt, limits, solver_choice, summary};

/// Join a running campaign from another process
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey fuzz seeds/ -s z3 -s cvc5 --time 8h --out night &
  osprey worker --store night --jobs 4

The worker takes solvers, engines and settings from the campaign, shares its seeds, counts and findings, and ends when
the campaign ends.

Exit code 0 if the campaign has no finding, 10 if it has some.")]
pub struct Worker {
    /// The output folder of the running campaign
    #[arg(long, value_name = "OUT")]
    store: PathBuf,

    /// Workers; one per core unless told otherwise
    #[arg(short, long, value_name = "N", value_parser = limits::jobs())]
    jobs: Option<usize>,

    /// Leave after this time: 60, 60s, 5m, 1h; with the campaign unless given
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// Leave after this number of test cases
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,

    /// How solvers are started: fast uses fork servers where they are proven, plain a new process for each run
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Exec::Fast)]
    exec: Exec,

    /// Bugs that are not reported any more: a file with signatures, one per line; the output folder of an earlier campaign; or
    /// the folder of a finding, for all that is taken for its bug. Repeatable
    #[arg(long, value_name = "FILE|DIR")]
    known: Vec<PathBuf>,

    /// Write one JSON object per line for everything that happens in this process
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Do not watch which code of the solvers is reached
    #[arg(long)]
    no_coverage: bool,

    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

impl Worker {
    pub fn run(self) -> Result<Exit> {
        if store::presence(&self.store).map_err(CampaignError::from)? == store::Presence::Nothing {
            return Err(CampaignError::NobodyToJoin(self.store).into());
        }
        let identity =
            store::open(&self.store).and_then(|mut store| store.identity()).map_err(CampaignError::from)?;
        let tables = identity.options.needs_tables() || identity.tuning.diver.options > 0;
        let targets = solver_choice::targets(&identity.specs.solvers, &identity.specs.references, tables)?;
        let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
        if names != [identity.solvers.as_slice(), &identity.references].concat() {
            let then = [identity.solvers.as_slice(), &identity.references].concat().join(", ");
            let text = format!("the campaign runs {then}, but here these are {}", names.join(", "));
            return Err(CampaignError::Usage(text).into());
        }
        if Program::of(&targets) != identity.programs {
            let show = |programs: &[Program]| {
                programs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let (then, now) = (show(&identity.programs), show(&Program::of(&targets)));
            let text = format!("the campaign runs {then}, but here it is {now}");
            return Err(CampaignError::Usage(text).into());
        }
        let unwatched = self.no_coverage || self.exec == Exec::Plain;
        let targets = if unwatched { targets } else { solver_choice::watched(targets)? };
        let engines = engines::parse_list(&identity.engines.join(","), &identity.tuning)
            .map_err(|error| CampaignError::Usage(error.to_string()))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let settings = Settings {
            out: self.store.clone(),
            resume: true,
            jobs: self.jobs.unwrap_or(cores).max(1),
            time: self.time,
            iterations: self.iterations,
            stop_after: None,
            unused_coverage: false,
            reduce_all: false,
            known: known_bugs(&self.known)?,
            log: self.log.clone(),
        };
        let runners = campaign::runners(
            &identity,
            &targets,
            solver_choice::third_opinions()?,
            self.exec == Exec::Plain,
        );
        let campaign = Campaign { identity: &identity, targets: &targets, engines: &engines, runners };
        interrupt::catch();
        let greeting = format!("osprey: helping to fuzz {} in {}", names.join(", "), self.store.display());
        let live = Live::new(greeting, self.json);
        let result = campaign::join(&campaign, &settings, &live, &interrupt::asked);
        live.clear();
        summary::show(&result.map_err(|error| naming(error, &self.store))?, &self.store, self.json)
    }
}
