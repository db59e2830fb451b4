//! What is run: a trivial script, small files, scripts of our own, and mutants of them.

use std::path::Path;

use solver::fast::declarations;

use crate::BenchError;

/// Scripts to run.
#[derive(Clone, Debug)]
pub struct Workload {
    pub name: String,
    pub scripts: Vec<Vec<u8>>,
}

/// The largest file that still counts as small.
const SMALL: u64 = 4096;

impl Workload {
    /// The same trivial script again and again.
    #[must_use]
    pub fn trivial(runs: usize) -> Self {
        let script = b"(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n".to_vec();
        Workload { name: "trivial".to_owned(), scripts: vec![script; runs] }
    }

    /// Up to `count` small files below `directory`, evenly spread over all of them.
    pub fn files(directory: &Path, count: usize) -> Result<Self, BenchError> {
        let mut paths = Vec::new();
        let mut pending = vec![directory.to_owned()];
        let read = |path: &Path| {
            let path = path.to_owned();
            move |source| BenchError::Read { path, source }
        };
        while let Some(next) = pending.pop() {
            for entry in std::fs::read_dir(&next).map_err(read(&next))? {
                let entry = entry.map_err(read(&next))?;
                let path = entry.path();
                let metadata = std::fs::metadata(&path).map_err(read(&path))?;
                if metadata.is_dir() {
                    pending.push(path);
                } else if path.extension().is_some_and(|end| end == "smt2") && metadata.len() <= SMALL {
                    paths.push(path);
                }
            }
        }
        if paths.is_empty() {
            let reason = format!("no file of at most {SMALL} bytes named *.smt2");
            return Err(BenchError::Malformed { path: directory.to_owned(), reason });
        }
        paths.sort();
        let step = paths.len().div_ceil(count.max(1));
        let mut scripts = Vec::new();
        for path in paths.iter().step_by(step) {
            scripts.push(std::fs::read(path).map_err(read(path))?);
        }
        Ok(Workload { name: format!("{} files", scripts.len()), scripts })
    }

    /// Scripts of our own over several theories, for machines without a collection of files.
    #[must_use]
    pub fn built_in() -> Self {
        let sorts = [
            ("QF_LIA", "Int", ["(< (+ a b) (* 3 c))", "(= (mod a 7) (div b 2))", "(distinct a b c)"]),
            ("QF_LRA", "Real", ["(< (+ a b) (* 3.0 c))", "(= (/ a 7.0) b)", "(> (- a c) 1.5)"]),
            (
                "QF_BV",
                "(_ BitVec 16)",
                ["(bvult (bvadd a b) c)", "(= (bvmul a b) #x1234)", "(= (bvurem a c) b)"],
            ),
            ("QF_S", "String", ["(= (str.++ a b) c)", "(str.contains c \"ab\")", "(> (str.len a) 2)"]),
            ("QF_AUFLIA", "(Array Int Int)", ["(= (select a 1) 2)", "(= (store b 1 2) c)", "(distinct a c)"]),
            ("QF_FP", "Float16", ["(fp.lt a b)", "(fp.eq (fp.add RNE a b) c)", "(not (fp.isNaN c))"]),
        ];
        let mut scripts = Vec::new();
        for (logic, sort, facts) in sorts {
            for kept in 1u8..8 {
                let mut script = format!("(set-logic {logic})\n");
                for name in ["a", "b", "c"] {
                    script.push_str(&format!("(declare-fun {name} () {sort})\n"));
                }
                for (_, fact) in facts.iter().enumerate().filter(|(at, _)| kept & (1 << at) != 0) {
                    script.push_str(&format!("(assert {fact})\n"));
                }
                script.push_str("(check-sat)\n");
                scripts.push(script.into_bytes());
            }
        }
        Workload { name: format!("{} built-in scripts", scripts.len()), scripts }
    }

    /// `each` variants of every script, which differ behind its declarations, as a fuzzer's mutants do.
    #[must_use]
    pub fn mutants(&self, each: usize) -> Self {
        let scripts: Vec<Vec<u8>> =
            self.scripts.iter().flat_map(|seed| (0..each).map(|number| mutant(seed, number))).collect();
        Workload { name: format!("{} x {each} mutants", self.scripts.len()), scripts }
    }
}

/// Operators that can stand for each other in the same place.
const EXCHANGES: [(&str, &str); 8] = [
    ("(< ", "(<= "),
    ("(> ", "(>= "),
    ("(<= ", "(> "),
    ("(>= ", "(< "),
    ("(and ", "(or "),
    ("(or ", "(and "),
    ("(bvadd ", "(bvsub "),
    ("(distinct ", "(= "),
];

/// The script with the `number`th of its exchangeable operators exchanged; with none of them when there are fewer.
fn mutant(seed: &[u8], number: usize) -> Vec<u8> {
    let start = declarations(seed).unwrap_or(0);
    let mut seen = 0;
    for at in start..seed.len() {
        let exchange = EXCHANGES.iter().find(|(from, _)| seed[at..].starts_with(from.as_bytes()));
        if let Some((from, to)) = exchange {
            seen += 1;
            if seen == number {
                return [&seed[..at], to.as_bytes(), &seed[at + from.len()..]].concat();
            }
        }
    }
    seed.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_differ_only_behind_the_declarations() {
        let seed = b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (and (< 1 2) (> 3 2)))\n";
        let mutants: Vec<Vec<u8>> = (0..5).map(|number| mutant(seed, number)).collect();
        assert_eq!(mutants[0], seed);
        assert_eq!(mutants[1], b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (or (< 1 2) (> 3 2)))\n");
        assert_eq!(mutants[3], b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (and (< 1 2) (>= 3 2)))\n");
        assert_eq!(mutants[4], seed);
    }

    #[test]
    fn a_directory_without_scripts_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = Workload::files(directory.path(), 5).expect_err("nothing there");
        assert!(matches!(error, BenchError::Malformed { .. }), "{error}");
        assert!(matches!(Workload::files(&directory.path().join("x"), 5), Err(BenchError::Read { .. })));
    }
}
