//! Deltas into the tables: counts are added where they are, so that no process overwrites another's.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::totals::{MESSAGES, OTHERS};
use super::super::{Counts, Delta, Learned, Memories, Sample, SeedDelta, StoreError, StoredSeed, Totals};
use super::{Change, query, schema};
use crate::seeds::SeedText;

/// The seeds that the user gave, when the campaign is made.
pub fn add_given(connection: &Connection, given: &[SeedText]) -> Result<(), StoreError> {
    let mut put = connection.prepare_cached(
        "INSERT OR IGNORE INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, \
         writer, other) VALUES (?, ?, 0, 'used', 0, 0, 1, 0, 0, 0, 0)",
    )?;
    for seed in given {
        put.execute(params![seed.hash, seed.text.len() as i64])?;
        put_text(connection, seed)?;
    }
    Ok(())
}

/// Hands out given seeds, the smallest first.
pub fn take_untried(connection: &Connection, count: usize) -> Result<Vec<SeedText>, StoreError> {
    let mut find = connection.prepare_cached(
        "SELECT hash, name, text FROM seeds JOIN texts USING (hash) WHERE untried = 1 ORDER BY size, hash LIMIT ?",
    )?;
    let seeds = find.query_map([count as i64], query::seed_text)?.collect::<Result<Vec<_>, _>>()?;
    let mut take = connection.prepare_cached("UPDATE seeds SET untried = 0 WHERE hash = ?")?;
    for seed in &seeds {
        take.execute([&seed.hash])?;
    }
    Ok(seeds)
}

fn put_text(connection: &Connection, seed: &SeedText) -> Result<(), StoreError> {
    connection.prepare_cached("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)")?.execute(params![
        seed.hash,
        seed.name,
        seed.text.as_ref()
    ])?;
    Ok(())
}

fn put_sites(connection: &Connection, code: u64, writer: u64, sites: &[u32]) -> Result<(), StoreError> {
    let bytes: Vec<u8> = sites.iter().flat_map(|site| site.to_le_bytes()).collect();
    connection
        .prepare_cached("INSERT INTO reached (code, writer, sites) VALUES (?, ?, ?)")?
        .execute(params![code as i64, writer as i64, bytes])?;
    Ok(())
}

/// Puts together what an earlier format had site by site.
pub fn put_sites_together(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(schema::SET_SITES_ASIDE)?;
    let mut all: BTreeMap<(u64, u64), Vec<u32>> = BTreeMap::new();
    let mut find = connection.prepare("SELECT code, writer, site FROM site_by_site ORDER BY number")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let of = (query::number(row, 0)?, query::number(row, 1)?);
        all.entry(of).or_default().push(row.get(2)?);
    }
    drop(rows);
    drop(find);
    all.iter().try_for_each(|((code, writer), sites)| put_sites(connection, *code, *writer, sites))?;
    Ok(connection.execute_batch(schema::DROP_SITES)?)
}

impl Change<'_> {
    pub fn merge(&self, delta: &Delta, features_kept: usize) -> Result<(), StoreError> {
        self.add_totals(&delta.totals)?;
        self.add_learned(&delta.learned)?;
        self.add_seeds(&delta.new_seeds)?;
        self.add_ancestors(&delta.ancestors)?;
        self.add_seed_counts(&delta.seeds)?;
        self.retire(&delta.retired)?;
        self.add_features(&delta.features, features_kept)?;
        self.add_sites(&delta.sites)?;
        self.add_samples(&delta.samples)?;
        self.add_memories(&delta.memories)
    }

    fn add_sites(&self, sites: &BTreeMap<u64, Vec<u32>>) -> Result<(), StoreError> {
        sites.iter().try_for_each(|(code, sites)| put_sites(&self.transaction, *code, self.writer, sites))
    }

    fn add_totals(&self, totals: &Totals) -> Result<(), StoreError> {
        let mut add = self.transaction.prepare_cached(
            "INSERT INTO totals VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET value = value + excluded.value",
        )?;
        let mut raise = self.transaction.prepare_cached(
            "INSERT INTO totals VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET value = max(value, excluded.value)",
        )?;
        let mut room = self.room_for_messages(totals)?;
        for (mut path, number) in totals.numbers().map_err(|error| StoreError::damaged("totals", error))? {
            let mut key = query::path_key(&path)?;
            let room = path.first().and_then(|name| room.get_mut(name.as_str()));
            if let Some(room) = room
                && !self.has_total(&key)?
            {
                match room.checked_sub(1) {
                    Some(less) => *room = less,
                    None => {
                        path.truncate(1);
                        path.push(OTHERS.to_owned());
                        key = query::path_key(&path)?;
                    }
                }
            }
            let put = if Totals::is_maximum(&path) { &mut raise } else { &mut add };
            put.execute(params![key, number as i64])?;
        }
        Ok(())
    }

    fn has_total(&self, key: &str) -> Result<bool, StoreError> {
        let mut find = self.transaction.prepare_cached("SELECT 1 FROM totals WHERE path = ?")?;
        Ok(find.query_row([key], |_| Ok(())).optional()?.is_some())
    }

    /// How many more different messages of each kind are remembered.
    fn room_for_messages(&self, totals: &Totals) -> Result<BTreeMap<&'static str, usize>, StoreError> {
        if totals.messages().iter().all(|(_, messages)| messages.total() == 0) {
            return Ok(BTreeMap::new());
        }
        let known = query::totals(&self.transaction)?;
        let room = known.messages().map(|(name, messages)| (name, MESSAGES.saturating_sub(messages.len())));
        Ok(room.into_iter().collect())
    }

    fn add_learned(&self, learned: &Learned) -> Result<(), StoreError> {
        let mut add = self.transaction.prepare_cached(
            "INSERT INTO learned VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, name) DO UPDATE SET \
             rounds = rounds + excluded.rounds, tests = tests + excluded.tests, cpu = cpu + excluded.cpu, \
             findings = findings + excluded.findings, novel = novel + excluded.novel",
        )?;
        for (kind, name, counts) in learned.iter() {
            let [rounds, tests, cpu, findings, novel] = numbers(counts);
            add.execute(params![kind, name, rounds, tests, cpu, findings, novel])?;
        }
        Ok(())
    }

    fn add_seeds(&self, seeds: &[StoredSeed]) -> Result<(), StoreError> {
        // Those that are there come into use if they only were somebody's ancestor or had to make room; see `merge`
        // of the trait.
        let mut put = self.transaction.prepare_cached(
            "INSERT INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, writer, \
             other) VALUES (?1, ?2, ?3, 'used', ?4, ?5, 0, 0, ?4, ?5, 0) \
             ON CONFLICT (hash) DO UPDATE SET state = 'used', state_at = ?4, state_by = ?5, \
             other = CASE WHEN writer = ?5 THEN other ELSE changed END, changed = ?4, writer = ?5 \
             WHERE state = 'kept' OR (state = 'retired' AND hash NOT IN (SELECT hash FROM texts))",
        )?;
        for StoredSeed { seed, mutant } in seeds {
            let size = seed.text.len() as i64;
            put.execute(params![seed.hash, size, mutant, self.number as i64, self.writer as i64])?;
            put_text(&self.transaction, seed)?;
        }
        Ok(())
    }

    fn add_ancestors(&self, ancestors: &[SeedText]) -> Result<(), StoreError> {
        let mut put = self.transaction.prepare_cached(
            "INSERT INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, writer, \
             other) VALUES (?1, ?2, 1, 'kept', ?3, ?4, 0, 1, ?3, ?4, 0) \
             ON CONFLICT (hash) DO UPDATE SET needed = 1",
        )?;
        for seed in ancestors {
            let size = seed.text.len() as i64;
            put.execute(params![seed.hash, size, self.number as i64, self.writer as i64])?;
            put_text(&self.transaction, seed)?;
        }
        Ok(())
    }

    fn add_seed_counts(&self, seeds: &[SeedDelta]) -> Result<(), StoreError> {
        let mut add = self.transaction.prepare_cached(
            "UPDATE seeds SET rounds = rounds + ?2, tests = tests + ?3, cpu = cpu + ?4, findings = findings + ?5, \
             novel = novel + ?6, other = CASE WHEN writer = ?8 THEN other ELSE changed END, changed = ?7, \
             writer = ?8 WHERE hash = ?1",
        )?;
        for SeedDelta { hash, counts } in seeds {
            let [rounds, tests, cpu, findings, novel] = numbers(counts);
            let (number, writer) = (self.number as i64, self.writer as i64);
            add.execute(params![hash, rounds, tests, cpu, findings, novel, number, writer])?;
        }
        Ok(())
    }

    fn retire(&self, retired: &[(String, bool)]) -> Result<(), StoreError> {
        let mut need = self.transaction.prepare_cached("UPDATE seeds SET needed = 1 WHERE hash = ?")?;
        let mut retire = self.transaction.prepare_cached(
            "UPDATE seeds SET state = 'retired', untried = 0, state_at = ?2, state_by = ?3, \
             other = CASE WHEN writer = ?3 THEN other ELSE changed END, changed = ?2, writer = ?3 \
             WHERE hash = ?1 AND state = 'used'",
        )?;
        // The row stays: others must hear that the seed is gone.
        let mut forget = self.transaction.prepare_cached(
            "DELETE FROM texts WHERE hash IN (SELECT hash FROM seeds WHERE hash = ? AND needed = 0)",
        )?;
        let mut forget_memories = self.transaction.prepare_cached("DELETE FROM memories WHERE seed = ?")?;
        for (hash, keep) in retired {
            if *keep {
                need.execute([hash])?;
            }
            retire.execute(params![hash, self.number as i64, self.writer as i64])?;
            forget.execute([hash])?;
            forget_memories.execute([hash])?;
        }
        Ok(())
    }

    fn add_memories(&self, memories: &Memories) -> Result<(), StoreError> {
        let mut put = self.transaction.prepare_cached(
            "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (seed, engine) DO UPDATE SET \
             text = excluded.text, exhausted = max(exhausted, excluded.exhausted), changed = excluded.changed, \
             writer = excluded.writer",
        )?;
        for ((seed, engine), memory) in memories {
            let (number, writer) = (self.number as i64, self.writer as i64);
            put.execute(params![seed, engine, memory.text, memory.exhausted, number, writer])?;
        }
        Ok(())
    }

    fn add_features(&self, features: &[u64], kept: usize) -> Result<(), StoreError> {
        if features.is_empty() {
            return Ok(());
        }
        // Numbers have no gaps: the last one is how many there are.
        let mut room = (kept as u64).saturating_sub(query::newest(&self.transaction)?.feature);
        let mut see =
            self.transaction.prepare_cached("INSERT OR IGNORE INTO seen (feature, writer) VALUES (?, ?)")?;
        for feature in features {
            if room == 0 {
                break;
            }
            room -= see.execute([*feature as i64, self.writer as i64])? as u64;
        }
        Ok(())
    }

    fn add_samples(&self, samples: &[Sample]) -> Result<(), StoreError> {
        let mut add = self.transaction.prepare_cached(
            "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (at, engine) DO UPDATE SET \
             tests = tests + excluded.tests, runs = runs + excluded.runs, cpu = cpu + excluded.cpu, \
             findings = findings + excluded.findings, novel = novel + excluded.novel, \
             functions = functions + excluded.functions, blocks = blocks + excluded.blocks",
        )?;
        for sample in samples {
            let Sample { at, engine, tests, runs, cpu, findings, novel, functions, blocks } = sample;
            let [at, tests, runs, cpu, findings, novel, functions, blocks] =
                [at, tests, runs, cpu, findings, novel, functions, blocks].map(|number| *number as i64);
            add.execute(params![at, engine, tests, runs, cpu, findings, novel, functions, blocks])?;
        }
        Ok(())
    }
}

fn numbers(counts: &Counts) -> [i64; 5] {
    let Counts { rounds, tests, cpu, findings, novel } = counts;
    [rounds, tests, cpu, findings, novel].map(|number| *number as i64)
}
