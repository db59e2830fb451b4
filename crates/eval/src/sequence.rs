//! The functions on finite sequences that strings and `(Seq T)` share, on
//! slices of any element type.
//!
//! Positions are SMT-LIB integers. Callers pass them as `i64`, saturated: no
//! sequence is long enough for the difference to matter, and out-of-range
//! positions all behave alike.

use thiserror::Error;

use crate::integer::Integer;

/// Longer results are refused: nested concatenations and replacements grow
/// exponentially, and no evaluation may exhaust memory.
pub const MAX_LENGTH: usize = 1 << 24;

/// A result longer than [`MAX_LENGTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a sequence of {length} elements is longer than the supported {MAX_LENGTH}")]
pub struct TooLong {
    pub length: usize,
}

/// An integer as a position, clamped to the range of `i64`.
pub fn position(index: &Integer) -> i64 {
    index.to_i64().unwrap_or(if index.is_negative() { i64::MIN } else { i64::MAX })
}

fn check_length(length: usize) -> Result<(), TooLong> {
    if length > MAX_LENGTH { Err(TooLong { length }) } else { Ok(()) }
}

/// `position` as an index into a sequence of `length` elements.
fn index_within(position: i64, length: usize) -> Option<usize> {
    usize::try_from(position).ok().filter(|&index| index < length)
}

pub fn concat<T: Clone>(parts: &[&[T]]) -> Result<Vec<T>, TooLong> {
    check_length(parts.iter().map(|part| part.len()).sum())?;
    Ok(parts.concat())
}

/// `count` elements from `start` on, as many as there are; empty if `start`
/// is not an index or `count` is not positive (`str.substr`, `seq.extract`).
pub fn extract<T>(s: &[T], start: i64, count: i64) -> &[T] {
    match index_within(start, s.len()) {
        Some(start) if count > 0 => {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(s.len() - start);
            &s[start..start + count]
        }
        _ => &[],
    }
}

/// The sequence of the element at `index`, or the empty one out of range.
pub fn at<T>(s: &[T], index: i64) -> &[T] {
    extract(s, index, 1)
}

/// The element itself; out of range `seq.nth` is unspecified.
pub fn nth<T>(s: &[T], index: i64) -> Option<&T> {
    index_within(index, s.len()).map(|index| &s[index])
}

pub fn has_prefix<T: Eq>(s: &[T], prefix: &[T]) -> bool {
    s.starts_with(prefix)
}

pub fn has_suffix<T: Eq>(s: &[T], suffix: &[T]) -> bool {
    s.ends_with(suffix)
}

pub fn contains<T: Eq>(s: &[T], t: &[T]) -> bool {
    find(s, t, 0).is_some()
}

/// The first occurrence of `t` in `s` that starts at `from` or later; the
/// empty sequence occurs at every position up to the length of `s`.
fn find<T: Eq>(s: &[T], t: &[T], from: usize) -> Option<usize> {
    let rest = s.get(from..)?;
    let Some(first) = t.first() else { return Some(from) };
    let last_start = rest.len().checked_sub(t.len())?;
    (0..=last_start)
        .find(|&start| rest[start] == *first && rest[start..].starts_with(t))
        .map(|start| from + start)
}

/// `str.indexof`: `None` stands for the standard's -1, also when `from` is not
/// a position in `s` (its length included).
pub fn index_of<T: Eq>(s: &[T], t: &[T], from: i64) -> Option<usize> {
    find(s, t, usize::try_from(from).ok()?)
}

/// The start of the last occurrence. The empty sequence occurs last at the
/// end, as Z3 evaluates it; `seq.last_indexof` is in no standard.
pub fn last_index_of<T: Eq>(s: &[T], t: &[T]) -> Option<usize> {
    let last_start = s.len().checked_sub(t.len())?;
    (0..=last_start).rev().find(|&start| s[start..].starts_with(t))
}

/// Replaces the first occurrence of `t`; an empty `t` occurs at the front.
pub fn replace<T: Eq + Clone>(s: &[T], t: &[T], by: &[T]) -> Result<Vec<T>, TooLong> {
    match find(s, t, 0) {
        Some(start) => concat(&[&s[..start], by, &s[start + t.len()..]]),
        None => Ok(s.to_vec()),
    }
}

/// Replaces all occurrences from left to right; an empty `t` leaves `s` as it
/// is.
pub fn replace_all<T: Eq + Clone>(s: &[T], t: &[T], by: &[T]) -> Result<Vec<T>, TooLong> {
    if t.is_empty() {
        return Ok(s.to_vec());
    }
    let mut result = Vec::with_capacity(s.len());
    let mut done = 0;
    while let Some(start) = find(s, t, done) {
        check_length(result.len() + (start - done) + by.len())?;
        result.extend_from_slice(&s[done..start]);
        result.extend_from_slice(by);
        done = start + t.len();
    }
    check_length(result.len() + s.len() - done)?;
    result.extend_from_slice(&s[done..]);
    Ok(result)
}

/// Overwrites the elements from `index` on with those of `t`, as many as fit
/// (`str.update`, `seq.update`); unchanged if `index` is out of range.
pub fn update<T: Clone>(s: &[T], index: i64, t: &[T]) -> Vec<T> {
    let mut result = s.to_vec();
    if let Some(start) = index_within(index, s.len()) {
        let count = t.len().min(s.len() - start);
        result[start..start + count].clone_from_slice(&t[..count]);
    }
    result
}

pub fn reverse<T: Clone>(s: &[T]) -> Vec<T> {
    s.iter().rev().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(length: usize) -> Vec<Vec<u8>> {
        let mut all = vec![vec![]];
        let mut layer = vec![vec![]];
        for _ in 0..length {
            layer = layer
                .iter()
                .flat_map(|word: &Vec<u8>| (0..2).map(move |letter| [word.as_slice(), &[letter]].concat()))
                .collect();
            all.extend(layer.iter().cloned());
        }
        all
    }

    /// The standard defines everything through decompositions `s = u t v`.
    fn occurrences(s: &[u8], t: &[u8]) -> Vec<usize> {
        (0..=s.len()).filter(|&i| i + t.len() <= s.len() && s[i..i + t.len()] == *t).collect()
    }

    #[test]
    fn searches_agree_with_the_list_of_all_occurrences() {
        for s in words(5) {
            for t in words(3) {
                let all = occurrences(&s, &t);
                assert_eq!(contains(&s, &t), !all.is_empty());
                assert_eq!(has_prefix(&s, &t), all.first() == Some(&0));
                assert_eq!(has_suffix(&s, &t), all.last().is_some_and(|&i| i + t.len() == s.len()));
                assert_eq!(last_index_of(&s, &t), all.last().copied());
                for from in -1..8 {
                    let expected = all.iter().copied().find(|&i| from >= 0 && i as i64 >= from);
                    assert_eq!(index_of(&s, &t, from), expected, "{s:?} {t:?} {from}");
                }
                let replaced = match all.first() {
                    Some(&i) => [&s[..i], &[7, 8], &s[i + t.len()..]].concat(),
                    None => s.clone(),
                };
                assert_eq!(replace(&s, &t, &[7, 8]), Ok(replaced));
            }
        }
    }

    /// The standard's recursive equation for `str.replace_all`.
    #[test]
    fn replace_all_replaces_the_first_and_then_the_rest() {
        fn expected(s: &[u8], t: &[u8], by: &[u8]) -> Vec<u8> {
            match occurrences(s, t).first() {
                Some(&i) if !t.is_empty() => [&s[..i], by, &expected(&s[i + t.len()..], t, by)].concat(),
                _ => s.to_vec(),
            }
        }
        for s in words(6) {
            for t in words(3) {
                for by in [&[][..], &[0], &[1, 0, 1]] {
                    assert_eq!(replace_all(&s, &t, by), Ok(expected(&s, &t, by)));
                }
            }
        }
    }

    #[test]
    fn extraction_clips_at_the_end_and_is_empty_out_of_range() {
        let s = [1, 2, 3];
        for start in [-1, 3, 4, i64::MIN, i64::MAX] {
            assert!(extract(&s, start, 2).is_empty());
            assert!(at(&s, start).is_empty());
            assert_eq!(nth(&s, start), None);
            assert_eq!(update(&s, start, &[9]), s);
        }
        assert!(extract(&s, 0, 0).is_empty());
        assert!(extract(&s, 0, -1).is_empty());
        assert_eq!(extract(&s, 1, i64::MAX), [2, 3]);
        assert_eq!(at(&s, 2), [3]);
        assert_eq!(nth(&s, 0), Some(&1));
        assert_eq!(update(&s, 1, &[8, 9, 10]), [1, 8, 9]);
        assert_eq!(update(&s, 1, &[]), s);
        assert_eq!(reverse(&s), [3, 2, 1]);
    }

    #[test]
    fn results_beyond_the_limit_are_refused_not_built() {
        let long = vec![0_u8; MAX_LENGTH / 2 + 1];
        assert_eq!(concat(&[&long, &long]), Err(TooLong { length: MAX_LENGTH + 2 }));
        let many = vec![0_u8; 1 << 13];
        assert!(replace_all(&many, &[0], &many).is_err());
    }
}
