//! Sets of steps: tried together, then in smaller and smaller parts.

use super::{Growth, Reduction};
use crate::edit::Edit;
use crate::error::ReduceError;

/// So few steps are tried one by one at once.
const FEW: usize = 3;

/// The same once so many candidates in a row have failed.
const FEW_LATER: usize = 10;
const LONG_STREAK: usize = 20;

/// Sets of steps that do not work are cut into so many parts.
const SHRINK: usize = 3;

impl Reduction<'_> {
    /// Steps that may be taken together: all at once, then thirds, and so on down to single ones. Large sets of steps
    /// that all work cost one candidate; one that does not work costs a few. Where nothing has worked for long, sets are
    /// a waste: single steps at once.
    pub fn edits(&mut self, edits: Vec<Edit>) -> Result<bool, ReduceError> {
        self.edits_from(edits, usize::MAX)
    }

    /// The same, with at most `largest` steps at once.
    pub fn edits_from(&mut self, edits: Vec<Edit>, largest: usize) -> Result<bool, ReduceError> {
        let mut left = edits;
        let mut changed = false;
        let mut chunk = if left.len() <= self.few() { 1 } else { left.len().min(largest) };
        while chunk > 0 && !left.is_empty() {
            let mut at = 0;
            while at < left.len() && !self.over() {
                let count = (left.len() - at).div_ceil(chunk);
                let part = |number: usize| {
                    let from = at + number * chunk;
                    from..(from + chunk).min(left.len())
                };
                let found =
                    self.first(count, Growth::Smaller, &mut |bench, number| bench.with(&left[part(number)]))?;
                let Some(number) = found else { break };
                changed = true;
                let range = part(number);
                at = range.start;
                let taken: Vec<Edit> = left.drain(range).collect();
                renumber(&mut left, &taken);
            }
            chunk = match chunk {
                1 => 0,
                // Still nothing.
                _ if left.len() <= self.few() * SHRINK => 1,
                _ => (chunk / SHRINK).max(1),
            };
        }
        Ok(changed)
    }

    /// So many steps are tried one by one at once.
    fn few(&self) -> usize {
        if self.failures < LONG_STREAK { FEW } else { FEW_LATER }
    }
}

/// After commands have gone, later ones have other places.
fn renumber(left: &mut [Edit], taken: &[Edit]) {
    let gone: Vec<usize> = taken
        .iter()
        .filter_map(|edit| match edit {
            Edit::Drop(place) => Some(*place),
            _ => None,
        })
        .collect();
    if gone.is_empty() {
        return;
    }
    for edit in left {
        if let Edit::Drop(place) | Edit::Command(place, _) | Edit::At(place, ..) = edit {
            *place -= gone.iter().filter(|other| *other < place).count();
        }
    }
}
