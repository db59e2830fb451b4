//! `finding.json` as it is read: today's form, and that of earlier versions.
//!
//! Version 0.1 kept the stage in `pending` and `reduced`, what is expected in three texts, options as words, and the
//! signature as one text.

use eval::{Derivation, Expectation};
use oracle::Kind;
use reduce::blame::Blame;
use serde::Deserialize;
use smtlib::{Setting, Status};
use solver::crash::CrashReport;
use solver::run::PartyId;

use super::finding::{Finding, Membership, Releases, RunRecord, Shrunk, Stage};
use super::handling::Handling;
use super::origin::Origin;
use super::signature::Signature;

#[derive(Deserialize)]
pub struct StoredFinding {
    osprey: String,
    found: u64,
    kind: Kind,
    solver: String,
    title: String,
    summary: String,
    signature: Signature,
    flaky: bool,
    stage: Option<Stage>,
    #[serde(default)]
    pending: bool,
    reduced: Option<Shrunk>,
    expectation: StoredExpectation,
    #[serde(default)]
    answer: Option<Status>,
    #[serde(default)]
    evidence: Vec<String>,
    accused: Option<PartyId>,
    #[serde(default)]
    check: Option<usize>,
    #[serde(default)]
    platform: String,
    runs: Vec<StoredRun>,
    operators: Vec<String>,
    #[serde(default)]
    blame: Blame,
    releases: Option<Releases>,
    group: Option<Membership>,
    #[serde(default)]
    handling: Handling,
    provenance: Origin,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredExpectation {
    Now(Expectation),
    Then { answer: Option<Status>, derived: Option<String>, why: Vec<String> },
}

#[derive(Deserialize)]
struct StoredRun {
    party: Option<PartyId>,
    solver: String,
    #[serde(default)]
    user_options: Vec<String>,
    version: String,
    #[serde(default)]
    sha256: Option<String>,
    command: String,
    #[serde(default)]
    settings: Vec<Setting>,
    #[serde(default)]
    unfair: Vec<String>,
    #[serde(default)]
    too_many: Vec<String>,
    #[serde(default)]
    judged: bool,
    /// Words of the policy.
    #[serde(default)]
    options: Vec<String>,
    models: bool,
    #[serde(default)]
    broad: bool,
    class: String,
    answers: Vec<String>,
    stdout: String,
    stderr: String,
    cpu_ms: u64,
    #[serde(default)]
    ended: String,
    #[serde(default)]
    crash: Option<CrashReport>,
    #[serde(default)]
    program: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    from_stdin: bool,
    #[serde(default)]
    origin: String,
}

impl From<StoredFinding> for Finding {
    fn from(stored: StoredFinding) -> Finding {
        let stage = match (stored.stage, stored.reduced) {
            (Some(stage), _) => stage,
            (None, Some(shrunk)) => Stage::Reduced(shrunk),
            // Only the folder's name needs the input's hash, and it has its name already.
            (None, None) if stored.pending => Stage::Pending { input: String::new(), process: 0 },
            (None, None) => Stage::Unreduced,
        };
        let (expectation, answer, evidence) = match stored.expectation {
            StoredExpectation::Now(expectation) => (expectation, stored.answer, stored.evidence),
            StoredExpectation::Then { answer, derived, why } => {
                let expectation = match (derived, answer) {
                    (Some(from), Some(answer)) => {
                        Expectation::Derived(Derivation { answer, from, steps: Vec::new() })
                    }
                    _ => Expectation::Agree,
                };
                (expectation, answer, why)
            }
        };
        let blamed = !matches!(stored.kind, Kind::Disagreement);
        let runs: Vec<RunRecord> =
            stored.runs.into_iter().enumerate().map(|(place, run)| run.record(place)).collect();
        Finding {
            osprey: stored.osprey,
            found: stored.found,
            kind: stored.kind,
            solver: stored.solver,
            title: stored.title,
            summary: stored.summary,
            signature: stored.signature,
            flaky: stored.flaky,
            stage,
            expectation,
            answer,
            evidence,
            accused: stored.accused.or_else(|| runs.first().filter(|_| blamed).map(|run| run.party)),
            check: stored.check,
            platform: stored.platform,
            runs,
            operators: stored.operators,
            blame: stored.blame,
            releases: stored.releases,
            group: stored.group,
            handling: stored.handling,
            provenance: stored.provenance,
        }
    }
}

impl StoredRun {
    fn record(self, place: usize) -> RunRecord {
        let mut user_options = self.user_options;
        user_options.extend(self.options);
        RunRecord {
            party: self.party.unwrap_or(PartyId(place as u32)),
            solver: self.solver,
            user_options,
            version: self.version,
            sha256: self.sha256,
            command: self.command,
            settings: self.settings,
            unfair: self.unfair,
            too_many: self.too_many,
            judged: self.judged,
            models: self.models,
            broad: self.broad,
            class: self.class,
            answers: self.answers,
            stdout: self.stdout,
            stderr: self.stderr,
            cpu_ms: self.cpu_ms,
            ended: self.ended,
            crash: self.crash,
            program: self.program,
            arguments: self.arguments,
            from_stdin: self.from_stdin,
            origin: self.origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `finding.json` of version 0.1, shortened.
    const OLD: &str = r#"{"osprey":"0.1.0","found":1,"kind":"refutation-soundness","solver":"z3@4.8.7","title":"Z3",
        "summary":"s","signature":"refutation-soundness | z3@4.8.7 | default options | mod","flaky":false,
        "expectation":{"answer":"sat","derived":"z3 and cvc5 agree","why":["w"]},
        "runs":[{"solver":"z3@4.8.7","user_options":["a=1"],"version":"4.8.7","command":"z3 input.smt2",
        "options":["b=2"],"models":true,"class":"answered","answers":["unsat"],"stdout":"","stderr":"","cpu_ms":3}],
        "operators":["mod"],"reduced":{"before":{"nodes":9,"bytes":90},"after":{"nodes":3,"bytes":30},
        "candidates":7,"seconds":1.0,"finished":true},"provenance":{"rng_seed":1,"round":2,"step":3,
        "engine":"opfuzz","logic":"ALL","company":[0],"seeds":[],"script":"00","changes":[],"feedback":["n"]}}"#;

    #[test]
    fn a_finding_of_an_earlier_version_is_read_and_keeps_its_name() {
        let finding: Finding = serde_json::from_str(OLD).expect("a finding");
        assert!(finding.is_reduced());
        assert_eq!(finding.answer, Some(Status::Sat));
        assert_eq!(finding.expectation.because(), "z3 and cvc5 agree");
        assert_eq!(finding.runs[0].user_options, ["a=1", "b=2"]);
        assert_eq!(finding.accused, Some(PartyId(0)));
        let hash = &crate::hash::name(b"refutation-soundness | z3@4.8.7 | default options | mod")[..12];
        assert_eq!(finding.hash(), hash);
        let again: Finding =
            serde_json::from_str(&serde_json::to_string(&finding).expect("JSON")).expect("read");
        assert_eq!(again, finding);
    }
}
