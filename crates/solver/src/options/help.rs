//! Usual `--help` texts: `--name`, `--name=<argument>`, a description after two spaces.

use std::sync::LazyLock;

use regex::Regex;

use super::{OptionKind, SolverOption};

static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s+(?:-\w, )?--?([A-Za-z0-9][\w.-]+)(?:[= ](<[^>]*>|[A-Z_]+))?(?:, -\w)?(?:\s+([^-\s].*))?$",
    )
    .ok()
});
/// What a description tells about values.
static CHOICES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\(can be ([\w, -]+)\)").ok());
static BOUNDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\(between (\d+)-(\d+)\)").ok());
static DEFAULT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\(default(?::| =) ([\w.]+)\)").ok());

pub(super) fn options(text: &str) -> Vec<SolverOption> {
    let Some(pattern) = LINE.as_ref() else {
        return Vec::new();
    };
    let parse = |line: &str| {
        let found = pattern.captures(line)?;
        let description = found.get(3).map(|text| text.as_str().trim().to_string()).unwrap_or_default();
        let default = first(&DEFAULT, &description).map(|found| found[1].to_string());
        let kind = match found.get(2) {
            Some(_) => values(&description, default.as_deref()),
            // A switch without an opposite.
            None => OptionKind::Choice { values: vec!["true".into()] },
        };
        // "default: true" of a switch that toggles is no value of it.
        let default = if found.get(2).is_some() { default } else { None };
        Some(SolverOption {
            name: found[1].to_string(),
            kind,
            default,
            category: "regular".to_string(),
            description,
            excluded: None,
            unfair: None,
        })
    };
    text.lines().filter_map(parse).collect()
}

/// The values of an option with an argument, as far as its description tells them.
fn values(description: &str, default: Option<&str>) -> OptionKind {
    if let Some(found) = first(&CHOICES, description) {
        let values = found[1].split(',').map(|value| value.trim().trim_start_matches("or ").to_string());
        return OptionKind::Choice { values: values.collect() };
    }
    let bound = |text: &str| text.parse().ok();
    match (first(&BOUNDS, description), default) {
        // Between 0 and 1 there is little room for integers.
        (Some(_), Some(default)) if default.contains('.') => OptionKind::Real,
        (Some(found), _) => OptionKind::Integer { minimum: bound(&found[1]), maximum: bound(&found[2]) },
        (None, Some(default)) if default.parse::<i64>().is_ok() => {
            OptionKind::Integer { minimum: Some(0), maximum: None }
        }
        _ => OptionKind::Text,
    }
}

fn first<'t>(pattern: &LazyLock<Option<Regex>>, text: &'t str) -> Option<regex::Captures<'t>> {
    LazyLock::force(pattern).as_ref()?.captures(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_options_with_arguments_are_read() {
        let text = "Option summary:\n    --version, -V             Show version and exit\n    --verbosity=<level>       \
            Set verbosity level\n             -v <level>\n    --mcsat                   Use the MCSat solver\n    \
            --mcsat-nra-bound-min=<B> Set initial lower bound\n";
        let options = options(text);
        let names: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["version", "verbosity", "mcsat", "mcsat-nra-bound-min"]);
        assert_eq!(options[1].kind, OptionKind::Text);
        assert_eq!(options[2].kind, OptionKind::Choice { values: vec!["true".into()] });
        assert_eq!(options[3].description, "Set initial lower bound");
    }

    #[test]
    fn descriptions_tell_values_bounds_and_defaults() {
        let text = "    --mode=<M>      Set the mode (can be greedy, random, or all) (default: greedy)\n    \
            --epsilon=<M>   Set the minimum (between 0-1000) (default: 200)\n    \
            --alpha=<M>     Set the rate (between 0-1) (default: 0.20)\n    --rounds=<M>    Most rounds (default = 30)\n    \
            --ematch        Toggle it (default: true)\n";
        let options = options(text);
        let choices = ["greedy", "random", "all"].map(String::from).to_vec();
        assert_eq!(options[0].kind, OptionKind::Choice { values: choices });
        assert_eq!(options[1].kind, OptionKind::Integer { minimum: Some(0), maximum: Some(1000) });
        assert_eq!(options[2].kind, OptionKind::Real);
        assert_eq!(options[3].kind, OptionKind::Integer { minimum: Some(0), maximum: None });
        let defaults: Vec<Option<&str>> = options.iter().map(|option| option.default.as_deref()).collect();
        assert_eq!(defaults, [Some("greedy"), Some("200"), Some("0.20"), Some("30"), None]);
    }
}
