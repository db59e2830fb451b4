//! Operations of scripts (section 2.1 of the paper): operators of the theory table, commands, and constructs that have
//! options of their own although they are no operators.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use smtlib::logic::Usage;
use smtlib::theory::table;
use smtlib::{Command, Op, Script};

/// Operations of a script.
pub type Operations = BTreeSet<Operation>;

/// Something that a script may do and options may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// An operator of the theory table.
    Operator(Op),
    /// Quantifiers.
    Quantifier,
    /// Declared functions and sorts.
    Function,
    /// Declared datatypes.
    Datatype,
    /// One of the commands that the paper names.
    Command(CommandName),
}

/// The commands that the paper names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandName {
    GetModel,
    GetUnsatCore,
    GetUnsatAssumptions,
    GetProof,
    Push,
    Pop,
}

impl CommandName {
    /// All of them.
    pub const ALL: [CommandName; 6] = [
        CommandName::GetModel,
        CommandName::GetUnsatCore,
        CommandName::GetUnsatAssumptions,
        CommandName::GetProof,
        CommandName::Push,
        CommandName::Pop,
    ];

    /// As scripts have it.
    pub fn word(self) -> &'static str {
        match self {
            CommandName::GetModel => "get-model",
            CommandName::GetUnsatCore => "get-unsat-core",
            CommandName::GetUnsatAssumptions => "get-unsat-assumptions",
            CommandName::GetProof => "get-proof",
            CommandName::Push => "push",
            CommandName::Pop => "pop",
        }
    }

    fn of(command: &Command) -> Option<CommandName> {
        Some(match command {
            Command::GetModel => CommandName::GetModel,
            Command::GetUnsatCore => CommandName::GetUnsatCore,
            Command::GetUnsatAssumptions => CommandName::GetUnsatAssumptions,
            Command::GetProof => CommandName::GetProof,
            Command::Push(_) => CommandName::Push,
            Command::Pop(_) => CommandName::Pop,
            _ => return None,
        })
    }
}

const QUANTIFIER: &str = "quantifier";
const FUNCTION: &str = "declare-fun";
const DATATYPE: &str = "declare-datatypes";

static BY_NAME: LazyLock<BTreeMap<&'static str, Operation>> = LazyLock::new(|| {
    let operators = table().rows().iter().map(|row| Operation::Operator(row.op));
    let commands = CommandName::ALL.into_iter().map(Operation::Command);
    let constructs = [Operation::Quantifier, Operation::Function, Operation::Datatype];
    operators.chain(commands).chain(constructs).map(|one| (one.name(), one)).collect()
});

impl Operation {
    /// The operations of a script, of which it is known what it uses.
    pub fn of(usage: &Usage, script: &Script) -> Operations {
        let mut all: Operations = usage.operators.iter().copied().map(Operation::Operator).collect();
        let constructs = [
            (usage.quantifiers, Operation::Quantifier),
            (usage.uninterpreted, Operation::Function),
            (usage.datatypes, Operation::Datatype),
        ];
        all.extend(constructs.into_iter().filter(|(used, _)| *used).map(|(_, one)| one));
        all.extend(script.commands.iter().filter_map(CommandName::of).map(Operation::Command));
        all
    }

    /// The name in files: of an operator that in the table, as several share one in SMT-LIB.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Operator(op) => op.row().variant,
            Operation::Quantifier => QUANTIFIER,
            Operation::Function => FUNCTION,
            Operation::Datatype => DATATYPE,
            Operation::Command(command) => command.word(),
        }
    }

    /// The operation with this name in files.
    pub fn named(name: &str) -> Option<Operation> {
        BY_NAME.get(name).copied()
    }

    /// Those that people mean by a name: the one in files, or the operators that have it in SMT-LIB.
    pub fn meant(name: &str) -> Vec<Operation> {
        match Operation::named(name) {
            Some(one) => vec![one],
            None => table().named(name).iter().copied().map(Operation::Operator).collect(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Operator(op) => write!(f, "{} ({})", op.row().variant, op.name()),
            other => f.write_str(other.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Store};

    #[test]
    fn a_script_has_the_operations_of_its_terms_declarations_and_commands() {
        let text = "(set-logic ALL)(declare-fun f (Int) Int)(declare-const x Int)(push 1)\
                    (assert (forall ((y Int)) (> (f y) (* x 2))))(check-sat)(get-unsat-core)";
        let mut store = Store::new();
        let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let usage = smtlib::logic::usage(&store, &script);
        let names: Vec<&str> = Operation::of(&usage, &script).into_iter().map(Operation::name).collect();
        for name in ["quantifier", "declare-fun", "push", "get-unsat-core"] {
            assert!(names.contains(&name), "{name} in {names:?}");
        }
        assert!(!names.contains(&"pop") && !names.contains(&"declare-datatypes"), "{names:?}");
        assert_eq!(names.len(), 6, "{names:?}");
    }

    #[test]
    fn every_operation_is_found_by_its_name() {
        assert_eq!(BY_NAME.len(), table().rows().len() + 9, "names are unique");
        for (name, operation) in BY_NAME.iter() {
            assert_eq!((operation.name(), Operation::named(name)), (*name, Some(*operation)));
        }
        assert_eq!(Operation::meant("+").len(), 2, "of integers and of reals");
        assert_eq!(Operation::meant("push"), [Operation::Command(CommandName::Push)]);
        assert!(Operation::meant("no such thing").is_empty());
    }
}
