//! The pages of a campaign over HTTP, live while it runs. Nothing can be changed through it.
//!
//! - `access`: who may look; `news`: what has changed, for pages that are open; `answers`: pages and files by address
//!
//! One thread reads the campaign, and only while somebody looks; requests are answered from what it has read last.

mod access;
mod answers;
mod news;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};

use crate::error::ReportError;
use crate::overview::{Overview, Reader};

pub use access::Token;

/// Time between two looks at a campaign that somebody watches.
const PACE: Duration = Duration::from_secs(2);

/// Connections at the same time, and how long one may take to say what it wants.
const CONNECTIONS: usize = 500;
const PATIENCE: Duration = Duration::from_secs(10);

/// The campaign as it was read last.
#[derive(Clone)]
struct Seen {
    at: Instant,
    overview: Arc<Overview>,
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    /// The output folder.
    out: PathBuf,
    seen: watch::Receiver<Seen>,
    /// Asks for a look at the campaign.
    look: mpsc::Sender<()>,
    /// Pages that are open and want to be told.
    watchers: Arc<AtomicUsize>,
}

/// A server that has its port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

impl Server {
    /// Takes the port and reads the campaign once. Whoever listens beyond this machine needs a token.
    pub fn bind(
        mut reader: Reader,
        address: SocketAddr,
        token: Option<Token>,
    ) -> Result<Server, ReportError> {
        if token.is_none() && !address.ip().is_loopback() {
            return Err(ReportError::NeedsToken(address));
        }
        let overview = reader.read()?;
        let listener = TcpListener::bind(address).map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => ReportError::PortInUse(address),
            std::io::ErrorKind::PermissionDenied => ReportError::PortForbidden(address),
            _ => ReportError::Listen { address, source },
        })?;
        let failed = |source| ReportError::Listen { address, source };
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (publish, seen) = watch::channel(Seen { at: Instant::now(), overview: Arc::new(overview) });
        let (look, asked) = mpsc::channel();
        let watchers = Arc::new(AtomicUsize::new(0));
        let shared = Shared { out: reader.out().to_owned(), seen, look, watchers: Arc::clone(&watchers) };
        std::thread::Builder::new()
            .name("campaign".to_owned())
            .spawn(move || read(reader, &publish, &asked, &watchers))
            .map_err(failed)?;
        Ok(Server { listener, address, router: router(shared, access::Access::new(token, address)) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` says so.
    pub fn run(self, stop: impl Fn() -> bool) -> Result<(), ReportError> {
        let failed = |source| ReportError::Listen { address: self.address, source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            let serving = answer(listener, self.router);
            let stopped = async {
                while !stop() {
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
            };
            // Open pages would keep a server that waits for them.
            futures_util::future::select(Box::pin(serving), Box::pin(stopped)).await;
            Ok(())
        })
    }
}

/// Answers whoever connects. Those who do not say what they want are hung up on, so that they cannot keep others out.
async fn answer(listener: tokio::net::TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files: some will be closed.
            tokio::time::sleep(PACE / 4).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        tokio::spawn(async move {
            // Whoever goes away in the middle of an answer does not want it.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

fn router(shared: Shared, access: access::Access) -> Router {
    Router::new()
        .route("/", get(answers::bugs))
        .route("/index.html", get(answers::bugs))
        .route("/time.html", get(answers::time))
        .route("/campaign.html", get(answers::settings))
        .route("/finding/{page}", get(answers::finding))
        .route("/files/{finding}/{file}", get(answers::file))
        .route("/files/{finding}/duplicates/{file}", get(answers::duplicate))
        .route("/{name}", get(answers::named))
        .route("/events", get(news::events))
        .fallback(answers::missing)
        .with_state(shared)
        .layer(from_fn_with_state(Arc::new(access), access::guard))
}

/// Reads the campaign whenever somebody asks, and by itself while pages are open. Ends with the server.
fn read(
    mut reader: Reader,
    publish: &watch::Sender<Seen>,
    asked: &mpsc::Receiver<()>,
    watchers: &AtomicUsize,
) {
    loop {
        let waited = match watchers.load(Ordering::Relaxed) {
            0 => asked.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            _ => asked.recv_timeout(PACE),
        };
        if waited == Err(mpsc::RecvTimeoutError::Disconnected) {
            return;
        }
        while asked.try_recv().is_ok() {}
        if publish.borrow().at.elapsed() < PACE / 2 {
            continue;
        }
        let overview = match reader.read() {
            Ok(overview) => Arc::new(overview),
            // What was read before is still true of then.
            Err(error) => {
                let before = Arc::clone(&publish.borrow().overview);
                let mut overview = Overview::clone(&before);
                overview.notes = vec![format!("the campaign cannot be read at the moment: {error}")];
                Arc::new(overview)
            }
        };
        if publish.send(Seen { at: Instant::now(), overview }).is_err() {
            return;
        }
    }
}

impl Shared {
    /// The campaign, read within the last seconds if that is possible.
    async fn now(&self) -> Arc<Overview> {
        let mut seen = self.seen.clone();
        let last = seen.borrow_and_update().clone();
        if last.at.elapsed() < PACE || self.look.send(()).is_err() {
            return last.overview;
        }
        let changed = tokio::time::timeout(Duration::from_secs(5), seen.changed()).await;
        match changed {
            Ok(Ok(())) => Arc::clone(&seen.borrow().overview),
            // A server that is slow to answer must not make pages slow.
            _ => last.overview,
        }
    }
}
