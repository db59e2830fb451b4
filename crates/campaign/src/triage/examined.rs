//! Reduced scripts of which it is known what their bug needs and which releases have it: many findings come down to one
//! script, and it is examined once.

use std::collections::BTreeMap;
use std::sync::Mutex;

use oracle::Kind;
use reduce::blame::Blame;
use solver::run::Configuration;

use crate::findings::Releases;
use crate::shared::lock;

/// What tells a bug from others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub releases: Option<Releases>,
    pub blame: Blame,
}

/// So many scripts are remembered: far more than a campaign has findings.
const MOST: usize = 10_000;

/// By kind, command line and script.
#[derive(Debug, Default)]
pub struct Examined(Mutex<BTreeMap<String, Marks>>);

impl Examined {
    pub(super) fn get(&self, kind: Kind, accused: &Configuration, script: &str) -> Option<Marks> {
        lock(&self.0).get(&key(kind, accused, script)).cloned()
    }

    pub(super) fn remember(&self, kind: Kind, accused: &Configuration, script: &str, marks: &Marks) {
        let mut known = lock(&self.0);
        if known.len() < MOST {
            known.insert(key(kind, accused, script), marks.clone());
        }
    }
}

fn key(kind: Kind, accused: &Configuration, script: &str) -> String {
    format!("{kind}\n{} {}\n{script}", accused.solver.name(), accused.command_line(""))
}

#[cfg(test)]
mod tests {
    use solver::run::PartyId;
    use testkit::made_up;

    use super::*;

    #[test]
    fn a_script_is_known_for_its_kind_and_its_solver_only() {
        let configuration = |spec: &str| Configuration::new(PartyId(0), made_up(spec));
        let (old, new) = (configuration("z3@4.8.7"), configuration("z3@5.4.0"));
        let marks = Marks {
            releases: Some(Releases { affected: vec!["z3@4.8.7".into()], ..Releases::default() }),
            ..Marks::default()
        };
        let examined = Examined::default();
        examined.remember(Kind::Crash, &old, "(check-sat)", &marks);
        assert_eq!(examined.get(Kind::Crash, &old, "(check-sat)"), Some(marks));
        assert_eq!(examined.get(Kind::Crash, &new, "(check-sat)"), None);
        assert_eq!(examined.get(Kind::InvalidModel, &old, "(check-sat)"), None);
        assert_eq!(examined.get(Kind::Crash, &old, "(check-sat)\n"), None);
    }
}
