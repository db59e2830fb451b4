//! Who is right about a check: evidence in the order of its strength.
//!
//! Our own evaluation comes first, then what is known about the script, then models put into it, then independent lines
//! of solvers. Releases of one line are not independent of each other: where they contradict each other the line has no
//! voice, and the age of a release only suggests who is wrong.

use smtlib::{Family, Status};
use solver::run::{PartyId, Run, RunError};

use crate::asking::Asking;
use crate::evidence::Evidence;
use crate::ground::ground;
use crate::subject::{ModelValue, Subject};

/// How a reason ends that rests on answers to the script with somebody's model in it.
pub const PUT_IN: &str = " put in";

/// An answer that a party gave to a check.
pub type Said<'r> = (&'r Run, Status);

/// The right answer to a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub truth: Status,
    pub rests_on: Evidence,
    /// Completes "the answer is ...:".
    pub because: String,
    /// Who has a part in it beside those who gave the right answer.
    pub witnesses: Vec<PartyId>,
}

impl Settled {
    fn new(truth: Status, rests_on: Evidence, because: impl Into<String>) -> Settled {
        Settled { truth, rests_on, because: because.into(), witnesses: Vec::new() }
    }
}

/// What we know about a check without anybody's word.
#[derive(Debug, Default)]
pub struct OwnView {
    pub settled: Option<Settled>,
    /// Whose models are false by our evaluation.
    pub refuted: Vec<PartyId>,
    /// Whose models are neither false nor true by our evaluation.
    undecided: Vec<PartyId>,
}

/// Our evaluation of assertions and models, and what is known about the script.
pub fn own_view(
    subject: &mut Subject,
    check: usize,
    said: &[Said],
    asking: &mut Asking,
) -> Result<OwnView, RunError> {
    let mut view = OwnView::default();
    if let Some(decided) = subject.decide(check) {
        view.settled = Some(Settled::new(decided.answer, Evidence::Evaluation, decided.because));
        return Ok(view);
    }
    for run in saying(said, Status::Sat) {
        let Some(found) = subject.model_check(run, check, true, asking)? else { continue };
        match found.value {
            ModelValue::True => {
                let who = run.configuration.name();
                let because = format!("the model of {who} satisfies every assertion by our evaluation");
                view.settled = Some(Settled::new(Status::Sat, Evidence::Evaluation, because));
                return Ok(view);
            }
            ModelValue::False(..) => view.refuted.push(run.party()),
            ModelValue::Unknown(_) => view.undecided.push(run.party()),
        }
    }
    view.settled = expected(subject).or_else(|| unopposed(said, &view.refuted, Evidence::RefutedModel));
    Ok(view)
}

/// What is known about the script.
fn expected(subject: &Subject) -> Option<Settled> {
    let truth = subject.expectation.answer().filter(|_| !subject.expectation.is_hearsay())?;
    let rests_on = match subject.expectation {
        eval::Expectation::Witness => Evidence::Evaluation,
        _ => Evidence::Expectation,
    };
    Some(Settled::new(truth, rests_on, subject.expectation.because()))
}

/// `unsat`, where every model that was offered for `sat` is refuted.
fn unopposed(said: &[Said], refuted: &[PartyId], rests_on: Evidence) -> Option<Settled> {
    let (sat, unsat) = (saying(said, Status::Sat), saying(said, Status::Unsat));
    if sat.is_empty() || unsat.is_empty() || sat.iter().any(|run| !refuted.contains(&run.party())) {
        return None;
    }
    let how = match rests_on {
        Evidence::RefutedModel => "is false by our evaluation",
        _ => "is refuted by others when it is put in",
    };
    let models = if sat.len() == 1 { "the model" } else { "each model" };
    let because = format!("{models} of {} {how}, and {}", names(&sat), answers(&unsat, "unsat"));
    Some(Settled::new(Status::Unsat, rests_on, because))
}

/// Who is right, by all evidence there is. `runs` are everybody's, those without an answer too: they may know what to say
/// about a model that is put in.
pub fn settle(
    subject: &mut Subject,
    check: usize,
    said: &[Said],
    runs: &[Run],
    asking: &mut Asking,
) -> Result<OwnView, RunError> {
    let mut view = own_view(subject, check, said, asking)?;
    if view.settled.is_none() {
        view.settled = substitution(subject, check, said, runs, &mut view, asking)?;
    }
    if view.settled.is_none() {
        view.settled = families(said, &view.refuted).or_else(|| claimed(subject, said, &view.refuted));
    }
    Ok(view)
}

/// Models that are put in, at most. Each costs a run of everybody else.
const MOST_MODELS: usize = 2;

/// Models that we cannot decide, put into the script for others. A script with a model put in demands more than the
/// script: who says `sat` to it says `sat` to both, even if it answered `unsat` before.
fn substitution(
    subject: &mut Subject,
    check: usize,
    said: &[Said],
    runs: &[Run],
    view: &mut OwnView,
    asking: &mut Asking,
) -> Result<Option<Settled>, RunError> {
    let mut refuters = Vec::new();
    // Who takes the script for unsatisfiable takes it for that with a model in it, too: that is no second opinion.
    let biased: Vec<Family> =
        saying(said, Status::Unsat).iter().map(|run| run.configuration.lineage()).collect();
    for party in view.undecided.iter().take(MOST_MODELS) {
        let Some(author) = Run::of(runs, *party) else { continue };
        let Some(found) = subject.model_check(author, check, true, asking)? else { continue };
        let frame = subject.frames()[check].clone();
        let usage = subject.script.map(|script| smtlib::logic::usage(subject.store, script));
        // What the standard leaves open is each solver's own choice: it may refute the choice and not the model.
        let open = subject.leaves_open(&found, check);
        let (mut for_it, mut against_it) = (Vec::new(), Vec::new());
        for run in runs {
            let checker = &run.configuration;
            if checker.solver.name() == author.configuration.solver.name() {
                continue;
            }
            let text = ground(subject.store, &frame, &found.model, &found.left_out, checker.release()).text;
            let answer = asking.run(&checker.for_models().into(), text.as_bytes())?.status(0);
            let able = usage.as_ref().is_some_and(|usage| checker.solver.accepts(usage));
            let independent = able && checker.lineage() != author.configuration.lineage();
            let takes_back =
                said.iter().any(|(said, status)| said.party() == run.party() && *status == Status::Unsat);
            match answer {
                Some(Status::Sat) if independent || takes_back => for_it.push(run),
                Some(Status::Unsat) if independent && !open && !biased.contains(&checker.lineage()) => {
                    against_it.push(run);
                }
                _ => {}
            }
        }
        match (for_it.is_empty(), against_it.is_empty()) {
            (false, true) => {
                let because = format!(
                    "{} with the model of {}{PUT_IN}",
                    answers(&for_it, "sat"),
                    author.configuration.name()
                );
                let mut settled = Settled::new(Status::Sat, Evidence::Substitution, because);
                settled.witnesses = for_it.iter().map(|run| run.party()).collect();
                return Ok(Some(settled));
            }
            (true, false) => {
                view.refuted.push(author.party());
                refuters.extend(against_it.iter().map(|run| run.party()));
            }
            _ => {}
        }
    }
    let settled = unopposed(said, &view.refuted, Evidence::Substitution);
    Ok(settled.map(|settled| Settled { witnesses: refuters, ..settled }))
}

/// The lines of solvers that answer one and the other. A line whose own releases or configurations contradict each other
/// is on neither side, and a `sat` with a wrong model counts for nothing.
pub fn families(said: &[Said], refuted: &[PartyId]) -> Option<Settled> {
    let voices: Vec<Said> = said.iter().filter(|(run, _)| !refuted.contains(&run.party())).copied().collect();
    let of = |wanted: Status| -> Vec<Family> {
        let mut lines: Vec<Family> = voices
            .iter()
            .filter(|(_, status)| *status == wanted)
            .map(|(run, _)| run.configuration.lineage())
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    let (sat, unsat) = (of(Status::Sat), of(Status::Unsat));
    let alone = |lines: &[Family], others: &[Family]| -> Vec<Family> {
        lines.iter().filter(|line| !others.contains(line)).copied().collect()
    };
    let (only_sat, only_unsat) = (alone(&sat, &unsat), alone(&unsat, &sat));
    let (truth, winners) = match only_sat.len().cmp(&only_unsat.len()) {
        std::cmp::Ordering::Greater => (Status::Sat, only_sat),
        std::cmp::Ordering::Less => (Status::Unsat, only_unsat),
        std::cmp::Ordering::Equal => return None,
    };
    let winners: Vec<&Run> = voices
        .iter()
        .filter(|(run, status)| *status == truth && winners.contains(&run.configuration.lineage()))
        .map(|(run, _)| *run)
        .collect();
    let kind = if winners.len() == 1 { "an independent solver" } else { "independent of it" };
    let because = format!("{}, {kind}, {}", names(&winners), verb(&winners, word(truth)));
    Some(Settled::new(truth, Evidence::Families, because))
}

/// What a file says of its own answer, where nothing else tells one answer from the other: it is one voice more.
fn claimed(subject: &Subject, said: &[Said], refuted: &[PartyId]) -> Option<Settled> {
    let truth = subject.expectation.answer().filter(|_| subject.expectation.is_hearsay())?;
    let voices: Vec<&Run> =
        saying(said, truth).into_iter().filter(|run| !refuted.contains(&run.party())).collect();
    if voices.is_empty() {
        return None;
    }
    let because = format!("{}, and {}", answers(&voices, word(truth)), subject.expectation.because());
    Some(Settled::new(truth, Evidence::Families, because))
}

/// Why nobody is accused, and what would help: the evidence of a disagreement.
pub fn undecided(said: &[Said], runs: &[Run]) -> Vec<String> {
    let mut lines: Vec<Family> = said.iter().map(|(run, _)| run.configuration.lineage()).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut why = vec!["our evaluation decides neither the script nor a model of it".to_owned()];
    let silent: Vec<&Run> = runs.iter().filter(|run| !lines.contains(&run.configuration.lineage())).collect();
    if let [line] = lines.as_slice() {
        let other = if *line == Family::Cvc5 { "z3" } else { "cvc5" };
        why.push(match silent.is_empty() {
            true => format!(
                "only solvers of one line answered: another one that has the theories would give a third opinion \
                 (osprey solvers install {other})"
            ),
            false => format!("{} had no answer", names(&silent)),
        });
    } else {
        why.push("as many independent solvers answer sat as unsat".to_owned());
    }
    why.extend(suspicion(said));
    why
}

/// Who is likely wrong, going by age and options alone: good for a hint and for nothing else.
fn suspicion(said: &[Said]) -> Option<String> {
    let rank = |run: &Run| {
        let release = run.configuration.release();
        let superseded = release.family != run.configuration.lineage();
        (!superseded, release.version, std::cmp::Reverse(run.configuration.option_count()))
    };
    let (first, _) = said.first()?;
    if said.iter().any(|(run, _)| run.configuration.lineage() != first.configuration.lineage()) {
        return None;
    }
    let best = |wanted| saying(said, wanted).into_iter().max_by_key(|run| rank(run));
    let (sat, unsat) = (best(Status::Sat)?, best(Status::Unsat)?);
    let (suspect, other) = match rank(sat).cmp(&rank(unsat)) {
        std::cmp::Ordering::Less => (sat, unsat),
        std::cmp::Ordering::Greater => (unsat, sat),
        std::cmp::Ordering::Equal => return None,
    };
    let why = match suspect.configuration.release() == other.configuration.release() {
        true => "it has more options",
        false => "it is older",
    };
    Some(format!("{} is likely the one that is wrong: {why}", suspect.configuration.name()))
}

/// The runs that gave an answer.
pub fn saying<'r>(said: &[Said<'r>], wanted: Status) -> Vec<&'r Run> {
    said.iter().filter(|(_, status)| *status == wanted).map(|(run, _)| *run).collect()
}

pub fn word(status: Status) -> &'static str {
    match status {
        Status::Sat => "sat",
        Status::Unsat => "unsat",
        Status::Unknown => "unknown",
    }
}

/// `z3@5.4.0, cvc5@1.4.2 and yices@2.6.5`.
pub fn names(runs: &[&Run]) -> String {
    let names: Vec<String> = runs.iter().map(|run| run.configuration.name()).collect();
    match names.split_last() {
        Some((last, [_, ..])) => format!("{} and {last}", names[..names.len() - 1].join(", ")),
        _ => names.concat(),
    }
}

fn verb(runs: &[&Run], answer: &str) -> String {
    if runs.len() == 1 { format!("answers {answer}") } else { format!("answer {answer}") }
}

fn answers(runs: &[&Run], answer: &str) -> String {
    format!("{} {}", names(runs), verb(runs, answer))
}
