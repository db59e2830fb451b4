//! What looking at a campaign costs: the time a report takes, and the CPU share of a dashboard.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use campaign::store::{Claim, Delta, KnownFinding, Place, Sample};
use campaign::{CampaignError, Finding, Identity, findings};
use generate::rng;
use report::Reader;

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// A finding of Z3 4.8.7, from which others are made.
const FINDING: &str = include_str!("finding.json");

/// The script it comes down to.
const SCRIPT: &str =
    "(declare-const a String)\n(assert (= (str.replace a \"\" a) \"<script>\"))\n(check-sat)\n";

/// What to measure.
#[derive(Clone, Debug)]
pub struct ReportCost {
    /// Numbers of findings.
    pub findings: Vec<usize>,
    /// How long a dashboard is watched.
    pub time: Duration,
    /// For campaigns and reports.
    pub out: PathBuf,
    /// This program, which is started again as the dashboard.
    pub program: PathBuf,
    pub rng_seed: u64,
    pub command: String,
}

impl ReportCost {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let mut draft = Draft::new("report", "Reports and the dashboard", &self.command);
        draft.rng_seed = Some(self.rng_seed);
        let mut speed = Table::new(
            "A report",
            &["findings", "seconds to read", "seconds to write", "files", "MB", "kB of the first page"],
        );
        let mut share = Table::new(
            "A dashboard that a page watches while a campaign runs",
            &[
                "findings",
                "seconds",
                "test cases meanwhile",
                "events",
                "pages asked for",
                "share of one core",
            ],
        );
        for (place, &count) in self.findings.iter().enumerate() {
            if watch.stopped() {
                draft.partial = Some("ended by the user".to_owned());
                break;
            }
            watch.progress(2 * place, 2 * self.findings.len(), &format!("a report of {count} findings"));
            let campaign = self.out.join(format!("campaign-{count}"));
            make(&campaign, count, self.rng_seed)?;
            let begun = Instant::now();
            let mut reader = Reader::new(&campaign, "bench").map_err(of_report)?;
            let overview = reader.read().map_err(of_report)?;
            let read = begun.elapsed();
            let begun = Instant::now();
            let to = self.out.join(format!("report-{count}"));
            let written = report::write(&overview, &campaign, &to).map_err(of_report)?;
            let wrote = begun.elapsed();
            let index = std::fs::metadata(&written.index).map_or(0, |file| file.len());
            speed.row([
                count.into(),
                hundredths(read.as_secs_f64()).into(),
                hundredths(wrote.as_secs_f64()).into(),
                written.files.into(),
                hundredths(written.bytes as f64 / 1e6).into(),
                (index / 1000).into(),
            ]);
            watch.progress(2 * place + 1, 2 * self.findings.len(), "a dashboard");
            let watched = self.watch_dashboard(&campaign, watch)?;
            share.row([
                count.into(),
                hundredths(watched.seconds).into(),
                watched.tests.into(),
                watched.events.into(),
                watched.pages.into(),
                Cell::percent(watched.cpu, watched.seconds),
            ]);
        }
        draft.summary.push(
            "The campaign is real but for its solvers: two workers whose test cases last as long as recorded ones. A page \
             is open at the dashboard, and asks for itself again whenever it is told that something has changed."
                .to_owned(),
        );
        draft.tables = vec![speed, share];
        Ok(draft.finish())
    }

    /// What a dashboard needs while a campaign runs and somebody looks.
    fn watch_dashboard(&self, out: &Path, watch: &dyn Watch) -> Result<Watched, BenchError> {
        let failed = |source| BenchError::Read { path: out.to_owned(), source };
        let mut server = Dashboard::start(&self.program, out).map_err(failed)?;
        let recorded: Vec<Duration> = [20, 35, 18, 60, 22].map(Duration::from_millis).to_vec();
        let worked: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2u64)
                .map(|number| {
                    let recorded = &recorded;
                    scope.spawn(move || {
                        let mut rng = rng::stream(self.rng_seed, number);
                        let place = Place::Folder(out.to_owned());
                        campaign::rehearse(&place, recorded, self.time, &mut rng, &|| watch.stopped())
                    })
                })
                .collect();
            server.look(self.time);
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let panicked = || CampaignError::Internal("a worker panicked".to_owned());
        let mut tests = 0;
        for one in worked {
            tests += one.unwrap_or_else(|_| Err(panicked()))?.tests;
        }
        Ok(Watched { tests, ..server.finish() })
    }
}

/// A dashboard that was watched.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    seconds: f64,
    cpu: f64,
    tests: u64,
    events: u64,
    pages: u64,
}

/// `osprey serve` in a process of its own, whose CPU time the system tells.
struct Dashboard {
    child: Child,
    address: String,
    begun: Instant,
    before: f64,
    watched: Watched,
}

impl Dashboard {
    fn start(program: &Path, out: &Path) -> std::io::Result<Dashboard> {
        let mut child = Command::new(program)
            .arg("serve")
            .arg(out)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let before = cpu(child.id());
        Ok(Dashboard {
            address: address.to_owned(),
            begun: Instant::now(),
            before,
            watched: Watched::default(),
            child,
        })
    }

    /// What a page in a browser does. A server that does not answer ends it: the counts tell.
    fn look(&mut self, time: Duration) {
        self.get("/");
        let Some(mut events) = self.ask("/events") else { return };
        let _ = events.set_read_timeout(Some(Duration::from_millis(500)));
        let mut buffer = [0; 4096];
        while self.begun.elapsed() < time {
            let Ok(read) = events.read(&mut buffer) else { continue };
            if read == 0 {
                return;
            }
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            self.watched.events += text.matches("event: ").count() as u64;
            for (event, page) in [("event: findings", "/"), ("event: curves", "/time.html")] {
                if text.contains(event) {
                    self.get(page);
                }
            }
        }
    }

    fn ask(&self, path: &str) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).ok()?;
        Some(stream)
    }

    fn get(&mut self, path: &str) {
        let Some(mut stream) = self.ask(path) else { return };
        if stream.read_to_end(&mut Vec::new()).is_ok_and(|bytes| bytes > 0) {
            self.watched.pages += 1;
        }
    }

    fn finish(mut self) -> Watched {
        let seconds = self.begun.elapsed().as_secs_f64();
        let cpu = cpu(self.child.id()) - self.before;
        let _ = self.child.kill();
        let _ = self.child.wait();
        Watched { seconds, cpu, ..self.watched }
    }
}

/// CPU seconds of a process so far.
fn cpu(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // SAFETY: sysconf only reads a constant of the system.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    (ticks(11) + ticks(12)) / per_second
}

/// Makes a campaign with so many findings, three of which are taken for one bug, and an hour of samples.
fn make(out: &Path, count: usize, rng_seed: u64) -> Result<(), BenchError> {
    let written = |source| BenchError::Write { path: out.to_owned(), source };
    match std::fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(written(error)),
        _ => {}
    }
    let bugs = out.join("bugs");
    std::fs::create_dir_all(&bugs).map_err(written)?;
    let place = Place::Folder(out.to_owned());
    let identity = Identity::of_runs(Duration::from_secs(2), 2048, rng_seed);
    place.create(&identity, &[]).map_err(CampaignError::from)?;
    let mut store = place.open().map_err(CampaignError::from)?;
    let template: Finding = serde_json::from_str(FINDING)
        .map_err(|error| BenchError::Malformed { path: "finding.json".into(), reason: error.to_string() })?;
    let mut leader = String::new();
    for number in 0..count {
        let mut finding = template.clone();
        finding.kind = oracle::Kind::ALL[number % oracle::Kind::ALL.len()];
        finding.signature = serde_json::from_value(serde_json::json!(format!("made up | {number}")))
            .map_err(|error| BenchError::Malformed { path: "signature".into(), reason: error.to_string() })?;
        finding.provenance.round = number as u64;
        let small = findings::Small { script: SCRIPT.to_owned(), witness: None, ground: None };
        finding.write(&bugs, SCRIPT, None, Some(&small))?;
        let hash = finding.hash();
        if number % 3 == 0 {
            leader.clone_from(&hash);
        }
        let known = KnownFinding {
            signature: finding.signature.to_string(),
            kind: finding.kind.to_string(),
            solver: finding.solver.clone(),
            folder: finding.folder_name(),
            round: number as u64,
            step: 0,
            duplicates: 0,
            flaky: false,
            group: leader.clone(),
            face: findings::Face::of(&finding, &findings::Rarity::default()).to_text(),
            hash,
        };
        if store.claim(&known, number as u64).map_err(CampaignError::from)? != Claim::New {
            let reason = format!("finding {number} is not new");
            return Err(BenchError::Malformed { path: out.to_owned(), reason });
        }
    }
    let now = campaign::store::now();
    let sample = |(at, engine): (u64, &str)| Sample {
        at,
        engine: engine.to_owned(),
        tests: 500,
        runs: 1000,
        cpu: 10_000_000,
        findings: 1,
        novel: 3,
        functions: 5,
        blocks: 40,
    };
    let moments = (0..360).flat_map(|step| {
        ["diver", "storm", "typefuzz", "generate"].map(|engine| (now - 3600 + 10 * step, engine))
    });
    let mut delta = Delta { samples: moments.map(sample).collect(), ..Delta::default() };
    delta.totals.tests = 720_000;
    delta.totals.elapsed = 3_600_000;
    store.merge(&delta).map_err(CampaignError::from)?;
    Ok(())
}

fn of_report(error: report::ReportError) -> BenchError {
    match error {
        report::ReportError::Campaign(error) => error.into(),
        other => BenchError::Usage(other.to_string()),
    }
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
