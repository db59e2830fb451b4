//! What all workers share: learned counts, seeds, findings, totals, and their copy on disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::config::{Identity, Settings};
use crate::database::{Database, Known};
use crate::error::CampaignError;
use crate::finding::{self, Dossier, Finding, Small};
use crate::folder;
use crate::journal::{Journal, Line};
use crate::learned::{Counts, Learned};
use crate::novelty::Novelty;
use crate::pool::Pool;
use crate::reduction::Case;
use crate::seeds::{Harvest, SeedText};
use crate::totals::Totals;
use crate::usage::Clock;

/// Counts are written to the database at most this often.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// Unique findings kept as folders: beyond that a campaign drowns its user and his disk.
const FINDINGS: usize = 5_000;

/// Failed checks of ourselves whose scripts are kept.
const INTERNAL_KEPT: u64 = 20;

/// The shared state of a campaign.
pub struct State {
    pub learned: Learned,
    pub pool: Pool,
    pub novelty: Novelty,
    pub totals: Totals,
    pub next_round: u64,
    /// Given seeds that no round has tried yet, the small ones first.
    untried: VecDeque<SeedText>,
    database: Database,
    known: BTreeMap<String, Known>,
    suppressed: BTreeSet<String>,
    /// Seeds whose counts changed since the last write.
    touched: BTreeSet<String>,
    /// Seeds that findings come from: their texts stay.
    needed: BTreeSet<String>,
    journal: Option<Journal>,
    internal: u64,
    bugs: PathBuf,
    written: Instant,
    clock: Clock,
}

/// What came of reporting a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// New; in this folder.
    Unique(PathBuf),
    /// The same bug was found before.
    Duplicate,
    /// The user does not want to hear of it again.
    Suppressed,
}

impl State {
    /// Makes a new campaign in the output folder, or opens the one that is there.
    pub fn open(identity: &Identity, settings: &Settings, harvest: &Harvest) -> Result<State, CampaignError> {
        let out = &settings.out;
        let bugs = out.join("bugs");
        let file = out.join("campaign.db");
        let exists = file.exists();
        if exists && !settings.resume {
            return Err(CampaignError::Occupied(out.clone()));
        }
        if !exists && settings.resume {
            return Err(CampaignError::NothingToResume(out.clone()));
        }
        std::fs::create_dir_all(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
        folder::sweep(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
        let database = if exists { Database::open(&file)? } else { Database::create(&file, identity)? };
        if let Some((then, now)) = database.identity()?.difference(identity) {
            return Err(CampaignError::Differs { out: out.clone(), then, now });
        }
        let mut state = State {
            learned: database.learned()?,
            pool: database.pool()?,
            novelty: database.novelty()?,
            totals: database.totals()?,
            next_round: database.next_round()?,
            untried: VecDeque::new(),
            known: database.findings()?.into_iter().map(|known| (known.hash.clone(), known)).collect(),
            database,
            suppressed: settings.known.iter().cloned().collect(),
            touched: BTreeSet::new(),
            needed: BTreeSet::new(),
            journal: settings.log.as_deref().map(Journal::open).transpose()?,
            internal: 0,
            bugs,
            written: Instant::now(),
            clock: Clock::start(),
        };
        if exists {
            state.adopt()?;
        } else {
            for seed in &harvest.seeds {
                state.pool.add(seed.clone(), Counts::default(), false);
                state.touched.insert(seed.hash.clone());
            }
        }
        let new = state.pool.entries().iter().filter(|entry| !entry.mutant && entry.counts.rounds == 0);
        let mut untried: Vec<SeedText> = new.map(|entry| entry.seed.clone()).collect();
        untried.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
        state.untried = untried.into();
        state.clock.resume(&state.totals);
        state.write()?;
        Ok(state)
    }

    /// Takes in findings that are on disk but not in the database: the campaign was killed between the two.
    fn adopt(&mut self) -> Result<(), CampaignError> {
        let folders = folder::finished(&self.bugs).map_err(|error| CampaignError::disk(&self.bugs, error))?;
        for folder in folders {
            let Ok((finding, _)) = Finding::read(&folder) else { continue };
            if finding.pending {
                continue;
            }
            self.needed.extend(finding.provenance.seeds.iter().map(|seed| seed.hash.clone()));
            if !self.known.contains_key(&finding.hash()) {
                self.remember(&finding)?;
                self.next_round = self.next_round.max(finding.provenance.round + 1);
            }
        }
        Ok(())
    }

    fn remember(&mut self, finding: &Finding) -> Result<(), CampaignError> {
        let known = Known {
            hash: finding.hash(),
            signature: finding.signature.clone(),
            kind: finding.kind.clone(),
            solver: finding.solver.clone(),
            folder: finding.folder_name(),
            round: finding.provenance.round,
            step: finding.provenance.step as u64,
            duplicates: 0,
            flaky: finding.flaky,
        };
        self.database.put_finding(&known)?;
        self.known.insert(known.hash.clone(), known);
        *self.totals.findings.entry(finding.kind.clone()).or_default() += 1;
        Ok(())
    }

    /// The folder of a finding with this signature, if there is one.
    pub fn known(&self, signature: &str) -> Option<&Known> {
        self.known.get(&crate::hash::name(signature.as_bytes())[..12])
    }

    pub fn is_suppressed(&self, signature: &str) -> bool {
        self.suppressed.contains(signature)
            || self.suppressed.contains(&crate::hash::name(signature.as_bytes())[..12])
    }

    /// Puts a confirmed finding on disk, or counts it as a duplicate. Safe when this returns.
    pub fn report(
        &mut self,
        dossier: &Dossier,
        input: &str,
        ancestors: &[SeedText],
    ) -> Result<Reported, CampaignError> {
        let finding = dossier.finding();
        if self.is_suppressed(&finding.signature) {
            self.totals.suppressed += 1;
            return Ok(Reported::Suppressed);
        }
        let known = self.known.len();
        if self.known.contains_key(&finding.hash()) || known >= FINDINGS {
            self.duplicate(&finding.signature, finding.provenance.round, finding.provenance.step, input)?;
            return Ok(Reported::Duplicate);
        }
        let folder = dossier.write(&self.bugs)?;
        for seed in ancestors {
            self.needed.insert(seed.hash.clone());
            let entry = crate::pool::Entry { seed: seed.clone(), counts: Counts::default(), mutant: true };
            if !self.pool.contains(&seed.hash) {
                self.database.put_seed(&entry, "retired")?;
            }
        }
        self.remember(finding)?;
        let name = finding.folder_name();
        self.log(&Line::Finding {
            round: finding.provenance.round,
            step: finding.provenance.step,
            kind: &finding.kind,
            solver: &finding.solver,
            signature: &finding.signature,
            folder: &name,
        })?;
        self.flush()?;
        Ok(Reported::Unique(folder))
    }

    /// Gives a finding that waited its place among the others: it is new, or its input joins a known one's.
    pub fn settle(
        &mut self,
        finding: &Finding,
        folder: &Path,
        case: &Case,
        small: Option<&Small>,
        ancestors: &[SeedText],
    ) -> Result<Reported, CampaignError> {
        let dossier = Dossier::new(finding.clone(), case.input.clone(), case.witness.clone());
        let reported = self.report(&dossier, &case.input, ancestors)?;
        if let (Reported::Unique(place), Some(small)) = (&reported, small) {
            finding.write_reduced(place, small)?;
        }
        if !matches!(&reported, Reported::Unique(place) if place == folder) && folder.exists() {
            std::fs::remove_dir_all(folder).map_err(|error| CampaignError::disk(folder, error))?;
        }
        if let Reported::Unique(_) = &reported {
            let counts = Counts { findings: 1, ..Counts::default() };
            self.learned.engines.entry(finding.provenance.engine.clone()).or_default().add(&counts);
            for seed in &finding.provenance.seeds {
                self.credit_seed(&seed.hash, &counts);
            }
        }
        Ok(reported)
    }

    /// The signature of a known finding of this kind and solver whose operators all occur in another signature.
    pub fn resembling(&self, kind: &str, solver: &str, signature: &str) -> Option<String> {
        let parts = |signature: &'_ str| -> (String, Vec<String>) {
            let mut fields = signature.split(" | ").skip(2);
            let options = fields.next().unwrap_or_default().to_owned();
            let words = fields.next().unwrap_or_default().split(' ').map(str::to_owned).collect();
            (options, words)
        };
        let (options, operators) = parts(signature);
        let alike = |known: &&Known| {
            let (known_options, known_operators) = parts(&known.signature);
            known.kind == kind
                && known.solver == solver
                && known_options == options
                && known_operators.iter().all(|operator| operators.contains(operator))
        };
        self.known.values().find(alike).map(|known| known.signature.clone())
    }

    /// Counts another test case that shows a known bug.
    pub fn duplicate(
        &mut self,
        signature: &str,
        round: u64,
        step: usize,
        input: &str,
    ) -> Result<(), CampaignError> {
        self.totals.duplicates += 1;
        let hash = &crate::hash::name(signature.as_bytes())[..12];
        if let Some(known) = self.known.get_mut(hash) {
            known.duplicates += 1;
            self.database.put_finding(known)?;
            finding::keep_duplicate(&self.bugs.join(&known.folder), known.duplicates, input)?;
        }
        self.log(&Line::Duplicate { round, step, signature })
    }

    /// The next given seed that no round has tried yet.
    pub fn next_untried(&mut self) -> Option<SeedText> {
        self.untried.pop_front()
    }

    /// Adds what a seed's round has cost and brought.
    pub fn credit_seed(&mut self, hash: &str, counts: &Counts) {
        if self.pool.credit(hash, counts).is_some() {
            self.touched.insert(hash.to_owned());
        }
    }

    /// A mutant that did something new becomes a seed.
    pub fn join(&mut self, seed: SeedText) -> Result<(), CampaignError> {
        self.touched.insert(seed.hash.clone());
        if let Some(left) = self.pool.join(seed) {
            self.touched.remove(&left.hash);
            self.database.retire_seed(&left.hash, self.needed.contains(&left.hash))?;
        }
        Ok(())
    }

    /// All solvers time out on this one.
    pub fn drop_seed(&mut self, hash: &str) -> Result<Option<SeedText>, CampaignError> {
        self.touched.remove(hash);
        let dropped = self.pool.drop_hopeless(hash);
        if dropped.is_some() {
            self.database.retire_seed(hash, true)?;
        }
        Ok(dropped)
    }

    pub fn log(&mut self, line: &Line) -> Result<(), CampaignError> {
        match &mut self.journal {
            Some(journal) => journal.write(line),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), CampaignError> {
        self.journal.as_mut().map_or(Ok(()), Journal::flush)
    }

    /// Writes the counts if the last time is long enough ago.
    pub fn write_now_and_then(&mut self) -> Result<(), CampaignError> {
        if self.written.elapsed() < WRITE_EVERY { Ok(()) } else { self.write() }
    }

    /// Writes the counts.
    pub fn write(&mut self) -> Result<(), CampaignError> {
        self.clock.update(&mut self.totals);
        let touched = std::mem::take(&mut self.touched);
        let seeds: Vec<_> =
            self.pool.entries().iter().filter(|entry| touched.contains(&entry.seed.hash)).cloned().collect();
        let features = self.novelty.take_fresh();
        self.database.checkpoint(self.next_round, &self.totals, &self.learned, &features, &seeds)?;
        self.flush()?;
        self.written = Instant::now();
        Ok(())
    }

    /// Keeps the script on which we did badly, up to a few of them.
    pub fn keep_internal(&mut self, text: &str, script: &str) -> Result<(), CampaignError> {
        let folder = self.bugs.with_file_name("internal");
        self.internal += 1;
        if self.internal > INTERNAL_KEPT {
            return Ok(());
        }
        let path = folder.join(format!("{}.smt2", crate::hash::name(script.as_bytes())));
        let content = format!("; {}\n{script}", text.replace('\n', "\n; "));
        std::fs::create_dir_all(&folder)
            .and_then(|()| folder::write_file(&path, content.as_bytes(), false))
            .map_err(|error| CampaignError::disk(&path, error))
    }

    /// CPU time of a launcher, which is ours but not this process's.
    pub fn add_own_cpu(&mut self, cpu: Duration) {
        self.clock.add(cpu);
    }

    pub fn totals_now(&mut self) -> &Totals {
        self.clock.update(&mut self.totals);
        &self.totals
    }

    pub fn findings(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    pub fn bugs(&self) -> &Path {
        &self.bugs
    }
}

/// The rng seed of the campaign in an output folder, so that `--resume` need not be told.
pub fn stored_rng_seed(out: &Path) -> Result<u64, CampaignError> {
    let file = out.join("campaign.db");
    if !file.exists() {
        return Err(CampaignError::NothingToResume(out.to_owned()));
    }
    Ok(Database::read(&file)?.identity()?.rng_seed)
}
