//! The experiments of the BanditFuzz paper, scaled to one machine: which construct is to blame.
//!
//! - [`margins`]: performance fuzzing, its Tables 1 and 2 and Figures 2 and 3
//! - [`bugs`]: bug localisation, its Figure 4
//! - [`rates`]: how fast inputs are made and changed, beside the authors' program

pub mod bugs;
pub mod margins;
pub mod rates;

use banditfuzz::session::{Progress, Watch as SessionWatch};

use crate::watch::Watch;

/// A benchmark's audience as a session's.
struct Audience<'a> {
    watch: &'a dyn Watch,
    what: String,
    done: usize,
    all: usize,
}

impl SessionWatch for Audience<'_> {
    fn stopped(&self) -> bool {
        self.watch.stopped()
    }

    fn progress(&self, progress: &Progress) {
        let now = match progress.perfect > 0.0 {
            true => format!("{}: best score {:.3}", self.what, progress.best.max(0.0)),
            false => format!("{}: {} of {} inputs", self.what, progress.done, progress.all),
        };
        let done = if progress.perfect > 0.0 { progress.done } else { 0 };
        self.watch.progress(self.done + done, self.all, &now);
    }

    fn note(&self, text: &str) {
        self.watch.progress(self.done, self.all, text);
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = figures.fold((0.0, 0.0), |(count, sum), figure| (count + 1.0, sum + figure));
    if count > 0.0 { sum / count } else { f64::NAN }
}

/// A name for a folder.
fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}
