//! The fork servers a launcher keeps: a few, the least recently used one making room for a new one.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::coverage::ProbeRequest;
use crate::launch::{Interrupted, RunReply, Site, StartRequest};

use super::prefix::Prefix;
use super::server::{Failed, Server};
use super::tuning::is_roomy;
use super::{ExecMode, library};

/// How many servers, and when a prefix is worth one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerPoolConfig {
    pub servers: usize,
    pub snapshot_after: u32,
}

/// What came of the wish for a fast run.
pub(crate) enum FastAttempt {
    Ran(Box<RunReply>),
    /// Not worth it for this script, or not yet.
    NotYet,
    /// It does not work, for this reason.
    Unavailable(String),
}

/// How many prefixes and command lines are remembered that have no server (yet), and how many failures.
const MEMORY: usize = 256;

/// The sight of a command line at which a server is started for it: options that are drawn for one test case are seen
/// once, and a server for them costs more than it saves.
const SERVER_AFTER: u32 = 2;

/// The configured sight at which there are no servers but those that are asked for by name.
const NEVER: u32 = u32::MAX;

pub(crate) struct ServerPool {
    config: ServerPoolConfig,
    /// The most recently used last.
    servers: Vec<(Key, Server)>,
    seen: VecDeque<(u64, u32)>,
    failed: VecDeque<(u64, String)>,
    library: Option<OwnedFd>,
}

/// What a server can be used for again.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    program: Vec<u8>,
    args: Vec<Vec<u8>>,
    env: Vec<Vec<u8>>,
    mode: ExecMode,
    /// One head may be followed by a command of ours, for some scripts, and not for others.
    prefix: Prefix,
    text: Vec<u8>,
    /// Runs under a small limit of memory have servers that take no more room than a plain start.
    roomy: bool,
    probe: Option<ProbeRequest>,
}

impl Key {
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl ServerPool {
    pub fn new(config: ServerPoolConfig) -> Self {
        ServerPool {
            config,
            servers: Vec::new(),
            seen: VecDeque::new(),
            failed: VecDeque::new(),
            library: None,
        }
    }

    /// The servers' processes: children of the launcher that are to live on.
    pub fn pids(&self) -> Vec<libc::pid_t> {
        self.servers.iter().map(|(_, server)| server.pid()).collect()
    }

    pub fn stop_all(&mut self) {
        for (_, server) in self.servers.drain(..) {
            server.stop();
        }
    }

    /// Stops those that are watched like this.
    pub fn stop_watched(&mut self, probe: &ProbeRequest) {
        for (_, server) in self.servers.extract_if(.., |(key, _)| key.probe.as_ref() == Some(probe)) {
            server.stop();
        }
    }

    /// The preloaded library.
    pub fn library(&mut self) -> Result<&OwnedFd, String> {
        match &mut self.library {
            Some(library) => Ok(library),
            none => Ok(none.insert(library::open().map_err(|error| error.to_string())?)),
        }
    }

    /// Runs `request` behind a fork server if that can be done and is worth it.
    pub fn run(&mut self, site: &mut Site, request: &StartRequest) -> Result<FastAttempt, Interrupted> {
        let snapshot_after = self.config.snapshot_after;
        let server_after = if snapshot_after == NEVER { NEVER } else { snapshot_after.min(SERVER_AFTER) };
        match request.mode {
            ExecMode::PrefixSnapshot => {
                match self.run_after(site, request, snapshot_after)? {
                    // Any script can start before `main`.
                    FastAttempt::NotYet => {
                        let request = StartRequest { mode: ExecMode::ForkServer, ..request.clone() };
                        self.run_after(site, &request, server_after)
                    }
                    attempt => Ok(attempt),
                }
            }
            ExecMode::LibraryHost => self.run_after(site, request, server_after),
            _ => self.run_after(site, request, 1),
        }
    }

    /// The same behind one kind of server, which is started at this sight of what it is for.
    fn run_after(
        &mut self,
        site: &mut Site,
        request: &StartRequest,
        after: u32,
    ) -> Result<FastAttempt, Interrupted> {
        if request.stdin {
            return Ok(FastAttempt::Unavailable("it reads its script from standard input".to_owned()));
        }
        let prefix = match request.mode {
            ExecMode::PrefixSnapshot => match Prefix::of(&request.input, &request.args) {
                Some(prefix) => prefix,
                None => return Ok(FastAttempt::NotYet),
            },
            _ => Prefix::NOTHING,
        };
        let key = Key {
            program: request.program.clone(),
            args: request.args.clone(),
            env: request.env.clone(),
            mode: request.mode,
            prefix,
            text: request.input[..prefix.length].to_vec(),
            roomy: is_roomy(&request.limits),
            probe: request.probe.clone(),
        };
        let at = match self.servers.iter().position(|(other, _)| *other == key) {
            Some(at) => at,
            None => match self.add(site, request, prefix, &key, after)? {
                Ok(at) => at,
                Err(attempt) => return Ok(attempt),
            },
        };
        if let Err(error) = site.scratch.place_input(&request.input) {
            return Ok(FastAttempt::Unavailable(error.to_string()));
        }
        let (_, mut server) = self.servers.remove(at);
        let outcome = server.run(site, request, prefix.length);
        let attempt = match outcome {
            Ok(Ok(reply)) => {
                self.servers.push((key, server));
                FastAttempt::Ran(Box::new(reply))
            }
            Ok(Err(Failed(reason))) => {
                // Not remembered as a failure: this one job may have been what killed it.
                server.stop();
                FastAttempt::Unavailable(reason)
            }
            Err(interrupted) => {
                server.stop();
                return Err(interrupted);
            }
        };
        site.reaper.kill_strays_soon(|| self.pids());
        Ok(attempt)
    }

    /// Starts a server for `key` and returns its place, or what to do instead.
    fn add(
        &mut self,
        site: &mut Site,
        request: &StartRequest,
        prefix: Prefix,
        key: &Key,
        after: u32,
    ) -> Result<Result<usize, FastAttempt>, Interrupted> {
        let fingerprint = key.fingerprint();
        if let Some((_, reason)) = self.failed.iter().find(|(failed, _)| *failed == fingerprint) {
            return Ok(Err(FastAttempt::Unavailable(reason.clone())));
        }
        if self.sights(fingerprint) < after {
            return Ok(Err(FastAttempt::NotYet));
        }
        let library = match self.library_for(request) {
            Ok(library) => library,
            Err(reason) => return Ok(Err(self.fail(fingerprint, reason))),
        };
        if self.servers.len() >= self.config.servers {
            self.servers.remove(0).1.stop();
        }
        let library = library.then_some(self.library.as_ref()).flatten();
        let mut started = Server::start(site, request, prefix, library)?;
        if started.is_err() && library.is_some() && site.tuning.bind_lazily(&request.program) {
            started = Server::start(site, request, prefix, library)?;
        }
        site.reaper.kill_strays(&self.pids_and(started.as_ref().ok()));
        Ok(match started {
            Ok(server) => {
                self.servers.push((key.clone(), server));
                Ok(self.servers.len() - 1)
            }
            Err(Failed(reason)) => Err(self.fail(fingerprint, reason)),
        })
    }

    fn pids_and(&self, another: Option<&Server>) -> Vec<libc::pid_t> {
        self.pids().into_iter().chain(another.map(Server::pid)).collect()
    }

    fn fail(&mut self, fingerprint: u64, reason: String) -> FastAttempt {
        if self.failed.len() >= MEMORY {
            self.failed.pop_front();
        }
        self.failed.push_back((fingerprint, reason.clone()));
        FastAttempt::Unavailable(reason)
    }

    /// How often this prefix has been seen lately, now included.
    fn sights(&mut self, fingerprint: u64) -> u32 {
        let before = match self.seen.iter().position(|(seen, _)| *seen == fingerprint) {
            Some(at) => self.seen.remove(at).map_or(0, |(_, count)| count),
            None => 0,
        };
        if self.seen.len() >= MEMORY {
            self.seen.pop_front();
        }
        self.seen.push_back((fingerprint, before + 1));
        before + 1
    }

    /// Whether the run needs the preloaded library, which is then at hand.
    fn library_for(&mut self, request: &StartRequest) -> Result<bool, String> {
        if request.mode == ExecMode::LibraryHost {
            return Ok(false);
        }
        if request.env.iter().any(|entry| entry.starts_with(b"LD_PRELOAD=")) {
            return Err("it is to be started with another preloaded library".to_owned());
        }
        if !library::is_dynamic(Path::new(OsStr::from_bytes(&request.program))) {
            return Err("it is statically linked".to_owned());
        }
        self.library()?;
        Ok(true)
    }
}
