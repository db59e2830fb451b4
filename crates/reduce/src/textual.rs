//! Reduction of what cannot be read as typed terms: commands and S-expressions are left out, or give way to their parts.

use rustc_hash::FxHashMap;

use crate::driver::Reduction;
use crate::error::ReduceError;
use crate::outline::{Change, Outline};

/// All steps on the text, until nothing changes.
pub fn run(reduction: &mut Reduction) -> Result<(), ReduceError> {
    loop {
        let before = reduction.text().len();
        let mut depth = 0;
        loop {
            let Some(outline) = Outline::of(reduction.text().as_bytes()) else { return Ok(()) };
            let levels = outline.levels();
            let Some(level) = levels.get(depth) else { break };
            leave_out(reduction, &outline, level)?;
            if depth > 0 {
                give_way(reduction, depth)?;
            }
            depth += 1;
            if reduction.over() {
                return Ok(());
            }
        }
        if reduction.text().len() >= before {
            return Ok(());
        }
    }
}

/// Leaves out nodes of one level: all, halves, and so on.
fn leave_out(reduction: &mut Reduction, outline: &Outline, level: &[usize]) -> Result<(), ReduceError> {
    let mut left: Vec<usize> = level.to_vec();
    let mut gone: FxHashMap<usize, ()> = FxHashMap::default();
    let mut chunk = left.len();
    while chunk > 0 {
        let mut at = 0;
        while at < left.len() && !reduction.over() {
            let end = (at + chunk).min(left.len());
            let part: Vec<usize> = left[at..end].to_vec();
            let text = outline.text(&|node| {
                if gone.contains_key(&node) || part.contains(&node) { Change::Drop } else { Change::Keep }
            });
            if reduction.texts(vec![text])?.is_some() {
                gone.extend(part.into_iter().map(|node| (node, ())));
                left.drain(at..end);
            } else {
                at = end;
            }
        }
        chunk /= 2;
    }
    Ok(())
}

/// Puts parts of lists in their place, one list after the other.
fn give_way(reduction: &mut Reduction, depth: usize) -> Result<(), ReduceError> {
    let mut at = 0;
    while !reduction.over() {
        let Some(outline) = Outline::of(reduction.text().as_bytes()) else { return Ok(()) };
        let levels = outline.levels();
        let lists: Vec<usize> = levels
            .get(depth)
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .copied()
            .filter(|n| outline.is_list(*n))
            .collect();
        let Some(list) = lists.get(at) else { return Ok(()) };
        let texts: Vec<String> = outline
            .children(*list)
            .iter()
            .map(|part| outline.text(&|node| if node == *list { Change::By(*part) } else { Change::Keep }))
            .collect();
        if reduction.texts(texts)?.is_none() {
            at += 1;
        }
    }
    Ok(())
}
