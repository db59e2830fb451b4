//! Small changes to a script's own text. What provokes a bug may be lost when a script is printed anew, so its bytes are
//! kept wherever they can be.

use std::ops::Range;

use solver::answer::reader::{self, Kind};

/// Options by which a script makes a solver check its own results; a failed check takes the answer with it.
const SELF_CHECKS: [&[u8]; 6] = [
    b":check-models",
    b":debug-check-models",
    b":check-unsat-cores",
    b":check-proofs",
    b":model_validate",
    b":model-validate",
];

/// The text with `(get-model)` after the chosen checks (by number from 0), and without the solver's own checks of its
/// results. What follows on its own in the script (a `get-model`, a `get-value` of the user's) stays.
pub fn with_models(script: &[u8], wanted: impl Fn(usize) -> bool) -> Vec<u8> {
    with_questions(script, wanted, "")
}

/// The same with further questions after `(get-model)`.
pub fn with_questions(script: &[u8], wanted: impl Fn(usize) -> bool, questions: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(script.len() + 64);
    let mut copied = 0;
    let mut check = 0;
    for piece in reader::pieces(script) {
        if piece.kind != Kind::Group {
            continue;
        }
        let head = reader::head(script, &piece.range);
        if head == b"set-option" && is_self_check(script, &piece.range) {
            text.extend_from_slice(&script[copied..piece.range.start]);
            copied = piece.range.end;
        }
        if head.starts_with(b"check-sat") {
            if wanted(check) {
                text.extend_from_slice(&script[copied..piece.range.end]);
                text.extend_from_slice(b"\n(get-model)");
                text.extend_from_slice(questions.as_bytes());
                copied = piece.range.end;
            }
            check += 1;
        }
    }
    text.extend_from_slice(&script[copied..]);
    text
}

fn is_self_check(script: &[u8], command: &Range<usize>) -> bool {
    let members = reader::members(script, command);
    members.get(1).is_some_and(|keyword| SELF_CHECKS.contains(&&script[keyword.range.clone()]))
}

/// Whether the script asks for this itself.
pub fn has_command(script: &[u8], name: &str) -> bool {
    reader::pieces(script)
        .any(|piece| piece.kind == Kind::Group && reader::head(script, &piece.range) == name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_asked_for_after_the_chosen_checks_only() {
        let script = b"(assert a) ; (check-sat)\n(check-sat)\n(echo \"(check-sat)\")(check-sat-assuming (a))";
        let text = with_models(script, |check| check == 1);
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.matches("(get-model)").count(), 1);
        assert!(text.ends_with("(check-sat-assuming (a))\n(get-model)"));
    }

    #[test]
    fn the_solvers_own_checks_are_left_out() {
        let script = b"(set-option :check-models true)\n(set-option :produce-models true)\n(check-sat)";
        let text = String::from_utf8(with_models(script, |_| true)).expect("text");
        assert_eq!(text, "\n(set-option :produce-models true)\n(check-sat)\n(get-model)");
    }

    #[test]
    fn commands_inside_comments_and_strings_do_not_count() {
        assert!(!has_command(b"; (get-model)\n(echo \"(get-model)\")", "get-model"));
        assert!(has_command(b"(get-model)", "get-model"));
    }
}
