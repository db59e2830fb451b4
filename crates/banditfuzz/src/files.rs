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
