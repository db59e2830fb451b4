//! The project's own museum on real old releases, and the power to find its bugs again. Without network and with an
//! empty cache the tests are skipped, or fail: see `testkit::skip`.

mod common;

use std::path::{Path, PathBuf};

use common::{complaint, run, text};
use testkit::have;

fn museum() -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../museum");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn every_item_of_the_museum_shows_its_bug_on_its_release() {
    let output = run(&["museum", "verify", &museum(), "--json"]);
    let mut items = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let item: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(item["reproduces"], true, "{line}");
        items += 1;
    }
    match output.status.code() {
        Some(10) => assert!(items >= 30, "only {items} items: {}", text(&output)),
        Some(4) => testkit::skip("a release of the museum", complaint(&output)),
        code => panic!("exit code {code:?}: {}", text(&output)),
    }
}

/// What engines have found before, each within ten mutants; the test leaves room for other random choices.
const POWER: [(&str, &str); 24] = [
    ("opfuzz", "cvc4-1.8--regex-star-consume"),
    ("opfuzz", "cvc5-1.0.3--internal-bitblaster-arrays"),
    ("opfuzz", "cvc5-1.0.9--fp-narrow-conversion"),
    ("opfuzz", "z3-4.8.7--ackermann-model"),
    ("typefuzz", "cvc4-1.8--regex-power-zero"),
    ("typefuzz", "cvc4-1.8--sort-inference-unit"),
    ("typefuzz", "cvc5-1.0.3--empty-range-difference"),
    ("typefuzz", "cvc5-1.0.9--seq-self-extract"),
    ("fusion", "cvc4-1.8--concat-at-constant"),
    ("fusion", "cvc5-1.0.3--learned-rewrite-mod"),
    ("fusion", "z3-4.11.0--last-indexof-empty"),
    ("fusion", "z3-4.12.2--z3str3-less-than-empty"),
    ("storm", "cvc4-1.8--function-of-xor"),
    ("storm", "cvc5-1.0.3--regex-power-zero-length"),
    ("storm", "z3-4.8.7--bvsmul-noovfl-negative"),
    ("storm", "z3-4.8.7--idl-tactic-int2bv"),
    ("diver", "cvc4-1.8--bool-array-bv-index"),
    ("diver", "z3-4.8.8--z3str3-intersection-crash"),
    ("diver", "z3-4.8.7--idl-tactic-int2bv"),
    ("diver", "z3-4.8.14--store-bool-index-incremental"),
    ("polarity", "cvc5-1.2.1--wrong-selector-folded"),
    ("polarity", "z3-4.8.14--bvsmul-noovfl-wrap"),
    ("polarity", "z3-4.8.7--local-search-units"),
    ("polarity", "z3-4.8.7--negative-exponent"),
];

#[test]
fn engines_find_known_bugs_again_that_they_have_found_before() {
    if !have(&["z3@5.4.0", "cvc5@1.4.2", "z3@4.8.7"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let json = place.path().join("museum.json");
    let mut engines: Vec<&str> = POWER.iter().map(|(engine, _)| *engine).collect();
    engines.sort_unstable();
    engines.dedup();
    for engine in engines {
        let items: Vec<&str> =
            POWER.iter().filter(|(name, _)| *name == engine).map(|(_, item)| *item).collect();
        let output = run(&[
            "bench",
            "museum",
            &museum(),
            "--engine",
            engine,
            "--filter",
            &items.join(","),
            "--mutants",
            "200",
            "--jobs",
            "2",
            "--json",
            json.to_str().expect("UTF-8"),
        ]);
        assert!(output.status.success(), "{}", text(&output));
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&json).expect("a report")).expect("JSON");
        let tables = report["tables"].as_array().expect("tables");
        let hits = tables
            .iter()
            .find(|table| table["title"] == "Runs to the first hit, by item")
            .expect("a table of hits");
        for item in items {
            let row = hits["rows"].as_array().expect("rows").iter().find(|row| row[0] == item);
            let Some(row) = row else {
                testkit::skip(&format!("the release of {item}"), text(&output));
                continue;
            };
            assert!(row[3].is_u64(), "{engine} does not find {item} any more: {}", row[3]);
        }
    }
}

#[test]
fn a_peer_with_the_name_of_an_engine_is_refused() {
    let output = run(&["bench", "museum", &museum(), "--peer", "storm=true {seed} {solver}"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("give the peer another name"), "{}", text(&output));
}

#[test]
fn a_finding_becomes_an_item_that_shows_its_bug() {
    if !have(&["z3@5.4.0", "z3@4.8.7"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name).to_str().expect("UTF-8").to_owned();
    let trigger = Path::new(&museum()).join("items/z3-4.8.7--bvsmul-noovfl-negative/trigger.smt2");
    std::fs::create_dir(at("seeds")).expect("a folder");
    std::fs::copy(trigger, at("seeds/a.smt2")).expect("a seed");
    let (out, to) = (at("out"), at("museum"));
    let campaign = run(&[
        "fuzz",
        &at("seeds"),
        "-s",
        "z3@4.8.7",
        "--reference",
        "z3@5.4.0",
        "--engine",
        "seed",
        "--iterations",
        "1",
        "--jobs",
        "1",
        "--out",
        &out,
    ]);
    assert_eq!(campaign.status.code(), Some(10), "{}", text(&campaign));
    let bugs = std::fs::read_dir(Path::new(&out).join("bugs")).expect("findings");
    let finding = bugs.flatten().map(|entry| entry.path()).find(|path| path.is_dir()).expect("a finding");
    let finding = finding.to_str().expect("UTF-8");
    let added = run(&["museum", "add", finding, "--to", &to, "--theory", "BV"]);
    assert_eq!(added.status.code(), Some(10), "{}", text(&added));
    let verified = run(&["museum", "verify", &to]);
    assert_eq!(verified.status.code(), Some(10), "{}", text(&verified));
    let again = run(&["museum", "add", finding, "--to", &to]);
    assert_ne!(again.status.code(), Some(10), "an item is never overwritten");
}

#[test]
fn a_race_counts_a_known_bug_of_a_peer_once() {
    if !have(&["z3@5.4.0", "z3@4.8.7"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::create_dir(at("seeds")).expect("a folder");
    std::fs::write(at("seeds/a.smt2"), "(declare-const p Bool)\n(assert p)\n(check-sat)\n").expect("a seed");
    let trigger = format!("{}/items/z3-4.8.7--bvsmul-noovfl-negative/trigger.smt2", museum());
    // A fuzzer that finds the same bug twice, and something that is none.
    let peer = format!(
        "copies=sh -c 'cp {trigger} {{out}}/a.smt2; cp {trigger} {{out}}/b.smt2; echo >> {{out}}/b.smt2; cp {{seeds}}/*.smt2 \
         {{out}}/; echo 6 solver calls; while :; do :; done' {{target}}"
    );
    let (json, out) = (at("race.json"), at("race"));
    let words = [
        "bench",
        "race",
        "--target",
        "z3@4.8.7",
        "--reference",
        "z3@5.4.0",
        "--seeds",
        &at("seeds"),
        "--budget",
        "1s",
        "--peer",
        &peer,
        "--out",
        &out,
        "--json",
        &json,
    ];
    let mut raced = None;
    for more in [&[][..], &["--resume"]] {
        let output = run(&[&words[..], more].concat());
        assert!(output.status.success(), "{}", text(&output));
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&json).expect("a report")).expect("JSON");
        let table = &report["tables"][0];
        assert_eq!(entry(table, 1, "fuzzer"), "copies");
        let told = ["solver calls", "triggers", "bugs"].map(|column| entry(table, 1, column).as_u64());
        assert_eq!(told, [Some(6), Some(3), Some(1)], "{report}");
        // Who has raced does not race again.
        let cpu = [0, 1].map(|row| entry(table, row, "CPU s").clone());
        assert_eq!(*raced.get_or_insert(cpu.clone()), cpu);
    }
}

/// What stands in a row of a report's table, in the column of a name.
fn entry<'a>(table: &'a serde_json::Value, row: usize, column: &str) -> &'a serde_json::Value {
    let columns = table["columns"].as_array().expect("columns");
    let place = columns.iter().position(|name| name == column).unwrap_or_else(|| panic!("{column}: {table}"));
    &table["rows"][row][place]
}

#[test]
fn yinyangs_fuzzers_race_and_their_calls_are_counted() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name).to_str().expect("UTF-8").to_owned();
    if !have(&["z3@5.4.0", "z3@4.8.7"]) {
        return;
    }
    let Some(yinyang) = testkit::python_package("yinyang==0.3.0") else { return };
    let yinyang = yinyang.to_str().expect("UTF-8");
    std::fs::create_dir(at("seeds")).expect("a folder");
    // A second passes before yinyang tells of its calls, so there must be enough to do: it leaves a seed at the first
    // trigger or after a few time-outs, and ends with the last seed.
    for seed in 0..12 {
        let script = format!(
            "(declare-fun x () Int)\n(declare-fun y () Int)\n\
             (assert (and (> x {seed}) (<= y 20)))\n(assert (or (< x y) (= x {seed})))\n(check-sat)\n"
        );
        std::fs::write(at(&format!("seeds/{seed}.smt2")), script).expect("a seed");
    }
    let peer = |name: &str| {
        format!(
            "{name}=env PYTHONPATH={yinyang} {yinyang}/bin/{name} -i 300 -b {{out}} -s {{scratch}} -l {{scratch}} -t 2 \
             \"{{target}} model_validate=true;{{reference}}\" {{seeds}}"
        )
    };
    let (json, out) = (at("race.json"), at("race"));
    let (opfuzz, typefuzz) = (peer("opfuzz"), peer("typefuzz"));
    let solvers = ["bench", "race", "--target", "z3@4.8.7", "--reference", "z3@5.4.0", "--seeds"];
    let seeds = at("seeds");
    let rest =
        [&*seeds, "--budget", "12s", "--peer", &opfuzz, "--peer", &typefuzz, "--out", &out, "--json", &json];
    let output = run(&[&solvers[..], &rest[..]].concat());
    assert!(output.status.success(), "{}", text(&output));
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&json).expect("a report")).expect("JSON");
    let table = &report["tables"][0];
    for (row, name) in ["osprey", "opfuzz", "typefuzz"].into_iter().enumerate() {
        assert_eq!(entry(table, row, "fuzzer"), name, "{report}");
        assert!(entry(table, row, "solver calls").as_u64().is_some_and(|calls| calls > 10), "{table}");
        for rate in ["calls per CPU s", "answered per CPU s"] {
            assert!(entry(table, row, rate).as_f64().is_some_and(|rate| rate > 0.0), "{table}");
        }
    }
}
