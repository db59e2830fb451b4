//! The report for other programs: one file per format.

mod csv;
mod json;
mod junit;
mod markdown;

pub use csv::csv;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
