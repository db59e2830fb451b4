//! The launcher's side of one fork server.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::coverage::{ProbeRequest, ProbeWay};
use crate::launch::{
    Capture, Child, CpuTime, Interrupted, Outcome, Program, QUIET, RunReply, Site, StartRequest, Stdio,
    children_of, pipe, socket_pair,
};

use super::ExecMode;
use super::job::{
    AT_INPUT_END, AT_MAIN, BINDING, BINDING_SETTING, CONTROL_FD, FORK_AT, Job, LIBRARY_FD, MAGIC, Report,
    Started, Usage,
};
use super::prefix::Prefix;
use super::probe::{FROM_INPUT, FROM_MAIN, PROBE};

/// A solver process that waits for jobs.
pub(super) struct Server {
    child: Child,
    control: OwnedFd,
    output: Stream,
    error: Stream,
    /// What its start has reached, of the code that is watched: part of every job's trace.
    reached: Vec<u32>,
}

/// One of its output streams. The jobs share the pipe one after the other.
struct Stream {
    read: OwnedFd,
    /// Kept so that we can undo what a job did to the open file.
    write: OwnedFd,
    /// What the solver printed before the fork: part of every job's output.
    earlier: Vec<u8>,
}

/// A fork server that did not work, and why: the run is to be made plainly.
pub(super) struct Failed(pub String);

/// A message from the server.
enum Message {
    Started(i32),
    Report(Report),
    Gone,
}

/// A server must reach its fork point within the run's own time, but short limits are for solving, not for starting.
const LEAST_START: Duration = Duration::from_secs(4);

/// How long a server may take to tell of a job that was killed.
const REPORT: Duration = Duration::from_secs(5);

/// A run may be over before its job has been forked: when to look again.
const UNFORKED: Duration = Duration::from_millis(1);

impl Server {
    /// Starts a server for runs like `request`, whose script has this prefix.
    pub fn start(
        site: &mut Site,
        request: &StartRequest,
        prefix: Prefix,
        library: Option<&OwnedFd>,
    ) -> Result<Result<Server, Failed>, Interrupted> {
        let prepared = match prepare(site, request, prefix, library) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(Failed(error.to_string()))),
        };
        let (program, output, error, (control, control_end)) = prepared;
        let mut extra = vec![(control_end.as_raw_fd(), CONTROL_FD)];
        extra.extend(library.map(|library| (library.as_raw_fd(), LIBRARY_FD)));
        extra.extend(site.probe_descriptors(request));
        let stdio = Stdio {
            input: site.null.as_raw_fd(),
            output: output.write.as_raw_fd(),
            error: error.write.as_raw_fd(),
            extra: &extra,
        };
        let child = match Child::start_server(&program, &stdio, &request.limits) {
            Ok(child) => child,
            Err(errno) => return Ok(Err(Failed(io::Error::from_raw_os_error(errno).to_string()))),
        };
        drop(control_end);
        let mut server = Server { child, control, output, error, reached: Vec::new() };
        match server.await_ready(site, request) {
            Ok(Ok(())) => {
                server.reached = site.reached_by_start(request);
                Ok(Ok(server))
            }
            Ok(Err(failed)) => {
                server.stop();
                Ok(Err(failed))
            }
            Err(interrupted) => {
                server.stop();
                Err(interrupted)
            }
        }
    }

    fn await_ready(
        &mut self,
        site: &Site,
        request: &StartRequest,
    ) -> Result<Result<(), Failed>, Interrupted> {
        let deadline = Instant::now() + request.limits.wall.max(LEAST_START);
        let mut stdout = Capture::new(&self.output.read, request.limits.stdout);
        let mut stderr = Capture::new(&self.error.read, request.limits.stderr);
        let failed = |reason: &str| Ok(Err(Failed(reason.to_owned())));
        loop {
            let control = self.control.as_raw_fd();
            let woken =
                site.poller.step(&mut stdout, &mut stderr, control, Some(deadline), Instant::now())?;
            if woken.control {
                match self.receive() {
                    Message::Started(0) => return failed("it has several threads where it would be forked"),
                    Message::Started(_) => break,
                    _ => return failed("it ended before it could be forked"),
                }
            }
            if woken.child && self.child.has_ended() {
                return failed("it ended before it could be forked");
            }
            if woken.expired || stdout.truncated || stderr.truncated {
                return failed("it did not get to where it could be forked");
            }
        }
        stdout.drain();
        stderr.drain();
        self.output.earlier = stdout.bytes;
        self.error.earlier = stderr.bytes;
        Ok(Ok(()))
    }

    pub fn pid(&self) -> libc::pid_t {
        self.child.pid
    }

    /// Runs one job on the input file that is in place; it starts to read at `offset`.
    pub fn run(
        &mut self,
        site: &mut Site,
        request: &StartRequest,
        offset: usize,
    ) -> Result<Result<RunReply, Failed>, Interrupted> {
        let limits = &request.limits;
        let mut stdout = self.output.capture(limits.stdout);
        let mut stderr = self.error.capture(limits.stderr);
        let start = Instant::now();
        let deadline = start.checked_add(limits.wall);
        let job = Job {
            memory: limits.memory.unwrap_or(0),
            cpu_seconds: limits.cpu_seconds(),
            file_size: limits.file_size,
            offset: offset as u64,
            brief: u64::from(request.brief),
        };
        if !self.send(&job) {
            return Ok(Err(Failed("its fork server died".to_owned())));
        }
        let (mut timed_out, mut truncated) = (false, false);
        let mut killed: Option<Instant> = None;
        let report = loop {
            let over = timed_out || truncated;
            let until = if let Some(killed) = killed {
                Some(killed + REPORT)
            } else if over {
                Some(Instant::now() + UNFORKED)
            } else {
                deadline
            };
            let control = self.control.as_raw_fd();
            let woken = site.poller.step(&mut stdout, &mut stderr, control, until, start + QUIET)?;
            if woken.control {
                match self.receive() {
                    Message::Started(_) => return Ok(Err(Failed("it cannot be forked".to_owned()))),
                    Message::Report(report) => break report,
                    Message::Gone => return Ok(Err(Failed("its fork server died".to_owned()))),
                }
            }
            // Jobs share the server's side of the wall: one may stop it, and no report would ever come.
            if woken.child && self.child.has_stopped() {
                return Ok(Err(Failed("its fork server was stopped".to_owned())));
            }
            if killed.is_some_and(|killed| killed.elapsed() >= REPORT) {
                return Ok(Err(Failed("its fork server does not answer".to_owned())));
            }
            if !over {
                truncated = stdout.truncated || stderr.truncated;
                timed_out = !truncated && woken.expired;
            }
            if (timed_out || truncated) && killed.is_none() {
                killed = self.kill_job().then(Instant::now);
                if killed.is_none() && start.elapsed() > limits.wall + LEAST_START {
                    return Ok(Err(Failed("its fork server does not fork".to_owned())));
                }
            }
        };
        Ok(Ok(RunReply {
            exit: Outcome::exit_of(report.status),
            timed_out,
            output_truncated: truncated,
            cpu: cpu_time(report.child),
            server: cpu_time(report.server),
            wall: start.elapsed(),
            peak_kib: report.peak_kib,
            mode: request.mode,
            stdout: finish(stdout),
            stderr: finish(stderr),
            fallback: None,
            stack: None,
            sites: request.probe.as_ref().map(|_| Ok(self.reached.clone())),
        }))
    }

    /// Kills the job that is running; `false` if it has not been forked yet.
    fn kill_job(&self) -> bool {
        let jobs = children_of(self.child.pid);
        for job in &jobs {
            // Twice, as it may not have its own group yet.
            // SAFETY: `kill` has no effect on memory; the numbers are those of the server's children a moment ago.
            unsafe {
                libc::kill(-job, libc::SIGKILL);
                libc::kill(*job, libc::SIGKILL);
            }
        }
        !jobs.is_empty()
    }

    fn send(&self, job: &Job) -> bool {
        let size = size_of::<Job>();
        // SAFETY: `Job` is made of integers without padding, and `size` bytes of it are read during the call only.
        let sent = unsafe {
            libc::send(self.control.as_raw_fd(), (&raw const *job).cast(), size, libc::MSG_NOSIGNAL)
        };
        sent == size as isize
    }

    fn receive(&self) -> Message {
        let mut bytes = [0u64; size_of::<Report>() / 8];
        let room = size_of_val(&bytes);
        // SAFETY: the kernel writes at most `room` bytes into a buffer of that size.
        let length = unsafe {
            libc::recv(self.control.as_raw_fd(), bytes.as_mut_ptr().cast(), room, libc::MSG_DONTWAIT)
        };
        // SAFETY: both messages are plain numbers, and the buffer is aligned and large enough for either.
        let (started, report) =
            unsafe { (bytes.as_ptr().cast::<Started>().read(), bytes.as_ptr().cast::<Report>().read()) };
        if length == size_of::<Started>() as isize && started.magic == MAGIC {
            Message::Started(started.pid)
        } else if length == size_of::<Report>() as isize && report.magic == MAGIC {
            Message::Report(report)
        } else {
            Message::Gone
        }
    }

    /// Kills and reaps it. A job of its own dies with it.
    pub fn stop(self) {
        self.child.kill();
        self.child.wait();
    }
}

impl Stream {
    fn new() -> io::Result<Self> {
        let (read, write) = pipe()?;
        Ok(Stream { read, write, earlier: Vec::new() })
    }

    fn capture(&self, limit: usize) -> Capture {
        // An earlier job may have made the shared pipe non-blocking.
        // SAFETY: the descriptor is ours and open; `F_SETFL` takes an integer.
        unsafe { libc::fcntl(self.write.as_raw_fd(), libc::F_SETFL, 0) };
        Capture::new(&self.read, limit).after(&self.earlier)
    }
}

fn cpu_time(usage: Usage) -> CpuTime {
    CpuTime { user: Duration::from_micros(usage.user), kernel: Duration::from_micros(usage.system) }
}

fn finish(mut capture: Capture) -> Vec<u8> {
    capture.drain();
    capture.bytes
}

type Prepared = (Program, Stream, Stream, (OwnedFd, OwnedFd));

/// All that a server needs before it can be started.
fn prepare(
    site: &mut Site,
    request: &StartRequest,
    prefix: Prefix,
    library: Option<&OwnedFd>,
) -> io::Result<Prepared> {
    let at = if request.mode == ExecMode::PrefixSnapshot {
        site.scratch.place_input(&prefix.padded(&request.input))?;
        AT_INPUT_END
    } else {
        AT_MAIN
    };
    // Our own host clears nothing up.
    let program = library.map(|_| Path::new(OsStr::from_bytes(&request.program)));
    let told = site.tuning.server(program, &request.limits);
    let allocator = site.tuning.allocator(request.mode, &request.limits, &request.env);
    let environment = site.environment(&request.env).and_then(|mut env| {
        env.extend(allocator);
        env.push(assignment(FORK_AT, at)?);
        // The last of two with one name would not count.
        let bound = request.env.iter().any(|entry| entry.starts_with(b"LD_BIND_NOW="));
        if library.is_some() && told.is_some() && !bound && site.tuning.binds(&request.program) {
            env.push(assignment(BINDING, BINDING_SETTING)?);
        }
        env.extend(told);
        if library.is_some() {
            env.push(preload()?);
        }
        env.extend(request.probe.as_ref().and_then(probe_variable));
        site.program(request, env)
    });
    let program = environment.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    Ok((program, Stream::new()?, Stream::new()?, socket_pair()?))
}

/// The variable by which the loader is told of our library.
pub(crate) fn preload() -> Option<CString> {
    CString::new(format!("LD_PRELOAD=/proc/self/fd/{LIBRARY_FD}")).ok()
}

/// The variable by which a process is told to watch itself.
pub(crate) fn probe_variable(probe: &ProbeRequest) -> Option<CString> {
    match probe.way {
        ProbeWay::Main | ProbeWay::Host => assignment(PROBE, FROM_MAIN),
        ProbeWay::Input => assignment(PROBE, FROM_INPUT),
        ProbeWay::Executed => None,
    }
}

fn assignment(name: &str, value: &str) -> Option<CString> {
    CString::new(format!("{}={}", name.trim_end_matches('\0'), value.trim_end_matches('\0'))).ok()
}
