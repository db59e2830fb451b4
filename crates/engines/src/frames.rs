//! Assertions spread over levels of push and pop with a check at each (STORM's incremental mode, section 4).

use generate::Rng;
use smtlib::{Command, Script, Term};

use crate::skeleton::Skeleton;

/// At most this many frames.
const FRAMES: usize = 5;
/// Probability that levels are popped before a frame.
const POP: f64 = 0.4;
/// Probability that a frame has a level of its own.
const PUSH: f64 = 0.8;

/// The script and its number of frames. Each check is over a part of the assertions, so that a model of all of them
/// satisfies every check.
pub(crate) fn spread(skeleton: &Skeleton, assertions: &[Term], rng: &mut Rng) -> (Script, usize) {
    let frames = rng.between(2, FRAMES);
    let mut commands = skeleton.preamble().to_vec();
    let mut open = 0;
    for frame in 0..frames {
        if frame > 0 {
            if open > 0 && rng.chance(POP) {
                let count = rng.between(1, open);
                commands.push(Command::Pop(count as u32));
                open -= count;
            }
            if rng.chance(PUSH) {
                commands.push(Command::Push(1));
                open += 1;
            }
        }
        let part = assertions.iter().skip(frame).step_by(frames);
        commands.extend(part.map(|term| Command::Assert(*term)));
        commands.push(skeleton.check().clone());
    }
    (Script { commands }, frames)
}
