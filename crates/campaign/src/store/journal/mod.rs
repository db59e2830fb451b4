//! A worker's handle of a campaign on a server. The worker never waits for it, and goes on when it is away.
//!
//! What is counted goes into a local file first and is delivered from there, numbered, so that a delivery whose answer
//! got lost can be made again. One exchange is two transactions: a delivery that is a sign of life, and a look at
//! everything that the exchange wants to know. While the server is away, counts wait in the file, rounds come from numbers
//! that only this member has, and claims of findings have to wait: their folders are on disk.
//!
//! - `file`: the journal's file

mod file;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use self::file::Journal;
use super::postgres::{Delivery, PostgresStore, ServerUrl, Told};
use super::{
    ArchivedFile, ArchivedFolder, CampaignStore, Claim, Counts, Delta, FindingArchive, KnownFinding, Learned,
    MEMBER_GONE, Member, MemberId, Memories, News, Role, Sample, StoreError, StoredSeed, Totals, Unwanted,
    Work, now,
};
use crate::config::Identity;
use crate::hash;
use crate::seeds::SeedText;

/// The server commits counts without waiting for its disk: by then it has written them.
const SAFE: Duration = Duration::from_secs(10);

/// What one look told is what the rest of the same exchange is told.
const FRESH: Duration = Duration::from_millis(250);

/// The first and the longest wait before a server that is away is tried again.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long the end waits for a server that is away.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// How often seeds are asked for where there were none.
const SEEDS_AGAIN: Duration = Duration::from_secs(10);

/// A member's own rounds begin at its number times this: numbers that are claimed from the server never come so far.
const OWN_ROUNDS: u32 = 36;

/// Time between two exchanges of a worker, and for how many workers it gets longer: the server has a bounded number of
/// exchanges to deal with, however many workers there are.
const PACE: Duration = Duration::from_secs(1);
const PACE_PER_MEMBER: Duration = Duration::from_millis(10);
const LONGEST_PACE: Duration = Duration::from_secs(10);

/// A campaign on a server, and what waits for it.
pub struct JournaledStore {
    /// The last connection.
    server: PostgresStore,
    url: ServerUrl,
    /// What tells the campaign from a later one at the same address.
    campaign: String,
    /// Why there is none at the moment.
    away: Option<Absence>,
    journal: Journal,
    /// Seconds by which the server's clock is ahead of this machine's.
    skew: i64,
    /// The number of the last entry that the server has.
    delivered: u64,
    /// When it was heard that the server has the entries up to a number.
    heard: VecDeque<(Instant, u64)>,
    /// Duplicates of findings that go into the next entry.
    duplicates: BTreeMap<String, u64>,
    /// What the server told last.
    learned: Learned,
    totals: Totals,
    members: Vec<Member>,
    closing: bool,
    findings: BTreeMap<String, KnownFinding>,
    told_at: Instant,
    member: Option<MemberId>,
    /// Rounds of this member's own that were given out.
    own_rounds: u64,
    /// Those who were there before an absence, until they can have shown a sign of life again.
    before: Option<(Instant, Vec<Member>)>,
    seeds_again: Option<Instant>,
    notes: Vec<String>,
}

/// The server cannot be reached.
struct Absence {
    since: Instant,
    error: (String, bool),
    wait: Duration,
    next: Instant,
}

impl JournaledStore {
    /// Works on the campaign at this address with the journal in this file, which is gone on with if it is there.
    pub fn open(
        mut server: PostgresStore,
        url: &ServerUrl,
        journal: &Path,
    ) -> Result<JournaledStore, StoreError> {
        let campaign = server.campaign()?;
        let (journal, damage) = Journal::open(journal, &campaign)?;
        let delivered = server.delivered(journal.worker())?;
        let waiting = journal.after(delivered).count();
        let clock = server.clock()?;
        let mut store = JournaledStore {
            learned: server.learned()?,
            totals: server.totals()?,
            members: server.members()?,
            closing: server.closing()?,
            findings: BTreeMap::new(),
            server,
            url: url.clone(),
            campaign,
            away: None,
            journal,
            skew: skew(clock, now()),
            delivered,
            heard: VecDeque::new(),
            duplicates: BTreeMap::new(),
            told_at: Instant::now(),
            member: None,
            own_rounds: 0,
            before: None,
            seeds_again: None,
            notes: damage.into_iter().collect(),
        };
        for finding in store.server.findings()? {
            store.findings.insert(finding.hash.clone(), finding);
        }
        if waiting > 0 {
            store.deliver()?;
            store.told_at -= FRESH;
            store.notes.push(format!("{waiting} entries of an earlier run's journal are delivered"));
        }
        Ok(store)
    }

    /// Does something on the server, on a new connection if the last one is lost and it is time to try.
    fn on_server<T>(
        &mut self,
        work: impl FnOnce(&mut PostgresStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reach()?;
        let result = work(&mut self.server);
        match result {
            Err(error) if error.is_away() => Err(self.lost(error)),
            result => result,
        }
    }

    /// A connection, or why there is none.
    fn reach(&mut self) -> Result<(), StoreError> {
        let closed = self.server.is_closed();
        match &self.away {
            None if !closed => return Ok(()),
            None => _ = self.lost(self.absent("the connection was lost".to_owned(), false)),
            Some(absence) if Instant::now() < absence.next => {
                let (why, disk) = absence.error.clone();
                return Err(self.absent(why, disk));
            }
            Some(_) if !closed => return Ok(()),
            Some(_) => {}
        }
        let again = self.server.again().and_then(|mut server| {
            if server.campaign()? != self.campaign {
                return Err(StoreError::Removed(self.url.to_string()));
            }
            let delivered = server.delivered(self.journal.worker())?;
            Ok((server, delivered))
        });
        match again {
            Ok((server, delivered)) => {
                self.server = server;
                // What the server had not written when it ended is delivered again.
                self.delivered = delivered;
                self.heard.clear();
                Ok(())
            }
            // Whoever waits for a campaign that is gone, or that another version goes on with, waits for ever.
            Err(StoreError::Missing(_)) => Err(StoreError::Removed(self.url.to_string())),
            Err(
                error @ (StoreError::Removed(_)
                | StoreError::OtherVersion { .. }
                | StoreError::Outdated { .. }
                | StoreError::Newer { .. }),
            ) => Err(error),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn absent(&self, why: String, disk: bool) -> StoreError {
        StoreError::Away { place: self.url.to_string(), why, disk }
    }

    /// The server takes what it is given again. One that can be reached and has no room is still away.
    fn returned(&mut self, delivered: usize) {
        let Some(absence) = self.away.take() else { return };
        let seconds = absence.since.elapsed().as_secs();
        let entries = if delivered == 1 {
            "1 entry of the journal is"
        } else {
            &*format!("{delivered} entries of the journal are")
        };
        self.notes.push(format!("{} is back after {seconds} s; {entries} delivered", self.url));
        self.before = Some((Instant::now(), std::mem::take(&mut self.members)));
    }

    /// The server is away, or still is, and why: what whoever asked for something is told.
    fn lost(&mut self, error: StoreError) -> StoreError {
        let (why, disk) = match error {
            StoreError::Away { why, disk, .. } => (why, disk),
            // A server that starts up refuses for reasons of its own; who never gets in hears why.
            other => (other.to_string(), other.is_disk()),
        };
        let (now, told) = (Instant::now(), self.absent(why.clone(), disk));
        let absence = self.away.get_or_insert_with(|| {
            self.notes.push(format!(
                "{told}; the work goes on, and what is counted waits in '{}'",
                self.journal.path().display()
            ));
            Absence { since: now, error: (String::new(), false), wait: Duration::ZERO, next: now }
        });
        absence.error = (why, disk);
        absence.wait = (absence.wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT);
        // Many workers that lost the server at a time do not come back at a time.
        let share = hash::hash(self.journal.worker().as_bytes()) % 256;
        absence.next = now + absence.wait.mul_f64(0.75 + share as f64 / 512.0);
        told
    }

    /// Delivers what the server does not have. A sign of life in any case.
    fn deliver(&mut self) -> Result<(), StoreError> {
        self.reach()?;
        let worker = self.journal.worker().to_owned();
        let entries = self.journal.send_after(self.delivered);
        let entries = entries.into_iter().map(|entry| (entry.sequence, &entry.delta, &entry.duplicates));
        let delivery = Delivery { worker: &worker, entries: entries.collect() };
        let waiting = delivery.entries.len();
        match self.server.deliver(&delivery) {
            Ok(number) => {
                self.delivered = number;
                self.returned(waiting);
                self.heard.push_back((Instant::now(), number));
                let mut safe = None;
                while self.heard.front().is_some_and(|(at, _)| at.elapsed() >= SAFE) {
                    safe = self.heard.pop_front();
                }
                safe.map_or(Ok(()), |(_, number)| self.journal.confirm(number))
            }
            Err(error) if error.is_away() => Err(self.lost(error)),
            Err(error) => Err(error),
        }
    }

    /// One exchange with the server.
    fn exchange(&mut self) -> Result<News, StoreError> {
        self.deliver()?;
        let Told { news, totals, members, closing } = self.on_server(PostgresStore::told)?;
        self.learned = news.learned.clone();
        (self.totals, self.members, self.closing) = (totals, members, closing);
        for finding in &news.findings {
            self.findings.insert(finding.hash.clone(), finding.clone());
        }
        self.told_at = Instant::now();
        if self.before.as_ref().is_some_and(|(since, _)| since.elapsed().as_secs() > MEMBER_GONE) {
            self.before = None;
        }
        Ok(news)
    }

    fn is_fresh(&self) -> bool {
        self.told_at.elapsed() < FRESH
    }

    /// What the server told, or tells now; while it is away, what it told last and what waits for it.
    fn asked<T>(
        &mut self,
        ask: impl FnOnce(&mut PostgresStore) -> Result<T, StoreError>,
        known: impl FnOnce(&mut JournaledStore) -> T,
    ) -> Result<T, StoreError> {
        if self.is_fresh() {
            return Ok(known(self));
        }
        match self.on_server(ask) {
            Err(error) if error.is_away() => Ok(known(self)),
            result => result,
        }
    }

    fn totals_known(&self) -> Totals {
        let mut totals = self.totals.clone();
        for entry in self.journal.after(self.delivered) {
            totals.add(&entry.delta.totals);
        }
        totals
    }

    fn learned_known(&self) -> Learned {
        let mut learned = self.learned.clone();
        for entry in self.journal.after(self.delivered) {
            learned.merge(&entry.delta.learned);
        }
        learned
    }

    /// Those who are there, and, for a while after an absence, those who were.
    fn members_known(&self) -> Vec<Member> {
        let mut members = self.members.clone();
        if let Some((_, before)) = &self.before {
            members.extend(
                before.iter().filter(|one| !self.members.iter().any(|two| two.id == one.id)).cloned(),
            );
            members.sort_by_key(|member| member.id);
        }
        members
    }

    /// Before the end, a server that is away has some more time to come back.
    fn wait_for_server(&mut self) {
        let until = Instant::now() + LAST_WAIT;
        while Instant::now() < until {
            if let Some(absence) = &mut self.away {
                absence.next = Instant::now();
            }
            if self.reach().is_ok() {
                return;
            }
            std::thread::sleep(FIRST_WAIT);
        }
    }
}

/// By how much one clock is ahead of another, in whole minutes: intervals of samples still begin at round numbers.
fn skew(ahead: u64, of: u64) -> i64 {
    let seconds = ahead as i64 - of as i64;
    (seconds + seconds.signum() * 30) / 60 * 60
}

impl CampaignStore for JournaledStore {
    fn identity(&mut self) -> Result<Identity, StoreError> {
        self.on_server(PostgresStore::identity)
    }

    fn started(&mut self) -> Result<u64, StoreError> {
        self.on_server(PostgresStore::started)
    }

    fn claim_rounds(&mut self, count: u64) -> Result<Range<u64>, StoreError> {
        match (self.on_server(|server| server.claim_rounds(count)), self.member) {
            (Err(error), Some(member)) if error.is_away() => {
                let first = ((member.0 + 1) << OWN_ROUNDS) + self.own_rounds;
                self.own_rounds += count;
                Ok(first..first + count)
            }
            (result, _) => result,
        }
    }

    fn claim_untried(&mut self, count: usize) -> Result<Vec<SeedText>, StoreError> {
        if self.seeds_again.is_some_and(|again| Instant::now() < again) {
            return Ok(Vec::new());
        }
        let seeds = match self.on_server(|server| server.claim_untried(count)) {
            Err(error) if error.is_away() => Vec::new(),
            result => result?,
        };
        self.seeds_again = (seeds.len() < count).then(|| Instant::now() + SEEDS_AGAIN);
        Ok(seeds)
    }

    fn merge(&mut self, delta: &Delta) -> Result<(), StoreError> {
        if delta.is_empty() && self.duplicates.is_empty() {
            return Ok(());
        }
        // The campaign's time is the server's: a machine whose clock is wrong does not bend its curves.
        let mut delta = delta.clone();
        for sample in &mut delta.samples {
            sample.at = sample.at.saturating_add_signed(self.skew);
        }
        self.journal.append(delta, &self.duplicates)?;
        self.duplicates.clear();
        Ok(())
    }

    fn news(&mut self) -> Result<News, StoreError> {
        match self.exchange() {
            Err(error) if error.is_away() => Ok(News { learned: self.learned_known(), ..News::default() }),
            result => result,
        }
    }

    fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError> {
        let claim = self.on_server(|server| server.claim(finding, compared))?;
        let known = match &claim {
            Claim::New => std::slice::from_ref(finding),
            Claim::Known(known) => std::slice::from_ref(known),
            Claim::Behind(all) => all,
        };
        self.findings.extend(known.iter().map(|known| (known.hash.clone(), known.clone())));
        Ok(claim)
    }

    fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        self.on_server(|server| server.regroup(hash, from, to))
    }

    fn show(&mut self, hash: &str, face: &str) -> Result<(), StoreError> {
        self.on_server(|server| server.show(hash, face))?;
        if let Some(known) = self.findings.get_mut(hash) {
            face.clone_into(&mut known.face);
        }
        Ok(())
    }

    fn release(&mut self, hash: &str) -> Result<(), StoreError> {
        self.findings.remove(hash);
        self.on_server(|server| server.release(hash))
    }

    /// Counted here and delivered with the next entry: a solver that crashes all the time costs no transaction each.
    fn duplicate(&mut self, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
        let Some(known) = self.findings.get_mut(hash) else { return Ok(None) };
        known.duplicates += 1;
        *self.duplicates.entry(hash.to_owned()).or_default() += 1;
        Ok(Some(known.clone()))
    }

    fn findings(&mut self) -> Result<Vec<KnownFinding>, StoreError> {
        match self.on_server(PostgresStore::findings) {
            Err(error) if error.is_away() => {
                let mut known: Vec<KnownFinding> = self.findings.values().cloned().collect();
                known.sort_by(|a, b| (a.round, a.step, &a.hash).cmp(&(b.round, b.step, &b.hash)));
                Ok(known)
            }
            result => {
                let findings = result?;
                self.findings = findings.iter().map(|one| (one.hash.clone(), one.clone())).collect();
                Ok(findings)
            }
        }
    }

    fn seed(&mut self, hash: &str) -> Result<Option<SeedText>, StoreError> {
        self.on_server(|server| server.seed(hash))
    }

    fn pool(&mut self) -> Result<Vec<(StoredSeed, Counts)>, StoreError> {
        self.on_server(PostgresStore::pool)
    }

    fn features(&mut self) -> Result<Vec<u64>, StoreError> {
        self.on_server(PostgresStore::features)
    }

    fn sites(&mut self) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
        self.on_server(PostgresStore::sites)
    }

    fn memories(&mut self) -> Result<Memories, StoreError> {
        self.on_server(PostgresStore::memories)
    }

    fn learned(&mut self) -> Result<Learned, StoreError> {
        self.asked(PostgresStore::learned, |known| known.learned_known())
    }

    fn totals(&mut self) -> Result<Totals, StoreError> {
        self.asked(PostgresStore::totals, |known| known.totals_known())
    }

    fn samples(&mut self) -> Result<Vec<Sample>, StoreError> {
        self.on_server(PostgresStore::samples)
    }

    fn join(&mut self, role: Role) -> Result<MemberId, StoreError> {
        let member = self.on_server(|server| server.join(role))?;
        self.member = Some(member);
        self.told_at -= FRESH;
        Ok(member)
    }

    /// Every delivery is a sign of life.
    fn beat(&mut self, _: MemberId) -> Result<(), StoreError> {
        Ok(())
    }

    fn leave(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.wait_for_server();
        let left = self.deliver().and_then(|()| self.on_server(|server| server.leave(member)));
        self.told_at -= FRESH;
        match left {
            Err(error) if error.is_away() => {
                let waiting = self.journal.after(self.delivered).count();
                self.notes.push(format!(
                    "{error}; {waiting} entries wait in '{}': the next process with this folder delivers them",
                    self.journal.path().display()
                ));
                Ok(())
            }
            left => left,
        }
    }

    fn members(&mut self) -> Result<Vec<Member>, StoreError> {
        // Whom the server has not heard lately because it has no room is not gone.
        if !self.is_fresh() && self.away.is_none() {
            match self.on_server(PostgresStore::members) {
                Err(error) if error.is_away() => {}
                members => self.members = members?,
            }
        }
        Ok(self.members_known())
    }

    fn unwanted(&mut self) -> Result<Unwanted, StoreError> {
        self.on_server(PostgresStore::unwanted)
    }

    fn set_unwanted(&mut self, unwanted: &Unwanted, instead: bool) -> Result<(), StoreError> {
        self.on_server(|server| server.set_unwanted(unwanted, instead))
    }

    fn set_closing(&mut self, closing: bool) -> Result<(), StoreError> {
        match self.on_server(|server| server.set_closing(closing)) {
            Err(error) if error.is_away() => {
                self.wait_for_server();
                match self.on_server(|server| server.set_closing(closing)) {
                    // The others hear it from the owner's silence.
                    Err(error) if error.is_away() => Ok(()),
                    result => result,
                }
            }
            result => result,
        }
    }

    fn closing(&mut self) -> Result<bool, StoreError> {
        self.asked(PostgresStore::closing, |known| known.closing)
    }

    fn archive(&mut self) -> Option<&mut dyn FindingArchive> {
        Some(self)
    }

    fn pace(&self) -> Duration {
        (PACE_PER_MEMBER * self.members.len() as u32).clamp(PACE, LONGEST_PACE)
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn is_away(&self) -> bool {
        self.away.is_some()
    }

    fn journaled(&self) -> Option<u64> {
        Some(self.journal.last())
    }
}

impl FindingArchive for JournaledStore {
    fn put(
        &mut self,
        name: &str,
        files: &[ArchivedFile],
        work: Work,
        instead_of: Option<&str>,
    ) -> Result<(), StoreError> {
        self.on_server(|server| server.put(name, files, work, instead_of))
    }

    fn add(&mut self, name: &str, file: &ArchivedFile) -> Result<(), StoreError> {
        self.on_server(|server| server.add(name, file))
    }

    fn get(&mut self, name: &str) -> Result<Option<Vec<ArchivedFile>>, StoreError> {
        self.on_server(|server| server.get(name))
    }

    fn remove(&mut self, name: &str) -> Result<(), StoreError> {
        self.on_server(|server| server.remove(name))
    }

    fn list(&mut self) -> Result<Vec<ArchivedFolder>, StoreError> {
        self.on_server(FindingArchive::list)
    }

    fn take(&mut self) -> Result<Option<(String, Vec<ArchivedFile>)>, StoreError> {
        // Those who were silent with the server have not lost anything yet.
        match self.before.is_some() || self.away.is_some() {
            true => Ok(None),
            false => self.on_server(FindingArchive::take),
        }
    }

    fn holds(&mut self, name: &str) -> Result<bool, StoreError> {
        self.on_server(|server| server.holds(name))
    }

    fn let_go(&mut self, name: &str, work: Work) -> Result<(), StoreError> {
        self.on_server(|server| server.let_go(name, work))
    }
}
