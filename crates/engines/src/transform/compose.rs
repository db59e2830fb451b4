//! An engine with transforms behind it, as an engine.

use std::sync::Arc;

use eval::Model;
use generate::Rng;
use smtlib::{Script, Store};

use super::Transform;
use crate::case::Draft;
use crate::engine::{Bench, Engine, Round, Seed};
use crate::feedback::Feedback;

/// The composition `engine+transform+...`.
pub(crate) struct Composition {
    name: String,
    engine: Box<dyn Engine>,
    transforms: Vec<Arc<dyn Transform>>,
}

impl Composition {
    pub fn new(engine: Box<dyn Engine>, transforms: Vec<Arc<dyn Transform>>) -> Composition {
        let names: Vec<&str> = std::iter::once(engine.name())
            .chain(transforms.iter().map(|transform| transform.name()))
            .collect();
        Composition { name: names.join("+"), engine, transforms }
    }
}

impl Engine for Composition {
    fn name(&self) -> &str {
        &self.name
    }

    fn seeds_wanted(&self) -> usize {
        self.engine.seeds_wanted()
    }

    // `once` stays false: what transforms do depends on the stream too.

    fn options(&self) -> Option<&'static str> {
        self.engine.options()
    }

    fn has_witness(&self) -> bool {
        self.engine.has_witness()
    }

    fn steers_by_numbers(&self) -> bool {
        self.engine.steers_by_numbers()
    }

    fn declines(&self, store: &mut Store, seeds: &[Seed]) -> Option<&'static str> {
        self.engine.declines(store, seeds)
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        // Streams of their own: the engine makes what it makes alone.
        let fork = |(number, transform): (usize, &Arc<dyn Transform>)| {
            (transform.clone(), bench.rng.fork(&format!("transform {number}")))
        };
        let transforms = self.transforms.iter().enumerate().map(fork).collect();
        let round = self.engine.open(bench)?;
        Some(Box::new(Composed { round, transforms, changed: false }))
    }
}

struct Composed {
    round: Box<dyn Round>,
    /// Each with its stream.
    transforms: Vec<(Arc<dyn Transform>, Rng)>,
    /// The test case made last is another one than the engine's own, which a model of it tells nothing about.
    changed: bool,
}

impl Round for Composed {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        let mut draft = self.round.next(bench)?;
        self.changed = false;
        for (transform, rng) in &mut self.transforms {
            if let Some(changed) = transform.apply(draft.clone(), &mut bench.with_rng(rng)) {
                draft = changed;
                self.changed = true;
            }
        }
        Some(draft)
    }

    fn length(&self) -> usize {
        self.round.length()
    }

    fn effort(&self) -> Option<(u64, u64)> {
        self.round.effort()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.round.exhausted()
    }

    fn memory(&self) -> Option<String> {
        self.round.memory()
    }

    fn figures(&self) -> Vec<(&'static str, u64)> {
        self.round.figures()
    }

    fn explain(&self, store: &Store, name: &dyn Fn(usize) -> String) -> Option<String> {
        self.round.explain(store, name)
    }

    fn heirs(&self) -> Vec<Script> {
        self.round.heirs()
    }

    fn note(&self, store: &Store, model: &Model) -> Option<String> {
        if self.changed { None } else { self.round.note(store, model) }
    }

    fn learn(&mut self, feedback: &Feedback) {
        self.round.learn(feedback);
    }
}
