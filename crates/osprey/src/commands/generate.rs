//! `osprey generate`: well-sorted scripts from nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use generate::{Config, Grammar, rng};
use serde::Serialize;
use smtlib::theory::Theory;
use smtlib::{Family, Release, Store, Version, print};

use crate::exit::Exit;
use crate::{inputs, output};

/// Generate well-sorted scripts of a logic
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey generate --logic QF_SLIA --count 100 --out seeds
  osprey generate --logic ALL --count 100 --out seeds -s z3@5.4.0 -s cvc5@1.4.2
                                      what both releases accept, written for the first
  osprey generate --logic QF_BV --count 10 --out seeds --weight bvmul=10 --weight BvUdiv=0
  osprey generate --logic AUFLIA --count 10 --out seeds --quantifiers 0.3 --depth 6 --get-model
  osprey generate --logic LIA --count 10 --out seeds --config grammar.toml

The same logic, solvers, settings and --rng-seed give the same files.")]
pub struct Generate {
    /// A logic such as QF_SLIA, AUFLIA, UFDTLIRA, QF_ABVFP, QF_FF, or ALL
    #[arg(long)]
    logic: String,

    /// How many scripts
    #[arg(long, default_value_t = 1)]
    count: u64,

    /// The folder for the files; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// A release whose operators may be used, as in z3@5.4.0; repeatable: what all of them accept. Without any, the
    /// standard
    #[arg(short, long = "solver", value_name = "NAME@VERSION", value_parser = release)]
    solvers: Vec<Release>,

    /// Settings from a TOML file; the options below win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Draw new groups of operators after this many scripts (swarm testing); 0: never
    #[arg(long, value_name = "N", default_value_t = 20)]
    swarm: u64,

    /// At most this many free constants
    #[arg(long, value_name = "N")]
    variables: Option<usize>,

    /// At most this many assertions
    #[arg(long, value_name = "N")]
    assertions: Option<usize>,

    /// At most this many levels of operators
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// At most this many declared functions
    #[arg(long, value_name = "N")]
    functions: Option<usize>,

    /// Probability of a quantifier at a Boolean node
    #[arg(long, value_name = "P", value_parser = probability)]
    quantifiers: Option<f64>,

    /// Probability that an earlier term is used again
    #[arg(long, value_name = "P", value_parser = probability)]
    sharing: Option<f64>,

    /// Probability of a script with push, pop and several checks
    #[arg(long, value_name = "P", value_parser = probability)]
    incremental: Option<f64>,

    /// The weight of an operator or theory: bvmul=10, StrReplace=0, Strings=2; repeatable
    #[arg(long = "weight", value_name = "NAME=W", value_parser = weight)]
    weights: Vec<(String, f64)>,

    /// Ask for models
    #[arg(long)]
    get_model: bool,

    /// Ask for values
    #[arg(long)]
    get_value: bool,

    /// Name the assertions and ask for unsatisfiable cores
    #[arg(long)]
    get_unsat_core: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    logic: &'a str,
    rng_seed: u64,
    count: u64,
    bytes: usize,
    out: &'a Path,
}

impl Generate {
    pub fn run(self) -> Result<Exit> {
        let solvers = self.releases()?;
        let grammar = Grammar::new(&self.logic, &solvers, self.settings()?)?;
        output::folder(&self.out)?;
        let dialect = solvers.first().copied().unwrap_or(Release::STANDARD);
        let mut store = Store::new();
        let clean = store.mark();
        let mut batch = grammar.clone();
        let mut bytes = 0;
        for index in 0..self.count {
            if self.swarm > 0 && index % self.swarm == 0 {
                // Batches have streams of their own, far from those of the scripts.
                batch = grammar.swarm(&mut rng::stream(self.rng_seed, u64::MAX - index / self.swarm));
            }
            let mut script = batch.script(&mut store, &mut rng::stream(self.rng_seed, index));
            smtlib::logic::widen(&mut store, &mut script);
            let text = print::print(&store, &script, dialect);
            store.reset(&clean);
            bytes += text.len();
            let file = self.out.join(format!("{}-{}-{index:05}.smt2", self.logic, self.rng_seed));
            output::file(&file, &text)?;
        }
        if self.json {
            let summary = Summary {
                logic: &self.logic,
                rng_seed: self.rng_seed,
                count: self.count,
                bytes,
                out: &self.out,
            };
            output::print_json_line(&summary)?;
        } else {
            let out = self.out.display();
            let (count, logic, seed) = (self.count, &self.logic, self.rng_seed);
            output::print_line(&format!("{count} scripts of {logic} in {out} (--rng-seed {seed})"))?;
        }
        Ok(Exit::Clean)
    }

    /// The releases that were named. Else one that has the theories which the standard does not have.
    fn releases(&self) -> Result<Vec<Release>> {
        if !self.solvers.is_empty() {
            let lacking = Grammar::new(&self.logic, &self.solvers, Config::default())?.lacking();
            if !lacking.is_empty() {
                output::say(&format!(
                    "osprey: these releases have no operators of {}: scripts have none of them",
                    names(&lacking)
                ));
            }
            return Ok(self.solvers.clone());
        }
        let lacking = Grammar::new(&self.logic, &[], Config::default())?.lacking();
        if lacking.is_empty() {
            return Ok(Vec::new());
        }
        let Some(release) = Grammar::release_for(&self.logic)? else {
            bail!(
                "the standard has no operators of {}, and no solver has all of them: name fewer theories, or a solver with -s",
                names(&lacking)
            );
        };
        output::say(&format!(
            "osprey: the standard has no operators of {}: those of {} are used (-s names another solver)",
            names(&lacking),
            release.family.name()
        ));
        Ok(vec![release])
    }

    fn settings(&self) -> Result<Config> {
        let mut config = match &self.config {
            None => Config::default(),
            Some(file) => {
                let text = inputs::read_text(file)?;
                toml::from_str(&text).with_context(|| format!("in '{}'", file.display()))?
            }
        };
        let counts = [
            (&mut config.variables, self.variables),
            (&mut config.assertions, self.assertions),
            (&mut config.depth, self.depth),
            (&mut config.functions, self.functions),
        ];
        for (setting, given) in counts {
            *setting = given.unwrap_or(*setting);
        }
        let shares = [
            (&mut config.quantifiers, self.quantifiers),
            (&mut config.sharing, self.sharing),
            (&mut config.incremental, self.incremental),
        ];
        for (setting, given) in shares {
            *setting = given.unwrap_or(*setting);
        }
        config.get_model |= self.get_model;
        config.get_value |= self.get_value;
        config.get_unsat_core |= self.get_unsat_core;
        for (name, weight) in &self.weights {
            // Theories begin with a capital and operators never share their names.
            let is_theory =
                smtlib::theory::table().rows().iter().any(|row| format!("{:?}", row.theory) == *name);
            let table = if is_theory { &mut config.theories } else { &mut config.operators };
            table.insert(name.clone(), *weight);
        }
        Ok(config)
    }
}

fn names(theories: &[Theory]) -> String {
    theories.iter().map(|theory| format!("{theory:?}")).collect::<Vec<_>>().join(", ")
}

fn release(text: &str) -> Result<Release> {
    let (family, version) = text.split_once('@').unwrap_or((text, ""));
    let family: Family = family.parse().map_err(|()| {
        let known: Vec<&str> = Family::all().map(Family::name).collect();
        anyhow!("unknown solver '{family}'; expected one of {}", known.join(", "))
    })?;
    let version = match version {
        "" => Version::LATEST,
        text => text.parse().map_err(|_| anyhow!("'{text}' is not a version such as 5.4.0"))?,
    };
    Ok(Release::new(family, version))
}

fn probability(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => bail!("expected a probability between 0 and 1"),
    }
}

fn weight(text: &str) -> Result<(String, f64)> {
    let (name, weight) = text.rsplit_once('=').context("expected NAME=WEIGHT, as in bvmul=10")?;
    Ok((name.to_owned(), weight.parse().context("expected a number after '='")?))
}
