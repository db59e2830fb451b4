//! From a test case to its runs: who can run it, in which text, and whether the references are needed.

use std::collections::BTreeSet;
use std::sync::Arc;

use engines::TestCase;
use eval::Expectation;
use generate::Rng;
use oracle::Subject;
use oracle::subject::CheckedModels;
use smtlib::logic::Usage;
use smtlib::{Release, Setting, Status, Store, print};
use solver::RunRequest;
use solver::run::{Configuration, PartyId, Purpose, Run, Runner};

use crate::driver::asking_for_model;
use crate::error::CampaignError;
use crate::schedule::{GET_STATISTICS, OptionPolicy, SHARE};
use crate::target::Target;

/// Larger scripts are not run: nobody could read a finding from them.
const LARGEST: usize = 1 << 20;

/// A test case with what is needed to run it.
pub struct Prepared<'c> {
    pub case: &'c TestCase,
    pub usage: Usage,
    pub parties: Vec<Party>,
    /// Solvers are asked for their statistics too.
    statistics: bool,
}

/// A solver with the options of a test case.
#[derive(Clone)]
pub struct Party {
    /// The solver's number.
    pub target: usize,
    /// What the policy proposed.
    pub proposed: Vec<Setting>,
    pub configuration: Arc<Configuration>,
}

impl Party {
    fn new(
        id: PartyId,
        case: &TestCase,
        target: &Target,
        proposed: Vec<Setting>,
        request: &RunRequest,
        allowed: bool,
    ) -> Party {
        let settings = with_own(case, target, proposed.clone(), allowed);
        let request = RunRequest { settings, ..request.clone() };
        let configuration = Arc::new(Configuration { id, solver: target.solver.clone(), request });
        Party { target: target.number, proposed, configuration }
    }
}

/// Logics that solvers have refused by name: asking again is of no use.
pub type RefusedLogics = BTreeSet<(usize, String)>;

impl<'c> Prepared<'c> {
    /// Who runs it, with which options, and what is asked beside the answer. `propose` tells the configurations of each solver
    /// that can run it.
    pub fn new(
        case: &'c TestCase,
        usage: Usage,
        targets: &[Target],
        able: &dyn Fn(&Target) -> bool,
        policy: &dyn OptionPolicy,
        propose: &mut dyn FnMut(&Target) -> Vec<Vec<Setting>>,
        rng: &mut Rng,
    ) -> Prepared<'c> {
        // A model after the only check can be validated; between several checks it would change what is tested.
        let models = policy.may_ask() && !case.script.is_incremental();
        // Several checks, and theories that a solver calls experimental, are refused unless they are asked for.
        let broad = policy.may_ask()
            && (case.script.is_incremental()
                || usage.strings
                || usage.sequences
                || usage.floats
                || usage.arrays);
        let mut parties: Vec<Party> = Vec::new();
        // Further configurations of a solver get numbers that no solver has.
        let mut further = targets.len() as u32;
        for target in targets.iter().filter(|target| target.accepts(&usage) && able(target)) {
            for (place, proposed) in propose(target).into_iter().enumerate() {
                let id = match place {
                    0 => PartyId(target.number as u32),
                    _ => {
                        further += 1;
                        PartyId(further - 1)
                    }
                };
                parties.push(Party::new(
                    id,
                    case,
                    target,
                    proposed,
                    &RunRequest { broad, models, ..RunRequest::default() },
                    policy.may_ask(),
                ));
            }
        }
        let statistics = policy.may_ask() && rng.chance(SHARE);
        Prepared { case, usage, parties, statistics }
    }

    /// The same test case with further configurations beside those that have run. Nothing if there are none.
    pub fn further(
        &self,
        targets: &[Target],
        policy: &dyn OptionPolicy,
        propose: &mut dyn FnMut(&Target) -> Vec<Vec<Setting>>,
    ) -> Option<Prepared<'c>> {
        let mut parties = self.parties.clone();
        let mut number = targets.len() as u32;
        for first in &self.parties {
            // One configuration of each solver under test stands for it.
            let target = &targets[first.target];
            if target.reference || first.configuration.id != PartyId(target.number as u32) {
                continue;
            }
            for proposed in propose(target) {
                let request = &first.configuration.request;
                let request = RunRequest { settings: Vec::new(), once: true, ..request.clone() };
                parties.push(Party::new(
                    PartyId(number),
                    self.case,
                    target,
                    proposed,
                    &request,
                    policy.may_ask(),
                ));
                number += 1;
            }
        }
        let more = parties.len() > self.parties.len();
        more.then(|| Prepared { case: self.case, usage: self.usage.clone(), parties, statistics: false })
    }

    /// Is anybody asked for a model at the end of the script?
    pub fn asks_for_models(&self) -> bool {
        self.parties.iter().any(|party| party.configuration.request.models)
    }

    /// The same without those that did not run.
    pub fn retain_run(&mut self, runs: &[Run]) {
        self.parties.retain(|party| Run::of(runs, party.configuration.id).is_some());
    }

    /// The runs of those under test, then of the references if something is left to decide. What has run already is not run
    /// again. With them the models that were looked at on the way.
    pub fn run(
        &self,
        store: &mut Store,
        targets: &[Target],
        runner: &mut dyn Runner,
        earlier: &[Run],
    ) -> Result<(Vec<Run>, CheckedModels), CampaignError> {
        let script = &self.case.script;
        let mut runs: Vec<Run> = earlier.to_vec();
        let mut open = None;
        let mut checked = CheckedModels::default();
        // What the solver before got: the next one often gets the same.
        let mut printed: Option<(Release, bool, String)> = None;
        for Party { target, configuration, .. } in &self.parties {
            if Run::of(earlier, configuration.id).is_some() {
                continue;
            }
            let target = &targets[*target];
            if target.reference && !*open.get_or_insert_with(|| self.is_open(store, &runs, &mut checked)) {
                break;
            }
            let models = configuration.request.models;
            let same = |(release, asks, _): &(Release, bool, String)| {
                *asks == models && print::same_text(&self.usage, *release, target.release)
            };
            if !printed.as_ref().is_some_and(same) {
                let mut text = if models {
                    print::print(store, &asking_for_model(script), target.release)
                } else {
                    print::print(store, script, target.release)
                };
                if self.statistics {
                    text.push_str(GET_STATISTICS);
                }
                printed = Some((target.release, models, text));
            }
            let Some((_, _, text)) = printed.as_ref().filter(|(_, _, text)| text.len() <= LARGEST) else {
                break;
            };
            let run = runner.run(configuration, text.as_bytes(), Purpose::Test);
            runs.push(run.map_err(|error| CampaignError::of_run(&target.name, error))?);
        }
        Ok((runs, checked))
    }

    /// The number of the solver that made a run.
    pub fn target_of(&self, run: &Run) -> usize {
        self.party_of(run).map_or(0, |party| party.target)
    }

    /// What the policy proposed for a run.
    pub fn proposed(&self, run: &Run) -> &[Setting] {
        self.party_of(run).map_or(&[], |party| &party.proposed)
    }

    fn party_of(&self, run: &Run) -> Option<&Party> {
        self.parties.iter().find(|party| party.configuration.id == run.party())
    }

    /// Is there an answer that neither the expectation nor a model we evaluate settles?
    fn is_open(&self, store: &mut Store, runs: &[Run], checked: &mut CheckedModels) -> bool {
        match self.case.expectation() {
            Expectation::Witness => return false,
            // A derivation is only as good as its grounds: before anybody is accused, others are heard.
            expectation @ (Expectation::Derived(_) | Expectation::Claimed { .. }) => {
                let differs = |run: &Run| {
                    let answers = run.answers.checks.iter().filter_map(|check| run.status(check.check));
                    answers.into_iter().any(|answer| Some(answer) != expectation.answer())
                };
                return runs.iter().any(differs);
            }
            Expectation::Agree => {}
        }
        let mut subject = Subject::new(store, Some(&self.case.script), &[]);
        subject.look_briefly();
        let open = runs.iter().any(|run| {
            (0..subject.frames().len()).any(|check| match run.status(check) {
                None => false,
                Some(Status::Sat) => !subject.settles(run, check),
                Some(_) => true,
            })
        });
        *checked = subject.into_checked();
        open
    }
}

/// The settings of a solver: those of the test case win over what the policy proposes.
fn with_own(case: &TestCase, target: &Target, proposed: Vec<Setting>, allowed: bool) -> Vec<Setting> {
    let own = case.options.iter().find(|own| own.solver == target.number && allowed);
    let own = own.map(|own| own.settings.as_slice()).unwrap_or_default();
    let mut settings = proposed;
    settings.retain(|setting| own.iter().all(|own| own.option != setting.option));
    settings.extend_from_slice(own);
    settings.sort();
    settings
}
