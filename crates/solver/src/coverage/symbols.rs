//! What the functions of a program are called, where they were written, and what they are parts of.

use std::collections::BTreeMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

use crate::stack::{is_machinery, readable};

/// A function as the symbol table knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As its author wrote it, without arguments and template parameters; the address at which it begins, such as
    /// `+0x1a2b`, where it has no name.
    pub name: String,
    /// The file it was written in, where the table says so.
    pub source: Option<String>,
}

/// The symbols of functions, by address.
pub(super) struct Symbols<'a> {
    by_address: BTreeMap<u64, Symbol<'a>>,
}

struct Symbol<'a> {
    name: &'a str,
    source: Option<&'a str>,
}

impl<'a> Symbols<'a> {
    /// All of a file. A function with several names goes by the one that is first in the alphabet.
    pub fn of(file: &ElfFile64<'a, Endianness>) -> Symbols<'a> {
        let mut by_address: BTreeMap<u64, Symbol<'a>> = BTreeMap::new();
        let mut source = None;
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            match symbol.kind() {
                // Local symbols follow the name of their source file.
                SymbolKind::File => source = Some(name),
                SymbolKind::Text if symbol.is_definition() && !name.is_empty() => {
                    let source = source.filter(|_| symbol.is_local());
                    let known = by_address.entry(symbol.address()).or_insert(Symbol { name, source });
                    if name < known.name {
                        *known = Symbol { name, source: source.or(known.source) };
                    }
                }
                _ => {}
            }
        }
        Symbols { by_address }
    }

    /// Whether what begins at an address is a part of another function that the compiler has moved away.
    pub fn is_part(&self, address: u64) -> bool {
        self.by_address.get(&address).is_some_and(|symbol| symbol.name.contains(".cold"))
    }

    /// The function at an address.
    pub fn function(&self, address: u64) -> Function {
        match self.by_address.get(&address) {
            Some(symbol) => {
                Function { name: readable(symbol.name), source: symbol.source.map(str::to_owned) }
            }
            None => Function { name: format!("+{address:#x}"), source: None },
        }
    }
}

/// Namespaces that all of a solver is in: they tell its parts apart no more than its own name does.
const COMMON: [&str; 5] = ["cvc5::internal::", "cvc5::", "CVC4::", "bzla::", "bitwuzla::"];

/// Parts of a name that make a module: `smt::theory_seq`, `theory::strings`.
const DEPTH: usize = 2;

impl Function {
    /// The part of the solver it belongs to: its namespace or class; of a function of C the source file, or the first
    /// word of its name.
    pub fn module(&self) -> String {
        let name = self.name.as_str();
        if name.starts_with('+') {
            return "without a name".to_owned();
        }
        if name.starts_with("std::") || name.starts_with("__gnu_cxx::") || is_machinery(name) {
            return "runtime".to_owned();
        }
        let inner = COMMON.iter().find_map(|common| name.strip_prefix(common)).unwrap_or(name);
        let mut parts: Vec<&str> = inner.split("::").collect();
        parts.pop();
        parts.truncate(DEPTH);
        match (parts.is_empty(), &self.source) {
            (false, _) => parts.join("::"),
            (true, Some(source)) => source.clone(),
            (true, None) => {
                let word = inner.trim_start_matches('_').split('_').next().unwrap_or(inner);
                format!("{word}*")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, source: Option<&str>) -> String {
        Function { name: name.to_owned(), source: source.map(str::to_owned) }.module()
    }

    #[test]
    fn modules_are_namespaces_classes_and_files() {
        assert_eq!(module("smt::theory_seq::propagate", None), "smt::theory_seq");
        assert_eq!(module("cvc5::internal::theory::strings::CoreSolver::check", None), "theory::strings");
        assert_eq!(module("std::vector::push_back", None), "runtime");
        assert_eq!(module("simplex_propagate", Some("simplex.c")), "simplex.c");
        assert_eq!(module("simplex_propagate", None), "simplex*");
        assert_eq!(module("+0x1a2b", None), "without a name");
    }
}
