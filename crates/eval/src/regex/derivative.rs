//! Derivatives by a character (Brzozowski 1964), computed once per interval
//! of characters that a term cannot tell apart, and membership through them.

use std::sync::Arc;

use crate::string::{MAX_CHAR, Str};

use super::TooHard;
use super::arena::{Arena, Node, Re};

/// Deeper terms are refused rather than risking the stack.
const MAX_DEPTH: u32 = 400;

impl Arena {
    /// `str.in_re`.
    pub fn matches(&mut self, re: Re, word: &Str) -> Result<bool, TooHard> {
        self.start_question();
        let lengths = self.length_bounds(re);
        let length = word.len() as u64;
        if length < lengths.min || lengths.max.is_some_and(|max| length > max) {
            return Ok(false);
        }
        let mut state = re;
        for &char in word.chars() {
            if state == self.none() || state == self.all() {
                break;
            }
            state = self.derivative(state, char)?;
        }
        Ok(self.is_nullable(state))
    }

    /// The words `w` such that `char w` is in the language.
    pub(super) fn derivative(&mut self, re: Re, char: u32) -> Result<Re, TooHard> {
        self.spend(1)?;
        let breakpoints = self.breakpoints(re)?;
        let start = breakpoints[breakpoints.partition_point(|&start| start <= char) - 1];
        if let Some(derivative) = self.cached_derivative(re, start) {
            return Ok(derivative);
        }
        if self.depth(re) > MAX_DEPTH {
            return Err(TooHard::Depth);
        }
        let derivative = self.compute_derivative(re, start)?;
        self.cache_derivative(re, start, derivative);
        Ok(derivative)
    }

    fn compute_derivative(&mut self, re: Re, char: u32) -> Result<Re, TooHard> {
        Ok(match self.node(re).clone() {
            Node::None | Node::Epsilon => self.none(),
            Node::Class(set) => {
                if set.contains(char) {
                    self.epsilon()
                } else {
                    self.none()
                }
            }
            Node::Concat(..) => {
                // Every nullable head passes the character on to the rest.
                let mut alternatives = Vec::new();
                let mut rest = re;
                while let Node::Concat(head, tail) = *self.node(rest) {
                    let step = self.derivative(head, char)?;
                    alternatives.push(self.concat(step, tail));
                    rest = tail;
                    if !self.is_nullable(head) {
                        return self.union_within_budget(&alternatives);
                    }
                }
                alternatives.push(self.derivative(rest, char)?);
                self.union_within_budget(&alternatives)?
            }
            Node::Union(parts) => {
                let mut derivatives = Vec::with_capacity(parts.len());
                for &part in &parts {
                    derivatives.push(self.derivative(part, char)?);
                }
                self.union_within_budget(&derivatives)?
            }
            Node::Inter(parts) => {
                let mut derivatives = Vec::with_capacity(parts.len());
                for &part in &parts {
                    let derivative = self.derivative(part, char)?;
                    if derivative == self.none() {
                        return Ok(derivative);
                    }
                    derivatives.push(derivative);
                }
                self.spend(derivatives.len())?;
                self.inter(&derivatives)
            }
            Node::Comp(body) => {
                let derivative = self.derivative(body, char)?;
                self.comp(derivative)
            }
            Node::Loop { body, min, max } => {
                // Also right for nullable bodies: skipping turns loses nothing.
                let derivative = self.derivative(body, char)?;
                let rest = self.repeat(body, min.saturating_sub(1), max.map(|max| max - 1));
                self.concat(derivative, rest)
            }
        })
    }

    fn union_within_budget(&mut self, parts: &[Re]) -> Result<Re, TooHard> {
        let union = self.union(parts);
        let size = match self.node(union) {
            Node::Union(parts) => parts.len(),
            _ => 1,
        };
        self.spend(parts.len() + size)?;
        Ok(union)
    }

    /// Where the derivative may change: it is constant from each of these
    /// characters up to the next. Always starts with 0.
    pub(super) fn breakpoints(&mut self, re: Re) -> Result<Arc<[u32]>, TooHard> {
        if let Some(known) = self.breakpoints_slot(re) {
            return Ok(known.clone());
        }
        if self.depth(re) > MAX_DEPTH {
            return Err(TooHard::Depth);
        }
        let mut points = vec![0];
        match self.node(re).clone() {
            Node::None | Node::Epsilon => {}
            Node::Class(set) => {
                for &(first, last) in set.intervals() {
                    points.push(first);
                    if last < MAX_CHAR {
                        points.push(last + 1);
                    }
                }
            }
            Node::Concat(..) => {
                let mut rest = re;
                let mut complete = false;
                while let Node::Concat(head, tail) = *self.node(rest) {
                    points.extend_from_slice(&self.breakpoints(head)?);
                    self.spend(1)?;
                    rest = tail;
                    if !self.is_nullable(head) {
                        complete = true;
                        break;
                    }
                }
                if !complete {
                    points.extend_from_slice(&self.breakpoints(rest)?);
                }
            }
            Node::Union(parts) | Node::Inter(parts) => {
                for &part in &parts {
                    points.extend_from_slice(&self.breakpoints(part)?);
                }
            }
            Node::Comp(body) | Node::Loop { body, .. } => {
                points.extend_from_slice(&self.breakpoints(body)?);
            }
        }
        self.spend(points.len())?;
        points.sort_unstable();
        points.dedup();
        let points: Arc<[u32]> = points.into();
        *self.breakpoints_slot(re) = Some(points.clone());
        Ok(points)
    }
}
