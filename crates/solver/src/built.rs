//! What a build was made without, although its release has it: a theory may need a library that not every build has.
//!
//! The adapter has a small script for each such theory. It is run once per build, and what came of it is remembered: a
//! campaign decides from the start what it sends to whom.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::adapter::{Meaning, RunRequest};
use crate::install::Home;
use crate::install::contained::Contained;
use crate::solver::Solver;

/// Longest time for one script: a runtime may have to start first.
const PATIENCE: Duration = Duration::from_secs(30);

/// What has been asked about a build: whether it has what a script needs.
type Remembered = BTreeMap<String, bool>;

impl Solver {
    /// The same, which does not claim what its build was made without.
    #[must_use]
    pub fn ask_what_it_lacks(mut self, home: &Home) -> Solver {
        let place = self.place_of_its_build();
        let recall = |place: &String| home.recall::<Remembered>(place);
        let before = place.as_ref().and_then(recall).unwrap_or_default();
        let (mut known, mut lacked) = (before.clone(), Vec::new());
        for (theory, probe) in self.adapter.optional_theories(self.version()) {
            let has = known.get(probe).copied().or_else(|| self.has_what_is_in(probe));
            if let Some(has) = has {
                known.insert(probe.to_owned(), has);
            }
            if has == Some(false) {
                lacked.extend(theory.names.iter().cloned());
            }
        }
        if let Some(place) = place.filter(|_| known != before) {
            // Not being able to remember costs a run next time.
            let _ = home.remember(&place, &known);
        }
        self.built_without = lacked;
        self
    }

    /// Where it is remembered: for a program of the user's, by its content.
    fn place_of_its_build(&self) -> Option<String> {
        let hash = self.installed.sha256.as_deref();
        let build = hash.map(|hash| format!("-{}", &hash[..16])).unwrap_or_default();
        self.version().map(|version| format!("built/{}-{version}{build}.json", self.installed.name))
    }

    /// Nothing if it could not be asked: it is taken to have everything then, and is asked again.
    fn has_what_is_in(&self, probe: &str) -> Option<bool> {
        // The user's options are not the build's.
        let plain = Solver { options: Vec::new(), ..self.clone() };
        let invocation = plain.invocation(probe.as_bytes(), &RunRequest::default()).ok()?;
        let finished = Contained::start().ok()?.run(invocation, PATIENCE).ok()?;
        let said = finished.all();
        let refused = self.wordings.in_text(&said).iter().any(|message| message.means == Meaning::NotBuilt);
        (refused || !finished.timed_out && finished.signal.is_none()).then_some(!refused)
    }
}
