//! Everything a report tells, as JSON.

use campaign::store::{Learned, Sample};
use campaign::{Identity, Totals, foreign};
use serde::Serialize;

use crate::bugs::Bug;
use crate::overview::{Condition, Overview, SeedCounts};
use crate::performance::Performance;

#[derive(Serialize)]
struct Document<'a> {
    osprey: &'static str,
    campaign: &'a str,
    /// Seconds since 1970.
    at: u64,
    condition: Condition,
    started: Option<u64>,
    identity: Option<&'a Identity>,
    totals: &'a Totals,
    seeds: Option<SeedCounts>,
    /// What each engine did in each interval.
    samples: &'a [Sample],
    /// What each choice of the scheduler has cost and brought: kind, name, counts.
    learned: &'a Learned,
    /// The most important first.
    bugs: &'a [Bug],
    performance: Option<&'a Performance>,
    notes: &'a [String],
}

/// The document.
pub fn json(overview: &Overview) -> String {
    let document = Document {
        osprey: env!("CARGO_PKG_VERSION"),
        campaign: &overview.name,
        at: overview.at,
        condition: overview.condition,
        started: overview.started,
        identity: overview.identity.as_deref(),
        totals: &overview.totals,
        seeds: overview.seeds,
        samples: &overview.samples,
        learned: &overview.learned,
        bugs: &overview.bugs,
        performance: overview.performance.as_deref(),
        notes: &overview.notes,
    };
    // Maps of it have strings for keys, so that it can always be written.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    foreign::json(&text).into_owned() + "\n"
}
