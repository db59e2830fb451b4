//! The bytes between worker and launcher: frames of a little-endian length and a body, on one stream socket.

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::coverage::{ProbeFile, ProbeRequest, ProbeWay, Trace};
use crate::fast::ExecMode;
use crate::limits::Limits;
use crate::stack::Stack;

use super::outcome::{CpuTime, Exit};
use super::wall::Wall;

/// What the worker asks.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Run(Box<StartRequest>),
    /// How much CPU time the launcher itself has used.
    Usage,
}

/// An invocation, resolved: no marker, no bare names.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct StartRequest {
    /// With its path.
    pub program: Vec<u8>,
    pub args: Vec<Vec<u8>>,
    /// As `NAME=value`.
    pub env: Vec<Vec<u8>>,
    pub input: Vec<u8>,
    pub stdin: bool,
    pub limits: Limits,
    pub mode: ExecMode,
    /// A fast start may end without clearing up behind its answers.
    pub brief: bool,
    /// The stack at a fatal signal is wanted. Only for plain starts.
    pub stack: bool,
    /// The coverage that is wanted.
    pub probe: Option<ProbeRequest>,
}

/// What the launcher answers.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// First message: the launcher works, this is its directory, and this the wall around its solvers.
    Ready {
        scratch: Vec<u8>,
        wall: Wall,
    },
    Ran(Box<RunReply>),
    /// `execve` failed with this number.
    CannotExec(i32),
    /// Something that is nobody's fault but ours.
    Trouble(String),
    Usage {
        cpu: Duration,
    },
    /// The disk does not take what a run needs; the text names the place.
    Disk(String),
}

impl Reply {
    /// Whose fault an error of ours is.
    pub fn of_error(error: &io::Error) -> Reply {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem => Reply::Disk(error.to_string()),
            _ => Reply::Trouble(error.to_string()),
        }
    }
}

/// The measured part of an outcome.
#[derive(Debug, PartialEq)]
pub(crate) struct RunReply {
    pub exit: Exit,
    pub timed_out: bool,
    pub output_truncated: bool,
    pub cpu: CpuTime,
    /// What the fork server used for this run.
    pub server: CpuTime,
    pub wall: Duration,
    pub peak_kib: u64,
    pub mode: ExecMode,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Why the run was not started in the way that was asked for.
    pub fallback: Option<String>,
    /// The stack at a fatal signal, where it was wanted, or why it cannot be seen.
    pub stack: Option<Result<Stack, String>>,
    /// The sites it has reached, where they were wanted, or why they cannot be told.
    pub sites: Option<Result<Vec<u32>, String>>,
}

/// Longest frame: scripts and outputs are far below it, and a broken peer cannot make us allocate more.
const LONGEST: usize = 1 << 30;

/// A stream of frames. It reads as much as there is, so that a frame costs one system call each way.
pub(crate) struct Frames<S> {
    stream: S,
    buffer: Vec<u8>,
    filled: usize,
}

impl<S: Read + Write> Frames<S> {
    pub fn new(stream: S) -> Self {
        Frames { stream, buffer: vec![0; 1 << 16], filled: 0 }
    }

    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Sends one frame; `body` begins with four bytes to be overwritten with the length.
    fn send(&mut self, mut body: Vec<u8>) -> io::Result<()> {
        let length = body.len() - 4;
        if length > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "message too long"));
        }
        body[..4].copy_from_slice(&(length as u32).to_le_bytes());
        self.stream.write_all(&body)
    }

    /// Waits for one frame. `None` at the end of the stream between two frames.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if self.filled >= 4 {
                let head = [self.buffer[0], self.buffer[1], self.buffer[2], self.buffer[3]];
                let end = 4 + u32::from_le_bytes(head) as usize;
                if end > LONGEST {
                    return Err(malformed());
                }
                if self.filled >= end {
                    let body = self.buffer[4..end].to_vec();
                    self.buffer.copy_within(end..self.filled, 0);
                    self.filled -= end;
                    if self.buffer.len() > 1 << 20 && self.filled < 1 << 16 {
                        self.buffer.truncate(1 << 16);
                        self.buffer.shrink_to_fit();
                    }
                    return Ok(Some(body));
                }
                if self.buffer.len() < end {
                    self.buffer.resize(end, 0);
                }
            }
            match self.stream.read(&mut self.buffer[self.filled..]) {
                Ok(0) if self.filled == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn send_request(&mut self, request: &Request) -> io::Result<()> {
        let mut out = Encoder(vec![0; 4]);
        match request {
            Request::Run(run) => {
                out.0.reserve(run.input.len() + 1024);
                out.byte(0);
                out.bytes(&run.program);
                out.list(&run.args);
                out.list(&run.env);
                out.byte(u8::from(run.stdin));
                out.limits(&run.limits);
                out.byte(run.mode.code());
                out.byte(u8::from(run.brief));
                out.byte(u8::from(run.stack));
                out.probe(run.probe.as_ref());
                out.bytes(&run.input);
            }
            Request::Usage => out.byte(1),
        }
        self.send(out.0)
    }

    pub fn receive_request(&mut self) -> io::Result<Option<Request>> {
        let Some(body) = self.receive()? else { return Ok(None) };
        let mut from = Decoder(&body);
        let request = match from.byte()? {
            0 => Request::Run(Box::new(StartRequest {
                program: from.bytes()?,
                args: from.list()?,
                env: from.list()?,
                stdin: from.byte()? != 0,
                limits: from.limits()?,
                mode: from.mode()?,
                brief: from.byte()? != 0,
                stack: from.byte()? != 0,
                probe: from.probe()?,
                input: from.bytes()?,
            })),
            1 => Request::Usage,
            _ => return Err(malformed()),
        };
        Ok(Some(request))
    }

    pub fn send_reply(&mut self, reply: &Reply) -> io::Result<()> {
        let mut out = Encoder(vec![0; 4]);
        match reply {
            Reply::Ready { scratch, wall } => {
                out.byte(0);
                out.bytes(scratch);
                out.bytes(&serde_json::to_vec(wall)?);
            }
            Reply::Ran(run) => {
                out.0.reserve(run.stdout.len() + run.stderr.len() + 128);
                out.byte(1);
                let (by_signal, number) = match run.exit {
                    Exit::Exited(code) => (0, code),
                    Exit::Signaled(signal) => (1, signal),
                };
                out.byte(by_signal);
                out.number(number as u64);
                out.byte(u8::from(run.timed_out));
                out.byte(u8::from(run.output_truncated));
                out.cpu_time(run.cpu);
                out.cpu_time(run.server);
                out.duration(run.wall);
                out.number(run.peak_kib);
                out.byte(run.mode.code());
                out.bytes(&run.stdout);
                out.bytes(&run.stderr);
                out.bytes(run.fallback.as_deref().unwrap_or_default().as_bytes());
                out.bytes(&serde_json::to_vec(&run.stack)?);
                out.sites(run.sites.as_ref());
            }
            Reply::CannotExec(errno) => {
                out.byte(2);
                out.number(*errno as u64);
            }
            Reply::Trouble(message) => {
                out.byte(3);
                out.bytes(message.as_bytes());
            }
            Reply::Usage { cpu } => {
                out.byte(4);
                out.duration(*cpu);
            }
            Reply::Disk(message) => {
                out.byte(5);
                out.bytes(message.as_bytes());
            }
        }
        self.send(out.0)
    }

    pub fn receive_reply(&mut self) -> io::Result<Option<Reply>> {
        let Some(body) = self.receive()? else { return Ok(None) };
        let mut from = Decoder(&body);
        let reply = match from.byte()? {
            0 => Reply::Ready {
                scratch: from.bytes()?,
                wall: serde_json::from_slice(&from.bytes()?).map_err(|_| malformed())?,
            },
            1 => {
                let by_signal = from.byte()? != 0;
                let number = from.number()? as i32;
                Reply::Ran(Box::new(RunReply {
                    exit: if by_signal { Exit::Signaled(number) } else { Exit::Exited(number) },
                    timed_out: from.byte()? != 0,
                    output_truncated: from.byte()? != 0,
                    cpu: from.cpu_time()?,
                    server: from.cpu_time()?,
                    wall: from.duration()?,
                    peak_kib: from.number()?,
                    mode: from.mode()?,
                    stdout: from.bytes()?,
                    stderr: from.bytes()?,
                    fallback: Some(from.text()?).filter(|reason| !reason.is_empty()),
                    stack: serde_json::from_slice(&from.bytes()?).map_err(|_| malformed())?,
                    sites: from.sites()?,
                }))
            }
            2 => Reply::CannotExec(from.number()? as i32),
            3 => Reply::Trouble(from.text()?),
            4 => Reply::Usage { cpu: from.duration()? },
            5 => Reply::Disk(from.text()?),
            _ => return Err(malformed()),
        };
        Ok(Some(reply))
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed message between worker and launcher")
}

struct Encoder(Vec<u8>);

impl Encoder {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, list: &[Vec<u8>]) {
        self.number(list.len() as u64);
        for bytes in list {
            self.bytes(bytes);
        }
    }

    fn duration(&mut self, duration: Duration) {
        self.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn cpu_time(&mut self, time: CpuTime) {
        self.duration(time.user);
        self.duration(time.kernel);
    }

    fn limits(&mut self, limits: &Limits) {
        self.duration(limits.wall);
        self.duration(limits.cpu.unwrap_or_default());
        self.number(limits.memory.unwrap_or_default());
        self.number(limits.file_size);
        self.number(limits.stdout as u64);
        self.number(limits.stderr as u64);
    }
}

impl Encoder {
    fn probe(&mut self, probe: Option<&ProbeRequest>) {
        self.byte(u8::from(probe.is_some()));
        let Some(probe) = probe else { return };
        self.byte(match probe.trace {
            Trace::New => 0,
            Trace::Functions => 1,
            Trace::Blocks => 2,
            Trace::Approximate => 3,
        });
        self.byte(match probe.way {
            ProbeWay::Main => 0,
            ProbeWay::Input => 1,
            ProbeWay::Host => 2,
            ProbeWay::Executed => 3,
        });
        self.number(probe.files.len() as u64);
        for file in &probe.files {
            self.bytes(&file.path);
            self.bytes(&file.list);
        }
    }

    fn sites(&mut self, sites: Option<&Result<Vec<u32>, String>>) {
        match sites {
            None => self.byte(0),
            Some(Ok(sites)) => {
                self.byte(1);
                self.number(sites.len() as u64);
                self.0.extend(sites.iter().flat_map(|site| site.to_le_bytes()));
            }
            Some(Err(reason)) => {
                self.byte(2);
                self.bytes(reason.as_bytes());
            }
        }
    }
}

struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> io::Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> io::Result<u64> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| malformed())?))
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let count = self.number()?;
        Ok(self.take(usize::try_from(count).map_err(|_| malformed())?)?.to_vec())
    }

    fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| malformed())
    }

    fn list(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let count = self.number()?;
        (0..count).map(|_| self.bytes()).collect()
    }

    fn duration(&mut self) -> io::Result<Duration> {
        Ok(Duration::from_nanos(self.number()?))
    }

    fn probe(&mut self) -> io::Result<Option<ProbeRequest>> {
        if self.byte()? == 0 {
            return Ok(None);
        }
        let trace = match self.byte()? {
            0 => Trace::New,
            1 => Trace::Functions,
            2 => Trace::Blocks,
            3 => Trace::Approximate,
            _ => return Err(malformed()),
        };
        let way = match self.byte()? {
            0 => ProbeWay::Main,
            1 => ProbeWay::Input,
            2 => ProbeWay::Host,
            3 => ProbeWay::Executed,
            _ => return Err(malformed()),
        };
        let count = self.number()?;
        let files = (0..count).map(|_| Ok(ProbeFile { path: self.bytes()?, list: self.bytes()? }));
        let files = files.collect::<io::Result<Vec<ProbeFile>>>()?;
        Ok(Some(ProbeRequest { files, trace, way }))
    }

    fn sites(&mut self) -> io::Result<Option<Result<Vec<u32>, String>>> {
        Ok(match self.byte()? {
            0 => None,
            1 => {
                let count = usize::try_from(self.number()?).map_err(|_| malformed())?;
                let bytes = self.take(count.checked_mul(4).ok_or_else(malformed)?)?;
                Some(Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()))
            }
            2 => Some(Err(self.text()?)),
            _ => return Err(malformed()),
        })
    }

    fn cpu_time(&mut self) -> io::Result<CpuTime> {
        Ok(CpuTime { user: self.duration()?, kernel: self.duration()? })
    }

    fn mode(&mut self) -> io::Result<ExecMode> {
        ExecMode::from_code(self.byte()?).ok_or_else(malformed)
    }

    fn limits(&mut self) -> io::Result<Limits> {
        Ok(Limits {
            wall: self.duration()?,
            cpu: Some(self.duration()?).filter(|cpu| !cpu.is_zero()),
            memory: Some(self.number()?).filter(|memory| *memory != 0),
            file_size: self.number()?,
            stdout: self.number()? as usize,
            stderr: self.number()? as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::stack::Frame;

    fn pair() -> (Frames<UnixStream>, Frames<UnixStream>) {
        let (left, right) = UnixStream::pair().expect("a socket pair");
        (Frames::new(left), Frames::new(right))
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let (mut worker, mut launcher) = pair();
        let request = Request::Run(Box::new(StartRequest {
            program: b"/bin/z3".to_vec(),
            args: vec![b"-smt2".to_vec(), Vec::new(), b"\xff\xfe".to_vec()],
            env: vec![b"A=b".to_vec()],
            input: vec![7; 5_000],
            stdin: true,
            limits: Limits { cpu: Some(Duration::from_secs(3)), memory: None, ..Limits::default() },
            mode: ExecMode::PrefixSnapshot,
            brief: true,
            stack: true,
            probe: Some(ProbeRequest {
                files: vec![ProbeFile { path: b"/bin/z3".to_vec(), list: b"/sites".to_vec() }],
                trace: Trace::Functions,
                way: ProbeWay::Input,
            }),
        }));
        worker.send_request(&request).expect("sent");
        worker.send_request(&Request::Usage).expect("sent");
        assert_eq!(launcher.receive_request().expect("received"), Some(request));
        assert_eq!(launcher.receive_request().expect("received"), Some(Request::Usage));
        drop(worker);
        assert_eq!(launcher.receive_request().expect("end"), None);
    }

    #[test]
    fn a_large_reply_arrives_in_pieces_and_whole() {
        let (mut worker, mut launcher) = pair();
        let reply = Reply::Ran(Box::new(RunReply {
            exit: Exit::Signaled(9),
            timed_out: true,
            output_truncated: false,
            cpu: CpuTime { user: Duration::from_micros(17), kernel: Duration::from_micros(4) },
            server: CpuTime { user: Duration::ZERO, kernel: Duration::from_micros(3) },
            wall: Duration::from_millis(3),
            peak_kib: 12,
            mode: ExecMode::Plain,
            stdout: vec![b'x'; 3 << 20],
            stderr: b"oh".to_vec(),
            fallback: Some("why".to_owned()),
            stack: Some(Ok(Stack {
                overflow: true,
                frames: vec![Frame { module: "z3".to_owned(), function: "main".to_owned(), handler: false }],
            })),
            sites: Some(Ok(vec![0, 7, 1 << 20])),
        }));
        std::thread::scope(|scope| {
            scope.spawn(|| launcher.send_reply(&reply).expect("sent"));
            assert_eq!(worker.receive_reply().expect("received").as_ref(), Some(&reply));
        });
    }

    #[test]
    fn a_cut_message_is_an_error_and_not_a_panic() {
        let (worker, mut launcher) = pair();
        (&worker.stream).write_all(&[9, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0]).expect("written");
        assert_eq!(launcher.receive_request().expect_err("malformed").kind(), io::ErrorKind::InvalidData);
    }
}
