//! Blame: which constructs of a reduced script a bug needs, by ablation.
//!
//! Each construct is replaced, at one place and at all of them, by a fresh constant, by a value, by the values of its
//! arguments, or by another way to say the same. Where the same bug stays, that construct is not to blame. What counts as
//! the same bug, and what has to be proven, is the reducer's predicate ([`Bug`]).
//!
//! - `names`: what constructs are called
//! - `laws`: other ways to say the same, as data
//! - `siblings`: operators that could stand in each other's place
//! - `variants`: scripts without a construct
//! - `trial`: examines them within a budget

mod laws;
mod names;
mod siblings;
mod trial;
mod variants;

use std::cmp::{Ordering, Reverse};
use std::time::Duration;

use oracle::Kind;
use serde::{Deserialize, Serialize};
use smtlib::{Store, Term};
use solver::run::Accounts;

pub use self::names::{Name, OPTION, Role, TACTIC, constructs, options, tactics};
use self::trial::Trial;
use self::variants::{Variant, Whole};
use crate::error::ReduceError;
use crate::interface::{Best, Watcher};
use crate::predicate::Bug;
pub use crate::tactics::PLAIN;

/// What a bug needs, the most telling construct first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    pub constructs: Vec<Blamed>,
    /// What only the run with the bug reaches of the solver, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<OnlyReached>,
}

/// Functions of the solver that its run on the script reaches, and none of its runs on variants without the bug.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnlyReached {
    pub functions: Vec<String>,
    /// So many variants were looked at.
    pub variants: usize,
}

/// What came of an ablation.
#[derive(Clone, Debug, Default)]
pub struct Ablation {
    pub blame: Blame,
    /// Variants of the script on which the accused, with the same options, does not show the bug; the likest first.
    pub without: Vec<String>,
    /// What the runs have cost.
    pub accounts: Accounts,
}

/// A construct of the script that shows the bug.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blamed {
    /// As [`constructs`] and [`options`] call it.
    pub construct: String,
    pub role: Role,
    /// At how many places it stands: equal terms are one place.
    pub occurrences: u32,
    /// At how many of them nothing that was tried in its place keeps the bug; 1 if only one of several has to stay,
    /// whichever that is.
    pub needed: u32,
    /// Constructs that did as well in its place, in equivalent forms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays_with: Vec<String>,
    /// The budget was spent before anything was tried in its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untried: bool,
    /// The wrong model is right about all assertions it stands in: it may only lead the solver to that model.
    #[serde(default, alias = "company", skip_serializing_if = "std::ops::Not::not")]
    pub bystander: bool,
    /// A much rarer construct is needed where the wrong model is right: this one may only show the value that that one has
    /// given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observer: bool,
    /// The share of the campaign's test cases that have it, where that was counted: few cases that pass have what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl Blamed {
    /// The bug goes away without it, or needs something equivalent.
    pub fn is_to_blame(&self) -> bool {
        self.needed > 0 || !self.stays_with.is_empty()
    }
}

impl From<Vec<Blamed>> for Blame {
    fn from(constructs: Vec<Blamed>) -> Blame {
        Blame { constructs, reached: None }
    }
}

impl Blame {
    /// Puts the constructs in order once more, now that it is known how rare they are in test cases: from 0 to 1, and the
    /// share of test cases that have each, where it was counted.
    pub fn rank(&mut self, rarity: impl Fn(&str) -> f64, share: impl Fn(&str) -> Option<f64>) {
        for blamed in &mut self.constructs {
            blamed.share = share(&blamed.construct);
        }
        self.suspect_the_rare(rarity);
        self.constructs.sort_by(compared);
    }

    /// Where the assertion that is false has nothing but common operators, and a rare one is needed in an assertion that is
    /// true, the rare one is suspected: it may have given a wrong value to a constant that the others speak of.
    fn suspect_the_rare(&mut self, rarity: impl Fn(&str) -> f64) {
        let rarest = |bystanders: bool| {
            let of_kind = self.constructs.iter().filter(|blamed| {
                blamed.role == Role::Computes && blamed.needed > 0 && blamed.bystander == bystanders
            });
            of_kind
                .map(|blamed| rarity(&blamed.construct))
                .fold(None, |most: Option<f64>, one| Some(most.map_or(one, |most| most.max(one))))
        };
        let (Some(hidden), Some(seen)) = (rarest(true), rarest(false)) else { return };
        if hidden < seen + MUCH_RARER {
            return;
        }
        for blamed in self.constructs.iter_mut().filter(|blamed| blamed.role == Role::Computes) {
            let suspected = blamed.bystander && rarity(&blamed.construct) >= seen + MUCH_RARER;
            blamed.observer = !suspected;
            blamed.bystander &= !suspected;
        }
    }

    /// What the bug goes away without, as far as it tells something: options and commands, and what computes; where
    /// nothing does, what tests, else what writes values, else what connects.
    pub fn to_blame(&self) -> impl Iterator<Item = &Blamed> {
        let to_blame = || self.constructs.iter().filter(|blamed| blamed.is_to_blame());
        let role = to_blame().map(|blamed| blamed.role).filter(|role| *role != Role::Setting).min();
        to_blame().filter(move |blamed| blamed.role == Role::Setting || Some(blamed.role) == role)
    }
}

/// How much rarer a construct must be to be suspected in spite of the model.
const MUCH_RARER: f64 = 0.25;

/// What an ablation may cost.
#[derive(Clone, Copy, Debug)]
pub struct BlameBudget {
    /// Runs of solvers.
    pub runs: u64,
    /// CPU time of solvers.
    pub cpu: Duration,
}

impl Default for BlameBudget {
    fn default() -> BlameBudget {
        BlameBudget { runs: 60, cpu: Duration::from_secs(10) }
    }
}

/// What came of the attempts to replace a construct at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum PlaceOutcome {
    #[default]
    Untried,
    /// So far nothing kept the bug.
    Needed,
    /// Equivalent forms with these constructs keep it.
    StaysWith(Vec<String>),
    /// It can go.
    Free,
}

/// A construct under trial.
struct Suspect {
    name: String,
    role: Role,
    /// Terms of the script, or a whole command or option.
    terms: Vec<Term>,
    whole: Option<Whole>,
    places: Vec<PlaceOutcome>,
    /// All places at once could not be replaced by fresh constants.
    not_all: bool,
    /// It stands only in assertions that the wrong model satisfies.
    bystander: bool,
}

/// Finds out which constructs of a reduced script the bug needs.
pub fn blame(
    bug: &Bug,
    best: &Best,
    budget: &BlameBudget,
    watcher: &dyn Watcher,
) -> Result<Ablation, ReduceError> {
    let Some(mut trial) = Trial::open(bug, best, *budget, watcher)? else {
        return Ok(Ablation::default());
    };
    let mut suspects = trial.suspects();
    if trial.shows_itself()? {
        for role in Role::ALL {
            trial.tried(&mut suspects, role)?;
        }
        trial.tell_bystanders(&mut suspects);
    } else {
        // Nothing can be tried on a script that we cannot print as it is; the reducer has, as text.
        suspects.iter_mut().for_each(|suspect| suspect.places.fill(PlaceOutcome::Needed));
    }
    let mut without = std::mem::take(&mut trial.without);
    without.sort_by_cached_key(|text| Reverse(shared(text, &best.text)));
    Ok(Ablation { blame: ranked(suspects).into(), without, accounts: trial.accounts })
}

/// How many bytes two texts have in common at both ends.
fn shared(one: &str, other: &str) -> usize {
    let same = |(one, other): &(u8, u8)| one == other;
    let prefix = one.bytes().zip(other.bytes()).take_while(same).count();
    let suffix = one.bytes().rev().zip(other.bytes().rev()).take_while(same).count();
    prefix + suffix
}

/// The most telling first: what is needed before what can go, what computes before what tests or writes, what nothing
/// replaces before what something does.
fn ranked(suspects: Vec<Suspect>) -> Vec<Blamed> {
    let mut ranked: Vec<Blamed> = suspects
        .into_iter()
        .map(|suspect| {
            let needed = suspect.places.iter().filter(|place| **place == PlaceOutcome::Needed).count();
            let stays = suspect.places.iter().filter_map(|place| match place {
                PlaceOutcome::StaysWith(names) => Some(names),
                _ => None,
            });
            let mut stays_with: Vec<String> = stays.flatten().cloned().collect();
            stays_with.sort_unstable();
            stays_with.dedup();
            let one_of_them = suspect.not_all && stays_with.is_empty();
            let needed = if needed == 0 && one_of_them { 1 } else { needed };
            let occurrences = suspect.places.len();
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let (needed, occurrences) = (count(needed), count(occurrences));
            let untried = suspect.places.iter().all(|place| *place == PlaceOutcome::Untried);
            let (construct, role, bystander) = (suspect.name, suspect.role, suspect.bystander);
            Blamed {
                construct,
                role,
                occurrences,
                needed,
                stays_with,
                untried,
                bystander,
                observer: false,
                share: None,
            }
        })
        .collect();
    ranked.sort_by(compared);
    ranked
}

/// The order of [`ranked`]; of constructs that are needed alike, the rarest first.
fn compared(one: &Blamed, other: &Blamed) -> Ordering {
    let key = |blamed: &Blamed| {
        let every = blamed.needed == blamed.occurrences && blamed.stays_with.is_empty();
        let aside = blamed.bystander || blamed.observer;
        (!blamed.is_to_blame(), blamed.role, aside, !every, blamed.needed == 0)
    };
    let share = |blamed: &Blamed| blamed.share.unwrap_or(1.0);
    key(one)
        .cmp(&key(other))
        .then_with(|| share(one).total_cmp(&share(other)))
        .then_with(|| one.construct.cmp(&other.construct))
}

/// Constructs that a form brings into a script: connectives only where there is nothing else.
fn brought(store: &Store, old: Term, new: Term) -> Vec<String> {
    let known = store.subterms(&[old]);
    let mut found: Vec<(bool, String)> = store
        .subterms(&[new])
        .into_iter()
        .filter(|part| !known.contains(part))
        .filter_map(|part| {
            let name = names::of_term(store, part)?;
            Some((Role::of(store, part) == Role::Connects, name.into_owned()))
        })
        .collect();
    if found.iter().any(|(connects, _)| !connects) {
        found.retain(|(connects, _)| !connects);
    }
    let mut names: Vec<String> = found.into_iter().map(|(_, name)| name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Trial<'_> {
    /// Tries everything on the constructs of a role, cheap and telling attempts on all of them first.
    fn tried(&mut self, suspects: &mut [Suspect], role: Role) -> Result<(), ReduceError> {
        let mut chosen: Vec<&mut Suspect> =
            suspects.iter_mut().filter(|suspect| suspect.role == role).collect();
        for suspect in &mut chosen {
            if let Some(whole) = suspect.whole.clone() {
                self.whole(suspect, &whole)?;
            }
        }
        for suspect in &mut chosen {
            if suspect.terms.len() > 1 {
                let all = Variant::Fresh(suspect.terms.clone());
                match self.keeps(&all)? {
                    Some(true) => suspect.places.fill(PlaceOutcome::Free),
                    Some(false) => suspect.not_all = true,
                    None => {}
                }
            }
        }
        self.each(&mut chosen, Variant::fresh)?;
        self.each(&mut chosen, Variant::worked)?;
        self.each(&mut chosen, Variant::pinned)?;
        for suspect in &mut chosen {
            self.equivalents(suspect)?;
        }
        for suspect in &mut chosen {
            for (place, term) in suspect.terms.clone().into_iter().enumerate() {
                if matches!(suspect.places[place], PlaceOutcome::Needed | PlaceOutcome::Untried) {
                    let came = self.keeps(&Variant::Defined(term))?;
                    suspect.places[place].learn(came, vec!["=>".to_owned()]);
                }
            }
        }
        if role == Role::Computes {
            for suspect in &mut chosen {
                self.siblings(suspect)?;
            }
        }
        self.each(&mut chosen, Variant::value)?;
        if role == Role::Computes {
            self.second_chances(&mut chosen)?;
        }
        Ok(())
    }

    /// Of several constructs that seem to be needed, most are bystanders. One may only keep the solver from a strategy that is
    /// right: then it can go where the plain tactic is told to solve. One may only make the solver choose a wrong model: then
    /// it can go, and another model is wrong. In a contradiction one may only have a value: then a constant with that value
    /// does as well.
    fn second_chances(&mut self, suspects: &mut [&mut Suspect]) -> Result<(), ReduceError> {
        if !several_needed(suspects) {
            return Ok(());
        }
        if self.kind == Kind::SolutionSoundness {
            self.held(suspects, &[])?;
        }
        self.plainly_once_more(suspects)?;
        if several_needed(suspects) && self.kind == Kind::InvalidModel {
            self.other_models = true;
            self.once_more(suspects, &[])?;
            self.other_models = false;
        }
        Ok(())
    }

    /// Fresh constants once more where the plain tactic solves, if the bug is there, too. A model may be right there by luck: it
    /// is led to one that is wrong by telling it a value.
    fn plainly_once_more(&mut self, suspects: &mut [&mut Suspect]) -> Result<(), ReduceError> {
        if !several_needed(suspects) || !self.can_be_plain() {
            return Ok(());
        }
        let names = [format!("{TACTIC}{PLAIN}")];
        self.plainly = true;
        if self.kind == Kind::InvalidModel {
            self.once_more(suspects, &names)?;
            self.held(suspects, &names)?;
        } else if self.keeps(&Variant::Same)? == Some(true) {
            self.once_more(suspects, &names)?;
        }
        self.plainly = false;
        Ok(())
    }

    /// Fresh constants that are said to have a simple value, at all places that still seem needed.
    fn held(&mut self, suspects: &mut [&mut Suspect], names: &[String]) -> Result<(), ReduceError> {
        for suspect in suspects.iter_mut() {
            for place in suspect.open() {
                for value in self.simple_values_of(suspect.terms[place]) {
                    let came = self.keeps(&Variant::Held(suspect.terms[place], value))?;
                    suspect.places[place].learn(came, names.to_vec());
                    if came == Some(true) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fresh constants once more, under other conditions.
    fn once_more(&mut self, suspects: &mut [&mut Suspect], names: &[String]) -> Result<(), ReduceError> {
        for suspect in suspects.iter_mut() {
            let open = suspect.open();
            for attempt in [Variant::fresh, Variant::pinned] {
                for place in &open {
                    if matches!(suspect.places[*place], PlaceOutcome::Needed | PlaceOutcome::Untried) {
                        let came = self.keeps(&attempt(suspect.terms[*place]))?;
                        suspect.places[*place].learn(came, names.to_vec());
                    }
                }
            }
        }
        Ok(())
    }

    /// Other operators, at all places that still seem needed.
    fn siblings(&mut self, suspect: &mut Suspect) -> Result<(), ReduceError> {
        let open: Vec<usize> = suspect.open();
        let terms: Vec<Term> = open.iter().map(|place| suspect.terms[*place]).collect();
        let Some(first) = terms.first() else { return Ok(()) };
        for op in self.siblings_of(*first).into_iter().take(SIBLINGS) {
            let came = self.keeps(&Variant::Sibling(terms.clone(), op))?;
            if came == Some(true) {
                for place in open {
                    suspect.places[place].learn(came, vec![op.name().to_owned()]);
                }
                break;
            }
        }
        Ok(())
    }

    /// One attempt at every place that still seems needed.
    fn each(
        &mut self,
        suspects: &mut [&mut Suspect],
        attempt: fn(Term) -> Variant,
    ) -> Result<(), ReduceError> {
        for suspect in suspects {
            for (place, term) in suspect.terms.clone().into_iter().enumerate() {
                if matches!(suspect.places[place], PlaceOutcome::Needed | PlaceOutcome::Untried) {
                    let came = self.keeps(&attempt(term))?;
                    suspect.places[place].learn(came, Vec::new());
                }
            }
        }
        Ok(())
    }

    /// Other ways to say the same: at all places at once, then at each.
    fn equivalents(&mut self, suspect: &mut Suspect) -> Result<(), ReduceError> {
        for number in 0..FORMS {
            let places = suspect.open();
            let terms: Vec<Term> = places.iter().map(|place| suspect.terms[*place]).collect();
            let forms: Vec<Option<Term>> = terms.iter().map(|term| self.form(*term, number)).collect();
            if places.len() > 1 && forms.iter().all(Option::is_some) {
                let came = self.keeps(&Variant::Forms(terms.clone(), number))?;
                if came == Some(true) {
                    for ((place, term), form) in places.iter().zip(&terms).zip(&forms) {
                        let names = form.map(|form| brought(&self.bench.store, *term, form));
                        suspect.places[*place].learn(came, names.unwrap_or_default());
                    }
                    return Ok(());
                }
            }
            for ((place, term), form) in places.iter().zip(&terms).zip(&forms) {
                let Some(form) = form else { continue };
                let names = brought(&self.bench.store, *term, *form);
                let came = self.keeps(&Variant::Forms(vec![*term], number))?;
                suspect.places[*place].learn(came, names);
            }
        }
        Ok(())
    }

    fn whole(&mut self, suspect: &mut Suspect, whole: &Whole) -> Result<(), ReduceError> {
        for variant in whole.variants(&self.bench.draft.script) {
            let came = self.keeps(&variant)?;
            for place in &mut suspect.places {
                place.learn(came, Vec::new());
            }
            if came == Some(true) {
                break;
            }
        }
        Ok(())
    }
}

/// Do at least two of them seem to be needed?
fn several_needed(suspects: &[&mut Suspect]) -> bool {
    let needed = |suspect: &&&mut Suspect| suspect.places.contains(&PlaceOutcome::Needed);
    suspects.iter().filter(needed).count() > 1
}

/// Equivalent forms tried for a construct.
const FORMS: usize = 3;

/// Other operators tried for a construct.
const SIBLINGS: usize = 3;

impl Suspect {
    /// Places of terms at which nothing has kept the bug so far.
    fn open(&self) -> Vec<usize> {
        let is_open =
            |place: &usize| matches!(self.places[*place], PlaceOutcome::Needed | PlaceOutcome::Untried);
        (0..self.terms.len()).filter(is_open).collect()
    }
}

impl PlaceOutcome {
    /// What came of an attempt in which these constructs took its place.
    fn learn(&mut self, came: Option<bool>, names: Vec<String>) {
        *self = match (came, std::mem::take(self)) {
            (Some(true), _) if names.is_empty() => PlaceOutcome::Free,
            (Some(true), _) => PlaceOutcome::StaysWith(names),
            (Some(false), PlaceOutcome::Untried) => PlaceOutcome::Needed,
            (_, before) => before,
        };
    }
}
