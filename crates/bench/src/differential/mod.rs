//! The evaluator against solvers: for every operator, ground terms with the values we compute, put to a solver as
//! `(not (= term value))`, which it must find unsatisfiable.
//!
//! The solver is a function from a script to what it printed, so that this crate runs none. Cases come edge values
//! first, then at random; the same random source gives the same cases.

mod answers;
mod arguments;
mod float;
mod instance;
mod known;
mod templates;

use generate::Rng;
use rustc_hash::FxHashSet;
use smtlib::print::print_term;
use smtlib::theory::table;
use smtlib::{Family, Op, Release, Sort, Store, Term};

pub use answers::Answer;

use arguments::Arguments;
use eval::Model;
use eval::Reason;
use eval::Value;
use eval::to_term;
use eval::{Budget, Evaluator, Mode};

/// How much to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amount {
    /// Decided cases of each operator.
    pub cases: usize,
    /// Cases in one script.
    pub batch: usize,
    /// Milliseconds for one case.
    pub milliseconds: u32,
}

impl Default for Amount {
    fn default() -> Amount {
        Amount { cases: 200, batch: 50, milliseconds: 2000 }
    }
}

/// A ground equation that must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub op: Op,
    /// In the solver's dialect.
    pub term: String,
    pub value: String,
}

/// How a solver sees the values of one operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    pub op: Op,
    /// Cases that the solver confirmed.
    pub confirmed: usize,
    /// Cases that it did not decide, but a computation in another way confirmed.
    pub computed: usize,
    /// Cases that nobody decided.
    pub undecided: usize,
    /// Cases that it did not take, with its first complaint.
    pub refused: usize,
    pub complaint: Option<String>,
    /// Generated terms that our evaluator leaves open.
    pub open: usize,
    /// Cases where the solver says otherwise, and nobody knows why.
    pub mismatches: Vec<Case>,
    /// Cases where the solver is known to be wrong, or to mean something else, with the reason.
    pub explained: Vec<(Case, &'static str)>,
    /// Cases that the solver denies after `push` and confirms without it.
    pub contradictory: Vec<Case>,
}

impl Comparison {
    /// Counts a case that the solver said nothing about, unless it can be computed in another way.
    fn without_answer(&mut self, case: &Case, count: impl FnOnce(&mut Comparison)) {
        match known::computed(case) {
            Some(true) => self.computed += 1,
            Some(false) => self.mismatches.push(case.clone()),
            None => count(self),
        }
    }

    /// All cases that were made.
    pub fn total(&self) -> usize {
        let denied = self.mismatches.len() + self.explained.len() + self.contradictory.len();
        self.confirmed + self.computed + self.undecided + self.refused + denied
    }
}

/// Why an operator has no cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// No evaluation; see [`eval::ops`].
    Unsupported,
    /// The release does not have the operator.
    NotAccepted,
    /// Its value is a choice that a model makes, or no term can be generated.
    NoGroundTerm,
}

/// Compares one operator. `ask` runs a script and returns what the solver printed.
pub fn compare<E>(
    op: Op,
    release: Release,
    amount: Amount,
    rng: &mut Rng,
    ask: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<Result<Comparison, Passed>, E> {
    let row = op.row();
    if !row.accepted_by(release) {
        return Ok(Err(Passed::NotAccepted));
    }
    let (cases, open) = match cases(op, release, amount.cases, rng) {
        Ok(found) => found,
        Err(passed) => return Ok(Err(passed)),
    };
    let mut comparison = Comparison {
        op,
        confirmed: 0,
        computed: 0,
        undecided: 0,
        refused: 0,
        complaint: None,
        open,
        mismatches: Vec::new(),
        explained: Vec::new(),
        contradictory: Vec::new(),
    };
    let mut denied = Vec::new();
    let mut stops = 0;
    let mut rest = cases.as_slice();
    while !rest.is_empty() {
        let batch = &rest[..rest.len().min(amount.batch)];
        let printed = ask(&script(batch, release, amount.milliseconds))?;
        let answers = answers::read(&printed, batch.len());
        // What comes after an error is asked again: some solvers do not recover. One that stops has refused the
        // case it stopped at.
        let refused = answers.iter().position(|answer| matches!(answer, Answer::Error(_)));
        let seen = refused.unwrap_or(answers.len());
        for (case, answer) in batch.iter().zip(&answers[..seen]) {
            match answer {
                Answer::Unsat => comparison.confirmed += 1,
                Answer::Sat => denied.push(case.clone()),
                _ => comparison.without_answer(case, |comparison| comparison.undecided += 1),
            }
        }
        rest = &rest[seen..];
        if let (true, [case, after @ ..]) = (seen < batch.len(), rest) {
            comparison.without_answer(case, |comparison| comparison.refused += 1);
            comparison.complaint.get_or_insert_with(|| match answers.get(seen) {
                Some(Answer::Error(message)) => format!("{message} in {}", case.term),
                _ => format!("stopped at {}", case.term),
            });
            rest = after;
        }
        // What is refused again and again is not worth a process each.
        stops += usize::from(seen < batch.len());
        if stops >= MAX_REFUSED && comparison.confirmed < stops * amount.batch.min(MAX_REFUSED) {
            for case in rest {
                comparison.without_answer(case, |comparison| comparison.refused += 1);
            }
            break;
        }
    }
    for case in denied {
        let excuse = known::excuse(&case, release);
        let asked = excuse.as_ref().and_then(|excuse| excuse.instead.as_ref());
        let supported = match asked {
            Some(instead) => alone(instead, release, amount, ask)? == Some(Answer::Unsat),
            None => true,
        };
        match excuse {
            Some(excuse) if supported => comparison.explained.push((case, excuse.reason)),
            _ if alone(&case, release, amount, ask)? == Some(Answer::Unsat) => {
                comparison.contradictory.push(case);
            }
            _ => comparison.mismatches.push(case),
        }
    }
    Ok(Ok(comparison))
}

/// What the solver says about a case when it is asked nothing else.
fn alone<E>(
    case: &Case,
    release: Release,
    amount: Amount,
    ask: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<Option<Answer>, E> {
    let script = script(std::slice::from_ref(case), release, amount.milliseconds);
    let script = script.replace("(push 1)\n", "").replace("(pop 1)\n", "");
    Ok(answers::read(&ask(&script)?, 1).into_iter().next())
}

const MAX_REFUSED: usize = 8;
/// Terms tried for each wanted case.
const ATTEMPTS: usize = 16;

/// Operators that every comparison goes through.
pub fn operators() -> impl Iterator<Item = Op> {
    table().rows().iter().map(|row| row.op)
}

/// Decided cases of an operator, and how many generated terms were open.
pub fn cases(op: Op, release: Release, count: usize, rng: &mut Rng) -> Result<(Vec<Case>, usize), Passed> {
    let mut store = Store::new();
    let model = Model::new();
    let mut evaluator = Evaluator::new(Mode::Given, Budget::default());
    let mut arguments = Arguments::new(rng);
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut open = 0;
    for attempt in 0..count * ATTEMPTS {
        if found.len() >= count {
            break;
        }
        let Some(term) = instance::term(&mut store, op, attempt, &mut arguments) else { continue };
        if !seen.insert(term) || known::unreadable(&store, term, release) {
            continue;
        }
        let value = match evaluator.evaluate(&store, &model, term) {
            Ok(value) => value,
            Err(unknown) if matches!(unknown.reason, Reason::Unsupported(_)) => {
                return Err(Passed::Unsupported);
            }
            Err(_) => {
                open += 1;
                continue;
            }
        };
        match written(&mut store, term, &value, release) {
            Some((term, value)) => found.push(Case { op, term, value }),
            None => open += 1,
        }
    }
    if found.is_empty() { Err(Passed::NoGroundTerm) } else { Ok((found, open)) }
}

/// Term and value in the solver's dialect.
fn written(store: &mut Store, term: Term, value: &Value, release: Release) -> Option<(String, String)> {
    let sort: Sort = store.sort_of(term);
    let value = to_term(store, sort, value)?;
    Some((print_term(store, term, release), print_term(store, value, release)))
}

/// The cases as one script, with a line before each answer that says whose it is.
fn script(cases: &[Case], release: Release, milliseconds: u32) -> String {
    let mut text = String::new();
    match release.family {
        Family::Cvc5 => {
            text.push_str("(set-option :incremental true)\n");
            text.push_str(&format!("(set-option :tlimit-per {milliseconds})\n"));
            for option in ["fp-exp", "strings-exp", "arrays-exp", "sets-exp", "bags-exp"] {
                text.push_str(&answers::optional(release, option));
            }
            text.push_str("(set-logic HO_ALL)\n");
        }
        Family::Z3 => text.push_str(&format!("(set-option :timeout {milliseconds})\n")),
        _ => text.push_str("(set-logic ALL)\n"),
    }
    for (number, case) in cases.iter().enumerate() {
        text.push_str(&format!(
            "(push 1)\n(assert (not (= {} {})))\n(echo \"{}{number}\")\n(check-sat)\n(pop 1)\n",
            case.term,
            case.value,
            answers::MARK
        ));
    }
    text
}
