//! Crashes: what is known about one, and the signature that says whether two are the same.
//!
//! A signature is built from what stays the same when the same bug is met again: the solver's source location, the
//! wording with everything that depends on the input or the run taken out, the innermost frames. Addresses, process
//! numbers, temporary paths and numbers from the formula do not count.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::adapter::Meaning;
use crate::stack::{CrashPlace, Stack, is_entry, is_machinery, is_plumbing, plain_function};

/// How many functions make a signature: enough to tell bugs apart, few enough to survive inlining and callers.
const FRAMES: usize = 3;

/// How many of them are compared with those of other crashes: one more, since one may have crashed in a function that the
/// other called. Further out there is only the way to it: all that a tactic simplifies has the tactic on its stack.
const COMPARED: usize = 4;

/// How many frames of a printed stack are kept.
const PRINTED: usize = 12;

/// What is known about a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashReport {
    /// How it showed.
    pub kind: CrashKind,
    /// The signal the process died of.
    pub signal: Option<i32>,
    /// The source file the solver names.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// The function the solver names.
    pub function: Option<String>,
    /// Its words.
    pub message: String,
    /// The innermost functions of the stack, where one was printed or read; of a recursion that ended for want of a
    /// stack, what repeats.
    pub frames: Vec<String>,
    /// The stack had no room left for a recursion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overflow: bool,
}

/// How a crash showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashKind {
    /// A failed assertion, or unreachable code reached.
    Assertion,
    /// A sanitizer's report.
    Sanitizer,
    /// An uncaught exception or an internal error.
    InternalError,
    /// A fatal signal and nothing else, or a handler that reports one.
    Signal,
}

impl CrashKind {
    /// The kind that goes with a wording's meaning, if it means a crash at all.
    pub(crate) fn of(meaning: Meaning) -> Option<Self> {
        match meaning {
            Meaning::Assertion => Some(CrashKind::Assertion),
            Meaning::Sanitizer => Some(CrashKind::Sanitizer),
            Meaning::InternalError => Some(CrashKind::InternalError),
            Meaning::Segfault => Some(CrashKind::Signal),
            _ => None,
        }
    }
}

/// Equal for crashes that are taken for the same bug of one solver.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CrashSignature {
    /// Readable.
    pub text: String,
    /// Twelve hexadecimal digits of it, for file names.
    pub hash: String,
    /// What is seen of it without a stack.
    pub symptom: String,
    /// It says where, not only that the process died.
    pub placed: bool,
}

impl CrashSignature {
    /// Does it say where, or only that the process died of a signal?
    pub fn names_a_place(&self) -> bool {
        self.placed
    }

    /// Whether both can be the same crash: the stack of one of them may not have been looked at.
    pub fn agrees_with(&self, other: &CrashSignature) -> bool {
        self.symptom == other.symptom && (self.text == other.text || !self.placed || !other.placed)
    }
}

impl fmt::Display for CrashSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl CrashReport {
    /// Whether only the stack can tell where it happened.
    pub fn lacks_a_place(&self) -> bool {
        self.signal.is_some() && self.file.is_none() && self.frames.is_empty()
    }

    /// With the place that a stack tells.
    pub(crate) fn at(&mut self, stack: &Stack) {
        if let Some(place) = CrashPlace::of(stack) {
            self.frames = place.functions;
            self.overflow = place.overflow;
        }
    }

    /// The signature.
    pub fn signature(&self) -> CrashSignature {
        let kind = match self.kind {
            CrashKind::Assertion => "assertion",
            CrashKind::Sanitizer => "sanitizer",
            CrashKind::InternalError => "internal error",
            CrashKind::Signal => self.signal.map_or("signal", signal_name),
        };
        let file = self.file.as_ref().map(|file| {
            let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{}{line}", source_path(file))
        });
        let words = match (&self.function, &self.file) {
            (Some(function), Some(_)) => vec![plain_function(function)],
            (function, _) => {
                function.as_deref().map(normalised).into_iter().chain([normalised(&self.message)]).collect()
            }
        };
        let joined = |parts: Vec<String>| {
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
        };
        let head = || std::iter::once(kind.to_owned()).chain(file.clone());
        let symptom = joined(head().chain(words).collect());
        let text = match self.place() {
            // Frames say where; the message of a sanitizer only which check fired.
            Some(place) => joined(head().chain([place, normalised(&self.message)]).collect()),
            None => symptom.clone(),
        };
        let hash = format!("{:012x}", fnv(text.as_bytes()) & 0xffff_ffff_ffff);
        // The words of a process that died of a signal are those of its runtime.
        let placed = text.contains(" | ") && !self.lacks_a_place();
        CrashSignature { text, hash, symptom, placed }
    }

    /// Of the innermost functions that are not everybody's, those that are no way into a part of the solver: crashes that
    /// share several of them have more in common than the way there. None of a recursion without end, whose functions have
    /// no order.
    pub fn telling_functions(&self) -> Vec<String> {
        let mut functions: Vec<String> = Vec::new();
        for frame in self.frames.iter().filter(|_| !self.overflow) {
            let function = plain_function(frame);
            if functions.len() < COMPARED && !is_plumbing(&function) && !functions.contains(&function) {
                functions.push(function);
            }
        }
        functions.retain(|function| !is_entry(function));
        functions
    }

    /// The frames that count: the innermost functions that are not everybody's, each once, since how deep a recursion is
    /// depends on the input.
    fn place(&self) -> Option<String> {
        let all: Vec<String> = self.frames.iter().map(|frame| plain_function(frame)).collect();
        let telling: Vec<&String> = all.iter().filter(|function| !is_plumbing(function)).collect();
        let mut functions: Vec<&str> = Vec::new();
        for function in if telling.is_empty() { all.iter().collect() } else { telling } {
            if functions.len() < FRAMES && !functions.contains(&function.as_str()) {
                functions.push(function);
            }
        }
        let joined = functions.join(" < ");
        match functions.is_empty() {
            true => None,
            false if self.overflow => Some(format!("stack overflow in {joined}")),
            false => Some(joined),
        }
    }
}

/// A wording without what changes from run to run and from input to input.
pub fn normalised(message: &str) -> String {
    static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"==\d+==", ""),
            (r"0x[0-9a-fA-F]+", "ADDR"),
            (r#"(?:/[^\s:,;'"`()]+)+/?"#, "PATH"),
            (r"[\w.-]+\.smt2(?:[:.]\d+)*", "PATH"),
            (r"#x[0-9a-fA-F]+|#b[01]+|\(_ bv\d+ \d+\)", "N"),
            (r#""[^"\n]*"|`[^'`\n]*'|\|[^|\n]*\|"#, "Q"),
            (r"(?i)\b(?:pid|thread|tid) *[:=]? *\d+", "ID"),
            (r"(^|[^\w.])-?\d+(?:\.\d+)?\b", "${1}N"),
            (r"\s+", " "),
        ]
        .into_iter()
        .filter_map(|(pattern, replacement)| Some((Regex::new(pattern).ok()?, replacement)))
        .collect()
    });
    let mut text: String = message.lines().next().unwrap_or_default().chars().take(300).collect();
    for (pattern, replacement) in RULES.iter() {
        text = pattern.replace_all(&text, *replacement).into_owned();
    }
    text.trim().to_string()
}

/// The part of a source path that does not depend on where it was built: from `src/` on, else the file's name.
fn source_path(path: &str) -> String {
    let path = path.replace("/./", "/");
    match path.rfind("src/") {
        Some(start) => path[start..].to_string(),
        None => path.rsplit('/').next().unwrap_or_default().to_string(),
    }
}

/// The innermost frames of the first stack in a text, without those of runtimes and abort machinery.
pub(crate) fn frames(text: &str) -> Vec<String> {
    static FRAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*#(\d+)\s+(?:0x[0-9a-fA-F]+\s+)?(?:in\s+)?([^\n]+?)(?:\s+(?:at\s+)?\(?(?:/|\.\.?/|<)[^\n]*)?$").ok()
    });
    let Some(pattern) = FRAME.as_ref() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for capture in pattern.captures_iter(text) {
        // A second stack (where it was allocated, where it was freed) starts again at frame 0.
        if &capture[1] == "0" && !found.is_empty() {
            break;
        }
        let function = plain_function(&capture[2]);
        if !function.is_empty() && !is_machinery(&function) {
            found.push(function);
        }
        if found.len() == PRINTED {
            break;
        }
    }
    found
}

/// The usual name of a signal.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGABRT => "SIGABRT",
        libc::SIGFPE => "SIGFPE",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => "signal",
    }
}

/// Whether a process that died of this signal crashed, rather than being ended from outside.
pub(crate) fn is_fatal_fault(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGSEGV
            | libc::SIGABRT
            | libc::SIGFPE
            | libc::SIGBUS
            | libc::SIGILL
            | libc::SIGSYS
            | libc::SIGTRAP
    )
}

/// FNV-1a: short, and the same on every machine and in every release of ours.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kind: CrashKind, message: &str) -> CrashReport {
        CrashReport {
            kind,
            signal: Some(libc::SIGABRT),
            file: None,
            line: None,
            function: None,
            message: message.into(),
            frames: Vec::new(),
            overflow: false,
        }
    }

    #[test]
    fn what_depends_on_the_run_or_the_input_does_not_count() {
        let a = report(
            CrashKind::InternalError,
            "==17== Quotient -1 / 3 is not an integer at 0x7f12 in /tmp/a1/x.smt2:3",
        );
        let b = report(
            CrashKind::InternalError,
            "==99== Quotient 25 / 8 is not an integer at 0x55aa in /var/b/y.smt2:77",
        );
        assert_eq!(a.signature(), b.signature());
        let c = report(CrashKind::InternalError, "==99== Remainder 25 / 8 is not an integer");
        assert_ne!(a.signature().hash, c.signature().hash);
    }

    #[test]
    fn the_source_location_decides_and_not_where_it_was_built() {
        let at = |file: &str, line, function: &str, message: &str| {
            let mut report = report(CrashKind::Assertion, message);
            report.file = Some(file.into());
            report.line = Some(line);
            report.function = Some(function.into());
            report.signature().text
        };
        let function =
            "T CVC4::theory::bv::Undefined(CVC4::TNode, TBitblaster<T>*) [with T = CVC4::NodeTemplate<true>]";
        let a = at("./src/./theory/bv/strategies.h", 46, function, "Unreachable code reached x1");
        let b =
            at("/build/cvc4-1.8/src/theory/bv/strategies.h", 46, function, "Unreachable code reached y22");
        assert_eq!(a, b);
        assert_eq!(a, "assertion | src/theory/bv/strategies.h:46 | CVC4::theory::bv::Undefined");
        assert_ne!(a, at("./src/theory/bv/strategies.h", 47, function, ""));
    }

    #[test]
    fn the_innermost_frames_of_the_first_stack_count() {
        let text = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n\
            READ of size 8 at 0x60 thread T0\n\
            \x20   #0 0x4a2 in __interceptor_memcpy (/usr/bin/z3+0x4a2)\n\
            \x20   #1 0x5b1 in smt::context::pop(unsigned int) /home/ci/z3/src/smt/smt_context.cpp:212:7\n\
            \x20   #2 0x5c2 in std::vector<int, std::allocator<int>>::at(unsigned long) /usr/include/c++/12/vector:1:2\n\
            \x20   #3 0x5d3 in main /home/ci/z3/src/shell/main.cpp:9:1\n\
            freed by thread T0 here:\n\
            \x20   #0 0x111 in other /x.cpp:1\n";
        assert_eq!(frames(text), ["smt::context::pop", "std::vector::at", "main"]);
    }

    #[test]
    fn neither_plumbing_nor_the_way_there_tells_what_crashes_have_in_common() {
        let telling = |frames: &[&str], overflow| {
            let frames = frames.iter().map(ToString::to_string).collect();
            CrashReport { frames, overflow, ..report(CrashKind::Signal, "") }.telling_functions()
        };
        let freed =
            ["memory::deallocate", "factors::reset", "goal2nlsat::operator()", "nlsat_tactic::operator()"];
        assert_eq!(telling(&freed, false), &freed[1..]);
        assert_eq!(telling(&freed, true), [""; 0]);
        let simplified = [
            "bv_rewriter::mk_concat",
            "th_rewriter_cfg::reduce_app",
            "th_rewriter::operator()",
            "simplify_tactic::imp::operator()",
            "simplify_tactic::operator()",
            "exec",
        ];
        assert_eq!(
            telling(&simplified, false),
            ["bv_rewriter::mk_concat", "simplify_tactic::imp::operator()"]
        );
        assert_eq!(telling(&["cmd_context::check_sat", "exec", "main"], false), [""; 0]);
    }

    #[test]
    fn a_bare_signal_has_a_signature_too() {
        let mut bare = report(CrashKind::Signal, "");
        bare.signal = Some(libc::SIGSEGV);
        assert_eq!(bare.signature().text, "SIGSEGV");
        assert_eq!(bare.signature().hash.len(), 12);
    }
}
