//! Questions of engines, answered by real solvers and remembered.
//!
//! A question has seconds of its own ([`Purpose::Question`]): what an engine makes of a model for a thousand test cases
//! is worth more than one run. A definite answer is remembered. A time-out is remembered only for a while: the machine
//! may have been busy, and a seed that nobody is asked about again is lost.

use std::fmt::Write as _;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engines::{Ask, Attempt};
use eval::Model;
use rustc_hash::FxHashMap;
use smtlib::{Command, Release, Script, Status, Store, print};
use solver::run::{Configuration, PartyId, Purpose, Run, Runner};
use solver::{Answer, RunClass, RunRequest};

use crate::error::CampaignError;
use crate::hash;
use crate::store::QuestionCounts;
use crate::target::Target;

/// Answers remembered by one worker.
const REMEMBERED: usize = 4096;

/// How long a question is waited for when it is asked for the first time; each time that it timed out doubles that, up to
/// the purpose's own limit.
const FIRST: Duration = Duration::from_secs(5);

/// How long a question is waited for that is one of very many.
const QUICK: Duration = Duration::from_secs(1);

/// What a question came to.
#[derive(Clone, Debug)]
enum Reply<T> {
    Answer(T),
    /// Every solver that has the theories was heard, and none had what was asked for.
    Nothing,
    /// Somebody ran out of time.
    TimedOut,
}

/// A reply, and for a time-out how often the question came up since.
#[derive(Clone, Debug)]
struct Remembered<T> {
    reply: Reply<T>,
    time_outs: u32,
    passed: u32,
}

/// Answers by question.
struct ReplyCache<K, T> {
    by_question: FxHashMap<K, Remembered<T>>,
}

impl<K, T> Default for ReplyCache<K, T> {
    fn default() -> ReplyCache<K, T> {
        ReplyCache { by_question: FxHashMap::default() }
    }
}

impl<K: Hash + Eq, T: Clone> ReplyCache<K, T> {
    /// The answer if it is known; `None` if the question must be asked. After a time-out it is asked again when it has
    /// come up twice more, then four times, then eight times more.
    fn recall(&mut self, key: &K) -> Option<Option<T>> {
        let known = self.by_question.get_mut(key)?;
        match &known.reply {
            Reply::Answer(answer) => Some(Some(answer.clone())),
            Reply::Nothing => Some(None),
            Reply::TimedOut => {
                known.passed += 1;
                (known.passed <= 1 << known.time_outs.min(20)).then_some(None)
            }
        }
    }

    /// How long the answer is waited for this time.
    fn patience(&self, key: &K) -> Duration {
        FIRST * (1 << self.by_question.get(key).map_or(0, |known| known.time_outs).min(8))
    }

    fn remember(&mut self, key: K, reply: Reply<T>) -> Option<T> {
        let before = self.by_question.get(&key).map_or(0, |known| known.time_outs);
        let time_outs = before + u32::from(matches!(reply, Reply::TimedOut));
        let answer = match &reply {
            Reply::Answer(answer) => Some(answer.clone()),
            _ => None,
        };
        self.by_question.insert(key, Remembered { reply, time_outs, passed: 0 });
        answer
    }
}

/// What solvers have said to one worker's engines.
#[derive(Default)]
pub struct AnswerCache {
    statuses: ReplyCache<u64, (Status, String)>,
    models: ReplyCache<(u64, u32), (usize, String)>,
    cores: ReplyCache<u64, Vec<usize>>,
    /// Since they were last taken.
    counts: QuestionCounts,
    failure: Option<CampaignError>,
    /// When nobody needs an answer any more.
    until: Option<Instant>,
    /// A model that came with `unknown` is no model of an [`Ask::attempt`].
    only_sat: bool,
}

impl AnswerCache {
    /// Nobody waits for an answer beyond this moment.
    #[must_use]
    pub fn until(end: Option<Instant>) -> AnswerCache {
        AnswerCache { until: end, ..AnswerCache::default() }
    }

    /// An attempt counts as a model only where the solver says `sat`: for those who count what is satisfiable.
    #[must_use]
    pub fn only_sat(mut self, wanted: bool) -> AnswerCache {
        self.only_sat = wanted;
        self
    }

    fn make_room(&mut self) {
        let held =
            self.statuses.by_question.len() + self.models.by_question.len() + self.cores.by_question.len();
        if held > REMEMBERED {
            self.statuses = ReplyCache::default();
            self.models = ReplyCache::default();
            self.cores = ReplyCache::default();
        }
    }

    /// Questions asked since the last call.
    pub fn take_counts(&mut self) -> QuestionCounts {
        std::mem::take(&mut self.counts)
    }

    /// The first failure of ours since the last call: whoever drives engines ends with it.
    pub fn take_failure(&mut self) -> Result<(), CampaignError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn count<T>(&mut self, reply: &Reply<T>) {
        self.counts.asked += 1;
        match reply {
            Reply::Answer(_) => self.counts.answered += 1,
            Reply::TimedOut => self.counts.timed_out += 1,
            Reply::Nothing => {}
        }
    }
}

/// Who answers during a chain.
pub struct Questions<'a> {
    pub targets: &'a [Target],
    pub runner: &'a mut dyn Runner,
    pub cache: &'a mut AnswerCache,
}

impl Questions<'_> {
    fn run(&mut self, solver: usize, text: &str, request: &RunRequest, wall: Duration) -> Option<Run> {
        if self.cache.failure.is_some() {
            return None;
        }
        let wall = match self.cache.until {
            None => wall,
            Some(end) => Some(end.saturating_duration_since(Instant::now()).min(wall))
                .filter(|wall| !wall.is_zero())?,
        };
        let target = self.targets.get(solver)?;
        let configuration = Arc::new(Configuration {
            id: PartyId(solver as u32),
            solver: target.solver.clone(),
            request: request.clone(),
        });
        match self.runner.run_within(&configuration, text.as_bytes(), Purpose::Question, Some(wall)) {
            Ok(run) => Some(run),
            Err(error) => {
                self.cache.failure = Some(CampaignError::of_run(&target.name, error));
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

    /// One solver's run with a request for a model. Variants go through the solvers, then through random seeds and the
    /// configurations that its adapter has for this; `turn` is how many were heard before for the same variant.
    fn ask_for_model(
        &mut self,
        store: &Store,
        script: &Script,
        able: &[usize],
        (variant, turn): (u32, usize),
        wall: Duration,
    ) -> Option<(usize, Run)> {
        let count = able.len();
        let solver = of_variant(able, variant, turn)?;
        let request = RunRequest {
            broad: true,
            models: true,
            seed: Some(variant / count as u32).filter(|seed| *seed > 0),
            alternative: variant as usize / count,
            ..RunRequest::default()
        };
        let text = print::print(store, &with_model(script), self.release(solver));
        Some((solver, self.run(solver, &text, &request, wall)?))
    }

    /// A solver's model as text, with who printed it. One that came with `unknown` is good enough where there is no other:
    /// engines evaluate the formulas under it before they use it.
    fn printed_model(
        &mut self,
        store: &Store,
        script: &Script,
        variant: u32,
        wall: Duration,
    ) -> Reply<(usize, String)> {
        let able = self.able(store, script);
        let (mut cut, mut refuted) = (false, false);
        let mut candidate = None;
        for i in 0..able.len() {
            let Some((solver, run)) = self.ask_for_model(store, script, &able, (variant, i), wall) else {
                continue;
            };
            cut |= timed_out(&run);
            let last = run.answers.trusted().last().map(|check| &check.answer);
            refuted |= last == Some(&Answer::Unsat);
            let printed = printed_by(&run).map(|text| (solver, text));
            match (last, printed) {
                (Some(Answer::Sat), Some(model)) => return Reply::Answer(model),
                (Some(Answer::Unknown(_)), Some(model)) => _ = candidate.get_or_insert(model),
                _ => {}
            }
        }
        match candidate {
            Some(model) if !refuted => Reply::Answer(model),
            _ if cut && !refuted => Reply::TimedOut,
            _ => Reply::Nothing,
        }
    }

    fn voted_status(&mut self, store: &Store, script: &Script, wall: Duration) -> Reply<(Status, String)> {
        let mut said: Vec<(Status, String)> = Vec::new();
        let mut cut = false;
        for solver in self.able(store, script) {
            let text = print::print(store, script, self.release(solver));
            let request = RunRequest { broad: true, ..RunRequest::default() };
            let Some(run) = self.run(solver, &text, &request, wall) else { continue };
            cut |= timed_out(&run);
            let status = match run.answers.trusted().last().map(|check| &check.answer) {
                Some(Answer::Sat) => Status::Sat,
                Some(Answer::Unsat) => Status::Unsat,
                _ => continue,
            };
            said.push((status, self.targets[solver].name.clone()));
        }
        match said.as_slice() {
            [(first, _), rest @ ..] if !rest.is_empty() && rest.iter().all(|(status, _)| status == first) => {
                let names: Vec<&str> = said.iter().map(|(_, name)| name.as_str()).collect();
                Reply::Answer((*first, format!("{} agree", names.join(" and "))))
            }
            _ if cut => Reply::TimedOut,
            _ => Reply::Nothing,
        }
    }

    fn core_of_two(&mut self, store: &Store, script: &Script, wall: Duration) -> Reply<Vec<usize>> {
        let able = self.able(store, script);
        let mut cut = false;
        let mut core = None;
        for solver in able.iter().rev().copied() {
            let text = named(store, script, None, self.release(solver));
            let request = RunRequest { broad: true, cores: true, ..RunRequest::default() };
            let Some(run) = self.run(solver, &text, &request, wall) else { continue };
            cut |= timed_out(&run);
            core = numbers_in_core(&run);
            if core.is_some() {
                break;
            }
        }
        let mut votes = 0;
        if let Some(core) = &core {
            for solver in able {
                let text = named(store, script, Some(core), self.release(solver));
                let request = RunRequest { broad: true, ..RunRequest::default() };
                let Some(run) = self.run(solver, &text, &request, wall) else { continue };
                cut |= timed_out(&run);
                let last = run.answers.trusted().last();
                votes += usize::from(last.is_some_and(|check| check.answer == Answer::Unsat));
            }
        }
        match core {
            Some(core) if votes >= 2 => Reply::Answer(core),
            _ if cut => Reply::TimedOut,
            _ => Reply::Nothing,
        }
    }
}

/// The solver that a variant begins with, or the one `turn` places after it: the last one given first.
fn of_variant(able: &[usize], variant: u32, turn: usize) -> Option<usize> {
    let count = able.len();
    let place = (count * 2).checked_sub(1 + turn + variant as usize % count.max(1))?;
    able.get(place % count.max(1)).copied()
}

/// The numbers of [`named`] assertions in the core that a run printed.
fn numbers_in_core(run: &Run) -> Option<Vec<usize>> {
    let names = &run.answers.cores.last()?.names;
    names.iter().map(|name| name.strip_prefix("osprey.a")?.parse().ok()).collect()
}

/// The last model that a run printed.
fn printed_by(run: &Run) -> Option<String> {
    let part = run.answers.models.last()?;
    Some(String::from_utf8_lossy(&run.outcome.stdout[part.range.clone()]).into_owned())
}

fn timed_out(run: &Run) -> bool {
    run.answers.class == RunClass::Timeout
}

fn question(store: &Store, script: &Script) -> u64 {
    hash::hash(print::print(store, script, Release::STANDARD).as_bytes())
}

impl Ask for Questions<'_> {
    /// All solvers are under test; the last one given is the reference by custom, so it is asked first. Variants go
    /// through the solvers, then through random seeds.
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model> {
        self.cache.make_room();
        let key = (question(store, script), variant);
        let known = self.cache.models.recall(&key);
        let found = if let Some(known) = known {
            self.cache.counts.remembered += 1;
            known
        } else {
            let wall = self.cache.models.patience(&key);
            let reply = self.printed_model(store, script, variant, wall);
            self.cache.count(&reply);
            self.cache.models.remember(key, reply)
        };
        let (solver, text) = found?;
        let read = eval::model_text::read_model(store, script, text.as_bytes(), self.release(solver)).ok()?;
        Some(read.model)
    }

    /// Nothing is remembered: who asks so much does not ask the same twice.
    fn attempt(&mut self, store: &mut Store, script: &Script, variant: u32) -> Attempt {
        let able = self.able(store, script);
        let Some((solver, run)) = self.ask_for_model(store, script, &able, (variant, 0), QUICK) else {
            return Attempt::Undecided;
        };
        let answer = run.answers.trusted().last().map(|check| check.answer.clone());
        let reply = match (&answer, printed_by(&run)) {
            (Some(Answer::Sat), Some(text)) => Reply::Answer(text),
            (Some(Answer::Unknown(_)), Some(text)) if !self.cache.only_sat => Reply::Answer(text),
            _ if timed_out(&run) => Reply::TimedOut,
            _ => Reply::Nothing,
        };
        self.cache.count(&reply);
        let read = |text: &str, store: &mut Store| {
            eval::model_text::read_model(store, script, text.as_bytes(), self.release(solver)).ok()
        };
        match reply {
            Reply::Answer(text) => {
                let known = if answer == Some(Answer::Sat) { Attempt::Model } else { Attempt::Candidate };
                read(&text, store).map_or(Attempt::Undecided, |read| known(read.model))
            }
            Reply::Nothing if answer == Some(Answer::Unsat) => Attempt::Refuted,
            Reply::Nothing if matches!(run.answers.class, RunClass::Crash(_)) => Attempt::Crashed,
            Reply::Nothing | Reply::TimedOut => Attempt::Undecided,
        }
    }

    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)> {
        self.cache.make_room();
        let key = question(store, script);
        if let Some(known) = self.cache.statuses.recall(&key) {
            self.cache.counts.remembered += 1;
            return known;
        }
        let wall = self.cache.statuses.patience(&key);
        let reply = self.voted_status(store, script, wall);
        self.cache.count(&reply);
        self.cache.statuses.remember(key, reply)
    }

    fn core(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Vec<usize>> {
        let able = self.able(store, script);
        let solver = of_variant(&able, variant, 0)?;
        let text = named(store, script, None, self.release(solver));
        let request = RunRequest { broad: true, cores: true, ..RunRequest::default() };
        let run = self.run(solver, &text, &request, QUICK)?;
        let core = numbers_in_core(&run);
        let reply = match &core {
            Some(_) => Reply::Answer(()),
            None if timed_out(&run) => Reply::TimedOut,
            None => Reply::Nothing,
        };
        self.cache.count(&reply);
        core
    }

    fn confirmed_core(&mut self, store: &Store, script: &Script) -> Option<Vec<usize>> {
        if script.is_incremental() {
            return None;
        }
        self.cache.make_room();
        let key = question(store, script);
        if let Some(known) = self.cache.cores.recall(&key) {
            self.cache.counts.remembered += 1;
            return known;
        }
        let wall = self.cache.cores.patience(&key);
        let reply = self.core_of_two(store, script, wall);
        self.cache.count(&reply);
        self.cache.cores.remember(key, reply)
    }
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

#[cfg(test)]
mod tests {
    use engines::Ask;
    use smtlib::{Mode, parse};
    use testkit::{Scripted, made_up};

    use super::*;

    #[test]
    fn nobody_waits_for_an_answer_when_the_time_is_up() {
        let mut store = Store::new();
        let text = b"(set-logic QF_LIA)(declare-const x Int)(assert (> x 3))(check-sat)";
        let script = parse(&mut store, text, Mode::Strict).expect("a script").script;
        let targets = Target::numbered([made_up("z3@4.8.7")]);
        let model = "sat\n(model (define-fun x () Int 5))\n";
        let now = Instant::now();
        let soon = now + FIRST / 2;
        for (end, runs) in [(None, 1), (Some(soon), 1), (Some(now), 0)] {
            let mut solvers = Scripted::new(&["z3@4.8.7"], move |_, _| model.into());
            let mut cache = AnswerCache::until(end);
            let mut questions = Questions { targets: &targets, runner: &mut solvers, cache: &mut cache };
            assert_eq!(questions.model(&mut store, &script, 0).is_some(), runs == 1);
            let asked = solvers.asked();
            assert_eq!(asked.len(), runs);
            let most = if end.is_some() { FIRST / 2 } else { FIRST };
            assert!(asked.iter().all(|run| run.wall <= Some(most)), "{asked:?}");
        }
    }

    #[test]
    fn an_attempt_hears_one_solver_for_a_moment() {
        let mut store = Store::new();
        let text = b"(set-logic QF_LIA)(declare-const x Int)(assert (> x 3))(check-sat)";
        let script = parse(&mut store, text, Mode::Strict).expect("a script").script;
        let names = ["z3@4.8.7", "z3@5.4.0"];
        let targets = Target::numbered(names.map(made_up));
        let said = [
            ("sat\n((define-fun x () Int 5))\n", "model"),
            ("unsat\n", "refuted"),
            ("unknown\n", "undecided"),
            ("unknown\n((define-fun x () Int 5))\n", "candidate"),
        ];
        let strict = ("unknown\n((define-fun x () Int 5))\n", "undecided", true);
        for (output, expected, only_sat) in
            said.map(|(output, expected)| (output, expected, false)).into_iter().chain([strict])
        {
            let mut solvers = Scripted::new(&names, move |_, _| output.into());
            let mut cache = AnswerCache::default().only_sat(only_sat);
            let mut questions = Questions { targets: &targets, runner: &mut solvers, cache: &mut cache };
            let found = match questions.attempt(&mut store, &script, 1) {
                Attempt::Model(_) => "model",
                Attempt::Candidate(_) => "candidate",
                Attempt::Refuted => "refuted",
                Attempt::Undecided => "undecided",
                Attempt::Crashed => "crashed",
            };
            assert_eq!(found, expected);
            let asked = solvers.asked();
            assert_eq!(asked.len(), 1, "no other solver has a say");
            assert!(asked.iter().all(|run| run.wall == Some(QUICK)), "{asked:?}");
        }
    }

    #[test]
    fn the_core_of_one_solver_is_told_by_the_numbers_of_assertions() {
        let mut store = Store::new();
        let text = b"(set-logic QF_LIA)(declare-const x Int)(assert (> x 3))(assert (> x 1))(assert (< x 0))(check-sat)";
        let script = parse(&mut store, text, Mode::Strict).expect("a script").script;
        let targets = Target::numbered([made_up("z3@5.4.0")]);
        for (output, core) in
            [("unsat\n(osprey.a0 osprey.a2)\n", Some(vec![0, 2])), ("sat\n(error \"no core\")\n", None)]
        {
            let mut solvers = Scripted::new(&["z3@5.4.0"], move |_, text| {
                assert!(text.contains("(assert (! (< x 0) :named osprey.a2))"), "{text}");
                output.into()
            });
            let mut cache = AnswerCache::default();
            let mut questions = Questions { targets: &targets, runner: &mut solvers, cache: &mut cache };
            assert_eq!(questions.core(&mut store, &script, 3), core);
            assert_eq!(solvers.asked().len(), 1);
        }
    }

    #[test]
    fn a_definite_answer_is_remembered_and_a_time_out_only_for_a_while() {
        let mut answers: ReplyCache<u64, &str> = ReplyCache::default();
        assert_eq!(answers.recall(&1), None);
        assert_eq!(answers.remember(1, Reply::Answer("sat")), Some("sat"));
        assert_eq!(answers.remember(2, Reply::Nothing), None);
        for _ in 0..100 {
            assert_eq!(answers.recall(&1), Some(Some("sat")));
            assert_eq!(answers.recall(&2), Some(None));
        }
        let mut asked = Vec::new();
        answers.remember(3, Reply::TimedOut);
        for time in 0..20 {
            if answers.recall(&3).is_none() {
                asked.push(time);
                answers.remember(3, Reply::TimedOut);
            }
        }
        assert_eq!(asked, [2, 7, 16]);
        assert_eq!(
            (answers.patience(&1), answers.patience(&3)),
            (FIRST, FIRST * 16),
            "each time-out doubles it"
        );
        answers.remember(3, Reply::Answer("unsat"));
        assert_eq!(answers.recall(&3), Some(Some("unsat")));
    }
}
