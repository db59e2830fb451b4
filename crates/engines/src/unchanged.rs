//! The engine `seed`: every seed once as it is.
//!
//! A folder of seeds often holds bug reports, and a release under test may still have, or have again, the bugs they are
//! about. The round also tells the campaign what the seed costs before anything is made of it.

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Engine for Unchanged {
    fn name(&self) -> &str {
        "seed"
    }

    fn once(&self) -> bool {
        true
    }

    fn open(&self, _: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        Some(Box::new(Only { given: false }))
    }
}

struct Only {
    given: bool,
}

impl Round for Only {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if std::mem::replace(&mut self.given, true) {
            return None;
        }
        let seed = bench.seeds.first()?;
        // What a file says of its own answer is a claim, often of a release of long ago: solvers must only agree.
        Some(Draft::agree(seed.script.clone()))
    }

    fn length(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use generate::{Config, Grammar, rng};
    use smtlib::{Mode, Store};

    use super::*;
    use crate::{NoOptions, Nobody, Seed};

    #[test]
    fn a_round_is_the_seed_and_nothing_more() {
        let mut store = Store::new();
        let text = "(declare-const x Int)(assert (> x 1))(check-sat)";
        let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Strict).expect("well-formed").script;
        let seeds = [Seed { name: "s".to_owned(), script: script.clone(), status: None, memory: None }];
        let grammar = Grammar::new("QF_LIA", &[], Config::default()).expect("a logic");
        let mut rng = rng::stream(1, 1);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = Unchanged.open(&mut bench).expect("a round");
        let draft = round.next(&mut bench).expect("a test case");
        assert_eq!(draft.script(), &script);
        assert!(round.next(&mut bench).is_none());
    }
}
