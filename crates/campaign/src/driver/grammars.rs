//! Grammars by logic and group of solvers.

use std::collections::BTreeMap;

use generate::{Config, Grammar};
use smtlib::Release;

use crate::target::Target;

/// Grammars made so far: making one looks at the whole theory table.
#[derive(Default)]
pub struct Grammars {
    known: BTreeMap<(String, Vec<usize>, Vec<String>), Option<Grammar>>,
}

/// Grammars kept: more than there are logics in any set of seeds.
const KEPT: usize = 256;

impl Grammars {
    /// The grammar of a logic for a group of solvers, without some operators; nothing if the logic has no name we know.
    pub fn get(
        &mut self,
        logic: &str,
        targets: &[Target],
        group: &[usize],
        without: &[String],
    ) -> Option<&Grammar> {
        if self.known.len() > KEPT {
            self.known.clear();
        }
        let key = (logic.to_owned(), group.to_vec(), without.to_vec());
        let grammar = self.known.entry(key).or_insert_with(|| {
            let group: Vec<&Target> = group.iter().filter_map(|i| targets.get(*i)).collect();
            let releases: Vec<Release> = group.iter().map(|target| target.release).collect();
            let mut config = Config::default();
            for row in smtlib::theory::table().rows() {
                let lacking = group.iter().any(|target| !target.has(solver::theory_name(row.theory)));
                if lacking {
                    config.theories.insert(format!("{:?}", row.theory), 0.0);
                }
            }
            config.operators.extend(without.iter().map(|name| (name.clone(), 0.0)));
            let all_have = |name: &str| group.iter().all(|target| target.has(name));
            if !all_have("quantifiers") {
                config.quantifiers = 0.0;
            }
            if !all_have("datatypes") {
                config.datatypes = 0.0;
            }
            Grammar::new(logic, &releases, config).ok()
        });
        grammar.as_ref()
    }
}
