//! How long a chain goes on.
//!
//! Engines know how long a chain may be useful: STORM makes 300 instances of a seed and more, DIVER a thousand mutants
//! one upon the other. A seed that yields nothing should not have them all; yet some bugs lie a thousand changes away.
//! Every chain is granted some steps before anything has to pay, mostly few and now and then many: each scale of lengths
//! gets the same share of the time, which is within a logarithm of the best schedule for any unknown distance (Luby,
//! Sinclair, Zuckerman: Optimal Speedup of Las Vegas Algorithms, 1993). Beyond its grant a chain goes on while it pays:
//! after a finding, or after new behaviour while it shows at least as much of it as the campaign does on the whole, for some
//! steps more; and while its runs are so cheap that it has not used the CPU time of as many usual test cases. What is usual is
//! the bound because other seeds wait (Charnov: Optimal Foraging, the Marginal Value Theorem, 1976): in the first minutes
//! nearly every test case shows something new, whatever its seed.

use std::time::Duration;

use engines::Feedback;
use generate::Rng;

/// The shortest grant: enough to pay for opening the chain.
const LEAST: usize = 30;

/// The longest grant is this many times doubled.
const DOUBLINGS: u32 = 6;

/// Steps that new behaviour or a finding is good for.
const PAYS: usize = 30;

/// Findings of one chain that are good for more steps: further ones are most likely the same bug again.
const FINDINGS: u32 = 3;

/// A chain ends after this many findings: whatever it makes, it shows the same bug.
const DROWNED: u32 = 8;

/// A chain ends after this many test cases in a row that some solver ran out of time on, or none could do anything with.
const PATIENCE: u32 = 3;

/// What a usual test case of the campaign is like.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// CPU time, solvers and ours.
    pub cost: Duration,
    /// Share of the test cases that show new behaviour.
    pub novelty: f64,
}

/// Steps granted to a chain: 30 half of the time, 60 a quarter of the time, and so on up to 1,920.
pub fn grant(rng: &mut Rng) -> usize {
    let doublings = rng.bits().trailing_zeros().min(DOUBLINGS);
    LEAST << doublings
}

/// Whether a chain goes on.
#[derive(Clone, Debug)]
pub struct Length {
    done: usize,
    /// Steps that need not pay any more.
    granted: usize,
    /// CPU time that cheap test cases may use up instead.
    budget: Duration,
    spent: Duration,
    /// Share of the latest test cases with new behaviour, and what is usual.
    novelty: f64,
    usual: f64,
    /// The engine's own wish.
    most: usize,
    /// Test cases in a row that cost a time-out or came to nothing.
    wasted: u32,
    findings: u32,
}

impl Length {
    /// A chain with so many steps granted, of an engine that wants at most so many.
    pub fn new(granted: usize, most: usize, usual: Usual) -> Length {
        let budget = usual.cost.saturating_mul(u32::try_from(granted).unwrap_or(u32::MAX));
        let (novelty, spent) = (usual.novelty, Duration::ZERO);
        Length { done: 0, granted, budget, spent, novelty, usual: novelty, most, wasted: 0, findings: 0 }
    }

    pub fn goes_on(&self) -> bool {
        let paid_for = self.done < self.granted || self.spent < self.budget;
        paid_for && self.done < self.most && self.wasted < PATIENCE && self.findings < DROWNED
    }

    /// Counts a test case and the CPU time that it took.
    pub fn record(&mut self, feedback: &Feedback, cpu: Duration) {
        self.done += 1;
        self.spent += cpu;
        self.findings += u32::from(feedback.is_finding());
        let novel = feedback.is_novel();
        self.novelty += (f64::from(u8::from(novel)) - self.novelty) / PAYS as f64;
        let fertile = novel && self.novelty >= self.usual;
        if fertile || feedback.is_finding() && self.findings <= FINDINGS {
            self.granted = self.granted.max(self.done.saturating_add(PAYS));
        }
        let refused = !feedback.runs.is_empty() && feedback.runs.iter().all(|run| run.answer.is_rejected());
        let wasted = feedback.is_hopeless() || feedback.timed_out() || refused;
        self.wasted = if wasted { self.wasted + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_millis(20);

    fn length(granted: usize, most: usize) -> Length {
        Length::new(granted, most, Usual { cost: USUAL, novelty: 0.01 })
    }

    fn steps(mut length: Length, mut feedback: impl FnMut(usize) -> Feedback) -> usize {
        let mut made = 0;
        while length.goes_on() {
            length.record(&feedback(made), USUAL);
            made += 1;
        }
        made
    }

    fn told(letters: &str) -> Feedback {
        Feedback::from_letters(letters)
    }

    #[test]
    fn a_barren_chain_ends_at_its_grant_and_a_paying_one_at_the_engines_length() {
        assert_eq!(steps(length(30, 1000), |_| told("")), 30);
        assert_eq!(steps(length(30, 1000), |_| told("n")), 1000);
        assert_eq!(steps(length(30, 1000), |step| told(if step == 20 { "f" } else { "" })), 51);
        assert_eq!(steps(length(usize::MAX, 7), |_| told("")), 7);
    }

    #[test]
    fn a_chain_with_less_new_behaviour_than_usual_ends_at_its_grant() {
        let length = |novelty| Length::new(60, 1000, Usual { cost: USUAL, novelty });
        let every_fourth = |step: usize| told(if step.is_multiple_of(4) { "n" } else { "" });
        assert_eq!(steps(length(0.5), every_fourth), 60, "every second one is usual");
        assert_eq!(steps(length(0.05), every_fourth), 1000, "one in twenty is usual");
        let drying_up = |step: usize| told(if step < 200 || step.is_multiple_of(20) { "n" } else { "" });
        assert!((200..300).contains(&steps(length(0.2), drying_up)));
    }

    #[test]
    fn a_chain_that_shows_one_bug_over_and_over_ends() {
        assert_eq!(steps(length(1000, 1000), |_| told("f")), DROWNED as usize);
        let now_and_then = |step: usize| told(if step % 25 == 24 { "f" } else { "" });
        assert_eq!(steps(length(30, 1000), now_and_then), 105, "three findings pay");
    }

    #[test]
    fn a_chain_that_only_costs_time_ends_soon() {
        assert_eq!(steps(length(1000, 1000), |_| told("h")), PATIENCE as usize);
        assert_eq!(steps(length(1000, 1000), |_| told("r")), PATIENCE as usize, "nobody takes its scripts");
        assert_eq!(steps(length(30, 1000), |step| told(if step % 3 == 2 { "" } else { "h" })), 30);
    }

    #[test]
    fn cheap_test_cases_may_be_more() {
        let mut cheap = length(30, 1000);
        let mut made = 0;
        while cheap.goes_on() {
            cheap.record(&told(""), USUAL / 4);
            made += 1;
        }
        assert_eq!(made, 120);
    }

    #[test]
    fn every_scale_of_lengths_gets_a_like_share_of_the_time() {
        let mut rng = generate::rng::stream(5, 5);
        let mut time = std::collections::BTreeMap::new();
        for _ in 0..100_000 {
            let steps = grant(&mut rng);
            *time.entry(steps).or_insert(0usize) += steps;
        }
        assert_eq!(time.len(), DOUBLINGS as usize + 1);
        let all: usize = time.values().sum();
        let (shortest, longest) = (time[&LEAST], time[&(LEAST << DOUBLINGS)]);
        assert!(shortest * 16 > all && longest * 16 > all, "{time:?}");
    }
}
