//! Quantifiers copied or skolemised (section VI-C, Table II), and whether what was enforced holds in the model of the mutant
//! (section VI-D), on files of a corpus.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use campaign::Target;
use campaign::driver::{AnswerCache, Driver, Questions};
use engines::values::Preset;
use engines::{Feedback, Values};
use solver::Solver;
use solver::run::{RunRules, SolverRunner};

use super::record::{Record, Records};
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

/// Table II of the paper in percent: satisfiable enforcements copied and skolemised, satisfiable mutants likewise.
const PAPER: [(Group, [f64; 4]); 2] =
    [(Group::Forall, [78.3, 93.5, 30.7, 22.3]), (Group::Exists, [87.6, 93.3, 15.8, 28.6])];

/// What is measured on every file.
fn configurations(iterations: usize) -> [Configuration; 3] {
    let measured = |preset: Preset| Values {
        iterations,
        models: 1,
        own_models: 1.0,
        own_only: true,
        ..preset.settings()
    };
    let named = |name: &str, values| Configuration { name: name.to_owned(), values };
    [
        named("corpus skolu", measured(Preset::Skolu)),
        named("corpus noskole", measured(Preset::Noskole)),
        named("corpus monitored", Values { monitored: true, ..measured(Preset::Skolu) }),
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
    let jobs: Vec<(&File, &Configuration)> = files
        .iter()
        .flat_map(|file| measured.iter().map(move |configuration| (file, configuration)))
        .collect();
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
                let Some((file, configuration)) = jobs.get(number).filter(|_| !watch.stopped()) else {
                    return Ok(());
                };
                watch.progress(number, jobs.len(), &format!("corpus: {}", file.name));
                if records.of(&file.name, &configuration.name, 0).is_none() {
                    records.add(measure(file, configuration, settings, &targets, &mut runner)?)?;
                }
            }
        };
        let workers: Vec<_> = (0..settings.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(()))).collect::<Result<Vec<()>, _>>()
    });
    worked?;
    Ok(vec![quantifiers(&files, records), holding(&files, records)])
}

/// A file that nothing can be made of has a record without counts.
fn measure(
    file: &File,
    configuration: &Configuration,
    settings: &Settings,
    targets: &[Target],
    runner: &mut SolverRunner,
) -> Result<Record, BenchError> {
    let failed = |panic: campaign::driver::EnginePanic| BenchError::Usage(panic.to_string());
    let began = Instant::now();
    let time = settings.corpus_time;
    let mut answers = AnswerCache::until(Some(began + time));
    let mut driver = Driver::new(targets, settings.rng_seed);
    let group = (0..targets.len()).collect();
    let mut questions = Questions { targets, runner, cache: &mut answers };
    let opened = driver
        .open(&configuration.values, &plan(&file.name, &file.text, 0, group), &mut questions)
        .map_err(failed)?;
    let Some(mut chain) = opened else {
        return Ok(Record {
            item: file.name.clone(),
            configuration: configuration.name.clone(),
            run: 0,
            hit: false,
            questions: 0,
            tests: 0,
            saturated: false,
            cut: false,
            figures: Default::default(),
        });
    };
    while began.elapsed() < time && driver.next(&mut chain, &mut questions).map_err(failed)?.is_some() {
        chain.learn(&Feedback::default());
    }
    answers.take_failure()?;
    let cut = began.elapsed() >= time;
    Ok(Record { cut, ..record(&file.name, &configuration.name, 0, false, 0, &chain) })
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

/// The sums of some counts over the files of a group.
fn sums<const N: usize>(
    files: &[File],
    group: Group,
    configuration: &str,
    records: &Records,
    names: [&str; N],
) -> [u64; N] {
    let of_group = files.iter().filter(|file| file.groups.contains(&group));
    let known = of_group.filter_map(|file| records.of(&file.name, configuration, 0));
    known.fold([0; N], |mut sums, record| {
        for (sum, name) in sums.iter_mut().zip(names) {
            *sum += record.figure(name);
        }
        sums
    })
}

/// Rounds on the files of a group that the clock cut, and all of them.
fn cut(files: &[File], group: Group, records: &Records) -> (u64, u64) {
    let of_group = files.iter().filter(|file| file.groups.contains(&group));
    let measured = configurations(0);
    let known = of_group.flat_map(|file| {
        measured.iter().filter_map(|configuration| records.of(&file.name, &configuration.name, 0))
    });
    known.fold((0, 0), |(cut, all), record| (cut + u64::from(record.cut), all + 1))
}

fn quantifiers(files: &[File], records: &Records) -> Table {
    let columns = [
        "files with",
        "files",
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
    for (group, figures) in PAPER {
        let of = |configuration: &str, part: &str, whole: &str| {
            let [part, whole] = sums(files, group, configuration, records, [part, whole]);
            Cell::percent(part as f64, whole as f64)
        };
        let name = GROUPS.iter().find(|(other, _)| *other == group).map_or("", |(_, name)| name);
        let count = files.iter().filter(|file| file.groups.contains(&group)).count();
        let paper = |place: usize| Cell::from(format!("{:.1} %", figures[place]));
        table.row([
            name.into(),
            Cell::from(count as u64),
            of("corpus noskole", "satisfied", "enforcements"),
            paper(0),
            of("corpus skolu", "satisfied", "enforcements"),
            paper(1),
            of("corpus noskole", "satisfiable", "looked at"),
            paper(2),
            of("corpus skolu", "satisfiable", "looked at"),
            paper(3),
        ]);
    }
    table
}

fn holding(files: &[File], records: &Records) -> Table {
    let columns = [
        "files",
        "monitors left in the mutant",
        "paper",
        "plain mutant",
        "rounds of all kinds cut by the clock",
    ];
    let mut table = Table::new("Enforced truth values that hold in the mutant's own model", &columns);
    for (group, name) in GROUPS {
        let of = |configuration: &str| {
            let [held, modelled] = sums(files, group, configuration, records, ["held", "modelled"]);
            Cell::percent(held as f64, modelled as f64)
        };
        let (cut, rounds) = cut(files, group, records);
        table.row([
            name.into(),
            of("corpus monitored"),
            "77.6 ± 7.2 %".into(),
            of("corpus skolu"),
            Cell::of(cut, rounds),
        ]);
    }
    table
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
}
