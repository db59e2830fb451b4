//! Settings of option policies that have learned, on the command line.

use std::path::{Path, PathBuf};

use campaign::{CampaignError, LearnedSettings, NamedCorrelations, input};
use clap::Args;
use falcon::search::Parameters;

/// What users may set of the search for options.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Learned options")]
pub struct LearnedArguments {
    /// Which options matter for which operations: a file that `osprey learn` has made; repeatable
    #[arg(long, value_name = "FILE")]
    correlations: Vec<PathBuf>,

    /// Use these files for other releases of their solver as well
    #[arg(long, requires = "correlations")]
    force_correlations: bool,

    /// The fitness of a configuration is all code that it reaches, at the price of a second run; else what is new of it
    #[arg(long)]
    own_coverage: bool,

    /// Search the options of every test case until nothing is new or enough were tried, as in the paper; else for as long as
    /// options reach new code as fast as new test cases do
    #[arg(long)]
    search_paper: bool,

    /// Configurations of the first generation
    #[arg(long, value_name = "N", value_parser = count)]
    search_population: Option<usize>,

    /// Configurations that have children: each two of them have two
    #[arg(long, value_name = "N", value_parser = count)]
    search_survivors: Option<usize>,

    /// Options that a configuration of the first generation changes, in the mean
    #[arg(long, value_name = "N", value_parser = positive)]
    search_changed: Option<f64>,

    /// The largest step of an integer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    search_delta: Option<u32>,

    /// The index of the polynomial mutation of numbers with a point: the larger, the smaller the steps
    #[arg(long, value_name = "N", value_parser = positive)]
    search_index: Option<f64>,

    /// A search ends after so many generations without anything new
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    search_stagnant: Option<u32>,

    /// A search ends after so many configurations
    #[arg(long, value_name = "N", value_parser = count)]
    search_offspring: Option<usize>,
}

impl LearnedArguments {
    /// Has the user set nothing?
    pub fn is_empty(&self) -> bool {
        *self == LearnedArguments::default()
    }

    /// With paths as another process finds them, and what the files say.
    pub fn settings(&self, whole: impl Fn(&Path) -> PathBuf) -> Result<LearnedSettings, CampaignError> {
        let usual = Parameters::default();
        let read = |path: &PathBuf| {
            let text = input::read_text(path, input::LARGEST_FILE)?;
            Ok(NamedCorrelations { path: whole(path), text })
        };
        Ok(LearnedSettings {
            correlations: self.correlations.iter().map(read).collect::<Result<_, CampaignError>>()?,
            forced: self.force_correlations,
            own_coverage: self.own_coverage,
            search: Parameters {
                population: self.search_population.unwrap_or(usual.population),
                survivors: self.search_survivors.unwrap_or(usual.survivors),
                changed: self.search_changed.unwrap_or(usual.changed),
                delta: self.search_delta.unwrap_or(usual.delta),
                index: self.search_index.unwrap_or(usual.index),
                stagnant: self.search_stagnant.unwrap_or(usual.stagnant),
                offspring: self.search_offspring.unwrap_or(usual.offspring),
                paper: self.search_paper,
            },
        })
    }
}

/// Search parameters of more than this are a slip of the finger.
const LARGEST: usize = 100_000;

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=LARGEST) => Ok(number),
        _ => Err(format!("expected a number from 1 to {LARGEST}")),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= LARGEST as f64 => Ok(number),
        _ => Err(format!("expected a number above 0, {LARGEST} at most")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        learned: LearnedArguments,
    }

    fn read(words: &str) -> Result<Parameters, String> {
        let words = std::iter::once("osprey").chain(words.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        let settings = line.learned.settings(Path::to_owned).map_err(|error| error.to_string())?;
        Ok(settings.search)
    }

    #[test]
    fn parameters_of_which_no_search_can_be_made_are_refused() {
        for flag in ["population", "survivors", "offspring", "delta", "stagnant", "changed", "index"] {
            for value in ["0", "-1", "nan", "inf", "x"] {
                let words = format!("--search-{flag}={value}");
                assert!(read(&words).is_err_and(|text| text.contains(value)), "{words}");
            }
            assert!(read(&format!("--search-{flag}=3")).is_ok(), "{flag}");
        }
        let usual = Parameters::default();
        assert_eq!(read(""), Ok(usual.clone()));
        assert_eq!(read("--search-paper"), Ok(Parameters { paper: true, ..usual.clone() }));
        assert_eq!(read("--search-changed 2.5"), Ok(Parameters { changed: 2.5, ..usual }));
    }

    #[test]
    fn what_a_file_says_goes_with_the_campaign() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("z3.json");
        let arguments = LearnedArguments { correlations: vec![path.clone()], ..LearnedArguments::default() };
        let missing = arguments.settings(Path::to_owned).expect_err("there is no file").to_string();
        assert!(missing.contains("z3.json"), "{missing}");
        std::fs::write(&path, "what was learned").expect("written");
        let settings = arguments.settings(Path::to_owned).expect("read");
        let text = "what was learned".to_owned();
        assert_eq!(settings.correlations, [NamedCorrelations { path, text }]);
    }
}
