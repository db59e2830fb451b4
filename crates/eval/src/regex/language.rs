//! Questions about whole languages, answered on the graph of derivatives.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::string::{MAX_CHAR, Str};

use super::TooHard;
use super::arena::{Arena, Re};
use super::automaton::{Automaton, representative};

impl Arena {
    /// A shortest word of the language, or `None` if it is empty. Stops at the
    /// first word found, so it often succeeds where a whole automaton would be
    /// too large.
    pub fn shortest_word(&mut self, re: Re) -> Result<Option<Str>, TooHard> {
        self.start_question();
        // Breadth first; each state remembers the one and the character it
        // was first reached by.
        let mut queue = vec![(re, usize::MAX, 0)];
        let mut seen: HashMap<Re, (), FxBuildHasher> = HashMap::with_hasher(FxBuildHasher);
        seen.insert(re, ());
        let mut next = 0;
        while let Some(&(state, ..)) = queue.get(next) {
            if self.is_nullable(state) {
                let mut chars = Vec::new();
                let mut at = next;
                while let (_, previous @ 0..usize::MAX, char) = queue[at] {
                    chars.push(char);
                    at = previous;
                }
                return Ok(Some(Str::gather(chars.into_iter().rev())));
            }
            for (first, last, target) in self.transitions(state)? {
                if seen.insert(target, ()).is_none() {
                    queue.push((target, next, representative(first, last)));
                    if queue.len() > self.limits.states {
                        return Err(TooHard::States);
                    }
                }
            }
            next += 1;
        }
        Ok(None)
    }

    pub fn is_empty(&mut self, re: Re) -> Result<bool, TooHard> {
        Ok(self.shortest_word(re)?.is_none())
    }

    pub fn is_universal(&mut self, re: Re) -> Result<bool, TooHard> {
        let outside = self.comp(re);
        self.is_empty(outside)
    }

    pub fn is_subset(&mut self, left: Re, right: Re) -> Result<bool, TooHard> {
        let only_left = self.diff(left, right);
        self.is_empty(only_left)
    }

    /// Whether two terms denote the same language: equality of RegLan terms.
    pub fn is_equal(&mut self, left: Re, right: Re) -> Result<bool, TooHard> {
        if left == right {
            return Ok(true);
        }
        Ok(self.is_subset(left, right)? && self.is_subset(right, left)?)
    }

    /// Whether the language has finitely many words.
    pub fn is_finite(&mut self, re: Re) -> Result<bool, TooHard> {
        if self.length_bounds(re).max.is_some() {
            return Ok(true);
        }
        Ok(self.automaton(re)?.is_finite())
    }

    /// The automaton of the language, with only states that lead to a word.
    pub fn automaton(&mut self, re: Re) -> Result<Automaton, TooHard> {
        self.start_question();
        let mut index: HashMap<Re, usize, FxBuildHasher> = HashMap::with_hasher(FxBuildHasher);
        index.insert(re, 0);
        let mut states = vec![re];
        let mut edges = Vec::new();
        while let Some(&state) = states.get(edges.len()) {
            let mut outgoing = Vec::new();
            for (first, last, target) in self.transitions(state)? {
                let target = *index.entry(target).or_insert_with(|| {
                    states.push(target);
                    states.len() - 1
                });
                outgoing.push((first, last, target));
            }
            if states.len() > self.limits.states {
                return Err(TooHard::States);
            }
            edges.push(outgoing);
        }
        let accepting = states.iter().map(|&state| self.is_nullable(state)).collect();
        Ok(Automaton::new(accepting, edges))
    }

    /// The derivatives other than the empty language, by intervals.
    fn transitions(&mut self, state: Re) -> Result<Vec<(u32, u32, Re)>, TooHard> {
        let breakpoints = self.breakpoints(state)?;
        let mut transitions: Vec<(u32, u32, Re)> = Vec::new();
        for (position, &first) in breakpoints.iter().enumerate() {
            let last = breakpoints.get(position + 1).map_or(MAX_CHAR, |next| next - 1);
            let target = self.derivative(state, first)?;
            if target == self.none() {
                continue;
            }
            match transitions.last_mut() {
                Some((_, end, same)) if *same == target && *end + 1 == first => *end = last,
                _ => transitions.push((first, last, target)),
            }
        }
        Ok(transitions)
    }
}
