//! Between this process and the store: differences there and back, rounds claimed ahead. One thread does it, so that no
//! worker waits for the disk or for another process.

use std::sync::Mutex;

use super::log::Counted;
use super::{LogLine, Shared, lock};
use crate::error::CampaignError;
use crate::store::{CampaignStore, MemberId, Role};

/// Rounds claimed at a time: few enough that a kill wastes no numbers worth mentioning, enough for the time between two
/// exchanges.
const ROUNDS: u64 = 256;

/// Untried seeds claimed at a time.
const SEEDS: usize = 256;

/// Tells the store what this process has counted, and hears what others have.
pub fn exchange(
    shared: &Shared,
    store: &Mutex<Box<dyn CampaignStore>>,
    member: MemberId,
) -> Result<(), CampaignError> {
    let mut store = lock(store);
    let (delta, wants_rounds, wants_untried) = {
        let mut state = shared.state();
        (state.take_delta(), state.claimed.rounds_left() < super::claimed::LOW, state.claimed.wants_untried())
    };
    // A log tells what was counted before it is delivered, so that their sum is never behind.
    if let Some(last) = store.journaled().filter(|_| shared.log.is_on() && !delta.is_empty()) {
        shared.log.write(&LogLine::Counted(Counted::of(last + 1, &delta)))?;
        shared.log.flush()?;
    }
    if let Err(error) = store.merge(&delta) {
        shared.state().give_back(delta);
        return Err(error.into());
    }
    store.beat(member)?;
    let rounds = wants_rounds.then(|| store.claim_rounds(ROUNDS)).transpose()?;
    let untried = wants_untried.then(|| store.claim_untried(SEEDS)).transpose()?;
    let (news, totals) = (store.news()?, store.totals()?);
    let members = store.members()?;
    let only_helps = members.iter().any(|one| one.id == member && one.role == Role::Helper);
    let (travels, away, notes) = (store.archive().is_some(), store.is_away(), store.take_notes());
    drop(store);
    for note in notes {
        shared.observer.note(&note);
        shared.log.note(&note)?;
    }
    let mut state = shared.state();
    state.absorb(news, totals, rounds);
    shared.stop.count_findings(state.findings.take_found());
    if members.len() > 1 {
        state.claimed.see_others();
    }
    if let Some(seeds) = untried {
        // Processes that share a server take over each other's seeds, too.
        let back = travels && (!seeds.is_empty() || away || state.claimed.may_come_back(only_helps));
        let more = seeds.len() == SEEDS || back;
        state.claimed.add_untried(seeds, more);
    }
    drop(state);
    shared.members.store(members.len(), std::sync::atomic::Ordering::Relaxed);
    shared.rounds_came.notify_all();
    shared.log.flush()
}
