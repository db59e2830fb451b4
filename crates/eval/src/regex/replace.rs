//! The string functions that search for a match.
//!
//! A match is the leftmost one and, among those starting there, the shortest.

use crate::integer::Integer;
use crate::sequence::{self, position};
use crate::string::Str;

use super::TooHard;
use super::arena::{Arena, Re};

impl Arena {
    /// `str.replace_re`: replaces the shortest leftmost match. The empty word
    /// matches at the front if it is in the language.
    pub fn replace(&mut self, word: &Str, re: Re, by: &Str) -> Result<Str, TooHard> {
        self.start_question();
        let chars = word.chars();
        match self.find(re, chars, 0, true)? {
            Some((start, end)) => sequence::concat(&[&chars[..start], by.chars(), &chars[end..]])
                .map(|chars| Str::from_chars(&chars))
                .map_err(|_| TooHard::Length),
            None => Ok(word.clone()),
        }
    }

    /// `str.replace_re_all`: replaces, from left to right, every shortest
    /// leftmost match that is not empty.
    pub fn replace_all(&mut self, word: &Str, re: Re, by: &Str) -> Result<Str, TooHard> {
        self.start_question();
        let chars = word.chars();
        let mut result = Vec::with_capacity(chars.len());
        let mut done = 0;
        while let Some((start, end)) = self.find(re, chars, done, false)? {
            if result.len() + (start - done) + by.len() > sequence::MAX_LENGTH {
                return Err(TooHard::Length);
            }
            result.extend_from_slice(&chars[done..start]);
            result.extend_from_slice(by.chars());
            done = end;
        }
        result.extend_from_slice(&chars[done..]);
        if result.len() > sequence::MAX_LENGTH {
            return Err(TooHard::Length);
        }
        Ok(Str::from_chars(&result))
    }

    /// cvc5's `str.indexof_re`: the first position at or after `from` where a
    /// match, possibly empty, starts; -1 if there is none or `from` is not a
    /// position in `word`.
    pub fn index_of(&mut self, word: &Str, re: Re, from: &Integer) -> Result<Integer, TooHard> {
        self.start_question();
        let start = match usize::try_from(position(from)) {
            Ok(from) if from <= word.len() => self.find(re, word.chars(), from, true)?,
            _ => None,
        };
        Ok(start.map_or(Integer::from(-1_i64), |(start, _)| Integer::from(start)))
    }

    fn find(
        &mut self,
        re: Re,
        chars: &[u32],
        from: usize,
        may_be_empty: bool,
    ) -> Result<Option<(usize, usize)>, TooHard> {
        if may_be_empty && self.is_nullable(re) {
            return Ok(Some((from, from)));
        }
        for start in from..chars.len() {
            let mut state = re;
            for (offset, &char) in chars[start..].iter().enumerate() {
                state = self.derivative(state, char)?;
                if self.is_nullable(state) {
                    return Ok(Some((start, start + offset + 1)));
                }
                if state == self.none() {
                    break;
                }
            }
        }
        Ok(None)
    }
}
