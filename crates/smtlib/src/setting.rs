//! An option of a solver with its value, from whoever chose it to the command line and the report.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An option and its value, by the names that the solver lists them under. How it is written on a command line is the
/// solver's adapter's business.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub option: String,
    pub value: String,
}

impl Setting {
    pub fn new(option: impl Into<String>, value: impl Into<String>) -> Setting {
        Setting { option: option.into(), value: value.into() }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.option, self.value)
    }
}
