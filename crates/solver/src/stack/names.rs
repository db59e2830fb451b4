//! Functions' names as people write them, and which of them say nothing about a solver.

use cpp_demangle::{DemangleOptions, Symbol};

/// Libraries, interpreters and shells that are no solver's: files whose names begin like this.
const RUNTIMES: [&str; 25] = [
    "bash",
    "busybox",
    "dash",
    "ld-linux",
    "ld-musl",
    "libasan",
    "libc++",
    "libc-",
    "libc.",
    "libffi",
    "libgcc_s",
    "libjemalloc",
    "libm-",
    "libm.",
    "libmimalloc",
    "libpthread",
    "libpython",
    "libstdc++",
    "libtcmalloc",
    "libtsan",
    "libubsan",
    "libunwind",
    "osprey",
    "python",
    "linux-vdso",
];

/// Functions of runtimes, allocators and abort machinery, wherever they are linked: names that begin like this.
const MACHINERY: [&str; 38] = [
    "_Exit",
    "_IO_",
    "_Unwind_",
    "__GI_",
    "__asan",
    "__assert",
    "__clone",
    "__cxa",
    "__cxxabiv1",
    "__gnu_cxx",
    "__gxx",
    "__interceptor",
    "__libc",
    "__lsan",
    "__mem",
    "__msan",
    "__pthread",
    "__restore_rt",
    "__sanitizer",
    "__stack_chk",
    "__tsan",
    "__ubsan",
    "_start",
    "abort",
    "calloc",
    "free",
    "gsignal",
    "malloc",
    "memcpy",
    "memmove",
    "memset",
    "operator delete",
    "operator new",
    "pthread_",
    "raise",
    "realloc",
    "std::terminate",
    "strlen",
];

/// Containers, numbers, terms and term traversal of solvers: bugs of all kinds crash in them, and their callers tell
/// which. Names that begin like this.
const PLUMBING: [&str; 46] = [
    // Z3
    "alloc_vect",
    "app::",
    "ast::",
    "ast_manager::",
    "ast_translation::",
    "bit_vector::",
    "buffer::",
    "chashtable::",
    "core_hashtable::",
    "dealloc",
    "expr::",
    "for_each_expr",
    "get_sort",
    "hashtable::",
    "is_app",
    "is_ground",
    "map::",
    "memory::",
    "mpbq_manager::",
    "mpq_inf_manager::",
    "mpq_manager::",
    "mpz_manager::",
    "obj_hashtable::",
    "obj_map::",
    "obj_ref::",
    "parameter::",
    "parray_manager::",
    "ptr_vector::",
    "rational::",
    "ref_vector",
    "region::",
    "rewriter_core::",
    "rewriter_tpl::",
    "small_object_allocator::",
    "svector::",
    "symbol::",
    "table2map::",
    "vector::",
    // cvc5 and CVC4, without their namespaces
    "Integer::",
    "NodeBuilder",
    "NodeManager::",
    "NodeTemplate::",
    "Rational::",
    "TypeNode::",
    "expr::NodeValue::",
    // GMP
    "__gmp",
];

/// Ways into a solver and its main loops, which are on the stacks of all kinds of bugs. Names that begin like this.
const ENTRIES: [&str; 50] = [
    "main",
    "{anonymous}::main",
    // Z3
    "Z3_",
    "asserted_formulas::",
    "check_sat",
    "check_sat_using_tactict_cmd::",
    "cmd_context::",
    "combined_solver::",
    "exec",
    "lim_for",
    "nlsat::solver::",
    "opt::context::",
    "parse_smt2_commands",
    "read_smtlib2_commands",
    "sat::solver::",
    "smt2::parser::",
    "smt::checker",
    "smt::context::",
    "smt::default_qm_plugin::",
    "smt::kernel::",
    "smt::model_generator::",
    "smt::quantifier_manager::",
    "smt::relevancy_propagator",
    "smt::quick_checker",
    "smt::setup::",
    "smt_tactic::",
    "solver::",
    "solver_na2as::",
    "tactic2solver::",
    "tactic::",
    "th_rewriter::",
    "unary_tactical::",
    // cvc5 and CVC4, without their namespaces
    "BVMinisat::",
    "CheckSatCommand::",
    "Cmd::",
    "Command::",
    "Minisat::",
    "Solver::",
    "SolverEngine::",
    "SmtEngine::",
    "TheoryEngine::",
    "api::",
    "main::",
    "parser::",
    "preprocessing::PreprocessingPass::",
    "prop::",
    "smt::",
    "theory::Rewriter::",
    "theory::Theory::",
    "theory::TheoryEngine::",
];

/// Functions that each part of a solver has for the rest of it to call, by the last part of their names.
const CALLBACKS: [&str; 33] = [
    "apply",
    "applyInternal",
    "assign_eh",
    "check",
    "checkSat",
    "check_sat",
    "check_sat_core",
    "display",
    "final_check",
    "final_check_core",
    "final_check_eh",
    "init_model",
    "init_search_eh",
    "internalize",
    "internalize_atom",
    "internalize_term",
    "mk_value",
    "new_diseq_eh",
    "new_eq_eh",
    "pop_scope_eh",
    "postCheck",
    "postRewrite",
    "ppRewrite",
    "preRegisterTerm",
    "preRewrite",
    "propagate",
    "propagate_core",
    "push_scope_eh",
    "reduce_app",
    "relevant_eh",
    "reset_eh",
    "restart_eh",
    "simplify",
];

/// The namespaces that all of cvc5 and CVC4 is in.
const NAMESPACES: [&str; 3] = ["cvc5::internal::", "cvc5::", "CVC4::"];

/// Whether a function is of the kind that all parts of a solver use.
pub(crate) fn is_plumbing(function: &str) -> bool {
    let inner = NAMESPACES.iter().find_map(|namespace| function.strip_prefix(namespace)).unwrap_or(function);
    inner.starts_with("context::CD") || PLUMBING.iter().any(|name| inner.starts_with(name))
}

/// Whether a function is on the way to all parts of a solver, or the way into one of them.
pub(crate) fn is_entry(function: &str) -> bool {
    let own = NAMESPACES.iter().find_map(|namespace| function.strip_prefix(namespace));
    let inner = own.unwrap_or(function);
    let last = inner.rsplit("::").next().unwrap_or(inner);
    // Names of C are compared as a whole: `mainly` is no `main`.
    let begins = |name: &str| if name.contains([':', '_']) { inner.starts_with(name) } else { inner == name };
    // In Z3 `smt` has the theories; in the others it is the engine around them.
    let named = ENTRIES.iter().filter(|name| own.is_some() || **name != "smt::").any(|name| begins(name));
    // The combinators of tactics: and_then_tactical, cond_tactical, if_no_proofs_tactical.
    let combines = inner.contains("_tactical::");
    // Without a name it may be any of these.
    let nameless = inner.contains("+0x");
    named || combines || nameless || CALLBACKS.contains(&last)
}

/// Whether a function tells what a solver was doing: it has a name, and is not of the kind that all runs need.
pub fn is_telling(function: &str) -> bool {
    let everybodys = is_machinery(function) || is_plumbing(function) || is_entry(function);
    !everybodys && !function.starts_with(['+', '.']) && !function.starts_with("std::")
}

/// Whether a function belongs to a runtime, and says nothing about who called it.
pub(crate) fn is_machinery(function: &str) -> bool {
    MACHINERY.iter().any(|name| function.starts_with(name))
}

/// Whether a file is a runtime.
pub(crate) fn is_runtime(module: &str) -> bool {
    RUNTIMES.iter().any(|name| module.starts_with(name))
}

/// A linker's name as its author wrote it, without arguments and template parameters.
pub(crate) fn readable(symbol: &str) -> String {
    // Parts of a function that the compiler has moved or made special are parts of that function.
    let whole = match symbol.find('.') {
        Some(end) if end > 0 => &symbol[..end],
        _ => symbol,
    };
    if let Ok(name) = rustc_demangle::try_demangle(whole) {
        return format!("{name:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    // Names of C could be read as those of types.
    let symbol = whole.starts_with("_Z").then(|| Symbol::new(whole).ok()).flatten();
    match symbol.and_then(|name| name.demangle_with_options(&options).ok()) {
        Some(name) => plain_function(&name),
        None => whole.to_owned(),
    }
}

/// A linker's name of C++ with its template parameters.
pub(crate) fn unqualified(symbol: &str) -> Option<String> {
    let whole = symbol.split('.').next().unwrap_or(symbol);
    let options = DemangleOptions::new().no_params().no_return_type();
    let symbol = whole.starts_with("_Z").then(|| Symbol::new(whole).ok()).flatten()?;
    symbol.demangle_with_options(&options).ok()
}

/// A function's name without arguments, template parameters and return type.
pub(crate) fn plain_function(function: &str) -> String {
    let function = function.replace("(anonymous namespace)", "{anonymous}");
    let mut depth = 0i32;
    let mut name = String::new();
    for character in function.split(" [with").next().unwrap_or_default().chars() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth <= 0 && !name.ends_with("operator") => break,
            _ if depth <= 0 => name.push(character),
            _ => {}
        }
    }
    name.trim().rsplit(' ').next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_goes_by_its_name_alone() {
        assert_eq!(readable("_ZN3smt7context9propagateEv"), "smt::context::propagate");
        assert_eq!(readable("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector::push_back");
        assert_eq!(readable("_ZN3smt7context9propagateEv.part.3"), "smt::context::propagate");
        assert_eq!(readable("_ZN3smt7context9propagateEv.cold"), "smt::context::propagate");
        assert_eq!(readable("main"), "main");
        assert_eq!(readable("f"), "f");
        assert_eq!(readable("yices_check.constprop.0"), "yices_check");
        assert_eq!(readable("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(readable("+0x1a2b"), "+0x1a2b");
        assert_eq!(plain_function("(anonymous namespace)::f(int)"), "{anonymous}::f");
    }

    #[test]
    fn runtimes_are_told_from_solvers() {
        assert!(is_runtime("libc.so.6") && is_runtime("libstdc++.so.6.0.30") && is_runtime("libm-2.31.so"));
        assert!(!is_runtime("libcvc5-558d13ae.so.1.4.2") && !is_runtime("z3") && !is_runtime("libgmp.so.10"));
        assert!(is_plumbing("rewriter_tpl::visit") && is_plumbing("cvc5::internal::NodeTemplate::getKind"));
        assert!(
            is_plumbing("cvc5::context::CDList::push_back") && !is_plumbing("smt::theory_arith::add_row")
        );
        for entry in [
            "main",
            "exec",
            "cmd_context::check_sat",
            "smt::context::propagate",
            "and_then_tactical::operator()",
        ] {
            assert!(is_entry(entry), "{entry}");
        }
        assert!(
            is_entry("smt::theory_str::final_check_eh")
                && is_entry("cvc5::internal::prop::PropEngine::checkSat")
        );
        assert!(!is_entry("smt::theory_str::simplify_concat") && !is_entry("goal2nlsat::imp::operator()"));
        assert!(
            is_entry("libcvc4.so.7+0x12ab")
                && !is_entry("executor::next")
                && !is_entry("cvc5::internal::theory::bv::slice")
        );
        assert!(is_machinery("__cxa_throw") && !is_machinery("smt::context::propagate"));
    }
}
