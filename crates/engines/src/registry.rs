//! All engines by name. A new engine is a file and a line here; the campaign does not change.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
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

#[cfg(test)]
mod tests {
    use super::all;

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
