//! Since when is it slow: what releases said, in words, and which of them could be asked besides.

use campaign::findings::Releases;
use smtlib::Version;
use solver::install::Available;
use solver::{Adapters, Home, Solver, Solvers};

/// Releases that are named one by one.
const NAMED: usize = 6;

/// What releases of the target said: the one in which it became slow, or why that is not known. `missing` are those that
/// are not installed.
pub fn words(target: &str, releases: Option<&Releases>, missing: &[String]) -> String {
    let Some(releases) = releases else {
        return "no release of the target told anything about when it became slow".to_owned();
    };
    let mut out = match (&releases.last_good, releases.affected.first()) {
        (Some(good), Some(slow)) => format!("slow since {slow}, not yet in {good}"),
        (None, Some(slow))
            if [&releases.clean, &releases.silent, &releases.unable].iter().all(|names| names.is_empty()) =>
        {
            format!("slow in all installed releases, {slow} the oldest of them")
        }
        (None, Some(slow)) => format!("slow since {slow} or earlier"),
        (_, None) => format!("none of the installed releases is as slow as {target} was"),
    };
    if !releases.silent.is_empty() {
        out += &format!("; these told nothing: {}", few(&releases.silent));
    }
    if let (false, Some((name, _))) = (missing.is_empty(), target.split_once('@')) {
        out += &format!(
            "; {} between them and not installed: {} (osprey solvers install {})",
            if missing.len() == 1 { "this one is" } else { "these are" },
            few(missing),
            missing.iter().map(|version| format!("{name}@{version}")).collect::<Vec<_>>().join(" ")
        );
    }
    out
}

fn few(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Published releases between the last that is not slow and the first that is, as far as the registry has told, which are
/// not installed.
pub fn not_installed(target: &Solver, releases: &Releases) -> Vec<String> {
    let version =
        |name: &String| name.split_once('@').and_then(|(_, version)| version.parse::<Version>().ok());
    let (Some(good), Some(slow)) =
        (releases.last_good.as_ref().and_then(version), releases.affected.first().and_then(version))
    else {
        return Vec::new();
    };
    let Ok(home) = Home::of_user() else { return Vec::new() };
    let listed = Solvers::new(Adapters::built_in(), home).list(false);
    let Some(listed) = listed.into_iter().find(|listed| listed.name == target.installed.name) else {
        return Vec::new();
    };
    let here: Vec<Version> = listed.installed.iter().filter_map(|installed| installed.version).collect();
    match listed.available {
        Available::Releases(published) => between(&published, &here, good, slow),
        _ => Vec::new(),
    }
}

fn between(published: &[Version], here: &[Version], good: Version, slow: Version) -> Vec<String> {
    let mut missing: Vec<Version> = published
        .iter()
        .copied()
        .filter(|version| *version > good && *version < slow && !here.contains(version))
        .collect();
    missing.sort_unstable();
    missing.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_release_is_named_and_those_between_that_could_be_installed() {
        let releases = Releases {
            affected: names(&["z3@4.12.2", "z3@5.4.0"]),
            clean: names(&["z3@4.8.7"]),
            last_good: Some("z3@4.8.7".to_owned()),
            ..Releases::default()
        };
        let version = |text: &str| text.parse::<Version>().expect("a version");
        let published = ["5.4.0", "4.12.2", "4.12.1", "4.8.10", "4.8.7"].map(version);
        let here = ["5.4.0", "4.12.2", "4.8.7"].map(version);
        let missing = between(&published, &here, version("4.8.7"), version("4.12.2"));
        assert_eq!(missing, ["4.8.10", "4.12.1"]);
        let said = words("z3@5.4.0", Some(&releases), &missing);
        assert_eq!(
            said,
            "slow since z3@4.12.2, not yet in z3@4.8.7; these are between them and not installed: 4.8.10, 4.12.1 (osprey \
             solvers install z3@4.8.10 z3@4.12.1)"
        );
    }

    #[test]
    fn releases_that_told_nothing_are_named() {
        let releases = Releases {
            affected: names(&["z3@5.4.0"]),
            silent: names(&["z3@4.8.7", "z3@4.8.8"]),
            ..Releases::default()
        };
        let said = words("z3@5.4.0", Some(&releases), &[]);
        assert_eq!(said, "slow since z3@5.4.0 or earlier; these told nothing: z3@4.8.7, z3@4.8.8");
        assert!(words("z3@5.4.0", None, &[]).contains("no release"));
    }
}
