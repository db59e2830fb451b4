//! Sets of characters as sorted, disjoint, non-adjacent intervals.

use std::sync::Arc;

use crate::string::MAX_CHAR;

/// A set of characters; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CharSet(Arc<[(u32, u32)]>);

impl CharSet {
    pub fn empty() -> CharSet {
        CharSet(Arc::from([]))
    }

    pub fn all() -> CharSet {
        CharSet::range(0, MAX_CHAR)
    }

    pub fn single(char: u32) -> CharSet {
        CharSet::range(char, char)
    }

    /// Both ends included; empty if they are the wrong way round.
    pub fn range(first: u32, last: u32) -> CharSet {
        let last = last.min(MAX_CHAR);
        if first > last { CharSet::empty() } else { CharSet(Arc::from([(first, last)])) }
    }

    pub fn intervals(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, char: u32) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= char);
        after > 0 && char <= self.0[after - 1].1
    }

    pub fn union(&self, other: &CharSet) -> CharSet {
        let mut all: Vec<(u32, u32)> = self.0.iter().chain(other.0.iter()).copied().collect();
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match merged.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => {
                    previous.1 = previous.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        CharSet(merged.into())
    }

    pub fn intersection(&self, other: &CharSet) -> CharSet {
        let mut common = Vec::new();
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(&&(a, b)), Some(&&(c, d))) = (left.peek(), right.peek()) {
            if a.max(c) <= b.min(d) {
                common.push((a.max(c), b.min(d)));
            }
            if b < d {
                left.next();
            } else {
                right.next();
            }
        }
        CharSet(common.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sets over eight characters, as bit masks.
    fn from_mask(mask: u32) -> CharSet {
        (0..8)
            .filter(|bit| mask >> bit & 1 == 1)
            .fold(CharSet::empty(), |set, bit| set.union(&CharSet::single(bit)))
    }

    #[test]
    fn set_operations_agree_with_bit_masks() {
        for left in 0..256 {
            let a = from_mask(left);
            for char in 0..10 {
                assert_eq!(a.contains(char), left >> char & 1 == 1);
            }
            for right in 0..256 {
                let b = from_mask(right);
                assert_eq!(a.union(&b), from_mask(left | right));
                assert_eq!(a.intersection(&b), from_mask(left & right));
            }
        }
    }

    #[test]
    fn intervals_never_touch() {
        let set = CharSet::range(0, 4).union(&CharSet::range(5, MAX_CHAR));
        assert_eq!(set, CharSet::all());
        assert_eq!(CharSet::range(3, 2), CharSet::empty());
    }
}
