//! A set by module, and two sets side by side.

use std::collections::BTreeMap;

use object::Endianness;
use object::read::elf::ElfFile64;
use serde::Serialize;

use super::code::{Code, CoverageError};
use super::set::SiteSet;
use super::symbols::{Function, Symbols};

/// The functions of a solver's code by name, in the order of their sites.
pub struct NamedFunctions {
    functions: Vec<Named>,
}

struct Named {
    sites: std::ops::Range<u32>,
    /// It is only a part of one, which the compiler has moved away.
    part: bool,
    function: Function,
    module: String,
}

impl Named {
    fn is_reached(&self, set: &SiteSet) -> bool {
        !self.part && set.contains(self.sites.start)
    }
}

/// A function and how much of it a set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCoverage<'a> {
    pub function: &'a Function,
    /// Its first block is in the set.
    pub reached: bool,
    pub blocks: usize,
    pub blocks_reached: usize,
}

/// A part of a solver and how much of it a set holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModuleCoverage {
    pub module: String,
    pub functions: usize,
    pub functions_reached: usize,
    pub blocks: usize,
    pub blocks_reached: usize,
}

/// How much of a solver a set holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub functions: usize,
    pub functions_reached: usize,
    pub blocks: usize,
    pub blocks_reached: usize,
    /// The share of the text that belongs to functions with sites.
    pub covered_text: f64,
    /// The largest first.
    pub modules: Vec<ModuleCoverage>,
}

/// What only one of two sets holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub blocks: usize,
    /// Functions that it reaches and the other does not, by module and name.
    pub functions: Vec<(String, String)>,
    /// Modules by the number of blocks, the most first.
    pub modules: Vec<(String, usize)>,
}

impl NamedFunctions {
    /// Reads the symbol tables of a solver's files.
    pub fn of(code: &Code) -> Result<NamedFunctions, CoverageError> {
        let mut functions = Vec::new();
        for file in &code.files {
            let unreadable = |source| CoverageError::File { path: file.path.clone(), source };
            let data = std::fs::read(&file.path).map_err(unreadable)?;
            let elf = ElfFile64::<Endianness>::parse(&*data)
                .map_err(|error| unreadable(std::io::Error::other(error)))?;
            let symbols = Symbols::of(&elf);
            let list = &file.list;
            for range in list.ranges() {
                let function = symbols.function(list.address(range.start).unwrap_or_default());
                let module = function.module();
                let part = list.parts.binary_search(&range.start).is_ok();
                let sites = file.first + range.start..file.first + range.end;
                functions.push(Named { sites, part, function, module });
            }
        }
        Ok(NamedFunctions { functions })
    }

    /// Has hardly any function a name? Then the program was stripped.
    pub fn are_missing(&self) -> bool {
        let nameless = self.functions.iter().filter(|named| named.function.name.starts_with('+')).count();
        !self.functions.is_empty() && nameless * 10 > self.functions.len() * 9
    }

    /// How much of each module a set holds.
    pub fn summary(&self, code: &Code, set: &SiteSet) -> Summary {
        let mut modules: BTreeMap<&str, ModuleCoverage> = BTreeMap::new();
        for named in &self.functions {
            let module = modules.entry(&named.module).or_default();
            module.functions += usize::from(!named.part);
            module.functions_reached += usize::from(named.is_reached(set));
            module.blocks += named.sites.len();
            module.blocks_reached += named.sites.clone().filter(|site| set.contains(*site)).count();
        }
        let named =
            |(name, module): (&str, ModuleCoverage)| ModuleCoverage { module: name.to_owned(), ..module };
        let mut modules: Vec<ModuleCoverage> = modules.into_iter().map(named).collect();
        modules.sort_by_key(|module| std::cmp::Reverse(module.blocks));
        Summary {
            functions: code.functions(),
            functions_reached: set.functions(code),
            blocks: code.blocks(),
            blocks_reached: set.len(),
            covered_text: code.covered_text(),
            modules,
        }
    }

    /// What one set holds and another does not.
    pub fn only(&self, set: &SiteSet, other: &SiteSet) -> Difference {
        let only: SiteSet = set.iter().filter(|site| !other.contains(*site)).collect();
        let mut functions = Vec::new();
        let mut modules: BTreeMap<&str, usize> = BTreeMap::new();
        for named in &self.functions {
            if named.is_reached(&only) {
                functions.push((named.module.clone(), named.function.name.clone()));
            }
            let blocks = named.sites.clone().filter(|site| only.contains(*site)).count();
            if blocks > 0 {
                *modules.entry(&named.module).or_default() += blocks;
            }
        }
        functions.sort();
        functions.dedup();
        let mut modules: Vec<(String, usize)> =
            modules.into_iter().map(|(name, blocks)| (name.to_owned(), blocks)).collect();
        modules.sort_by_key(|(_, blocks)| std::cmp::Reverse(*blocks));
        Difference { blocks: only.len(), functions, modules }
    }

    /// The blocks of a set as `function+0x1f`, in the order of their addresses.
    pub fn blocks(&self, code: &Code, set: &SiteSet) -> Vec<String> {
        let address = |site: u32| {
            let file = code.files.iter().rfind(|file| file.first <= site)?;
            file.list.address(site - file.first)
        };
        let mut blocks = Vec::new();
        for named in &self.functions {
            let start = address(named.sites.start).unwrap_or_default();
            for site in named.sites.clone().filter(|site| set.contains(*site)) {
                let place = address(site).unwrap_or_default() - start;
                blocks.push(format!("{}+{place:#x}", named.function.name));
            }
        }
        blocks
    }

    /// All functions and how much of each a set holds, in the order of their addresses. Parts that the compiler has moved
    /// away are left out.
    pub fn each<'a>(&'a self, set: &'a SiteSet) -> impl Iterator<Item = FunctionCoverage<'a>> {
        self.functions.iter().filter(|named| !named.part).map(|named| FunctionCoverage {
            function: &named.function,
            reached: named.is_reached(set),
            blocks: named.sites.len(),
            blocks_reached: named.sites.clone().filter(|site| set.contains(*site)).count(),
        })
    }
}
