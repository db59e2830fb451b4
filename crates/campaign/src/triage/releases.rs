//! Which installed releases have a bug: the script that shows it, run on all of them.

use std::sync::Arc;
use std::time::Duration;

use oracle::Kind;
use reduce::ReduceError;
use reduce::Watcher;
use reduce::driver::Best;
use reduce::predicate::{Candidate, Predicate};
use smtlib::{Mode, Store, print};
use solver::run::{Accounts, Configuration};
use solver::{Adapters, Home, Solver, Solvers};

use crate::findings::Releases;

/// Which releases are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those around the first and the last that have the bug, found by halving: about a dozen of fifty. They may use this
    /// much CPU time: those that search for ever tell nothing, and cost most.
    Borders { cost: Duration },
    /// All that are installed.
    All,
}

/// Releases asked at most for the borders.
const ASKED: usize = 14;

/// Time for one release, beside a few times what the accused takes.
const PATIENCE: Duration = Duration::from_millis(500);

/// The same after several that were given up: each halves it.
const LEAST: Duration = Duration::from_millis(100);

/// Puts installed releases in the place of the accused and looks for the same bug. Nothing when no other release is
/// installed. With what the runs have cost. Of a bug that shows as a wrong model, a release may be without it by luck.
pub fn compare(
    bug: &dyn Predicate,
    best: &Best,
    kind: Kind,
    extent: Extent,
    watcher: &dyn Watcher,
) -> Result<(Option<Releases>, Accounts), ReduceError> {
    let Some(own) = best.configuration.clone().or_else(|| bug.configuration()) else {
        return Ok((None, Accounts::default()));
    };
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, best.text.as_bytes(), Mode::Tolerant).ok();
    let usage = parsed.as_ref().map(|parsed| smtlib::logic::usage(&store, &parsed.script));
    let mut examiner = bug.examiner()?;
    let (configurations, unable): (Vec<Arc<Configuration>>, Vec<_>) = installed(&own.solver)
        .into_iter()
        .map(|solver| Arc::new(Configuration { id: own.id, solver, request: own.request.clone() }))
        .partition(|configuration| {
            let release = configuration.release();
            let fits =
                |usage: &smtlib::logic::Usage| usage.operators.iter().all(|op| op.row().accepted_by(release));
            usage.as_ref().is_none_or(fits)
        });
    let of_accused = candidate(&best.text, &own, best);
    let timed = examiner.examine(&of_accused)?;
    let mut accounts = examiner.take_accounts();
    let most = match extent {
        Extent::Borders { cost } => Some(cost),
        Extent::All => None,
    };
    if timed.interesting && most.is_some() {
        examiner.calibrate(timed.wall * 4 + PATIENCE);
    }
    let mut patience = PATIENCE;
    let ask = |place: usize| {
        if watcher.stop() || most.is_some_and(|most| accounts.total().cpu > most) {
            return Ok(None);
        }
        let configuration = &configurations[place];
        let release = configuration.release();
        let text = match &parsed {
            Some(parsed) if release != own.release() => print::print(&store, &parsed.script, release),
            _ => best.text.clone(),
        };
        let judgement = examiner.examine(&candidate(&text, configuration, best))?;
        accounts += examiner.take_accounts();
        // Where some search for ever, most others do.
        if judgement.timed_out && most.is_some() {
            patience = (patience / 2).max(LEAST);
            examiner.calibrate(timed.wall * 2 + patience);
        }
        // Giving up or refusing says nothing about the bug.
        Ok(judgement.answered.then_some(judgement.interesting))
    };
    let place = configurations.iter().position(|one| one.solver.version() >= own.solver.version());
    let mut survey = Survey { said: vec![None; configurations.len()], asked: 0, ask };
    // The accused itself has been confirmed, where it is one of them.
    for (said, configuration) in survey.said.iter_mut().zip(&configurations) {
        *said = (configuration.solver.name() == own.solver.name()).then_some(Some(true));
    }
    match extent {
        Extent::All => survey.all()?,
        Extent::Borders { .. } => {
            let own = place.unwrap_or(configurations.len());
            survey.borders(own, ASKED)?;
            if kind == Kind::InvalidModel {
                survey.beyond(own, ASKED)?;
            }
        }
    }
    let Survey { said, .. } = survey;
    let order: Vec<(String, Option<bool>)> = said
        .iter()
        .zip(&configurations)
        .map(|(said, configuration)| (configuration.solver.name(), said.flatten()))
        .collect();
    let told = order.iter().any(|(_, said)| said.is_some());
    let unable = unable.iter().map(|configuration| configuration.solver.name()).collect();
    let luck = kind == Kind::InvalidModel;
    Ok((told.then(|| Releases { unable, ..found(order, luck) }), accounts))
}

/// The script put to a release.
fn candidate<'c>(text: &'c str, configuration: &'c Arc<Configuration>, best: &Best) -> Candidate<'c> {
    Candidate {
        text,
        configuration: Some(configuration),
        satisfied: best.witness.is_some(),
        subset: false,
        plain: true,
        other_models: true,
    }
}

/// What the answers come to, in the order of releases. The bug came or went at a release only if its neighbour on the other
/// side of the border has told, too. What lies between two that have the bug, or two that do not, need not be asked. With
/// `luck`, one that lies between two with the bug has it, too, whatever it has answered.
fn found(order: Vec<(String, Option<bool>)>, luck: bool) -> Releases {
    let mut found = Releases::default();
    let first = order.iter().position(|(_, said)| *said == Some(true));
    let last = order.iter().rposition(|(_, said)| *said == Some(true));
    let clean = |place: usize| {
        order.get(place).filter(|(_, said)| *said == Some(false)).map(|(name, _)| name.clone())
    };
    found.last_good = first.and_then(|first| clean(first.checked_sub(1)?));
    found.first_fixed = last.and_then(|last| clean(last + 1));
    for (place, (name, said)) in order.iter().enumerate() {
        let between = first.is_some_and(|first| first < place) && last.is_some_and(|last| place < last);
        match said {
            Some(true) => found.affected.push(name.clone()),
            Some(false) if luck && between => found.lucky.push(name.clone()),
            Some(false) => found.clean.push(name.clone()),
            // Beside a border, or beyond all that told something.
            None => {
                let before = order[..place].iter().rev().find_map(|(_, said)| *said);
                let after = order[place..].iter().find_map(|(_, said)| *said);
                if before != after {
                    found.silent.push(name.clone());
                } else if before == Some(true) {
                    found.inferred.push(name.clone());
                }
            }
        }
    }
    found
}

/// Questions to releases, the oldest first.
struct Survey<Ask> {
    /// Whether each has the bug: not asked yet, or asked and perhaps told.
    said: Vec<Option<Option<bool>>>,
    asked: usize,
    ask: Ask,
}

impl<Ask: FnMut(usize) -> Result<Option<bool>, ReduceError>> Survey<Ask> {
    fn ask(&mut self, place: usize) -> Result<Option<bool>, ReduceError> {
        if let Some(said) = self.said[place] {
            return Ok(said);
        }
        self.asked += 1;
        let said = (self.ask)(place)?;
        self.said[place] = Some(said);
        Ok(said)
    }

    fn all(&mut self) -> Result<(), ReduceError> {
        (0..self.said.len()).try_for_each(|place| self.ask(place).map(|_| ()))
    }

    /// From the release that has the bug both ways: where does it begin, where does it end? Half of the questions for
    /// each.
    fn borders(&mut self, own: usize, most: usize) -> Result<(), ReduceError> {
        let newer: Vec<usize> = (own..self.said.len()).collect();
        let older: Vec<usize> = (0..own.min(self.said.len())).rev().collect();
        self.border(&newer, most.div_ceil(2))?;
        self.border(&older, most)
    }

    /// The releases beyond the borders, the nearest first, on both sides in turn: one that has the bug shows that those
    /// between are without it by luck.
    fn beyond(&mut self, own: usize, most: usize) -> Result<(), ReduceError> {
        let mut open: Vec<usize> = (0..self.said.len()).filter(|place| self.is_beyond(*place, own)).collect();
        open.sort_by_key(|place| place.abs_diff(own));
        for place in open {
            if self.asked >= most {
                break;
            }
            self.ask(place)?;
        }
        Ok(())
    }

    /// It was not asked, and one between it and the accused is without the bug.
    fn is_beyond(&self, place: usize, own: usize) -> bool {
        let between = if place < own { place + 1..own } else { own + 1..place };
        let is_clean = |said: &Option<Option<bool>>| *said == Some(Some(false));
        self.said[place].is_none() && self.said.get(between).is_some_and(|all| all.iter().any(is_clean))
    }

    /// Releases in one direction: the nearest that does not have the bug, if the bug ends once.
    fn border(&mut self, way: &[usize], most: usize) -> Result<(), ReduceError> {
        // Everything before `near` has the bug; `far` is the nearest that is known not to.
        let (mut near, mut far) = (0, None);
        // The farthest first: if it has the bug, nothing else has to be asked.
        let mut next = way.len().checked_sub(1);
        while let Some(place) = next.filter(|_| self.asked < most) {
            match self.ask(way[place])? {
                Some(true) => near = place + 1,
                Some(false) => far = Some(place),
                None => {}
            }
            let open: Vec<usize> =
                (near..far.unwrap_or(way.len())).filter(|place| self.said[way[*place]].is_none()).collect();
            // Where the farthest tells nothing, those before it are asked.
            next = if far.is_none() { open.last().copied() } else { open.get(open.len() / 2).copied() };
        }
        Ok(())
    }
}

/// The installed releases of the same solver with the same options, oldest first.
fn installed(own: &Solver) -> Vec<Solver> {
    let Ok(home) = Home::of_user() else { return Vec::new() };
    let solvers = Solvers::new(Adapters::built_in(), home);
    let mut releases: Vec<Solver> = solvers
        .list(false)
        .into_iter()
        .filter(|listed| listed.name == own.installed.name)
        .flat_map(|listed| listed.installed)
        .filter(|installed| installed.version.is_some())
        .map(|installed| Solver { installed, ..own.clone() })
        .collect();
    releases.sort_by(|a, b| a.version().cmp(&b.version()));
    releases.dedup_by(|a, b| a.version() == b.version());
    releases
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places asked, and what came out, of releases that behave as the letters say: bug, good, silent.
    fn asked(conduct: &str, own: usize, most: usize) -> (Vec<usize>, Releases) {
        asked_of(conduct, own, most, false)
    }

    fn asked_of(conduct: &str, own: usize, most: usize, models: bool) -> (Vec<usize>, Releases) {
        let letters: Vec<char> = conduct.chars().collect();
        let mut places = Vec::new();
        let ask = |place: usize| {
            places.push(place);
            Ok(match letters[place] {
                'b' => Some(true),
                'g' => Some(false),
                _ => None,
            })
        };
        let mut survey = Survey { said: vec![None; letters.len()], asked: 0, ask };
        survey.said[own] = Some(Some(true));
        survey.borders(own, most).expect("asked");
        if models {
            survey.beyond(own, most).expect("asked");
        }
        let said = survey.said.iter().enumerate();
        let order = said.map(|(place, said)| (place.to_string(), said.flatten())).collect();
        (places, found(order, models))
    }

    #[test]
    fn the_borders_of_a_bug_are_found_by_halving() {
        let (places, found) = asked("ggggggggbbbbbbbbbbgggggggggggggg", 12, 14);
        assert_eq!((found.last_good.as_deref(), found.first_fixed.as_deref()), (Some("7"), Some("18")));
        assert!(places.len() <= 12, "{places:?}");
    }

    #[test]
    fn a_bug_that_was_always_there_and_is_still_there_needs_three_questions() {
        let (places, found) = asked("bbbbbbbbbbbbbbbb", 5, 14);
        assert_eq!((found.last_good, found.first_fixed), (None, None));
        assert!(places.len() <= 3, "{places:?}");
        assert_eq!(
            (found.affected.len(), found.inferred.len()),
            (3, 13),
            "most follow from their neighbours"
        );
    }

    #[test]
    fn a_release_with_a_right_model_between_two_with_wrong_ones_is_lucky() {
        let (_, clean) = asked_of("gbggbb", 5, 14, false);
        assert_eq!((clean.last_good.as_deref(), clean.lucky.len()), (Some("3"), 0));
        let (places, found) = asked_of("gbggbb", 5, 14, true);
        assert_eq!(found.affected, ["1", "4", "5"], "{places:?}");
        assert_eq!(found.lucky, ["2", "3"]);
        assert_eq!((found.last_good.as_deref(), found.clean), (Some("0"), vec!["0".to_owned()]));
        let (places, found) = asked_of("gggggggggggggggbbb", 16, 14, true);
        assert!(places.len() <= 14 && found.lucky.is_empty(), "{places:?}");
        assert_eq!(found.last_good.as_deref(), Some("14"));
    }

    #[test]
    fn releases_that_tell_nothing_leave_it_open_when_the_bug_came_and_went() {
        let (_, found) = asked("....gg.bb.gg..", 8, 14);
        assert_eq!((found.last_good.as_deref(), found.first_fixed.as_deref()), (None, None));
        assert!(
            found.silent.contains(&"6".to_owned()) && found.silent.contains(&"9".to_owned()),
            "{found:?}"
        );
        let (_, found) = asked("gg.gbbgg", 4, 14);
        assert_eq!((found.last_good.as_deref(), found.first_fixed.as_deref()), (Some("3"), Some("6")));
        assert_eq!(found.silent, Vec::<String>::new(), "it stands beside no border");
        let (places, found) = asked("..............b", 14, 6);
        assert_eq!((found.last_good, found.affected), (None, vec!["14".to_owned()]));
        assert!(places.len() <= 6, "{places:?}");
    }
}
