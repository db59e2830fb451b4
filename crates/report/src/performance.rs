//! What `osprey perf` has measured, where a folder holds that.

use std::path::Path;

use campaign::input;
use serde::{Deserialize, Serialize};

/// What a session of performance fuzzing leaves, even if it found nothing.
pub const RESULTS: &str = "results.json";

/// The parts of it that a report shows.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Performance {
    pub target: String,
    pub references: Vec<String>,
    pub logic: String,
    /// In the unit of the score.
    pub limit: f64,
    pub unit: String,
    pub methods: Vec<MethodMargin>,
    pub ranking: Vec<RankedConstruct>,
    /// Plots that are there: names of files and what they show.
    #[serde(skip)]
    pub plots: Vec<(&'static str, &'static str)>,
}

/// What the runs of a method came to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct MethodMargin {
    pub method: String,
    pub runs: u64,
    /// The PAR-2 margin of the best inputs of its runs, and the largest there can be.
    pub margin: f64,
    pub perfect: f64,
    pub inputs: u64,
    pub cpu: f64,
}

/// A construct and what it is expected to cost the target.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RankedConstruct {
    pub construct: String,
    pub expected: f64,
    pub low: f64,
    pub high: f64,
    pub pulls: f64,
    pub rewards: f64,
}

/// Plots of a session and what they show.
const PLOTS: [(&str, &str); 2] =
    [("cactus.svg", "Inputs solved within a time each"), ("curves.svg", "Best PAR-2 margin over CPU time")];

impl Performance {
    /// What is in this folder; nothing if no session of performance fuzzing has ended in it.
    pub fn read(out: &Path) -> Option<Performance> {
        let text = input::read_text(&out.join(RESULTS), input::LARGEST_FILE).ok()?;
        let read: Performance = serde_json::from_str(&text).ok()?;
        let plots = PLOTS
            .into_iter()
            .filter(|(name, _)| {
                // A link could lead to any file.
                out.join(name).symlink_metadata().is_ok_and(|about| about.is_file())
            })
            .collect();
        Some(Performance { plots, ..read })
    }
}
