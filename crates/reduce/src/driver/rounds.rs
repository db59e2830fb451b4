//! Rounds over all passes.

use super::Reduction;
use crate::error::ReduceError;
use crate::interface::PassRecord;
use crate::passes;

/// A pass that has failed with so many candidates waits until the script is smaller by one part of so many.
const DEAR: u64 = 25;
const CHANGED: usize = 50;

/// A pass with what came of it last.
struct Scheduled {
    pass: Box<dyn passes::Pass>,
    /// The structure of the script that it could not make smaller, and how much must change before it is tried again.
    failed_on: Option<(usize, usize)>,
    worked: bool,
}

impl Reduction<'_> {
    /// Rounds over all passes until a round changes nothing. A pass is left out while the structure of the script is the
    /// one it has failed on already, or nearly so if that has cost many candidates.
    pub(super) fn rounds(&mut self, records: &mut Vec<PassRecord>) -> Result<(), ReduceError> {
        let mut passes: Vec<Scheduled> = passes::all()
            .into_iter()
            .map(|pass| Scheduled { pass, failed_on: None, worked: false })
            .collect();
        loop {
            let accepted = self.accepted;
            for entry in &mut passes {
                if self.over() {
                    return Ok(());
                }
                // After a success the others have their turn first.
                let early = entry.pass.is_last_resort() && self.accepted > accepted;
                entry.worked = false;
                let waits = |(failed, change): (usize, usize)| self.structure < failed + change;
                if early || entry.failed_on.is_some_and(waits) {
                    continue;
                }
                let start = (self.candidates, self.accepted, self.best.size.nodes);
                let missed = self.missed;
                self.pass = entry.pass.name();
                entry.pass.run(self)?;
                self.record(records, entry.pass.name(), start);
                entry.worked = self.accepted > start.1;
                let smaller = self.best.size.nodes < start.2 && !entry.pass.is_cosmetic();
                // What only nothing else could do may open a way for the others, even if nothing is gained yet.
                if smaller || (entry.worked && entry.pass.is_last_resort()) {
                    self.structure += start.2.saturating_sub(self.best.size.nodes).max(1);
                    entry.failed_on = None;
                    // Simpler assertions may have become superfluous, and with them much of what is still to do.
                    passes::tidy(self)?;
                } else {
                    let dear = self.missed - missed >= DEAR;
                    let change = if dear { self.best.size.nodes / CHANGED } else { 1 };
                    entry.failed_on = Some((self.structure, change.max(1)));
                }
            }
            // What worked goes first; otherwise the order stays.
            passes.sort_by_key(|entry| (entry.pass.is_last_resort(), !entry.worked));
            if self.over() || self.accepted == accepted {
                return Ok(());
            }
        }
    }

    pub(super) fn record(&self, records: &mut Vec<PassRecord>, name: &'static str, start: (u64, u64, usize)) {
        let place = records.iter().position(|record| record.name == name).unwrap_or_else(|| {
            records.push(PassRecord { name, candidates: 0, accepted: 0, saved: 0 });
            records.len() - 1
        });
        let record = &mut records[place];
        record.candidates += self.candidates - start.0;
        record.accepted += self.accepted - start.1;
        record.saved += start.2.saturating_sub(self.best.size.nodes);
    }
}
