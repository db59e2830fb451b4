//! Waiting for a solver: its output, its end, the clock, and our own worker, all at once.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// A run that ends within this time wakes the launcher only once, at its end. What it prints waits in the pipe, which
/// holds 64 KiB; a solver that prints more sleeps for the rest of the time.
pub(crate) const QUIET: Duration = Duration::from_millis(50);

/// The worker is gone, or somebody wants the launcher to end: everything must be killed and removed.
#[derive(Debug)]
pub(crate) struct Interrupted;

/// What a watched process came to, apart from its exit status.
pub(crate) struct Ended {
    pub timed_out: bool,
    pub truncated: bool,
    pub wall: Duration,
}

/// Collects one output stream up to a limit.
pub(crate) struct Capture {
    fd: RawFd,
    open: bool,
    limit: usize,
    pub bytes: Vec<u8>,
    pub truncated: bool,
}

impl Capture {
    /// From a descriptor that does not block and that the caller keeps open.
    pub fn new(fd: &OwnedFd, limit: usize) -> Self {
        Capture { fd: fd.as_raw_fd(), open: true, limit, bytes: Vec::new(), truncated: false }
    }

    /// Starts with bytes that the process printed earlier.
    pub fn after(mut self, earlier: &[u8]) -> Self {
        self.bytes.extend_from_slice(earlier);
        self
    }

    /// Takes what is there now, unless it is over the limit: the caller wants to look at that and at the clock.
    pub fn pull(&mut self) {
        while !self.truncated && self.pull_once() == Pulled::More {}
    }

    /// Takes a part of what is there; what is over the limit is read and dropped, so that nothing stays for the next
    /// run.
    fn pull_once(&mut self) -> Pulled {
        if !self.open {
            return Pulled::All;
        }
        let mut buffer = [const { MaybeUninit::<u8>::uninit() }; 1 << 15];
        // SAFETY: the kernel writes at most `buffer.len()` bytes into the buffer.
        let length = unsafe { libc::read(self.fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        if length <= 0 {
            let error = io::Error::last_os_error();
            self.open =
                length < 0 && matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return Pulled::All;
        }
        let length = length as usize;
        let kept = length.min(self.limit.saturating_sub(self.bytes.len()));
        // SAFETY: `read` has filled the first `length` bytes.
        let filled = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), length) };
        self.bytes.extend_from_slice(&filled[..kept]);
        self.truncated |= kept < length;
        // A pipe gives all it has: less than was asked for is the rest.
        if length < buffer.len() { Pulled::All } else { Pulled::More }
    }

    /// After the end of the process: takes all that is left.
    pub fn drain(&mut self) {
        while self.pull_once() == Pulled::More {}
    }
}

/// Whether a stream may have more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulled {
    All,
    More,
}

/// Why [`Poller::step`] returned.
#[derive(Clone, Copy, Default)]
pub(crate) struct Woken {
    /// Some child has changed its state.
    pub child: bool,
    /// The fork server's socket has something to say.
    pub control: bool,
    /// The deadline has passed.
    pub expired: bool,
}

/// Waits for everything the launcher must react to: signals, its worker, output of children.
pub(crate) struct Poller {
    signals: OwnedFd,
    worker: RawFd,
}

impl Poller {
    /// Blocks the signals it watches; children unblock them before they execute.
    pub fn new(worker: RawFd) -> io::Result<Self> {
        // SAFETY: the set lives through the calls and is made valid by `sigemptyset`; `fd` is a fresh descriptor that
        // only the new value owns.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            libc::sigaddset(&mut set, libc::SIGTERM);
            libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            let fd = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Poller { signals: OwnedFd::from_raw_fd(fd), worker })
        }
    }

    /// Sleeps until the worker has sent something.
    pub fn idle(&self) -> Result<(), Interrupted> {
        let mut fds = [poll_for(self.signals.as_raw_fd(), libc::POLLIN), poll_for(self.worker, libc::POLLIN)];
        loop {
            // SAFETY: `fds` has two valid entries and lives through the call.
            if unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) } < 0 {
                continue;
            }
            if fds[0].revents != 0 {
                self.read_signals()?;
            }
            if fds[1].revents != 0 {
                return Ok(());
            }
        }
    }

    /// Sleeps until something happens, and takes what output there is. Before `listen` it does not wake up for output:
    /// most runs are short and print little, and that is taken when they have ended.
    pub fn step(
        &self,
        out: &mut Capture,
        err: &mut Capture,
        control: RawFd,
        deadline: Option<Instant>,
        listen: Instant,
    ) -> Result<Woken, Interrupted> {
        let now = Instant::now();
        let listening = now >= listen;
        let until = if listening { deadline } else { Some(deadline.map_or(listen, |end| end.min(listen))) };
        let timeout = until.map_or(-1, |until| {
            let left = until.saturating_duration_since(now);
            i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
        });
        let heard = |stream: &Capture| if listening && stream.open { stream.fd } else { -1 };
        let mut fds = [
            poll_for(self.signals.as_raw_fd(), libc::POLLIN),
            poll_for(self.worker, libc::POLLRDHUP),
            poll_for(heard(out), libc::POLLIN),
            poll_for(heard(err), libc::POLLIN),
            poll_for(control, libc::POLLIN),
        ];
        let mut woken = Woken::default();
        // SAFETY: the kernel looks at exactly the entries of `fds`, which lives through the call.
        if unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) } < 0 {
            return Ok(woken);
        }
        if fds[1].revents != 0 {
            return Err(Interrupted);
        }
        if fds[0].revents != 0 {
            woken.child = self.read_signals()?;
        }
        if fds[2].revents != 0 {
            out.pull();
        }
        if fds[3].revents != 0 {
            err.pull();
        }
        woken.control = fds[4].revents != 0;
        woken.expired = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(woken)
    }

    /// Whether a child has changed its state.
    fn read_signals(&self) -> Result<bool, Interrupted> {
        let mut child = false;
        loop {
            // SAFETY: all zeros is a valid value of this struct of integers.
            let mut signal: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
            let size = size_of_val(&signal);
            // SAFETY: the kernel writes at most `size` bytes, the size of `signal`, in which every bit pattern is
            // valid.
            if unsafe { libc::read(self.signals.as_raw_fd(), (&raw mut signal).cast(), size) }
                != size as isize
            {
                return Ok(child);
            }
            if signal.ssi_signo == libc::SIGTERM as u32 {
                return Err(Interrupted);
            }
            child = true;
        }
    }
}

fn poll_for(fd: RawFd, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd, events, revents: 0 }
}
