//! `osprey worker`: more processes on a running campaign.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use campaign::store::{Place, Presence, StoreError};
use campaign::{Campaign, CampaignError, Program, Settings, Summary};
use clap::Args;

use super::fuzz::{Exec, known_bugs};
use crate::exit::{Exit, naming};
use crate::live::Live;
use crate::{duration, interrupt, limits, secrets, solver_choice, summary};

/// Join a running campaign from another process
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey fuzz seeds/ -s z3 -s cvc5 --time 8h --out night &
  osprey worker --store night --jobs 4
  osprey worker --store postgres://osprey@db.example/fuzzing?schema=night    from any machine

The worker takes solvers, engines and settings from the campaign, shares its seeds, counts and findings, and ends when
the campaign ends. Of a campaign on a server it has a folder of its own with a journal and the findings it made: what the
server did not get because it was away is delivered by the next worker with this folder.

Exit code 0 if the campaign has no finding, 10 if it has some.")]
pub struct Worker {
    /// The output folder of the running campaign, or its address on a server: postgres://USER@HOST/DATABASE?schema=NAME. The
    /// password is taken from PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "OUT|URL")]
    store: String,

    /// The worker's own folder, for a campaign on a server [default: osprey-worker/HOST-N, the first that no other worker has]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

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

    /// Further bugs that no process of the campaign reports any more: a file with signatures, one per line; the output folder of an earlier campaign; or
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
        let place = Place::named(&self.store, Path::new("")).map_err(CampaignError::from)?;
        if !place.is_shared() && self.out.is_some() {
            let text = "--out: a worker on an output folder has no folder of its own".to_owned();
            return Err(CampaignError::Usage(text).into());
        }
        if place.presence().map_err(CampaignError::from)? == Presence::Nothing {
            return Err(CampaignError::NobodyToJoin(place.shown()).into());
        }
        // Who may not work on it hears so before anything is installed.
        let identity = place.open().and_then(|mut store| store.identity()).map_err(CampaignError::from)?;
        let tables = identity.options.needs_tables() || identity.tuning.diver.options > 0;
        let targets = solver_choice::targets(&identity.specs.solvers, &identity.specs.references, tables)?;
        let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
        if names != [identity.solvers.as_slice(), &identity.references].concat() {
            let then = [identity.solvers.as_slice(), &identity.references].concat().join(", ");
            let text = format!("the campaign runs {then}, but here these are {}", names.join(", "));
            return Err(CampaignError::Usage(text).into());
        }
        same_programs(&identity.programs, &Program::of(&targets))?;
        if !identity.releases.is_empty() {
            same_programs(&identity.releases, &Program::releases(&targets))?;
        }
        let unwatched = self.no_coverage || self.exec == Exec::Plain || identity.unwatched;
        let targets = if unwatched { targets } else { solver_choice::watched(targets)? };
        let engines = engines::parse_list(&identity.engines.join(","), &identity.tuning)
            .map_err(|error| CampaignError::Usage(error.to_string()))?;
        let learned = engines.iter().any(|engine| identity.policy_of(&**engine).needs_correlations());
        let targets = if learned { solver_choice::correlated(targets, &identity.learned)? } else { targets };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut settings = Settings {
            out: place.out().to_owned(),
            resume: true,
            jobs: self.jobs.unwrap_or(cores).max(1),
            time: self.time,
            iterations: self.iterations,
            stop_after: None,
            unused_coverage: false,
            reduce_all: false,
            known: known_bugs(&self.known)?,
            log: self.log.clone(),
            command: secrets::command_line(),
        };
        let runners = campaign::runners(
            &identity,
            &targets,
            solver_choice::third_opinions()?,
            self.exec == Exec::Plain,
        );
        let campaign = Campaign { identity: &identity, targets: &targets, engines: &engines, runners };
        interrupt::catch();
        let greeting = format!("osprey: helping to fuzz {} in {place}", names.join(", "));
        let live = Live::new(greeting, self.json);
        let result = self.join(&place, &campaign, &mut settings, &live);
        live.clear();
        let out = &settings.out;
        summary::show(&result.map_err(|error| naming(error, out))?, out, self.json)
    }

    /// Joins with a folder that no other worker has.
    fn join(
        &self,
        place: &Place,
        campaign: &Campaign,
        settings: &mut Settings,
        live: &Live,
    ) -> Result<Summary, CampaignError> {
        if !place.is_shared() {
            return campaign::join(campaign, settings, live, &interrupt::asked);
        }
        let mut number = 1;
        loop {
            settings.out = self.out.clone().unwrap_or_else(|| own_folder(number));
            let settled = Place::named(&self.store, &settings.out)?.settle().map_err(CampaignError::from);
            let joined = settled.and_then(|()| campaign::join(campaign, settings, live, &interrupt::asked));
            match joined {
                // Another worker has it, or it belongs to another campaign.
                Err(
                    CampaignError::InUse(_)
                    | CampaignError::Store(StoreError::Exists(_) | StoreError::OtherCampaign(_)),
                ) if self.out.is_none() && number < MOST_FOLDERS => {
                    number += 1;
                }
                joined => return joined,
            }
        }
    }
}

/// Folders that are tried for a worker on one machine.
const MOST_FOLDERS: usize = 1024;

fn own_folder(number: usize) -> PathBuf {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    PathBuf::from("osprey-worker").join(format!("{}-{number}", host.trim()))
}

/// What runs here must be what runs everywhere.
fn same_programs(then: &[Program], now: &[Program]) -> Result<(), CampaignError> {
    let show = |programs: &[Program]| programs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match then == now {
        true => Ok(()),
        false => {
            let text = format!("the campaign runs {}, but here it is {}", show(then), show(now));
            Err(CampaignError::Usage(text))
        }
    }
}
