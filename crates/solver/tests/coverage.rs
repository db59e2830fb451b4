//! What runs reach of a solver's code: right, without a trace in what solvers say, and each site told once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use solver::coverage::{Code, CoverageError, Explorer, NamedFunctions, SiteSet, Trace};
use solver::fast::ExecMode;
use solver::install::How;
use solver::limits::Limits;
use solver::{Home, Solver};

const SCRIPTS: [&str; 6] = [
    "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n",
    "(set-logic QF_BV)\n(declare-fun v () (_ BitVec 8))\n(assert (= (bvmul v #x03) #x09))\n(check-sat)\n",
    "(set-logic QF_BV)\n(declare-fun v () (_ BitVec 8))\n(assert (bvult v v))\n(check-sat)\n(get-model)\n",
    "(set-logic QF_UF)\n(declare-sort S 0)\n(declare-fun a () S)\n(declare-fun f (S) S)\n\
     (assert (not (= (f a) (f (f a)))))\n(check-sat)\n",
    "(set-logic QF_BV)\n(assert (undeclared))\n(check-sat)\n",
    "(set-logic QF_BV)\n(declare-fun p () Bool)\n(push 1)\n(assert p)\n(check-sat)\n(pop 1)\n(check-sat)\n",
];

fn limits() -> Limits {
    Limits::wall(Duration::from_secs(60))
}

/// Solvers of all ways of starting: prefix snapshots, fork servers, the library host, static programs, Python modules.
const SOLVERS: [&str; 5] = ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2", "yices@2.6.5", "bitwuzla@0.9.1"];

#[test]
fn a_watched_solver_says_what_it_says_alone_and_tells_every_site_once() {
    let home = tempfile::tempdir().expect("a folder");
    for spec in SOLVERS {
        let Some(solver) = testkit::get(spec) else { continue };
        let code = Code::of(&solver, &Home::at(home.path())).expect("code");
        assert!(code.functions() > 1000 && code.blocks() > 20_000, "{spec}");
        assert!(code.covered_text() > 0.9, "{spec}: {}", code.covered_text());
        let mut modes: Vec<ExecMode> = solver.fast_modes().collect();
        modes.push(ExecMode::Plain);
        for mode in modes {
            let mut watched =
                Explorer::new(&solver, &code, Trace::New, limits()).expect("a launcher").starting(mode);
            let mut blind = Explorer::blind(&solver, limits()).expect("a launcher").starting(mode);
            let mut all = SiteSet::default();
            let mut told = 0;
            for round in 0..2 {
                for script in SCRIPTS {
                    let (seen, sites) = watched.run(script.as_bytes()).expect("a run");
                    let (alone, none) = blind.run(script.as_bytes()).expect("a run");
                    let said = |outcome: &solver::launch::Outcome| {
                        (outcome.exit, outcome.stdout.clone(), outcome.stderr.clone())
                    };
                    assert_eq!(said(&seen), said(&alone), "{spec} by {mode}: {script}");
                    assert!(none.is_empty());
                    told += sites.len();
                    all.extend(sites.iter().copied());
                    assert_eq!(told, all.len(), "{spec} by {mode}, round {round}: a site was told twice");
                }
            }
            assert!(all.len() > 2000, "{spec} by {mode}: {}", all.len());
        }
    }
}

#[test]
fn a_trace_tells_all_that_one_run_reaches_however_often() {
    let home = tempfile::tempdir().expect("a folder");
    for spec in SOLVERS {
        let Some(solver) = testkit::get(spec) else { continue };
        let code = Code::of(&solver, &Home::at(home.path())).expect("code");
        for trace in [Trace::Functions, Trace::Blocks] {
            let mut explorer = Explorer::new(&solver, &code, trace, limits()).expect("a launcher");
            let mut traced = |script: &str| explorer.run(script.as_bytes()).expect("a run").1;
            let [first, other, again] = [SCRIPTS[1], SCRIPTS[3], SCRIPTS[1]].map(&mut traced);
            let sets = [&first, &again].map(|sites| sites.iter().copied().collect::<SiteSet>());
            // Addresses decide the order of some tables, and so a block or two.
            let differ = sets[0].iter().filter(|site| !sets[1].contains(*site)).count();
            assert!(differ * 50 < first.len(), "{spec}: {differ} of {}", first.len());
            assert!(first.len() > 100 && other != first, "{spec}: {} sites", first.len());
        }
    }
}

#[test]
fn an_approximate_trace_takes_for_granted_what_half_of_the_runs_reach_and_tells_the_rest() {
    let home = tempfile::tempdir().expect("a folder");
    for spec in ["z3@4.8.7", "cvc5@1.4.2", "yices@2.6.5"] {
        let Some(solver) = testkit::get(spec) else { continue };
        let code = Code::of(&solver, &Home::at(home.path())).expect("code");
        let explorer = |trace| Explorer::new(&solver, &code, trace, limits()).expect("a launcher");
        let (mut exact, mut rough) = (explorer(Trace::Functions), explorer(Trace::Approximate));
        for _ in 0..20 {
            rough.run(SCRIPTS[1].as_bytes()).expect("a run");
        }
        // The first run of a process is also told what is done once.
        exact.run(SCRIPTS[1].as_bytes()).expect("a run");
        for script in [SCRIPTS[1], SCRIPTS[3]] {
            let (told, said) =
                exact.run(script.as_bytes()).map(|(run, sites)| (sites, run.stdout)).expect("a run");
            let (run, sites) = rough.run(script.as_bytes()).expect("a run");
            assert_eq!(run.stdout, said);
            let sites: SiteSet = sites.into_iter().collect();
            // Addresses decide the order of some tables, and so a function or two.
            let missing = told.iter().filter(|site| !sites.contains(**site)).count();
            assert!(missing * 50 < told.len(), "{spec}: {missing} of {}", told.len());
        }
    }
}

/// Before anything is taken for granted.
#[test]
fn an_approximate_trace_starts_at_main_however_often_its_prefix_is_seen() {
    let home = tempfile::tempdir().expect("a folder");
    for spec in ["z3@4.8.7", "z3@5.4.0"] {
        let Some(solver) = testkit::get(spec) else { continue };
        let code = Code::of(&solver, &Home::at(home.path())).expect("code");
        let explorer = |trace| Explorer::new(&solver, &code, trace, limits()).expect("a launcher");
        let (mut exact, mut rough) = (explorer(Trace::Functions), explorer(Trace::Approximate));
        let (from_main, told) = exact.run(SCRIPTS[1].as_bytes()).expect("a run");
        assert_eq!(from_main.mode, ExecMode::ForkServer, "{spec}");
        let mut modes = Vec::new();
        for _ in 0..8 {
            let (run, sites) = rough.run(SCRIPTS[1].as_bytes()).expect("a run");
            assert_eq!(run.stdout, from_main.stdout);
            modes.push(run.mode);
            let sites: SiteSet = sites.into_iter().collect();
            let missing = told.iter().filter(|site| !sites.contains(**site)).count();
            assert!(missing * 50 < told.len(), "{spec}, {}: {missing} of {}", run.mode, told.len());
        }
        assert_eq!(modes, [ExecMode::ForkServer; 8], "{spec}");
    }
}

/// A program of many functions, compiled for the probe and for gcov.
struct Zoo {
    folder: tempfile::TempDir,
}

/// Numbers that lead to some of its functions and some of their branches.
const VISITS: [&str; 4] =
    ["1 2 3 17 40 41", "7 103 119 200", "12 13 14 15 16 230 231", "60 61 62 63 64 65 66 67"];

impl Zoo {
    /// Nothing where there is no compiler.
    fn new() -> Option<Zoo> {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/zoo.cpp");
        for (name, options) in
            [("plain", vec![]), ("counted", vec!["--coverage"]), ("static", vec!["-static"])]
        {
            let place = folder.path().join(name);
            std::fs::create_dir(&place).expect("made");
            let compiled = Command::new("g++")
                .current_dir(&place)
                .args(["-O0", "-g0", "-o", "zoo"])
                .args(options)
                .arg(&source)
                .output();
            match compiled {
                Ok(done) if done.status.success() => {}
                Ok(done) => {
                    testkit::skip("g++ with gcov", String::from_utf8_lossy(&done.stderr));
                    return None;
                }
                Err(error) => {
                    testkit::skip("g++", error);
                    return None;
                }
            }
        }
        Some(Zoo { folder })
    }

    fn solver(&self, name: &str) -> Solver {
        let mut solver = testkit::made_up("z3");
        solver.installed.how = How::Executable { path: self.folder.path().join(name).join("zoo") };
        solver
    }

    /// By name: calls, and whether all blocks of the function were executed, as gcov counts.
    fn counted(&self) -> Option<BTreeMap<String, (bool, bool)>> {
        let place = self.folder.path().join("counted");
        for visit in VISITS {
            let file = place.join("visit.smt2");
            std::fs::write(&file, format!("; {visit}\n(check-sat)\n")).expect("written");
            assert!(Command::new(place.join("zoo")).arg(&file).output().expect("runs").status.success());
        }
        let notes = std::fs::read_dir(&place).expect("there").flatten().map(|entry| entry.path());
        let notes = notes.into_iter().find(|path| path.extension().is_some_and(|end| end == "gcda"))?;
        let gcov =
            Command::new("gcov").current_dir(&place).args(["--json-format", "--stdout"]).arg(notes).output();
        let told = match gcov {
            Ok(done) if done.status.success() => done.stdout,
            _ => {
                testkit::skip("gcov", "it does not run");
                return None;
            }
        };
        let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
        let mut counted = BTreeMap::new();
        for file in told["files"].as_array().expect("files") {
            for function in file["functions"].as_array().expect("functions") {
                let name = function["demangled_name"].as_str().expect("a name");
                let Some(name) = name.split('(').next().filter(|name| name.starts_with("zoo::")) else {
                    continue;
                };
                let calls = function["execution_count"].as_u64().expect("a count");
                let whole = function["blocks"] == function["blocks_executed"];
                counted.insert(name.to_owned(), (calls > 0, whole));
            }
        }
        Some(counted)
    }

    /// The same as the probe tells it.
    fn watched(&self, name: &str, mode: ExecMode) -> BTreeMap<String, (bool, bool)> {
        let solver = self.solver(name);
        let code = Code::of(&solver, &Home::at(self.folder.path())).expect("code");
        let names = NamedFunctions::of(&code).expect("names");
        let mut explorer =
            Explorer::new(&solver, &code, Trace::New, limits()).expect("a launcher").starting(mode);
        let mut set = SiteSet::default();
        for visit in VISITS {
            let script = format!("; {visit}\n(check-sat)\n");
            let (outcome, sites) = explorer.run(script.as_bytes()).expect("a run");
            assert_eq!(outcome.stdout, b"sat\n");
            set.extend(sites);
        }
        let own = names.each(&set).filter(|function| function.function.name.starts_with("zoo::"));
        own.map(|function| {
            let whole = function.blocks == function.blocks_reached;
            (function.function.name.clone(), (function.reached, whole))
        })
        .collect()
    }
}

/// Loops with a `break`, one in twelve.
fn leaves_by_break(function: &str) -> bool {
    let number = function.rsplit('_').next().and_then(|number| number.parse::<u32>().ok());
    number.is_some_and(|number| number % 12 == 3)
}

#[test]
fn functions_and_whole_functions_are_those_that_gcov_counts() {
    testkit::launcher();
    let Some(zoo) = Zoo::new() else { return };
    let Some(counted) = zoo.counted() else { return };
    assert!(counted.len() >= 200, "{}", counted.len());
    let reached = counted.values().filter(|(reached, _)| *reached).count();
    let whole = counted.values().filter(|(_, whole)| *whole).count();
    assert!(reached > 20 && reached < counted.len() && whole > 5 && whole < reached, "{reached} {whole}");
    for (name, mode) in
        [("plain", ExecMode::ForkServer), ("plain", ExecMode::Plain), ("static", ExecMode::Plain)]
    {
        let watched = zoo.watched(name, mode);
        for (function, (reached, whole)) in &counted {
            let (own_reached, own_whole) = watched[function];
            assert_eq!(own_reached, *reached, "{name} by {mode}: {function}");
            assert!(*whole || !own_whole, "{name} by {mode}: all blocks of {function}");
            // A jump alone is a block to us and a mere edge to gcov: here, the way out of a loop that is never taken.
            assert!(
                own_whole || !*whole || leaves_by_break(function),
                "{name} by {mode}: not all of {function}"
            );
        }
    }
}

#[test]
fn code_that_lies_beyond_the_size_of_files_a_solver_may_write_is_watched() {
    testkit::launcher();
    let Some(zoo) = Zoo::new() else { return };
    let solver = zoo.solver("plain");
    let code = Code::of(&solver, &Home::at(zoo.folder.path())).expect("code");
    for mode in [ExecMode::ForkServer, ExecMode::Plain] {
        let limits = Limits { file_size: 512, ..limits() };
        let explorer = Explorer::new(&solver, &code, Trace::New, limits).expect("a launcher");
        let (outcome, sites) = explorer.starting(mode).run(b"; 1 2 3\n(check-sat)\n").expect("a run");
        assert_eq!(outcome.stdout, b"sat\n", "{mode}: {:?}", outcome.exit);
        assert!(!sites.is_empty(), "{mode}");
    }
}

#[test]
fn what_cannot_be_watched_is_said() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let mut solver = testkit::made_up("z3");
    solver.installed.how = How::Executable { path: testkit::program(folder.path(), "z3", "echo sat") };
    let error = Code::of(&solver, &Home::at(folder.path())).expect_err("a script");
    assert!(
        matches!(&error, CoverageError::Unsupported { .. }) && error.to_string().contains("script"),
        "{error}"
    );
}
