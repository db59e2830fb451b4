//! The command line of a run: words of the adapter with the request's values put in.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smtlib::Setting;

use crate::version::Version;

/// How a solver is brought to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A program of its own.
    Executable,
    /// cvc5's shared libraries, driven by our host through their C API.
    Cvc5Host,
    /// A Python module, driven by a short script.
    Python,
}

/// The words of a command line, for a range of releases and a way of running.
///
/// In `arguments` the word `{options}` stands for all that the request and the user add, and `{file}` for the script's
/// path; without `{file}` the script is given on standard input.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Call {
    /// First release called like this.
    pub since: Option<Version>,
    /// First release called otherwise.
    pub before: Option<Version>,
    /// Only when run this way.
    pub way: Option<Way>,
    /// The whole line.
    pub arguments: Vec<String>,
    /// Switches that let it try everything it has (several checks in a script, experimental theories). Only added on
    /// request: a report wants the plain command line.
    #[serde(default)]
    pub broad: Vec<String>,
    /// Such switches that only scripts with certain words need, and that cost others an answer.
    #[serde(default)]
    pub broad_for: Vec<BroadFor>,
    /// Switches that make models available.
    #[serde(default)]
    pub models: Vec<String>,
    /// Switches that make unsatisfiable cores available.
    #[serde(default)]
    pub cores: Vec<String>,
    /// Switches for the solver's own check of its models.
    #[serde(default)]
    pub check_models: Vec<String>,
    /// Switches for the solver's own check of its cores.
    #[serde(default)]
    pub check_cores: Vec<String>,
    /// Switches for the solver's own check of its proofs.
    #[serde(default)]
    pub check_proofs: Vec<String>,
    /// Switches that set its random seed, with `{seed}`.
    #[serde(default)]
    pub seed: Vec<String>,
    /// Sets of switches under each of which it answers as rightly and looks for models in another way.
    #[serde(default)]
    pub alternatives: Vec<Vec<String>>,
    /// Switches that make it stop by itself, with `{seconds}` or `{milliseconds}`.
    #[serde(default)]
    pub timeout: Vec<String>,
    /// Switches that limit its memory, with `{megabytes}`.
    #[serde(default)]
    pub memory: Vec<String>,
}

/// Switches for scripts that need them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BroadFor {
    /// One of these texts stands in the script.
    pub mentions: Vec<String>,
    pub options: Vec<String>,
}

impl BroadFor {
    /// A script that is not known may need them.
    fn is_needed(&self, script: Option<&[u8]>) -> bool {
        // Before each run: most places are told by their first byte.
        let stands_in = |script: &[u8], text: &String| {
            let text = text.as_bytes();
            (0..script.len()).any(|at| Some(&script[at]) == text.first() && script[at..].starts_with(text))
        };
        script.is_none_or(|script| self.mentions.iter().any(|text| stands_in(script, text)))
    }
}

/// What a run wants from the solver beside the answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// Let it try everything it has.
    pub broad: bool,
    /// Models must be available.
    pub models: bool,
    /// Cores must be available.
    pub cores: bool,
    /// It checks its own models.
    pub check_models: bool,
    /// It checks its own cores.
    pub check_cores: bool,
    /// It checks its own proofs.
    pub check_proofs: bool,
    /// Its random seed.
    pub seed: Option<u32>,
    /// The number of a set of switches that make it look for models in another way: 0 for none; beyond the last one it
    /// begins again.
    pub alternative: usize,
    /// The time after which it should stop by itself.
    pub timeout: Option<Duration>,
    /// The memory it should stay under, in megabytes.
    pub memory: Option<u64>,
    /// Options of the test case; they come after all others.
    pub settings: Vec<Setting>,
    /// These options are not expected again: nothing is kept ready for another start with them.
    pub once: bool,
}

/// The placeholders an adapter may write, by field; anything else in braces is refused when the file is read.
pub(super) const PLACEHOLDERS: &[&str] =
    &["{options}", "{file}", "{seed}", "{seconds}", "{milliseconds}", "{megabytes}"];

impl Call {
    /// The command line for a script at `file`, whose text may be known. The words of `options` (the user's own, then those of the request's
    /// settings) come after the request's switches, so that they win.
    pub fn words(
        &self,
        request: &RunRequest,
        options: &[String],
        file: &str,
        script: Option<&[u8]>,
    ) -> Vec<String> {
        let given = options;
        let mut options: Vec<String> = Vec::new();
        let wanted = [
            (request.broad, &self.broad),
            (request.models, &self.models),
            (request.cores, &self.cores),
            (request.check_models, &self.check_models),
            (request.check_cores, &self.check_cores),
            (request.check_proofs, &self.check_proofs),
        ];
        for (_, words) in wanted.iter().filter(|(wanted, _)| *wanted) {
            options.extend(words.iter().cloned());
        }
        for more in self.broad_for.iter().filter(|more| request.broad && more.is_needed(script)) {
            options.extend(more.options.iter().cloned());
        }
        if let Some(seed) = request.seed {
            options.extend(self.seed.iter().map(|word| word.replace("{seed}", &seed.to_string())));
        }
        let alternative = request.alternative % (self.alternatives.len() + 1);
        if let Some(words) = alternative.checked_sub(1).and_then(|place| self.alternatives.get(place)) {
            options.extend(words.iter().cloned());
        }
        if let Some(timeout) = request.timeout {
            let milliseconds = timeout.as_millis().max(1);
            options.extend(self.timeout.iter().map(|word| {
                word.replace("{milliseconds}", &milliseconds.to_string())
                    .replace("{seconds}", &milliseconds.div_ceil(1000).to_string())
            }));
        }
        if let Some(megabytes) = request.memory {
            options
                .extend(self.memory.iter().map(|word| word.replace("{megabytes}", &megabytes.to_string())));
        }
        options.extend(given.iter().cloned());
        keep_last_of_repeated(&mut options);

        let mut words = Vec::with_capacity(self.arguments.len() + options.len());
        for word in &self.arguments {
            match word.as_str() {
                "{options}" => words.append(&mut options),
                _ => words.push(word.replace("{file}", file)),
            }
        }
        words
    }

    /// Whether the script is given as a file (the usual way) and not on standard input.
    pub fn reads_file(&self) -> bool {
        self.arguments.iter().any(|word| word.contains("{file}"))
    }

    /// Every word of the call, for validation.
    pub(super) fn all_words(&self) -> impl Iterator<Item = &String> {
        [
            &self.arguments,
            &self.broad,
            &self.models,
            &self.cores,
            &self.check_models,
            &self.check_cores,
            &self.check_proofs,
            &self.seed,
            &self.timeout,
            &self.memory,
        ]
        .into_iter()
        .chain(&self.alternatives)
        .chain(self.broad_for.iter().map(|more| &more.options))
        .flatten()
    }
}

/// Drops a self-contained option (`--x`, `a.b=1`) when the same word comes again later, as some solvers refuse repeats.
/// Short switches and words without a dash or `=` may belong to their neighbour and stay.
fn keep_last_of_repeated(options: &mut Vec<String>) {
    let mut index = 0;
    while index < options.len() {
        let word = &options[index];
        let self_contained = word.starts_with("--") || word.contains('=');
        if self_contained && options[index + 1..].contains(word) {
            options.remove(index);
        } else {
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        toml::from_str(
            r#"
            arguments = ["-smt2", "{options}", "{file}"]
            models = ["--models"]
            seed = ["s={seed}"]
            alternatives = [["a=1"], ["b=2", "c=3"]]
            timeout = ["-t:{milliseconds}", "-T:{seconds}"]
            "#,
        )
        .expect("a call")
    }

    #[test]
    fn a_plain_request_gives_the_plain_command_line() {
        assert_eq!(call().words(&RunRequest::default(), &[], "a.smt2", None), ["-smt2", "a.smt2"]);
    }

    #[test]
    fn what_is_asked_for_comes_before_what_the_user_wrote() {
        let request = RunRequest {
            models: true,
            seed: Some(7),
            timeout: Some(Duration::from_millis(1500)),
            ..RunRequest::default()
        };
        let given = ["--models", "-q", "x=1"].map(String::from);
        let words = call().words(&request, &given, "a b.smt2", None);
        assert_eq!(words, ["-smt2", "s=7", "-t:1500", "-T:2", "--models", "-q", "x=1", "a b.smt2"]);
    }

    #[test]
    fn switches_for_some_scripts_are_given_to_these_and_where_the_script_is_not_known() {
        let more = BroadFor { mentions: vec!["(as const".into()], options: vec!["--arrays".into()] };
        let call = Call { broad: vec!["--all".into()], broad_for: vec![more], ..call() };
        let words = |broad, script| {
            let request = RunRequest { broad, ..RunRequest::default() };
            call.words(&request, &[], "f", script).join(" ")
        };
        assert_eq!(words(true, None), "-smt2 --all --arrays f");
        assert_eq!(words(true, Some(b"(= a ((as const S) 0))")), "-smt2 --all --arrays f");
        assert_eq!(words(true, Some(b"(declare-const a S)")), "-smt2 --all f");
        assert_eq!(words(false, Some(b"(as const S)")), "-smt2 f");
    }

    #[test]
    fn alternatives_come_by_number_and_begin_again() {
        let words = |alternative| {
            let request = RunRequest { alternative, ..RunRequest::default() };
            call().words(&request, &["a=9".to_owned()], "f", None).join(" ")
        };
        let all = [0, 1, 2, 3, 4].map(words);
        let [none, one, two] = ["-smt2 a=9 f", "-smt2 a=1 a=9 f", "-smt2 b=2 c=3 a=9 f"];
        assert_eq!(all, [none, one, two, none, one]);
    }
}
