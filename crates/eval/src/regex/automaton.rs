//! An explicit deterministic automaton: what a language looks like once all of
//! its derivatives are known. It needs no arena and no budget any more.

use std::collections::VecDeque;

use rand_core::Rng;

use crate::string::{MAX_CHAR, Str};

use super::arena::LengthBounds;

/// One interval of characters and the state it leads to.
type Edge = (u32, u32, usize);

/// A deterministic automaton in which every state leads to an accepting one,
/// except for the initial state of the empty language.
#[derive(Clone, Debug)]
pub struct Automaton {
    accepting: Vec<bool>,
    edges: Vec<Vec<Edge>>,
    /// Characters still needed to reach acceptance; `None` only in the empty
    /// language.
    distance: Vec<Option<u32>>,
}

impl Automaton {
    /// State 0 is initial. Edges into states without a way to acceptance are
    /// dropped.
    pub(super) fn new(accepting: Vec<bool>, mut edges: Vec<Vec<Edge>>) -> Automaton {
        let mut sources = vec![Vec::new(); accepting.len()];
        for (state, outgoing) in edges.iter().enumerate() {
            for &(_, _, target) in outgoing {
                sources[target].push(state);
            }
        }
        let mut distance: Vec<Option<u32>> = accepting.iter().map(|&accepts| accepts.then_some(0)).collect();
        let mut queue: VecDeque<usize> = (0..accepting.len()).filter(|&state| accepting[state]).collect();
        while let Some(state) = queue.pop_front() {
            for &source in &sources[state] {
                if distance[source].is_none() {
                    distance[source] = distance[state].map(|steps| steps + 1);
                    queue.push_back(source);
                }
            }
        }
        for outgoing in &mut edges {
            outgoing.retain(|&(_, _, target)| distance[target].is_some());
        }
        Automaton { accepting, edges, distance }
    }

    pub fn state_count(&self) -> usize {
        self.accepting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.distance[0].is_none()
    }

    pub fn accepts(&self, word: &Str) -> bool {
        let mut state = 0;
        for &char in word.chars() {
            let edge = self.edges[state].iter().find(|(first, last, _)| (*first..=*last).contains(&char));
            match edge {
                Some(&(_, _, target)) => state = target,
                None => return false,
            }
        }
        self.accepting[state]
    }

    /// Whether there are finitely many words: no cycle is reachable, since
    /// every remaining state leads to acceptance.
    pub fn is_finite(&self) -> bool {
        self.longest().is_some()
    }

    /// The exact shortest and longest length; `None` for the empty language.
    pub fn lengths(&self) -> Option<LengthBounds> {
        let min = u64::from(self.distance[0]?);
        Some(LengthBounds { min, max: self.longest() })
    }

    /// Length of the longest word of a finite language, 0 for the empty one;
    /// `None` if there is no longest.
    fn longest(&self) -> Option<u64> {
        // Kahn's algorithm over the reachable part: whatever is left over
        // lies on or behind a cycle.
        let reachable = self.reachable();
        let mut incoming = vec![0_usize; self.edges.len()];
        for state in (0..self.edges.len()).filter(|&state| reachable[state]) {
            for &(_, _, target) in &self.edges[state] {
                incoming[target] += 1;
            }
        }
        if incoming[0] > 0 {
            return None;
        }
        let mut depth = vec![0_u64; self.edges.len()];
        let mut ready = vec![0];
        let mut ordered = 0;
        let mut longest = 0;
        while let Some(state) = ready.pop() {
            ordered += 1;
            if self.accepting[state] {
                longest = longest.max(depth[state]);
            }
            for &(_, _, target) in &self.edges[state] {
                depth[target] = depth[target].max(depth[state] + 1);
                incoming[target] -= 1;
                if incoming[target] == 0 {
                    ready.push(target);
                }
            }
        }
        let total = reachable.iter().filter(|&&state| state).count();
        (ordered == total).then_some(longest)
    }

    fn reachable(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.edges.len()];
        reachable[0] = true;
        let mut stack = vec![0];
        while let Some(state) = stack.pop() {
            for &(_, _, target) in &self.edges[state] {
                if !reachable[target] {
                    reachable[target] = true;
                    stack.push(target);
                }
            }
        }
        reachable
    }

    /// Entry `n` tells whether there is a word of length `n`.
    pub fn lengths_up_to(&self, limit: usize) -> Vec<bool> {
        self.completions(limit).iter().map(|layer| layer[0]).collect()
    }

    /// Entry `[n][state]` tells whether some word of length `n` leads from the
    /// state to acceptance.
    fn completions(&self, limit: usize) -> Vec<Vec<bool>> {
        let mut layers = vec![self.accepting.clone()];
        for length in 0..limit {
            let layer = self
                .edges
                .iter()
                .map(|outgoing| outgoing.iter().any(|&(_, _, target)| layers[length][target]))
                .collect();
            layers.push(layer);
        }
        layers
    }

    /// A word of exactly this length.
    pub fn word_of_length(&self, length: usize) -> Option<Str> {
        self.walk(&self.completions(length), length, |edges| {
            let (first, last, target) = edges[0];
            (representative(first, last), target)
        })
    }

    pub fn shortest_word(&self) -> Option<Str> {
        self.word_of_length(self.distance[0]? as usize)
    }

    /// A word of at most `max_length` characters: first a length, uniform
    /// among those that occur, then edges and characters. Printable characters
    /// are preferred, ends of intervals come up often. `None` if no word is
    /// that short.
    pub fn random_word(&self, rng: &mut impl Rng, max_length: usize) -> Option<Str> {
        let layers = self.completions(max_length);
        let lengths: Vec<usize> = (0..=max_length).filter(|&length| layers[length][0]).collect();
        if lengths.is_empty() {
            return None;
        }
        let length = lengths[below(rng, lengths.len())];
        self.walk(&layers, length, |edges| {
            let (first, last, target) = edges[below(rng, edges.len())];
            (random_char(rng, first, last), target)
        })
    }

    /// Follows `length` edges to acceptance, chosen by `choose` among those
    /// from which the remaining length works out.
    fn walk(
        &self,
        layers: &[Vec<bool>],
        length: usize,
        mut choose: impl FnMut(&[Edge]) -> (u32, usize),
    ) -> Option<Str> {
        if !layers[length][0] {
            return None;
        }
        let mut state = 0;
        let mut chars = Vec::with_capacity(length);
        for rest in (0..length).rev() {
            let usable: Vec<Edge> =
                self.edges[state].iter().copied().filter(|&(_, _, target)| layers[rest][target]).collect();
            let (char, target) = choose(&usable);
            chars.push(char);
            state = target;
        }
        Some(Str::from_chars(&chars))
    }

    /// Up to `limit` different words, short ones first, that differ in the
    /// paths they take and in the ends of the intervals they use.
    pub fn sample_words(&self, limit: usize, max_length: usize) -> Vec<Str> {
        let mut words = Vec::new();
        if self.is_empty() {
            return words;
        }
        let mut layer = vec![(0, Vec::new())];
        for _ in 0..=max_length {
            let mut next = Vec::new();
            for (state, word) in layer {
                if self.accepting[state] {
                    words.push(Str::from_chars(&word));
                    if words.len() >= limit {
                        return words;
                    }
                }
                for &(first, last, target) in &self.edges[state] {
                    let mut choices = [representative(first, last), first, last];
                    choices.sort_unstable();
                    for (position, &char) in choices.iter().enumerate() {
                        let fresh = position == 0 || choices[position - 1] != char;
                        // A sample need not be complete; a layer must stay small.
                        if fresh && next.len() < 4 * limit {
                            let mut longer = word.clone();
                            longer.push(char);
                            next.push((target, longer));
                        }
                    }
                }
            }
            layer = next;
        }
        words
    }

    /// All words, short ones first, if there are at most `limit`.
    pub fn all_words(&self, limit: usize) -> Option<Vec<Str>> {
        let mut words = Vec::new();
        if self.is_empty() {
            return Some(words);
        }
        if !self.is_finite() {
            return None;
        }
        let mut layer = vec![(0, Vec::new())];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for (state, word) in layer {
                if self.accepting[state] {
                    words.push(Str::from_chars(&word));
                }
                for &(first, last, target) in &self.edges[state] {
                    // Every prefix extends to a word of its own.
                    if words.len() + next.len() + (last - first) as usize + 1 > limit {
                        return None;
                    }
                    for char in first..=last {
                        let mut longer: Vec<u32> = word.clone();
                        longer.push(char);
                        next.push((target, longer));
                    }
                }
            }
            layer = next;
        }
        (words.len() <= limit).then_some(words)
    }
}

/// A readable character of the interval if it has one.
pub(super) fn representative(first: u32, last: u32) -> u32 {
    [b'a', b'A', b'0', b' ']
        .into_iter()
        .map(u32::from)
        .find(|char| (first..=last).contains(char))
        .unwrap_or(first)
}

fn below(rng: &mut impl Rng, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

fn random_char(rng: &mut impl Rng, first: u32, last: u32) -> u32 {
    debug_assert!(last <= MAX_CHAR);
    let printable = (first.max(0x20), last.min(0x7E));
    let (first, last) = match rng.next_u32() % 8 {
        0 => (first, last),
        1 => return first,
        2 => return last,
        _ if printable.0 <= printable.1 => printable,
        _ => (first, last),
    };
    first + below(rng, (last - first) as usize + 1) as u32
}
