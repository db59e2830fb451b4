//! Options of the solver, reduced with the script.

use solver::run::Configuration;

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
        let mut chunk = start.option_count();
        while chunk > 0 {
            let mut at = 0;
            loop {
                let Some(now) = reduction.configuration() else { return Ok(()) };
                let count = now.option_count();
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
        if at >= now.option_count() {
            break;
        }
        let mut changed = false;
        for smaller in with_smaller_number(&now, at) {
            if reduction.over() {
                return Ok(());
            }
            if reduction.reconfigured(smaller)? {
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

/// The same solver with smaller numbers in the option at a place: the user's words come first, then the test case's
/// settings, as on the command line.
fn with_smaller_number(configuration: &Configuration, place: usize) -> Vec<Configuration> {
    let own = configuration.solver.options.len();
    let changed = |change: &dyn Fn(&mut Configuration, String), value: String| {
        let mut other = configuration.clone();
        change(&mut other, value);
        other
    };
    if place < own {
        let words = smaller_word(&configuration.solver.options[place]);
        let change = |other: &mut Configuration, word| other.solver.options[place] = word;
        words.into_iter().map(|word| changed(&change, word)).collect()
    } else {
        let values = smaller(&configuration.request.settings[place - own].value);
        let change = |other: &mut Configuration, value| other.request.settings[place - own].value = value;
        values.into_iter().map(|value| changed(&change, value)).collect()
    }
}

/// A word of the form `name=number`, or a number alone, with smaller numbers.
fn smaller_word(word: &str) -> Vec<String> {
    match word.rsplit_once('=') {
        Some((name, value)) => smaller(value).into_iter().map(|value| format!("{name}={value}")).collect(),
        None => smaller(word),
    }
}

/// Smaller numbers than this one; none for what is no number.
fn smaller(value: &str) -> Vec<String> {
    let Ok(value) = value.parse::<u64>() else { return Vec::new() };
    let mut values = vec![0, 1, value / 2];
    values.sort_unstable();
    values.dedup();
    values.into_iter().filter(|new| *new < value).map(|new| new.to_string()).collect()
}

/// The same solver without some of its options, by their places on the command line.
pub(crate) fn without(configuration: &Configuration, gone: &[usize]) -> Configuration {
    let mut other = configuration.clone();
    let own = configuration.solver.options.len();
    other.solver.options = kept(&configuration.solver.options, gone, 0);
    other.request.settings = kept(&configuration.request.settings, gone, own);
    other
}

/// Those that stay, where the first stands at `offset`.
fn kept<T: Clone>(all: &[T], gone: &[usize], offset: usize) -> Vec<T> {
    let kept = all.iter().enumerate().filter(|(place, _)| !gone.contains(&(place + offset)));
    kept.map(|(_, one)| one.clone()).collect()
}

#[cfg(test)]
mod tests {
    use smtlib::Setting;
    use solver::run::PartyId;

    use super::*;

    fn configuration() -> Configuration {
        let mut configuration = Configuration::new(PartyId(0), testkit::made_up("z3@4.8.7 -q a=8"));
        configuration.request.settings = vec![Setting::new("b", "true"), Setting::new("c", "4")];
        configuration
    }

    #[test]
    fn numbers_get_smaller_and_other_words_stay() {
        assert_eq!(
            smaller_word("smt.arith.solver=6"),
            ["smt.arith.solver=0", "smt.arith.solver=1", "smt.arith.solver=3"]
        );
        assert_eq!(smaller_word("2"), ["0", "1"]);
        assert_eq!(smaller_word("a=1"), ["a=0"]);
        for word in ["a=0", "--check-models", "proof=true", "x=-3"] {
            assert!(smaller_word(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn the_users_words_and_the_test_cases_settings_are_reduced_alike() {
        let all = configuration();
        let left = |gone: &[usize]| without(&all, gone).options().join(" ");
        assert_eq!(left(&[]), "-q a=8 b=true c=4");
        assert_eq!(left(&[0, 2]), "a=8 c=4");
        assert_eq!(left(&[1, 3]), "-q b=true");
        let smaller = |place| -> Vec<String> {
            with_smaller_number(&all, place).iter().map(|other| other.options()[place].clone()).collect()
        };
        assert_eq!(smaller(1), ["a=0", "a=1", "a=4"]);
        assert_eq!(smaller(3), ["c=0", "c=1", "c=2"]);
        assert!(smaller(0).is_empty() && smaller(2).is_empty());
    }
}
