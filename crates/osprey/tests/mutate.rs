//! `mutate` as users see it: files, witnesses that `eval` accepts, messages.

mod common;

use std::path::Path;

use common::run;

const SEED: &str = "(set-logic QF_SLIA)
(declare-fun s () String)
(declare-fun n () Int)
(assert (or (str.prefixof \"a\" s) (>= n (str.len s))))
(assert (not (= n 7)))
(check-sat)
";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The mutants in a folder, in order.
fn mutants(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "smt2"))
        .collect();
    files.sort();
    files
}

#[test]
fn eval_accepts_every_mutant_with_its_witness() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = folder.path().join("seed.smt2");
    std::fs::write(&seed, SEED).expect("a file");
    for engine in ["storm", "diver"] {
        let out = folder.path().join(engine);
        let made = run(&["mutate", "--engine", engine, text(&seed), "--count", "12", "--out", text(&out)]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let said = String::from_utf8_lossy(&made.stdout).into_owned();
        assert!(said.starts_with("12 mutants, 12 with witnesses"), "{said}");
        let files = mutants(&out);
        assert_eq!(files.len(), 12);
        for file in files {
            let model = file.with_extension("model");
            let judged = run(&["eval", text(&file), "--model", text(&model)]);
            let shown = String::from_utf8_lossy(&judged.stdout).into_owned();
            assert_eq!(judged.status.code(), Some(0), "{}: {shown}", file.display());
            let about = std::fs::read_to_string(file.with_extension("json")).expect("what is known");
            assert!(about.contains("\"expected\": \"sat\""), "{about}");
        }
    }
}

#[test]
fn mutants_do_not_inherit_a_definition_without_a_solution() {
    if !testkit::have(&["cvc5@1.4.2"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let seed = folder.path().join("seed.smt2");
    let script = "(set-logic ALL)(define-fun-rec f ((x Int)) Int (+ 1 (f x)))(declare-const y Int)
        (assert (< y 100000))(assert (not (= y 70000)))(check-sat)";
    std::fs::write(&seed, script).expect("a file");
    for engine in ["storm", "diver"] {
        let out = folder.path().join(engine);
        let made = run(&["mutate", "--engine", engine, text(&seed), "--count", "3", "--out", text(&out)]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let files = mutants(&out);
        assert_eq!(files.len(), 3);
        for file in files {
            let judged = run(&["check", text(&file), "-s", "cvc5@1.4.2", "--expect", "sat"]);
            let shown = String::from_utf8_lossy(&judged.stdout).into_owned();
            assert_eq!(judged.status.code(), Some(0), "{engine}: {shown}");
        }
    }
}

#[test]
fn the_same_random_seed_writes_the_same_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = folder.path().join("seed.smt2");
    std::fs::write(&seed, SEED).expect("a file");
    let contents = |name: &str| {
        let out = folder.path().join(name);
        run(&[
            "mutate",
            "--engine",
            "diver",
            text(&seed),
            "--count",
            "8",
            "--out",
            text(&out),
            "--rng-seed",
            "5",
        ]);
        mutants(&out).iter().map(|file| std::fs::read_to_string(file).expect("a file")).collect::<Vec<_>>()
    };
    let first = contents("first");
    assert_eq!(first.len(), 8);
    assert_eq!(first, contents("second"));
}

#[test]
fn polarity_gives_grounds_and_asks_for_an_answer_where_there_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let seed = folder.path().join("seed.smt2");
    std::fs::write(&seed, SEED).expect("a file");
    let nothing = run(&["mutate", "--engine", "polarity", text(&seed), "--out", text(&out)]);
    assert_eq!(nothing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(said.contains("its answer is not known"), "{said}");

    let unsat =
        "(set-info :status unsat)(declare-fun x () Int)(assert (forall ((y Int)) (< x y)))(check-sat)";
    std::fs::write(&seed, unsat).expect("a file");
    let made = run(&["mutate", "--engine", "polarity", text(&seed), "--count", "4", "--out", text(&out)]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for file in mutants(&out) {
        let about = std::fs::read_to_string(file.with_extension("json")).expect("what is known");
        assert!(
            about.contains("\"expected\": \"unsat\"") && about.contains("\"from\": \":status of "),
            "{about}"
        );
    }
}

#[test]
fn an_unknown_engine_is_answered_with_the_known_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = folder.path().join("seed.smt2");
    std::fs::write(&seed, SEED).expect("a file");
    let wrong = run(&["mutate", "--engine", "strom", text(&seed), "--out", text(folder.path())]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("there is no engine 'strom'") && said.contains("storm"), "{said}");
}

#[test]
fn values_explains_what_it_knows_of_a_seed_and_which_mutant_covered_what() {
    if !testkit::have(&["z3@5.4.0"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (seed, out) = (folder.path().join("seed.smt2"), folder.path().join("out"));
    std::fs::write(&seed, "(declare-fun x () Int)(assert (or (< x 7) (> x (- 1))))(check-sat)")
        .expect("a file");
    let words = ["mutate", "--engine", "values", text(&seed), "--out", text(&out), "-s", "z3@5.4.0"];
    let flags = ["--explain", "--values-preset", "skolu", "--count", "100"];
    let made = run(&[&words[..], &flags[..]].concat());
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let parts = [
        "(assert (or (< x h!1) (> x h!2)))",
        "h!2 = (- 1)",
        "m!1 = (< x h!1): true by 000",
        "m!3 = (or (< x h!1) (> x h!2)): true by 000",
        "given up, nothing is left to enforce",
    ];
    for part in parts {
        assert!(said.contains(part), "{part} in {said}");
    }
    let files = mutants(&out);
    assert!(said.starts_with(&format!("{} mutants", files.len())), "{said}");
    let json = run(&[&words[..], &flags[..], &["--json"]].concat());
    assert!(String::from_utf8_lossy(&json.stdout).contains("\"explained\""));
}

#[test]
fn values_names_the_file_whose_model_gives_a_monitor_its_truth_value_in_every_round() {
    if !testkit::have(&["z3@5.4.0"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (seed, out) = (folder.path().join("seed.smt2"), folder.path().join("out"));
    std::fs::write(&seed, "(declare-fun x () Int)(assert (or (< x 7) (> x 31) (= x 12)))(check-sat)")
        .expect("a file");
    let words = ["mutate", "--engine", "values", text(&seed), "--out", text(&out), "-s", "z3@5.4.0"];
    let flags = ["--explain", "--values-iterations", "1", "--values-multief", "1", "--count", "24"];
    let made = run(&[&words[..], &flags[..]].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    let number = |text: &str| -> i128 {
        let digits = text.trim_start_matches(['(', '-', ' ']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let size: i128 = digits[..end].parse().unwrap_or_else(|_| panic!("no number in {text}"));
        if text.starts_with("(- ") { -size } else { size }
    };
    let after = |text: &str, what: &str| -> String {
        let start = text.find(what).unwrap_or_else(|| panic!("{what} in {text}")) + what.len();
        text[start..].trim_start().to_owned()
    };
    let (mut named, mut rounds) = (0, 0);
    for line in said.lines() {
        rounds += usize::from(line == "skeleton:");
        if !line.contains(" = (< x h!1): ") {
            continue;
        }
        for truth in ["true", "false"] {
            let by = after(line, &format!("{truth} by "));
            if !by.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let base = out.join(format!("values-0-{}", &by[..5]));
            let script = std::fs::read_to_string(base.with_extension("smt2")).expect("a script");
            let model = std::fs::read_to_string(base.with_extension("model")).expect("a model");
            let (value, constant) = (number(&after(&model, "x () Int")), number(&after(&script, "(< x")));
            assert_eq!(value < constant, truth == "true", "{line}\n{script}\n{model}");
            named += 1;
        }
    }
    assert!(rounds > 1 && named > 0, "{rounds} rounds, {named} named: {said}");
}

#[test]
fn values_without_a_solver_says_that_there_is_nobody_to_ask() {
    let folder = tempfile::tempdir().expect("a folder");
    let (seed, out) = (folder.path().join("seed.smt2"), folder.path().join("out"));
    std::fs::write(&seed, "(declare-fun x () Int)(assert (or (< x 7) (> x 31)))(check-sat)").expect("a file");
    let made = run(&["mutate", "--engine", "values", text(&seed), "--out", text(&out), "--count", "20"]);
    assert!(made.status.success());
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(said.contains("of 20 test cases") && said.contains("name one with -s"), "{said}");
}

#[test]
fn values_says_why_it_makes_nothing_of_a_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (seed, out) = (folder.path().join("seed.smt2"), folder.path().join("out"));
    std::fs::write(&seed, "(declare-fun x () Int)(assert (> x x))(check-sat)").expect("a file");
    let made = run(&["mutate", "--engine", "values", text(&seed), "--out", text(&out)]);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(!made.status.success() && said.contains("no constants"), "{said}");
}
