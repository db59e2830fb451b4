//! What has changed, for pages that are open: server-sent events.
//!
//! `numbers` has the counts by name, to be put in place; `findings` says that the list is another one, `curves` that there
//! is more to draw. A page then asks for itself again and takes what it needs, so that there is one way to make pages.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use tokio::sync::watch;

use super::{Seen, Shared};
use crate::chart::short;
use crate::overview::Overview;
use crate::pages::{counted, date, duration, number};

/// Time between two drawings of curves.
const CURVES: Duration = Duration::from_secs(15);

/// What a page has been told.
struct Told {
    seen: watch::Receiver<Seen>,
    findings: String,
    numbers: String,
    drawn: Instant,
    /// Tests at the last drawing.
    tests: u64,
    waiting: Vec<Event>,
    _watcher: Watcher,
}

/// A page that is open.
struct Watcher(Arc<AtomicUsize>);

impl Watcher {
    fn new(watchers: &Arc<AtomicUsize>) -> Watcher {
        watchers.fetch_add(1, Ordering::Relaxed);
        Watcher(Arc::clone(watchers))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The events of one page.
pub async fn events(State(shared): State<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let overview = shared.now().await;
    let told = Told {
        seen: shared.seen.clone(),
        findings: identity_of_findings(&overview),
        numbers: String::new(),
        drawn: Instant::now(),
        tests: overview.totals.tests,
        waiting: Vec::new(),
        _watcher: Watcher::new(&shared.watchers),
    };
    // The reader may wait for somebody to ask: now there is somebody to tell.
    let _ = shared.look.send(());
    let stream = stream::unfold(told, |mut told| async move {
        loop {
            if let Some(event) = told.waiting.pop() {
                return Some((Ok(event), told));
            }
            told.seen.changed().await.ok()?;
            let overview = Arc::clone(&told.seen.borrow_and_update().overview);
            told.compare(&overview);
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

impl Told {
    /// Finds out what has to be told.
    fn compare(&mut self, overview: &Overview) {
        let findings = identity_of_findings(overview);
        if findings != self.findings {
            self.findings = findings;
            self.waiting.push(Event::default().event("findings").data("changed"));
        }
        if self.drawn.elapsed() >= CURVES && overview.totals.tests != self.tests {
            self.drawn = Instant::now();
            self.tests = overview.totals.tests;
            self.waiting.push(Event::default().event("curves").data("changed"));
        }
        let numbers = numbers(overview);
        if numbers != self.numbers {
            self.waiting.push(Event::default().event("numbers").data(&numbers));
            self.numbers = numbers;
        }
    }
}

/// What makes the list of findings, or what is said above it, another one; how often each was shown does not.
fn identity_of_findings(overview: &Overview) -> String {
    let mut all = overview.notes.join(" ");
    for (bug, entry) in overview.entries() {
        let handling = &entry.finding.handling;
        let handled = serde_json::to_string(handling).unwrap_or_default();
        for part in [bug.id.as_str(), &entry.name(), entry.stage(), bug.state(), &handled] {
            all += part;
            all.push(' ');
        }
    }
    all
}

/// The counts that pages show, by name.
fn numbers(overview: &Overview) -> String {
    let cpu = (overview.totals.solver_cpu() + overview.totals.own_cpu) as f64 / 1e6;
    serde_json::json!({
        "bugs": overview.found(),
        "tests": number(overview.totals.tests),
        "made": counted(overview.totals.tests, "test", "tests"),
        "elapsed": duration(overview.totals.elapsed()),
        "at": date(overview.at),
        "rate": format!("{:.1}", overview.rate()),
        "duplicates": number(overview.totals.duplicates),
        "cpu": duration(Duration::from_secs_f64(cpu)),
        "blocks": format!("{} blocks", short(overview.reached().1 as f64)),
        "condition": overview.condition.words(),
        "running": overview.condition.is_running().to_string(),
    })
    .to_string()
}
