//! What came of a test case, as far as an engine may steer by it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the campaign saw of a test case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Bugs it revealed, known ones included.
    pub findings: u32,
    /// Features of solvers' behaviour not seen before.
    pub novel: u32,
    /// One for each run.
    pub runs: Vec<RunFeedback>,
    /// What the engine noted of a model that satisfies the test case ([`Round::note`](crate::Round::note)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// What one run of a solver came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFeedback {
    /// The number of the solver in the campaign.
    pub solver: usize,
    pub answer: Answered,
    pub cpu: Duration,
}

/// A run's answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    Sat,
    Unsat,
    /// Every check was answered `unknown`.
    Unknown,
    /// Stopped by a limit: time, memory, resources or output.
    Timeout,
    /// The script or an option was refused.
    Rejected,
    /// A part of the script was refused and every check was answered `unknown`.
    RejectedInPart,
    Crashed,
    Other,
}

impl Answered {
    /// It gave no definite answer because it was stopped or gave up.
    pub fn gave_up(self) -> bool {
        matches!(self, Answered::Unknown | Answered::Timeout | Answered::RejectedInPart)
    }

    /// The script, or a part of it, was refused.
    pub fn is_rejected(self) -> bool {
        matches!(self, Answered::Rejected | Answered::RejectedInPart)
    }
}

impl Feedback {
    /// It revealed a bug.
    pub fn is_finding(&self) -> bool {
        self.findings > 0
    }

    /// Some solver behaved in a way not seen before.
    pub fn is_novel(&self) -> bool {
        self.novel > 0
    }

    /// All solvers timed out or gave up.
    pub fn is_hopeless(&self) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(|run| run.answer.gave_up())
    }

    /// Some solver ran out of time, or was stopped by another limit.
    pub fn timed_out(&self) -> bool {
        self.runs.iter().any(|run| run.answer == Answered::Timeout)
    }

    /// A solver rejected the script.
    pub fn is_rejected(&self) -> bool {
        self.runs.iter().any(|run| run.answer.is_rejected())
    }

    /// What a finding's provenance stores of each step: `f`inding, `n`ovel, `h`opeless, `r`ejected. With what was seen it is
    /// enough for every engine that does not steer by numbers.
    pub fn letters(&self) -> String {
        let flags = [
            (self.is_finding(), 'f'),
            (self.is_novel(), 'n'),
            (self.is_hopeless(), 'h'),
            (self.is_rejected(), 'r'),
        ];
        flags.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect()
    }

    /// A feedback with these letters. Its numbers stand for nothing else; letters that mean nothing are passed over.
    pub fn from_letters(letters: &str) -> Feedback {
        let has = |letter| letters.contains(letter);
        let answer = match (has('h'), has('r')) {
            (true, true) => Some(Answered::RejectedInPart),
            (true, false) => Some(Answered::Timeout),
            (false, true) => Some(Answered::Rejected),
            (false, false) => None,
        };
        let run = |answer| RunFeedback { solver: 0, answer, cpu: Duration::ZERO };
        Feedback {
            findings: u32::from(has('f')),
            novel: u32::from(has('n')),
            runs: answer.map(run).into_iter().collect(),
            seen: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(answers: &[Answered]) -> Feedback {
        let run = |(solver, answer): (usize, &Answered)| RunFeedback {
            solver,
            answer: *answer,
            cpu: Duration::from_millis(3),
        };
        Feedback { runs: answers.iter().enumerate().map(run).collect(), ..Feedback::default() }
    }

    #[test]
    fn letters_say_what_the_feedback_says() {
        for number in 0..16 {
            let letters: String =
                "fnhr".chars().enumerate().filter(|(i, _)| number >> i & 1 == 1).map(|(_, c)| c).collect();
            assert_eq!(Feedback::from_letters(&letters).letters(), letters);
        }
    }

    #[test]
    fn a_test_case_is_hopeless_only_if_every_solver_gave_up() {
        use Answered::{Crashed, Other, Rejected, RejectedInPart, Sat, Timeout, Unknown, Unsat};
        assert_eq!(runs(&[Timeout, Unknown]).letters(), "h");
        assert_eq!(runs(&[Timeout, RejectedInPart]).letters(), "hr");
        assert_eq!(runs(&[Timeout, Rejected]).letters(), "r");
        for decided in [Sat, Unsat, Crashed, Other] {
            assert_eq!(runs(&[Timeout, decided]).letters(), "");
        }
        assert_eq!(runs(&[]).letters(), "", "nobody ran, nobody gave up");
    }

    #[test]
    fn a_feedback_is_stored_and_read_back() {
        let feedback = Feedback { findings: 2, novel: 7, ..runs(&[Answered::Sat, Answered::Crashed]) };
        let text = serde_json::to_string(&feedback).expect("plain data");
        assert_eq!(serde_json::from_str::<Feedback>(&text).expect("the same type"), feedback);
    }
}
