//! Options of solvers for engines that set some.

use engines::{OptionMenu, SolverSettings};
use generate::Rng;

use crate::target::Target;

/// Options that the developers of each solver stand behind.
pub struct FairOptions<'a> {
    pub targets: &'a [Target],
}

impl OptionMenu for FairOptions<'_> {
    /// For each solver none, or up to so many.
    fn draw(&self, rng: &mut Rng, most: usize) -> Vec<SolverSettings> {
        let mut drawn = Vec::new();
        for target in self.targets {
            let count = rng.between(0, most);
            let Some(table) = target.table.as_ref().filter(|_| count > 0) else { continue };
            let mut settings = target.solver.fair_options(table, rng);
            rng.shuffle(&mut settings);
            settings.truncate(count);
            if !settings.is_empty() {
                drawn.push(SolverSettings { solver: target.number, settings });
            }
        }
        drawn
    }
}
