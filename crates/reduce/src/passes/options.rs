//! Options of the solver, reduced with the script.

use oracle::Configuration;

use super::Pass;
use crate::driver::Reduction;
use crate::error::ReduceError;

/// Leaves out options: all of them, then halves, then single ones. What is left out has its default value.
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
