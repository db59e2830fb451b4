//! Pages and files by address. Files of findings are always text, whatever is in them.

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use campaign::input;

use super::Shared;
use crate::folder::{Texts, script_of};
use crate::formats::{csv, json, junit, markdown};
use crate::pages::{self, ICON, Medium, SCRIPT, STYLE};

/// The first page.
pub async fn bugs(State(shared): State<Shared>) -> Response {
    let overview = shared.now().await;
    Html(pages::bugs(&overview, Medium::Live, &script_of).into_string()).into_response()
}

/// Curves and shares.
pub async fn time(State(shared): State<Shared>) -> Response {
    let overview = shared.now().await;
    Html(pages::time(&overview, Medium::Live).into_string()).into_response()
}

/// Settings and counts.
pub async fn settings(State(shared): State<Shared>) -> Response {
    let overview = shared.now().await;
    Html(pages::settings(&overview, Medium::Live).into_string()).into_response()
}

/// The page of a finding: `NAME.html`.
pub async fn finding(State(shared): State<Shared>, Path(page): Path<String>) -> Response {
    let overview = shared.now().await;
    let found = page.strip_suffix(".html").and_then(|name| overview.find(name));
    let Some((place, bug, entry)) = found else { return missing().await };
    let texts = Texts::read(&entry.folder);
    Html(pages::finding(&overview, Medium::Live, place, bug, entry, &texts).into_string()).into_response()
}

/// A file of a finding.
pub async fn file(State(shared): State<Shared>, Path((name, file)): Path<(String, String)>) -> Response {
    of_finding(&shared, &name, &file).await
}

/// Another input of a finding.
pub async fn duplicate(State(shared): State<Shared>, Path((name, file)): Path<(String, String)>) -> Response {
    of_finding(&shared, &name, &format!("duplicates/{file}")).await
}

/// Only what the campaign has listed: no name from outside becomes a path.
async fn of_finding(shared: &Shared, name: &str, file: &str) -> Response {
    let overview = shared.now().await;
    let Some((_, _, entry)) = overview.find(name) else { return missing().await };
    match Texts::read(&entry.folder).get(file) {
        Some(text) => plain("text/plain; charset=utf-8", text.to_owned()),
        None => missing().await,
    }
}

/// Files beside the pages.
pub async fn named(State(shared): State<Shared>, Path(name): Path<String>) -> Response {
    match name.as_str() {
        "style.css" => return plain("text/css; charset=utf-8", STYLE.to_owned()),
        "icon.svg" => return plain("image/svg+xml", ICON.to_owned()),
        "script.js" => return plain("text/javascript; charset=utf-8", SCRIPT.to_owned()),
        _ => {}
    }
    let overview = shared.now().await;
    let mut plots = overview.performance.iter().flat_map(|performance| &performance.plots);
    if plots.any(|(plot, _)| *plot == name) {
        return match input::read_text(&shared.out.join(&name), input::LARGEST_FILE) {
            Ok(plot) => plain("image/svg+xml", plot),
            Err(_) => missing().await,
        };
    }
    match name.as_str() {
        "findings.csv" => plain("text/csv; charset=utf-8", csv(&overview)),
        "report.json" => plain("application/json", json(&overview)),
        "report.md" => plain("text/plain; charset=utf-8", markdown(&overview)),
        "junit.xml" => plain("application/xml", junit(&overview)),
        _ => missing().await,
    }
}

fn plain(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// There is no such page.
pub async fn missing() -> Response {
    (StatusCode::NOT_FOUND, "there is no such page\n").into_response()
}
