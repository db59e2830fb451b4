//! Option information through Python modules: cvc5's and Bitwuzla's. Each is asked by a script of ours that prints one
//! JSON object a line.

use serde::Deserialize;

use super::{OptionKind, SolverOption};

/// Prints the option information of a cvc5 module.
pub(super) const ASK_CVC5: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import cvc5
solver = cvc5.Solver()
def text(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)
for name in solver.getOptionNames():
    name = text(name)
    info = solver.getOptionInfo(name)
    kind = info["type"]
    kind = {bool: "bool", int: "int", float: "real", str: "text"}.get(kind, kind or "void")
    category = str(info.get("category", "regular")).rsplit(".", 1)[-1].split(":")[0].lower()
    number = lambda key: max(-2**63, min(2**63 - 1, int(info[key]))) if kind == "int" and info.get(key) is not None else None
    print(json.dumps({"name": name, "kind": kind, "category": category, "default": text(info.get("default")),
                      "minimum": number("minimum"), "maximum": number("maximum"),
                      "modes": [text(mode) for mode in info.get("modes", [])]}))
"#;

/// Prints the option information of a Bitwuzla module. A back end that this build is without is not a mode: the module
/// refuses to set it.
pub(super) const ASK_BITWUZLA: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import bitwuzla
def settable(option, mode):
    try:
        bitwuzla.Options().set(option, mode)
        return True
    except Exception:
        return False
for option in bitwuzla.Option:
    info = bitwuzla.OptionInfo(bitwuzla.Options(), option)
    kind = {"BOOL": "bool", "NUMERIC": "int", "MODE": "mode"}.get(info.kind().name, "text")
    number = lambda value: min(2**63 - 1, int(value)) if kind == "int" else None
    default = info.dflt()
    default = ("true" if default else "false") if kind == "bool" else None if default in (None, "") else str(default)
    modes = sorted(mode for mode in info.modes() if settable(option, mode)) if kind == "mode" else []
    print(json.dumps({"name": info.lng(), "kind": kind, "category": "regular", "default": default,
                      "minimum": number(info.min()) if kind == "int" else None,
                      "maximum": number(info.max()) if kind == "int" else None,
                      "modes": modes, "description": info.description()}))
"#;

#[derive(Deserialize)]
struct ModuleOption {
    name: String,
    kind: String,
    category: String,
    default: Option<String>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    modes: Vec<String>,
    #[serde(default)]
    description: String,
}

/// Reads what one of the scripts printed; `None` when that is not what they print.
pub(super) fn answer(printed: &str) -> Option<Vec<SolverOption>> {
    printed
        .lines()
        .map(|line| {
            let option: ModuleOption = serde_json::from_str(line).ok()?;
            let kind = match option.kind.as_str() {
                "bool" => OptionKind::Bool,
                "int" => OptionKind::Integer { minimum: option.minimum, maximum: option.maximum },
                "real" => OptionKind::Real,
                "mode" => OptionKind::Choice { values: option.modes },
                _ => OptionKind::Text,
            };
            Some(SolverOption {
                name: option.name,
                kind,
                default: option.default,
                category: option.category,
                description: option.description,
                excluded: None,
                unfair: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubbish_instead_of_option_information_is_noticed() {
        assert!(answer("Traceback (most recent call last):\n").is_none());
    }

    #[test]
    fn a_description_is_optional() {
        let line = r#"{"name":"seed","kind":"int","category":"regular","default":"0","minimum":0,"maximum":9,"modes":[]}"#;
        let options = answer(line).expect("an option");
        assert_eq!(options[0].kind, OptionKind::Integer { minimum: Some(0), maximum: Some(9) });
        assert_eq!(options[0].description, "");
    }
}
