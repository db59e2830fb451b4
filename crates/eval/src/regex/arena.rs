//! Hash-consed regular expressions and their normalising constructors.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use crate::string::Str;

use super::charset::CharSet;
use super::{Budget, TooHard};

/// A regular expression in an [`Arena`]. Equal terms have equal handles;
/// different handles may still denote the same language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Re(u32);

/// The normal forms. Everything else is expressed in these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    None,
    Epsilon,
    /// One character out of a nonempty set.
    Class(CharSet),
    /// The first is never a concatenation itself.
    Concat(Re, Re),
    /// At least two, sorted, flat.
    Union(Box<[Re]>),
    /// At least two, sorted, flat.
    Inter(Box<[Re]>),
    Comp(Re),
    Loop {
        body: Re,
        min: u64,
        max: Option<u64>,
    },
}

/// Bounds on the lengths of the words of a language. `max` of `None` means no
/// bound is known. Both may be loose for intersections and complements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthBounds {
    pub min: u64,
    pub max: Option<u64>,
}

struct Entry {
    node: Node,
    nullable: bool,
    lengths: LengthBounds,
    /// Recursion depth of a derivative.
    depth: u32,
    /// Start points of the intervals on which the derivative is constant.
    breakpoints: Option<Arc<[u32]>>,
}

/// A moment in the life of an arena to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    terms: usize,
    derivatives: usize,
}

/// Owns regular expressions and the derivatives computed so far.
pub struct Arena {
    entries: Vec<Entry>,
    table: HashTable<u32>,
    hasher: FxBuildHasher,
    derivatives: HashMap<(Re, u32), Re, FxBuildHasher>,
    /// Keys of `derivatives` in order of insertion, for [`Arena::reset`].
    derivative_log: Vec<(Re, u32)>,
    pub(super) limits: Budget,
    pub(super) steps_left: u64,
}

impl Default for Arena {
    fn default() -> Arena {
        Arena::new(Budget::default())
    }
}

impl Arena {
    const NONE: Re = Re(0);
    const EPSILON: Re = Re(1);
    const ALLCHAR: Re = Re(2);
    const ALL: Re = Re(3);

    pub fn new(limits: Budget) -> Arena {
        let mut arena = Arena {
            entries: Vec::new(),
            table: HashTable::new(),
            hasher: FxBuildHasher,
            derivatives: HashMap::with_hasher(FxBuildHasher),
            derivative_log: Vec::new(),
            limits,
            steps_left: limits.steps,
        };
        let constants = [
            arena.intern(Node::None),
            arena.intern(Node::Epsilon),
            arena.intern(Node::Class(CharSet::all())),
            arena.intern(Node::Loop { body: Self::ALLCHAR, min: 0, max: None }),
        ];
        debug_assert_eq!(constants, [Self::NONE, Self::EPSILON, Self::ALLCHAR, Self::ALL]);
        arena
    }

    /// Remembers the present contents, to drop later what comes after.
    pub fn mark(&self) -> Mark {
        Mark { terms: self.entries.len(), derivatives: self.derivative_log.len() }
    }

    /// Forgets all terms and derivatives made since `mark`; handles made
    /// since then must not be used again. Costs as much as there is to forget.
    pub fn reset(&mut self, mark: Mark) {
        while self.derivative_log.len() > mark.derivatives {
            if let Some(key) = self.derivative_log.pop() {
                self.derivatives.remove(&key);
            }
        }
        while self.entries.len() > mark.terms.max(4) {
            if let Some(entry) = self.entries.pop() {
                let id = self.entries.len() as u32;
                let hash = self.hasher.hash_one(&entry.node);
                if let Ok(slot) = self.table.find_entry(hash, |&other| other == id) {
                    slot.remove();
                }
            }
        }
    }

    /// Number of terms alive.
    pub fn term_count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn node(&self, re: Re) -> &Node {
        &self.entries[re.0 as usize].node
    }

    /// Whether the empty word belongs to the language.
    pub fn is_nullable(&self, re: Re) -> bool {
        self.entries[re.0 as usize].nullable
    }

    pub fn length_bounds(&self, re: Re) -> LengthBounds {
        self.entries[re.0 as usize].lengths
    }

    pub(super) fn depth(&self, re: Re) -> u32 {
        self.entries[re.0 as usize].depth
    }

    pub(super) fn breakpoints_slot(&mut self, re: Re) -> &mut Option<Arc<[u32]>> {
        &mut self.entries[re.0 as usize].breakpoints
    }

    pub(super) fn cached_derivative(&self, re: Re, start: u32) -> Option<Re> {
        self.derivatives.get(&(re, start)).copied()
    }

    pub(super) fn cache_derivative(&mut self, re: Re, start: u32, derivative: Re) {
        self.derivatives.insert((re, start), derivative);
        self.derivative_log.push((re, start));
    }

    /// Charges for work; every loop over terms goes through here.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooHard> {
        if self.entries.len() > self.limits.terms {
            return Err(TooHard::Terms);
        }
        self.steps_left = self.steps_left.checked_sub(steps as u64).ok_or(TooHard::Steps)?;
        Ok(())
    }

    /// Every question starts with a full budget.
    pub(super) fn start_question(&mut self) {
        self.steps_left = self.limits.steps;
    }

    fn intern(&mut self, node: Node) -> Re {
        let hash = self.hasher.hash_one(&node);
        let entries = &self.entries;
        if let Some(&id) = self.table.find(hash, |&id| entries[id as usize].node == node) {
            return Re(id);
        }
        let id = u32::try_from(self.entries.len()).expect("fewer than 2^32 regular expressions");
        let entry = Entry {
            nullable: self.compute_nullable(&node),
            lengths: self.compute_lengths(&node),
            depth: self.compute_depth(&node),
            breakpoints: None,
            node,
        };
        self.entries.push(entry);
        let (entries, hasher) = (&self.entries, &self.hasher);
        self.table.insert_unique(hash, id, |&id| hasher.hash_one(&entries[id as usize].node));
        Re(id)
    }

    fn compute_nullable(&self, node: &Node) -> bool {
        match node {
            Node::None | Node::Class(_) => false,
            Node::Epsilon => true,
            Node::Concat(a, b) => self.is_nullable(*a) && self.is_nullable(*b),
            Node::Union(parts) => parts.iter().any(|&part| self.is_nullable(part)),
            Node::Inter(parts) => parts.iter().all(|&part| self.is_nullable(part)),
            Node::Comp(body) => !self.is_nullable(*body),
            Node::Loop { body, min, .. } => *min == 0 || self.is_nullable(*body),
        }
    }

    fn compute_lengths(&self, node: &Node) -> LengthBounds {
        let of = |re: &Re| self.length_bounds(*re);
        let (min, max) = match node {
            Node::None => (u64::MAX, Some(0)),
            Node::Epsilon => (0, Some(0)),
            Node::Class(_) => (1, Some(1)),
            Node::Concat(a, b) => {
                let (a, b) = (of(a), of(b));
                let max = a.max.zip(b.max).and_then(|(a, b)| a.checked_add(b));
                (a.min.saturating_add(b.min), max)
            }
            Node::Union(parts) => (
                parts.iter().map(|part| of(part).min).min().unwrap_or(u64::MAX),
                parts.iter().try_fold(0, |max: u64, part| of(part).max.map(|b| max.max(b))),
            ),
            Node::Inter(parts) => (
                parts.iter().map(|part| of(part).min).max().unwrap_or(0),
                parts.iter().filter_map(|part| of(part).max).min(),
            ),
            Node::Comp(body) => (u64::from(self.is_nullable(*body)), None),
            Node::Loop { body, min, max } => {
                let body = of(body);
                let longest = match (body.max, max) {
                    (Some(0), _) => Some(0),
                    (Some(length), Some(max)) => length.checked_mul(*max),
                    _ => None,
                };
                (body.min.saturating_mul(*min), longest)
            }
        };
        LengthBounds { min, max }
    }

    fn compute_depth(&self, node: &Node) -> u32 {
        match node {
            Node::None | Node::Epsilon | Node::Class(_) => 0,
            // The right spine is walked by a loop, not by recursion.
            Node::Concat(a, b) => (self.depth(*a) + 1).max(self.depth(*b)),
            Node::Union(parts) | Node::Inter(parts) => {
                parts.iter().map(|&part| self.depth(part)).max().unwrap_or(0) + 1
            }
            Node::Comp(body) | Node::Loop { body, .. } => self.depth(*body) + 1,
        }
    }
}

/// The constructors of the theory.
impl Arena {
    pub fn none(&self) -> Re {
        Self::NONE
    }

    pub fn epsilon(&self) -> Re {
        Self::EPSILON
    }

    pub fn allchar(&self) -> Re {
        Self::ALLCHAR
    }

    pub fn all(&self) -> Re {
        Self::ALL
    }

    pub fn class(&mut self, set: CharSet) -> Re {
        if set.is_empty() { Self::NONE } else { self.intern(Node::Class(set)) }
    }

    /// `str.to_re`.
    pub fn literal(&mut self, word: &Str) -> Re {
        let mut result = Self::EPSILON;
        for &char in word.chars().iter().rev() {
            let class = self.class(CharSet::single(char));
            result = self.prepend(class, result);
        }
        result
    }

    /// `re.range`: empty unless both are single characters in order.
    pub fn range(&mut self, first: &Str, last: &Str) -> Re {
        match (first.chars(), last.chars()) {
            (&[first], &[last]) => self.class(CharSet::range(first, last)),
            _ => Self::NONE,
        }
    }

    pub fn concat(&mut self, left: Re, right: Re) -> Re {
        if left == Self::NONE || right == Self::NONE {
            return Self::NONE;
        }
        let mut heads = Vec::new();
        let mut rest = left;
        while let Node::Concat(head, tail) = *self.node(rest) {
            heads.push(head);
            rest = tail;
        }
        let mut result = self.prepend(rest, right);
        for &head in heads.iter().rev() {
            result = self.prepend(head, result);
        }
        result
    }

    /// `head` is not a concatenation. Repetitions of the same body meet in
    /// one loop, which is what keeps `r* r*` from growing.
    fn prepend(&mut self, head: Re, rest: Re) -> Re {
        if head == Self::EPSILON {
            return rest;
        }
        if rest == Self::EPSILON {
            return head;
        }
        let (next, tail) = match *self.node(rest) {
            Node::Concat(next, tail) => (next, tail),
            _ => (rest, Self::EPSILON),
        };
        let (body, min, max) = self.as_loop(head);
        let (next_body, next_min, next_max) = self.as_loop(next);
        if body == next_body {
            let max = match (max, next_max) {
                (Some(a), Some(b)) => a.checked_add(b).map(Some),
                _ => Some(None),
            };
            if let (Some(min), Some(max)) = (min.checked_add(next_min), max) {
                let merged = self.repeat(body, min, max);
                return self.prepend(merged, tail);
            }
        }
        self.intern(Node::Concat(head, rest))
    }

    fn as_loop(&self, re: Re) -> (Re, u64, Option<u64>) {
        match *self.node(re) {
            Node::Loop { body, min, max } => (body, min, max),
            _ => (re, 1, Some(1)),
        }
    }

    pub fn union(&mut self, parts: &[Re]) -> Re {
        let mut flat: Vec<Re> = Vec::with_capacity(parts.len());
        let mut chars = CharSet::empty();
        for &part in parts {
            match self.node(part) {
                Node::Union(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.retain(|&part| match &self.entries[part.0 as usize].node {
            Node::None => false,
            Node::Class(set) => {
                chars = chars.union(set);
                false
            }
            _ => true,
        });
        if !chars.is_empty() {
            flat.push(self.class(chars));
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&Self::ALL) || self.has_complementary_pair(&flat) {
            return Self::ALL;
        }
        if flat.iter().any(|&part| part != Self::EPSILON && self.is_nullable(part)) {
            flat.retain(|&part| part != Self::EPSILON);
        }
        match flat[..] {
            [] => Self::NONE,
            [single] => single,
            _ => self.intern(Node::Union(flat.into())),
        }
    }

    pub fn inter(&mut self, parts: &[Re]) -> Re {
        let mut flat: Vec<Re> = Vec::with_capacity(parts.len());
        let mut chars: Option<CharSet> = None;
        for &part in parts {
            match self.node(part) {
                Node::Inter(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.retain(|&part| match &self.entries[part.0 as usize].node {
            Node::Class(set) => {
                chars = Some(chars.as_ref().map_or(set.clone(), |chars| chars.intersection(set)));
                false
            }
            _ => part != Self::ALL,
        });
        if let Some(chars) = chars {
            flat.push(self.class(chars));
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&Self::NONE) || self.has_complementary_pair(&flat) {
            return Self::NONE;
        }
        if flat.contains(&Self::EPSILON) {
            let all_nullable = flat.iter().all(|&part| self.is_nullable(part));
            return if all_nullable { Self::EPSILON } else { Self::NONE };
        }
        match flat[..] {
            [] => Self::ALL,
            [single] => single,
            _ => {
                let node = Node::Inter(flat.into());
                let lengths = self.compute_lengths(&node);
                if lengths.max.is_some_and(|max| max < lengths.min) {
                    return Self::NONE;
                }
                self.intern(node)
            }
        }
    }

    /// `parts` is sorted.
    fn has_complementary_pair(&self, parts: &[Re]) -> bool {
        parts.iter().any(|&part| match self.node(part) {
            Node::Comp(body) => parts.binary_search(body).is_ok(),
            _ => false,
        })
    }

    pub fn comp(&mut self, body: Re) -> Re {
        match *self.node(body) {
            Node::Comp(inner) => inner,
            Node::None => Self::ALL,
            _ if body == Self::ALL => Self::NONE,
            _ => self.intern(Node::Comp(body)),
        }
    }

    pub fn diff(&mut self, left: Re, right: Re) -> Re {
        let outside = self.comp(right);
        self.inter(&[left, outside])
    }

    pub fn star(&mut self, body: Re) -> Re {
        self.repeat(body, 0, None)
    }

    pub fn plus(&mut self, body: Re) -> Re {
        self.repeat(body, 1, None)
    }

    pub fn opt(&mut self, body: Re) -> Re {
        self.union(&[Self::EPSILON, body])
    }

    /// `(_ re.^ n)`.
    pub fn power(&mut self, body: Re, count: u64) -> Re {
        self.repeat(body, count, Some(count))
    }

    /// `(_ re.loop min max)`; `max` of `None` is Z3's loop without upper
    /// bound. Empty if the bounds are the wrong way round.
    pub fn repeat(&mut self, body: Re, min: u64, max: Option<u64>) -> Re {
        if max.is_some_and(|max| max < min) {
            return Self::NONE;
        }
        match max {
            Some(0) => return Self::EPSILON,
            Some(1) if min == 1 => return body,
            _ => {}
        }
        let min = if self.is_nullable(body) { 0 } else { min };
        match self.node(body).clone() {
            Node::None => return if min == 0 { Self::EPSILON } else { Self::NONE },
            Node::Epsilon => return Self::EPSILON,
            Node::Loop { min: 0, max: None, .. } => return body,
            Node::Loop { body: inner, min: 0 | 1, .. } if max.is_none() => {
                // Zero or one turns of the inner loop already reach every count.
                let min = if self.is_nullable(body) { 0 } else { min };
                return self.repeat(inner, min, None);
            }
            Node::Union(parts) if max.is_none() && parts.contains(&Self::EPSILON) => {
                let rest: Vec<Re> = parts.iter().copied().filter(|&part| part != Self::EPSILON).collect();
                let rest = self.union(&rest);
                return self.repeat(rest, 0, None);
            }
            _ => {}
        }
        if min == 0 && max == Some(1) {
            return self.opt(body);
        }
        self.intern(Node::Loop { body, min, max })
    }

    /// The words of `re` with between `min` and `max` characters.
    pub fn with_length(&mut self, re: Re, min: u64, max: Option<u64>) -> Re {
        let lengths = self.repeat(Self::ALLCHAR, min, max);
        self.inter(&[re, lengths])
    }
}
