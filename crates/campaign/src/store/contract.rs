//! What every store must do, as tests that run on each of them.

use crate::store::Role;
use std::collections::BTreeSet;

use super::totals::{MESSAGES, OTHERS};
use super::{
    CampaignStore, Claim, Counts, Delta, ENGINE, KnownFinding, LOGIC, Memories, MemoryStore, Sample,
    SeedDelta, SeedMemory, StoreError, StoredSeed, Totals, Unwanted, postgres, sqlite::SqliteStore,
};
use crate::config::Identity;
use crate::seeds::SeedText;

/// A campaign of which any number of handles can be had.
pub trait StoreUnderTest: Sync {
    fn handle(&self) -> Box<dyn CampaignStore>;
    /// A handle of a campaign that keeps few features.
    fn narrow(&self, features: usize) -> Box<dyn CampaignStore>;
}

struct InMemory(MemoryStore);

impl StoreUnderTest for InMemory {
    fn handle(&self) -> Box<dyn CampaignStore> {
        Box::new(self.0.handle())
    }

    fn narrow(&self, features: usize) -> Box<dyn CampaignStore> {
        let mut handle = self.0.handle();
        handle.keep_features(features);
        Box::new(handle)
    }
}

struct OnDisk(tempfile::TempDir);

impl StoreUnderTest for OnDisk {
    fn handle(&self) -> Box<dyn CampaignStore> {
        super::open(self.0.path()).expect("opened")
    }

    fn narrow(&self, features: usize) -> Box<dyn CampaignStore> {
        let mut handle = SqliteStore::open(&self.0.path().join(super::place::FILE)).expect("opened");
        handle.keep_features(features);
        Box::new(handle)
    }
}

impl StoreUnderTest for postgres::tests::OnServer {
    fn handle(&self) -> Box<dyn CampaignStore> {
        Box::new(self.open())
    }

    fn narrow(&self, features: usize) -> Box<dyn CampaignStore> {
        let mut handle = self.open();
        handle.keep_features(features);
        Box::new(handle)
    }
}

pub fn identity() -> Identity {
    Identity { engines: vec!["storm".into()], ..Identity::of_runs(std::time::Duration::from_secs(2), 512, 7) }
}

pub fn given() -> Vec<SeedText> {
    vec![seed("(assert (= 1 1))"), seed("(assert true)"), seed("(assert (and true true))")]
}

pub fn seed(text: &str) -> SeedText {
    SeedText::new("test", text)
}

pub fn finding(hash: &str) -> KnownFinding {
    KnownFinding {
        hash: hash.into(),
        signature: format!("signature of {hash}"),
        kind: "crash".into(),
        solver: "z3".into(),
        folder: format!("crash-z3-{hash}"),
        round: 3,
        step: 4,
        duplicates: 0,
        flaky: false,
        group: hash.into(),
        face: format!("face of {hash}"),
    }
}

pub fn tests(tests: u64) -> Counts {
    Counts { tests, cpu: 10, ..Counts::default() }
}

/// Something of everything.
pub fn delta(count: u64) -> Delta {
    let mut delta =
        Delta { totals: Totals { tests: count, slowest: count, ..Totals::default() }, ..Delta::default() };
    delta.totals.ran(
        solver::run::Purpose::Question.word(),
        &super::RunCounts { runs: count, cpu: 5, ..Default::default() },
    );
    delta.totals.refusals.count("unknown \"operator\"".into());
    delta.learned.add(ENGINE, "storm", &tests(count));
    delta.learned.add(LOGIC, "QF_LIA", &tests(count));
    delta.seeds.push(SeedDelta { hash: given()[0].hash.clone(), counts: tests(count) });
    delta.samples.push(Sample { at: 100, engine: "storm".into(), tests: count, ..Sample::default() });
    delta
}

fn retired(seed: &SeedText, keep_text: bool) -> Delta {
    Delta { retired: vec![(seed.hash.clone(), keep_text)], ..Delta::default() }
}

fn new_mutant(seed: &SeedText) -> Delta {
    Delta { new_seeds: vec![StoredSeed { seed: seed.clone(), mutant: true }], ..Delta::default() }
}

fn hashes(pool: &[(StoredSeed, Counts)]) -> Vec<&str> {
    pool.iter().map(|(stored, _)| stored.seed.hash.as_str()).collect()
}

type Done = Result<(), StoreError>;

fn deltas_of_two_handles_add_up(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    one.merge(&delta(2))?;
    other.merge(&delta(5))?;
    one.merge(&delta(3))?;
    let mut totals = delta(2).totals;
    totals.add(&delta(5).totals);
    totals.add(&delta(3).totals);
    assert_eq!(
        (totals.tests, totals.slowest, totals.of(solver::run::Purpose::Question.word()).runs),
        (10, 5, 10)
    );
    for handle in [&mut one, &mut other] {
        assert_eq!(handle.totals()?, totals);
        assert_eq!(
            handle.learned()?.get(ENGINE, "storm"),
            Counts { tests: 10, cpu: 30, ..Counts::default() }
        );
        assert_eq!(handle.learned()?.of_kind(LOGIC).count(), 1);
        let pool = handle.pool()?;
        let (_, counts) = pool.iter().find(|(stored, _)| stored.seed == given()[0]).expect("given");
        assert_eq!(counts.tests, 10);
        let samples = handle.samples()?;
        assert_eq!(samples, [Sample { at: 100, engine: "storm".into(), tests: 10, ..Sample::default() }]);
    }
    Ok(())
}

fn no_round_is_given_twice_to_four_threads(store: &dyn StoreUnderTest) -> Done {
    let claim = || {
        let mut handle = store.handle();
        (1..=20).flat_map(|count| handle.claim_rounds(count % 4).expect("claimed")).collect::<Vec<u64>>()
    };
    let all: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let different: BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len());
    // Nor is one left out.
    assert_eq!(different.last(), Some(&(all.len() as u64 - 1)));
    Ok(())
}

fn a_signature_is_claimed_once_by_eight_threads(store: &dyn StoreUnderTest) -> Done {
    let claim = |who: u64| {
        let mut handle = store.handle();
        handle.claim(&KnownFinding { round: who, ..finding("abc") }, 0).expect("an answer")
    };
    let claims: Vec<Claim> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|who| scope.spawn(move || claim(who))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let winners: Vec<u64> = (0..8).filter(|who| claims[*who as usize] == Claim::New).collect();
    assert_eq!(winners.len(), 1, "{claims:?}");
    let known = KnownFinding { round: winners[0], ..finding("abc") };
    assert_eq!(claims.iter().filter(|claim| **claim == Claim::Known(known.clone())).count(), 7);
    assert_eq!(store.handle().findings()?, [known]);
    Ok(())
}

fn duplicates_are_counted_by_all(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    assert_eq!(one.duplicate("abc")?, None);
    one.claim(&finding("abc"), 0)?;
    one.duplicate("abc")?;
    assert_eq!(other.duplicate("abc")?.map(|known| known.duplicates), Some(2));
    assert_eq!(other.findings()?, [KnownFinding { duplicates: 2, ..finding("abc") }]);
    Ok(())
}

fn a_released_signature_can_be_claimed_again(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    assert_eq!(one.claim(&finding("abc"), 0)?, Claim::New);
    assert_eq!(other.claim(&finding("abc"), 0)?, Claim::Known(finding("abc")));
    one.release("abc")?;
    assert_eq!(other.duplicate("abc")?, None);
    assert_eq!(other.claim(&finding("abc"), 0)?, Claim::New);
    Ok(())
}

fn a_finding_is_claimed_only_after_a_comparison_with_all_others(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    assert_eq!(one.claim(&finding("a"), 0)?, Claim::New);
    let second = KnownFinding { group: "a".into(), ..finding("b") };
    assert_eq!(other.claim(&second, 0)?, Claim::Behind(vec![finding("a")]));
    assert_eq!(other.claim(&second, 1)?, Claim::New);
    assert_eq!(one.findings()?, [finding("a"), second.clone()]);
    assert!(finding("a").leads() && !second.leads());
    Ok(())
}

fn others_hear_that_a_finding_has_another_group(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    one.claim(&finding("a"), 0)?;
    one.claim(&finding("b"), 1)?;
    other.news()?;
    assert!(one.regroup("b", "b", "a")?);
    // Who has not seen that decides nothing.
    assert!(!other.regroup("b", "b", "c")? && !other.regroup("nobody's", "b", "c")?);
    let moved = KnownFinding { group: "a".into(), ..finding("b") };
    assert_eq!(other.news()?.findings, std::slice::from_ref(&moved));
    assert_eq!(other.findings()?, [finding("a"), moved]);
    Ok(())
}

fn others_hear_that_a_finding_is_clearer_now(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    one.claim(&finding("a"), 0)?;
    other.news()?;
    one.show("a", "smaller")?;
    one.show("nobody's", "nothing")?;
    let shown = KnownFinding { face: "smaller".into(), ..finding("a") };
    assert_eq!(other.news()?.findings, std::slice::from_ref(&shown));
    assert_eq!(other.findings()?, [shown]);
    Ok(())
}

fn findings_come_in_the_order_of_rounds_and_steps(store: &dyn StoreUnderTest) -> Done {
    let mut handle = store.handle();
    for (place, (hash, round, step)) in [("a", 10, 0), ("b", 9, 7), ("c", 9, 3)].into_iter().enumerate() {
        handle.claim(&KnownFinding { round, step, ..finding(hash) }, place as u64)?;
    }
    let order: Vec<String> = handle.findings()?.into_iter().map(|known| known.hash).collect();
    assert_eq!(order, ["c", "b", "a"]);
    Ok(())
}

fn untried_seeds_are_handed_out_once_the_smallest_first(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    let [middle, small, large] = &given()[..] else { unreachable!("three are given") };
    one.merge(&new_mutant(&seed("m")))?;
    assert_eq!(one.claim_untried(2)?, [small.clone(), middle.clone()]);
    assert_eq!(other.claim_untried(2)?, std::slice::from_ref(large));
    assert!(one.claim_untried(2)?.is_empty());
    assert!(store.handle().claim_untried(2)?.is_empty());
    Ok(())
}

fn a_retired_seed_is_not_handed_out_any_more(store: &dyn StoreUnderTest) -> Done {
    let mut handle = store.handle();
    handle.merge(&retired(&given()[1], true))?;
    assert_eq!(handle.claim_untried(9)?, [given()[0].clone(), given()[2].clone()]);
    Ok(())
}

fn news_tell_only_what_others_added(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    let mutant = seed("(assert false)");
    let mut both = delta(2);
    both.merge(new_mutant(&mutant));
    both.features = vec![1, u64::MAX];
    one.merge(&both)?;
    one.claim(&finding("abc"), 0)?;
    one.merge(&retired(&given()[2], false))?;
    let own = one.news()?;
    assert_eq!(own.learned, one.learned()?);
    assert_eq!((own.new_seeds.len(), own.seeds.len(), own.retired.len()), (0, 0, 0));
    assert_eq!((own.features.len(), own.findings.len()), (0, 0));
    let news = other.news()?;
    assert_eq!(news.learned.get(ENGINE, "storm").tests, 2);
    assert_eq!(news.new_seeds, [(StoredSeed { seed: mutant.clone(), mutant: true }, Counts::default())]);
    assert_eq!(news.seeds, [(given()[0].hash.clone(), tests(2))]);
    assert_eq!(news.retired, [given()[2].hash.clone()]);
    assert_eq!((news.features, news.findings), (vec![1, u64::MAX], vec![finding("abc")]));
    let again = other.news()?;
    assert_eq!((again.new_seeds.len(), again.seeds.len(), again.retired.len()), (0, 0, 0));
    assert_eq!((again.features.len(), again.findings.len()), (0, 0));
    // What was there when a handle was opened is no news to it.
    let late = store.handle().news()?;
    assert_eq!((late.new_seeds.len(), late.features.len(), late.findings.len()), (0, 0, 0));
    assert_eq!(late.learned, other.learned()?);
    Ok(())
}

fn news_of_a_row_are_not_hidden_by_an_own_later_change(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    one.claim(&finding("abc"), 0)?;
    other.news()?;
    // First the other one, then we ourselves, twice.
    other.merge(&delta(1))?;
    other.duplicate("abc")?;
    for _ in 0..2 {
        one.merge(&delta(2))?;
        one.duplicate("abc")?;
    }
    let news = one.news()?;
    assert_eq!(news.seeds.first().map(|(_, counts)| counts.tests), Some(5));
    assert_eq!(news.findings.first().map(|known| known.duplicates), Some(3));
    one.merge(&delta(2))?;
    let news = one.news()?;
    assert_eq!((news.seeds.len(), news.findings.len()), (0, 0));
    Ok(())
}

fn a_mutant_that_made_room_may_come_back_and_a_hopeless_seed_may_not(store: &dyn StoreUnderTest) -> Done {
    let mut handle = store.handle();
    let (mutant, hopeless) = (seed("(assert false)"), seed("(assert hard)"));
    for seed in [&mutant, &hopeless] {
        handle.merge(&new_mutant(seed))?;
    }
    handle.merge(&retired(&mutant, false))?;
    handle.merge(&retired(&hopeless, true))?;
    assert_eq!((handle.seed(&mutant.hash)?, handle.seed(&hopeless.hash)?), (None, Some(hopeless.clone())));
    assert_eq!(handle.pool()?.len(), 3);
    for seed in [&mutant, &hopeless] {
        handle.merge(&new_mutant(seed))?;
    }
    let pool = handle.pool()?;
    assert!(hashes(&pool).contains(&mutant.hash.as_str()));
    assert!(!hashes(&pool).contains(&hopeless.hash.as_str()));
    Ok(())
}

fn texts_that_findings_need_stay_although_others_retire_the_seeds(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    let (mutant, unknown) = (seed("(assert false)"), seed("(assert unknown)"));
    one.merge(&new_mutant(&mutant))?;
    let ancestors = vec![mutant.clone(), unknown.clone()];
    other.merge(&Delta { ancestors, ..Delta::default() })?;
    one.merge(&retired(&mutant, false))?;
    assert_eq!(one.seed(&mutant.hash)?, Some(mutant));
    assert_eq!(one.seed(&unknown.hash)?, Some(unknown.clone()));
    // An ancestor is not in use because of that, and still can be.
    assert_eq!(one.pool()?.len(), 3);
    assert!(one.news()?.new_seeds.is_empty());
    other.merge(&new_mutant(&unknown))?;
    assert_eq!(one.pool()?.len(), 4);
    assert_eq!(hashes(&one.news()?.new_seeds), [unknown.hash]);
    Ok(())
}

fn the_pool_is_in_the_order_of_hashes(store: &dyn StoreUnderTest) -> Done {
    let mut handle = store.handle();
    for i in 0..20 {
        handle.merge(&new_mutant(&seed(&i.to_string())))?;
    }
    let pool = handle.pool()?;
    assert!(hashes(&pool).is_sorted());
    assert_eq!(pool.iter().filter(|(stored, _)| stored.mutant).count(), 20);
    Ok(())
}

fn features_are_kept_once_and_up_to_a_bound(store: &dyn StoreUnderTest) -> Done {
    let (mut narrow, mut other) = (store.narrow(5), store.handle());
    let features = |features: &[u64]| Delta { features: features.to_vec(), ..Delta::default() };
    narrow.merge(&features(&[3, 1, 3]))?;
    narrow.merge(&features(&[1, 2]))?;
    assert_eq!(narrow.features()?, [3, 1, 2]);
    narrow.merge(&features(&[1, 4, 5, 6, 7]))?;
    narrow.merge(&features(&[8]))?;
    assert_eq!(narrow.features()?, [3, 1, 2, 4, 5]);
    assert_eq!(other.news()?.features, [3, 1, 2, 4, 5]);
    Ok(())
}

fn messages_are_bounded_over_many_deltas(store: &dyn StoreUnderTest) -> Done {
    let mut handle = store.handle();
    for i in 0..MESSAGES + 5 {
        let mut delta = Delta::default();
        delta.totals.refusals.count(i.to_string());
        delta.totals.refusals.count("0".into());
        delta.totals.excuses.count("by design".into());
        handle.merge(&delta)?;
    }
    let totals = handle.totals()?;
    assert_eq!((totals.refusals.of("0"), totals.refusals.of(OTHERS)), (MESSAGES as u64 + 6, 5));
    assert_eq!(totals.excuses.total(), MESSAGES as u64 + 5);
    Ok(())
}

fn what_engines_know_about_a_seed_is_kept_and_others_hear_of_it(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    let mutant = seed("(assert false)");
    one.merge(&new_mutant(&mutant))?;
    let told = |text: &str, exhausted: bool| {
        let memory = SeedMemory { text: text.to_owned(), exhausted };
        let memories = Memories::from([((mutant.hash.clone(), "values".to_owned()), memory)]);
        Delta { memories, ..Delta::default() }
    };
    one.merge(&told("c0", false))?;
    assert_eq!(other.news()?.memories, told("c0", false).memories);
    assert!(one.news()?.memories.is_empty(), "its own is no news");
    other.merge(&told("cc", true))?;
    one.merge(&told("c1", false))?;
    assert_eq!(store.handle().memories()?, told("c1", true).memories, "an end stays an end");
    one.merge(&retired(&mutant, false))?;
    assert!(one.memories()?.is_empty());
    Ok(())
}

fn bugs_that_nobody_wants_to_hear_of_are_the_same_for_all(store: &dyn StoreUnderTest) -> Done {
    let named = |signatures: &[&str], faces: &[&str]| {
        let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Unwanted { signatures: all(signatures), faces: all(faces) }
    };
    let (mut one, mut other) = (store.handle(), store.handle());
    assert_eq!((one.unwanted()?, one.news()?.unwanted), (Unwanted::default(), None));
    // Whatever a list or a face has in it, and longer than an index takes.
    let long = "(\"\u{0}' \u{e9}\n".repeat(1000);
    one.set_unwanted(&named(&["a"], &[&long]), true)?;
    assert_eq!(other.news()?.unwanted, Some(named(&["a"], &[&long])));
    assert_eq!(other.news()?.unwanted, None, "it was told");
    other.set_unwanted(&named(&["b"], &["f"]), false)?;
    let all = named(&["a", "b"], &[&long, "f"]);
    assert_eq!(one.news()?.unwanted, Some(all.clone()));
    let mut late = store.handle();
    assert_eq!((late.unwanted()?, late.news()?.unwanted), (all, None));
    one.set_unwanted(&named(&["c"], &[]), true)?;
    assert_eq!(other.news()?.unwanted, Some(named(&["c"], &[])));
    one.set_unwanted(&Unwanted::default(), true)?;
    assert_eq!((other.news()?.unwanted, other.unwanted()?), (Some(Unwanted::default()), Unwanted::default()));
    Ok(())
}

fn members_come_and_go_and_hear_that_the_campaign_closes(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    let owner = one.join(Role::Owner)?;
    let worker = other.join(Role::Helper)?;
    assert_ne!(owner, worker);
    other.beat(worker)?;
    let members = one.members()?;
    let told: Vec<_> = members.iter().map(|member| (member.id, member.role, member.pid)).collect();
    let pid = std::process::id();
    assert_eq!(told, [(owner, Role::Owner, pid), (worker, Role::Helper, pid)]);
    assert!(!other.closing()?);
    one.set_closing(true)?;
    assert!(other.closing()?);
    one.set_closing(false)?;
    assert!(!other.closing()?);
    other.leave(worker)?;
    other.beat(worker)?;
    assert_eq!(one.members()?.len(), 1);
    Ok(())
}

fn identity_and_start_are_the_same_for_all(store: &dyn StoreUnderTest) -> Done {
    let (mut one, mut other) = (store.handle(), store.handle());
    assert_eq!((one.identity()?, other.identity()?), (identity(), identity()));
    assert_eq!(one.started()?, other.started()?);
    assert!(one.started()? > 1_500_000_000);
    Ok(())
}

/// Each sentence three times: in memory, on disk, and on a server.
macro_rules! on_every_store {
    ($($sentence:ident)*) => {
        mod in_memory {
            $(#[test] fn $sentence() {
                let store = super::InMemory(super::MemoryStore::new(&super::identity(), &super::given()));
                super::$sentence(&store).expect("the store works");
            })*
        }
        mod on_disk {
            $(#[test] fn $sentence() {
                let folder = tempfile::tempdir().expect("a folder");
                super::super::place::create(folder.path(), &super::identity(), &super::given()).expect("made");
                super::$sentence(&super::OnDisk(folder)).expect("the store works");
            })*
        }
        mod on_server {
            $(#[test] fn $sentence() {
                let Some(store) = super::postgres::tests::OnServer::new() else { return };
                super::$sentence(&store).expect("the store works");
            })*
        }
    };
}

on_every_store! {
    deltas_of_two_handles_add_up
    no_round_is_given_twice_to_four_threads
    a_signature_is_claimed_once_by_eight_threads
    duplicates_are_counted_by_all
    a_released_signature_can_be_claimed_again
    a_finding_is_claimed_only_after_a_comparison_with_all_others
    others_hear_that_a_finding_has_another_group
    others_hear_that_a_finding_is_clearer_now
    findings_come_in_the_order_of_rounds_and_steps
    untried_seeds_are_handed_out_once_the_smallest_first
    a_retired_seed_is_not_handed_out_any_more
    news_tell_only_what_others_added
    news_of_a_row_are_not_hidden_by_an_own_later_change
    a_mutant_that_made_room_may_come_back_and_a_hopeless_seed_may_not
    texts_that_findings_need_stay_although_others_retire_the_seeds
    the_pool_is_in_the_order_of_hashes
    features_are_kept_once_and_up_to_a_bound
    messages_are_bounded_over_many_deltas
    what_engines_know_about_a_seed_is_kept_and_others_hear_of_it
    bugs_that_nobody_wants_to_hear_of_are_the_same_for_all
    members_come_and_go_and_hear_that_the_campaign_closes
    identity_and_start_are_the_same_for_all
}
