//! What the campaign asks about a run.

use engines::Answered;
use solver::answer::CheckAnswer;
use solver::run::Run;
use solver::{Answer, RunClass};

/// One word for counts: the last answer, or what else the run amounts to.
pub fn word(run: &Run) -> &'static str {
    match (&run.answers.class, run.answers.checks.last()) {
        (RunClass::Answered, Some(check)) => check.answer.word(),
        (class, _) => class.word(),
    }
}

/// The same for engines.
pub fn answered(run: &Run) -> Answered {
    if run.answers.crash().is_some() {
        return Answered::Crashed;
    }
    if refused(run) {
        return if gave_up(run) { Answered::RejectedInPart } else { Answered::Rejected };
    }
    match (&run.answers.class, run.answers.checks.last().map(|check| &check.answer)) {
        (RunClass::Timeout, _) => Answered::Timeout,
        (RunClass::Answered, _) if gave_up(run) => Answered::Unknown,
        _ if gave_up(run) => Answered::Timeout,
        (_, Some(Answer::Sat)) => Answered::Sat,
        (_, Some(Answer::Unsat)) => Answered::Unsat,
        // Some of its checks it did decide.
        (_, Some(Answer::Unknown(_)) | None) => Answered::Other,
    }
}

/// It gave no definite answer because it was stopped or gave up.
pub fn gave_up(run: &Run) -> bool {
    use RunClass::{Flood, Killed, MemoryOut, ResourceOut, Timeout};
    let stopped = matches!(run.answers.class, Timeout | MemoryOut | ResourceOut | Flood | Killed(_));
    let unknown = |check: &CheckAnswer| matches!(check.answer, Answer::Unknown(_));
    stopped || (!run.answers.checks.is_empty() && run.answers.checks.iter().all(unknown))
}

/// The script, or a part of it, was refused.
pub fn refused(run: &Run) -> bool {
    use RunClass::{BadOption, NotBuilt, Rejected, Unsupported};
    matches!(run.answers.class, Rejected | Unsupported | NotBuilt | BadOption)
}

/// The words of a refusal, without what depends on the script.
pub fn refusal(run: &Run) -> String {
    match run.answers.errors.first() {
        Some(error) => solver::crash::normalised(&error.message),
        None => {
            let said = if run.outcome.stderr.is_empty() { &run.outcome.stdout } else { &run.outcome.stderr };
            solver::crash::normalised(&String::from_utf8_lossy(said))
        }
    }
}

/// It does not know the logic at all.
pub fn refuses_logic(run: &Run) -> bool {
    let says = |message: &str| {
        message.contains("logic")
            && (message.contains("is not supported") || message.contains("unknown logic"))
    };
    refused(run) && (run.answers.errors.iter().any(|error| says(&error.message)) || says(&refusal(run)))
}
