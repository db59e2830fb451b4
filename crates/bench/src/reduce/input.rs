//! Inputs: triggers of known bugs among irrelevant satisfiable assertions, and inputs of findings; with the script that
//! says whether a file is interesting.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use campaign::Finding;
use generate::Rng;
use oracle::Kind;
use reduce::Size;
use rustc_hash::FxHashMap;
use smtlib::{Fun, Mode, Release, SortKind, Store, print};
use solver::{RunRequest, Solver, Solvers, quoted};

use super::Settings;
use crate::error::BenchError;
use crate::museum::item::Item;
use crate::report::Draft;
use crate::watch::Watch;

/// One input with its predicate.
pub struct Trial {
    pub name: String,
    pub kind: String,
    pub file: PathBuf,
    /// Exits with [`INTERESTING`] for an interesting file.
    pub predicate: PathBuf,
    pub size: Size,
    /// The solver to blame, as `-s` takes it, for bugs that have a witness.
    pub solver: String,
    pub options: Vec<String>,
}

/// The exit code of a predicate script for an interesting file.
pub const INTERESTING: i32 = 42;

/// Seconds of one run inside a predicate script.
const RUN_SECONDS: u32 = 5;

/// Triggers that take longer are near the time limit of the predicate script, where it is a matter of luck.
const SLOW: Duration = Duration::from_secs(2);

/// Makes all inputs that can be had, up to the count asked for.
pub fn trials(
    settings: &Settings,
    solvers: &Solvers,
    draft: &mut Draft,
    watch: &dyn Watch,
) -> Result<Vec<Trial>, BenchError> {
    let mut found = Vec::new();
    let padding = match &settings.padding {
        Some(folder) => Padding::read(folder)?,
        None => Padding::default(),
    };
    for folder in &settings.findings {
        match of_finding(settings, solvers, folder)? {
            Ok(trial) => found.push(trial),
            Err(why) => draft.skip(folder.display().to_string(), why),
        }
    }
    if let Some(museum) = &settings.museum {
        let mut folders: Vec<PathBuf> = std::fs::read_dir(museum.join("items"))
            .map_err(|source| BenchError::Read { path: museum.clone(), source })?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        folders.sort();
        for folder in folders {
            if found.len() >= settings.count || watch.stopped() {
                break;
            }
            let item = Item::read(&folder)?;
            watch.progress(found.len(), settings.count, &format!("preparing {}", item.id));
            match of_item(settings, solvers, &item, &padding)? {
                Ok(trial) => found.push(trial),
                Err(why) => draft.skip(item.id.clone(), why),
            }
        }
    }
    Ok(found)
}

type Usable = Result<Trial, String>;

fn of_item(
    settings: &Settings,
    solvers: &Solvers,
    item: &Item,
    padding: &Padding,
) -> Result<Usable, BenchError> {
    if !matches!(item.kind, Kind::RefutationSoundness | Kind::SolutionSoundness | Kind::Crash) {
        return Ok(Err("the predicate script cannot judge models".into()));
    }
    let Some(own) = solvers.resolve(&item.release(), &|_, _| ())?.pop() else {
        return Ok(Err("its solver cannot be had".into()));
    };
    let trigger = item.trigger()?;
    if trigger.matches("(check-sat").count() != 1 {
        return Ok(Err("it has several checks".into()));
    }
    let solver = Solver { options: item.options.clone(), ..own };
    let Some(predicate) = predicate(settings, &item.id, item.kind, &solver)? else {
        return Ok(Err("its solver is no program that a script can call".into()));
    };
    let file = settings.out.join(&item.id).join("input.smt2");
    write(&file, &trigger)?;
    let began = Instant::now();
    if !holds(&predicate, &file)? {
        return Ok(Err("the trigger alone is not interesting to the predicate script".into()));
    }
    if began.elapsed() > SLOW {
        return Ok(Err("the predicate script takes too long on it for a comparison".into()));
    }
    // As much padding as leaves the bug visible.
    let mut rng = generate::rng::stream(settings.rng_seed, Size::of(trigger.as_bytes()).bytes as u64);
    for share in [1, 2, 4] {
        for _ in 0..2 {
            let padded = padding.around(&trigger, settings.padding_size / share, &mut rng);
            write(&file, &padded)?;
            if holds(&predicate, &file)? {
                return Ok(Ok(trial(item, file, predicate, &padded)));
            }
        }
    }
    write(&file, &trigger)?;
    Ok(Ok(trial(item, file, predicate, &trigger)))
}

fn trial(item: &Item, file: PathBuf, predicate: PathBuf, text: &str) -> Trial {
    Trial {
        name: item.id.clone(),
        kind: item.kind.to_string(),
        file,
        predicate,
        size: Size::of(text.as_bytes()),
        solver: item.release(),
        options: item.options.clone(),
    }
}

fn of_finding(settings: &Settings, solvers: &Solvers, folder: &Path) -> Result<Usable, BenchError> {
    let (finding, folder) = Finding::read(folder)?;
    let (kind, Some(run)) = (finding.kind, finding.runs.first()) else {
        return Ok(Err("it has no runs".into()));
    };
    if !matches!(kind, Kind::RefutationSoundness | Kind::SolutionSoundness | Kind::Crash) {
        return Ok(Err("the predicate script cannot judge it".into()));
    }
    let Some(own) = solvers.resolve(&run.solver, &|_, _| ())?.pop() else {
        return Ok(Err("its solver cannot be had".into()));
    };
    let mut options = run.user_options.clone();
    options.extend(run.settings.iter().map(|setting| own.option_word(setting)));
    let mut solver = Solver { options: options.clone(), ..own };
    solver.leave_out_file_options();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(predicate) = predicate(settings, &name, kind, &solver)? else {
        return Ok(Err("its solver is no program that a script can call".into()));
    };
    let path = folder.join("input.smt2");
    let text = std::fs::read_to_string(&path).map_err(|source| BenchError::Read { path, source })?;
    let file = settings.out.join(&name).join("input.smt2");
    write(&file, &text)?;
    if !holds(&predicate, &file)? {
        return Ok(Err("it is not interesting to the predicate script".into()));
    }
    let size = Size::of(text.as_bytes());
    Ok(Ok(Trial { name, kind: kind.to_string(), file, predicate, size, solver: run.solver.clone(), options }))
}

/// Writes the predicate script; nothing if a solver has no command line of its own.
fn predicate(
    settings: &Settings,
    name: &str,
    kind: Kind,
    solver: &Solver,
) -> Result<Option<PathBuf>, BenchError> {
    let (Some(own), Some(reference)) = (line(solver)?, line(&settings.reference)?) else { return Ok(None) };
    let (wrong, right) = match kind {
        Kind::RefutationSoundness => ("unsat", "sat"),
        _ => ("sat", "unsat"),
    };
    let mut text = String::from("#!/bin/sh\n# exit code 42: interesting\n");
    if kind == Kind::Crash {
        text += &format!("timeout {RUN_SECONDS} {own} \"$1\" >/dev/null 2>&1\n");
        // 124 is the time limit, 137 our own kill; a fatal signal gives 128 and its number.
        text += &format!("[ $? -ge 129 ] || exit 0\nexit {INTERESTING}\n");
    } else {
        // An answer after a refused command is no answer.
        let ask = |who: &str, want: &str| {
            format!(
                "said=$(timeout {RUN_SECONDS} {who} \"$1\" 2>/dev/null)\n\
                 case \"$said\" in *error*) exit 0;; esac\n\
                 [ \"$(printf '%s\\n' \"$said\" | head -n 1)\" = {want} ] || exit 0\n"
            )
        };
        text += &ask(&own, wrong);
        text += &ask(&reference, right);
        text += &format!("exit {INTERESTING}\n");
    }
    let path = settings.out.join(name).join("predicate.sh");
    write(&path, &text)?;
    let failed = |source| BenchError::Write { path: path.clone(), source };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(Some(path))
}

/// A solver's command line without the file, for a shell.
fn line(solver: &Solver) -> Result<Option<String>, BenchError> {
    const FILE: &str = "\u{1}";
    let line = solver.line(&RunRequest::default(), FILE)?;
    let Some((last, words)) = line.arguments.split_last() else { return Ok(None) };
    if last.to_str() != Some(FILE) || !matches!(solver.installed.how, solver::install::How::Executable { .. })
    {
        return Ok(None);
    }
    let mut shown: Vec<String> =
        line.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    if !shown.is_empty() {
        shown.insert(0, "env".into());
    }
    shown.push(quoted(&line.program.to_string_lossy()));
    shown.extend(words.iter().map(|word| quoted(&word.to_string_lossy())));
    Ok(Some(shown.join(" ")))
}

/// Whether a file is interesting.
pub fn holds(predicate: &Path, file: &Path) -> Result<bool, BenchError> {
    let status = Command::new(predicate)
        .arg(file)
        .stdin(Stdio::null())
        .status()
        .map_err(|source| BenchError::Read { path: predicate.to_owned(), source })?;
    Ok(status.code() == Some(INTERESTING))
}

/// Writes a file with the folders above it.
pub fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

/// Satisfiable scripts to put around triggers.
#[derive(Default)]
struct Padding {
    texts: Vec<String>,
}

/// Larger scripts are left out of the padding.
const LARGEST: u64 = 3_000;

impl Padding {
    /// All small scripts below the folder that say they are satisfiable.
    fn read(folder: &Path) -> Result<Padding, BenchError> {
        let mut texts = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(here) = folders.pop() {
            let entries =
                std::fs::read_dir(&here).map_err(|source| BenchError::Read { path: here, source })?;
            for entry in entries.flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|name| name == "smt2")
                    && entry.metadata().is_ok_and(|about| about.len() <= LARGEST)
                    && let Ok(text) = std::fs::read_to_string(&path)
                    && text.contains(":status sat")
                {
                    texts.push(text);
                }
            }
        }
        texts.sort();
        if texts.is_empty() {
            let reason = "it holds no small script with (set-info :status sat)".to_owned();
            return Err(BenchError::Malformed { path: folder.to_owned(), reason });
        }
        Ok(Padding { texts })
    }

    /// The trigger with about so many bytes of other scripts' declarations and assertions before its check.
    fn around(&self, trigger: &str, size: usize, rng: &mut Rng) -> String {
        let Some(place) = trigger.find("(check-sat") else { return trigger.to_owned() };
        let mut lines: Vec<String> = Vec::new();
        let mut used = 0;
        for number in 0..40 {
            if used >= size || self.texts.is_empty() {
                break;
            }
            let text = &self.texts[rng.below(self.texts.len())];
            if let Some(apart) = apart(text, number)
                && used + apart.len() <= size + size / 2
            {
                used += apart.len();
                lines.push(apart);
            }
        }
        format!("{}{}{}", &trigger[..place], lines.concat(), &trigger[place..])
    }
}

/// The declarations and assertions of a script under names nobody else has; nothing if it declares more than constants
/// of simple sorts.
fn apart(text: &str, number: usize) -> Option<String> {
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok()?.script;
    if script.is_incremental() {
        return None;
    }
    let mut names: FxHashMap<Fun, Fun> = FxHashMap::default();
    let mut out = smtlib::Script::default();
    for command in &script.commands {
        match command {
            smtlib::Command::DeclareFun(fun) | smtlib::Command::DeclareConst(fun) => {
                let decl = store.fun(*fun).clone();
                let simple = matches!(
                    store.sort_kind(decl.result),
                    SortKind::Bool | SortKind::Int | SortKind::BitVec(_)
                );
                if !decl.params.is_empty() || !simple {
                    return None;
                }
                let name = format!("pad{number}_{}", store.name(decl.name));
                let name = store.symbol(&name);
                let new = store.declare_fun(name, &[], decl.result);
                names.insert(*fun, new);
                out.commands.push(smtlib::Command::DeclareFun(new));
            }
            smtlib::Command::Assert(term) => {
                let term = reduce::edit::calling(&mut store, *term, &names)?;
                out.commands.push(smtlib::Command::Assert(term));
            }
            smtlib::Command::SetLogic(_)
            | smtlib::Command::SetInfo(..)
            | smtlib::Command::CheckSat
            | smtlib::Command::Exit => {}
            _ => return None,
        }
    }
    Some(print::print(&store, &out, Release::STANDARD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_renamed_and_stands_before_the_check() {
        let padding = Padding {
            texts: vec![
                "(set-logic QF_LIA)(set-info :status sat)(declare-fun x () Int)(assert (> x 3))(check-sat)"
                    .into(),
            ],
        };
        let trigger = "(declare-fun x () Int)\n(assert (< x 0))\n(check-sat)\n";
        let padded = padding.around(trigger, 40, &mut generate::rng::stream(1, 0));
        assert!(padded.contains("(declare-fun pad0_x () Int)\n(assert (> pad0_x 3))"), "{padded}");
        assert!(padded.ends_with("(check-sat)\n") && !padded.contains("QF_LIA"));
    }

    #[test]
    fn scripts_with_functions_are_no_padding() {
        assert!(apart("(declare-fun f (Int) Int)(assert (> (f 1) 3))(check-sat)", 0).is_none());
    }
}
