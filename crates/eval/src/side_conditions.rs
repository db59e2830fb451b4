//! What constrains the models of a script besides its assertions, or changes what they mean.
//!
//! A model that makes every assertion true shows that a script is satisfiable only if nothing else has a say: no
//! definition that may have no solution, no datatype without values, no option that gives operators another meaning, no
//! command that we do not understand. Where one has, nothing can be concluded from our evaluation, and often nothing
//! from the answers either.

use std::fmt;

use rustc_hash::FxHashSet;
use smtlib::{Command, Datatype, Fun, Script, Sort, SortKind, Store, Symbol, theory};

use crate::well_founded;

/// Something besides the assertions that models depend on and that we cannot see to be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SideCondition {
    /// A definition by recursion that is not seen to be well-founded. It may have no solution, and then the script has no
    /// model; solvers that only unfold it do not notice.
    Recursion(Fun),
    /// A datatype that may have no values.
    Empty(Datatype),
    /// An option in the script that changes what it means, by keyword.
    Option(Symbol),
    /// A tactic of a check with a parameter that does the same.
    Tactic,
    /// A function with the name of an operator. The standard forbids that; some solvers refuse it, some mean the function
    /// and some the operator.
    Shadow(Fun),
    /// A command that adds a theory's own axioms: everybody who takes it means the same by it.
    Theory(Symbol),
    /// A command of unknown meaning, or one that changes what later answers are about.
    Command(Symbol),
}

/// The side conditions of a script.
pub fn side_conditions(store: &Store, script: &Script) -> Vec<SideCondition> {
    let mut found = Vec::new();
    let mut recursive: Vec<Fun> = Vec::new();
    for command in &script.commands {
        match command {
            Command::DefineFunRec(fun) => recursive.push(*fun),
            Command::DefineFunsRec(funs) => recursive.extend_from_slice(funs),
            Command::CheckSatUsing(tactic) => found.extend(of_tactic(tactic)),
            Command::DeclareDatatypes(group) => {
                found.extend(
                    group
                        .iter()
                        .filter(|own| !has_values(store, **own))
                        .map(|own| SideCondition::Empty(*own)),
                );
            }
            Command::SetOption(keyword, value) if changes_meaning(store.name(*keyword), value).is_some() => {
                found.push(SideCondition::Option(*keyword));
            }
            Command::Opaque { name, .. } => found.extend(of_command(store, *name)),
            _ => {}
        }
        let shadows = named_by(command).iter().filter(|fun| has_name_of_operator(store, **fun));
        found.extend(shadows.map(|fun| SideCondition::Shadow(*fun)));
    }
    found.extend(well_founded::unproven(store, &recursive).into_iter().map(SideCondition::Recursion));
    found
}

/// What a tactic changes, by its parameters: `(using-params simplify :hi_div0 false)`. The name of the module may be
/// left out there.
pub fn of_tactic(tactic: &str) -> Option<SideCondition> {
    let mut words =
        tactic.split(|c: char| c.is_whitespace() || "()".contains(c)).filter(|word| !word.is_empty());
    let mut changes = false;
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix(':') {
            let value = words.next().unwrap_or_default();
            let modules = ["", "rewriter.", "smt.", "opt."];
            changes |=
                modules.iter().any(|module| changes_meaning(&format!("{module}{name}"), value).is_some());
        }
    }
    changes.then_some(SideCondition::Tactic)
}

/// The functions that a command declares or defines.
fn named_by(command: &Command) -> &[Fun] {
    match command {
        Command::DeclareFun(fun)
        | Command::DeclareConst(fun)
        | Command::DefineFun(fun)
        | Command::DefineFunRec(fun)
        | Command::DefineConst(fun) => std::slice::from_ref(fun),
        Command::DefineFunsRec(funs) => funs,
        _ => &[],
    }
}

/// A constant does not count: solvers refuse it or mean the script's own.
fn has_name_of_operator(store: &Store, fun: Fun) -> bool {
    let fun = store.fun(fun);
    !fun.params.is_empty() && !theory::table().named(store.name(fun.name)).is_empty()
}

impl SideCondition {
    /// May two solvers rightly answer differently because of it?
    pub fn excuses_answers(self) -> bool {
        !matches!(self, SideCondition::Theory(_))
    }

    /// A sentence that says what stands in the way.
    pub fn describe(self, store: &Store) -> String {
        let name = |symbol: Symbol| store.name(symbol);
        match self {
            SideCondition::Recursion(fun) => format!(
                "the definition of '{}' by recursion is not seen to be well-founded, and may have no solution",
                name(store.fun(fun).name)
            ),
            SideCondition::Empty(datatype) => {
                format!("the datatype '{}' is not seen to have values", name(store.datatype(datatype).name))
            }
            SideCondition::Option(keyword) => {
                format!("the option '{}' changes what the script means", name(keyword))
            }
            SideCondition::Tactic => "a parameter of the tactic changes what the script means".to_owned(),
            SideCondition::Shadow(fun) => format!(
                "'{}' is the name of an operator, and not everybody means the script's own function by it",
                name(store.fun(fun).name)
            ),
            SideCondition::Theory(command) | SideCondition::Command(command) => {
                format!("the command '{}' may constrain models, and is not evaluated", name(command))
            }
        }
    }
}

/// Commands that say nothing about models, besides those whose names tell that they only print.
const HARMLESS: [&str; 11] = [
    "apply",
    "display",
    "echo",
    "help",
    "help-tactic",
    "labels",
    "declare-pool",
    "declare-tactic",
    "goals",
    "to-poly",
    "uncurry",
];

fn of_command(store: &Store, command: Symbol) -> Option<SideCondition> {
    let name = store.name(command);
    const PRINTING: [&str; 3] = ["get-", "dbg-", "poly/"];
    if PRINTING.iter().any(|prefix| name.starts_with(prefix)) || HARMLESS.contains(&name) {
        return None;
    }
    Some(match name {
        "declare-heap" | "declare-heap-type" => SideCondition::Theory(command),
        _ => SideCondition::Command(command),
    })
}

/// What an option changes, with a half-sentence that says how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// What the script means, or which answers count as right.
    Meaning(&'static str),
    /// Models are looked for only among some. `unsat` says nothing then. Where nothing is quantified, a model that was
    /// found is a model all the same.
    Search(&'static str),
}

impl Change {
    /// The half-sentence.
    pub fn why(self) -> &'static str {
        match self {
            Change::Meaning(why) | Change::Search(why) => why,
        }
    }
}

/// How an option changes what a script means or which answers count as right, by its name without dashes or colon in
/// front. The value is as written; options that are switched off are as if they were not there.
pub fn changes_meaning(name: &str, value: &str) -> Option<Change> {
    let name = name.trim_start_matches([':', '-']);
    let (name, off) = match name.strip_prefix("no-") {
        Some(positive) => (positive, true),
        None => (name, false),
    };
    // Z3 takes both spellings, and the module's name may be left out or not.
    let name = name.replace('-', "_").to_ascii_lowercase();
    let (_, rule, change) = CHANGING.iter().find(|(known, ..)| *known == name)?;
    let value = value.trim().trim_matches(['"', '|']).to_ascii_lowercase();
    let changes = match rule {
        Rule::Always => !off,
        Rule::On => !off && value != "false",
        Rule::Off => off || value == "false",
        Rule::Value(harmless) => !harmless.contains(&value.as_str()),
    };
    changes.then_some(*change)
}

/// When an option changes the meaning.
enum Rule {
    Always,
    On,
    Off,
    /// Unless it has one of these values.
    Value(&'static [&'static str]),
}

const DIVISION: Change = Change::Meaning("gives division by zero a meaning of its own");
const RECURSION: Change =
    Change::Meaning("assumes that recursive functions are well-defined on what it looks at");
const CANDIDATES: Change = Change::Meaning("takes candidate models for models");
const ALPHABET: Change = Change::Meaning("changes which characters there are");
const READING: Change = Change::Meaning("changes how the script is read");

/// Options by name with underscores.
const CHANGING: [(&str, Rule, Change); 30] = [
    // cvc5 and CVC4.
    ("fmf_fun", Rule::On, RECURSION),
    ("fmf_fun_rlv", Rule::On, RECURSION),
    ("quant_fun_wd", Rule::On, RECURSION),
    ("fmf_mbqi", Rule::Value(&["none", "fmc", "fmc-interval", "gen-ev", "abs", "default"]), CANDIDATES),
    ("mbqi_one_inst_per_round", Rule::On, CANDIDATES),
    ("arith_no_partial_fun", Rule::On, DIVISION),
    ("bv_div_zero_const", Rule::Off, DIVISION),
    (
        "dt_rewrite_error_sel",
        Rule::On,
        Change::Meaning("gives selectors of the wrong constructor a meaning of its own"),
    ),
    ("strings_alpha_card", Rule::Always, ALPHABET),
    ("strings_alph_card", Rule::Always, ALPHABET),
    ("strings_std_ascii", Rule::Always, ALPHABET),
    (
        "uf_ss_abort_card",
        Rule::Value(&["-1"]),
        Change::Search("bounds the number of elements of declared sorts"),
    ),
    ("solve_int_as_bv", Rule::Value(&["0"]), Change::Search("looks only for integers of few bits")),
    ("solve_real_as_int", Rule::On, Change::Search("looks only for integers")),
    (
        "sygus_inference",
        Rule::Value(&["false", "off"]),
        Change::Meaning("turns the script into a synthesis problem"),
    ),
    ("fresh_declarations", Rule::Off, READING),
    ("lang", Rule::Always, READING),
    ("input_language", Rule::Always, READING),
    ("semantic_checks", Rule::Off, READING),
    // Z3.
    ("encoding", Rule::Value(&["unicode"]), ALPHABET),
    ("rewriter.hi_div0", Rule::Off, DIVISION),
    ("hi_div0", Rule::Off, DIVISION),
    (
        "rewriter.hi_fp_unspecified",
        Rule::On,
        Change::Meaning("gives conversions out of range a meaning of its own"),
    ),
    ("smt.arith.ignore_int", Rule::On, Change::Meaning("treats integers as reals")),
    ("arith.ignore_int", Rule::On, Change::Meaning("treats integers as reals")),
    ("smt.array.extensional", Rule::Off, Change::Meaning("allows two arrays with the same elements")),
    (
        "smt.string_solver",
        Rule::Value(&["seq", "auto", "z3str3"]),
        Change::Meaning("leaves strings without a theory"),
    ),
    (
        "opt.priority",
        Rule::Value(&["lex"]),
        Change::Meaning("makes each check the search for another optimum"),
    ),
    ("numeral_as_real", Rule::On, READING),
    ("int_real_coercions", Rule::Off, READING),
];

/// Has every instance of the datatype at least one value? A parameter is taken to have one.
fn has_values(store: &Store, datatype: Datatype) -> bool {
    // The least set of datatypes that have values: a constructor all of whose fields have some gives one.
    let mut inhabited: FxHashSet<Datatype> = FxHashSet::default();
    loop {
        let before = inhabited.len();
        let mut seen: FxHashSet<Datatype> = FxHashSet::default();
        let mut open = vec![datatype];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            let decl = store.datatype(next);
            let fields = |constructor: &smtlib::ConstructorDecl| {
                constructor.fields.iter().map(|(_, sort)| *sort).collect::<Vec<Sort>>()
            };
            let mut any = decl.codatatype && !decl.constructors.is_empty();
            for constructor in &decl.constructors {
                let mut needed = Vec::new();
                needed_for(store, fields(constructor), &mut needed);
                any |= needed.iter().all(|other| inhabited.contains(other));
                open.extend(needed);
            }
            if any {
                inhabited.insert(next);
            }
        }
        if inhabited.contains(&datatype) {
            return true;
        }
        if inhabited.len() == before {
            return false;
        }
    }
}

/// The datatypes that must have values for sorts to have some. Collections have the empty one.
fn needed_for(store: &Store, sorts: Vec<Sort>, needed: &mut Vec<Datatype>) {
    let mut open = sorts;
    while let Some(sort) = open.pop() {
        match store.sort_kind(sort) {
            SortKind::Datatype(datatype, args) => {
                needed.push(*datatype);
                open.extend(args.iter().copied());
            }
            SortKind::Array(index, element) => open.extend([*index, *element]),
            SortKind::Tuple(parts) => open.extend(parts.iter().copied()),
            SortKind::Fun(params, result) => open.extend(params.iter().chain([result]).copied()),
            _ => {}
        }
    }
}

impl fmt::Display for SideCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SideCondition::Recursion(_) => "a definition by recursion is not seen to be well-founded",
            SideCondition::Empty(_) => "a datatype is not seen to have values",
            SideCondition::Option(_) => "an option changes what the script means",
            SideCondition::Tactic => "a parameter of the tactic changes what the script means",
            SideCondition::Shadow(_) => "a function has the name of an operator",
            SideCondition::Theory(_) | SideCondition::Command(_) => "a command may constrain models",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, parse};

    fn found(text: &str) -> Vec<String> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect(text).script;
        side_conditions(&store, &script).into_iter().map(|condition| condition.describe(&store)).collect()
    }

    #[track_caller]
    fn free(text: &str) {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }

    #[track_caller]
    fn names(text: &str, name: &str) {
        let found = found(text);
        assert!(found.len() == 1 && found[0].contains(&format!("'{name}'")), "{text}: {found:?}");
    }

    #[test]
    fn ordinary_scripts_have_none() {
        free(
            "(set-logic ALL)(set-option :produce-models true)(set-info :status sat)(declare-sort S 0)
             (define-sort P (X) (Array X Bool))(declare-fun f (S) Int)(define-fun g ((x S)) Int (f x))
             (declare-datatypes ((L 1)) ((par (X) ((nil) (cons (head X) (tail (L X)))))))
             (define-fun-rec len ((l (L Int))) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
             (push 1)(assert (forall ((x S)) (! (> (g x) 0) :pattern ((g x)))))(assert-soft (= 1 1) :weight 2)
             (minimize (len (as nil (L Int))))(check-sat)(get-model)(get-objectives)(pop 1)(exit)",
        );
    }

    #[test]
    fn a_definition_that_may_have_no_solution_is_one_even_if_it_is_not_used() {
        names("(define-fun-rec f ((x Int)) Int (+ 1 (f x)))(check-sat)", "f");
    }

    #[test]
    fn a_datatype_without_a_first_value_is_empty() {
        names("(declare-datatype D ((mk (next D))))", "D");
        names("(declare-datatype D ((mk (next (Array Int D)))))", "D");
        let both = found("(declare-datatypes ((A 0) (B 0)) (((a (to B))) ((b (back A)))))");
        assert_eq!(both.len(), 2, "{both:?}");
        free("(declare-datatype D ((mk (next (Seq D)))))");
        free("(declare-datatypes ((A 0) (B 0)) (((a (to B))) ((b (back A)) (stop))))");
        free("(declare-codatatype S ((next (value Int) (more S))))");
    }

    #[test]
    fn options_count_by_what_they_are_set_to() {
        for (text, name) in [
            ("(set-option :encoding ascii)", ":encoding"),
            ("(set-option :fmf-fun true)", ":fmf-fun"),
            ("(set-option :rewriter.hi_div0 false)", ":rewriter.hi_div0"),
            ("(set-option :rewriter.hi-div0 false)", ":rewriter.hi-div0"),
            ("(set-option :opt.priority pareto)", ":opt.priority"),
            ("(set-option :strings-alpha-card 3)", ":strings-alpha-card"),
            ("(set-option :rewriter.hi_div0 |false|)", ":rewriter.hi_div0"),
        ] {
            names(text, name);
        }
        for text in [
            "(set-option :encoding unicode)",
            "(set-option :fmf-fun false)",
            "(set-option :rewriter.hi_div0 true)",
            "(set-option :opt.priority lex)",
            "(set-option :smt.arith.solver 2)",
            "(set-option :finite-model-find true)",
        ] {
            free(text);
        }
        assert!(changes_meaning("--fmf-fun", "").is_some());
        assert!(changes_meaning("--no-fmf-fun", "").is_none());
        assert!(changes_meaning("fmf-mbqi", "trust").is_some());
        assert!(changes_meaning("fmf-mbqi", "fmc").is_none());
    }

    #[test]
    fn parameters_of_tactics_count_like_options() {
        for tactic in ["(then (using-params simplify :hi_div0 false) smt)", "(! smt :string_solver |none|)"] {
            let found = found(&format!("(check-sat-using {tactic})"));
            assert!(found.len() == 1 && found[0].contains("tactic"), "{tactic}: {found:?}");
        }
        free("(check-sat-using (then (using-params simplify :hi_div0 true :som true) smt))");
    }

    #[test]
    fn a_function_with_the_name_of_an_operator_may_be_read_as_the_operator() {
        names("(define-fun abs ((x Int)) Int 7)", "abs");
        names("(declare-fun exp (Real) Real)", "exp");
        names("(declare-fun div0 (Int Int) Int)", "div0");
        free("(declare-const pi Real)(declare-fun real.pi () Real)");
        free("(declare-fun f (Real) Real)(declare-const x Int)(define-fun absolute ((x Int)) Int 7)");
    }

    #[test]
    fn commands_that_are_not_looked_into_count_unless_they_only_print() {
        names("(declare-const p Bool)(assert p)(check-sat)(block-model :literals)(check-sat)", "block-model");
        names("(declare-heap (Int Int))", "declare-heap");
        names("(include \"other.smt2\")", "include");
        free("(display 1)(apply simplify)(get-objectives)(help)");
        let theory = SideCondition::Theory(Store::new().symbol("declare-heap"));
        assert!(!theory.excuses_answers());
    }
}
