//! Quantifiers copied or skolemised (section VI-C, Table II), and whether what was enforced holds in the model of the mutant
//! (section VI-D), on files of a corpus.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use campaign::Target;
use campaign::driver::{AnswerCache, Driver, Questions};
use engines::values::{Preset, Quantifiers};
use engines::{Feedback, Values};
use solver::Solver;
use solver::run::{RunRules, SolverRunner};

use super::meter::Meter;
use super::record::{Record, Records};
use super::statistics::Sample;
use super::trial::{plan, record};
use super::{Configuration, Settings};
use crate::error::BenchError;
use crate::report::{Cell, Table};
use crate::watch::Watch;

/// Larger files are passed over.
const LARGEST: u64 = 16 << 10;

/// Memory of one run.
const MEMORY: u64 = 2 << 30;

/// What files are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Forall,
    Exists,
    QuantifierFree,
}

const GROUPS: [(Group, &str); 3] =
    [(Group::Forall, "forall"), (Group::Exists, "exists"), (Group::QuantifierFree, "quantifier-free")];

/// Table II of the paper in percent: satisfiable enforcements copied and skolemised, satisfiable mutants likewise; and the
/// configuration that copies the quantifier in question and no other.
const PAPER: [(Group, &str, [&str; 4]); 2] = [
    (Group::Forall, "corpus mixed", ["78.3", "93.5 ± 0.1", "30.7", "22.3 ± 0.8"]),
    (Group::Exists, "corpus dual", ["87.6 ± 0.6", "93.3 ± 0.3", "15.8 ± 4.6", "28.6 ± 1.8"]),
];

/// What is measured on files, with the group that it is measured on; on all without.
fn configurations(iterations: usize) -> [(Option<Group>, Configuration); 4] {
    let skolu = Values { iterations, models: 1, own_models: 1.0, own_only: true, ..Preset::Skolu.settings() };
    let copying = |quantifiers| Values { quantifiers, ..skolu.clone() };
    let named = |name: &str, values| Configuration { name: name.to_owned(), values };
    [
        (None, named("corpus skolu", skolu.clone())),
        (None, named("corpus monitored", Values { monitored: true, ..skolu.clone() })),
        (Some(Group::Forall), named("corpus mixed", copying(Quantifiers::Mixed))),
        (Some(Group::Exists), named("corpus dual", copying(Quantifiers::Dual))),
    ]
}

/// Runs what is not on record yet, and tells the files of each group.
pub(super) fn run(
    folder: &Path,
    settings: &Settings,
    references: &[Solver],
    records: &Records,
    watch: &dyn Watch,
) -> Result<Vec<Table>, BenchError> {
    let files = files(folder, settings.files)?;
    let measured = configurations(settings.corpus_iterations);
    // The repetitions outside: what an interruption leaves is whole ones.
    let mut jobs: Vec<(&File, &Configuration, u64)> = Vec::new();
    for run in 0..settings.corpus_repetitions {
        for file in &files {
            let wanted =
                measured.iter().filter(|(group, _)| group.is_none_or(|group| file.groups.contains(&group)));
            jobs.extend(wanted.map(|(_, configuration)| (file, configuration, run)));
        }
    }
    let next = AtomicUsize::new(0);
    let worked = std::thread::scope(|scope| {
        let work = || -> Result<(), BenchError> {
            let targets = Target::numbered(references.iter().cloned());
            let configurations = targets.iter().map(Target::configuration).collect();
            let rules = RunRules::for_campaign(Duration::from_secs(1), MEMORY);
            let mut runner = SolverRunner::new(configurations, rules)
                .map_err(|source| BenchError::Run { solver: "the references".to_owned(), source })?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((file, configuration, run)) = jobs.get(number).filter(|_| !watch.stopped()) else {
                    return Ok(());
                };
                watch.progress(number, jobs.len(), &format!("corpus: {}", file.name));
                if !records.has(&file.name, &configuration.name, *run, settings.corpus_time) {
                    records.add(measure(file, configuration, *run, settings, &targets, &mut runner)?)?;
                }
            }
        };
        let workers: Vec<_> = (0..settings.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(()))).collect::<Result<Vec<()>, _>>()
    });
    worked?;
    let results = Results { files: &files, records, repetitions: settings.corpus_repetitions };
    Ok(vec![results.quantifiers(), results.holding()])
}

/// A file that nothing can be made of has a record without counts.
fn measure(
    file: &File,
    configuration: &Configuration,
    run: u64,
    settings: &Settings,
    targets: &[Target],
    runner: &mut SolverRunner,
) -> Result<Record, BenchError> {
    let failed = |panic: campaign::driver::EnginePanic| BenchError::Usage(panic.to_string());
    let limit = settings.corpus_time;
    let mut meter = Meter::start(runner, limit);
    // What is satisfiable is counted, and a candidate that came with `unknown` need not be.
    let mut answers = AnswerCache::default().only_sat(true);
    let mut driver = Driver::new(targets, settings.rng_seed);
    let plan = plan(&file.name, &file.text, run, (0..targets.len()).collect());
    let mut questions = Questions { targets, runner, cache: &mut answers };
    let opened = driver.open(&configuration.values, &plan, &mut questions).map_err(failed)?;
    let Some(mut chain) = opened else { return Ok(Record::new(&file.name, &configuration.name, run)) };
    let cut = loop {
        if meter.is_over(questions.runner) {
            break true;
        }
        if driver.next(&mut chain, &mut questions).map_err(failed)?.is_none() {
            break false;
        }
        chain.learn(&Feedback::default());
    };
    let cpu = meter.spent(questions.runner).as_secs_f64();
    answers.take_failure()?;
    let found = record(&file.name, &configuration.name, run, &chain);
    Ok(Record { cut, cpu, limit: limit.as_secs_f64(), ..found })
}

/// A file of the corpus.
struct File {
    /// Relative to the corpus.
    name: String,
    text: String,
    groups: Vec<Group>,
}

/// Up to so many files of each group, from all parts of the corpus alike.
fn files(folder: &Path, most: usize) -> Result<Vec<File>, BenchError> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    // A step that has no divisor in common with the number of files goes through all of them, far apart.
    let count = paths.len().max(1);
    let step = (count * 5 / 8..).find(|step| gcd(*step, count) == 1).unwrap_or(1);
    let mut found: Vec<File> = Vec::new();
    let mut counts = [0usize; GROUPS.len()];
    for number in 0..paths.len() {
        let path = &paths[number * step % count];
        if counts.iter().all(|count| *count >= most) {
            break;
        }
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let (forall, exists) = (text.contains("(forall "), text.contains("(exists "));
        let member = |group: &Group| match group {
            Group::Forall => forall,
            Group::Exists => exists,
            Group::QuantifierFree => !forall && !exists,
        };
        let mut groups = Vec::new();
        for (place, (group, _)) in GROUPS.iter().enumerate() {
            if member(group) && counts[place] < most {
                counts[place] += 1;
                groups.push(*group);
            }
        }
        if !groups.is_empty() {
            let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            found.push(File { name, text, groups });
        }
    }
    Ok(found)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), BenchError> {
    let failed = |source| BenchError::Read { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "smt2")
            && entry.metadata().is_ok_and(|about| about.len() <= LARGEST)
        {
            into.push(path);
        }
    }
    Ok(())
}

/// What has been measured.
struct Results<'a> {
    files: &'a [File],
    records: &'a Records,
    repetitions: u64,
}

impl Results<'_> {
    fn of_group(&self, group: Group) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.groups.contains(&group))
    }

    /// The share of one count in another over the files of a group, in percent: mean and deviation of the repetitions that are
    /// complete, or the first one as far as it has come.
    fn share(&self, group: Group, configuration: &str, part: &str, whole: &str) -> Cell {
        let mut complete = Vec::new();
        let mut first = None;
        for run in 0..self.repetitions {
            let (mut parts, mut wholes, mut missing) = (0, 0, false);
            for file in self.of_group(group) {
                let record = self.records.of(&file.name, configuration, run);
                missing |= record.is_none();
                parts += record.as_ref().map_or(0, |record| record.figure(part));
                wholes += record.as_ref().map_or(0, |record| record.figure(whole));
            }
            if wholes > 0 {
                let percent = 100.0 * parts as f64 / wholes as f64;
                first.get_or_insert(percent);
                complete.extend((!missing).then_some(percent));
            }
        }
        let sample = Sample::of(&complete);
        match (sample.count, first) {
            (0, None) => Cell::None,
            (0, Some(percent)) => format!("{percent:.1} %, incomplete").into(),
            (1, _) => format!("{:.1} %", sample.mean).into(),
            _ => format!("{:.1} ± {:.1} %", sample.mean, sample.deviation).into(),
        }
    }

    /// Files of a group that something was enforced on, and all of them.
    fn enforced_on(&self, group: Group) -> Cell {
        let enforced = |file: &&File| {
            (0..self.repetitions)
                .filter_map(|run| self.records.of(&file.name, "corpus skolu", run))
                .any(|record| record.figure("enforcements") > 0)
        };
        let count = self.of_group(group).filter(enforced).count();
        Cell::of(count as u64, self.of_group(group).count() as u64)
    }

    /// Rounds on the files of a group that the limit cut, and all of them.
    fn cut(&self, group: Group) -> Cell {
        let (mut cut, mut all) = (0, 0);
        for file in self.of_group(group) {
            for (_, configuration) in configurations(0) {
                for run in 0..self.repetitions {
                    let record = self.records.of(&file.name, &configuration.name, run);
                    all += u64::from(record.is_some());
                    cut += u64::from(record.is_some_and(|record| record.cut));
                }
            }
        }
        Cell::of(cut, all)
    }

    fn quantifiers(&self) -> Table {
        let columns = [
            "files with",
            "files with enforcements",
            "satisfiable enforcements, copied",
            "paper",
            "skolemised",
            "paper",
            "satisfiable mutants, copied",
            "paper",
            "skolemised",
            "paper",
        ];
        let mut table = Table::new("Quantifiers copied or skolemised", &columns);
        for (group, copied, figures) in PAPER {
            let name = GROUPS.iter().find(|(other, _)| *other == group).map_or("", |(_, name)| name);
            let paper = |place: usize| Cell::from(format!("{} %", figures[place]));
            table.row([
                name.into(),
                self.enforced_on(group),
                self.share(group, copied, "satisfied", "enforcements"),
                paper(0),
                self.share(group, "corpus skolu", "satisfied", "enforcements"),
                paper(1),
                self.share(group, copied, "satisfiable", "looked at"),
                paper(2),
                self.share(group, "corpus skolu", "satisfiable", "looked at"),
                paper(3),
            ]);
        }
        table
    }

    /// Possible truth values: those that some model of a mutant might have.
    fn holding(&self) -> Table {
        let columns = [
            "files",
            "files with enforcements",
            "monitors left in the mutant",
            "of possible ones",
            "paper",
            "plain mutant",
            "of possible ones",
            "rounds of all kinds cut by the limit",
        ];
        let mut table = Table::new("Enforced truth values that hold in the mutant's own model", &columns);
        for (group, name) in GROUPS {
            let all = |configuration| self.share(group, configuration, "held", "modelled");
            let possible =
                |configuration| self.share(group, configuration, "held possible", "modelled possible");
            table.row([
                name.into(),
                self.enforced_on(group),
                all("corpus monitored"),
                possible("corpus monitored"),
                "77.6 ± 7.2 %".into(),
                all("corpus skolu"),
                possible("corpus skolu"),
                self.cut(group),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_each_group_are_found_in_folders_and_counted_up_to_the_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("deep")).expect("a folder");
        for number in 0..4 {
            let write = |name: &str, text: &str| {
                std::fs::write(folder.path().join(format!("{name}{number}.smt2")), text).expect("a file");
            };
            write("deep/all", "(assert (forall ((x Int)) (> x 1)))");
            write("both", "(assert (forall ((x Int)) (exists ((y Int)) (> x y))))");
            write("free", "(assert true)");
        }
        let found = files(folder.path(), 3).expect("files");
        let count = |group: Group| found.iter().filter(|file| file.groups.contains(&group)).count();
        assert_eq!([Group::Forall, Group::Exists, Group::QuantifierFree].map(count), [3, 3, 3]);
        let all = files(folder.path(), 100).expect("files");
        assert_eq!(all.len(), 12);
    }
    #[test]
    fn shares_are_means_of_complete_repetitions_and_declined_files_are_not_counted() {
        let file =
            |name: &str| File { name: name.to_owned(), text: String::new(), groups: vec![Group::Forall] };
        let files = [file("a"), file("declined")];
        let records = Records::open(None).expect("in memory");
        let add = |name: &str, run: u64, counts: &[(&str, u64)]| {
            let figures = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            let record = Record { figures, ..Record::new(name, "corpus skolu", run) };
            records.add(record).expect("in memory");
        };
        let results = Results { files: &files, records: &records, repetitions: 3 };
        let share = || results.share(Group::Forall, "corpus skolu", "satisfied", "enforcements");
        assert_eq!(share(), Cell::None);
        add("a", 0, &[("enforcements", 4), ("satisfied", 1)]);
        assert_eq!(share(), "25.0 %, incomplete".into());
        add("declined", 0, &[]);
        assert_eq!(share(), "25.0 %".into());
        add("a", 1, &[("enforcements", 4), ("satisfied", 2)]);
        add("declined", 1, &[]);
        add("a", 2, &[("enforcements", 4), ("satisfied", 4)]);
        assert_eq!(share(), "37.5 ± 17.7 %".into(), "the third is not complete");
        assert_eq!(results.enforced_on(Group::Forall), Cell::of(1, 2));
    }

    #[test]
    fn only_the_quantifier_in_question_is_copied() {
        let measured = configurations(4);
        for (group, copied, _) in PAPER {
            let of = |name: &str| measured.iter().find(|(_, configuration)| configuration.name == name);
            let (on, configuration) = of(copied).expect("a configuration");
            let other = if group == Group::Forall { Quantifiers::Mixed } else { Quantifiers::Dual };
            assert_eq!((*on, configuration.values.quantifiers), (Some(group), other));
        }
        assert!(measured.iter().all(|(_, configuration)| configuration.values.own_only));
    }
}
