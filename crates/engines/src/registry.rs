//! All engines by name. A new engine is a file and a line here; the campaign does not change.

use crate::engine::Engine;
use crate::{Diver, Fusion, Generate, OpFuzz, Polarity, Storm, TypeFuzz};

/// Every engine with its defaults.
pub fn all() -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Generate::default()),
        Box::new(OpFuzz::default()),
        Box::new(TypeFuzz::default()),
        Box::new(Fusion::default()),
        Box::new(Storm::default()),
        Box::new(Diver::default()),
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
