//! All engines and transforms by name. A new one is a file and a line here; the campaign does not change.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smtlib::Store;
use thiserror::Error;

use crate::engine::{Bench, Engine, Round, Seed};
use crate::transform::{Composition, Incremental, NewValues, Transform};
use crate::{Diver, Falcon, Fusion, Generate, OpFuzz, Polarity, Storm, TypeFuzz, Unchanged, Values};

/// In a list: every engine.
const AUTO: &str = "auto";

/// What users may set of engines. Part of what makes a campaign repeatable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    pub storm: Storm,
    pub diver: Diver,
    pub values: Values,
}

/// Every engine with its defaults.
pub fn all() -> Vec<Box<dyn Engine>> {
    tuned(&Tuning::default())
}

/// Every engine, set as the user wants.
pub fn tuned(tuning: &Tuning) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Unchanged),
        Box::new(Generate::default()),
        Box::new(OpFuzz::default()),
        Box::new(TypeFuzz::default()),
        Box::new(Fusion::default()),
        Box::new(tuning.storm.clone()),
        Box::new(tuning.diver.clone()),
        Box::new(Polarity::default()),
        Box::new(tuning.values.clone()),
    ]
}

/// Every transform.
pub fn transforms() -> Vec<Arc<dyn Transform>> {
    vec![Arc::new(Incremental), Arc::new(NewValues)]
}

/// Engines as the papers take them apart, to see what each part is worth. Campaigns use them only by name.
pub fn variants() -> Vec<Box<dyn Engine>> {
    tuned_variants(&Tuning::default())
}

fn tuned_variants(tuning: &Tuning) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Variant { name: "diver-uniform", engine: tuning.diver.clone().with_uniform_choice() }),
        Box::new(Variant { name: "diver-no-complicate", engine: tuning.diver.clone().without_complicate() }),
        Box::new(Falcon { name: "falcon", options: "learned" }),
        Box::new(Falcon { name: "falcon-search", options: "searched" }),
        Box::new(Falcon { name: "falcon-learn", options: "related" }),
        Box::new(Falcon { name: "falcon-noopt", options: "plain" }),
    ]
}

/// An engine with other settings under a name of its own, for comparisons.
struct Variant<E> {
    name: &'static str,
    engine: E,
}

impl<E: Engine> Engine for Variant<E> {
    fn name(&self) -> &str {
        self.name
    }

    fn seeds_wanted(&self) -> usize {
        self.engine.seeds_wanted()
    }

    fn once(&self) -> bool {
        self.engine.once()
    }

    fn has_witness(&self) -> bool {
        self.engine.has_witness()
    }

    fn options(&self) -> Option<&'static str> {
        self.engine.options()
    }

    fn steers_by_numbers(&self) -> bool {
        self.engine.steers_by_numbers()
    }

    fn declines(&self, store: &mut Store, seeds: &[Seed]) -> Option<&'static str> {
        self.engine.declines(store, seeds)
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        self.engine.open(bench)
    }
}

/// Why a text names no engine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownEngine {
    #[error("there is no engine '{name}'; {}", what_exists())]
    Engine { name: String },
    #[error("there is no transform '{name}' (in '{text}'); {}", what_exists())]
    Transform { name: String, text: String },
    #[error("'{name}' is a transform: write it after an engine, as in 'diver+{name}'; {}", what_exists())]
    NotAnEngine { name: String },
    #[error("'{name}' is an engine: only transforms may stand after a '+' (in '{text}'); {}", what_exists())]
    NotATransform { name: String, text: String },
    #[error("a name is missing in '{text}'; {}", what_exists())]
    Missing { text: String },
}

/// Completes an error message.
fn what_exists() -> String {
    let engines: Vec<String> =
        all().iter().chain(&variants()).map(|engine| engine.name().to_owned()).collect();
    let transforms: Vec<String> = transforms().iter().map(|transform| transform.name().to_owned()).collect();
    format!("engines: {}; transforms: {}", engines.join(", "), transforms.join(", "))
}

/// The engine that a text names: an engine, or an engine and the transforms behind it (`diver+incremental`). Names of
/// engines are read nowhere else.
pub fn parse(text: &str, tuning: &Tuning) -> Result<Box<dyn Engine>, UnknownEngine> {
    let mut names = text.split('+').map(str::trim);
    let engine = engine(names.next().unwrap_or_default(), text, tuning)?;
    let transforms = names.map(|name| transform(name, text)).collect::<Result<Vec<_>, _>>()?;
    Ok(if transforms.is_empty() { engine } else { Box::new(Composition::new(engine, transforms)) })
}

/// The engines of a comma-separated list, each once; `auto` stands for every engine.
pub fn parse_list(text: &str, tuning: &Tuning) -> Result<Vec<Box<dyn Engine>>, UnknownEngine> {
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    for name in text.split(',').map(str::trim) {
        let named = match name {
            "" => return Err(UnknownEngine::Missing { text: text.to_owned() }),
            AUTO => tuned(tuning),
            name => vec![parse(name, tuning)?],
        };
        for engine in named {
            if engines.iter().all(|known| known.name() != engine.name()) {
                engines.push(engine);
            }
        }
    }
    Ok(engines)
}

fn engine(name: &str, text: &str, tuning: &Tuning) -> Result<Box<dyn Engine>, UnknownEngine> {
    let mut known = tuned(tuning).into_iter().chain(tuned_variants(tuning));
    known.find(|engine| engine.name() == name).ok_or_else(|| match name {
        "" => UnknownEngine::Missing { text: text.to_owned() },
        _ if transforms().iter().any(|transform| transform.name() == name) => {
            UnknownEngine::NotAnEngine { name: name.to_owned() }
        }
        _ => UnknownEngine::Engine { name: name.to_owned() },
    })
}

fn transform(name: &str, text: &str) -> Result<Arc<dyn Transform>, UnknownEngine> {
    let (owned, whole) = (name.to_owned(), text.to_owned());
    transforms().into_iter().find(|transform| transform.name() == name).ok_or_else(|| match name {
        "" => UnknownEngine::Missing { text: whole },
        _ if all().iter().chain(&variants()).any(|engine| engine.name() == name) => {
            UnknownEngine::NotATransform { name: owned, text: whole }
        }
        _ => UnknownEngine::Transform { name: owned, text: whole },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> UnknownEngine {
        parse_list(text, &Tuning::default()).err().expect("no such engine")
    }

    #[test]
    fn names_are_unique_and_can_be_told_apart_in_a_list() {
        let engines = all().iter().chain(&variants()).map(|engine| engine.name().to_owned()).collect();
        let transforms = transforms().iter().map(|transform| transform.name().to_owned()).collect();
        // An engine and a transform may share a name: a '+' stands before one of them.
        let lists: [Vec<String>; 2] = [engines, transforms];
        for mut names in lists {
            assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
            assert!(!names.iter().any(|name| name == AUTO));
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn every_name_is_read_as_the_engine_that_has_it() {
        let tuning = Tuning::default();
        for engine in all().iter().chain(&variants()) {
            let parsed = parse(engine.name(), &tuning).expect("an engine's name");
            assert_eq!(parsed.name(), engine.name());
            assert_eq!((parsed.seeds_wanted(), parsed.once()), (engine.seeds_wanted(), engine.once()));
            for transform in transforms() {
                let text = format!("{}+{}", engine.name(), transform.name());
                let composed = parse(&text, &tuning).expect("a composition's name");
                assert_eq!(composed.name(), text);
                assert_eq!(composed.seeds_wanted(), engine.seeds_wanted());
            }
        }
        assert_eq!(parse(" diver + incremental", &tuning).expect("spaces").name(), "diver+incremental");
    }

    #[test]
    fn a_list_names_each_engine_once() {
        let names = |text: &str| -> Vec<String> {
            let engines = parse_list(text, &Tuning::default()).expect(text);
            engines.iter().map(|engine| engine.name().to_owned()).collect()
        };
        assert_eq!(names("storm, diver,storm,diver+incremental"), ["storm", "diver", "diver+incremental"]);
        let every = all().iter().map(|engine| engine.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(names("auto"), every);
        assert_eq!(names("auto,storm+incremental").len(), every.len() + 1);
    }

    #[test]
    fn a_text_that_names_no_engine_is_answered_with_those_there_are() {
        assert_eq!(error("divr"), UnknownEngine::Engine { name: "divr".into() });
        assert_eq!(error("incremental"), UnknownEngine::NotAnEngine { name: "incremental".into() });
        let (name, text) = ("storm".to_owned(), "diver+storm".to_owned());
        assert_eq!(error("seed,diver+storm"), UnknownEngine::NotATransform { name, text });
        let (name, text) = ("value".to_owned(), "diver+value".to_owned());
        assert_eq!(error("diver+value"), UnknownEngine::Transform { name, text });
        for text in ["", "diver,", "diver+", "+incremental"] {
            assert_eq!(error(text), UnknownEngine::Missing { text: text.into() }, "{text}");
        }
        let said = error("divr").to_string();
        assert!(said.starts_with("there is no engine 'divr'; engines: seed, generate,"), "{said}");
        assert!(said.ends_with("transforms: incremental, values"), "{said}");
    }
}
