//! Group testing: many options changed at once, and split in halves only where something changed.
//!
//! Most options change nothing on most formulas. One run tells that of a whole group of them; an option is only said to
//! change something by a run of its own.

/// What a group of options does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What can be observed is the same.
    Nothing,
    Changed,
    /// The solver refuses it.
    Conflict,
}

/// What single options do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub changed: Vec<usize>,
    pub conflicts: Vec<usize>,
    /// Runs that it took.
    pub tests: u64,
}

/// Groups that are about as likely to change something as not, of which most can be told: those that most likely do are
/// alone. Members come in the order given, which the caller has shuffled.
pub fn grouped(members: impl IntoIterator<Item = (usize, f64)>) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut load = 0.0;
    for (member, rate) in members {
        // A group without effect is as likely as one with if these add up to the logarithm of 2.
        let weight = -(1.0 - rate.clamp(0.0, 0.999)).ln();
        if weight >= std::f64::consts::LN_2 / 2.0 {
            groups.push(vec![member]);
            continue;
        }
        if load + weight > std::f64::consts::LN_2 && !open.is_empty() {
            groups.push(std::mem::take(&mut open));
            load = 0.0;
        }
        open.push(member);
        load += weight;
    }
    if !open.is_empty() {
        groups.push(open);
    }
    groups
}

/// Finds the members that do something on their own. Effects that need several of them are not found.
pub fn split<E>(
    groups: Vec<Vec<usize>>,
    mut test: impl FnMut(&[usize]) -> Result<Effect, E>,
) -> Result<Found, E> {
    let mut found = Found::default();
    let mut open = groups;
    while let Some(group) = open.pop() {
        found.tests += 1;
        match (test(&group)?, group.as_slice()) {
            (Effect::Nothing, _) | (_, []) => {}
            (Effect::Changed, [one]) => found.changed.push(*one),
            (Effect::Conflict, [one]) => found.conflicts.push(*one),
            (_, several) => {
                let (first, second) = several.split_at(several.len() / 2);
                open.push(second.to_vec());
                open.push(first.to_vec());
            }
        }
    }
    found.changed.sort_unstable();
    found.conflicts.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(group: &[usize]) -> Effect {
        if group.contains(&77) {
            Effect::Conflict
        } else if group.iter().any(|one| [3, 200].contains(one)) || group.contains(&9) && group.contains(&10)
        {
            Effect::Changed
        } else {
            Effect::Nothing
        }
    }

    #[test]
    fn the_few_that_do_something_are_found_by_far_fewer_runs_than_there_are_options() {
        let groups = grouped((0..300).map(|one| (one, 0.01)));
        let found = split(groups, |group| Ok::<_, ()>(effect(group))).expect("no failure");
        assert_eq!((found.changed, found.conflicts), (vec![3, 200], vec![77]), "9 and 10 do nothing alone");
        assert!(found.tests < 70, "{}", found.tests);
    }

    #[test]
    fn those_that_are_likely_to_do_something_are_alone() {
        let groups =
            grouped([(0, 0.9), (1, 0.01), (2, 0.5), (3, 0.01), (4, 0.2), (5, 0.2), (6, 0.2), (7, 0.2)]);
        assert_eq!(groups, [vec![0], vec![2], vec![1, 3, 4, 5, 6], vec![7]]);
    }

    #[test]
    fn a_failure_ends_it() {
        assert_eq!(split(vec![vec![1, 2]], |_| Err::<Effect, _>("stop")), Err("stop"));
    }
}
