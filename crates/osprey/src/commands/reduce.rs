//! `osprey reduce`: a smaller script with the same bug.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use campaign::Finding;
use campaign::findings::Releases;
use campaign::triage::{self, CodeTracer, Extent, ReductionRules};
use clap::Args;
use eval::Expectation;
use indicatif::{ProgressBar, ProgressStyle};
use oracle::{Asking, Judge, Subject, Verdict};
use reduce::blame::BlameBudget;
use reduce::driver::Best;
use reduce::predicate::{Bug, Command, Output, Predicate, proof};
use reduce::{Effort, Input, Progress, Reduced, Watcher};
use serde::Serialize;
use smtlib::{Mode, Store};
use solver::Solver;
use solver::coverage::Code;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, Run, RunRules, Runner as _, SolverRunners};

use crate::exit::Exit;
use crate::{duration, inputs, interrupt, limits, output, solver_choice};

/// Make a script, or a finding's script and options, as small as possible while the same bug stays
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey reduce osprey-out/bugs/refutation-soundness-z3-4.8.7-0123456789ab
  osprey reduce bug.smt2 -o small.smt2 -s z3@4.8.7 -s cvc5
  osprey reduce bug.smt2 -o small.smt2 -s \"z3@4.8.7 smt.arith.solver=2\" -s z3@5.4.0 --time 60
  osprey reduce bug.smt2 -o small.smt2 -- z3 -T:5                        exit code and output must stay
  osprey reduce bug.smt2 -o small.smt2 --match-err 'ASSERTION' -- ./z3   the rest of the output may change
  osprey reduce bug.smt2 -o small.smt2 -- ./is-interesting.sh            the script gets the file as its argument

For a finding and with -s the bug's identity is kept: kind, solver, answer, crash; a script that is satisfiable by
a model stays satisfiable by a model that osprey has checked. OUT holds the best so far at any time, so Ctrl-C or a
kill loses nothing. The input is never changed.

Exit code 0 if the result is in OUT (or in the finding's folder), 2 if there is nothing to reduce: the input does
not show a bug, the predicate is flaky or always true; 4 if a solver cannot be run, 5 if OUT cannot be written.")]
pub struct Reduce {
    /// A script, or a finding's folder
    #[arg(value_name = "FILE|FINDING")]
    input: PathBuf,

    /// Where the smaller script goes; for a finding also into its folder
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,

    /// The solvers whose bug it is: found out as by `osprey check`
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// Candidates at the same time
    #[arg(short, long, value_name = "N", default_value_t = cores(), value_parser = limits::jobs())]
    jobs: usize,

    /// Time for all of it; the best so far is kept
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// Time of one run on the input; smaller scripts get twice what the input took, and a bit
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one run, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// Ask the installed releases of the solver which of them have the bug
    #[arg(long)]
    bisect: bool,

    /// With a command: standard output must contain this, nothing else of the output counts
    #[arg(long, value_name = "TEXT")]
    match_out: Option<String>,

    /// With a command: standard error must contain this, nothing else of the output counts
    #[arg(long, value_name = "TEXT")]
    match_err: Option<String>,

    /// With a command: only its exit code counts
    #[arg(long)]
    ignore_output: bool,

    /// With -s: where the model goes that satisfies a wrongly refuted script
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// A command that gets the candidate as its last argument; interesting while it does what it does on the input
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What was reduced and to what.
#[derive(Serialize)]
struct Report {
    input: PathBuf,
    output: PathBuf,
    before: reduce::Size,
    after: reduce::Size,
    candidates: u64,
    seconds: f64,
    /// Nothing smaller was left to try.
    finished: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The solver with what is left of its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// A model satisfies the result, checked by osprey.
    witness: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    releases: Option<Releases>,
    passes: Vec<reduce::driver::PassRecord>,
}

impl Reduce {
    pub fn run(self) -> Result<Exit> {
        let is_finding =
            self.input.is_dir() || self.input.file_name().is_some_and(|name| name == "finding.json");
        let output_rules = self.match_out.is_some() || self.match_err.is_some() || self.ignore_output;
        if output_rules && self.command.is_empty() {
            bail!("--match-out, --match-err and --ignore-output are about a command: give one after --");
        }
        interrupt::catch();
        let report = match (is_finding, self.solvers.is_empty(), self.command.is_empty()) {
            (true, true, true) => self.finding()?,
            (true, ..) => bail!("a finding knows its solvers: give neither -s nor a command"),
            (false, true, true) => {
                bail!("what is to stay? give the solvers with -s, or a command after --")
            }
            (false, false, false) => bail!("give either solvers (-s) or a command (after --), not both"),
            (false, false, true) => self.with_solvers()?,
            (false, true, false) => self.with_command()?,
        };
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&shown(&report))?;
        }
        Ok(Exit::Clean)
    }

    fn effort(&self) -> Effort {
        Effort { jobs: self.jobs, time: self.time }
    }

    fn finding(&self) -> Result<Report> {
        let (finding, folder) = Finding::read(&self.input)?;
        if let Some(out) = &self.out {
            refuse_same(&folder.join("input.smt2"), out)?;
        }
        let solvers = solver_choice::of_finding(&finding, None)?;
        let view = View::new(self.out.clone(), self.json);
        let rules = ReductionRules {
            effort: self.effort(),
            releases: self.bisect.then_some(Extent::All),
            blame: Some(BlameBudget::default()),
            tracer: self.tracer(&finding, &solvers)?,
            examined: Arc::default(),
        };
        let done = triage::reduce_folder(&folder, finding, &solvers, self.rules(), &rules, &view)?;
        view.finish();
        Ok(report(
            &folder.join("input.smt2"),
            &folder.join("reduced.smt2"),
            &done.reduced,
            Some(done.finding.kind.to_string()),
            done.finding.releases.clone(),
        ))
    }

    /// Who tells what of the accused only the bug reaches, where its code can be watched.
    fn tracer(&self, finding: &Finding, solvers: &[Solver]) -> Result<Option<Arc<CodeTracer>>> {
        let home = solver_choice::all(&[])?;
        let Some(accused) = solvers.iter().find(|solver| solver.name() == finding.solver) else {
            return Ok(None);
        };
        let Ok(code) = Code::of(accused, home.home()) else { return Ok(None) };
        let code = (accused.name(), Arc::new(code));
        let runners = SolverRunners::new(Vec::new(), self.rules()).watching([(code.0.clone(), &*code.1)]);
        Ok(Some(Arc::new(CodeTracer::new(Arc::new(runners), [code]))))
    }

    fn with_solvers(&self) -> Result<Report> {
        let out = self.target()?;
        let text = self.text()?;
        let solvers = solver_choice::resolve(&solver_choice::all(&[])?, &self.solvers)?;
        let everybody = Configuration::numbered(solvers).into_iter().map(Arc::new).collect();
        let runners =
            SolverRunners::new(everybody, self.rules()).with_third_opinions(solver_choice::third_opinions()?);
        let mut runner = runners.start()?;
        let mut runs = oracle::opinions::first_runs(&mut runner, &text)?;
        let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, &text, Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let notes = parsed.as_ref().map(|parsed| parsed.notes.as_slice()).unwrap_or_default();
        let mut subject = Subject::new(&mut store, script, notes);
        subject.ask_for_models = true;
        let judge = Judge::thorough();
        judge.follow_up(&mut subject, &mut runs, &mut asking)?;
        let verdicts = judge.try_case(&mut subject, &runs, &mut asking)?;
        let verdict = self.verdict(&verdicts)?;
        let witness = match script {
            Some(script) => proof(&mut store, script, &runs, verdict, &mut asking)?,
            None => None,
        };
        let others = runs.iter().map(|run| Arc::clone(&run.configuration));
        let mut bug = Bug::new(verdict, &runs, Arc::new(runners)).with_references(others);
        if witness.is_some() {
            bug = bug.with_expectation(Expectation::Witness);
        }
        output::say(&format!("{}: {}", verdict.kind, verdict.reason));
        let input = Input { text: &text, witness: witness.as_deref().map(str::as_bytes) };
        let mut reduced = self.reduce(input, &bug, &out)?;
        if reduced.best.witness.is_none() {
            reduced.best.witness = late_proof(&reduced.best, &runs, &mut asking)?;
        }
        for note in runner.take_notes() {
            output::say(&format!("note: {note}"));
        }
        if let (Some(path), Some(model)) = (&self.witness, &reduced.best.witness) {
            replace(path, model).map_err(reduce::ReduceError::Disk)?;
        }
        let releases = match self.bisect {
            true => {
                let view = View::new(None, self.json);
                let releases = triage::compare(&bug, &reduced.best, verdict.kind, Extent::All, &view)?.0;
                view.finish();
                releases
            }
            false => None,
        };
        Ok(report(&self.input, &out, &reduced, Some(verdict.kind.to_string()), releases))
    }

    fn with_command(&self) -> Result<Report> {
        if self.bisect {
            bail!("--bisect needs a solver that osprey knows: -s, or a finding");
        }
        let out = self.target()?;
        let text = self.text()?;
        let rules = Output {
            ignore: self.ignore_output,
            stdout: self.match_out.clone(),
            stderr: self.match_err.clone(),
        };
        let here = std::env::current_dir().context("the current directory cannot be found out")?;
        let run = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let command = Command::new(&self.command, &here, rules, run, &text)?;
        let reduced = self.reduce(Input { text: &text, witness: None }, &command, &out)?;
        Ok(report(&self.input, &out, &reduced, None, None))
    }

    fn reduce(&self, input: Input, predicate: &dyn Predicate, out: &Path) -> Result<Reduced> {
        let view = View::new(Some(out.to_owned()), self.json);
        let reduced = reduce::reduce(input, predicate, &self.effort(), &view)?;
        view.finish();
        Ok(reduced)
    }

    /// The gravest confirmed misbehaviour.
    fn verdict<'v>(&self, verdicts: &'v [Verdict]) -> Result<&'v Verdict> {
        let found = verdicts.iter().find(|verdict| verdict.is_finding());
        let Some(found) = found else {
            let said: Vec<&str> = verdicts.iter().map(|verdict| verdict.reason.as_str()).collect();
            let said = if said.is_empty() { "nothing is wrong".to_owned() } else { said.join("; ") };
            bail!(
                "'{}' shows no bug of these solvers ({said}); `osprey check` says more, and a command after -- can \
                 name something else to keep",
                self.input.display()
            );
        };
        if found.is_flaky() {
            bail!(
                "the bug does not show in every run ({}): fix the solver's random seed first",
                found.reason
            );
        }
        Ok(found)
    }

    fn rules(&self) -> RunRules {
        RunRules::for_reduction(self.timeout, self.memory << 20)
    }

    fn text(&self) -> Result<Vec<u8>> {
        Ok(inputs::read(&self.input)?)
    }

    fn target(&self) -> Result<PathBuf> {
        let Some(out) = &self.out else { bail!("give the file for the result with -o") };
        refuse_same(&self.input, out)?;
        Ok(out.clone())
    }
}

/// A model that proves a refuted result satisfiable, although there was none for the input, which may have been a mere
/// disagreement: what stood in the way of the model may be gone.
fn late_proof(best: &Best, runs: &[Run], asking: &mut Asking) -> Result<Option<String>> {
    let mut store = Store::new();
    let text = best.text.as_bytes();
    let Ok(parsed) = smtlib::parse(&mut store, text, Mode::Tolerant) else { return Ok(None) };
    let again = runs.iter().map(|run| asking.run(&run.configuration, text));
    let again = again.collect::<Result<Vec<_>, _>>()?;
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    subject.ask_for_models = true;
    let verdicts = Judge::thorough().judge(&mut subject, &again, asking)?;
    drop(subject);
    for verdict in &verdicts {
        if let Some(found) = proof(&mut store, &parsed.script, &again, verdict, asking)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The input is never overwritten.
fn refuse_same(input: &Path, out: &Path) -> Result<()> {
    if let (Ok(input), Ok(out)) = (input.canonicalize(), out.canonicalize())
        && input == out
    {
        bail!("-o names the input itself; the input is never overwritten");
    }
    Ok(())
}

fn report(
    input: &Path,
    output: &Path,
    reduced: &Reduced,
    kind: Option<String>,
    releases: Option<Releases>,
) -> Report {
    let best = &reduced.best;
    let file = output.display().to_string();
    Report {
        input: input.to_owned(),
        output: output.to_owned(),
        before: reduced.before,
        after: best.size,
        candidates: reduced.candidates,
        seconds: reduced.elapsed.as_secs_f64(),
        finished: reduced.finished,
        kind,
        command: best.configuration.as_ref().map(|one| one.command_line(&file, Some(best.text.as_bytes()))),
        witness: best.witness.is_some(),
        releases,
        passes: reduced.passes.clone(),
    }
}

fn shown(report: &Report) -> String {
    let mut text = format!(
        "{}: {} -> {} expressions, {} -> {} bytes, {} candidates in {:.1} s{}\n",
        report.output.display(),
        report.before.nodes,
        report.after.nodes,
        report.before.bytes,
        report.after.bytes,
        report.candidates,
        report.seconds,
        if report.finished { "" } else { " (ended before everything was tried)" },
    );
    if let Some(command) = &report.command {
        text += &format!("  {command}\n");
    }
    if let Some(releases) = &report.releases {
        text += &format!("  affected: {}\n", releases.affected.join(", "));
        text += &format!("  not affected: {}\n", releases.clean.join(", "));
        if !releases.unable.is_empty() {
            text += &format!("  cannot read it: {}\n", releases.unable.join(", "));
        }
    }
    text
}

/// A bar on the terminal, and the best so far on disk.
struct View {
    bar: ProgressBar,
    out: Option<PathBuf>,
}

impl View {
    fn new(out: Option<PathBuf>, quiet: bool) -> View {
        let style = ProgressStyle::with_template("{spinner} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.set_style(style);
        View { bar, out }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for View {
    fn progress(&self, progress: &Progress) {
        let seconds = progress.elapsed.as_secs_f64();
        self.bar.set_message(format!(
            "{} of {} expressions, {} candidates ({:.0}/s), {}",
            progress.now.nodes,
            progress.before.nodes,
            progress.candidates,
            progress.candidates as f64 / seconds.max(0.001),
            progress.pass
        ));
        self.bar.tick();
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| output::say(&format!("note: {text}")));
    }

    fn best(&self, best: &Best) -> io::Result<()> {
        match &self.out {
            Some(out) => replace(out, &best.text),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}

/// The file is the old one or the new one, never half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|error| io::Error::new(error.kind(), format!("'{}': {error}", path.display())))
}
