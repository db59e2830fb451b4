//! Whether a solver works at all. A program that cannot load its library, is cut short, or refuses the user's options
//! fails on every script: that says nothing about the script at hand.

use super::Run;
use crate::answer::RunClass;
use crate::crash::CrashKind;
use crate::launch::Exit;

/// Every solver decides one of these.
pub(super) const TRIVIAL: [&[u8]; 2] = [b"(set-logic QF_UF)\n(check-sat)\n", b"(check-sat)\n"];

/// What dynamic loaders and interpreters print when they cannot even begin.
const CANNOT_BEGIN: [&str; 6] = [
    "error while loading shared libraries",
    "symbol lookup error",
    "cannot open shared object file",
    "undefined symbol",
    "ImportError",
    "ModuleNotFoundError",
];

/// Whether a run is reason to ask if the solver works at all.
pub(super) fn is_suspicious(run: &Run) -> bool {
    run.answers.trusted().next().is_none() && complaint(run).is_some()
}

/// What is wrong with a solver that did this on a trivial script.
pub(super) fn complaint(run: &Run) -> Option<String> {
    let said = last_words(run);
    let cannot_begin = CANNOT_BEGIN.iter().any(|words| said.contains(words));
    let code = match run.outcome.exit {
        Exit::Exited(code) => code,
        Exit::Signaled(_) => 0,
    };
    match &run.answers.class {
        RunClass::Crash(crash) if crash.kind == CrashKind::Signal && run.outcome.stdout.is_empty() => {
            Some(format!("it ends by signal {} {said}", crash.signal.unwrap_or_default()))
        }
        RunClass::Killed(signal) => Some(format!("it ends by signal {signal} {said}")),
        RunClass::BadOption => Some(format!("it refuses its options: {said}")),
        RunClass::Silent | RunClass::Rejected if cannot_begin => Some(said),
        RunClass::Rejected => Some(format!("it refuses every script: {said}")),
        RunClass::Silent if matches!(code, 126 | 127) => {
            Some(format!("it ends with exit code {code} {said}"))
        }
        _ => None,
    }
}

fn last_words(run: &Run) -> String {
    let stream = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (out, err) = (stream(&run.outcome.stdout), stream(&run.outcome.stderr));
    let text = if err.is_empty() { out } else { err };
    text.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join("; ")
}
