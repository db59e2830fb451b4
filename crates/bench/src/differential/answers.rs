//! What a solver printed for a script of cases.

use smtlib::Release;

/// The line before each answer.
pub(super) const MARK: &str = "case ";

/// What a solver says about one case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    Unknown,
    Error(String),
}

/// The answers in order, up to the last that is there. An error before the line of a case belongs to the case.
pub(super) fn read(printed: &str, count: usize) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut error: Option<String> = None;
    let mut inside = false;
    for line in printed.lines() {
        let word = line.trim().trim_matches('"');
        if word.starts_with(MARK) {
            inside = true;
            continue;
        }
        if word.starts_with("(error") {
            error.get_or_insert_with(|| word.chars().take(200).collect());
            continue;
        }
        let answer = match word {
            "sat" => Answer::Sat,
            "unsat" => Answer::Unsat,
            "unknown" | "timeout" => Answer::Unknown,
            _ => continue,
        };
        if inside {
            answers.push(match error.take() {
                Some(message) => Answer::Error(message),
                None => answer,
            });
            inside = false;
        }
    }
    if let (Some(message), true) = (error, answers.len() < count) {
        answers.push(Answer::Error(message));
    }
    answers
}

/// The option, if the release has it.
pub(super) fn optional(release: Release, option: &str) -> String {
    let since = match option {
        "arrays-exp" => "1.0.9",
        "sets-exp" | "bags-exp" => "1.2.1",
        _ => "0.0.1",
    };
    let has = since.parse().is_ok_and(|since| release.version >= since);
    if has { format!("(set-option :{option} true)\n") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart_by_their_marks() {
        let printed = "case 0\nunsat\n(error \"line 3: no\")\ncase 1\nsat\n\"case 2\"\nunknown\ncase 3\n";
        let expected = [Answer::Unsat, Answer::Error("(error \"line 3: no\")".to_owned()), Answer::Unknown];
        assert_eq!(read(printed, 4), expected);
    }

    #[test]
    fn a_last_error_is_the_answer_of_the_case_it_stopped() {
        assert_eq!(
            read("case 0\nunsat\n(error \"no\")", 3),
            [Answer::Unsat, Answer::Error("(error \"no\")".to_owned())]
        );
        assert_eq!(read("case 0\nunsat\n(error \"no\")", 1), [Answer::Unsat]);
    }
}
