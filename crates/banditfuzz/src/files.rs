//! Files of a session: complete under their names or not there.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::PerfError;

/// Writes a text.
pub fn write(path: &Path, text: &str) -> Result<(), PerfError> {
    let failed = |error| PerfError::disk(path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    campaign::findings::write_file(Path::new(&part), text.as_bytes(), false).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

/// Writes a value as JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), PerfError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| PerfError::Damaged { path: path.to_owned(), reason: error.to_string() })?;
    write(path, &(campaign::foreign::json(&text).into_owned() + "\n"))
}

/// Reads a value that [`write_json`] wrote; nothing if there is no such file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, PerfError> {
    let damaged = |reason: String| PerfError::Damaged { path: path.to_owned(), reason };
    if !path.exists() {
        return Ok(None);
    }
    let text = campaign::input::read_text(path, campaign::input::LARGEST_FILE)
        .map_err(|error| damaged(error.to_string()))?;
    serde_json::from_str(&text).map(Some).map_err(|error| damaged(error.to_string()))
}

/// The first setting in which two differ.
pub fn difference<T: Serialize>(then: &T, now: &T) -> Option<String> {
    let (then, now) = (serde_json::to_value(then), serde_json::to_value(now));
    let (Ok(serde_json::Value::Object(then)), Ok(serde_json::Value::Object(now))) = (then, now) else {
        return Some("settings".to_owned());
    };
    let names = then.keys().chain(now.keys());
    let none = &serde_json::Value::Null;
    let of = |map: &serde_json::Map<String, serde_json::Value>, name: &String| {
        map.get(name).unwrap_or(none).clone()
    };
    let mut differing = names.filter(|name| of(&then, name) != of(&now, name));
    differing.next().map(|name| format!("{name} was {}, is {}", of(&then, name), of(&now, name)))
}

/// Sees to it that a folder holds this session and no other: its identity stands in the file of this name.
pub fn claim<T: Serialize + DeserializeOwned>(
    out: &Path,
    name: &str,
    now: &T,
    resume: bool,
) -> Result<(), PerfError> {
    let file = out.join(name);
    let shown = out.display();
    match read_json::<T>(&file)? {
        Some(_) if !resume => Err(PerfError::Usage(format!(
            "'{shown}' holds a session already: add --resume to go on with it, or choose another folder with --out"
        ))),
        Some(then) => match difference(&then, now) {
            Some(difference) => Err(PerfError::Usage(format!(
                "cannot resume '{shown}': it was made with other settings ({difference}); use the same or another folder"
            ))),
            None => Ok(()),
        },
        None if resume => Err(PerfError::Usage(format!("'{shown}' holds no session to resume"))),
        None => write_json(&file, now),
    }
}
