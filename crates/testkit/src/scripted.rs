//! Solvers that answer as a test tells them, without processes: for tests of what is done with answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use solver::fast::ExecMode;
use solver::install::{How, Installed, Source};
use solver::launch::{Exit, LaunchError, Outcome};
use solver::run::{Accounts, Configuration, PartyId, Purpose, Run, RunError, Runner, Runners};
use solver::stack::{Frame, Stack};
use solver::{Adapters, Solver};

/// A release that is not on this machine: `z3@4.8.7`, by the name of a built-in adapter and a made-up number. Words
/// after a space are the user's options.
pub fn made_up(spec: &str) -> Solver {
    let mut words = spec.split_whitespace();
    let release = words.next().expect("a name");
    let (name, version) =
        release.split_once('@').map_or((release, None), |(name, version)| (name, Some(version)));
    let adapters = Adapters::built_in();
    let adapter = adapters.get(name).unwrap_or_else(|| panic!("no adapter is called {name}"));
    let installed = Installed {
        name: name.to_owned(),
        version: version.map(|version| version.parse().expect("a version")),
        how: How::Executable { path: format!("/nowhere/{name}").into() },
        env: Vec::new(),
        origin: Source::Installed,
        sha256: None,
    };
    let options = words.map(str::to_owned).collect();
    Solver::new(installed, Arc::new(adapter.clone()), adapters.common_messages(), options)
}

/// What a scripted solver does.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    pub stdout: String,
    pub stderr: String,
    pub exit: Exit,
    pub timed_out: bool,
    /// CPU time, and time on the clock.
    pub cpu: Duration,
    /// It cannot be started at all.
    pub missing: bool,
    /// What is on its stack when it dies, for those who look.
    pub stack: Option<Stack>,
}

impl ScriptedAnswer {
    /// It prints this and ends well, within a millisecond.
    pub fn says(stdout: impl Into<String>) -> ScriptedAnswer {
        ScriptedAnswer {
            stdout: stdout.into(),
            stderr: String::new(),
            exit: Exit::Exited(0),
            timed_out: false,
            cpu: Duration::from_millis(1),
            missing: false,
            stack: None,
        }
    }

    /// It is killed by this signal.
    pub fn dies_of(signal: i32) -> ScriptedAnswer {
        ScriptedAnswer { exit: Exit::Signaled(signal), ..ScriptedAnswer::says("") }
    }

    /// The same with these functions on its stack, the innermost first.
    pub fn dies_in(signal: i32, functions: &[&str]) -> ScriptedAnswer {
        let frame = |function: &&str| Frame {
            module: "solver".to_owned(),
            function: (*function).to_owned(),
            handler: false,
        };
        let stack = Stack { overflow: false, frames: functions.iter().map(frame).collect() };
        ScriptedAnswer { stack: Some(stack), ..ScriptedAnswer::dies_of(signal) }
    }

    /// It says nothing until it is killed at its time limit, whatever that is.
    pub fn times_out() -> ScriptedAnswer {
        const SIGKILL: i32 = 9;
        ScriptedAnswer { timed_out: true, ..ScriptedAnswer::dies_of(SIGKILL) }
    }

    /// It cannot be started.
    pub fn missing() -> ScriptedAnswer {
        ScriptedAnswer { missing: true, ..ScriptedAnswer::says("") }
    }

    #[must_use]
    pub fn with_stdout(mut self, stdout: impl Into<String>) -> ScriptedAnswer {
        self.stdout = stdout.into();
        self
    }

    #[must_use]
    pub fn with_stderr(mut self, stderr: impl Into<String>) -> ScriptedAnswer {
        self.stderr = stderr.into();
        self
    }

    #[must_use]
    pub fn with_exit(mut self, code: i32) -> ScriptedAnswer {
        self.exit = Exit::Exited(code);
        self
    }

    #[must_use]
    pub fn taking(mut self, cpu: Duration) -> ScriptedAnswer {
        self.cpu = cpu;
        self
    }
}

impl From<&str> for ScriptedAnswer {
    fn from(stdout: &str) -> ScriptedAnswer {
        ScriptedAnswer::says(stdout)
    }
}

/// A run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRun {
    pub party: PartyId,
    /// With options.
    pub name: String,
    pub script: String,
    pub purpose: Purpose,
    pub wall: Option<Duration>,
}

type Answering = dyn Fn(&Configuration, &str) -> ScriptedAnswer + Send + Sync;

/// A runner without processes, and a maker of runners that share its solvers and its record. What a solver prints goes
/// through the real reader of answers.
#[derive(Clone)]
pub struct Scripted {
    configurations: Vec<Arc<Configuration>>,
    third_opinions: Vec<Arc<Configuration>>,
    answering: Arc<Answering>,
    asked: Arc<Mutex<Vec<AskedRun>>>,
    accounts: Accounts,
}

impl Scripted {
    /// Solvers by [`made_up`] specs, numbered in their order from 0, and what they do with a script.
    pub fn new(
        specs: &[&str],
        answering: impl Fn(&Configuration, &str) -> ScriptedAnswer + Send + Sync + 'static,
    ) -> Scripted {
        let configurations = Configuration::numbered(specs.iter().map(|spec| made_up(spec)));
        Scripted::with_configurations(configurations.into_iter().map(Arc::new).collect(), answering)
    }

    /// The same for configurations of one's own.
    pub fn with_configurations(
        configurations: Vec<Arc<Configuration>>,
        answering: impl Fn(&Configuration, &str) -> ScriptedAnswer + Send + Sync + 'static,
    ) -> Scripted {
        Scripted {
            configurations,
            third_opinions: Vec::new(),
            answering: Arc::new(answering),
            asked: Arc::default(),
            accounts: Accounts::default(),
        }
    }

    /// With these solvers for third opinions, by [`made_up`] specs, the best first.
    #[must_use]
    pub fn with_third_opinions(mut self, specs: &[&str]) -> Scripted {
        let numbered = Configuration::numbered(specs.iter().map(|spec| made_up(spec)));
        self.third_opinions = numbered.into_iter().map(Arc::new).collect();
        self
    }

    /// All runs so far, of every runner made from this one.
    pub fn asked(&self) -> Vec<AskedRun> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Runner for Scripted {
    fn configurations(&self) -> &[Arc<Configuration>] {
        &self.configurations
    }

    fn third_opinions(&self) -> &[Arc<Configuration>] {
        &self.third_opinions
    }

    fn run_within(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        purpose: Purpose,
        wall: Option<Duration>,
    ) -> Result<Run, RunError> {
        let text = String::from_utf8_lossy(script).into_owned();
        let answer = (self.answering)(configuration, &text);
        let (party, name) = (configuration.id, configuration.name());
        let asked = AskedRun { party, name, script: text, purpose, wall };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        if answer.missing {
            let program = configuration.solver.name().into();
            return Err(LaunchError::NotFound { program }.into());
        }
        let outcome = Outcome {
            exit: answer.exit,
            timed_out: answer.timed_out,
            cpu_exceeded: false,
            out_of_memory: false,
            output_truncated: false,
            stdout: answer.stdout.into_bytes(),
            stderr: answer.stderr.into_bytes(),
            cpu_time: answer.cpu,
            kernel_time: Default::default(),
            server_time: Default::default(),
            wall_time: answer.cpu,
            peak_memory: 0,
            mode: ExecMode::Plain,
            fallback: None,
            stack: answer.stack.filter(|_| purpose == Purpose::Place).map(Ok),
            sites: None,
        };
        self.accounts.of_mut(purpose).record(&outcome);
        Ok(Run::new(configuration, script, outcome))
    }

    fn take_accounts(&mut self) -> Accounts {
        std::mem::take(&mut self.accounts)
    }

    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn take_launcher_cpu(&mut self) -> Duration {
        Duration::ZERO
    }
}

impl Runners for Scripted {
    fn runner(&self) -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(Scripted { accounts: Accounts::default(), ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use smtlib::Status;
    use solver::RunClass;

    use super::*;

    const SCRIPT: &[u8] = b"(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n";

    fn run(answer: ScriptedAnswer) -> Run {
        let mut scripted = Scripted::new(&["z3@4.8.7"], move |_, _| answer.clone());
        scripted.run_all(SCRIPT, Purpose::Test).expect("a run").remove(0)
    }

    #[test]
    fn what_it_is_told_to_print_is_read_like_a_solvers_output() {
        let run = run("sat\n((define-fun x () Int 4))\n".into());
        assert_eq!(run.status(0), Some(Status::Sat));
        assert!(run.model_text(0).is_some());
        assert_eq!(run.configuration.solver.name(), "z3@4.8.7");
    }

    #[test]
    fn it_crashes_and_times_out_without_a_process() {
        const SIGSEGV: i32 = 11;
        assert!(run(ScriptedAnswer::dies_of(SIGSEGV)).answers.crash().is_some());
        assert_eq!(run(ScriptedAnswer::times_out()).answers.class, RunClass::Timeout);
        let mut scripted = Scripted::new(&["z3"], |_, _| ScriptedAnswer::missing());
        assert!(scripted.run_all(SCRIPT, Purpose::Test).is_err_and(|error| error.concerns_solver()));
    }

    #[test]
    fn runners_made_from_it_share_the_record_and_count_for_themselves() {
        let scripted = Scripted::new(&["z3@4.8.7 a=1", "cvc5@1.4.2"], |_, _| "unsat".into());
        let mut first = scripted.runner().expect("a runner");
        let mut second = scripted.runner().expect("a runner");
        first.run_all(SCRIPT, Purpose::Question).expect("runs");
        second.run_all(SCRIPT, Purpose::Test).expect("runs");
        assert_eq!(first.take_accounts().question.runs, 2);
        assert_eq!(second.take_accounts().total().runs, 2);
        let asked = scripted.asked();
        assert_eq!(asked.len(), 4);
        assert_eq!((asked[0].name.as_str(), asked[0].purpose), ("z3@4.8.7 a=1", Purpose::Question));
        assert_eq!(asked[3].party, PartyId(1));
    }
}
