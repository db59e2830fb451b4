//! The project's one random source: numbered ChaCha8 streams under a seed.
//!
//! ChaCha is defined by its algorithm, not by a library version, so a stream means the same test case on every
//! machine and in every build. A worker opens one stream per test case; the pair (seed, index) is all that a
//! finding must remember to be made again.
//!
//! Crates that are not above this one take any `rand_core::Rng`; [`Rng`] is one, and the only one outside of tests.

use std::convert::Infallible;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _, TryRng};

/// A stream of random choices.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

/// The stream with this number under this seed. Streams are independent of each other.
pub fn stream(seed: u64, index: u64) -> Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(index);
    Rng(rng)
}

impl TryRng for Rng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

impl Rng {
    /// A stream of its own that depends on where this one stands, which stays there: choices that are added later
    /// under a new name do not move those that findings remember.
    pub fn fork(&self, name: &str) -> Rng {
        let mut key = [0; 32];
        self.0.clone().fill_bytes(&mut key);
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(fnv(name));
        Rng(rng)
    }

    /// A stream of its own that the next 256 bits of this one decide: however much is drawn from it, this one goes on in
    /// the same way.
    pub fn split(&mut self) -> Rng {
        let mut key = [0; 32];
        for part in key.chunks_mut(8) {
            part.copy_from_slice(&self.bits().to_le_bytes());
        }
        Rng(ChaCha8Rng::from_seed(key))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`; 0 for `n` = 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        // Multiply-shift: the bias is below n / 2^32, far under anything a fuzzer can see.
        ((u64::from(self.0.next_u32()) * n as u64) >> 32) as usize
    }

    /// A number between the two bounds, both included.
    #[inline]
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with this probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        f64::from(self.0.next_u32()) < probability * 4_294_967_296.0
    }

    /// One of the items; `None` if there is none.
    #[inline]
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// A place, with probability proportional to its weight; `None` if no weight is positive.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
        let mut point = self.unit() * total;
        let mut last = None;
        for (i, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            if point < *weight {
                return Some(i);
            }
            point -= weight;
            last = Some(i);
        }
        last
    }

    /// A place in a list of running totals, with probability proportional to its own share.
    #[inline]
    pub fn cumulative(&mut self, totals: &[f64]) -> Option<usize> {
        let point = self.unit() * totals.last()?;
        Some(totals.partition_point(|total| *total <= point).min(totals.len() - 1))
    }

    /// A number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// How often something with this probability happens in a row, at most `most` times.
    pub fn run(&mut self, probability: f64, most: usize) -> usize {
        (0..most).take_while(|_| self.chance(probability)).count()
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// 64-bit FNV-1a.
fn fnv(name: &str) -> u64 {
    let step = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_itself_and_differs_from_its_neighbours() {
        let draw = |seed, index| {
            let mut rng = stream(seed, index);
            (0..8).map(|_| rng.bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn the_first_numbers_of_a_stream_are_fixed_for_ever() {
        // Findings name their stream: these numbers must survive every change of dependencies.
        let mut rng = stream(1, 2);
        assert_eq!([rng.bits(), rng.bits()], [6_938_885_953_644_749_562, 2_026_289_535_659_934_096]);
    }

    #[test]
    fn a_fork_leaves_its_stream_alone_and_differs_by_name_and_place() {
        let mut rng = stream(1, 2);
        let (mut one, mut other) = (rng.fork("options"), rng.fork("transform 0"));
        // Fixed for ever, like the streams themselves.
        assert_eq!(one.bits(), 10_812_906_299_196_482_833);
        assert_ne!(rng.fork("options").bits(), other.bits());
        assert_eq!(rng.bits(), stream(1, 2).bits());
        assert_ne!(rng.fork("options").bits(), stream(1, 2).fork("options").bits());
    }

    #[test]
    fn a_split_off_stream_does_not_touch_the_first_and_is_fixed_for_ever() {
        let (mut rng, mut other) = (stream(1, 2), stream(1, 2));
        let mut split = rng.split();
        assert_eq!([split.bits(), split.bits()], [1_658_758_732_818_399_272, 9_503_499_877_519_368_352]);
        for _ in 0..4 {
            other.bits();
        }
        assert_eq!(rng.bits(), other.bits());
    }

    #[test]
    fn weights_are_respected() {
        let mut rng = stream(0, 0);
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            counts[rng.weighted(&[1.0, 0.0, 3.0, -1.0]).expect("positive weights")] += 1;
        }
        assert_eq!((counts[1], counts[3]), (0, 0));
        assert!((2_200..2_800).contains(&counts[0]), "{counts:?}");
        assert_eq!(rng.weighted(&[]), None);
        assert_eq!(rng.weighted(&[0.0]), None);
    }

    #[test]
    fn cumulative_never_picks_an_empty_share() {
        let mut rng = stream(0, 1);
        for _ in 0..1_000 {
            assert_ne!(rng.cumulative(&[1.0, 1.0, 2.0]), Some(1));
        }
        assert_eq!(rng.cumulative(&[]), None);
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut rng = stream(0, 2);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            seen[rng.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.below(0), 0);
        assert!(rng.pick::<u8>(&[]).is_none());
    }
}
