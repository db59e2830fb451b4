//! What `perf` and `localize` have in common: the generator's parameters, and seeds.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use banditfuzz::generator::Parameters;
use banditfuzz::mutate::Arms;
use campaign::read_seeds;
use clap::{Args, ValueEnum};
use solver::Solver;

use crate::{inputs, output};

/// Parameters of the generator of inputs.
#[derive(Args)]
pub struct GeneratorArguments {
    /// The logic of inputs; without it that of the seeds, or QF_FP
    #[arg(long, value_name = "LOGIC")]
    pub logic: Option<String>,

    /// Free constants of an input: a number, or a range such as 2-5
    #[arg(long, value_name = "N|N-M", value_parser = range)]
    vars: Option<RangeInclusive<usize>>,

    /// Assertions of an input
    #[arg(long, value_name = "N|N-M", value_parser = range)]
    assertions: Option<RangeInclusive<usize>>,

    /// Levels of operators of an assertion
    #[arg(long, value_name = "N|N-M", value_parser = range)]
    depth: Option<RangeInclusive<usize>>,

    /// Only these operators, predicates and rounding modes: fp.add,fp.lt,RNE
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ops: Vec<String>,

    /// Weights of operators and theories instead of uniform choice: fp.rem=5,Core=0.5
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = weight)]
    weights: Vec<(String, f64)>,

    /// What the arms of the bandit are
    #[arg(long, value_enum, default_value = "constructs")]
    arms: ArmsName,
}

#[derive(Clone, Copy, ValueEnum)]
enum ArmsName {
    /// Operators, predicates, rounding modes, classes of constants, sorts, commands
    Constructs,
    /// These, below a certain other one
    Pairs,
}

impl GeneratorArguments {
    /// The parameters for these seeds, or for inputs from nothing.
    pub fn parameters(&self, seeds: &[Arc<str>]) -> Result<Parameters> {
        let usual = Parameters::default();
        let logic = match &self.logic {
            Some(logic) => logic.clone(),
            None if seeds.is_empty() => usual.logic,
            None => banditfuzz::seeds::logic(seeds),
        };
        let mut weights = BTreeMap::new();
        for (name, weight) in &self.weights {
            weights.insert(name.clone(), *weight);
        }
        Ok(Parameters {
            logic,
            variables: self.vars.clone().unwrap_or(usual.variables),
            assertions: self.assertions.clone().unwrap_or(usual.assertions),
            depth: self.depth.clone().unwrap_or(usual.depth),
            operators: self.ops.clone(),
            weights,
            arms: match self.arms {
                ArmsName::Constructs => Arms::Constructs,
                ArmsName::Pairs => Arms::Pairs,
            },
        })
    }
}

/// Larger numbers are slips of the pen.
const MOST: usize = 10_000;

fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let expected = || format!("'{text}' is neither a number nor a range such as 2-5");
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| (1..=MOST).contains(number));
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok(low..=high),
        _ => Err(expected()),
    }
}

fn weight(text: &str) -> Result<(String, f64), String> {
    let expected = || format!("'{text}' is not NAME=WEIGHT, as in fp.rem=5");
    let (name, weight) = text.rsplit_once('=').ok_or_else(expected)?;
    let weight: f64 = weight.parse().map_err(|_| expected())?;
    Ok((name.to_owned(), weight))
}

/// The texts of seeds that all solvers have the means for. Files that cannot be used are told.
pub fn seeds(paths: &[PathBuf], solvers: &[Solver]) -> Result<Arc<[Arc<str>]>> {
    if paths.is_empty() {
        return Ok(Arc::from([]));
    }
    let scripts = inputs::scripts(paths)?;
    let read = read_seeds(&scripts.files);
    for rejected in &read.rejected {
        output::say(&format!("osprey: left out: {}", rejected.why));
    }
    if read.seeds.is_empty() {
        bail!("none of the {} seed files can be used", scripts.files.len());
    }
    let texts: Vec<Arc<str>> = read.seeds.into_iter().map(|seed| seed.text).collect();
    let (kept, left_out) = banditfuzz::seeds::for_all(&texts, solvers)?;
    if left_out > 0 {
        output::say(&format!("osprey: {left_out} seeds are left out: some solver lacks what they use"));
    }
    Ok(kept)
}
