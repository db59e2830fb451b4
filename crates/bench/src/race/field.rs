//! What all contestants have in common: seeds, solvers, CPU time, and the cores they run on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use solver::{RunRequest, Solver};

use super::contestant::{Contestant, Effort, Places};
use crate::error::BenchError;
use crate::watch::Watch;

/// The same for every contestant.
pub struct Field {
    /// Osprey's own program.
    pub osprey: PathBuf,
    pub target: Solver,
    pub reference: Solver,
    pub seeds: Vec<PathBuf>,
    /// CPU time of each.
    pub budget: Duration,
    /// Where everything is kept.
    pub out: PathBuf,
    /// Contestants that have raced in that folder do not race again; what they left is judged anew.
    pub resume: bool,
    /// Contestants at the same time, each on a core of its own.
    pub jobs: usize,
}

impl Field {
    /// Osprey itself, with more words on its command line.
    pub fn own(&self, name: &str, rng_seed: u64, words: &str) -> Contestant {
        let words = if words.is_empty() { String::new() } else { format!(" {words}") };
        let command = format!(
            "'{}' fuzz {{seeds}} -s '{}' --reference '{}' --jobs 1 --rng-seed {rng_seed} --time 30d --json --out {{out}}/{CAMPAIGN}{words}",
            self.osprey.display(),
            spec(&self.target),
            spec(&self.reference),
        );
        // Placeholders that Osprey does not need are not missed.
        Contestant { name: name.to_owned(), command, tells: true }
    }

    /// Everybody races from this [copy of the seeds](Self::copy_seeds), as many at a time as there are jobs.
    pub fn race(
        &self,
        seeds: &Path,
        contestants: &[Contestant],
        watch: &dyn Watch,
    ) -> Result<Vec<Effort>, BenchError> {
        let (target, reference) = (command_line(&self.target)?, command_line(&self.reference)?);
        let places = Places { target: &target, reference: &reference, seeds };
        let folder = std::fs::canonicalize(&self.out)
            .map_err(|source| BenchError::Read { path: self.out.clone(), source })?;
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, Result<Effort, BenchError>>> = Mutex::new(BTreeMap::new());
        let cores = banditfuzz::cores::allowed();
        std::thread::scope(|scope| {
            for lane in 0..self.jobs.clamp(1, contestants.len().max(1)) {
                let (next, done, places, folder, cores) = (&next, &done, &places, &folder, &cores);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(contestant) = contestants.get(number) else { return };
                        watch.progress(number, contestants.len(), &format!("{} races", contestant.name));
                        let core = cores.get(lane).copied();
                        let effort = self.effort(contestant, places, folder, core, watch);
                        done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, effort);
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    /// Of an earlier race, or of one that is made now.
    fn effort(
        &self,
        contestant: &Contestant,
        places: &Places,
        folder: &Path,
        core: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<Effort, BenchError> {
        let budget = self.budget;
        if let Some(earlier) = self.resume.then(|| contestant.earlier(folder, budget)).flatten() {
            return Ok(earlier);
        }
        let effort = contestant.race(places, folder, core, budget, &|| watch.stopped())?;
        if !watch.stopped() {
            contestant.keep(folder, budget, &effort)?;
        }
        Ok(effort)
    }

    /// Every contestant gets the same folder with the same files.
    pub fn copy_seeds(&self) -> Result<PathBuf, BenchError> {
        let folder = self.out.join("seeds");
        let failed = |source| BenchError::Write { path: folder.clone(), source };
        if self.resume && folder.is_dir() {
            return std::fs::canonicalize(&folder).map_err(failed);
        }
        if self.out.exists() {
            let reason =
                "this folder exists already; choose another one with --out, or go on in it with --resume"
                    .to_owned();
            return Err(BenchError::Malformed { path: self.out.clone(), reason });
        }
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for (number, seed) in self.seeds.iter().enumerate() {
            std::fs::copy(seed, folder.join(format!("{number:05}.smt2")))
                .map_err(|source| BenchError::Read { path: seed.clone(), source })?;
        }
        std::fs::canonicalize(&folder).map_err(failed)
    }
}

/// The output folder of Osprey's own campaign, in its place for bug triggers.
pub const CAMPAIGN: &str = "campaign";

/// A solver as `-s` takes it.
pub fn spec(solver: &Solver) -> String {
    std::iter::once(solver.name()).chain(solver.options.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// A solver's own command line, without the file.
fn command_line(solver: &Solver) -> Result<String, BenchError> {
    const FILE: &str = "osprey-file";
    let line = solver.line(&RunRequest::default(), FILE)?;
    let words =
        line.arguments.iter().map(|word| word.to_string_lossy().into_owned()).filter(|word| word != FILE);
    Ok(std::iter::once(line.program.display().to_string()).chain(words).collect::<Vec<_>>().join(" "))
}
