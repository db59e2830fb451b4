//! Usual `--help` texts: `--name`, `--name=<argument>`, a description after two spaces.

use std::sync::LazyLock;

use regex::Regex;

use super::{OptionKind, SolverOption};

pub(super) fn options(text: &str) -> Vec<SolverOption> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^\s+(?:-\w, )?--?([A-Za-z0-9][\w.-]+)(?:[= ](<[^>]*>|[A-Z_]+))?(?:, -\w)?(?:\s{2,}(.*))?$",
        )
        .ok()
    });
    let Some(pattern) = LINE.as_ref() else {
        return Vec::new();
    };
    let parse = |line: &str| {
        let found = pattern.captures(line)?;
        Some(SolverOption {
            name: found[1].to_string(),
            kind: if found.get(2).is_some() {
                OptionKind::Text
            } else {
                OptionKind::Choice { values: vec!["true".into()] }
            },
            default: None,
            category: "regular".to_string(),
            description: found.get(3).map(|text| text.as_str().trim().to_string()).unwrap_or_default(),
            excluded: None,
        })
    };
    text.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_options_with_arguments_are_read() {
        let text = "Option summary:\n    --version, -V             Show version and exit\n    --verbosity=<level>       \
            Set verbosity level (default = 0)\n             -v <level>\n    --mcsat                   Use the MCSat solver\n";
        let options = options(text);
        let names: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["version", "verbosity", "mcsat"]);
        assert_eq!(options[1].kind, OptionKind::Text);
        assert_eq!(options[2].kind, OptionKind::Choice { values: vec!["true".into()] });
    }
}
