//! What a solver says about its own work: `(get-info :all-statistics)`, as features of behaviour.
//!
//! A counter that was never seen above zero, or not at this order of magnitude, tells that a part of the solver ran that
//! had not, on any binary and without instrumenting it.

use smtlib::logic::Usage;
use solver::run::Run;

use super::novelty::{Feature, Signal};

/// Appended to a script to ask for the statistics.
pub const GET_STATISTICS: &str = "(get-info :all-statistics)\n";

/// Share of the test cases that ask: some solvers print twenty thousand characters.
pub const SHARE: f64 = 0.1;

/// Parts of names of counters that tell more about the machine than about the work, by their first letters.
fn unsteady(letter: u8) -> &'static [&'static str] {
    match letter {
        b'a' => &["alloc"],
        b'f' => &["filename"],
        b'm' => &["memory"],
        b'r' => &["rlimit", "resource"],
        b't' => &["time"],
        _ => &[],
    }
}

/// Solvers have hundreds of counters, and each of them is looked at: nothing is allocated for that.
fn is_steady(name: &str) -> bool {
    let name = name.as_bytes();
    let begins = |at: usize, part: &&str| {
        name.get(at..at + part.len()).is_some_and(|there| there.eq_ignore_ascii_case(part.as_bytes()))
    };
    !(0..name.len()).any(|at| unsteady(name[at].to_ascii_lowercase()).iter().any(|part| begins(at, part)))
}

/// Counters by order of magnitude.
pub struct Statistics;

impl Signal for Statistics {
    fn features(&self, _: &Usage, runs: &[(usize, &Run)], out: &mut Vec<u64>) {
        for (solver, run) in runs {
            if !run.script.ends_with(GET_STATISTICS.as_bytes()) {
                continue;
            }
            let text = String::from_utf8_lossy(&run.outcome.stdout);
            for (name, value) in counters(&text) {
                let magnitude = u64::from(value.ilog2() / 2);
                out.push(Feature::of("statistic").number(*solver as u64).text(name).number(magnitude).get());
            }
        }
    }
}

/// The positive counters of the last answer: `:name 12` as Z3 and Yices write it, `("name" 12)` as cvc5 does.
fn counters(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let start = text.rfind("(:").unwrap_or(text.len());
    let ends_word = |c: char| c.is_ascii_whitespace() || matches!(c, '(' | ')' | '"' | '{' | '}' | ',');
    let mut words = text[start..].split(ends_word);
    let mut name = None;
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if word.is_empty() {
                continue;
            }
            let number = word.starts_with(|c: char| c.is_ascii_digit());
            let value = if number { word.parse::<u64>().ok().filter(|value| *value > 0) } else { None };
            if let (Some(name), Some(value)) = (name, value) {
                return Some((name, value));
            }
            name = word.starts_with(|c: char| c == ':' || c.is_alphabetic()).then_some(word);
        }
    })
    .filter(|(name, _)| is_steady(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_each_solver_writes_them() {
        let z3 = "sat\n((define-fun x () Int 7))\n(:arith-rows 11\n :conflicts  0\n :decisions 2\n :memory 18.16\n \
                  :max-memory 3\n :rlimit-count 388\n :time 0.01)\n";
        assert_eq!(counters(z3).collect::<Vec<_>>(), [(":arith-rows", 11), (":decisions", 2)]);
        let cvc5 = "sat\n(:all-statistics ((\"sat::decisions\" 2) (\"cvc5::TERM\" { ADD: 1, GT: 2 }) \
                    (\"theory::arith::checkTime\" 16ms) (\"resource::steps\" 5) (\"sat::conflicts\" 0)))\n";
        assert_eq!(counters(cvc5).collect::<Vec<_>>(), [("sat::decisions", 2), ("ADD:", 1), ("GT:", 2)]);
        assert_eq!(counters("sat\n").count(), 0);
    }
}
