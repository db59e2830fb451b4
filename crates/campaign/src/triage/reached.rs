//! Functions of a solver that a run with the bug reaches, and runs of its likest variants without the bug do not. Where a
//! rule of a rewriter is wrong, that is the function a developer looks for; where a search goes astray, it is hardly more
//! than a hint.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reduce::blame::OnlyReached;
use solver::coverage::{Code, NamedFunctions, SiteSet};
use solver::run::{Accounts, Configuration, RunError, Runner, Runners};
use solver::stack::is_telling;

use crate::shared::lock;

/// Variants that are looked at.
const VARIANTS: usize = 6;

/// Fewer say nothing: what one run does not need is not what the bug needs.
const LEAST: usize = 2;

/// More functions than these say nothing: the variants take other ways altogether.
const MOST: usize = 12;

/// Time for one run. One that is cut has reached most of what it would.
const WALL: Duration = Duration::from_secs(1);

/// What all of this may cost for one finding.
const COST: Duration = Duration::from_secs(2);

/// Who can tell what solvers reach.
pub struct CodeTracer {
    runners: Arc<dyn Runners>,
    codes: BTreeMap<String, Arc<Code>>,
    runner: Mutex<Option<Box<dyn Runner>>>,
    /// Names of a solver's functions are read when they are needed.
    names: Mutex<BTreeMap<String, Arc<NamedFunctions>>>,
}

impl CodeTracer {
    /// `runners` watch these solvers, known by name.
    pub fn new(
        runners: Arc<dyn Runners>,
        codes: impl IntoIterator<Item = (String, Arc<Code>)>,
    ) -> CodeTracer {
        let codes = codes.into_iter().collect();
        CodeTracer { runners, codes, runner: Mutex::default(), names: Mutex::default() }
    }

    /// What only the script with the bug makes a solver reach; nothing where that cannot be told. With what it has cost.
    pub(super) fn only_reached(
        &self,
        accused: &Arc<Configuration>,
        script: &str,
        without: &[String],
    ) -> Result<(Option<OnlyReached>, Accounts), RunError> {
        let name = accused.solver.name();
        let Some(code) = self.codes.get(&name).filter(|_| without.len() >= LEAST) else {
            return Ok((None, Accounts::default()));
        };
        let mut kept = lock(&self.runner);
        let runner = match &mut *kept {
            Some(runner) => runner,
            none => none.insert(self.runners.runner()?),
        };
        let mut accounts = Accounts::default();
        let mut sites = |script: &str| {
            let sites = runner.trace(accused, script.as_bytes(), WALL)?;
            accounts += runner.take_accounts();
            let left = accounts.total().cpu < COST;
            Ok::<_, RunError>(sites.filter(|_| left))
        };
        let Some(with) = sites(script)? else { return Ok((None, accounts)) };
        let mut with: BTreeSet<u32> = with.into_iter().collect();
        let mut variants = 0;
        for text in without.iter().take(VARIANTS) {
            let Some(reached) = sites(text)? else { break };
            for site in reached {
                with.remove(&site);
            }
            variants += 1;
        }
        if variants < LEAST {
            return Ok((None, accounts));
        }
        Ok((self.named(&name, code, with).map(|only| OnlyReached { variants, ..only }), accounts))
    }

    fn named(&self, solver: &str, code: &Code, sites: BTreeSet<u32>) -> Option<OnlyReached> {
        let names = Arc::clone(match lock(&self.names).entry(solver.to_owned()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(Arc::new(NamedFunctions::of(code).ok()?))
            }
        });
        let set: SiteSet = sites.into_iter().collect();
        let reached = names.each(&set).filter(|function| function.reached);
        let mut telling: Vec<String> =
            reached.map(|one| one.function.name.clone()).filter(|name| is_telling(name)).collect();
        telling.sort_unstable();
        telling.dedup();
        let told = (1..=MOST).contains(&telling.len());
        told.then_some(OnlyReached { functions: telling, variants: 0 })
    }
}

#[cfg(test)]
mod tests {
    use solver::Home;
    use solver::run::{RunRules, SolverRunners};

    use super::*;

    #[test]
    fn the_function_with_the_wrong_rule_is_what_only_the_bug_reaches() {
        let Some(solver) = testkit::get("z3@4.8.7") else { return };
        testkit::launcher();
        let home = tempfile::tempdir().expect("a folder");
        let code = Arc::new(Code::of(&solver, &Home::at(home.path())).expect("code"));
        let accused =
            Configuration::numbered(vec![solver.clone()]).into_iter().map(Arc::new).next().expect("one");
        let runners = SolverRunners::new(
            vec![Arc::clone(&accused)],
            RunRules::for_campaign(Duration::from_secs(10), 1 << 30),
        )
        .watching([(solver.name(), &*code)]);
        let tracer = CodeTracer::new(Arc::new(runners), [(solver.name(), code)]);
        let script = |operator: &str| format!("(assert ({operator} #xc #xf))\n(check-sat)\n");
        let without: Vec<String> =
            ["bvumul_noovfl", "bvslt", "bvsmul_noudfl"].into_iter().map(script).collect();
        let only = |without: &[String]| {
            let (only, accounts) =
                tracer.only_reached(&accused, &script("bvsmul_noovfl"), without).expect("runs");
            (only, accounts.total().runs)
        };
        let (found, runs) = only(&without);
        let found = found.expect("functions");
        assert_eq!(found.functions, ["bv_rewriter::mk_bvsmul_no_overflow"]);
        assert_eq!((found.variants, runs), (3, 4));
        // One variant says nothing, and one with the same code leaves nothing.
        assert_eq!(only(&without[..1]), (None, 0));
        let same = [without[0].clone(), script("bvsmul_noovfl").replace("#xc", "#xb")];
        assert_eq!(only(&same).0, None);
    }
}
