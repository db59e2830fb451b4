//! Variants of a script under examination, within a budget.

use std::sync::Arc;
use std::time::Duration;

use eval::model_text::read_model;
use oracle::Kind;
use rustc_hash::FxHashMap;
use smtlib::print::{Dialect, print_in};
use smtlib::{Command, Family, Mode, Op, Release, Script, Store, Term};
use solver::run::{Accounts, Configuration};

use super::names::{self, Role};
use super::variants::{Variant, Whole};
use super::{BlameBudget, PlaceOutcome, Suspect, laws, siblings};
use crate::driver::dialects;
use crate::driver::patience::Patience;
use crate::error::ReduceError;
use crate::held::{simple_models, values_of};
use crate::interface::{Best, Watcher};
use crate::layout::laid_out;
use crate::passes::options::without;
use crate::predicate::{Bug, Candidate, Examiner, ModelDuty, Predicate as _};
use crate::tactics::PLAIN;
use crate::workbench::{Draft, Workbench};

/// Time for the first word on the script.
const PATIENCE: Duration = Duration::from_secs(5);

/// The script in hand and who examines variants of it.
pub(super) struct Trial<'t> {
    pub bench: Workbench,
    pub accounts: Accounts,
    examiner: Box<dyn Examiner>,
    dialects: Vec<Dialect>,
    /// How variants are written.
    dialect: Dialect,
    release: Release,
    configuration: Arc<Configuration>,
    duty: ModelDuty,
    subset: bool,
    budget: BlameBudget,
    watcher: &'t dyn Watcher,
    /// What came of a text under some options, with other models or without.
    known: FxHashMap<(String, String, bool), bool>,
    /// Texts that do not show the bug, under the same options.
    pub without: Vec<String>,
    pub kind: Kind,
    /// The assertion that the wrong model makes false.
    false_assertion: Option<usize>,
    /// Variants are solved by the plain tactic.
    pub plainly: bool,
    /// Where a variant gets a right model, others are asked for.
    pub other_models: bool,
}

impl<'t> Trial<'t> {
    /// Nothing if the script cannot be read, or not with its witness.
    pub(super) fn open(
        bug: &Bug,
        best: &Best,
        budget: BlameBudget,
        watcher: &'t dyn Watcher,
    ) -> Result<Option<Trial<'t>>, ReduceError> {
        let mut store = Store::new();
        let text = best.text.as_bytes();
        let Ok(parsed) = smtlib::parse(&mut store, text, Mode::Tolerant) else { return Ok(None) };
        let script = parsed.script;
        let model = match &best.witness {
            Some(witness) => match read_model(&mut store, &script, witness.as_bytes(), Release::STANDARD) {
                Ok(read) => Some(Arc::new(read.model)),
                Err(_) => return Ok(None),
            },
            None => None,
        };
        let duty = if model.is_some() { bug.about_models() } else { ModelDuty::None };
        let mut bench = Workbench::new(store, Draft { script: script.clone(), model: None });
        // A model that the predicate does not look at is of no use to variants either.
        let model = model.filter(|_| duty != ModelDuty::None);
        if !bench.take(Draft { script, model }) {
            return Ok(None);
        }
        let configuration = Arc::clone(best.configuration.as_ref().unwrap_or_else(|| bug.accused()));
        let dialects = dialects(&bug.releases(), text);
        let as_written = |dialect: &Dialect| {
            let printed = print_in(&bench.store, &bench.draft.script, *dialect);
            printed == best.text || laid_out(&printed) == best.text
        };
        let written = dialects.iter().position(as_written);
        let dialects = match written {
            Some(place) => vec![dialects[place]],
            None => dialects,
        };
        let mut examiner = bug.examiner()?;
        examiner.calibrate(PATIENCE);
        Ok(Some(Trial {
            bench,
            accounts: Accounts::default(),
            examiner,
            dialect: dialects[0],
            dialects,
            release: configuration.release(),
            configuration,
            duty,
            subset: best.subset,
            budget,
            watcher,
            known: FxHashMap::default(),
            without: Vec::new(),
            kind: bug.kind(),
            false_assertion: None,
            plainly: false,
            other_models: false,
        }))
    }

    /// Whether the script itself, printed as variants will be, shows the bug; and how long variants may take.
    pub(super) fn shows_itself(&mut self) -> Result<bool, ReduceError> {
        for dialect in self.dialects.clone() {
            self.dialect = dialect;
            let text = print_in(&self.bench.store, &self.bench.draft.script, dialect);
            let candidate = Candidate {
                text: &text,
                configuration: Some(&self.configuration),
                satisfied: self.duty != ModelDuty::None,
                subset: self.subset,
                plain: false,
                other_models: false,
            };
            let examination = self.examiner.examine(&candidate)?;
            self.accounts += self.examiner.take_accounts();
            if examination.interesting {
                self.false_assertion = examination.false_assertion;
                self.examiner.calibrate(Patience::new(examination.wall).limit());
                return Ok(true);
            }
            if self.is_over() {
                break;
            }
        }
        Ok(false)
    }

    fn is_over(&self) -> bool {
        let spent = self.accounts.total();
        spent.runs >= self.budget.runs || spent.cpu >= self.budget.cpu || self.watcher.stop()
    }

    /// Whether the bug stays in a variant; nothing if it cannot be made or examined.
    pub(super) fn keeps(&mut self, variant: &Variant) -> Result<Option<bool>, ReduceError> {
        if self.is_over() {
            return Ok(None);
        }
        let mark = self.bench.store.mark();
        let prepared = self.prepared(variant);
        self.bench.reset(&mark);
        let Some((text, satisfied)) = prepared else { return Ok(None) };
        let configuration = match variant {
            Variant::WithoutOption(place) => Arc::new(without(&self.configuration, &[*place])),
            _ => Arc::clone(&self.configuration),
        };
        let key = (text, configuration.command_line("", None), self.other_models);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(*known));
        }
        let same = matches!(variant, Variant::WithoutOption(_) | Variant::Commands(_));
        let candidate = Candidate {
            text: &key.0,
            configuration: Some(&configuration),
            satisfied,
            subset: same && self.subset,
            plain: false,
            other_models: self.other_models,
        };
        let examination = self.examiner.examine(&candidate)?;
        self.accounts += self.examiner.take_accounts();
        let keeps = examination.interesting;
        if !keeps && !self.plainly && !matches!(variant, Variant::WithoutOption(_)) {
            self.without.push(key.0.clone());
        }
        self.known.insert(key, keeps);
        Ok(Some(keeps))
    }

    /// The text of a variant, and whether the model that travels along satisfies it.
    fn prepared(&mut self, variant: &Variant) -> Option<(String, bool)> {
        let mut draft = variant.draft(&mut self.bench)?;
        if self.plainly {
            draft.script = solved_plainly(&draft.script);
        }
        let satisfied = self.duty != ModelDuty::None && self.bench.is_satisfied(&draft);
        if self.duty == ModelDuty::Keep && !satisfied {
            return None;
        }
        Some((print_in(&self.bench.store, &draft.script, self.dialect), satisfied))
    }

    /// The equivalent form of a term with this number, if the accused reads it.
    pub(super) fn form(&mut self, term: Term, number: usize) -> Option<Term> {
        let form = laws::equivalents(&mut self.bench.store, term).into_iter().nth(number)?;
        let store = &self.bench.store;
        let parts = store.subterms(&[form]);
        let reads = |part: &Term| store.op_of(*part).is_none_or(|op| op.row().accepted_by(self.release));
        parts.iter().all(reads).then_some(form)
    }

    /// Marks constructs that stand only in assertions which the wrong model satisfies, if something else is needed in the one
    /// that it does not.
    pub(super) fn tell_bystanders(&self, suspects: &mut [Suspect]) {
        let store = &self.bench.store;
        let assertions: Vec<Term> = self.bench.draft.script.assertions().collect();
        let Some(wrong) = self.false_assertion.and_then(|place| assertions.get(place)) else { return };
        let wrong = store.subterms(&[*wrong]);
        let beside = store.subterms(&assertions);
        let is_bystander = |suspect: &Suspect| {
            // What stands in a definition may stand anywhere.
            !suspect.terms.is_empty()
                && suspect.terms.iter().all(|term| beside.contains(term) && !wrong.contains(term))
        };
        let culprit = |suspect: &Suspect| {
            let needed = suspect.places.contains(&PlaceOutcome::Needed);
            suspect.role == Role::Computes && needed && !is_bystander(suspect)
        };
        if suspects.iter().any(culprit) {
            for suspect in suspects.iter_mut() {
                suspect.bystander = is_bystander(suspect);
            }
        }
    }

    /// Can all checks be made by the plain tactic, and is that something else?
    pub(super) fn can_be_plain(&self) -> bool {
        let mut checks = self.bench.draft.script.commands.iter().filter(|command| command.is_check());
        self.release.family == Family::Z3 && checks.all(|command| matches!(command, Command::CheckSat))
    }

    /// Values that a constant in a term's place may be said to have.
    pub(super) fn simple_values_of(&mut self, term: Term) -> Vec<Term> {
        let models = simple_models(&mut self.bench);
        values_of(&mut self.bench, term, &models, eval::Mode::Choose)
    }

    /// Operators that could stand in a term's place.
    pub(super) fn siblings_of(&mut self, term: Term) -> Vec<Op> {
        let models = simple_models(&mut self.bench);
        siblings::of(&mut self.bench.store, term, self.release, &models)
    }

    /// All constructs of the script and the solver's options, in a fixed order.
    pub(super) fn suspects(&self) -> Vec<Suspect> {
        let (store, script) = (&self.bench.store, &self.bench.draft.script);
        let mut suspects: Vec<Suspect> = Vec::new();
        let mut add = |name: String, role: Role, term: Option<Term>, whole: Option<Whole>| {
            let place = suspects.iter().position(|suspect| suspect.name == name);
            let suspect = match place {
                Some(place) => &mut suspects[place],
                None => {
                    suspects.push(Suspect {
                        name,
                        role,
                        terms: Vec::new(),
                        whole: None,
                        places: Vec::new(),
                        not_all: false,
                        bystander: false,
                    });
                    let last = suspects.len() - 1;
                    &mut suspects[last]
                }
            };
            suspect.terms.extend(term);
            suspect.places.push(PlaceOutcome::Untried);
            match (&mut suspect.whole, whole) {
                (Some(Whole::Commands(places)), Some(Whole::Commands(more)))
                | (Some(Whole::Tactic(_, places)), Some(Whole::Tactic(_, more))) => places.extend(more),
                (own, whole) => *own = whole.or(own.take()),
            }
        };
        for (place, option) in names::options(&self.configuration).into_iter().enumerate() {
            add(option.into_owned(), Role::Setting, None, Some(Whole::Option(place)));
        }
        for (place, command) in script.commands.iter().enumerate() {
            let mut names = Vec::new();
            names::of_command(store, command, &mut names);
            for name in names {
                let whole = match name.strip_prefix(names::TACTIC) {
                    Some(tactic) => Whole::Tactic(tactic.to_owned(), vec![place]),
                    None => Whole::Commands(vec![place]),
                };
                add(name.into_owned(), Role::Setting, None, Some(whole));
            }
        }
        if script.commands.iter().filter(|command| command.is_check()).count() > 1 {
            let whole = Some(Whole::SeveralChecks);
            add(names::SEVERAL_CHECKS.to_owned(), Role::Setting, None, whole);
        }
        for term in store.subterms(&script.terms(store)) {
            if let Some(name) = names::of_term(store, term) {
                add(name.into_owned(), Role::of(store, term), Some(term), None);
            }
        }
        suspects
    }
}

/// The script with all checks made by the tactic that only solves. Which strategy a solver chooses depends on what else a
/// script has, and a bug in what solves may need that only to be reached.
fn solved_plainly(script: &Script) -> Script {
    let mut script = script.clone();
    for command in &mut script.commands {
        if matches!(command, Command::CheckSat) {
            *command = Command::CheckSatUsing(PLAIN.into());
        }
    }
    script
}
