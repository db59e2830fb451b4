//! Test cases that show known bugs: counted at once, told to the store later.

use super::queue::Triage;
use crate::error::CampaignError;
use crate::findings::{self, Signature};
use crate::shared::{LogLine, lock};
use crate::store::Totals;

/// Another test case that shows a known bug.
pub(super) struct Duplicate {
    signature: Signature,
    round: u64,
    step: usize,
    /// Nothing if enough of them are kept.
    input: Option<String>,
}

impl Triage<'_> {
    /// Does the user not want to hear of it?
    pub fn is_unwanted(&self, signature: &Signature) -> bool {
        self.shared.state().findings.is_suppressed(signature)
    }

    /// Is a crash at this place known, or unwanted? Then nothing more needs to be run to count it.
    pub fn recognise(&self, signature: &Signature) -> bool {
        let state = self.shared.state();
        state.findings.is_suppressed(signature)
            || state.findings.knows(signature)
            || state.findings.expects(signature)
    }

    /// Counts another test case that shows a known bug, or one the user does not want to hear of. Waits for nothing: the
    /// store hears of it later. An input that is kept already is not given.
    pub fn count_known(&self, signature: &Signature, round: u64, step: usize, input: Option<&str>) {
        let mut state = self.shared.state();
        if state.findings.is_suppressed(signature) {
            state.count(&Totals { suppressed: 1, ..Totals::default() });
            return;
        }
        state.count(&Totals { duplicates: 1, ..Totals::default() });
        let few = state.findings.duplicates(signature) < findings::DUPLICATES_KEPT;
        drop(state);
        let input = input.filter(|_| few).map(str::to_owned);
        lock(&self.duplicates).push(Duplicate { signature: signature.clone(), round, step, input });
    }

    /// Tells the store and the log of duplicates, and keeps some of their inputs.
    pub fn tell_duplicates(&self) -> Result<(), CampaignError> {
        let duplicates = std::mem::take(&mut *lock(&self.duplicates));
        for Duplicate { signature, round, step, input } in duplicates {
            let known = lock(self.store).duplicate(&signature.hash())?;
            if known.is_none() && self.shared.state().findings.expects(&signature) {
                // The finding itself waits for its claim.
                lock(&self.duplicates).push(Duplicate { signature, round, step, input });
                continue;
            }
            if let Some(known) = known {
                if let Some(input) = input {
                    let folder = self.shared.bugs().join(&known.folder);
                    findings::keep_duplicate(&folder, known.duplicates, &input)?;
                    self.share_duplicate(&known.folder, known.duplicates, &input)?;
                }
                self.shared.state().findings.know(known, None);
            }
            let signature = signature.to_string();
            self.shared.log.write(&LogLine::Duplicate { round, step, signature: &signature })?;
        }
        Ok(())
    }
}
