//! What to run.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::coverage::ProbeRequest;
use crate::fast::ExecMode;
use crate::limits::Limits;

/// Stands in [`Invocation::args`] for the input file's name, alone or inside an argument.
pub const INPUT: &str = "{input}";

/// One run of a solver.
///
/// The solver runs in an empty scratch directory in which the input is the file `input.smt2`: the name a solver sees,
/// and prints in its error messages, is the same in every run and on every machine.
#[derive(Clone, Debug)]
pub struct Invocation<'a> {
    /// The executable; a bare name is looked up on `PATH`.
    pub program: PathBuf,
    /// The arguments after the program's name, with [`INPUT`] where the input file goes.
    pub args: Vec<OsString>,
    /// Variables on top of the cleaned environment.
    pub env: Vec<(OsString, OsString)>,
    /// The script.
    pub input: Cow<'a, [u8]>,
    /// Whether the script is given on standard input too (otherwise that is `/dev/null`).
    pub stdin: bool,
    /// What it may use.
    pub limits: Limits,
    /// How to start it; anything but [`ExecMode::Plain`] is a wish.
    pub mode: ExecMode,
    /// Whether a fast start may end without clearing up behind its answers, which hides the crashes of clearing up.
    pub brief: bool,
    /// Whether the stack at a fatal signal is wanted. Only for plain starts.
    pub stack: bool,
    /// The coverage that is wanted.
    pub probe: Option<ProbeRequest>,
}

impl<'a> Invocation<'a> {
    /// A plain run of `program` on `input`, with the input's name as the only argument and default limits.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, input: &'a [u8]) -> Self {
        Invocation {
            program: program.into(),
            args: vec![INPUT.into()],
            env: Vec::new(),
            input: Cow::Borrowed(input),
            stdin: false,
            limits: Limits::default(),
            mode: ExecMode::Plain,
            brief: false,
            stack: false,
            probe: None,
        }
    }
}
