//! The script in question, what is known about it, and the models found for it.

use std::sync::Arc;

use eval::model_text::{ReadModel, read_model};
use eval::side_conditions::SideCondition;
use eval::{Budget, Evaluator, Expectation, Mode, Model, Reason};
use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Fun, Head, Note, Op, Script, Status, Store, Term};
use solver::Answer;
use solver::run::{PartyId, Run, RunError};

use crate::asking::Asking;
use crate::decide::{Decided, decide};
use crate::frame::{Frame, frames};
use crate::text;

/// A script under judgement.
pub struct Subject<'a> {
    pub store: &'a mut Store,
    /// Nothing if we cannot read it: then only crashes and plain disagreements can be seen.
    pub script: Option<&'a Script>,
    /// Liberties taken in reading it.
    pub notes: &'a [Note],
    /// What every check must answer.
    pub expectation: Expectation,
    /// Run scripts that print no model again with `get-model`, for every `sat`. Without it only a disagreement is worth
    /// that run.
    pub ask_for_models: bool,
    /// What the evaluation of one formula under a model may cost.
    budget: Budget,
    /// A first look has left something undecided.
    undecided: bool,
    frames: Vec<Frame>,
    /// For each frame what constrains its models besides its formulas.
    conditions: Vec<Vec<SideCondition>>,
    model_runs: FxHashMap<PartyId, Run>,
    checked: CheckedModels,
}

/// Models of runs at their checks, as far as they were looked at. `None` means that there is none to be had.
pub type CheckedModels = FxHashMap<(PartyId, usize), Option<Arc<ModelCheck>>>;

/// A model that a solver printed, evaluated by us.
#[derive(Debug, Clone)]
pub struct ModelCheck {
    /// As printed.
    pub text: String,
    pub model: Model,
    /// Symbols it leaves out.
    pub left_out: Vec<Fun>,
    pub value: ModelValue,
    /// Whether the standard leaves a result open that a formula depends on; not known where evaluation took too long.
    pub(crate) leaves_open: Option<bool>,
    /// The run that printed it, which may be another one than the run in question.
    pub run: Run,
}

/// What the formulas in force are under a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelValue {
    /// All true: the script is satisfiable.
    True,
    /// This formula is false, and this part of it to blame.
    False(Term, Term),
    /// None is false, some could not be decided; why.
    Unknown(String),
}

impl<'a> Subject<'a> {
    pub fn new(store: &'a mut Store, script: Option<&'a Script>, notes: &'a [Note]) -> Self {
        let frames = script.map(|script| frames(store, script)).unwrap_or_default();
        let conditions = frames.iter().map(|frame| frame.side_conditions(store)).collect();
        Subject {
            store,
            script,
            notes,
            expectation: Expectation::Agree,
            ask_for_models: false,
            budget: limits(),
            undecided: false,
            frames,
            conditions,
            model_runs: FxHashMap::default(),
            checked: CheckedModels::default(),
        }
    }

    /// The models that were looked at, for another subject of the same script and the same runs.
    pub fn into_checked(self) -> CheckedModels {
        self.checked
    }

    /// Takes over what was found by a first look at the same script and the same runs. A closer look keeps what that has
    /// decided.
    pub fn take_over(&mut self, mut checked: CheckedModels) {
        let is_open = |found: &Option<Arc<ModelCheck>>| {
            found.as_ref().is_some_and(|found| matches!(found.value, ModelValue::Unknown(_)))
        };
        if self.is_brief() {
            self.undecided |= checked.values().any(is_open);
        } else {
            checked.retain(|_, found| !is_open(found));
        }
        self.checked.extend(checked);
    }

    /// A model of what is in force at the last check, of those that were looked at: the first party's that satisfies it, else
    /// the first that a solver gave for `sat` and that we cannot decide. The latter proves nothing.
    pub fn likely_model(&self) -> Option<Arc<ModelCheck>> {
        let last = self.frames.len().checked_sub(1)?;
        let likely = self.checked.iter().filter_map(|((party, check), found)| {
            let found = found.as_ref().filter(|_| *check == last)?;
            let says_sat = || {
                let mut checks = found.run.answers.checks.iter();
                checks.any(|answer| answer.check == *check && answer.answer == Answer::Sat)
            };
            let decided = match &found.value {
                ModelValue::True => true,
                ModelValue::Unknown(_) if says_sat() => false,
                ModelValue::Unknown(_) | ModelValue::False(..) => return None,
            };
            Some((!decided, *party, found))
        });
        likely.min_by_key(|(open, party, _)| (*open, *party)).map(|(.., found)| found.clone())
    }

    fn is_brief(&self) -> bool {
        self.budget.steps < limits().steps
    }

    /// Is a formula undecided under this model because the standard leaves a result open?
    pub(crate) fn leaves_open(&self, found: &ModelCheck, check: usize) -> bool {
        found.leaves_open.unwrap_or_else(|| {
            let mut evaluator = Evaluator::new(Mode::Given, limits());
            let formulas = self.frames[check].formulas();
            let mut values =
                formulas.into_iter().map(|formula| evaluator.holds(self.store, &found.model, formula));
            values.any(|value| value.is_err_and(|why| is_open(why.reason)))
        })
    }

    /// A first look: formulas that are not decided soon stay undecided. Nearly all are that would ever be, and those that
    /// are not, mostly quantified ones, would take more time than the solvers.
    pub fn look_briefly(&mut self) {
        self.look_within(BRIEF);
    }

    /// The same with some patience.
    pub fn look_patiently(&mut self) {
        self.look_within(PATIENT);
    }

    fn look_within(&mut self, steps: u64) {
        self.budget.steps = steps;
        self.forget();
    }

    /// The opposite. Tells whether there is reason to: something was left undecided by a first look.
    pub fn look_closely(&mut self) -> bool {
        self.budget = limits();
        self.forget();
        std::mem::take(&mut self.undecided)
    }

    /// What is in force at each check.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Why solvers may rightly differ at a check, or at any if none is given: the answer depends on more than the formulas
    /// in force.
    pub fn excuse(&self, check: Option<usize>) -> Option<String> {
        let of_check = check.and_then(|check| self.conditions.get(check));
        let conditions = of_check.map_or(self.conditions.as_slice(), std::slice::from_ref);
        let excusing = conditions.iter().flatten().find(|condition| condition.excuses_answers())?;
        Some(excusing.describe(self.store))
    }

    /// The answer to a check that our evaluator gives by itself. Where more than its formulas constrains models, they do not
    /// decide.
    pub(crate) fn decide(&self, check: usize) -> Option<Decided> {
        let decided = decide(self.store, self.frames.get(check)?)?;
        let conditions = self.conditions.get(check)?;
        let open = match decided.answer {
            Status::Unsat => conditions.iter().any(|condition| condition.excuses_answers()),
            _ => !conditions.is_empty(),
        };
        (!open).then_some(decided)
    }

    /// Forgets what was found for earlier runs: other runs are about to be judged.
    pub fn forget(&mut self) {
        self.model_runs.clear();
        self.checked.clear();
    }

    /// The model of a run at a check, evaluated. With `ask` a run that printed none is made again with `get-model`.
    /// Nothing if there is no model to be had.
    pub fn model_check(
        &mut self,
        run: &Run,
        check: usize,
        ask: bool,
        asking: &mut Asking,
    ) -> Result<Option<Arc<ModelCheck>>, RunError> {
        if let Some(known) = self.checked.get(&(run.party(), check)) {
            return Ok(known.clone());
        }
        if check >= self.frames.len() {
            return Ok(None);
        }
        let own = run.status(check) == Some(Status::Sat) && run.model_text(check).is_some();
        let source = if own {
            Some(run.clone())
        } else if ask {
            Some(self.model_run(run, asking)?)
        } else {
            return Ok(None);
        };
        let found = source.and_then(|source| self.evaluate(source, check)).map(Arc::new);
        self.checked.insert((run.party(), check), found.clone());
        Ok(found)
    }

    /// Does the model that this run printed satisfy what is in force at a check? Then its answer needs no other opinion.
    pub fn settles(&mut self, run: &Run, check: usize) -> bool {
        if run.model_text(check).is_none() || check >= self.frames.len() {
            return false;
        }
        let found = self.evaluate(run.clone(), check).map(Arc::new);
        let settled = found.as_ref().is_some_and(|found| found.value == ModelValue::True);
        self.checked.insert((run.party(), check), found);
        settled
    }

    /// The run once more, with `get-model` after every check that was not answered `unsat` or `unknown`.
    fn model_run(&mut self, run: &Run, asking: &mut Asking) -> Result<Run, RunError> {
        if let Some(known) = self.model_runs.get(&run.party()) {
            return Ok(known.clone());
        }
        let unanswered = |check| run.answers.checks.iter().all(|answer| answer.check != check);
        let wanted = |check| run.status(check) == Some(Status::Sat) || unanswered(check);
        let script = text::with_models(&run.script, wanted);
        let configuration = Arc::new(run.configuration.for_models());
        let made = asking.run(&configuration, &script)?;
        self.model_runs.insert(run.party(), made.clone());
        Ok(made)
    }

    fn evaluate(&mut self, run: Run, check: usize) -> Option<ModelCheck> {
        if run.status(check) != Some(Status::Sat) {
            return None;
        }
        let text = run.model_text(check)?;
        let frame = &self.frames[check];
        let read = read_model(self.store, &frame.script, text, run.configuration.release()).ok()?;
        let (value, leaves_open) = evaluate_frame(self.store, frame, &read, self.budget);
        self.undecided |= self.is_brief() && matches!(value, ModelValue::Unknown(_));
        let text = String::from_utf8_lossy(text).into_owned();
        Some(ModelCheck { text, model: read.model, left_out: read.defaulted, value, leaves_open, run })
    }
}

/// What one formula is under a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormulaValue {
    True,
    /// With the part to blame.
    False(Term),
    /// With the reason.
    Unknown(String),
}

/// One formula under a model. It counts as false only if nothing that the model leaves out has a part in it.
pub fn evaluate_one(
    store: &Store,
    evaluator: &mut Evaluator,
    model: &Model,
    left_out: &[Fun],
    formula: Term,
) -> FormulaValue {
    match evaluator.holds(store, model, formula) {
        Ok(true) => FormulaValue::True,
        Ok(false) => denied(store, evaluator, model, left_out, formula),
        Err(why) => FormulaValue::Unknown(why.describe(store)),
    }
}

/// What a formula is that evaluates to false.
fn denied(
    store: &Store,
    evaluator: &mut Evaluator,
    model: &Model,
    left_out: &[Fun],
    formula: Term,
) -> FormulaValue {
    match left_out_in(store, formula, left_out) {
        None => FormulaValue::False(blame(store, evaluator, model, formula)),
        Some(name) => FormulaValue::Unknown(format!("the model leaves out '{name}'")),
    }
}

/// What one formula may cost: a fraction of a second, of which a campaign has many.
pub(crate) fn limits() -> Budget {
    Budget { steps: 1_000_000, ..Budget::default() }
}

/// The same for a first look: a millisecond or two, less than a run.
const BRIEF: u64 = 20_000;

/// The same where something is new: a run or two.
const PATIENT: u64 = 200_000;

/// Does the standard leave a result open?
fn is_open(reason: Reason) -> bool {
    matches!(reason, Reason::Unspecified | Reason::Disputed)
}

/// A frame under a model. Where more than its formulas constrains models, they do not decide.
/// Tells also whether the standard leaves a result open, as far as that is known.
pub(crate) fn evaluate_frame(
    store: &Store,
    frame: &Frame,
    read: &ReadModel,
    limits: Budget,
) -> (ModelValue, Option<bool>) {
    let (value, leaves_open) = evaluate_all(store, &read.model, &read.defaulted, &frame.formulas(), limits);
    let conditions = frame.side_conditions(store);
    let undecided = match value {
        ModelValue::True => conditions.first(),
        // A formula is false under a model that has to satisfy other things too.
        ModelValue::False(..) => conditions.iter().find(|condition| condition.excuses_answers()),
        ModelValue::Unknown(_) => None,
    };
    let value = undecided.map_or(value, |condition| ModelValue::Unknown(condition.describe(store)));
    (value, leaves_open)
}

/// The formulas under a model; true also if some choice for what is left open makes all of them true.
fn evaluate_all(
    store: &Store,
    model: &Model,
    left_out: &[Fun],
    formulas: &[Term],
    limits: Budget,
) -> (ModelValue, Option<bool>) {
    let mut given = Evaluator::new(Mode::Given, limits);
    let mut unknown: Option<String> = None;
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    let (mut exhausted, mut leaves_open) = (false, false);
    for formula in formulas {
        let why = match given.holds(store, model, *formula) {
            Ok(true) => {
                closed.push(*formula);
                continue;
            }
            Ok(false) => match denied(store, &mut given, model, left_out, *formula) {
                FormulaValue::False(part) => return (ModelValue::False(*formula, part), None),
                FormulaValue::True => continue,
                FormulaValue::Unknown(why) => why,
            },
            Err(why) => {
                exhausted |= matches!(why.reason, Reason::Budget(_));
                leaves_open |= is_open(why.reason);
                why.describe(store)
            }
        };
        open.push(*formula);
        unknown.get_or_insert(why);
    }
    let leaves_open = if leaves_open || !exhausted { Some(leaves_open) } else { None };
    let Some(why) = unknown else { return (ModelValue::True, leaves_open) };
    // What is too much work is not less with a choice to make. What is open comes first: mostly that is the end of it.
    let mut chooser = Evaluator::new(Mode::Choose, limits);
    let mut satisfied = || {
        let mut all = open.iter().chain(&closed);
        all.all(|formula| chooser.holds(store, model, *formula) == Ok(true))
    };
    let value = if !exhausted && satisfied() { ModelValue::True } else { ModelValue::Unknown(why) };
    (value, leaves_open)
}

/// The part of a false formula that makes it false: the first false member of a conjunction, and so on inwards.
pub fn blame(store: &Store, evaluator: &mut Evaluator, model: &Model, formula: Term) -> Term {
    let mut here = formula;
    loop {
        let parts: &[Term] = match store.head(here) {
            Head::Annotated(_) => &store.args(here)[..1],
            Head::Op(Op::And, _) => store.args(here),
            _ => return here,
        };
        let guilty = parts.iter().find(|part| evaluator.holds(store, model, **part) == Ok(false));
        match guilty {
            Some(part) => here = *part,
            None => return here,
        }
    }
}

/// The name of a symbol that the model leaves out and the formula uses, directly or through definitions.
fn left_out_in(store: &Store, formula: Term, left_out: &[Fun]) -> Option<String> {
    if left_out.is_empty() {
        return None;
    }
    let mut seen: FxHashSet<Fun> = FxHashSet::default();
    let mut roots = vec![formula];
    while let Some(root) = roots.pop() {
        for term in store.subterms(&[root]) {
            let Head::Fun(fun) = store.head(term) else { continue };
            if !seen.insert(fun) {
                continue;
            }
            if left_out.contains(&fun) {
                return Some(store.name(store.fun(fun).name).to_string());
            }
            roots.extend(store.fun(fun).definition.as_ref().map(|definition| definition.body));
        }
    }
    None
}
