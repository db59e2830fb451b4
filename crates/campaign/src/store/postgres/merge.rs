//! Deltas into the tables: counts are added where they are, so that no process overwrites another's. Every kind of
//! count is one statement, whatever the number of its rows.

use std::collections::BTreeMap;

use super::super::totals::{MESSAGES, OTHERS};
use super::super::{Counts, Delta, Learned, Memories, Sample, SeedDelta, StoreError, StoredSeed, Totals};
use super::query;
use super::{Change, Failure};
use crate::seeds::SeedText;

impl Change<'_> {
    /// The seeds that the user gave, when the campaign is made.
    pub fn add_given(&mut self, given: &[SeedText]) -> Result<(), Failure> {
        let (hashes, sizes) = keys(given);
        self.execute(
            "INSERT INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, writer, \
             other) SELECT hash, size, false, 'used', 0, 0, true, false, 0, 0, 0 \
             FROM unnest($1::text[], $2::bigint[]) AS new (hash, size) ON CONFLICT DO NOTHING",
            &[&hashes, &sizes],
        )?;
        self.put_texts(given)
    }

    /// Hands out given seeds, the smallest first: those that nobody has tried, and those that somebody had in hand who is
    /// gone.
    pub fn take_untried(&mut self, count: usize, holder: Option<u64>) -> Result<Vec<SeedText>, Failure> {
        let rows = self.query(
            &format!(
                "WITH taken AS (SELECT hash FROM seeds WHERE {WAITING} ORDER BY size, hash LIMIT $1 FOR UPDATE) \
                 UPDATE seeds SET untried = false, holder = $2 FROM taken, texts \
                 WHERE seeds.hash = taken.hash AND texts.hash = taken.hash \
                 RETURNING seeds.hash, texts.name, texts.text"
            ),
            &[&i64::try_from(count).unwrap_or(i64::MAX), &holder.map(|holder| holder as i64)],
        )?;
        let mut seeds = rows.iter().map(query::seed_text).collect::<Result<Vec<_>, _>>()?;
        seeds.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
        Ok(seeds)
    }

    fn put_texts(&mut self, seeds: &[SeedText]) -> Result<(), Failure> {
        let hashes: Vec<&str> = seeds.iter().map(|seed| seed.hash.as_str()).collect();
        let names: Vec<String> = seeds.iter().map(|seed| seed.name.replace('\0', " ")).collect();
        let texts: Vec<&[u8]> = seeds.iter().map(|seed| seed.text.as_bytes()).collect();
        self.execute(
            "INSERT INTO texts SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING",
            &[&hashes, &names, &texts],
        )?;
        Ok(())
    }

    pub fn merge(&mut self, delta: &Delta, features_kept: usize) -> Result<(), Failure> {
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

    fn add_sites(&mut self, sites: &BTreeMap<u64, Vec<u32>>) -> Result<(), Failure> {
        let all = || sites.iter().flat_map(|(code, sites)| sites.iter().map(|site| (*code as i64, *site)));
        if all().next().is_none() {
            return Ok(());
        }
        let codes: Vec<i64> = all().map(|(code, _)| code).collect();
        let sites: Vec<i64> = all().map(|(_, site)| i64::from(site)).collect();
        let writer = self.writer as i64;
        self.execute(
            "INSERT INTO reached (code, site, writer) SELECT code, site, $3 \
             FROM unnest($1::bigint[], $2::bigint[]) AS new (code, site) ON CONFLICT (code, site) DO NOTHING",
            &[&codes, &sites, &writer],
        )?;
        Ok(())
    }

    fn add_memories(&mut self, memories: &Memories) -> Result<(), Failure> {
        if memories.is_empty() {
            return Ok(());
        }
        let seeds: Vec<&str> = memories.keys().map(|(seed, _)| seed.as_str()).collect();
        let engines: Vec<&str> = memories.keys().map(|(_, engine)| engine.as_str()).collect();
        let texts: Vec<&[u8]> = memories.values().map(|memory| memory.text.as_bytes()).collect();
        let exhausted: Vec<bool> = memories.values().map(|memory| memory.exhausted).collect();
        let (number, writer) = self.signed();
        self.execute(
            "INSERT INTO memories SELECT *, $5::bigint, $6::bigint \
             FROM unnest($1::text[], $2::text[], $3::bytea[], $4::boolean[]) \
             ON CONFLICT (seed, engine) DO UPDATE SET text = excluded.text, \
             exhausted = memories.exhausted OR excluded.exhausted, changed = excluded.changed, \
             writer = excluded.writer",
            &[&seeds, &engines, &texts, &exhausted, &number, &writer],
        )?;
        Ok(())
    }

    fn add_totals(&mut self, totals: &Totals) -> Result<(), Failure> {
        let damaged = |error| StoreError::damaged("totals", error);
        let mut room = self.room_for_messages(totals)?;
        let (mut added, mut raised) = (BTreeMap::new(), BTreeMap::new());
        for (mut path, number) in totals.numbers().map_err(damaged)? {
            let mut key = query::path_key(&path)?;
            if let Some((known, room)) = path.first().and_then(|name| room.get_mut(name.as_str()))
                && !known.contains(&key)
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
            let rows = if Totals::is_maximum(&path) { &mut raised } else { &mut added };
            *rows.entry(key).or_insert(0) += number as i64;
        }
        for (rows, sum) in
            [(added, "totals.value + excluded.value"), (raised, "greatest(totals.value, excluded.value)")]
        {
            if rows.is_empty() {
                continue;
            }
            let (paths, values): (Vec<String>, Vec<i64>) = rows.into_iter().unzip();
            self.execute(
                &format!(
                    "INSERT INTO totals SELECT * FROM unnest($1::text[], $2::bigint[]) \
                     ON CONFLICT (path) DO UPDATE SET value = {sum}"
                ),
                &[&paths, &values],
            )?;
        }
        Ok(())
    }

    /// The messages of each kind that are remembered, and how many more can be.
    fn room_for_messages(
        &mut self,
        totals: &Totals,
    ) -> Result<BTreeMap<&'static str, (Vec<String>, usize)>, Failure> {
        let mut room = BTreeMap::new();
        for (name, messages) in totals.messages() {
            if messages.total() == 0 {
                continue;
            }
            let start = format!("[\"{name}\",");
            let rows =
                self.query("SELECT path FROM totals WHERE starts_with(path, $1)", &[&start.as_str()])?;
            let known: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            let left = MESSAGES.saturating_sub(known.len());
            room.insert(name, (known, left));
        }
        Ok(room)
    }

    fn add_learned(&mut self, learned: &Learned) -> Result<(), Failure> {
        if learned.is_empty() {
            return Ok(());
        }
        let kinds: Vec<&str> = learned.iter().map(|(kind, ..)| kind).collect();
        let names: Vec<&str> = learned.iter().map(|(_, name, _)| name).collect();
        let counts = columns(learned.iter().map(|(.., counts)| counts));
        let [rounds, tests, cpu, findings, novel] = &counts;
        self.execute(
            "INSERT INTO learned SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], \
             $5::bigint[], $6::bigint[], $7::bigint[]) ON CONFLICT (kind, name) DO UPDATE SET \
             rounds = learned.rounds + excluded.rounds, tests = learned.tests + excluded.tests, \
             cpu = learned.cpu + excluded.cpu, findings = learned.findings + excluded.findings, \
             novel = learned.novel + excluded.novel",
            &[&kinds, &names, rounds, tests, cpu, findings, novel],
        )?;
        Ok(())
    }

    fn add_seeds(&mut self, seeds: &[StoredSeed]) -> Result<(), Failure> {
        // One row is changed once by a statement.
        let seeds: BTreeMap<&str, &StoredSeed> =
            seeds.iter().map(|stored| (stored.seed.hash.as_str(), stored)).collect();
        if seeds.is_empty() {
            return Ok(());
        }
        let texts: Vec<SeedText> = seeds.values().map(|stored| stored.seed.clone()).collect();
        let mutant: Vec<bool> = seeds.values().map(|stored| stored.mutant).collect();
        let (hashes, sizes) = keys(&texts);
        let (number, writer) = self.signed();
        // Those that are there come into use if they only were somebody's ancestor or had to make room; see `merge`
        // of the trait.
        self.execute(
            "INSERT INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, writer, \
             other) SELECT hash, size, mutant, 'used', $4, $5, false, false, $4, $5, 0 \
             FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS new (hash, size, mutant) \
             ON CONFLICT (hash) DO UPDATE SET state = 'used', state_at = $4, state_by = $5, \
             other = CASE WHEN seeds.writer = $5 THEN seeds.other ELSE seeds.changed END, changed = $4, writer = $5 \
             WHERE seeds.state = 'kept' OR (seeds.state = 'retired' \
             AND NOT EXISTS (SELECT 1 FROM texts WHERE texts.hash = seeds.hash))",
            &[&hashes, &sizes, &mutant, &number, &writer],
        )?;
        self.put_texts(&texts)
    }

    fn add_ancestors(&mut self, ancestors: &[SeedText]) -> Result<(), Failure> {
        let ancestors: BTreeMap<&str, &SeedText> =
            ancestors.iter().map(|seed| (seed.hash.as_str(), seed)).collect();
        if ancestors.is_empty() {
            return Ok(());
        }
        let texts: Vec<SeedText> = ancestors.into_values().cloned().collect();
        let (hashes, sizes) = keys(&texts);
        let (number, writer) = self.signed();
        self.execute(
            "INSERT INTO seeds (hash, size, mutant, state, state_at, state_by, untried, needed, changed, writer, \
             other) SELECT hash, size, true, 'kept', $3, $4, false, true, $3, $4, 0 \
             FROM unnest($1::text[], $2::bigint[]) AS new (hash, size) \
             ON CONFLICT (hash) DO UPDATE SET needed = true",
            &[&hashes, &sizes, &number, &writer],
        )?;
        self.put_texts(&texts)
    }

    fn add_seed_counts(&mut self, seeds: &[SeedDelta]) -> Result<(), Failure> {
        let mut sums: BTreeMap<&str, Counts> = BTreeMap::new();
        for SeedDelta { hash, counts } in seeds {
            sums.entry(hash).or_default().add(counts);
        }
        if sums.is_empty() {
            return Ok(());
        }
        let hashes: Vec<&str> = sums.keys().copied().collect();
        let counts = columns(sums.values());
        let [rounds, tests, cpu, findings, novel] = &counts;
        let (number, writer) = self.signed();
        self.execute(
            "UPDATE seeds SET rounds = seeds.rounds + new.rounds, tests = seeds.tests + new.tests, \
             cpu = seeds.cpu + new.cpu, findings = seeds.findings + new.findings, novel = seeds.novel + new.novel, \
             other = CASE WHEN writer = $8 THEN other ELSE changed END, changed = $7, writer = $8 \
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) \
             AS new (hash, rounds, tests, cpu, findings, novel) WHERE seeds.hash = new.hash",
            &[&hashes, rounds, tests, cpu, findings, novel, &number, &writer],
        )?;
        Ok(())
    }

    fn retire(&mut self, retired: &[(String, bool)]) -> Result<(), Failure> {
        if retired.is_empty() {
            return Ok(());
        }
        let all: Vec<&str> = retired.iter().map(|(hash, _)| hash.as_str()).collect();
        let needed: Vec<&str> =
            retired.iter().filter(|(_, keep)| *keep).map(|(hash, _)| hash.as_str()).collect();
        let (number, writer) = self.signed();
        self.execute("UPDATE seeds SET needed = true WHERE hash = ANY($1)", &[&needed])?;
        self.execute(
            "UPDATE seeds SET state = 'retired', untried = false, state_at = $2, state_by = $3, \
             other = CASE WHEN writer = $3 THEN other ELSE changed END, changed = $2, writer = $3 \
             WHERE hash = ANY($1) AND state = 'used'",
            &[&all, &number, &writer],
        )?;
        // The row stays: others must hear that the seed is gone.
        self.execute(
            "DELETE FROM texts USING seeds WHERE seeds.hash = texts.hash AND seeds.hash = ANY($1) \
             AND NOT seeds.needed",
            &[&all],
        )?;
        self.execute("DELETE FROM memories WHERE seed = ANY($1)", &[&all])?;
        Ok(())
    }

    fn add_features(&mut self, features: &[u64], kept: usize) -> Result<(), Failure> {
        if features.is_empty() {
            return Ok(());
        }
        // Numbers have no gaps: the last one is how many there are. In the order in which they came, each once.
        let features: Vec<i64> = features.iter().map(|feature| *feature as i64).collect();
        let writer = self.writer as i64;
        self.execute(
            "WITH there AS (SELECT coalesce(max(number), 0) AS n FROM seen), \
             new AS (SELECT feature, min(place) AS place FROM unnest($1::bigint[]) WITH ORDINALITY \
                     AS given (feature, place) WHERE NOT EXISTS (SELECT 1 FROM seen WHERE seen.feature = given.feature) \
                     GROUP BY feature), \
             numbered AS (SELECT n + row_number() OVER (ORDER BY place) AS number, feature FROM new, there) \
             INSERT INTO seen SELECT number, feature, $3 FROM numbered WHERE number <= $2",
            &[&features, &(kept as i64), &writer],
        )?;
        Ok(())
    }

    fn add_samples(&mut self, samples: &[Sample]) -> Result<(), Failure> {
        let mut sums: BTreeMap<(u64, &str), Sample> = BTreeMap::new();
        for sample in samples {
            let empty = || Sample { at: sample.at, engine: sample.engine.clone(), ..Sample::default() };
            sums.entry((sample.at, &sample.engine)).or_insert_with(empty).add(sample);
        }
        if sums.is_empty() {
            return Ok(());
        }
        let number = |of: fn(&Sample) -> u64| sums.values().map(|one| of(one) as i64).collect::<Vec<i64>>();
        let engines: Vec<&str> = sums.keys().map(|(_, engine)| *engine).collect();
        self.execute(
            "INSERT INTO samples SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], \
             $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[]) \
             ON CONFLICT (at, engine) DO UPDATE SET \
             tests = samples.tests + excluded.tests, runs = samples.runs + excluded.runs, \
             cpu = samples.cpu + excluded.cpu, findings = samples.findings + excluded.findings, \
             novel = samples.novel + excluded.novel, functions = samples.functions + excluded.functions, \
             blocks = samples.blocks + excluded.blocks",
            &[
                &number(|one| one.at),
                &engines,
                &number(|one| one.tests),
                &number(|one| one.runs),
                &number(|one| one.cpu),
                &number(|one| one.findings),
                &number(|one| one.novel),
                &number(|one| one.functions),
                &number(|one| one.blocks),
            ],
        )?;
        Ok(())
    }
}

/// Given seeds that wait to be tried: nobody has them in hand, or somebody who is gone.
pub const WAITING: &str = "untried OR (holder IS NOT NULL AND rounds = 0 AND state = 'used' \
     AND NOT EXISTS (SELECT 1 FROM members WHERE id = holder AND seen > now() - interval '30 seconds'))";

fn keys(seeds: &[SeedText]) -> (Vec<&str>, Vec<i64>) {
    seeds.iter().map(|seed| (seed.hash.as_str(), seed.text.len() as i64)).unzip()
}

/// The numbers of many counts, column by column.
fn columns<'a>(all: impl Iterator<Item = &'a Counts>) -> [Vec<i64>; 5] {
    let mut columns: [Vec<i64>; 5] = Default::default();
    for Counts { rounds, tests, cpu, findings, novel } in all {
        for (column, number) in columns.iter_mut().zip([rounds, tests, cpu, findings, novel]) {
            column.push(*number as i64);
        }
    }
    columns
}
