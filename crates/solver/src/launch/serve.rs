//! The launcher process and its guard.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::coverage::{Probe, ProbeWay, Probes};
use crate::fast::job::LIBRARY_FD;
use crate::fast::{ExecMode, FastAttempt, ServerPool, ServerPoolConfig, Tuning, preload, probe_variable};
use crate::host;

use super::child::{Child, Program, Stdio, pipe};
use super::locate::this_executable_serves;
use super::outcome::{CpuTime, Exit, Outcome};
use super::poll::{Capture, Ended, Interrupted, Poller, QUIET};
use super::reap::Reaper;
use super::scratch::Scratch;
use super::trace::Tracer;
use super::wall::{Enclosure, WRITABLE_VARIABLE, WallChoice};
use super::wire::{Frames, Reply, Request, RunReply, StartRequest};

/// The hidden first argument that makes an executable the launcher.
pub(super) const LAUNCHER_ARGUMENT: &str = "__launcher";

/// The last argument of a launcher that does not tune its runs, and of one that does.
pub(super) const UNTUNED: &str = "untuned";
pub(super) const TUNED: &str = "tuned";

/// To be called first in `main`: if this process was started to be a launcher or a library host it becomes one and
/// never returns. First, because a launcher must be small: nothing else has been loaded or allocated yet.
pub fn serve_if_asked() {
    this_executable_serves();
    let mut args = std::env::args_os().skip(1);
    let Some(first) = args.next() else { return };
    if first == LAUNCHER_ARGUMENT {
        be_guard(args.collect())
    } else if first == host::HOST_ARGUMENT {
        host::run(args.collect())
    }
}

/// The guard: makes the scratch directory, forks the launcher, waits for its end and clears up behind it.
fn be_guard(args: Vec<OsString>) -> ! {
    let stream = detach();
    let mut frames = Frames::new(stream);
    let number = |at: usize, or: u64| args.get(at).and_then(|text| text.to_str()?.parse().ok()).unwrap_or(or);
    let parent = args.first().filter(|parent| !parent.is_empty()).map(PathBuf::from);
    let pool = ServerPoolConfig { servers: number(1, 8) as usize, snapshot_after: number(2, 4) as u32 };
    let wall: WallChoice = args.get(3).and_then(|word| word.to_str()?.parse().ok()).unwrap_or_default();
    let tuned = args.get(4).is_none_or(|word| word != UNTUNED);
    let (reaper, scratch) =
        match Reaper::new().and_then(|reaper| Ok((reaper, Scratch::new(parent.as_deref())?))) {
            Ok(both) => both,
            Err(error) => {
                // If the worker is gone as well there is nobody to tell.
                let _ = frames.send_reply(&Reply::Disk(format!("no scratch directory: {error}")));
                exit(1)
            }
        };
    // SAFETY: `getpid` always succeeds and touches no memory.
    let guard = unsafe { libc::getpid() };
    // SAFETY: this process has one thread, so the child is whole and may go on as usual.
    match unsafe { libc::fork() } {
        -1 => {
            let _ = frames.send_reply(&Reply::Trouble(std::io::Error::last_os_error().to_string()));
            scratch.remove();
            exit(1)
        }
        0 => {
            let enclosure = Enclosure::build(wall, &scratch);
            // After the wall: a process that changes its rights forgets this.
            // SAFETY: both calls take integers; the process has one thread.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong);
                if libc::getppid() != guard {
                    exit(1);
                }
            }
            be_launcher(frames, scratch, pool, enclosure, Tuning::new(tuned))
        }
        launcher => {
            watch_over(launcher);
            reaper.kill_strays(&[]);
            // Only now, with our end of the socket, does the worker learn that the launcher is gone.
            scratch.remove();
            exit(0)
        }
    }
}

/// Waits for the launcher's end. Nobody has a reason to stop it but a solver that wants to outlive its limits, where the
/// wall does not keep it from that.
fn watch_over(launcher: libc::pid_t) {
    loop {
        let mut status = 0;
        // SAFETY: `status` lives through the call.
        let changed = unsafe { libc::waitpid(launcher, &mut status, libc::WUNTRACED) };
        if changed == launcher && !libc::WIFSTOPPED(status) {
            return;
        }
        if changed == launcher {
            // SAFETY: `kill` has no effect on memory; the launcher is our child and has not been waited for.
            unsafe { libc::kill(launcher, libc::SIGKILL) };
        }
    }
}

fn exit(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it runs afterwards.
    unsafe { libc::_exit(code) }
}

/// Leaves the fuzzer's session, descriptors and terminal, and takes the socket from standard input.
fn detach() -> UnixStream {
    // SAFETY: the process has one thread and has just begun, so no descriptor that is closed here has an owner; the
    // signal set and the path live through their calls; `socket` is a fresh descriptor that only the returned stream
    // owns.
    unsafe {
        libc::setsid();
        libc::umask(0o077);
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGCHLD] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        if libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, libc::c_uint::MAX, 0 as libc::c_uint) != 0
        {
            for fd in 3..1024 {
                libc::close(fd);
            }
        }
        let socket = libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if socket < 0 || null < 0 || libc::dup2(null, 0) < 0 || libc::dup2(null, 1) < 0 {
            exit(1);
        }
        libc::close(null);
        UnixStream::from_raw_fd(socket)
    }
}

/// What every run needs, plain or fast.
pub(crate) struct Site {
    pub poller: Poller,
    pub reaper: Reaper,
    pub scratch: Scratch,
    /// `/dev/null`, for standard input.
    pub null: OwnedFd,
    pub tuning: Tuning,
    env: Vec<CString>,
    enclosure: Enclosure,
    probes: Probes,
}

impl Site {
    /// The cleaned environment with a run's own variables, as `execve` wants it.
    pub fn environment(&self, own: &[Vec<u8>]) -> Option<Vec<CString>> {
        let name =
            |entry: &[u8]| entry.iter().position(|byte| *byte == b'=').map(|end| entry[..=end].to_vec());
        let names: Vec<_> = own.iter().map(|entry| name(entry)).collect();
        let mut all: Vec<CString> =
            self.env.iter().filter(|entry| !names.contains(&name(entry.as_bytes()))).cloned().collect();
        for entry in own {
            all.push(CString::new(entry.as_slice()).ok()?);
        }
        Some(all)
    }

    /// The descriptors that a process must have for its probe, and their places.
    pub fn probe_descriptors(&self, request: &StartRequest) -> Vec<(RawFd, RawFd)> {
        self.probe_of(request).map(Probe::descriptors).unwrap_or_default()
    }

    /// What the start of a server for such requests has reached, as far as it belongs to the traces of its jobs.
    pub fn reached_by_start(&mut self, request: &StartRequest) -> Vec<u32> {
        let probe = request.probe.as_ref().and_then(|probe| self.probes.get(probe).ok());
        // A trace without them is a worse one, no wrong one.
        probe.and_then(|probe| probe.take_start().ok()).unwrap_or_default()
    }

    fn probe_of(&self, request: &StartRequest) -> Option<&Probe> {
        self.probes.made(request.probe.as_ref()?)
    }

    /// What a request asks for, to be executed in the scratch directory and behind the wall. `None` if there is a zero
    /// byte in it (the worker has checked that already).
    pub fn program(&self, request: &StartRequest, env: Vec<CString>) -> Option<Program> {
        // Made by `mkdtemp` from a C string: there is no zero byte in it.
        let directory = CString::new(self.scratch.run().as_os_str().as_bytes()).unwrap_or_default();
        Program::new(&request.program, &request.args, env, directory, self.enclosure.rules())
    }
}

fn be_launcher(
    mut frames: Frames<UnixStream>,
    scratch: Scratch,
    pool: ServerPoolConfig,
    enclosure: Enclosure,
    tuning: Tuning,
) -> ! {
    let site = Reaper::new().and_then(|reaper| {
        let poller = Poller::new(frames.stream().as_raw_fd())?;
        let null = File::open("/dev/null")?.into();
        let mut env: Vec<CString> = std::env::vars_os()
            .filter(|(name, _)| name != "TMPDIR" && name != WRITABLE_VARIABLE)
            .filter_map(|(name, value)| variable(&name.into_vec(), value.as_bytes()))
            .collect();
        env.extend(variable(b"TMPDIR", scratch.run().as_os_str().as_bytes()));
        let ready =
            Reply::Ready { scratch: scratch.base().as_os_str().as_bytes().to_vec(), wall: enclosure.wall() };
        frames.send_reply(&ready)?;
        Ok((poller, reaper, null, env))
    });
    let (poller, reaper, null, env) = match site {
        Ok(parts) => parts,
        Err(error) => {
            let _ = frames.send_reply(&Reply::Trouble(error.to_string()));
            exit(1)
        }
    };
    let probes = Probes::new(tuning.huge_pages());
    let mut site = Site { poller, reaper, scratch, null, tuning, env, enclosure, probes };
    let mut pool = ServerPool::new(pool);
    // Until the worker hangs up, or something is so wrong that the worker had better start another launcher.
    while serve_one(&mut frames, &mut site, &mut pool).is_ok() {}
    site.reaper.kill_strays(&[]);
    site.scratch.remove();
    exit(0)
}

fn variable(name: &[u8], value: &[u8]) -> Option<CString> {
    CString::new([name, b"=", value].concat()).ok()
}

fn serve_one(
    frames: &mut Frames<UnixStream>,
    site: &mut Site,
    pool: &mut ServerPool,
) -> Result<(), Interrupted> {
    site.poller.idle()?;
    let reply = match frames.receive_request().map_err(|_| Interrupted)?.ok_or(Interrupted)? {
        Request::Usage => {
            // SAFETY: all zeros is a valid value of this struct of integers.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: the kernel writes to a struct of the right type that lives through the call.
            unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
            Reply::Usage { cpu: CpuTime::of(&usage).total() }
        }
        Request::Run(request) => run_watched(site, pool, *request)?,
    };
    frames.send_reply(&reply).map_err(|_| Interrupted)
}

/// Runs with the probe that is asked for. A run that it spoils is made again without it: what a solver says must not
/// depend on whether it is watched.
fn run_watched(
    site: &mut Site,
    pool: &mut ServerPool,
    mut request: StartRequest,
) -> Result<Reply, Interrupted> {
    let Some(probe) = request.probe.clone() else { return run(site, pool, &request) };
    let file_size = request.limits.file_size;
    let mut reason = match site.probes.get(&probe) {
        Ok(made) => {
            // A trap is removed by the process that meets it, wherever in the file that is.
            request.limits.file_size = file_size.max(made.largest_file());
            None
        }
        Err(reason) => Some(reason),
    };
    if reason.is_none() {
        let mut reply = run(site, pool, &request)?;
        let Reply::Ran(ran) = &mut reply else { return Ok(reply) };
        let before = match ran.sites.take() {
            Some(Err(why)) => {
                reason = Some(why);
                Vec::new()
            }
            Some(Ok(before)) => before,
            None => Vec::new(),
        };
        match site.probes.get(&probe).map(|probe| probe.take(&before)) {
            _ if reason.is_some() => {}
            Ok(Ok(sites)) if ran.exit != Exit::Signaled(libc::SIGTRAP) => {
                ran.sites = Some(Ok(sites));
                return Ok(reply);
            }
            Ok(Err(error)) => reason = Some(error.to_string()),
            _ => {}
        }
    }
    request.probe = None;
    request.limits.file_size = file_size;
    let mut reply = run(site, pool, &request)?;
    if let Reply::Ran(ran) = &mut reply {
        // A solver that ends by this signal anyway has nothing against the probe.
        if reason.is_none() && ran.exit != Exit::Signaled(libc::SIGTRAP) {
            reason = Some("it does not bear traps".to_owned());
        }
        ran.sites = Some(match reason {
            None => Ok(Vec::new()),
            Some(reason) => {
                site.probes.give_up(&probe, &reason);
                pool.stop_watched(&probe);
                Err(reason)
            }
        });
    }
    Ok(reply)
}

fn run(site: &mut Site, pool: &mut ServerPool, request: &StartRequest) -> Result<Reply, Interrupted> {
    let mut fallback = None;
    let mut reply = None;
    if request.mode != ExecMode::Plain {
        match pool.run(site, request)? {
            FastAttempt::Ran(run) => reply = Some(Reply::Ran(run)),
            FastAttempt::NotYet => {}
            FastAttempt::Unavailable(reason) => fallback = Some(reason),
        }
    }
    let reply = match reply {
        Some(reply) => reply,
        None => run_plain(site, pool, request, fallback)?,
    };
    match site.scratch.clean() {
        Ok(false) => {}
        // Servers wait in the directory that is no longer ours.
        Ok(true) => {
            pool.stop_all();
            if !site.enclosure.follow(&site.scratch) {
                return Ok(Reply::Trouble(
                    "the wall around the scratch directory cannot be built again".into(),
                ));
            }
        }
        Err(error) => return Ok(Reply::of_error(&error)),
    }
    Ok(reply)
}

fn run_plain(
    site: &mut Site,
    pool: &mut ServerPool,
    request: &StartRequest,
    fallback: Option<String>,
) -> Result<Reply, Interrupted> {
    let trouble = |error: std::io::Error| Ok(Reply::of_error(&error));
    if let Err(error) = site.scratch.place_input(&request.input) {
        return trouble(error);
    }
    let mut extra = Vec::new();
    let mut own = Vec::new();
    let mut executed = None;
    let mut preloaded = false;
    if let (Some(probe), Some(made)) = (&request.probe, site.probe_of(request)) {
        executed = made.executable();
        if executed.is_none() {
            extra = made.descriptors();
            own.extend(probe_variable(probe));
        }
        preloaded = matches!(probe.way, ProbeWay::Main | ProbeWay::Input);
    }
    if preloaded && let Ok(library) = pool.library() {
        extra.push((library.as_raw_fd(), LIBRARY_FD));
        own.extend(preload());
        // Only where the library that takes it away again is there anyway: some programs do not bear it. And a run that
        // could not be fast is left alone: what kept it from that may have been the tuning.
        if fallback.is_none() {
            let first = site.tuning.first_run(request.mode, &request.limits, &request.env);
            own.extend(first.into_iter().flatten());
        }
    }
    let program = site.environment(&request.env).and_then(|mut env| {
        env.append(&mut own);
        let program = site.program(request, env)?;
        match executed {
            Some(file) => program.executing(file),
            None => Some(program),
        }
    });
    let Some(program) = program else { return Ok(Reply::CannotExec(libc::EINVAL)) };
    let traced = request.stack || executed.is_some();
    let ((out_end, out), (err_end, err)) = match pipe().and_then(|out| Ok((out, pipe()?))) {
        Ok(pipes) => pipes,
        Err(error) => return trouble(error),
    };
    let script = match request.stdin.then(|| File::open(site.scratch.input())).transpose() {
        Ok(script) => script,
        Err(error) => return trouble(error),
    };
    let stdio = Stdio {
        input: script.as_ref().map_or(site.null.as_raw_fd(), AsRawFd::as_raw_fd),
        output: out.as_raw_fd(),
        error: err.as_raw_fd(),
        extra: &extra,
    };
    let start = Instant::now();
    let started = match traced {
        true => Child::start_traced(&program, &stdio, &request.limits),
        false => Child::start(&program, &stdio, &request.limits).map(|child| (child, Ok(()))),
    };
    let (child, allowed) = match started {
        Ok(started) => started,
        Err(errno) => return Ok(Reply::CannotExec(errno)),
    };
    let mut tracer = (traced && allowed.is_ok()).then(|| Tracer::new(child));
    drop((out, err));
    let mut stdout = Capture::new(&out_end, request.limits.stdout);
    let mut stderr = Capture::new(&err_end, request.limits.stderr);
    let limit = request.limits.wall;
    let watched = Watched { child, tracer: tracer.as_mut(), probe: site.probe_of(request) };
    let ended = watch_child(site, watched, &mut stdout, &mut stderr, start, limit)?;
    child.kill();
    let (status, usage) = child.wait();
    site.reaper.kill_strays(&pool.pids());
    stdout.drain();
    stderr.drain();
    Ok(Reply::Ran(Box::new(RunReply {
        exit: Outcome::exit_of(status),
        timed_out: ended.timed_out,
        output_truncated: ended.truncated || stdout.truncated || stderr.truncated,
        cpu: CpuTime::of(&usage),
        server: CpuTime::default(),
        wall: ended.wall,
        peak_kib: usage.ru_maxrss as u64,
        mode: ExecMode::Plain,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
        fallback,
        stack: match allowed {
            _ if !request.stack => None,
            Ok(()) => tracer.and_then(Tracer::into_stack).map(Ok),
            Err(errno) => Some(Err(std::io::Error::from_raw_os_error(errno).to_string())),
        },
        sites: match allowed {
            Err(errno) if executed.is_some() => {
                Some(Err(format!("no ptrace ({})", std::io::Error::from_raw_os_error(errno))))
            }
            _ => None,
        },
    })))
}

/// A child, and who sees to it when it stands still.
struct Watched<'a> {
    child: Child,
    tracer: Option<&'a mut Tracer>,
    probe: Option<&'a Probe>,
}

/// Until the child has ended, by itself or because it went over a limit.
fn watch_child(
    site: &Site,
    mut watched: Watched,
    stdout: &mut Capture,
    stderr: &mut Capture,
    start: Instant,
    wall: Duration,
) -> Result<Ended, Interrupted> {
    let deadline = start.checked_add(wall);
    let mut ended = Ended { timed_out: false, truncated: false, wall };
    loop {
        let killed = ended.timed_out || ended.truncated;
        let woken = site.poller.step(stdout, stderr, -1, deadline.filter(|_| !killed), start + QUIET)?;
        if woken.child
            && let Some(tracer) = &mut watched.tracer
        {
            tracer.attend(watched.probe);
        }
        if woken.child && watched.child.has_ended() {
            ended.wall = start.elapsed();
            return Ok(ended);
        }
        if killed {
            continue;
        }
        ended.truncated = stdout.truncated || stderr.truncated;
        ended.timed_out = !ended.truncated && woken.expired;
        if ended.truncated || ended.timed_out {
            watched.child.kill();
        }
    }
}
