//! Everything that pages and files tell about a campaign, read from its store and its folders of findings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use campaign::findings::{self, RunRecord};
use campaign::store::{self, CampaignStore, Learned, Place, Sample, StoreError};
use campaign::{CampaignError, Finding, Identity, KnownFinding, Totals, input};
use serde::Serialize;

use crate::bugs::{self, Bug, Entry};
use crate::error::ReportError;
use crate::performance::{Performance, RESULTS};

/// A campaign at one moment.
#[derive(Clone, Debug)]
pub struct Overview {
    /// As the user named it.
    pub name: String,
    /// The moment, in seconds since 1970.
    pub at: u64,
    pub condition: Condition,
    /// What the campaign is; nothing where there is no store.
    pub identity: Option<Arc<Identity>>,
    /// Seconds since 1970.
    pub started: Option<u64>,
    pub totals: Totals,
    pub learned: Arc<Learned>,
    pub samples: Arc<Vec<Sample>>,
    pub seeds: Option<SeedCounts>,
    /// The most important first.
    pub bugs: Arc<Vec<Bug>>,
    pub performance: Option<Arc<Performance>>,
    /// What is missing, and why.
    pub notes: Vec<String>,
}

/// Does it still go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Condition {
    /// So many processes work on it.
    Running { processes: usize },
    /// Nobody does.
    Ended,
    /// Nobody can tell.
    Unknown,
}

impl Condition {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Condition::Running { processes: 1 } => "running".to_owned(),
            Condition::Running { processes } => format!("running, {processes} processes"),
            Condition::Ended => "ended".to_owned(),
            Condition::Unknown => "not running".to_owned(),
        }
    }

    /// Does somebody work on it?
    pub fn is_running(self) -> bool {
        matches!(self, Condition::Running { .. })
    }
}

/// Seeds in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeedCounts {
    pub given: u64,
    /// Kept because they showed new behaviour.
    pub mutants: u64,
    pub bytes: u64,
    /// Those from which a finding has come.
    pub fruitful: u64,
}

/// Reads a campaign, again and again while it runs. What has not changed is not read again.
pub struct Reader {
    name: String,
    out: PathBuf,
    store: Option<Box<dyn CampaignStore>>,
    findings: BTreeMap<PathBuf, ReadFinding>,
    identity: Option<Arc<Identity>>,
    slow: Option<Slow>,
    /// What the store knew of findings the last time, and what came of it.
    last: Option<(Vec<KnownFinding>, Arc<Vec<Bug>>)>,
    /// Only findings are wanted.
    brief: bool,
}

/// A finding as it was read, and what tells whether it has changed since.
struct ReadFinding {
    changed: SystemTime,
    bytes: u64,
    finding: Arc<Finding>,
    headline: String,
}

/// What is large and changes little.
#[derive(Clone)]
struct Slow {
    read: Instant,
    learned: Arc<Learned>,
    samples: Arc<Vec<Sample>>,
    seeds: Option<SeedCounts>,
}

/// How old large parts may be.
const SLOW: Duration = Duration::from_secs(15);

/// What the store says, all at one moment.
#[derive(Default)]
struct Told {
    known: Vec<KnownFinding>,
    started: Option<u64>,
    totals: Totals,
    condition: Option<Condition>,
    notes: Vec<String>,
}

impl Reader {
    /// For the campaign of an output folder, which the user called so.
    pub fn new(out: &Path, name: &str) -> Result<Reader, ReportError> {
        if let Some(why) = no_campaign(out) {
            return Err(ReportError::NoCampaign { path: out.to_owned(), why });
        }
        Ok(Reader {
            name: name.to_owned(),
            out: out.to_owned(),
            store: None,
            findings: BTreeMap::new(),
            identity: None,
            slow: None,
            last: None,
            brief: false,
        })
    }

    /// For those who only want the findings: curves, shares and seeds are left out.
    #[must_use]
    pub fn brief(self) -> Reader {
        Reader { brief: true, ..self }
    }

    /// The output folder.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The campaign as it is now.
    pub fn read(&mut self) -> Result<Overview, ReportError> {
        // An open database outlives its folder.
        if !self.out.is_dir() {
            let why = "there is no such folder any more".to_owned();
            return Err(ReportError::NoCampaign { path: self.out.clone(), why });
        }
        let (mut told, failure) = match self.ask() {
            Ok(told) => (told, None),
            // What was read before is better than nothing.
            Err(error) if self.identity.is_some() => return Err(error),
            Err(error) => (Told::without_store(&error), Some(error)),
        };
        let changed = self.update(&mut told.notes)?;
        if let Some(failure) = failure.filter(|_| self.findings.is_empty()) {
            return Err(failure);
        }
        let bugs = match &self.last {
            Some((known, bugs)) if !changed && *known == told.known => Arc::clone(bugs),
            _ => {
                let bugs = Arc::new(bugs::bugs(self.entries(&told.known), &told.known));
                self.last = Some((told.known.clone(), Arc::clone(&bugs)));
                bugs
            }
        };
        let slow = self.slow.clone();
        told.totals.count_findings(&told.known);
        Ok(Overview {
            name: self.name.clone(),
            at: store::now(),
            condition: told.condition.unwrap_or(Condition::Unknown),
            identity: self.identity.clone(),
            started: told.started,
            totals: told.totals,
            learned: slow.as_ref().map(|slow| Arc::clone(&slow.learned)).unwrap_or_default(),
            samples: slow.as_ref().map(|slow| Arc::clone(&slow.samples)).unwrap_or_default(),
            seeds: slow.and_then(|slow| slow.seeds),
            bugs,
            performance: Performance::read(&self.out).map(Arc::new),
            notes: told.notes,
        })
    }

    /// What the store says. Without one, or with one of the first version, the folders still tell the findings.
    fn ask(&mut self) -> Result<Told, ReportError> {
        // A campaign that an older version began gets further tables when it goes on.
        let in_folder = self.store.as_mut().is_some_and(|store| store.archive().is_none());
        if in_folder && self.is_slow_due() {
            self.store = None;
        }
        if self.store.is_none() {
            match store::read(&self.out) {
                Ok(store) => self.store = Some(store),
                // A session of performance fuzzing never has one.
                Err(StoreError::Missing(_)) if self.out.join(RESULTS).is_file() => {
                    return Ok(Told::default());
                }
                Err(error @ StoreError::Missing(_)) => return Ok(Told::without_store(&error)),
                Err(error) => return Err(CampaignError::from(error).into()),
            }
        }
        let told = self.ask_store();
        if told.is_err() {
            // It may be another one by the next time.
            self.store = None;
        }
        told
    }

    /// Have large parts become too old?
    fn is_slow_due(&self) -> bool {
        self.slow.as_ref().is_none_or(|slow| slow.read.elapsed() >= SLOW)
    }

    fn ask_store(&mut self) -> Result<Told, ReportError> {
        let slow_due = self.is_slow_due();
        let Some(store) = self.store.as_mut() else { return Ok(Told::default()) };
        let failed = |error: StoreError| ReportError::from(CampaignError::from(error));
        if self.identity.is_none() {
            self.identity = Some(Arc::new(store.identity().map_err(failed)?));
        }
        if let Some(archive) = store.archive() {
            let bugs = self.out.join("bugs");
            std::fs::create_dir_all(&bugs).map_err(|error| ReportError::disk(&bugs, error))?;
            findings::fetch(archive, &bugs)?;
        }
        let known = store.findings().map_err(failed)?;
        let totals = match store.totals() {
            Ok(totals) => totals,
            Err(StoreError::Older { found, ours, .. }) => {
                let note = format!(
                    "the campaign was made by an older version of osprey (format {found}, this one has {ours}): only \
                     its findings can be shown, not what it did"
                );
                return Ok(Told { known, notes: vec![note], ..Told::default() });
            }
            Err(error) => return Err(failed(error)),
        };
        if !self.brief && slow_due {
            self.slow = Some(Slow {
                read: Instant::now(),
                learned: Arc::new(store.learned().map_err(failed)?),
                samples: Arc::new(store.samples().map_err(failed)?),
                seeds: Some(seeds(&mut **store).map_err(failed)?),
            });
        }
        let members = store.members().map_err(failed)?.len();
        let condition =
            if members == 0 { Condition::Ended } else { Condition::Running { processes: members } };
        let started = Some(store.started().map_err(failed)?).filter(|started| *started > 0);
        Ok(Told { known, started, totals, condition: Some(condition), notes: Vec::new() })
    }

    /// Reads the findings that are new or other ones, and tells whether there were any.
    fn update(&mut self, notes: &mut Vec<String>) -> Result<bool, ReportError> {
        let bugs = self.out.join("bugs");
        if !bugs.is_dir() {
            return Ok(false);
        }
        let folders = findings::finished(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
        let mut before = std::mem::take(&mut self.findings);
        let mut changed = false;
        for folder in folders {
            let old = before.remove(&folder);
            let known = old.as_ref().map(|old| Arc::clone(&old.finding));
            match read_again(&folder, old) {
                Ok(read) => {
                    changed |= known.is_none_or(|known| !Arc::ptr_eq(&known, &read.finding));
                    self.findings.insert(folder, read);
                }
                // A running campaign moves folders.
                Err(_) if !folder.exists() => changed = true,
                Err(error) => notes.push(format!("skipped: {error}")),
            }
        }
        Ok(changed || !before.is_empty())
    }

    /// All findings that could be read, with what the store knows of them.
    fn entries(&self, known: &[KnownFinding]) -> Vec<Entry> {
        let known: BTreeMap<&str, &KnownFinding> =
            known.iter().map(|known| (known.hash.as_str(), known)).collect();
        let entry = |(folder, read): (&PathBuf, &ReadFinding)| {
            let row = known.get(read.finding.hash().as_str());
            Entry {
                folder: folder.clone(),
                duplicates: row.map_or(0, |row| row.duplicates),
                bug: row.map_or_else(|| bugs::says_it_is(&read.finding), |row| row.group.clone()),
                finding: Arc::clone(&read.finding),
                headline: read.headline.clone(),
            }
        };
        self.findings.iter().map(entry).collect()
    }
}

impl Told {
    /// The folders of findings are all there is.
    fn without_store(why: &dyn std::fmt::Display) -> Told {
        let note =
            format!("{why}; counts and curves are missing, and bugs are told apart by what findings say");
        Told { notes: vec![note], ..Told::default() }
    }
}

impl Overview {
    /// All findings, bug by bug.
    pub fn entries(&self) -> impl Iterator<Item = (&Bug, &Entry)> {
        self.bugs.iter().flat_map(|bug| bug.members().map(move |entry| (bug, entry)))
    }

    /// A finding by the name of its folder, with its bug and the place of that.
    pub fn find(&self, name: &str) -> Option<(usize, &Bug, &Entry)> {
        for (place, bug) in self.bugs.iter().enumerate() {
            if let Some(entry) = bug.members().find(|entry| entry.name() == name) {
                return Some((place, bug, entry));
            }
        }
        None
    }

    /// `14 bugs`; those that are not told apart yet are named apart, too.
    pub fn found(&self) -> String {
        let pending = self.bugs.iter().filter(|bug| bug.is_pending()).count();
        let bugs = self.bugs.len() - pending;
        let words = format!("{bugs} bug{}", if bugs == 1 { "" } else { "s" });
        if pending == 0 { words } else { format!("{words} and {pending} pending") }
    }

    /// Bugs by the gravest kind they were seen as, the gravest first.
    pub fn kinds(&self) -> Vec<(oracle::Kind, usize)> {
        let mut kinds: BTreeMap<oracle::Kind, usize> = BTreeMap::new();
        for bug in self.bugs.iter().filter(|bug| !bug.is_pending()) {
            *kinds.entry(bug.kind).or_default() += 1;
        }
        kinds.into_iter().collect()
    }

    /// The solvers under test, in words.
    pub fn solvers(&self) -> String {
        if let Some(identity) = &self.identity {
            return identity.solvers.join(", ");
        }
        if let Some(performance) = &self.performance {
            return performance.target.clone();
        }
        let mut names: Vec<&str> = self.entries().map(|(_, entry)| entry.finding.solver.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    /// Test cases per second of wall-clock time.
    pub fn rate(&self) -> f64 {
        self.totals.tests as f64 / self.totals.elapsed().as_secs_f64().max(0.001)
    }

    /// Functions and blocks that were reached.
    pub fn reached(&self) -> (u64, u64) {
        let sum = |of: fn(&Sample) -> u64| self.samples.iter().map(of).sum();
        (sum(|sample| sample.functions), sum(|sample| sample.blocks))
    }
}

/// Why a folder is no campaign, in words; nothing if it looks like one.
fn no_campaign(out: &Path) -> Option<String> {
    if !out.exists() {
        return Some("there is no such folder".to_owned());
    }
    if !out.is_dir() {
        return Some("it is a file".to_owned());
    }
    if out.join("finding.json").is_file() {
        return Some(
            "it is the folder of one finding; name the folder in which its folder 'bugs' is".to_owned(),
        );
    }
    if out.file_name().is_some_and(|name| name == "bugs") && !out.join("bugs").exists() {
        return Some("it holds findings; name the folder in which it is".to_owned());
    }
    let shared = Place::of(out).is_ok_and(|place| place.is_shared());
    let is_one = shared || ["bugs", "campaign.db", RESULTS].iter().any(|name| out.join(name).exists());
    (!is_one).then(|| "it has neither campaign.db nor a folder 'bugs'".to_owned())
}

/// A finding from its folder, unless it is the one that was read before.
fn read_again(folder: &Path, before: Option<ReadFinding>) -> Result<ReadFinding, CampaignError> {
    let file = std::fs::metadata(folder.join("finding.json"));
    let (changed, bytes) = match &file {
        Ok(file) => (file.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.len()),
        Err(_) => (SystemTime::UNIX_EPOCH, 0),
    };
    if let Some(before) = before.filter(|before| before.changed == changed && before.bytes == bytes) {
        return Ok(before);
    }
    let (finding, _) = Finding::read(folder)?;
    let script =
        input::read_text(&folder.join(finding.script_name()), input::LARGEST_FILE).unwrap_or_default();
    let headline = finding.headline(&script);
    Ok(ReadFinding { changed, bytes, finding: Arc::new(finding), headline })
}

fn seeds(store: &mut dyn CampaignStore) -> Result<SeedCounts, StoreError> {
    let mut counts = SeedCounts::default();
    for (seed, used) in store.pool()? {
        let kind = if seed.mutant { &mut counts.mutants } else { &mut counts.given };
        *kind += 1;
        counts.bytes += seed.seed.text.len() as u64;
        counts.fruitful += u64::from(used.findings > 0);
    }
    Ok(counts)
}

/// What a run said about the check in question, in few words.
pub(crate) fn said(run: &RunRecord, check: Option<usize>) -> String {
    match check.and_then(|check| run.answers.get(check)) {
        Some(answer) => answer.clone(),
        None => run.said(),
    }
}
