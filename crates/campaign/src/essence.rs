//! What a finding's script comes down to: a smaller script with the same misbehaviour, found with a small budget, whose
//! operators tell bugs apart. (Full reduction is another stage; this only serves deduplication and the reader.)

use std::sync::Arc;

use engines::Expectation;
use eval::Evaluator;
use oracle::{Configuration, Court, Rerun as _, Run, RunError, Subject, Verdict};
use rustc_hash::FxHashMap;
use smtlib::{Command, Head, Script, Store, Term, print};

use crate::executor::Executor;
use crate::inquiry::expected;

/// Candidates tried for one finding.
const CANDIDATES: usize = 120;

/// Replacements of one sub-term tried.
const CHILDREN: usize = 4;

/// A script that misbehaves, with the runs that show it.
pub struct Essence {
    pub script: Script,
    /// Runs of the accused, if there is one, and of those who speak against it.
    pub runs: Vec<Run>,
    pub verdict: Verdict,
}

/// Makes a script smaller as long as the same verdict comes out.
pub struct Reduction<'a> {
    pub court: &'a Court,
    pub executor: &'a mut Executor,
    pub evaluator: &'a mut Evaluator,
    pub expectation: &'a Expectation,
    pub models: bool,
    left: usize,
}

impl<'a> Reduction<'a> {
    pub fn new(
        court: &'a Court,
        executor: &'a mut Executor,
        evaluator: &'a mut Evaluator,
        expectation: &'a Expectation,
        models: bool,
    ) -> Reduction<'a> {
        Reduction { court, executor, evaluator, expectation, models, left: CANDIDATES }
    }

    pub fn reduce(&mut self, store: &mut Store, start: Essence) -> Result<Essence, RunError> {
        // What is unsatisfiable by construction may be satisfiable without a part.
        if self.expectation.status() == Some(smtlib::Status::Unsat) {
            return Ok(start);
        }
        let mut best = start;
        loop {
            let before = self.left;
            let smaller =
                self.without_commands(store, &mut best)? | self.with_smaller_terms(store, &mut best)?;
            if !smaller || self.left == 0 || before == self.left {
                break;
            }
        }
        let tidy = without_unused(store, &best.script);
        if tidy != best.script {
            self.left = self.left.max(1);
            self.accept(store, &mut best, tidy)?;
        }
        Ok(best)
    }

    /// Leaves out assertions and the like, the last first.
    fn without_commands(&mut self, store: &mut Store, best: &mut Essence) -> Result<bool, RunError> {
        let mut changed = false;
        let mut place = best.script.commands.len();
        while place > 0 && self.left > 0 {
            place -= 1;
            let optional = matches!(
                best.script.commands[place],
                Command::Assert(_) | Command::GetValue(_) | Command::SetOption(..) | Command::SetInfo(..)
            );
            if optional {
                let mut candidate = best.script.clone();
                candidate.commands.remove(place);
                changed |= self.accept(store, best, candidate)?;
            }
        }
        Ok(changed)
    }

    /// Replaces sub-terms by parts of themselves of the same sort, the largest first.
    fn with_smaller_terms(&mut self, store: &mut Store, best: &mut Essence) -> Result<bool, RunError> {
        let mut changed = false;
        let mut tried: FxHashMap<(Term, Term), ()> = FxHashMap::default();
        'again: while self.left > 0 {
            let roots: Vec<Term> = best.script.assertions().collect();
            let mut terms = store.subterms(&roots);
            terms.retain(|term| !store.args(*term).is_empty());
            terms.sort_by_cached_key(|term| (std::cmp::Reverse(store.tree_size(*term)), *term));
            for term in terms {
                for part in parts(store, term) {
                    if self.left == 0 {
                        break 'again;
                    }
                    if tried.insert((term, part), ()).is_some() {
                        continue;
                    }
                    let Some(candidate) = replaced(store, &best.script, term, part) else { continue };
                    if self.accept(store, best, candidate)? {
                        changed = true;
                        continue 'again;
                    }
                }
            }
            break;
        }
        Ok(changed)
    }

    /// Takes the candidate if it shows the same.
    fn accept(&mut self, store: &mut Store, best: &mut Essence, script: Script) -> Result<bool, RunError> {
        if self.left == 0 {
            return Ok(false);
        }
        if let Expectation::Sat(witness) = self.expectation {
            self.evaluator.forget();
            let holds = |term: &Term| self.evaluator.holds(store, witness.model(), *term) == Ok(true);
            if !eval::model::checked_terms(&script).iter().all(holds) {
                return Ok(false);
            }
        }
        self.left -= 1;
        let mut runs = Vec::with_capacity(best.runs.len());
        for run in &best.runs {
            let text = text(store, &script, &run.configuration, self.models);
            runs.push(self.executor.run(&run.configuration, text.as_bytes())?);
        }
        let mut subject = Subject::new(store, Some(&script), &[]);
        subject.expected = expected(self.expectation);
        let verdicts = self.court.judge(&mut subject, &runs, self.executor)?;
        let same =
            verdicts.into_iter().find(|verdict| verdict.same_as(&best.verdict) && verdict.is_finding());
        let Some(verdict) = same else { return Ok(false) };
        *best = Essence { script, runs, verdict };
        Ok(true)
    }
}

/// The text a configuration gets.
pub fn text(store: &Store, script: &Script, configuration: &Arc<Configuration>, models: bool) -> String {
    if models {
        print::print(store, &crate::ask::asking_for_model(script), configuration.release())
    } else {
        print::print(store, script, configuration.release())
    }
}

/// Parts of a term of its own sort, without variables bound on the way: arguments first, then theirs.
fn parts(store: &Store, term: Term) -> Vec<Term> {
    let sort = store.sort_of(term);
    let mut found = Vec::new();
    let binds = |term: Term| matches!(store.head(term), Head::Bind(..) | Head::Match(_));
    let mut level: Vec<Term> = vec![term];
    for _ in 0..2 {
        let mut next = Vec::new();
        for parent in level {
            let bound = binds(parent);
            for arg in store.args(parent) {
                let open = bound && store.mentions_vars(*arg);
                if store.sort_of(*arg) == sort && !open && !found.contains(arg) {
                    found.push(*arg);
                }
                if !bound {
                    next.push(*arg);
                }
            }
        }
        level = next;
    }
    found.truncate(CHILDREN);
    found
}

fn replaced(store: &mut Store, script: &Script, term: Term, part: Term) -> Option<Script> {
    let map: FxHashMap<Term, Term> = [(term, part)].into_iter().collect();
    let mut candidate = script.clone();
    for command in &mut candidate.commands {
        if let Command::Assert(root) = command {
            *root = store.substitute(*root, &map).ok()?;
        }
    }
    (candidate != *script).then_some(candidate)
}

/// Without declarations and definitions that no term uses.
fn without_unused(store: &Store, script: &Script) -> Script {
    let mut script = script.clone();
    loop {
        let used: Vec<smtlib::Fun> = store
            .subterms(&script.terms(store))
            .into_iter()
            .filter_map(|term| match store.head(term) {
                Head::Fun(fun) => Some(fun),
                _ => None,
            })
            .collect();
        let before = script.commands.len();
        script.commands.retain(|command| match command {
            Command::DeclareFun(fun)
            | Command::DeclareConst(fun)
            | Command::DefineFun(fun)
            | Command::DefineConst(fun) => used.contains(fun),
            _ => true,
        });
        if script.commands.len() == before {
            return script;
        }
    }
}
