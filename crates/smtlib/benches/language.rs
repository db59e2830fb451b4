//! Speed of the language core. `OSPREY_CORPUS` names a folder of files for the parsing figures; without it the
//! scripts of the tests are repeated.

use std::path::{Path, PathBuf};

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use smtlib::{Mode, Release, Store, parse, print::print};

fn main() {
    divan::main();
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "smt2") {
            found.push(path);
        }
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let (folder, copies) = match std::env::var_os("OSPREY_CORPUS") {
        Some(folder) => (PathBuf::from(folder), 1),
        None => (own, 200),
    };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    let texts: Vec<Vec<u8>> = paths.iter().filter_map(|path| std::fs::read(path).ok()).collect();
    (0..copies).flat_map(|_| texts.clone()).collect()
}

#[divan::bench(sample_count = 10)]
fn parse_with_full_sorting(bencher: Bencher) {
    let corpus = corpus();
    let bytes: usize = corpus.iter().map(Vec::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        let mut store = Store::new();
        let clean = store.mark();
        for source in &corpus {
            _ = black_box(parse(&mut store, source, Mode::Tolerant));
            store.reset(&clean);
        }
    });
}

#[divan::bench(sample_count = 10)]
fn print_canonically(bencher: Bencher) {
    let corpus = corpus();
    let parsed: Vec<_> = corpus
        .iter()
        .filter_map(|source| {
            let mut store = Store::new();
            let parsed = parse(&mut store, source, Mode::Tolerant).ok()?;
            Some((store, parsed.script))
        })
        .collect();
    let bytes: usize =
        parsed.iter().map(|(store, script)| print(store, script, Release::STANDARD).len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for (store, script) in &parsed {
            black_box(print(store, script, Release::STANDARD));
        }
    });
}

/// The mutators' basic step: new leaf at depth five, then back to the mark.
#[divan::bench]
fn replace_at_depth_five(bencher: Bencher) {
    let mut store = Store::new();
    let source = b"(declare-const x Int)(declare-const p Bool)\
                   (assert (and p (or p (not (< (+ x (* 2 (- x 3)) 5) (+ x 1))) (= x 9)) (> x 4)))";
    let parsed = parse(&mut store, source, Mode::Strict).expect("well-formed");
    let root = parsed.script.assertions().next().expect("an assertion");
    let path = [1, 1, 0, 0, 1];
    assert!(store.at(root, &path).is_some());
    let leaf = store.int(77);
    let mark = store.mark();
    bencher.bench_local(|| {
        let new = store.replace_at(root, black_box(&path), leaf).expect("same sort");
        store.reset(&mark);
        new
    });
}

/// One million assertions, about 40 MB; the peak memory is printed at the end.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn one_million_assertions(bencher: Bencher) {
    let mut source = String::from("(declare-fun f (Int) Int)\n");
    for i in 0..1_000_000 {
        source.push_str(&format!("(assert (< (f {i}) (+ {i} (f {}))))\n", i + 1));
    }
    bencher.counter(BytesCount::new(source.len())).bench_local(|| {
        let mut store = Store::new();
        let parsed = parse(&mut store, source.as_bytes(), Mode::Tolerant).expect("well-formed");
        println!(
            "{} commands, {} terms, {}",
            parsed.script.commands.len(),
            store.term_count(),
            peak_memory()
        );
    });
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("peak memory unknown").to_owned()
}
