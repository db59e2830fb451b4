//! Findings as bugs, in the order in which developers ask for them: what they must know first comes first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use campaign::findings::{Face, Fairness, Group, Mark, MarkState, Membership, Rarity, newest_mark};
use campaign::{Finding, KnownFinding};
use oracle::Kind;
use serde::Serialize;
use smtlib::Version;

/// A finding, with what the store knows of it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub folder: PathBuf,
    /// Test cases that showed it again.
    pub duplicates: u64,
    /// The bug it is taken for: the hash of the first finding that showed it.
    pub bug: String,
    pub finding: Arc<Finding>,
    /// The bug in one line.
    pub headline: String,
}

/// As other programs read it: the finding, and what is made of it.
#[derive(Serialize)]
struct Written<'a> {
    folder: &'a PathBuf,
    duplicates: u64,
    bug: &'a str,
    fair: Fairness,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Entry { folder, duplicates, bug, finding, .. } = self;
        Written { folder, duplicates: *duplicates, bug, fair: self.fairness(), finding }.serialize(serializer)
    }
}

/// Findings that are taken for one bug.
#[derive(Clone, Debug, Serialize)]
pub struct Bug {
    /// The hash of the first finding that showed it.
    #[serde(rename = "bug")]
    pub id: String,
    /// The gravest kind it was seen as.
    pub kind: Kind,
    /// Test cases that showed it.
    pub shown: u64,
    /// What a person has said about it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The clearest.
    pub example: Entry,
    /// The others.
    pub faces: Vec<Entry>,
}

impl Entry {
    /// The name of its folder.
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Options that the accused was given, as they are written.
    pub fn options(&self) -> Vec<String> {
        let Some(run) = self.finding.runs.first() else { return Vec::new() };
        let settings = run.settings.iter().map(|setting| format!("{}={}", setting.option, setting.value));
        run.user_options.iter().cloned().chain(settings).collect()
    }

    /// Would the developers take a report about its options?
    pub fn fairness(&self) -> Fairness {
        self.finding.fairness()
    }

    /// Theories by the operators that are left, in few words.
    pub fn theory(&self) -> String {
        theory(&self.finding)
    }

    /// Expressions and bytes of the script that shows it.
    pub fn size(&self) -> Option<(usize, usize)> {
        match &self.finding.stage {
            campaign::findings::Stage::Reduced(shrunk) => Some((shrunk.after.nodes, shrunk.after.bytes)),
            _ => None,
        }
    }

    /// The newest release that has it, as far as anybody knows.
    pub fn newest_release(&self) -> String {
        let affected = self.finding.releases.as_ref().and_then(|releases| releases.affected.last());
        let rechecked = self.finding.handling.rechecks.iter().rev();
        let mut still = rechecked.filter(|one| one.outcome == campaign::findings::RecheckOutcome::StillThere);
        let newest = [affected, still.next().map(|one| &one.solver), Some(&self.finding.solver)];
        newest.into_iter().flatten().max_by_key(|name| version(name)).cloned().unwrap_or_default()
    }

    /// The newest release that has it, in words.
    pub fn affected(&self) -> String {
        let newest = self.newest_release();
        match newest == self.finding.solver {
            true => format!("in {newest}"),
            false => format!("up to {newest}"),
        }
    }

    /// How far it has come, in one word.
    pub fn stage(&self) -> &'static str {
        match &self.finding.stage {
            campaign::findings::Stage::Pending { .. } => "pending",
            campaign::findings::Stage::Unreduced => "unreduced",
            campaign::findings::Stage::Reduced(_) => "reduced",
        }
    }

    fn face(&self) -> Face {
        Face::of(&self.finding, &Rarity::default())
    }
}

impl Bug {
    /// All findings that are taken for it, the clearest first.
    pub fn members(&self) -> impl Iterator<Item = &Entry> {
        std::iter::once(&self.example).chain(&self.faces)
    }

    /// What a person said, or that nobody has said anything.
    pub fn state(&self) -> &'static str {
        match &self.mark {
            Some(mark) => mark.state.word(),
            None if self.is_pending() => "pending",
            None => "new",
        }
    }

    /// Is it confirmed, but not told apart from the others yet?
    pub fn is_pending(&self) -> bool {
        self.example.finding.is_pending()
    }

    /// Wrong answers first, `unsat` before `sat`, then wrong models, then the rest; default options before others; newer
    /// releases before older ones. Bugs of options that developers take no reports about come after all others. What somebody has dealt with comes last, what is not told apart yet after what is.
    fn rank(&self, releases: &Known) -> impl Ord + use<> {
        let dealt_with = match self.mark.as_ref().map(|mark| mark.state) {
            None => 0,
            Some(MarkState::Reported) => 1,
            Some(MarkState::Known) => 2,
            Some(MarkState::Fixed) => 3,
            Some(MarkState::NotABug) => 4,
        };
        let example = &self.example;
        let newer = self.members().map(|entry| releases.newer(entry)).min();
        (
            dealt_with,
            example.fairness() == Fairness::Unfair,
            self.kind,
            example.finding.is_pending(),
            example.finding.flaky,
            example.fairness(),
            newer,
            !example.finding.is_reduced(),
            example.size().map_or(usize::MAX, |(nodes, _)| nodes),
            Reverse(self.shown),
            self.id.clone(),
        )
    }
}

/// All bugs of these findings, the most important first. Groups are as the store has them; findings that it does not know
/// are the bugs that they say.
pub fn bugs(entries: Vec<Entry>, known: &[KnownFinding]) -> Vec<Bug> {
    let mut by_hash: BTreeMap<String, Entry> = BTreeMap::new();
    let mut unknown: Vec<Entry> = Vec::new();
    let hashes: BTreeSet<&str> = known.iter().map(|known| known.hash.as_str()).collect();
    for entry in entries {
        let hash = entry.finding.hash();
        match hashes.contains(hash.as_str()) {
            true => _ = by_hash.insert(hash, entry),
            false => unknown.push(entry),
        }
    }
    let releases = Known::of(by_hash.values().chain(&unknown));
    let mut members: BTreeMap<String, (u64, Vec<Entry>)> = BTreeMap::new();
    for group in Group::all(known) {
        let there = group.members.iter().filter_map(|member| by_hash.remove(&member.hash)).collect();
        members.insert(group.id.clone(), (group.shown(), there));
    }
    // Without a store, the clearest is still the first.
    unknown.sort_by_cached_key(|entry| (entry.face().clarity(), entry.name()));
    for entry in unknown {
        let (shown, there) = members.entry(entry.bug.clone()).or_default();
        *shown += 1 + entry.duplicates;
        there.push(entry);
    }
    let bug = |(id, (shown, mut members)): (String, (u64, Vec<Entry>))| {
        let kind = members.iter().map(|member| member.finding.kind).min()?;
        let mark = newest_mark(members.iter().filter_map(|member| member.finding.handling.mark.as_ref()));
        let mark = mark.cloned();
        // What developers take reports about speaks for the bug; else the clearest does.
        members.sort_by_key(|member| member.fairness() == Fairness::Unfair);
        let mut members = members.into_iter();
        let example = members.next()?;
        Some(Bug { id, kind, shown, mark, example, faces: members.collect() })
    };
    let mut bugs: Vec<Bug> = members.into_iter().filter_map(bug).collect();
    bugs.sort_by_cached_key(|bug| bug.rank(&releases));
    bugs
}

/// Releases of each solver that anything in the campaign names. How old a release is tells the number of newer ones: numbers of
/// different solvers' releases cannot be compared.
struct Known(BTreeMap<String, BTreeSet<Version>>);

impl Known {
    fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Known {
        let mut known: BTreeMap<String, BTreeSet<Version>> = BTreeMap::new();
        for finding in entries.map(|entry| &entry.finding) {
            let of_it = |name: &&String| kind_of_solver(name) == kind_of_solver(&finding.solver);
            let tried = finding.releases.iter();
            let tried =
                tried.flat_map(|releases| [&releases.affected, &releases.clean, &releases.silent]).flatten();
            let names = tried
                .chain(finding.handling.rechecks.iter().map(|recheck| &recheck.solver))
                .chain(finding.runs.iter().map(|run| &run.solver))
                .filter(of_it);
            let versions = names.filter_map(|name| version(name)).chain(build(finding));
            known.entry(finding.title.clone()).or_default().extend(versions);
        }
        Known(known)
    }

    /// Releases of its solver that are newer than the newest one that has it.
    fn newer(&self, entry: &Entry) -> usize {
        let newest = version(&entry.newest_release()).into_iter().chain(build(&entry.finding)).max();
        let all = self.0.get(&entry.finding.title).into_iter().flatten();
        all.filter(|one| newest.as_ref().is_none_or(|newest| *one > newest)).count()
    }
}

/// `z3` of `z3@4.8.7`.
fn kind_of_solver(name: &str) -> &str {
    name.split_once('@').map_or(name, |(kind, _)| kind)
}

/// What the accused program said its version is.
fn build(finding: &Finding) -> Option<Version> {
    finding.runs.first().and_then(|run| run.version.parse().ok())
}

/// The bug that a finding says it is taken for.
pub(crate) fn says_it_is(finding: &Finding) -> String {
    let told = |group: &Membership| group.id.clone();
    finding.group.as_ref().map_or_else(|| finding.hash(), told)
}

/// Of `z3@4.8.7`.
fn version(name: &str) -> Option<Version> {
    name.split_once('@').and_then(|(_, version)| version.parse().ok())
}

/// Families of operators by how their names begin.
const FAMILIES: [(&str, &str); 11] = [
    ("str.", "strings"),
    ("re.", "strings"),
    ("bv", "bit-vectors"),
    ("fp", "floating-point"),
    ("seq.", "sequences"),
    ("set.", "sets"),
    ("bag.", "bags"),
    ("ff.", "finite fields"),
    ("select", "arrays"),
    ("store", "arrays"),
    ("sep", "separation logic"),
];

fn theory(finding: &Finding) -> String {
    let mut families: Vec<&str> = Vec::new();
    let mut add = |name: &'static str| {
        if !families.contains(&name) {
            families.push(name);
        }
    };
    for operator in &finding.operators {
        let family = FAMILIES.iter().find(|(start, _)| operator.starts_with(start));
        match (family, operator.as_str()) {
            (Some((_, family)), _) => add(family),
            (None, "+" | "-" | "*" | "/" | "div" | "mod" | "abs" | "<" | ">" | "<=" | ">=") => {
                add("arithmetic")
            }
            (None, "to_real" | "to_int" | "is_int" | "divisible" | "^") => add("arithmetic"),
            (None, "concat" | "extract" | "zero_extend" | "sign_extend" | "repeat" | "bit2bool") => {
                add("bit-vectors")
            }
            (None, "rotate_left" | "rotate_right" | "ext_rotate_left" | "ext_rotate_right") => {
                add("bit-vectors")
            }
            (None, "int_to_bv" | "ubv_to_int" | "sbv_to_int") => add("bit-vectors"),
            (None, "forall" | "exists") => add("quantifiers"),
            (None, _) => {}
        }
    }
    match families.is_empty() {
        true => finding.provenance.logic.clone(),
        false => families.join(", "),
    }
}
