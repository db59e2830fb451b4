//! Assertions spread over levels of push and pop with a check at each (STORM's incremental mode, section 4).

use generate::Rng;
use smtlib::{Command, Fun, Script, Term};

use crate::skeleton::Skeleton;

/// At most this many frames.
const FRAMES: usize = 5;
/// Probability that levels are popped before a frame.
const POP: f64 = 0.4;
/// Probability that a frame has levels of its own, and how many at most.
const PUSH: f64 = 0.8;
const LEVELS: usize = 3;
/// Probability that a check has assumptions, where there is something to assume.
const ASSUMING: f64 = 0.3;

/// Boolean constants that a script may assume: all of them true under the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switches {
    pub funs: Vec<Fun>,
    pub terms: Vec<Term>,
}

/// The script and its number of frames. Each check is over a part of the assertions, so that a model of all of them
/// satisfies every check.
pub(crate) fn spread(
    skeleton: &Skeleton,
    switches: &Switches,
    assertions: &[Term],
    rng: &mut Rng,
) -> (Script, usize) {
    // A frame without an assertion asks what was asked before.
    let frames = rng.between(2, assertions.len().clamp(2, FRAMES));
    let mut commands = skeleton.preamble().to_vec();
    commands.extend(switches.funs.iter().map(|fun| Command::DeclareConst(*fun)));
    let mut open = 0;
    for frame in 0..frames {
        if frame > 0 {
            if open > 0 && rng.chance(POP) {
                let count = rng.between(1, open);
                commands.push(Command::Pop(count as u32));
                open -= count;
            }
            if rng.chance(PUSH) {
                let count = rng.between(1, LEVELS);
                commands.push(Command::Push(count as u32));
                open += count;
            }
        }
        let part = assertions.iter().skip(frame).step_by(frames);
        commands.extend(part.map(|term| Command::Assert(*term)));
        let assuming = *skeleton.check() == Command::CheckSat && !switches.terms.is_empty();
        commands.push(if assuming && rng.chance(ASSUMING) {
            let first = rng.below(switches.terms.len());
            Command::CheckSatAssuming(switches.terms[first..].to_vec())
        } else {
            skeleton.check().clone()
        });
    }
    (Script { commands }, frames)
}
