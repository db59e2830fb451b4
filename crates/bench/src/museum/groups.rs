//! `osprey bench groups`: is one bug one finding?
//!
//! Every item's trigger is the seed of a short campaign on the item's release. All findings of all campaigns are then
//! mixed and told apart, once by their signatures alone and once by groups, and compared with what is known: items of one
//! issue with one fix are one bug, and so are items whose triggers come down to the same; all others are different ones.
//!
//! A campaign finds other bugs than its item's, too, and often the same ones from many items. What crashes where the item
//! does not, shows on other releases than the trigger, or needs a construct that the trigger does not have, is a *stray*; so
//! is what campaigns of different bugs came down to alike, be it the same script or the same place of a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use campaign::findings::{Face, Rarity, group_of};
use campaign::{Finding, KnownFinding, findings};
use oracle::Kind;
use reduce::blame::{self, Blamed, Role};
use smtlib::{Mode, Store};

use super::item::{Item, TRIGGER};
use super::judged::{self, ItemResults, Settings};
use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// How findings are made.
pub struct Making {
    /// Osprey's own program.
    pub osprey: PathBuf,
    /// Time of the campaign of one item.
    pub time: Duration,
    /// Releases that are asked.
    pub references: Vec<String>,
    /// Where the campaigns are kept; those that are there are not run again.
    pub out: PathBuf,
}

/// A finding, and what is known about it.
struct Labelled {
    /// The bug: issue and fix.
    truth: String,
    item: String,
    finding: Finding,
    face: Face,
    /// What two findings of one bug at the most have alike: the place of a crash, or the script it came down to.
    same: Option<String>,
    /// It is most likely another bug than the item's.
    stray: bool,
}

/// The mark of a campaign that has come to its end.
const DONE: &str = "complete";

/// Makes findings of all items and tells them apart.
pub fn run(settings: &Settings, making: &Making, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("groups", "One bug, one finding", &settings.command);
    draft.versions = making.references.clone();
    let ask = |item: &Item| of_item(item, making, watch);
    let ItemResults { results, refused, all } = judged::for_all(settings, watch, |_| true, ask)?;
    for error in refused {
        draft.skip("item", error.to_string());
    }
    if results.len() < all {
        draft.partial = Some(format!("interrupted after {} of {all} items", results.len()));
    }
    let mut labelled: Vec<Labelled> = Vec::new();
    let mut barren = 0;
    for (item, outcome) in results {
        match outcome {
            Ok(found) => {
                barren += u64::from(found.is_empty());
                labelled.extend(found);
            }
            Err(error) => draft.skip(&item.id, error.to_string()),
        }
    }
    unite(&mut labelled);
    found_from_several(&mut labelled);
    fill(&mut draft, making, barren, &labelled);
    Ok(draft.finish())
}

/// The findings of an item's campaign, run now unless it was before.
fn of_item(item: &Item, making: &Making, watch: &dyn Watch) -> Result<Vec<Labelled>, BenchError> {
    let out = making.out.join(&item.id);
    if !out.join(DONE).is_file() {
        campaign(item, &out, making)?;
        if watch.stopped() {
            return Ok(Vec::new());
        }
        std::fs::write(out.join(DONE), "")
            .map_err(|source| BenchError::Write { path: out.clone(), source })?;
    }
    let mut found = Vec::new();
    for folder in findings::finished(&out.join("bugs")).unwrap_or_default() {
        let Ok((finding, _)) = Finding::read(&folder) else { continue };
        if finding.solver != item.release() || finding.is_pending() || finding.flaky {
            continue;
        }
        let face = Face::of(&finding, &Rarity::default());
        let script = || std::fs::read_to_string(folder.join("reduced.smt2")).ok();
        let same = face.place.clone().or_else(script);
        found.push(Labelled { truth: truth(item), item: item.id.clone(), finding, face, same, stray: false });
    }
    found.sort_by_key(|one| (one.finding.provenance.round, one.finding.provenance.step));
    // The trigger as it is shows the item's bug and no other.
    let own = found.iter().find(|one| one.is_trigger()).map(|one| one.face.clone());
    let known = constructs(item);
    for one in &mut found {
        let crashes = |kind: Kind| kind == Kind::Crash;
        one.stray = crashes(one.finding.kind) != crashes(item.kind)
            || own.as_ref().is_some_and(|own| !findings::releases_fit(own, &one.face))
            || one.needs().any(|construct| !known.contains(construct));
    }
    Ok(found)
}

impl Labelled {
    fn is_trigger(&self) -> bool {
        self.finding.provenance.engine == "seed"
    }

    /// What makes its item one bug with others.
    fn marks(&self) -> Vec<String> {
        let mut marks = vec![self.finding.signature.to_string()];
        if let (Some((issue, _)), Some(releases)) =
            (self.truth.split_once(", fixed in "), &self.face.releases)
            && (releases.last_good.is_some() || releases.first_fixed.is_some())
        {
            marks.push(format!("{issue} from {:?} to {:?}", releases.last_good, releases.first_fixed));
        }
        marks
    }

    /// What computes something in the script and cannot go.
    fn needs(&self) -> impl Iterator<Item = &str> {
        let needed = |blamed: &&Blamed| blamed.role == Role::Computes && blamed.needed > 0;
        self.finding.blame.constructs.iter().filter(needed).map(|blamed| blamed.construct.as_str())
    }
}

/// The constructs of an item's trigger.
fn constructs(item: &Item) -> BTreeSet<String> {
    let mut store = Store::new();
    let text = std::fs::read(item.folder.join(TRIGGER)).unwrap_or_default();
    let Ok(parsed) = smtlib::parse(&mut store, &text, Mode::Tolerant) else { return BTreeSet::new() };
    blame::constructs(&store, &parsed.script).into_iter().map(|name| name.into_owned()).collect()
}

/// Items whose triggers come down to the same signature are one bug: nothing could tell them apart. So are items of one
/// issue whose triggers show on the same releases, whatever is said about when they were mended.
fn unite(labelled: &mut [Labelled]) {
    let mut by_mark: BTreeMap<String, String> = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for one in labelled.iter().filter(|one| one.is_trigger() && !one.stray) {
        for mark in one.marks() {
            let own = names.get(&one.truth).unwrap_or(&one.truth).clone();
            let first = by_mark.entry(mark).or_insert(own.clone()).clone();
            for name in names.values_mut().chain(by_mark.values_mut()).filter(|name| **name == own) {
                name.clone_from(&first);
            }
            names.insert(one.truth.clone(), first);
        }
    }
    for one in labelled {
        if let Some(name) = names.get(&one.truth) {
            one.truth.clone_from(name);
        }
    }
}

/// What campaigns of different bugs came down to alike is one bug that was found several times, and of most of them not the
/// item's own.
fn found_from_several(labelled: &mut [Labelled]) {
    let mut truths: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let key = |one: &Labelled| Some((one.finding.solver.clone(), one.same.clone()?));
    for one in &*labelled {
        if let Some(key) = key(one) {
            truths.entry(key).or_default().insert(one.truth.clone());
        }
    }
    for one in labelled.iter_mut().filter(|one| !one.is_trigger()) {
        one.stray |= key(one).and_then(|key| truths.get(&key)).is_some_and(|truths| truths.len() > 1);
    }
}

/// Items of one issue are one bug if they were mended in one release. Whoever knew of no issue may have written 0.
fn truth(item: &Item) -> String {
    let issue = item.more.get("issue").and_then(toml::Value::as_integer);
    match issue.filter(|issue| *issue > 0) {
        Some(issue) => format!("{} issue {issue}, fixed in {}", item.solver, item.fixed_in),
        None => item.id.clone(),
    }
}

fn campaign(item: &Item, out: &Path, making: &Making) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { path: out.to_owned(), source };
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(failed)?;
    }
    // Wrong models are found by our own evaluation.
    let options = item
        .options
        .iter()
        .filter(|word| !["model_validate", "check-models"].iter().any(|own| word.contains(own)));
    let words: Vec<String> = std::iter::once(item.release()).chain(options.cloned()).collect();
    let mut command = Command::new(&making.osprey);
    command.arg("fuzz").arg(item.folder.join(TRIGGER)).args(["-s", &words.join(" ")]);
    for reference in &making.references {
        command.args(["--reference", reference]);
    }
    let seconds = making.time.as_secs().max(1).to_string();
    command
        .args(["--time", &seconds, "--jobs", "1", "--rng-seed", "1", "--reduce-all", "--json", "--out"])
        .arg(out);
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(failed)?;
    // Nothing found and something found are both good ends.
    match output.status.code() {
        Some(0 | 10) => Ok(()),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let reason = said.lines().last().unwrap_or("it said nothing").to_owned();
            Err(BenchError::Malformed { path: item.folder.clone(), reason })
        }
    }
}

/// Which group each finding is put into, when they come one after the other.
fn grouped(labelled: &[&Labelled]) -> Vec<String> {
    let mut known: Vec<KnownFinding> = Vec::new();
    for (place, one) in labelled.iter().enumerate() {
        let hash = place.to_string();
        let same = known.iter().find(|other| other.signature == one.finding.signature.to_string());
        let group = match same {
            Some(same) => same.group.clone(),
            None => group_of(&one.face, &known, Rarity::default())
                .map_or_else(|| hash.clone(), |(group, _)| group),
        };
        known.push(KnownFinding {
            hash,
            signature: one.finding.signature.to_string(),
            kind: one.finding.kind.to_string(),
            solver: one.finding.solver.clone(),
            folder: String::new(),
            round: 0,
            step: 0,
            duplicates: 0,
            flaky: false,
            group,
            face: one.face.to_text(),
        });
    }
    known.into_iter().map(|one| one.group).collect()
}

/// Groups per true bug, and true bugs per group.
fn quality(labelled: &[&Labelled], groups: &[String]) -> (f64, f64) {
    let mut by_truth: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut by_group: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (one, group) in labelled.iter().zip(groups) {
        by_truth.entry(&one.truth).or_default().insert(group);
        by_group.entry(group).or_default().insert(&one.truth);
    }
    let mean = |sets: &BTreeMap<&str, BTreeSet<&str>>| {
        sets.values().map(BTreeSet::len).sum::<usize>() as f64 / sets.len().max(1) as f64
    };
    (mean(&by_truth), mean(&by_group))
}

fn fill(draft: &mut Draft, making: &Making, barren: u64, labelled: &[Labelled]) {
    let all: Vec<&Labelled> = labelled.iter().collect();
    let own: Vec<&Labelled> = labelled.iter().filter(|one| !one.stray).collect();
    let bugs =
        |chosen: &[&Labelled]| chosen.iter().map(|one| one.truth.as_str()).collect::<BTreeSet<&str>>().len();
    let items: BTreeSet<&str> = all.iter().map(|one| one.item.as_str()).collect();
    draft.summary.push(format!(
        "{} findings of {} items, {} different bugs, {} s of a campaign from each trigger, all mixed. {barren} more items \
         gave no finding. Strays, most likely of other bugs than the item's: {}. Without \
         strays {} findings of {} bugs are left.",
        all.len(),
        items.len(),
        bugs(&all),
        making.time.as_secs(),
        all.len() - own.len(),
        own.len(),
        bugs(&own)
    ));
    let mut table = Table::new(
        "",
        &["findings", "told apart by", "entries", "entries per true bug", "true bugs per entry"],
    );
    for (words, chosen) in [("all", &all), ("without strays", &own)] {
        let signatures: Vec<String> = chosen.iter().map(|one| one.finding.signature.to_string()).collect();
        for (how, groups) in [("signatures", signatures), ("groups", grouped(chosen))] {
            let (per_bug, per_group) = quality(chosen, &groups);
            let entries: BTreeSet<&String> = groups.iter().collect();
            table.row([words.into(), how.into(), entries.len().into(), per_bug.into(), per_group.into()]);
        }
    }
    draft.tables.push(table);
    let groups = grouped(&own);
    draft.tables.push(mixed(&own, &groups));
    draft.tables.push(torn(&own, &groups));
}

/// Groups of several true bugs.
fn mixed(labelled: &[&Labelled], groups: &[String]) -> Table {
    let mut by_group: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for (one, group) in labelled.iter().zip(groups) {
        let its = by_group.entry(group).or_default();
        its.entry(&one.truth).or_insert_with(|| one.finding.signature.to_string());
    }
    let mut table = Table::detail("Groups of several bugs", &["bugs", "first signatures"]);
    for its in by_group.values().filter(|its| its.len() > 1) {
        let (bugs, signatures): (Vec<&str>, Vec<&str>) =
            its.iter().map(|(bug, signature)| (*bug, signature.as_str())).unzip();
        table.row([Cell::from(bugs.join("; ")), Cell::from(signatures.join("; "))]);
    }
    table
}

/// Bugs in several groups.
fn torn(labelled: &[&Labelled], groups: &[String]) -> Table {
    let mut by_truth: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for (one, group) in labelled.iter().zip(groups) {
        let its = by_truth.entry(&one.truth).or_default();
        its.entry(group).or_insert_with(|| one.finding.signature.to_string());
    }
    let mut table = Table::detail("Bugs in several groups", &["bug", "first signatures"]);
    for (bug, its) in by_truth.iter().filter(|(_, its)| its.len() > 1) {
        let signatures: Vec<&str> = its.values().map(String::as_str).collect();
        table.row([(*bug).into(), Cell::from(signatures.join("; "))]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, issue: &str) -> Item {
        let text = format!(
            "id = '{id}'\nsolver = 'z3'\nversion = '4.8.7'\nkind = 'crash'\nexpected = 'sat'\ntheory = 'ints'\n{issue}"
        );
        toml::from_str(&text).expect("an item")
    }

    #[test]
    fn items_of_one_issue_are_one_bug_and_those_without_a_number_are_bugs_of_their_own() {
        let one = |issue| truth(&item("one", issue));
        let other = |issue| truth(&item("other", issue));
        assert_eq!(one("issue = 42"), other("issue = 42"));
        for unknown in ["", "issue = 0"] {
            assert_ne!(one(unknown), other(unknown), "{unknown}");
        }
        assert_ne!(one("issue = 42"), one("issue = 43"));
    }
}
