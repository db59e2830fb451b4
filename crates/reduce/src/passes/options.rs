//! Options of the solver, reduced with the script.

use oracle::Configuration;

use super::Pass;
use crate::driver::Reduction;
use crate::error::ReduceError;

/// Leaves out options: all of them, then halves, then single ones. What is left out has its default value; numbers of
/// the others are made smaller.
pub struct Options;

impl Pass for Options {
    fn name(&self) -> &'static str {
        "options"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let Some(start) = reduction.configuration() else { return Ok(()) };
        let mut chunk = words(&start).len();
        while chunk > 0 {
            let mut at = 0;
            loop {
                let Some(now) = reduction.configuration() else { return Ok(()) };
                let count = words(&now).len();
                if at >= count {
                    break;
                }
                let gone: Vec<usize> = (at..(at + chunk).min(count)).collect();
                if !reduction.reconfigured(without(&now, &gone))? {
                    at += chunk;
                }
                if reduction.over() {
                    return Ok(());
                }
            }
            chunk /= 2;
        }
        smaller_numbers(reduction)?;
        // What we asked for on our own account.
        for clear in CLEAR {
            let Some(now) = reduction.configuration() else { return Ok(()) };
            let mut plain = Configuration::clone(&now);
            clear(&mut plain);
            if plain.request != now.request {
                reduction.reconfigured(plain)?;
            }
        }
        Ok(())
    }
}

const CLEAR: [fn(&mut Configuration); 4] = [
    |configuration| configuration.request.broad = false,
    |configuration| configuration.request.models = false,
    |configuration| configuration.request.cores = false,
    |configuration| {
        configuration.request.check_models = false;
        configuration.request.check_cores = false;
        configuration.request.check_proofs = false;
    },
];

/// Numbers of the options that are left: 0, 1, halves.
fn smaller_numbers(reduction: &mut Reduction) -> Result<(), ReduceError> {
    let mut at = 0;
    while let Some(now) = reduction.configuration() {
        let Some(word) = words(&now).get(at).map(|word| (*word).to_owned()) else { break };
        let mut changed = false;
        for value in smaller(&word) {
            if reduction.over() {
                return Ok(());
            }
            if reduction.reconfigured(with(&now, at, value))? {
                changed = true;
                break;
            }
        }
        if !changed {
            at += 1;
        }
    }
    Ok(())
}

/// A word of the form `name=number`, or a number alone, with smaller numbers.
fn smaller(word: &str) -> Vec<String> {
    let (name, value) = word.rsplit_once('=').map_or(("", word), |(name, value)| (name, value));
    let Ok(value) = value.parse::<u64>() else { return Vec::new() };
    let mut values = vec![0, 1, value / 2];
    values.sort_unstable();
    values.dedup();
    let equals = if name.is_empty() { "" } else { "=" };
    let less = values.into_iter().filter(|new| *new < value);
    less.map(|new| format!("{name}{equals}{new}")).collect()
}

/// The same solver with another word at a place.
fn with(configuration: &Configuration, place: usize, word: String) -> Configuration {
    let mut other = configuration.clone();
    let own = other.solver.options.len();
    let words =
        if place < own { &mut other.solver.options[place] } else { &mut other.request.options[place - own] };
    *words = word;
    other
}

/// The option words in the order of the command line.
fn words(configuration: &Configuration) -> Vec<&str> {
    configuration.options().collect()
}

/// The same solver without some of its option words.
fn without(configuration: &Configuration, gone: &[usize]) -> Configuration {
    let mut other = configuration.clone();
    let own = configuration.solver.options.len();
    let keep = |words: &[String], offset: usize| -> Vec<String> {
        let kept = words.iter().enumerate().filter(|(place, _)| !gone.contains(&(place + offset)));
        kept.map(|(_, word)| word.clone()).collect()
    };
    other.solver.options = keep(&configuration.solver.options, 0);
    other.request.options = keep(&configuration.request.options, own);
    other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_smaller_and_other_words_stay() {
        assert_eq!(
            smaller("smt.arith.solver=6"),
            ["smt.arith.solver=0", "smt.arith.solver=1", "smt.arith.solver=3"]
        );
        assert_eq!(smaller("2"), ["0", "1"]);
        assert_eq!(smaller("a=1"), ["a=0"]);
        for word in ["a=0", "--check-models", "proof=true", "x=-3"] {
            assert!(smaller(word).is_empty(), "{word}");
        }
    }
}
