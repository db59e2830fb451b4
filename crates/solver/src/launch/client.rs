//! The worker's end of a launcher.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::coverage::Trace;
use crate::fast::ExecMode;
use crate::fast::job::INPUT_NAME;
use crate::fast::tuning_wanted;
use crate::limits::Limits;

use super::error::LaunchError;
use super::invocation::{INPUT, Invocation};
use super::locate::launcher_program;
use super::outcome::{CpuTime, Outcome, tick};
use super::reap::{children_of, is_stopped};
use super::scratch::{IN_MEMORY, remove_tree};
use super::serve::{LAUNCHER_ARGUMENT, TUNED, UNTUNED};
use super::wall::{WRITABLE_VARIABLE, Wall, WallChoice};
use super::wire::{Frames, Reply, Request, RunReply, StartRequest};

/// The variables a solver gets from our environment. Everything else could make two machines disagree.
const KEPT_VARIABLES: [&str; 10] = [
    "PATH",
    "HOME",
    "LD_LIBRARY_PATH",
    "JAVA_HOME",
    "ASAN_OPTIONS",
    "LSAN_OPTIONS",
    "MSAN_OPTIONS",
    "TSAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LLVM_PROFILE_FILE",
];

/// How a launcher is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherConfig {
    /// The launcher's executable; found by [`launcher_program`] if not given.
    pub launcher: Option<PathBuf>,
    /// Where the scratch directory is made; in memory (`/dev/shm`), else in the temporary directory, if not given.
    pub scratch: Option<PathBuf>,
    /// How many fork servers are kept at once (at most 32); as many as the machine has room for if not told.
    pub servers: usize,
    /// At which sight of the same prefix a snapshot of it is made; until then its scripts are forked just before `main`. The
    /// first run behind a new snapshot costs what two or three of those cost. Library hosts and these fork servers are
    /// started at the second sight of a command line, or at this one if that is earlier; `u32::MAX` is for none of them.
    pub snapshot_after: u32,
    /// The wall around solvers; what the user's environment says if not told.
    pub wall: WallChoice,
    /// Whether runs that may start fast are made to cost the kernel less; what the user's environment says if not told.
    pub tuned: bool,
}

impl Default for LauncherConfig {
    fn default() -> Self {
        LauncherConfig {
            launcher: None,
            scratch: None,
            servers: affordable_servers(),
            snapshot_after: 4,
            wall: WallChoice::of_user(),
            tuned: tuning_wanted(),
        }
    }
}

/// Fork servers that an eighth of the memory holds, with a launcher for every core. A campaign goes from one logic to the
/// next, and each of them wants servers of its own.
fn affordable_servers() -> usize {
    /// What a waiting solver occupies, amply: Z3 5.4.0 has 20 MB of its own and shares its code.
    const SERVER: u64 = 48 << 20;
    // SAFETY: sysconf takes a number, touches no memory of ours and says -1 for what it does not know.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    // SAFETY: as above.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let memory = u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(0);
    let memory = memory.min(container_memory().unwrap_or(u64::MAX));
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    usize::try_from(memory / 8 / cores / SERVER).unwrap_or(LEAST_SERVERS).clamp(LEAST_SERVERS, MOST_SERVERS)
}

/// What the container, or any other control group around us, may use.
fn container_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    // `0::/a/b` in version 2, `4:memory:/a/b` in version 1. A container may see its own group as the root.
    let files = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        match controllers {
            "" => Some(("/sys/fs/cgroup", group, "memory.max")),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Some(("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
            }
            _ => None,
        }
    });
    let limits = files.flat_map(|(root, group, file)| {
        let group = Path::new(group.trim_start_matches('/'));
        group.ancestors().filter_map(move |part| {
            std::fs::read_to_string(Path::new(root).join(part).join(file)).ok()?.trim().parse::<u64>().ok()
        })
    });
    limits.min()
}

const LEAST_SERVERS: usize = 8;

/// Each has five descriptors of the launcher, which must stay below those that are handed to servers.
const MOST_SERVERS: usize = 32;

/// CPU time of ours, not of solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnUsage {
    /// This process, all threads.
    pub worker: Duration,
    /// The launcher.
    pub launcher: Duration,
}

/// Runs solvers, one at a time. Each worker thread has its own, so there is nothing to lock.
pub struct Launcher {
    config: LauncherConfig,
    launcher: Option<LauncherProcess>,
}

struct LauncherProcess {
    guard: Child,
    frames: Frames<UnixStream>,
    scratch: PathBuf,
    wall: Wall,
    /// The patience that the socket is set to.
    patience: Duration,
}

/// Attempts before a launcher that dies is given up.
pub const ATTEMPTS: u32 = 3;

/// How much longer than its wall-clock limit a run may take before the launcher is given up.
const GRACE: Duration = Duration::from_secs(60);

/// How much longer than its wall-clock limit a run may take before we look whether the launcher has been stopped.
const SUSPICION: Duration = Duration::from_secs(1);

impl Launcher {
    /// Starts a launcher.
    pub fn new(config: LauncherConfig) -> Result<Self, LaunchError> {
        let launcher = LauncherProcess::start(&config)?;
        Ok(Launcher { config, launcher: Some(launcher) })
    }

    /// Runs a solver. An error is about us or about a program that cannot be executed at all; whatever a solver does
    /// once it runs is an outcome.
    pub fn run(&mut self, invocation: &Invocation) -> Result<Outcome, LaunchError> {
        let request = resolve(invocation)?;
        let limits = &invocation.limits;
        let reply = self.ask(&Request::Run(Box::new(request)), limits.wall)?;
        match reply {
            Reply::Ran(run) => Ok(outcome(*run, limits)),
            Reply::CannotExec(errno) => Err(LaunchError::from_exec(invocation.program.clone(), errno)),
            Reply::Disk(_) if self.leave_memory() => self.run(invocation),
            other => Err(self.give_up(other)),
        }
    }

    /// The file system in memory has filled up; the temporary directory may have room. Tells whether there is another launcher to
    /// be had for which that is worth a try.
    fn leave_memory(&mut self) -> bool {
        let temporary = std::env::temp_dir();
        let in_memory = |path: &Path| path.starts_with(IN_MEMORY);
        let leaves = self.config.scratch.is_none()
            && self.launcher.as_ref().is_some_and(|launcher| in_memory(&launcher.scratch))
            && !in_memory(&temporary);
        if leaves {
            self.launcher = None;
            self.config.scratch = Some(temporary);
        }
        leaves
    }

    /// The same, made again while the launcher dies, up to so many attempts: whatever killed it, the next one may live.
    pub fn run_retrying(&mut self, invocation: &Invocation, attempts: u32) -> Result<Outcome, LaunchError> {
        let mut attempt = 1;
        loop {
            match self.run(invocation) {
                Err(LaunchError::LauncherDied) if attempt < attempts => attempt += 1,
                ended => return ended,
            }
        }
    }

    /// What running solvers has cost us so far.
    pub fn own_usage(&mut self) -> Result<OwnUsage, LaunchError> {
        match self.ask(&Request::Usage, Duration::ZERO)? {
            Reply::Usage { cpu } => Ok(OwnUsage { worker: own_cpu_time(), launcher: cpu }),
            other => Err(self.give_up(other)),
        }
    }

    /// The process that would have to die for the launcher to be gone: for those who watch over us, and for tests.
    #[must_use]
    pub fn guard_pid(&self) -> Option<u32> {
        self.launcher.as_ref().map(|launcher| launcher.guard.id())
    }

    /// The wall that stands around its solvers.
    #[must_use]
    pub fn wall(&self) -> Wall {
        self.launcher.as_ref().map(|launcher| launcher.wall).unwrap_or_default()
    }

    /// Asks for something that takes so long.
    fn ask(&mut self, request: &Request, time: Duration) -> Result<Reply, LaunchError> {
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            none => none.insert(LauncherProcess::start(&self.config)?),
        };
        let answer = launcher.be_patient(time.saturating_add(SUSPICION)).and_then(|()| {
            launcher.frames.send_request(request)?;
            launcher.await_reply()
        });
        match answer {
            Ok(Some(reply)) => Ok(reply),
            // Hung up, or silent for too long: the same for whoever asks.
            _ => {
                self.launcher = None;
                Err(LaunchError::LauncherDied)
            }
        }
    }

    fn give_up(&mut self, reply: Reply) -> LaunchError {
        self.launcher = None;
        match reply {
            Reply::Trouble(message) => LaunchError::Launcher(message),
            Reply::Disk(message) => LaunchError::Disk(message),
            other => LaunchError::Launcher(format!("unexpected answer {other:?}")),
        }
    }
}

impl LauncherProcess {
    fn start(config: &LauncherConfig) -> Result<Self, LaunchError> {
        let program = match &config.launcher {
            Some(path) if !path.exists() => return Err(LaunchError::LauncherMissing { tried: path.clone() }),
            Some(path) => path.clone(),
            None => launcher_program()?,
        };
        let (ours, theirs) = UnixStream::pair().map_err(LaunchError::LauncherStart)?;
        let mut command = Command::new(&program);
        command
            .arg0("osprey-launcher")
            .arg(LAUNCHER_ARGUMENT)
            .arg(config.scratch.as_deref().unwrap_or(Path::new("")))
            .arg(config.servers.clamp(1, MOST_SERVERS).to_string())
            .arg(config.snapshot_after.to_string())
            .arg(config.wall.word())
            .arg(if config.tuned { TUNED } else { UNTUNED })
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .env_clear()
            .env("LC_ALL", "C")
            .envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        for name in ["TMPDIR", WRITABLE_VARIABLE] {
            if let Some(value) = std::env::var_os(name) {
                // For the launcher itself; solvers get their scratch directory.
                command.env(name, value);
            }
        }
        let guard = command.spawn().map_err(LaunchError::LauncherStart)?;
        drop(command);
        let mut launcher = LauncherProcess {
            guard,
            frames: Frames::new(ours),
            scratch: PathBuf::new(),
            wall: Wall::default(),
            patience: Duration::ZERO,
        };
        launcher.be_patient(GRACE).map_err(LaunchError::LauncherStart)?;
        match launcher.frames.receive_reply() {
            Ok(Some(Reply::Ready { scratch, wall })) => {
                launcher.scratch = PathBuf::from(OsStr::from_bytes(&scratch));
                launcher.wall = wall;
                Ok(launcher)
            }
            Ok(Some(Reply::Trouble(message))) => Err(LaunchError::Launcher(message)),
            Ok(Some(Reply::Disk(message))) => Err(LaunchError::Disk(message)),
            Ok(_) => Err(LaunchError::Launcher(format!("{} is not a launcher", program.display()))),
            Err(error) => Err(LaunchError::LauncherStart(error)),
        }
    }

    /// Waits for the answer to what was asked. A launcher that was stopped gives none.
    fn await_reply(&mut self) -> io::Result<Option<Reply>> {
        let give_up = Instant::now() + self.patience + GRACE;
        loop {
            match self.frames.receive_reply() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < give_up => {
                    if self.resume_if_stopped() {
                        return Ok(None);
                    }
                    self.be_patient(SUSPICION)?;
                }
                answer => return answer,
            }
        }
    }

    /// Where the wall does not stop signals a solver may have stopped launcher and guard. The launcher is killed and the
    /// guard goes on, to clear up behind it.
    fn resume_if_stopped(&mut self) -> bool {
        let guard = self.guard.id() as libc::pid_t;
        let launchers = children_of(guard);
        if !launchers.iter().chain([&guard]).any(|process| is_stopped(*process)) {
            return false;
        }
        // SAFETY: `kill` has no effect on memory; the guard has not been waited for, nor has it waited for its child
        // if it is stopped.
        unsafe {
            launchers.iter().for_each(|launcher| _ = libc::kill(*launcher, libc::SIGKILL));
            libc::kill(guard, libc::SIGCONT);
        }
        true
    }

    /// A launcher that is stopped or stuck must not stop the campaign.
    fn be_patient(&mut self, patience: Duration) -> io::Result<()> {
        if self.patience != patience {
            self.frames.stream().set_read_timeout(Some(patience))?;
            self.patience = patience;
        }
        Ok(())
    }
}

impl Drop for LauncherProcess {
    /// Hangs up, and sees to it that guard, launcher and scratch directory are gone.
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = self.frames.stream().shutdown(std::net::Shutdown::Both);
        let patience = Instant::now() + Duration::from_secs(20);
        while let Ok(None) = self.guard.try_wait() {
            if Instant::now() > patience {
                let _ = self.guard.kill();
                let _ = self.guard.wait();
                break;
            }
            std::thread::sleep(Duration::from_micros(300));
        }
        if !self.scratch.as_os_str().is_empty() && self.scratch.exists() {
            remove_tree(&self.scratch);
        }
    }
}

fn resolve(invocation: &Invocation) -> Result<StartRequest, LaunchError> {
    let bytes_of = |text: &OsStr| text.as_bytes().to_vec();
    let request = StartRequest {
        program: bytes_of(absolute(&invocation.program)?.as_os_str()),
        args: invocation.args.iter().map(|arg| with_input_name(arg.as_bytes())).collect(),
        env: invocation
            .env
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect(),
        input: invocation.input.to_vec(),
        stdin: invocation.stdin,
        limits: invocation.limits.clone(),
        mode: match (&invocation.probe, invocation.mode) {
            // All that a run reaches is wanted: also what a snapshot has behind it. For traces that need not be exact it
            // could be added, but they cost more from snapshots (docs/fast-starts.md).
            (Some(probe), ExecMode::PrefixSnapshot) if probe.trace != Trace::New => ExecMode::ForkServer,
            (_, mode) => mode,
        },
        // All that a run reaches is wanted: also what clears up.
        brief: invocation.brief && invocation.probe.as_ref().is_none_or(|probe| !probe.trace.is_exact()),
        stack: invocation.stack,
        probe: invocation.probe.clone(),
    };
    let texts = std::iter::once(&request.program).chain(&request.args).chain(&request.env);
    for text in texts {
        if text.contains(&0) {
            return Err(LaunchError::ZeroByte { program: invocation.program.clone() });
        }
    }
    Ok(request)
}

/// Solvers run in another directory, so a path must not depend on ours.
fn absolute(program: &Path) -> Result<PathBuf, LaunchError> {
    let not_found = || LaunchError::NotFound { program: program.to_owned() };
    if program.is_absolute() {
        return Ok(program.to_owned());
    }
    if program.as_os_str().as_bytes().contains(&b'/') {
        return std::path::absolute(program).map_err(|_| not_found());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
        .and_then(|found| std::path::absolute(found).ok())
        .ok_or_else(not_found)
}

fn with_input_name(argument: &[u8]) -> Vec<u8> {
    let name = INPUT_NAME.trim_end_matches('\0').as_bytes();
    let marker = INPUT.as_bytes();
    match argument.windows(marker.len()).position(|window| window == marker) {
        None => argument.to_vec(),
        Some(at) => [&argument[..at], name, &argument[at + marker.len()..]].concat(),
    }
}

fn outcome(run: RunReply, limits: &Limits) -> Outcome {
    let mut outcome = Outcome {
        exit: run.exit,
        timed_out: run.timed_out,
        cpu_exceeded: false,
        out_of_memory: false,
        output_truncated: run.output_truncated,
        stdout: run.stdout,
        stderr: run.stderr,
        cpu_time: run.cpu.total(),
        kernel_time: run.cpu.expected_kernel(tick()),
        server_time: run.server,
        wall_time: run.wall,
        peak_memory: run.peak_kib * 1024,
        mode: run.mode,
        fallback: run.fallback,
        stack: run.stack,
        sites: run.sites,
    };
    outcome.explain(limits);
    outcome
}

fn own_cpu_time() -> Duration {
    // SAFETY: all fields are plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live `rusage` that nothing else uses meanwhile; it stays zero if the call fails.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    CpuTime::of(&usage).total()
}
