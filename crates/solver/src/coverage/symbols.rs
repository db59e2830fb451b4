//! What the functions of a program are called, where they were written, and what they are parts of.

use std::collections::BTreeMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

use crate::stack::{is_machinery, readable, unqualified};

/// A function as the symbol table knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As its author wrote it, without arguments and template parameters; the address at which it begins, such as
    /// `+0x1a2b`, where it has no name.
    pub name: String,
    /// The file it was written in, where the table says so.
    pub source: Option<String>,
    /// What it serves, where its own name does not tell: of a template of the library the type it was made for, of code that
    /// the compiler has added a neighbour.
    pub serves: Option<String>,
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
                let name = readable(symbol.name);
                let serves = if is_library(&name) {
                    argument_of(symbol.name)
                } else if is_initializer(&name) && symbol.source.is_none() {
                    self.neighbour(address)
                } else {
                    None
                };
                Function { name, source: symbol.source.map(str::to_owned), serves }
            }
            None => Function { name: format!("+{address:#x}"), source: None, serves: None },
        }
    }

    /// The nearest function before an address that somebody wrote: code of one source file stands together.
    fn neighbour(&self, address: u64) -> Option<String> {
        let before = self.by_address.range(..address).rev().take(NEAR);
        let names = before.map(|(_, symbol)| readable(symbol.name));
        names.into_iter().find(|name| !is_library(name) && !is_initializer(name) && name.contains("::"))
    }
}

/// Symbols among which a neighbour is looked for.
const NEAR: usize = 64;

/// Templates and functions of the library.
fn is_library(name: &str) -> bool {
    name.starts_with("std::") || name.starts_with("__gnu_cxx::")
}

/// Code that sets up the variables of a source file.
fn is_initializer(name: &str) -> bool {
    name.starts_with("__static_initialization_and_destruction") || name.starts_with("_GLOBAL__sub_")
}

/// The first type of the program's own among the template arguments of a linker's name.
fn argument_of(symbol: &str) -> Option<String> {
    let whole = unqualified(symbol)?;
    let (_, arguments) = whole.split_once('<')?;
    let words = arguments.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let own = |word: &&str| {
        let word = word.trim_matches(':');
        word.contains("::") && !is_library(word)
    };
    words.into_iter().find(own).map(|word| word.trim_matches(':').to_owned())
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
        if name.starts_with('+') || name.trim_matches([':', '_']).is_empty() {
            return "without a name".to_owned();
        }
        // What the library does for a type is a part of what has the type.
        if let Some(served) = &self.serves {
            let inner = COMMON.iter().find_map(|common| served.strip_prefix(common)).unwrap_or(served);
            let mut parts: Vec<&str> = inner.split("::").filter(|part| !part.is_empty()).collect();
            if parts.len() > 1 {
                parts.pop();
            }
            parts.truncate(DEPTH);
            if !parts.is_empty() {
                return parts.join("::");
            }
        }
        if is_library(name) || is_machinery(name) {
            return "runtime".to_owned();
        }
        let inner = COMMON.iter().find_map(|common| name.strip_prefix(common)).unwrap_or(name);
        let mut parts: Vec<&str> = inner.split("::").collect();
        parts.pop();
        parts.retain(|part| !part.is_empty());
        parts.truncate(DEPTH);
        match (parts.is_empty(), &self.source) {
            (false, _) => parts.join("::"),
            (true, Some(source)) => source.clone(),
            (true, None) => {
                let word = inner.trim_start_matches([':', '_']).split('_').next().unwrap_or(inner);
                format!("{word}*")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, source: Option<&str>) -> String {
        Function { name: name.to_owned(), source: source.map(str::to_owned), serves: None }.module()
    }

    #[test]
    fn templates_belong_to_the_type_they_were_made_for() {
        let serving = |symbol: &str| {
            let serves = argument_of(symbol);
            Function { name: readable(symbol), source: None, serves }.module()
        };
        // std::vector<smt::literal, std::allocator<smt::literal> >::push_back(smt::literal const&)
        let own = "_ZNSt6vectorIN3smt7literalESaIS1_EE9push_backERKS1_";
        assert_eq!(serving(own), "smt");
        // std::vector<int, std::allocator<int> >::push_back(int const&)
        assert_eq!(serving("_ZNSt6vectorIiSaIiEE9push_backERKi"), "runtime");
    }

    #[test]
    fn code_that_sets_up_a_file_belongs_to_its_neighbour_and_no_module_is_without_a_name() {
        let symbol = |name| Symbol { name, source: None };
        let by_address = [
            (16, symbol("_ZN3smt10theory_seq9propagateEv")),
            (32, symbol("_Z41__static_initialization_and_destruction_0ii")),
        ];
        let symbols = Symbols { by_address: by_address.into() };
        assert_eq!(symbols.function(32).module(), "smt::theory_seq");
        assert_eq!(module("", None), "without a name");
        assert_eq!(module("::", None), "without a name");
        assert_eq!(module("::check", None), "check*");
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
