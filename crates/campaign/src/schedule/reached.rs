//! Which code of the solvers under test the campaign has reached.
//!
//! Solvers with the same binaries share a set. Sets of several workers and processes unite.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use solver::coverage::{Code, SiteSet};

use crate::target::Target;

/// Sites by the code they are of.
pub type Sites = BTreeMap<u64, Vec<u32>>;

/// What the campaign has reached.
#[derive(Default)]
pub struct Reached {
    codes: BTreeMap<u64, ReachedCode>,
    /// Reached since the last time it was taken, for the store.
    fresh: Sites,
    /// It is only counted.
    unused: bool,
}

struct ReachedCode {
    /// Those that run it.
    solvers: Vec<String>,
    code: Arc<Code>,
    starts: SiteSet,
    set: SiteSet,
    functions: u64,
    blocks: u64,
}

/// How much is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewCode {
    pub functions: u64,
    /// Functions begin with a block.
    pub blocks: u64,
}

/// How much of a solver has been reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SolverCoverage {
    pub solver: String,
    pub functions: u64,
    pub all_functions: u64,
    pub blocks: u64,
    pub all_blocks: u64,
}

impl Reached {
    /// Nothing of these solvers, as far as they are watched.
    pub fn of(targets: &[Target]) -> Reached {
        let mut codes: BTreeMap<u64, ReachedCode> = BTreeMap::new();
        for target in targets {
            let Some((key, code)) = &target.code else { continue };
            let known = codes.entry(*key).or_insert_with(|| ReachedCode {
                solvers: Vec::new(),
                code: Arc::clone(code),
                starts: code.starts().collect(),
                set: SiteSet::default(),
                functions: 0,
                blocks: 0,
            });
            known.solvers.push(target.name.clone());
        }
        Reached { codes, fresh: Sites::new(), unused: false }
    }

    /// The same, to be counted without a say in what comes next.
    #[must_use]
    pub fn unused(self, unused: bool) -> Reached {
        Reached { unused, ..self }
    }

    /// Does new code decide what comes next?
    pub fn has_say(&self) -> bool {
        !self.unused && !self.codes.is_empty()
    }

    /// How much of this nobody has reached before, without remembering it.
    pub fn unseen(&self, sites: &Sites) -> NewCode {
        let mut new = NewCode::default();
        for (key, sites) in sites {
            let Some(code) = self.codes.get(key) else { continue };
            for site in sites.iter().filter(|site| !code.set.contains(**site)) {
                new.blocks += 1;
                new.functions += u64::from(code.starts.contains(*site));
            }
        }
        new
    }

    /// Remembers what has been reached and tells how much of it is new.
    pub fn observe(&mut self, sites: &Sites) -> NewCode {
        let mut new = NewCode::default();
        for (key, sites) in sites {
            let Some(code) = self.codes.get_mut(key) else { continue };
            for site in sites {
                if let Some(of_this) = code.add(*site) {
                    new.blocks += of_this.blocks;
                    new.functions += of_this.functions;
                    self.fresh.entry(*key).or_default().push(*site);
                }
            }
        }
        new
    }

    /// What others have reached, or an earlier run.
    pub fn restore(&mut self, sites: &Sites) {
        for (key, sites) in sites {
            let Some(code) = self.codes.get_mut(key) else { continue };
            for site in sites {
                code.add(*site);
            }
        }
    }

    pub fn take_fresh(&mut self) -> Sites {
        std::mem::take(&mut self.fresh)
    }

    /// How much of each solver, in the order of their names.
    pub fn coverage(&self) -> Vec<SolverCoverage> {
        let of = |reached: &ReachedCode| SolverCoverage {
            solver: reached.solvers.join(", "),
            functions: reached.functions,
            all_functions: reached.code.functions() as u64,
            blocks: reached.blocks,
            all_blocks: reached.code.blocks() as u64,
        };
        let mut all: Vec<SolverCoverage> = self.codes.values().map(of).collect();
        all.sort_by(|a, b| a.solver.cmp(&b.solver));
        all
    }

    /// Writes the set of each solver into a folder, as `osprey solvers coverage --add` reads it.
    pub fn save(&self, folder: &std::path::Path) -> Result<(), solver::coverage::SetError> {
        for reached in self.codes.values() {
            let name: String = reached.solvers.first().map_or("solver", String::as_str).to_owned();
            let plain = |c: char| if c.is_ascii_alphanumeric() || "@.-".contains(c) { c } else { '_' };
            let file: String = name.chars().map(plain).collect();
            reached.set.save(&reached.code, &name, &folder.join(format!("{file}.cov")))?;
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

impl ReachedCode {
    /// What a site adds; nothing if it is known, or not of this code.
    fn add(&mut self, site: u32) -> Option<NewCode> {
        if site as usize >= self.code.blocks() || !self.set.insert(site) {
            return None;
        }
        let new = NewCode { blocks: 1, functions: u64::from(self.starts.contains(site)) };
        self.blocks += 1;
        self.functions += new.functions;
        Some(new)
    }
}
