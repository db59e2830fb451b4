//! All engines by name. A new engine is a file and a line here; the campaign does not change.

use serde::{Deserialize, Serialize};

use crate::engine::{Bench, Engine, Round};
use crate::{Diver, Fusion, Generate, OpFuzz, Polarity, Storm, TypeFuzz, Unchanged};

/// What users may set of engines. Part of what makes a campaign repeatable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    pub storm: Storm,
    pub diver: Diver,
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
    ]
}

/// An engine with other settings under a name of its own, for comparisons.
struct Variant<E> {
    name: &'static str,
    engine: E,
}

impl<E: Engine> Engine for Variant<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seeds_wanted(&self) -> usize {
        self.engine.seeds_wanted()
    }

    fn once(&self) -> bool {
        self.engine.once()
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        self.engine.open(bench)
    }
}

/// Engines as the papers take them apart, to see what each part is worth. Campaigns do not use them.
pub fn variants() -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Variant { name: "diver-uniform", engine: Diver { uniform: true, ..Diver::default() } }),
        Box::new(Variant {
            name: "diver-no-complicate",
            engine: Diver { complicate: 0.0, ..Diver::default() },
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::{all, variants};

    #[test]
    fn variants_have_names_of_their_own() {
        let names: Vec<&str> = all().iter().chain(&variants()).map(|engine| engine.name()).collect();
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn names_are_unique_and_fit_a_comma_separated_list() {
        let mut names: Vec<&str> = all().iter().map(|engine| engine.name()).collect();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase())));
        assert!(!names.contains(&"auto"));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
