//! All oracles in order: judging, sorting out, confirming.

use eval::Expectation;
use solver::answer::RunClass;
use solver::run::{PartyId, Purpose, Run, RunError};

use crate::answers::WrongAnswers;
use crate::asking::Asking;
use crate::by_design;
use crate::cores::UnsoundCores;
use crate::crashes::Crashes;
use crate::incremental::Incremental;
use crate::models::InvalidModels;
use crate::opinions::ask_third_opinions;
use crate::subject::Subject;
use crate::values::WrongValues;
use crate::verdict::{Kind, Repeat, Standing, Verdict};

/// Confirmations made beside those that a finding has to survive, where runs end at a limit.
const MORE: u32 = 2;

/// Looks for one kind of misbehaviour. It knows neither how the script was made nor how solvers are started.
pub trait Oracle: Send + Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// The verdicts on these runs of one script, each of another party.
    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError>;
}

/// The oracles in force, and how a finding is confirmed: the same for campaigns, reductions, replays and single files.
pub struct Judge {
    oracles: Vec<Box<dyn Oracle>>,
    /// How many fresh plain starts a finding has to survive.
    pub confirmations: u32,
}

impl Judge {
    /// Everything but performance and incremental solving, which cost more runs.
    pub fn standard() -> Self {
        Judge::looking_at_models(InvalidModels { own_checks: false })
    }

    /// The same, with the solver's own check as a hint where our evaluation leaves a model open.
    #[must_use]
    pub fn with_own_checks() -> Self {
        Judge::looking_at_models(InvalidModels { own_checks: true })
    }

    fn looking_at_models(models: InvalidModels) -> Self {
        let oracles: Vec<Box<dyn Oracle>> = vec![
            Box::new(WrongAnswers),
            Box::new(models),
            Box::new(Crashes),
            Box::new(UnsoundCores),
            Box::new(WrongValues),
        ];
        Judge { oracles, confirmations: 2 }
    }

    /// The same with own checks, and with incremental solving compared against solving from scratch.
    #[must_use]
    pub fn thorough() -> Self {
        Judge::with_own_checks().with(Incremental::default())
    }

    /// With one more oracle.
    #[must_use]
    pub fn with(mut self, oracle: impl Oracle + 'static) -> Self {
        self.oracles.push(Box::new(oracle));
        self
    }

    /// Further runs before runs are judged: third opinions where they contradict each other and nothing tells who is
    /// right (see [`ask_third_opinions`]), and the places of crashes.
    pub fn follow_up(
        &self,
        subject: &mut Subject,
        runs: &mut Vec<Run>,
        asking: &mut Asking,
    ) -> Result<(), RunError> {
        ask_third_opinions(subject, runs, asking)?;
        runs.iter_mut().try_for_each(|run| asking.locate(run))
    }

    /// All verdicts on these runs, the gravest first, each misbehaviour once. Not yet confirmed.
    pub fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        debug_assert!(are_distinct(runs), "every run is of another party");
        let mut verdicts = Vec::new();
        for oracle in &self.oracles {
            verdicts.extend(oracle.judge(subject, runs, asking)?);
        }
        for verdict in &mut verdicts {
            if let Some(run) = verdict.accused.and_then(|accused| Run::of(runs, accused)) {
                verdict.solver = run.configuration.name();
            }
            if verdict.standing == Standing::Stands
                && let Some(reason) = by_design::excuse(subject, runs, verdict)
            {
                verdict.standing = Standing::ByDesign(reason);
            }
            if verdict.standing == Standing::Stands
                && !is_vouched_for(subject, verdict)
                && verdict.kind.is_about_meaning()
                && let Some(reason) = subject.excuse(verdict.check)
            {
                verdict.standing = Standing::Unproven(reason);
            }
        }
        verdicts.sort_by_key(|verdict| (verdict.kind, verdict.accused, verdict.check));
        let answers_wrong: Vec<(Option<PartyId>, Option<usize>)> = verdicts
            .iter()
            .filter(|verdict| matches!(verdict.kind, Kind::RefutationSoundness | Kind::SolutionSoundness))
            .map(|verdict| (verdict.accused, verdict.check))
            .collect();
        // A wrong model of a wrong `sat`, or an answer that is right from scratch, is the same bug seen from elsewhere.
        verdicts.retain(|verdict| {
            !matches!(verdict.kind, Kind::InvalidModel | Kind::Incremental)
                || !answers_wrong.contains(&(verdict.accused, verdict.check))
        });
        Ok(verdicts)
    }

    /// Makes the runs a verdict rests on again, as confirmations, and judges anew: does the same come out? Runs that end at a
    /// limit are no evidence for either, and are made again a few times.
    pub fn confirm(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        verdict: &mut Verdict,
        asking: &mut Asking,
    ) -> Result<(), RunError> {
        let asking = &mut asking.for_purpose(Purpose::Confirmation);
        let (mut seen, mut told) = (0, 0);
        for _ in 0..self.confirmations + MORE {
            let mut fresh = runs.to_vec();
            let mut ended_at_a_limit = false;
            for run in fresh.iter_mut().filter(|run| verdict.involved().any(|party| party == run.party())) {
                let before = is_at_a_limit(run);
                *run = asking.run(&run.configuration, &run.script)?;
                ended_at_a_limit |= is_at_a_limit(run) && !before;
            }
            subject.forget();
            let again = self.judge(subject, &fresh, asking)?;
            let same = again.iter().any(|other| other.same_as(verdict));
            seen += u32::from(same);
            told += u32::from(same || !ended_at_a_limit);
            // What ended at a limit because nobody waited any longer tells nothing, and the next would not either.
            if told == self.confirmations || asking.is_over() {
                break;
            }
        }
        verdict.repeat = match seen {
            // Nothing but limits: nobody has seen it again.
            0 => Repeat::Flaky { seen, runs: told.max(1) },
            _ if seen == told => Repeat::Confirmed { runs: told },
            _ => Repeat::Flaky { seen, runs: told },
        };
        Ok(())
    }

    /// Judges and confirms: what is left are findings, flaky ones marked, and verdicts that do not count with the reason.
    pub fn try_case(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        let mut verdicts = self.judge(subject, runs, asking)?;
        for verdict in &mut verdicts {
            if verdict.standing == Standing::Stands {
                self.confirm(subject, runs, verdict, asking)?;
            }
        }
        Ok(verdicts)
    }
}

/// Does somebody vouch for the right answer, who knows what else the script says?
fn is_vouched_for(subject: &Subject, verdict: &Verdict) -> bool {
    matches!(subject.expectation, Expectation::Claimed { .. })
        && matches!(verdict.kind, Kind::RefutationSoundness | Kind::SolutionSoundness)
}

/// Did it end at a limit of ours?
fn is_at_a_limit(run: &Run) -> bool {
    matches!(run.answers.class, RunClass::MemoryOut | RunClass::Timeout)
}

fn are_distinct(runs: &[Run]) -> bool {
    runs.iter().enumerate().all(|(place, run)| Run::of(&runs[..place], run.party()).is_none())
}
