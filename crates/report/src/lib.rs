//! A campaign to look at: what it found and did, as pages, tables and files for other programs, and live while it runs.
//!
//! - [`Overview`]: everything that pages and files tell, read from an output folder; [`Reader`]: the same again and again
//! - `bugs`: findings in the order in which a developer wants to see them
//! - `curves`: the campaign over time; `chart`: lines as SVG; `highlight`: scripts as HTML
//! - `pages`: HTML, one file per page; `formats`: Markdown, CSV, JSON, JUnit; `folder`: all of it on disk
//! - [`serve`]: the same pages over HTTP, with events

mod bugs;
mod chart;
mod curves;
mod error;
mod folder;
mod formats;
mod highlight;
mod overview;
mod pages;
mod performance;
pub mod serve;

pub use bugs::{Bug, Entry, bugs};
pub use campaign::findings::Fairness;
pub use error::ReportError;
pub use folder::{Written, write};
pub use formats::{csv, json, junit, markdown};
pub use overview::{Condition, Overview, Reader, SeedCounts};
