//! The CVC line: `--help` texts of its executables.

use std::sync::LazyLock;

use regex::Regex;

use super::{OptionKind, SolverOption};

/// Reads a `--help` text: two spaces, `--name`, perhaps `=ARGUMENT` and other spellings, a description that ends in `[*]`
/// for switches. Options with a mode come as [`OptionKind::Text`] until [`ask_for_modes`].
pub(super) fn help(text: &str) -> Vec<SolverOption> {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^  --([A-Za-z0-9-]+)(?:=([A-Za-z_]+))?(?: \| \S+(?: [A-Z]+)?)*(?:\s+(.*))?$").ok()
    });
    let Some(start) = START.as_ref() else {
        return Vec::new();
    };
    let mut options: Vec<(SolverOption, bool)> = Vec::new();
    let mut common = false;
    for line in text.lines() {
        if line.starts_with("Most commonly-used") {
            common = true;
        } else if line.starts_with("Additional") || line.starts_with("From the") {
            common = false;
        } else if let Some(found) = start.captures(line) {
            let argument = found.get(2).map(|argument| argument.as_str());
            let kind = match argument {
                None => OptionKind::Bool,
                Some("N" | "n" | "MS") => OptionKind::Integer { minimum: None, maximum: None },
                Some("P" | "F") => OptionKind::Real,
                Some(_) => OptionKind::Text,
            };
            let option = SolverOption {
                name: found[1].to_string(),
                kind,
                default: None,
                category: if common { "common" } else { "regular" }.to_string(),
                description: found.get(3).map(|rest| rest.as_str().trim().to_string()).unwrap_or_default(),
                excluded: None,
                unfair: None,
            };
            options.push((option, argument.is_none()));
        } else if let (Some((option, _)), true) = (options.last_mut(), line.starts_with("       ")) {
            option.description.push(' ');
            option.description.push_str(line.trim());
        }
    }
    let finish = |(mut option, switch): (SolverOption, bool)| {
        // Without the mark it has no opposite: --help, --version and their like.
        if switch && !option.description.contains("[*]") {
            option.kind = OptionKind::Text;
        }
        if option.description.contains("(EXPERTS only)") {
            option.category = "expert".to_string();
        }
        let plain = option.description.replace("[*]", "").replace("(EXPERTS only)", "");
        option.description = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        option
    };
    options.into_iter().map(finish).collect()
}

/// Asks for the modes of options that have them: `--name=help` prints `+ mode` and marks the default.
pub(super) fn ask_for_modes(options: &mut [SolverOption], mut ask: impl FnMut(&str) -> String) {
    for option in options.iter_mut().filter(|option| option.kind == OptionKind::Text) {
        let said = ask(&option.name);
        if !said.contains("Available modes") {
            continue;
        }
        let mut values = Vec::new();
        for line in said.lines() {
            let Some(mode) = line.strip_prefix("+ ") else {
                continue;
            };
            let name = mode.split_whitespace().next().unwrap_or_default().to_string();
            if mode.contains("(default)") {
                option.default = Some(name.clone());
            }
            values.push(name);
        }
        if !values.is_empty() {
            option.kind = OptionKind::Choice { values };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_text_gives_names_types_and_categories() {
        let text = "cvc5 options:\nMost commonly-used cvc5 options:\n  --incremental | -i     enable incremental solving [*]\n  \
            --lang=LANG | --input-language=LANG | -L LANG\n                         force input language\n  \
            --help | -h            full command line reference\n\nAdditional cvc5 options:\n\nFrom the Arithmetic Theory \
            module:\n  --arith-prop=MODE      turns on arithmetic propagation (default is 'old', see\n                         \
            --arith-prop=help) (EXPERTS only)\n  --arith-prop-clauses=N rows shorter than this (EXPERTS only)\n  \
            --cut-all-bounded      turns on the integer solving step (EXPERTS\n                         only) [*]\n  \
            --nl-ext-factor        use factoring [*]\n";
        let mut options = help(text);
        ask_for_modes(&mut options, |name| match name {
            "arith-prop" => {
                "Available modes for --arith-prop are:\n+ none\n+ both (default)\n  Use both.\n".into()
            }
            _ => String::new(),
        });
        let seen: Vec<(&str, &str, bool)> = options
            .iter()
            .map(|option| (option.name.as_str(), option.category.as_str(), option.kind == OptionKind::Bool))
            .collect();
        assert_eq!(
            seen,
            [
                ("incremental", "common", true),
                ("lang", "common", false),
                ("help", "common", false),
                ("arith-prop", "expert", false),
                ("arith-prop-clauses", "expert", false),
                ("cut-all-bounded", "expert", true),
                ("nl-ext-factor", "regular", true),
            ]
        );
        assert_eq!(options[3].kind, OptionKind::Choice { values: vec!["none".into(), "both".into()] });
        assert_eq!(options[3].default.as_deref(), Some("both"));
    }
}
