//! Which options matter for which operations: counts, and the classes they make (definition 4.1 of the paper).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::operation::{Operation, Operations};

/// What has been learned about one release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correlations {
    /// The solver's name.
    pub solver: String,
    pub version: String,
    /// The commands that made it.
    pub commands: Vec<String>,
    /// Batches begun; the number of the next one's random stream.
    pub batches: u64,
    /// Formulas that were looked at with all options.
    pub formulas: u64,
    /// Runs of the solver.
    pub runs: u64,
    /// All options that were tried, by their numbers.
    pub(crate) options: Vec<String>,
    pub(crate) rows: BTreeMap<Operation, Row>,
}

/// What is known about an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Formulas that had it.
    pub formulas: u32,
    /// By the option's number; options that never did anything are not here.
    pub pairs: BTreeMap<u32, Pair>,
}

/// Counts of an option and an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Formulas with the operation on which the option was *not* tried.
    pub missed: u32,
    /// Formulas on which another value changed something.
    pub hits: u32,
    /// Formulas that were refused with another value.
    pub conflicts: u32,
}

impl Pair {
    fn add(&mut self, other: Pair) {
        self.missed += other.missed;
        self.hits += other.hits;
        self.conflicts += other.conflicts;
    }
}

/// From which rates on what is what. The paper gives none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Formulas before anything is said about a pair.
    pub least_trials: u32,
    /// Hits that a relevant pair has at least.
    pub least_hits: u32,
    /// Share of formulas on which a relevant option changes something.
    pub relevant: f64,
    /// Share of formulas that are refused because of a conflicting option.
    pub conflict: f64,
    /// Share of operations for which a general option is relevant.
    pub general: f64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { least_trials: 3, least_hits: 2, relevant: 0.15, conflict: 0.5, general: 0.75 }
    }
}

/// Options for the search of one script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorthTrying<'c> {
    /// They matter for some of its operations.
    pub relevant: BTreeSet<&'c str>,
    /// They have been tried too rarely with some of its operations, and conflict with none.
    pub unknown: BTreeSet<&'c str>,
}

/// What an option is to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Tried too rarely.
    Unknown,
    /// Formulas with the operation are refused.
    Conflict,
    Irrelevant,
    Relevant,
}

impl Correlations {
    /// Nothing is known yet about these options of a release.
    pub fn of<'n>(solver: &str, version: &str, options: impl IntoIterator<Item = &'n str>) -> Correlations {
        let options: BTreeSet<&str> = options.into_iter().collect();
        Correlations {
            solver: solver.to_owned(),
            version: version.to_owned(),
            options: options.into_iter().map(str::to_owned).collect(),
            ..Correlations::default()
        }
    }

    /// The options that were tried, in the order of their numbers.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The operations that occurred, with the number of formulas.
    pub fn operations(&self) -> impl Iterator<Item = (Operation, u32)> {
        self.rows.iter().map(|(operation, row)| (*operation, row.formulas))
    }

    /// How many formulas had an operation.
    pub fn formulas_with(&self, operation: Operation) -> u32 {
        self.rows.get(&operation).map_or(0, |row| row.formulas)
    }

    /// The number of an option, which it gets now if it is new.
    fn number(&mut self, option: &str) -> u32 {
        if let Some(place) = self.options.iter().position(|known| known == option) {
            return place as u32;
        }
        let new = self.options.len() as u32;
        self.options.push(option.to_owned());
        for row in self.rows.values_mut().filter(|row| row.formulas > 0) {
            row.pairs.insert(new, Pair { missed: row.formulas, ..Pair::default() });
        }
        new
    }

    fn find(&self, option: &str) -> Option<u32> {
        self.options.iter().position(|known| known == option).map(|place| place as u32)
    }

    /// Counts a formula: the options that changed something, those that were refused, those that were not tried.
    pub fn count(&mut self, operations: &Operations, hits: &[&str], conflicts: &[&str], missed: &[&str]) {
        self.formulas += 1;
        let mut told: BTreeMap<u32, Pair> = BTreeMap::new();
        for option in hits {
            told.entry(self.number(option)).or_default().hits = 1;
        }
        for option in conflicts {
            told.entry(self.number(option)).or_default().conflicts = 1;
        }
        for option in missed {
            told.entry(self.number(option)).or_default().missed = 1;
        }
        for operation in operations {
            let row = self.rows.entry(*operation).or_default();
            row.formulas += 1;
            for (option, pair) in &told {
                row.pairs.entry(*option).or_default().add(*pair);
            }
        }
    }

    /// Adds the counts of another file of the same release.
    pub fn merge(&mut self, other: &Correlations) {
        let missing = (0..).zip(&self.options).filter(|(_, option)| other.find(option).is_none());
        let only_here: Vec<u32> = missing.map(|(number, _)| number).collect();
        let numbers: Vec<u32> = other.options.iter().map(|option| self.number(option)).collect();
        for (operation, theirs) in &other.rows {
            let row = self.rows.entry(*operation).or_default();
            row.formulas += theirs.formulas;
            for number in &only_here {
                row.pairs.entry(*number).or_default().missed += theirs.formulas;
            }
            for (option, pair) in &theirs.pairs {
                if let Some(number) = numbers.get(*option as usize) {
                    row.pairs.entry(*number).or_default().add(*pair);
                }
            }
        }
        self.formulas += other.formulas;
        self.runs += other.runs;
        self.batches = self.batches.max(other.batches);
        for command in &other.commands {
            if !self.commands.contains(command) {
                self.commands.push(command.clone());
            }
        }
    }

    /// The counts of a pair: formulas on which the option was tried, then the rest.
    pub fn pair(&self, option: &str, operation: Operation) -> (u32, Pair) {
        let (Some(number), Some(row)) = (self.find(option), self.rows.get(&operation)) else {
            return (0, Pair::default());
        };
        let pair = row.pairs.get(&number).copied().unwrap_or_default();
        (row.formulas.saturating_sub(pair.missed), pair)
    }

    /// What an option is to an operation.
    pub fn class(&self, option: &str, operation: Operation, thresholds: &Thresholds) -> Class {
        let (trials, pair) = self.pair(option, operation);
        thresholds.class(trials, pair)
    }

    /// The options that are relevant to some of these operations and in conflict with none (section 4.1), in order.
    pub fn relevant(&self, operations: &Operations, thresholds: &Thresholds) -> Vec<&str> {
        let mut relevant: BTreeSet<u32> = BTreeSet::new();
        let mut conflicting: BTreeSet<u32> = BTreeSet::new();
        for row in operations.iter().filter_map(|operation| self.judged_by(*operation, thresholds)) {
            for (option, pair) in &row.pairs {
                match thresholds.class(row.formulas.saturating_sub(pair.missed), *pair) {
                    Class::Relevant => _ = relevant.insert(*option),
                    Class::Conflict => _ = conflicting.insert(*option),
                    Class::Unknown | Class::Irrelevant => {}
                }
            }
        }
        let chosen =
            relevant.difference(&conflicting).filter_map(|number| self.options.get(*number as usize));
        let mut names: Vec<&str> = chosen.map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The options worth a try on a script with these operations: those that are relevant, and those about which nobody can
    /// tell yet. What too few formulas have had is not irrelevant.
    pub fn worth_trying(&self, operations: &Operations, thresholds: &Thresholds) -> WorthTrying<'_> {
        let relevant: BTreeSet<&str> = self.relevant(operations, thresholds).into_iter().collect();
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        let mut conflicting: BTreeSet<&str> = BTreeSet::new();
        for operation in operations {
            let row = self.judged_by(*operation, thresholds).unwrap_or_default();
            for (number, option) in (0..).zip(&self.options) {
                let pair = row.pairs.get(&number).copied().unwrap_or_default();
                match thresholds.class(row.formulas.saturating_sub(pair.missed), pair) {
                    Class::Unknown => _ = unknown.insert(option),
                    Class::Conflict => _ = conflicting.insert(option),
                    Class::Relevant | Class::Irrelevant => {}
                }
            }
        }
        unknown.retain(|option| !relevant.contains(option) && !conflicting.contains(option));
        WorthTrying { relevant, unknown }
    }

    /// Has it been in enough formulas, or others of its theory, to say what matters for it?
    pub fn knows(&self, operation: Operation, thresholds: &Thresholds) -> bool {
        self.judged_by(operation, thresholds).is_some_and(|row| row.formulas >= thresholds.least_trials)
    }

    /// What an operation is judged by: what is known about it, or about all operators of its theory where too few formulas have
    /// had it.
    fn judged_by(&self, operation: Operation, thresholds: &Thresholds) -> Option<Cow<'_, Row>> {
        let own = self.rows.get(&operation);
        let theory = match operation {
            Operation::Operator(op) if own.is_none_or(|row| row.formulas < thresholds.least_trials) => {
                op.row().theory
            }
            _ => return own.map(Cow::Borrowed),
        };
        let mut all = Row::default();
        for (other, row) in &self.rows {
            if matches!(other, Operation::Operator(op) if op.row().theory == theory) {
                all.formulas += row.formulas;
                for (option, pair) in &row.pairs {
                    all.pairs.entry(*option).or_default().add(*pair);
                }
            }
        }
        Some(Cow::Owned(all))
    }

    /// How many pairs are relevant.
    pub fn relevant_pairs(&self, thresholds: &Thresholds) -> usize {
        let relevant = |row: &Row| {
            let class = |pair: &&Pair| thresholds.class(row.formulas.saturating_sub(pair.missed), **pair);
            row.pairs.values().filter(|pair| class(pair) == Class::Relevant).count()
        };
        self.rows.values().map(relevant).sum()
    }

    /// Options that matter for nearly every operation, in order.
    pub fn general(&self, thresholds: &Thresholds) -> Vec<&str> {
        let tried = self.rows.values().filter(|row| row.formulas >= thresholds.least_trials);
        let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for row in tried.clone() {
            for (option, pair) in &row.pairs {
                let (relevant, unknown) = counts.entry(*option).or_default();
                match thresholds.class(row.formulas.saturating_sub(pair.missed), *pair) {
                    Class::Relevant => *relevant += 1,
                    Class::Unknown => *unknown += 1,
                    Class::Conflict | Class::Irrelevant => {}
                }
            }
        }
        let tried = tried.count();
        let enough = |(relevant, unknown): &(usize, usize)| {
            *relevant > 0 && *relevant as f64 >= thresholds.general * (tried - unknown) as f64
        };
        let chosen = counts.iter().filter(|(_, counts)| enough(counts));
        let mut names: Vec<&str> =
            chosen.filter_map(|(number, _)| self.options.get(*number as usize)).map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// How probably an option changes something or is refused on a formula with these operations, before it is tried: the
    /// highest rate of its pairs, each drawn towards the option's rate over all.
    pub(crate) fn expected(&self, operations: &Operations) -> BTreeMap<&str, f64> {
        /// Formulas that an option's rate over all counts for in a pair.
        const WEIGHT: f64 = 3.0;
        /// Rate of an option nothing is known about, and formulas that this counts for.
        const PRIOR: (f64, f64) = (0.03, 4.0);
        let mut all: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let occurrences: f64 = self.rows.values().map(|row| f64::from(row.formulas)).sum();
        for pair in self.rows.values().flat_map(|row| &row.pairs) {
            let (hits, missed) = all.entry(*pair.0).or_default();
            *hits += f64::from(pair.1.hits + pair.1.conflicts);
            *missed += f64::from(pair.1.missed);
        }
        let mut expected = BTreeMap::new();
        for (number, option) in self.options.iter().enumerate() {
            let number = number as u32;
            let (hits, missed) = all.get(&number).copied().unwrap_or_default();
            let overall = (hits + PRIOR.0 * PRIOR.1) / (occurrences - missed + PRIOR.1).max(PRIOR.1);
            let rates = operations.iter().map(|operation| {
                let Some(row) = self.rows.get(operation) else { return overall };
                let pair = row.pairs.get(&number).copied().unwrap_or_default();
                let trials = f64::from(row.formulas.saturating_sub(pair.missed));
                (f64::from(pair.hits + pair.conflicts) + WEIGHT * overall) / (trials + WEIGHT)
            });
            expected.insert(option.as_str(), rates.fold(0.0f64, f64::max).min(1.0));
        }
        expected
    }
}

impl Thresholds {
    fn class(&self, trials: u32, pair: Pair) -> Class {
        let of = |count: u32, share: f64| f64::from(count) >= share * f64::from(trials);
        if trials < self.least_trials {
            Class::Unknown
        } else if pair.conflicts > 0 && of(pair.conflicts, self.conflict) {
            Class::Conflict
        } else if pair.hits >= self.least_hits && of(pair.hits, self.relevant) {
            Class::Relevant
        } else {
            Class::Irrelevant
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::CommandName;
    use smtlib::Op;

    const PUSH: Operation = Operation::Command(CommandName::Push);
    const REM: Operation = Operation::Operator(Op::IntMod);
    const CORE: Operation = Operation::Command(CommandName::GetUnsatCore);

    fn set(operations: &[Operation]) -> Operations {
        operations.iter().copied().collect()
    }

    /// Figure 4 of the paper, and an option that matters always.
    fn learned() -> Correlations {
        let mut all = Correlations::of("z3", "4.8.7", ["elim_rem", "core.minimize", "eq", "always"]);
        for _ in 0..4 {
            all.count(&set(&[PUSH]), &["always"], &["eq"], &[]);
            all.count(&set(&[CORE, PUSH]), &["core.minimize", "always"], &[], &[]);
            all.count(&set(&[REM]), &["elim_rem", "always"], &[], &["eq"]);
        }
        all
    }

    #[test]
    fn relevant_options_are_the_union_over_the_operations_without_conflicts() {
        let (all, thresholds) = (learned(), Thresholds::default());
        assert_eq!(all.relevant(&set(&[CORE]), &thresholds), ["always", "core.minimize"]);
        assert_eq!(all.relevant(&set(&[REM, CORE]), &thresholds), ["always", "core.minimize", "elim_rem"]);
        assert_eq!(all.class("eq", PUSH, &thresholds), Class::Conflict);
        assert_eq!(all.class("eq", REM, &thresholds), Class::Unknown, "it was never tried there");
        assert_eq!(all.class("elim_rem", PUSH, &thresholds), Class::Irrelevant);
        assert_eq!(all.general(&thresholds), ["always"]);
        assert!(all.relevant(&Operations::new(), &thresholds).is_empty());
        let sum = Operation::Operator(Op::IntAdd);
        assert_eq!(all.relevant(&set(&[sum]), &thresholds), ["always", "elim_rem"], "as for other integers");
        assert!(all.relevant(&set(&[Operation::Quantifier]), &thresholds).is_empty());
    }

    #[test]
    fn options_are_worth_trying_on_operations_that_few_formulas_have_had() {
        let (all, thresholds) = (learned(), Thresholds::default());
        let core = all.worth_trying(&set(&[CORE]), &thresholds);
        assert_eq!(core.relevant, BTreeSet::from(["always", "core.minimize"]));
        assert!(core.unknown.is_empty(), "all was tried with it: {core:?}");
        let rem = all.worth_trying(&set(&[REM]), &thresholds);
        assert_eq!(rem.unknown, BTreeSet::from(["eq"]), "it was not tried there");
        let quantified = all.worth_trying(&set(&[CORE, Operation::Quantifier]), &thresholds);
        assert_eq!(quantified.relevant, core.relevant);
        assert_eq!(quantified.unknown, BTreeSet::from(["elim_rem", "eq"]));
        let with_push = all.worth_trying(&set(&[PUSH, Operation::Operator(Op::StrConcat)]), &thresholds);
        assert!(!with_push.unknown.contains("eq"), "it is in conflict with push");
        assert!(with_push.unknown.contains("elim_rem"), "a theory that nobody has seen");
        assert!(all.knows(CORE, &thresholds) && !all.knows(Operation::Quantifier, &thresholds));
    }

    #[test]
    fn counts_of_two_files_add_up_and_options_of_one_were_not_tried_in_the_other() {
        let mut sum = learned();
        sum.merge(&learned());
        assert_eq!(sum.pair("core.minimize", CORE), (8, Pair { missed: 0, hits: 8, conflicts: 0 }));
        assert_eq!(sum.pair("eq", REM).0, 0);
        let mut newer = Correlations::of("z3", "4.8.7", ["always", "new"]);
        newer.count(&set(&[CORE]), &["new"], &[], &[]);
        newer.count(&set(&[Operation::Quantifier]), &["new"], &[], &[]);
        let (mut one, mut other) = (learned(), newer.clone());
        one.merge(&newer);
        other.merge(&learned());
        for all in [&one, &other] {
            assert_eq!(all.pair("new", CORE), (1, Pair { missed: 4, hits: 1, conflicts: 0 }));
            assert_eq!(all.pair("core.minimize", CORE), (4, Pair { missed: 1, hits: 4, conflicts: 0 }));
            assert_eq!(all.pair("core.minimize", Operation::Quantifier).0, 0);
            assert_eq!(all.pair("always", CORE).0, 5);
            assert_eq!(all.pair("new", PUSH).0, 0);
            assert_eq!(all.formulas, 14);
        }
    }

    #[test]
    fn what_an_option_did_before_is_expected_of_it_again() {
        let all = learned();
        let expected = all.expected(&set(&[CORE]));
        assert!(expected["core.minimize"] > 0.5 && expected["always"] > 0.5, "{expected:?}");
        assert!(expected["elim_rem"] < 0.2, "{expected:?}");
    }
}
