//! The results beside the paper's Table V.

use oracle::Kind;

use super::record::Record;
use super::statistics::Sample;
use super::{Configuration, SELECTED_BY, Settings, Use};
use crate::museum::item::Item;
use crate::report::{Cell, Draft, Table};

/// Table V of the paper: soundness bugs, all bugs, and both by a thousand calls; means of 30 runs over 90 files.
const PAPER: [(&str, [f64; 4]); 13] = [
    ("rbase", [3.53, 39.30, 0.61, 4.41]),
    ("skolu", [4.20, 35.00, 2.02, 8.16]),
    ("adomain", [6.47, 36.63, 1.89, 5.45]),
    ("adomaine", [4.50, 23.03, 1.15, 3.84]),
    ("cpog", [4.03, 38.93, 1.41, 6.62]),
    ("effinal", [3.33, 30.97, 1.12, 6.24]),
    ("leafopt", [3.13, 34.90, 1.95, 10.50]),
    ("multief7", [5.07, 36.70, 2.23, 8.22]),
    ("noskole", [3.33, 33.30, 1.68, 7.70]),
    ("relc3", [7.13, 38.97, 2.11, 5.91]),
    ("blenda", [5.57, 43.47, 1.08, 4.45]),
    ("blendb", [8.87, 42.87, 1.71, 4.72]),
    ("blendbleaf", [7.03, 42.37, 1.34, 4.53]),
];

/// One run of a configuration over all items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    soundness: f64,
    all: f64,
    /// As the paper counts them: enforcements and mutants.
    calls: f64,
    /// All questions and all runs of the release.
    solver_calls: f64,
}

impl Run {
    fn soundness_by_calls(&self) -> f64 {
        1000.0 * self.soundness / self.calls.max(1.0)
    }

    fn all_by_calls(&self) -> f64 {
        1000.0 * self.all / self.calls.max(1.0)
    }
}

pub fn fill(draft: &mut Draft, settings: &Settings, uses: &[(&Item, Use)], records: &[Record]) {
    let selected: Vec<&Item> =
        uses.iter().filter(|(_, used)| *used == Use::Selected).map(|(item, _)| *item).collect();
    let trivial = uses.iter().filter(|(_, used)| *used == Use::Trivial).count();
    let soundness = selected.iter().filter(|item| is_wrong_answer(item)).count();
    draft.summary.push(format!(
        "{} known bugs depend on the constants of their trigger, {soundness} of them wrong answers; {trivial} more show with \
         any constants and are counted out. {} repetitions of {} iterations. Efficiency: bugs by a thousand calls, which are \
         enforcements and mutants, each once, as in the paper; solver calls are all questions about skeleton and enforcements, \
         and all runs of the release. The paper's bugs have the trivial ones among them, its efficiencies do not.",
        selected.len(),
        settings.repetitions,
        settings.iterations
    ));
    let runs: Vec<(&Configuration, Vec<Run>)> = settings
        .configurations
        .iter()
        .map(|configuration| (configuration, runs_of(configuration, settings, &selected, records)))
        .collect();
    let column =
        |runs: &[Run], which: fn(&Run) -> f64| Sample::of(&runs.iter().map(which).collect::<Vec<_>>());
    let base = runs.iter().find(|(configuration, _)| configuration.name == "rbase").map(|(_, runs)| runs);
    let mut table = Table::new(
        "Configurations",
        &[
            "configuration",
            "soundness bugs",
            "paper",
            "all bugs",
            "paper",
            "soundness by 1000 calls",
            "paper",
            "all by 1000 calls",
            "paper",
            "calls",
            "solver calls",
            "p against rbase, soundness",
            "p, soundness by calls",
            "p, all bugs",
            "p, all by calls",
        ],
    );
    for (configuration, runs) in &runs {
        let paper = PAPER.iter().find(|(name, _)| *name == configuration.name).map(|(_, figures)| figures);
        let told = |place: usize| Cell::from(paper.map(|figures| figures[place]));
        let soundness = column(runs, |run| run.soundness);
        let p = |which: fn(&Run) -> f64| {
            let p = base.and_then(|base| column(runs, which).welch(&column(base, which)));
            Cell::from(p.map(|p| format!("{p:.4}")))
        };
        table.row([
            configuration.name.as_str().into(),
            shown(soundness),
            told(0),
            shown(column(runs, |run| run.all)),
            told(1),
            shown(column(runs, Run::soundness_by_calls)),
            told(2),
            shown(column(runs, Run::all_by_calls)),
            told(3),
            shown(column(runs, |run| run.calls)),
            shown(column(runs, |run| run.solver_calls)),
            p(|run| run.soundness),
            p(Run::soundness_by_calls),
            p(|run| run.all),
            p(Run::all_by_calls),
        ]);
    }
    draft.tables.push(table);
    draft.tables.push(saturation(settings, &selected, records));
    draft.tables.push(items_table(uses, settings, records));
    for (item, used) in uses {
        if let Use::Skipped(why) = used {
            draft.skip(item.id.as_str(), why.as_str());
        }
    }
}

/// A soundness bug: `sat` or `unsat`, and wrong.
pub fn is_wrong_answer(item: &Item) -> bool {
    matches!(item.kind, Kind::RefutationSoundness | Kind::SolutionSoundness)
}

/// Each repetition that is complete.
fn runs_of(
    configuration: &Configuration,
    settings: &Settings,
    selected: &[&Item],
    records: &[Record],
) -> Vec<Run> {
    let mut runs = Vec::new();
    for number in 0..settings.repetitions {
        let mut run = Run::default();
        let mut complete = !selected.is_empty();
        for item in selected {
            let record = records.iter().find(|record| {
                record.item == item.id && record.configuration == configuration.name && record.run == number
            });
            let Some(record) = record else {
                complete = false;
                continue;
            };
            run.calls += record.calls() as f64;
            run.solver_calls += record.solver_calls() as f64;
            if record.hit {
                run.all += 1.0;
                run.soundness += if is_wrong_answer(item) { 1.0 } else { 0.0 };
            }
        }
        if complete {
            runs.push(run);
        }
    }
    runs
}

/// How many rounds came to the end of their item, and after how many calls.
fn saturation(settings: &Settings, selected: &[&Item], records: &[Record]) -> Table {
    let columns = [
        "configuration",
        "rounds cut by the limit",
        "CPU seconds of a round",
        "rounds with nothing left to enforce",
        "calls until then",
        "covered truth values",
        "impossible",
        "given up",
    ];
    let mut table = Table::new("Saturation", &columns);
    for configuration in &settings.configurations {
        let of_it = records.iter().filter(|record| {
            record.configuration == configuration.name && selected.iter().any(|item| item.id == record.item)
        });
        let of_it: Vec<&Record> = of_it.collect();
        let saturated: Vec<&&Record> = of_it.iter().filter(|record| record.saturated).collect();
        let calls = saturated.iter().map(|record| record.calls() as f64);
        let sum = |name: &str| of_it.iter().map(|record| record.figure(name)).sum::<u64>();
        table.row([
            configuration.name.as_str().into(),
            Cell::of(of_it.iter().filter(|record| record.cut).count() as u64, of_it.len() as u64),
            shown(Sample::of(&of_it.iter().map(|record| record.cpu).collect::<Vec<_>>())),
            Cell::of(saturated.len() as u64, of_it.len() as u64),
            shown(Sample::of(&calls.collect::<Vec<_>>())),
            Cell::of(sum("covered"), sum("pairs")),
            Cell::of(sum("impossible"), sum("pairs")),
            Cell::of(sum("given up"), sum("pairs")),
        ]);
    }
    table
}

/// How often each configuration found each bug.
fn items_table(uses: &[(&Item, Use)], settings: &Settings, records: &[Record]) -> Table {
    let mut columns = vec!["item", "kind", SELECTED_BY];
    columns.extend(settings.configurations.iter().map(|configuration| configuration.name.as_str()));
    let mut table = Table::detail("Items", &columns);
    for (item, used) in uses {
        if matches!(used, Use::Skipped(_)) {
            continue;
        }
        let of = |name: &str| {
            let of_it =
                records.iter().filter(|record| record.item == item.id && record.configuration == name);
            let (hits, all) =
                of_it.fold((0, 0), |(hits, all), record| (hits + u64::from(record.hit), all + 1));
            Cell::of(hits, all)
        };
        // Selection ends with the first choice of constants without the bug.
        let with_bug =
            records.iter().filter(|record| record.item == item.id && record.configuration == SELECTED_BY);
        let with_bug = with_bug.filter(|record| record.hit).count();
        let selection = match used {
            Use::Trivial => format!("all {with_bug} with the bug"),
            _ => format!("{with_bug} with the bug before one without"),
        };
        let mut row: Vec<Cell> = vec![item.id.as_str().into(), item.kind.word().into(), selection.into()];
        row.extend(settings.configurations.iter().map(|configuration| of(&configuration.name)));
        table.rows.push(row);
    }
    table
}

fn shown(sample: Sample) -> Cell {
    match sample.count {
        0 => Cell::None,
        _ => format!("{:.2} ± {:.2}", sample.mean, sample.deviation).into(),
    }
}
