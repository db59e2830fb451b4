//! Questions of engines, answered by real solvers and remembered.

use std::fmt::Write as _;
use std::sync::Arc;

use engines::Ask;
use eval::Model;
use oracle::{Configuration, Run};
use rustc_hash::FxHashMap;
use smtlib::{Command, Release, Script, Status, Store, print};
use solver::{Answer, RunRequest};

use crate::error::CampaignError;
use crate::executor::Executor;
use crate::hash;
use crate::target::Target;

/// Answers remembered by one worker.
const REMEMBERED: usize = 4096;

/// What solvers have said to one worker's engines.
#[derive(Default)]
pub struct Memory {
    statuses: FxHashMap<u64, Option<(Status, String)>>,
    models: FxHashMap<(u64, u32), Option<(usize, String)>>,
    cores: FxHashMap<u64, Option<Vec<usize>>>,
}

impl Memory {
    fn make_room(&mut self) {
        if self.statuses.len() + self.models.len() + self.cores.len() > REMEMBERED {
            *self = Memory::default();
        }
    }
}

/// The campaign's side of [`Ask`] during a round.
pub struct Questions<'a> {
    pub targets: &'a [Target],
    pub executor: &'a mut Executor,
    pub memory: &'a mut Memory,
    /// The first failure of ours; the round ends with it.
    pub failure: &'a mut Option<CampaignError>,
}

impl Questions<'_> {
    fn run(&mut self, solver: usize, text: &str, request: &RunRequest) -> Option<Run> {
        if self.failure.is_some() {
            return None;
        }
        let target = self.targets.get(solver)?;
        let configuration =
            Arc::new(Configuration { solver: target.solver.clone(), request: request.clone() });
        match self.executor.run_fast(target, &configuration, text.as_bytes()) {
            Ok(run) => Some(run),
            Err(error) => {
                *self.failure = Some(error);
                None
            }
        }
    }

    /// The solvers that have what the script needs.
    fn able(&self, store: &Store, script: &Script) -> Vec<usize> {
        let usage = smtlib::logic::usage(store, script);
        self.targets.iter().filter(|target| target.accepts(&usage)).map(|target| target.number).collect()
    }

    fn release(&self, solver: usize) -> Release {
        self.targets.get(solver).map_or(Release::STANDARD, |target| target.release)
    }
}

impl Ask for Questions<'_> {
    /// All solvers are under test; the last one given is the reference by custom, so it is asked first. Variants go
    /// through the solvers, then through random seeds.
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model> {
        self.memory.make_room();
        let key = (hash::hash(print::print(store, script, Release::STANDARD).as_bytes()), variant);
        if !self.memory.models.contains_key(&key) {
            let able = self.able(store, script);
            let mut found = None;
            for i in 0..able.len() {
                let solver = able[(able.len() * 2 - 1 - i - variant as usize % able.len()) % able.len()];
                let request = RunRequest {
                    broad: true,
                    models: true,
                    seed: Some(variant / able.len() as u32).filter(|seed| *seed > 0),
                    ..RunRequest::default()
                };
                let text = print::print(store, &with_model(script), self.release(solver));
                let Some(run) = self.run(solver, &text, &request) else { continue };
                let sat = run.answers.trusted().last().is_some_and(|check| check.answer == Answer::Sat);
                if let (true, Some(part)) = (sat, run.answers.models.last()) {
                    let model = String::from_utf8_lossy(&run.outcome.stdout[part.range.clone()]).into_owned();
                    found = Some((solver, model));
                    break;
                }
            }
            self.memory.models.insert(key, found);
        }
        let (solver, text) = self.memory.models.get(&key)?.clone()?;
        let read = eval::model_text::read_model(store, script, text.as_bytes(), self.release(solver)).ok()?;
        Some(read.model)
    }

    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)> {
        self.memory.make_room();
        let key = hash::hash(print::print(store, script, Release::STANDARD).as_bytes());
        if let Some(known) = self.memory.statuses.get(&key) {
            return known.clone();
        }
        let mut said: Vec<(Status, String)> = Vec::new();
        for solver in self.able(store, script) {
            let text = print::print(store, script, self.release(solver));
            let Some(run) = self.run(solver, &text, &RunRequest { broad: true, ..RunRequest::default() })
            else {
                continue;
            };
            let status = match run.answers.trusted().last().map(|check| &check.answer) {
                Some(Answer::Sat) => Status::Sat,
                Some(Answer::Unsat) => Status::Unsat,
                _ => continue,
            };
            said.push((status, self.targets[solver].name.clone()));
        }
        let agreed = match said.as_slice() {
            [(first, _), rest @ ..] if !rest.is_empty() && rest.iter().all(|(status, _)| status == first) => {
                let names: Vec<&str> = said.iter().map(|(_, name)| name.as_str()).collect();
                Some((*first, format!("{} agree", names.join(" and "))))
            }
            _ => None,
        };
        self.memory.statuses.insert(key, agreed.clone());
        agreed
    }

    fn confirmed_core(&mut self, store: &Store, script: &Script) -> Option<Vec<usize>> {
        if script.is_incremental() {
            return None;
        }
        self.memory.make_room();
        let key = hash::hash(print::print(store, script, Release::STANDARD).as_bytes());
        if let Some(known) = self.memory.cores.get(&key) {
            return known.clone();
        }
        let able = self.able(store, script);
        let mut core = None;
        for solver in able.iter().rev().copied() {
            let text = named(store, script, None, self.release(solver));
            let request = RunRequest { broad: true, cores: true, ..RunRequest::default() };
            let Some(run) = self.run(solver, &text, &request) else { continue };
            let Some(found) = run.answers.cores.last() else { continue };
            let numbers: Vec<usize> =
                found.names.iter().filter_map(|name| name.strip_prefix("osprey.a")?.parse().ok()).collect();
            if numbers.len() != found.names.len() {
                continue;
            }
            core = Some(numbers);
            break;
        }
        let confirmed = core.filter(|core| {
            let votes = able
                .iter()
                .filter(|solver| {
                    let text = named(store, script, Some(core), self.release(**solver));
                    let run = self.run(**solver, &text, &RunRequest { broad: true, ..RunRequest::default() });
                    run.is_some_and(|run| {
                        run.answers.trusted().last().is_some_and(|check| check.answer == Answer::Unsat)
                    })
                })
                .count();
            votes >= 2
        });
        self.memory.cores.insert(key, confirmed.clone());
        confirmed
    }
}

/// The script with a request for a model at its end, unless it has one.
pub fn asking_for_model(script: &Script) -> Script {
    let mut script = script.clone();
    if !script.commands.contains(&Command::GetModel) {
        script.commands.push(Command::GetModel);
    }
    script
}

/// The script with nothing but a request for a model after its checks.
fn with_model(script: &Script) -> Script {
    let mut script = script.clone();
    script
        .commands
        .retain(|command| !matches!(command, Command::GetModel | Command::GetValue(_) | Command::Exit));
    script.commands.push(Command::GetModel);
    script
}

/// The script with its assertions named by number (all, or those of a core alone) and a request for the core.
fn named(store: &Store, script: &Script, only: Option<&[usize]>, release: Release) -> String {
    let mut text = String::from("(set-option :produce-unsat-cores true)\n");
    let mut number = 0;
    for command in &script.commands {
        match command {
            Command::Assert(term) => {
                if only.is_none_or(|only| only.contains(&number)) {
                    let term = print::print_term(store, *term, release);
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "(assert (! {term} :named osprey.a{number}))");
                }
                number += 1;
            }
            Command::GetModel | Command::GetUnsatCore | Command::GetValue(_) | Command::Exit => {}
            other => {
                text.push_str(&print::print_command(store, other, release));
                text.push('\n');
            }
        }
    }
    text.push_str("(get-unsat-core)\n");
    text
}
