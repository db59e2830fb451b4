//! The random streams of a round. Each purpose has its own, so that a choice more in one place changes nothing in
//! another: the engine's stream alone, numbered by the round, decides the test cases.

use generate::{Rng, rng};

/// What a stream is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPurpose {
    /// Making test cases: stream (rng seed, round) itself.
    Engine,
    /// Choosing engine, seeds and logic.
    Plan,
    /// A generated seed.
    Seed,
    /// Options of solvers.
    Options,
    /// Whether known culprits are left out.
    LeftOut,
}

/// The stream of a round for a purpose.
pub fn stream(rng_seed: u64, round: u64, purpose: StreamPurpose) -> Rng {
    let key = match purpose {
        StreamPurpose::Engine => rng_seed,
        // Any fixed difference will do: streams under different seeds are independent.
        other => rng_seed ^ (0x9e37_79b9_7f4a_7c15u64.wrapping_mul(other as u64)),
    };
    rng::stream(key, round)
}
