//! What the store of a campaign costs: workers whose solver runs are recorded times, on SQLite and on a server.
//!
//! Everything but the solvers is real: state, exchange, journal, store, and the server at the address.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use campaign::store::{Load, Place};
use campaign::{CampaignError, Identity, Rehearsed};
use generate::rng;

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// Milliseconds of two solver runs each, Z3 4.8.7 and 5.4.0 on 240 generated scripts of four logics.
const RECORDED: &str = include_str!("durations.txt");

/// What to measure.
#[derive(Clone, Debug)]
pub struct StoreCost {
    /// A server, without a schema; a schema is made for each measurement.
    pub server: Option<String>,
    /// Numbers of workers.
    pub workers: Vec<usize>,
    /// Of each measurement.
    pub time: Duration,
    /// For campaigns and journals.
    pub out: PathBuf,
    pub rng_seed: u64,
    pub command: String,
}

/// One measurement.
struct Measured {
    workers: usize,
    each: Vec<Rehearsed>,
    seconds: f64,
    load: Option<(Load, Load)>,
}

impl StoreCost {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let recorded: Vec<Duration> = RECORDED
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .map(Duration::from_millis)
            .collect();
        let mut draft = Draft::new("store", "The store, with many workers", &self.command);
        draft.rng_seed = Some(self.rng_seed);
        let mut speed = Table::new(
            "Test cases per worker and second; a store that costs nothing would be 100 %",
            &[
                "workers",
                "store",
                "test cases",
                "per worker and second",
                "of what was recorded",
                "beside SQLite",
            ],
        );
        let mut cost = Table::new(
            "Exchanges with the store",
            &["workers", "store", "per worker and second", "mean, ms", "longest, ms"],
        );
        let mut load = Table::new(
            "What the server has to do",
            &[
                "workers",
                "transactions per second",
                "transactions per worker and second",
                "kB of log per worker and second",
                "kB of tables",
            ],
        );
        let stores = if self.server.is_some() { 2 } else { 1 };
        for (place, &workers) in self.workers.iter().enumerate() {
            let mut on_disk = None;
            for number in 0..stores {
                if watch.stopped() {
                    draft.partial = Some("ended by the user".to_owned());
                    break;
                }
                let name = if number == 0 { "SQLite" } else { "PostgreSQL" };
                watch.progress(
                    place * stores + number,
                    stores * self.workers.len(),
                    &format!("{workers} on {name}"),
                );
                let server = self.server.as_deref().filter(|_| number == 1);
                let measured = self.measure(server, workers, &recorded, watch)?;
                let rate = measured.rate();
                let beside = on_disk.map_or(Cell::None, |on_disk| Cell::ratio(rate, on_disk));
                on_disk.get_or_insert(rate);
                speed.row([
                    workers.into(),
                    name.into(),
                    measured.sum(|one| one.tests as f64).into(),
                    rate.into(),
                    Cell::percent(measured.sum(|one| one.recorded), measured.sum(|one| one.seconds)),
                    beside,
                ]);
                let exchanges = measured.sum(|one| one.exchanges as f64);
                cost.row([
                    workers.into(),
                    name.into(),
                    tenths(exchanges / workers as f64 / measured.seconds).into(),
                    tenths(measured.sum(|one| one.exchanging) * 1e3 / exchanges.max(1.0)).into(),
                    tenths(measured.each.iter().map(|one| one.longest * 1e3).fold(0.0, f64::max)).into(),
                ]);
                if let Some((before, after)) = measured.load {
                    let transactions = (after.transactions - before.transactions) as f64 / measured.seconds;
                    let log = (after.log - before.log) as f64 / 1e3 / measured.seconds;
                    load.row([
                        workers.into(),
                        tenths(transactions).into(),
                        tenths(transactions / workers as f64).into(),
                        tenths(log / workers as f64).into(),
                        (after.tables / 1000).into(),
                    ]);
                }
            }
        }
        draft.summary.push(format!(
            "Workers take {} s each: rounds of test cases that last as long as recorded ones, with everything but the \
             solvers as in a campaign.",
            self.time.as_secs()
        ));
        draft.tables = vec![speed, cost, load];
        draft.notes.push(
            "All workers and the server share one machine, and a worker here needs no CPU time for its test cases."
                .to_owned(),
        );
        Ok(draft.finish())
    }

    fn measure(
        &self,
        server: Option<&str>,
        workers: usize,
        recorded: &[Duration],
        watch: &dyn Watch,
    ) -> Result<Measured, BenchError> {
        let folder = self.out.join(format!("{}-{workers}", if server.is_some() { "server" } else { "disk" }));
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(BenchError::Write { path: folder, source: error });
            }
            _ => {}
        }
        std::fs::create_dir_all(&folder)
            .map_err(|source| BenchError::Write { path: folder.clone(), source })?;
        let place = |number: usize| -> Result<Place, CampaignError> {
            Ok(match server {
                Some(server) => {
                    let more = if server.contains('?') { '&' } else { '?' };
                    let address = format!("{server}{more}schema=bench_{}_{workers}", std::process::id());
                    Place::named(&address, &folder.join(number.to_string()))?
                }
                None => Place::Folder(folder.clone()),
            })
        };
        let first = place(0)?;
        first
            .create(&Identity::of_runs(Duration::from_secs(2), 2048, self.rng_seed), &[])
            .map_err(CampaignError::from)?;
        let load = || first.load().map_err(CampaignError::from);
        let before = load()?;
        let begun = Instant::now();
        let worked: Vec<Result<Rehearsed, CampaignError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|number| {
                    let place = &place;
                    scope.spawn(move || {
                        let mut rng = rng::stream(self.rng_seed, number as u64);
                        campaign::rehearse(&place(number)?, recorded, self.time, &mut rng, &|| {
                            watch.stopped()
                        })
                    })
                })
                .collect();
            let panicked = || CampaignError::Internal("a worker panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
        });
        let seconds = begun.elapsed().as_secs_f64();
        let each = worked.into_iter().collect::<Result<Vec<_>, _>>()?;
        let load = before.zip(load()?);
        check(&first, &each)?;
        Ok(Measured { workers, each, seconds, load })
    }
}

/// What the store has is what the workers did.
fn check(place: &Place, each: &[Rehearsed]) -> Result<(), BenchError> {
    let stored = place.read().and_then(|mut store| store.totals()).map_err(CampaignError::from)?.tests;
    let made: u64 = each.iter().map(|one| one.tests).sum();
    match stored == made {
        true => Ok(()),
        false => Err(BenchError::Malformed {
            path: Path::new(&place.to_string()).to_owned(),
            reason: format!("{made} test cases were made, and the store has {stored}"),
        }),
    }
}

impl Measured {
    fn sum(&self, of: impl Fn(&Rehearsed) -> f64) -> f64 {
        self.each.iter().map(of).sum()
    }

    /// Test cases per worker and second.
    fn rate(&self) -> f64 {
        let rates = self.sum(|one| one.tests as f64 / one.seconds.max(0.001));
        (rates / self.workers as f64 * 1000.0).round() / 1000.0
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
