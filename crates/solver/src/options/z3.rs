//! Z3's parameters: `name (type) description (default: value)`, grouped by `[module] name`.

use std::sync::LazyLock;

use regex::Regex;

use super::{OptionKind, SolverOption};

pub(super) fn parameters(listing: &str) -> Vec<SolverOption> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\s{2,}([A-Za-z0-9_.]+) \((bool|unsigned int|int|double|symbol|string)\) ?(.*)$").ok()
    });
    let Some(line) = LINE.as_ref() else {
        return Vec::new();
    };
    let mut module = String::new();
    let mut options = Vec::new();
    for text in listing.lines() {
        if let Some(rest) = text.strip_prefix("[module] ") {
            module = rest.split([',', ' ']).next().unwrap_or_default().to_string();
            continue;
        }
        let Some(found) = line.captures(text) else {
            continue;
        };
        let rest = &found[3];
        let (description, default) = match rest.rfind("(default: ") {
            Some(start) => (&rest[..start], rest[start + 10..].strip_suffix(')')),
            None => (rest, None),
        };
        let name = if module.is_empty() { found[1].to_string() } else { format!("{module}.{}", &found[1]) };
        let choices = choices(description);
        let kind = match &found[2] {
            "bool" => OptionKind::Bool,
            "double" => OptionKind::Real,
            "unsigned int" | "int" if choices.len() > 1 => OptionKind::Choice { values: choices },
            "unsigned int" => OptionKind::Integer { minimum: Some(0), maximum: Some(i64::from(u32::MAX)) },
            "int" => OptionKind::Integer { minimum: None, maximum: None },
            _ => OptionKind::Text,
        };
        options.push(SolverOption {
            name,
            kind,
            default: default.map(|value| value.trim().to_string()),
            category: if module.is_empty() { "global".to_string() } else { module.clone() },
            description: description.trim().to_string(),
            excluded: None,
            unfair: None,
        });
    }
    options
}

/// Numbers a description explains one by one: `0 - none, 1 - some`.
fn choices(description: &str) -> Vec<String> {
    static NUMBERED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:^|[\s,;:(])(\d{1,2}) *(?:-|:|=) +[A-Za-z']").ok());
    let Some(pattern) = NUMBERED.as_ref() else {
        return Vec::new();
    };
    let mut values: Vec<u32> =
        pattern.captures_iter(description).filter_map(|found| found[1].parse().ok()).collect();
    values.sort_unstable();
    values.dedup();
    // A list of choices counts up from 0 or 1; other numbers in a sentence are just numbers.
    let counts_up = values.windows(2).all(|pair| pair[1] <= pair[0] + 2)
        && values.first().is_some_and(|first| *first < 2);
    if counts_up { values.iter().map(ToString::to_string).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_get_their_module_type_default_and_choices() {
        let listing = "Global parameters\n    auto_config (bool) use heuristics (default: true)\n\nTo set a module \
            parameter, use <module-name>.<parameter-name>=value\n\n[module] pi, description: pattern inference\n    \
            arith (unsigned int) 0 - do not infer, 1 - use if there is no other, 2 - always (default: 1)\n    \
            arith_weight (unsigned int) default weight (default: 5)\n[module] smt\n    \
            string_solver (symbol) solver for strings (default: seq)\n    qi.cost (string) cost (default: (+ weight generation))\n";
        let options = parameters(listing);
        let names: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["auto_config", "pi.arith", "pi.arith_weight", "smt.string_solver", "smt.qi.cost"]);
        assert_eq!(options[0].kind, OptionKind::Bool);
        assert_eq!(options[1].kind, OptionKind::Choice { values: vec!["0".into(), "1".into(), "2".into()] });
        assert!(matches!(options[2].kind, OptionKind::Integer { .. }));
        assert_eq!(options[1].default.as_deref(), Some("1"));
        assert_eq!(options[4].default.as_deref(), Some("(+ weight generation)"));
        assert_eq!(options[2].category, "pi");
    }
}
