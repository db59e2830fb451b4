//! The report on disk: pages that open without a server, and the files of findings beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use campaign::{findings, input};

use crate::bugs::Entry;
use crate::error::ReportError;
use crate::formats::{csv, json, junit, markdown};
use crate::overview::Overview;
use crate::pages::{self, BUGS, ICON, Medium, SCRIPT, SETTINGS, STYLE, TIME};

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The page to open.
    pub index: PathBuf,
    pub files: usize,
    pub bytes: u64,
}

/// The files of a finding that are text, by name. Nothing else is shown or copied.
#[derive(Clone, Debug, Default)]
pub struct Texts(BTreeMap<String, String>);

/// Files of findings, as triage and `osprey perf` write them.
const FILES: [&str; 10] = [
    "reduced.smt2",
    "input.smt2",
    "reduced-witness.smt2",
    "witness.smt2",
    "ground.smt2",
    "with-model.smt2",
    "repro.sh",
    "put-in.sh",
    "report.md",
    "finding.json",
];

/// Says that a folder was made by this command, so that the next report may take its place.
const STAMP: &str = ".osprey-report";

impl Texts {
    /// The files in a finding's folder.
    pub fn read(folder: &Path) -> Texts {
        let mut texts = BTreeMap::new();
        let mut take = |name: String| {
            let path = folder.join(&name);
            // A link could lead to any file of whoever makes the report.
            let is_file = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
            if let Some(text) = is_file.then(|| input::read_text(&path, input::LARGEST_FILE).ok()).flatten() {
                texts.insert(name, text);
            }
        };
        FILES.iter().for_each(|name| take((*name).to_owned()));
        let duplicates = fs::symlink_metadata(folder.join("duplicates")).is_ok_and(|about| about.is_dir());
        for number in (1..=findings::DUPLICATES_KEPT).filter(|_| duplicates) {
            take(format!("duplicates/{number}.smt2"));
        }
        Texts(texts)
    }

    /// A file.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them: those that matter most first.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.keys().cloned().collect();
        names.sort_by_key(|name| {
            (FILES.iter().position(|one| one == name).unwrap_or(FILES.len()), name.clone())
        });
        names
    }
}

/// The script that shows a finding.
pub(crate) fn script_of(entry: &Entry) -> String {
    Texts::read(&entry.folder).get(entry.finding.script_name()).unwrap_or_default().to_owned()
}

/// Writes the report of a campaign, whose output folder is `from`. A report that is there already is replaced.
pub fn write(overview: &Overview, from: &Path, to: &Path) -> Result<Written, ReportError> {
    prepare(to)?;
    let mut folder = Folder { to, files: 0, bytes: 0 };
    folder.put("style.css", STYLE)?;
    folder.put("script.js", SCRIPT)?;
    folder.put("icon.svg", ICON)?;
    for (place, bug) in overview.bugs.iter().enumerate() {
        for entry in bug.members() {
            let texts = Texts::read(&entry.folder);
            let page = pages::finding(overview, Medium::Folder, place, bug, entry, &texts);
            let name = entry.name();
            folder.put(&format!("finding/{name}.html"), &page.into_string())?;
            for (file, text) in &texts.0 {
                folder.put(&format!("files/{name}/{file}"), text)?;
            }
        }
    }
    for (name, _) in overview.performance.iter().flat_map(|performance| &performance.plots) {
        if let Ok(plot) = input::read_text(&from.join(name), input::LARGEST_FILE) {
            folder.put(name, &plot)?;
        }
    }
    folder.put("findings.csv", &csv(overview))?;
    folder.put("report.json", &json(overview))?;
    folder.put("report.md", &markdown(overview))?;
    folder.put("junit.xml", &junit(overview))?;
    folder.put(TIME, &pages::time(overview, Medium::Folder).into_string())?;
    folder.put(SETTINGS, &pages::settings(overview, Medium::Folder).into_string())?;
    // Last: whoever waits for it has all that it leads to.
    folder.put(BUGS, &pages::bugs(overview, Medium::Folder, &script_of).into_string())?;
    Ok(Written { index: to.join(BUGS), files: folder.files, bytes: folder.bytes })
}

struct Folder<'a> {
    to: &'a Path,
    files: usize,
    bytes: u64,
}

impl Folder<'_> {
    fn put(&mut self, name: &str, text: &str) -> Result<(), ReportError> {
        let path = self.to.join(name);
        let failed = |error| ReportError::disk(&path, error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, text).map_err(failed)?;
        #[cfg(unix)]
        if name.ends_with(".sh") {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        }
        self.files += 1;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// Makes the folder, and empties it if it holds an earlier report; a stranger's files are left alone.
fn prepare(to: &Path) -> Result<(), ReportError> {
    let failed = |error| ReportError::disk(to, error);
    if to.exists() && !to.is_dir() {
        return Err(ReportError::NoFolder(to.to_owned()));
    }
    if to.is_dir() {
        let stamped = to.join(STAMP).is_file();
        let empty = fs::read_dir(to).map_err(failed)?.next().is_none();
        if !stamped && !empty {
            return Err(ReportError::Occupied(to.to_owned()));
        }
        // The first page goes first: if this is cut short, there is none that leads to pages that are gone.
        for part in [BUGS, "finding", "files", "cactus.svg", "curves.svg"] {
            let part = to.join(part);
            let removed = match part.is_dir() {
                true => fs::remove_dir_all(&part),
                false if part.exists() => fs::remove_file(&part),
                false => Ok(()),
            };
            removed.map_err(|error| ReportError::disk(&part, error))?;
        }
    }
    fs::create_dir_all(to).map_err(failed)?;
    fs::write(to.join(STAMP), "").map_err(failed)
}
