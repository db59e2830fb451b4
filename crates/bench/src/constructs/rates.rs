//! `osprey bench inputs`: how fast inputs are made and changed, and how many changes fail.

use std::sync::Arc;
use std::time::Duration;

use banditfuzz::generator::{Generator, Parameters};
use generate::rng;

use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// What is measured.
pub struct Settings {
    pub logics: Vec<String>,
    /// Inputs per logic.
    pub count: u64,
    pub rng_seed: u64,
    pub command: String,
}

/// The authors' program, as measured for this project: inputs per second, and failed mutations of strings.
const ORIGINAL: (&str, &str) = ("71 to 680", "41 to 45 % of strings");

/// Makes and changes inputs of each logic on one core.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("inputs", "Inputs of performance fuzzing: rates", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.summary.push(
        "Inputs made from nothing, and mutations with constructs chosen uniformly, each as text, per CPU second on one core."
            .to_owned(),
    );
    let mut table = Table::new(
        "",
        &["", "inputs per CPU s", "bytes per input", "mutations per CPU s", "failed mutations"],
    );
    for (number, logic) in settings.logics.iter().enumerate() {
        if watch.stopped() {
            draft.partial = Some("interrupted".to_owned());
            break;
        }
        watch.progress(number, settings.logics.len(), logic);
        let parameters = Parameters { logic: logic.clone(), ..Parameters::default() };
        let mut generator =
            Generator::new(&parameters, &[], Arc::from([])).map_err(banditfuzz::PerfError::from)?;
        let began = campaign::thread_cpu();
        let texts: Vec<String> = (0..settings.count)
            .map(|index| generator.fresh(&mut rng::stream(settings.rng_seed, index), None))
            .collect();
        let made = campaign::thread_cpu().saturating_sub(began);
        let began = campaign::thread_cpu();
        let mut failed = 0_u64;
        for (index, text) in texts.iter().enumerate() {
            let mut rng = rng::stream(settings.rng_seed + 1, index as u64);
            let mutant = generator.open(text).and_then(|mut opened| {
                let arms = opened.arms().count();
                opened.mutate(&mut rng, rng_below(arms, index))
            });
            failed += u64::from(mutant.is_none());
        }
        let changed = campaign::thread_cpu().saturating_sub(began);
        let bytes: usize = texts.iter().map(String::len).sum();
        table.row([
            logic.as_str().into(),
            rate(settings.count, made),
            (bytes as f64 / settings.count.max(1) as f64).round().into(),
            rate(settings.count, changed),
            Cell::percent(failed as f64, settings.count as f64),
        ]);
    }
    table.row([
        "BanditFuzz (the authors' program)".into(),
        ORIGINAL.0.into(),
        Cell::None,
        Cell::None,
        ORIGINAL.1.into(),
    ]);
    draft.tables.push(table);
    Ok(draft.finish())
}

/// All arms in turn: each is as likely as any other.
fn rng_below(arms: usize, index: usize) -> usize {
    index % arms.max(1)
}

fn rate(count: u64, time: Duration) -> Cell {
    (count as f64 / time.as_secs_f64().max(1e-9)).round().into()
}
