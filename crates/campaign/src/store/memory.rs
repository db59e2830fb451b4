//! A store in memory: for tests of what stands on a store, and for campaigns that leave nothing behind.

use crate::store::Role;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    CampaignStore, Claim, Counts, Delta, FEATURES, KnownFinding, Learned, MEMBER_GONE, Member, MemberId,
    Memories, News, Sample, SeedMemory, StoreError, StoredSeed, Totals, Unwanted, now,
};
use crate::config::Identity;
use crate::seeds::SeedText;

/// A handle; [`MemoryStore::handle`] gives another one on the same campaign, as a second process has it.
pub struct MemoryStore {
    campaign: Arc<Mutex<MemoryCampaign>>,
    writer: u64,
    /// What [`CampaignStore::news`] has told: changes, features, sites, and which known bugs.
    told: (u64, usize, usize, u64),
}

struct MemoryCampaign {
    identity: Identity,
    started: u64,
    next_round: u64,
    closing: bool,
    totals: Totals,
    learned: Learned,
    seeds: BTreeMap<String, SeedRow>,
    features: Vec<(u64, u64)>,
    /// Each with the change that wrote it and whose it was.
    memories: BTreeMap<(String, String), (SeedMemory, Change)>,
    seen: HashSet<u64>,
    /// Code, site and writer, in the order in which they came.
    sites: Vec<(u64, u32, u64)>,
    reached: HashSet<(u64, u32)>,
    features_kept: usize,
    findings: BTreeMap<String, (KnownFinding, Change)>,
    samples: BTreeMap<(u64, String), Sample>,
    /// Known bugs, and how often others were named.
    unwanted: (Unwanted, u64),
    members: BTreeMap<MemberId, Member>,
    joined: u64,
    writers: u64,
    changes: u64,
}

struct SeedRow {
    /// Gone with those that only had to make room.
    text: Option<SeedText>,
    mutant: bool,
    state: SeedState,
    /// Not yet handed out as it is.
    untried: bool,
    /// A finding needs the text.
    needed: bool,
    counts: Counts,
    /// The change that gave it its state, and whose it was.
    state_at: (u64, u64),
    change: Change,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeedState {
    Used,
    Retired,
    /// Never in use: only an ancestor of a finding.
    Kept,
}

/// Who changed a row, and when: enough to tell any writer whether somebody else did since a given change.
#[derive(Clone, Copy)]
struct Change {
    at: u64,
    by: u64,
    /// The last change by somebody other than `by`.
    other: u64,
}

impl Change {
    fn new(at: u64, by: u64) -> Change {
        Change { at, by, other: 0 }
    }

    fn touch(&mut self, at: u64, by: u64) {
        let other = if self.by == by { self.other } else { self.at };
        *self = Change { at, by, other };
    }

    fn is_news_to(&self, writer: u64, since: u64) -> bool {
        (if self.by == writer { self.other } else { self.at }) > since
    }
}

impl MemoryStore {
    pub fn new(identity: &Identity, given: &[SeedText]) -> MemoryStore {
        let seed = |seed: &SeedText| SeedRow {
            text: Some(seed.clone()),
            mutant: false,
            state: SeedState::Used,
            untried: true,
            needed: false,
            counts: Counts::default(),
            state_at: (0, 0),
            change: Change::new(0, 0),
        };
        let campaign = MemoryCampaign {
            identity: identity.clone(),
            started: now(),
            next_round: 0,
            closing: false,
            totals: Totals::default(),
            learned: Learned::default(),
            seeds: given.iter().map(|text| (text.hash.clone(), seed(text))).collect(),
            features: Vec::new(),
            memories: BTreeMap::new(),
            seen: HashSet::new(),
            sites: Vec::new(),
            reached: HashSet::new(),
            features_kept: FEATURES,
            findings: BTreeMap::new(),
            samples: BTreeMap::new(),
            unwanted: (Unwanted::default(), 0),
            members: BTreeMap::new(),
            joined: 0,
            writers: 1,
            changes: 0,
        };
        MemoryStore { campaign: Arc::new(Mutex::new(campaign)), writer: 1, told: (0, 0, 0, 0) }
    }

    /// Another process's handle.
    pub fn handle(&self) -> MemoryStore {
        let mut campaign = self.campaign();
        campaign.writers += 1;
        let told = campaign.told();
        MemoryStore { campaign: self.campaign.clone(), writer: campaign.writers, told }
    }

    #[cfg(test)]
    pub(super) fn keep_features(&mut self, most: usize) {
        self.campaign().features_kept = most;
    }

    fn campaign(&self) -> MutexGuard<'_, MemoryCampaign> {
        self.campaign.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryCampaign {
    /// How far the news are.
    fn told(&self) -> (u64, usize, usize, u64) {
        (self.changes, self.features.len(), self.sites.len(), self.unwanted.1)
    }

    fn change(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }

    fn add_seed(&mut self, new: &StoredSeed, at: u64, by: u64) {
        let row = self.seeds.entry(new.seed.hash.clone()).or_insert_with(|| SeedRow {
            text: None,
            mutant: new.mutant,
            state: SeedState::Kept,
            untried: false,
            needed: false,
            counts: Counts::default(),
            state_at: (at, by),
            change: Change::new(at, by),
        });
        let comes_back = row.state == SeedState::Retired && row.text.is_none();
        if row.state == SeedState::Kept || comes_back {
            row.text = Some(new.seed.clone());
            row.state = SeedState::Used;
            row.state_at = (at, by);
            row.change.touch(at, by);
        }
    }

    fn add_ancestor(&mut self, seed: &SeedText, at: u64, by: u64) {
        let row = self.seeds.entry(seed.hash.clone()).or_insert_with(|| SeedRow {
            text: None,
            mutant: true,
            state: SeedState::Kept,
            untried: false,
            needed: true,
            counts: Counts::default(),
            state_at: (at, by),
            change: Change::new(at, by),
        });
        row.needed = true;
        row.text.get_or_insert_with(|| seed.clone());
    }

    fn retire(&mut self, hash: &str, keep: bool, at: u64, by: u64) {
        self.memories.retain(|(seed, _), _| seed != hash);
        let Some(row) = self.seeds.get_mut(hash) else { return };
        row.needed |= keep;
        if row.state == SeedState::Used {
            row.state = SeedState::Retired;
            row.untried = false;
            row.state_at = (at, by);
            row.change.touch(at, by);
        }
        if !row.needed {
            row.text = None;
        }
    }
}

impl CampaignStore for MemoryStore {
    fn identity(&mut self) -> Result<Identity, StoreError> {
        Ok(self.campaign().identity.clone())
    }

    fn started(&mut self) -> Result<u64, StoreError> {
        Ok(self.campaign().started)
    }

    fn claim_rounds(&mut self, count: u64) -> Result<Range<u64>, StoreError> {
        let mut campaign = self.campaign();
        let first = campaign.next_round;
        campaign.next_round += count;
        Ok(first..campaign.next_round)
    }

    fn claim_untried(&mut self, count: usize) -> Result<Vec<SeedText>, StoreError> {
        let mut campaign = self.campaign();
        let mut untried: Vec<SeedText> =
            campaign.seeds.values().filter(|row| row.untried).filter_map(|row| row.text.clone()).collect();
        untried.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
        untried.truncate(count);
        for seed in &untried {
            if let Some(row) = campaign.seeds.get_mut(&seed.hash) {
                row.untried = false;
            }
        }
        Ok(untried)
    }

    fn merge(&mut self, delta: &Delta) -> Result<(), StoreError> {
        let by = self.writer;
        let mut campaign = self.campaign();
        let at = campaign.change();
        campaign.totals.add(&delta.totals);
        campaign.learned.merge(&delta.learned);
        for seed in &delta.new_seeds {
            campaign.add_seed(seed, at, by);
        }
        for seed in &delta.ancestors {
            campaign.add_ancestor(seed, at, by);
        }
        for seed in &delta.seeds {
            if let Some(row) = campaign.seeds.get_mut(&seed.hash) {
                row.counts.add(&seed.counts);
                row.change.touch(at, by);
            }
        }
        for (hash, keep) in &delta.retired {
            campaign.retire(hash, *keep, at, by);
        }
        for feature in &delta.features {
            if campaign.features.len() < campaign.features_kept && campaign.seen.insert(*feature) {
                campaign.features.push((*feature, by));
            }
        }
        for (code, site) in
            delta.sites.iter().flat_map(|(code, sites)| sites.iter().map(|site| (*code, *site)))
        {
            if campaign.reached.insert((code, site)) {
                campaign.sites.push((code, site, by));
            }
        }
        for (key, memory) in &delta.memories {
            let new = || (SeedMemory::default(), Change::new(at, by));
            let (known, change) = campaign.memories.entry(key.clone()).or_insert_with(new);
            known.update(memory.clone());
            change.touch(at, by);
        }
        for sample in &delta.samples {
            let Sample { at, engine, .. } = sample;
            let empty = Sample { at: *at, engine: engine.clone(), ..Sample::default() };
            campaign.samples.entry((*at, engine.clone())).or_insert(empty).add(sample);
        }
        Ok(())
    }

    fn news(&mut self) -> Result<News, StoreError> {
        let (since, known_features, known_sites, known_bugs) = self.told;
        let me = self.writer;
        let campaign = self.campaign();
        let mut news = News { learned: campaign.learned.clone(), ..News::default() };
        for (hash, row) in &campaign.seeds {
            if !row.change.is_news_to(me, since) {
                continue;
            }
            let (at, by) = row.state_at;
            let moved = at > since && by != me;
            match (row.state, &row.text) {
                (SeedState::Used, Some(text)) if moved => {
                    news.new_seeds.push((StoredSeed { seed: text.clone(), mutant: row.mutant }, row.counts));
                }
                (SeedState::Used, _) => news.seeds.push((hash.clone(), row.counts)),
                (SeedState::Retired, _) if moved => news.retired.push(hash.clone()),
                (SeedState::Retired | SeedState::Kept, _) => {}
            }
        }
        let features = campaign.features[known_features..].iter().filter(|(_, by)| *by != me);
        news.features = features.map(|(feature, _)| *feature).collect();
        let findings = campaign.findings.values().filter(|(_, change)| change.is_news_to(me, since));
        news.findings = in_order(findings.map(|(finding, _)| finding.clone()));
        for (code, site, _) in campaign.sites[known_sites..].iter().filter(|(_, _, by)| *by != me) {
            news.sites.entry(*code).or_default().push(*site);
        }
        let memories = campaign.memories.iter().filter(|(_, (_, change))| change.is_news_to(me, since));
        news.memories = memories.map(|(key, (memory, _))| (key.clone(), memory.clone())).collect();
        news.unwanted = (campaign.unwanted.1 > known_bugs).then(|| campaign.unwanted.0.clone());
        let told = campaign.told();
        drop(campaign);
        self.told = told;
        Ok(news)
    }

    fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError> {
        let by = self.writer;
        let mut campaign = self.campaign();
        if let Some((known, _)) = campaign.findings.get(&finding.hash) {
            return Ok(Claim::Known(known.clone()));
        }
        if campaign.findings.len() as u64 != compared {
            return Ok(Claim::Behind(in_order(campaign.findings.values().map(|(one, _)| one.clone()))));
        }
        let at = campaign.change();
        campaign.findings.insert(finding.hash.clone(), (finding.clone(), Change::new(at, by)));
        Ok(Claim::New)
    }

    fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        let by = self.writer;
        let mut campaign = self.campaign();
        let at = campaign.change();
        let Some((known, change)) = campaign.findings.get_mut(hash).filter(|(known, _)| known.group == from)
        else {
            return Ok(false);
        };
        to.clone_into(&mut known.group);
        change.touch(at, by);
        Ok(true)
    }

    fn show(&mut self, hash: &str, face: &str) -> Result<(), StoreError> {
        let by = self.writer;
        let mut campaign = self.campaign();
        let at = campaign.change();
        if let Some((known, change)) = campaign.findings.get_mut(hash) {
            face.clone_into(&mut known.face);
            change.touch(at, by);
        }
        Ok(())
    }

    fn release(&mut self, hash: &str) -> Result<(), StoreError> {
        self.campaign().findings.remove(hash);
        Ok(())
    }

    fn duplicate(&mut self, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
        let by = self.writer;
        let mut campaign = self.campaign();
        let at = campaign.change();
        Ok(campaign.findings.get_mut(hash).map(|(known, change)| {
            known.duplicates += 1;
            change.touch(at, by);
            known.clone()
        }))
    }

    fn findings(&mut self) -> Result<Vec<KnownFinding>, StoreError> {
        Ok(in_order(self.campaign().findings.values().map(|(finding, _)| finding.clone())))
    }

    fn seed(&mut self, hash: &str) -> Result<Option<SeedText>, StoreError> {
        Ok(self.campaign().seeds.get(hash).and_then(|row| row.text.clone()))
    }

    fn pool(&mut self) -> Result<Vec<(StoredSeed, Counts)>, StoreError> {
        let campaign = self.campaign();
        let used = campaign.seeds.values().filter(|row| row.state == SeedState::Used);
        Ok(used
            .filter_map(|row| Some((StoredSeed { seed: row.text.clone()?, mutant: row.mutant }, row.counts)))
            .collect())
    }

    fn features(&mut self) -> Result<Vec<u64>, StoreError> {
        Ok(self.campaign().features.iter().map(|(feature, _)| *feature).collect())
    }

    fn sites(&mut self) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
        let mut all: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (code, site, _) in &self.campaign().sites {
            all.entry(*code).or_default().push(*site);
        }
        Ok(all)
    }

    fn learned(&mut self) -> Result<Learned, StoreError> {
        Ok(self.campaign().learned.clone())
    }

    fn memories(&mut self) -> Result<Memories, StoreError> {
        let campaign = self.campaign();
        Ok(campaign.memories.iter().map(|(key, (memory, _))| (key.clone(), memory.clone())).collect())
    }

    fn totals(&mut self) -> Result<Totals, StoreError> {
        Ok(self.campaign().totals.clone())
    }

    fn samples(&mut self) -> Result<Vec<Sample>, StoreError> {
        Ok(self.campaign().samples.values().cloned().collect())
    }

    fn join(&mut self, role: Role) -> Result<MemberId, StoreError> {
        let mut campaign = self.campaign();
        campaign.joined += 1;
        let id = MemberId(campaign.joined);
        let member = Member { id, role, pid: std::process::id(), seen: now() };
        campaign.members.insert(id, member);
        Ok(id)
    }

    fn beat(&mut self, member: MemberId) -> Result<(), StoreError> {
        if let Some(member) = self.campaign().members.get_mut(&member) {
            member.seen = now();
        }
        Ok(())
    }

    fn leave(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.campaign().members.remove(&member);
        Ok(())
    }

    fn members(&mut self) -> Result<Vec<Member>, StoreError> {
        let oldest = now().saturating_sub(MEMBER_GONE);
        Ok(self.campaign().members.values().filter(|member| member.seen >= oldest).cloned().collect())
    }

    fn unwanted(&mut self) -> Result<Unwanted, StoreError> {
        Ok(self.campaign().unwanted.0.clone())
    }

    fn set_unwanted(&mut self, unwanted: &Unwanted, instead: bool) -> Result<(), StoreError> {
        let mut campaign = self.campaign();
        let (named, times) = &mut campaign.unwanted;
        if instead {
            *named = Unwanted::default();
        }
        named.merge(unwanted);
        *times += 1;
        Ok(())
    }

    fn set_closing(&mut self, closing: bool) -> Result<(), StoreError> {
        self.campaign().closing = closing;
        Ok(())
    }

    fn closing(&mut self) -> Result<bool, StoreError> {
        Ok(self.campaign().closing)
    }
}

fn in_order(findings: impl Iterator<Item = KnownFinding>) -> Vec<KnownFinding> {
    let mut findings: Vec<_> = findings.collect();
    findings.sort_by(|a, b| (a.round, a.step, &a.hash).cmp(&(b.round, b.step, &b.hash)));
    findings
}
