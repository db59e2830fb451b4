//! Scripts: commands in order, with what they declare living in the store.

use serde::{Deserialize, Serialize};

use crate::sort::{Datatype, Sort, SortDecl};
use crate::store::Store;
use crate::symbol::Symbol;
use crate::term::{Fun, Term};

/// A parsed script. It belongs to the store that parsed it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    pub commands: Vec<Command>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    SetLogic(Symbol),
    /// Keyword with colon, value as text.
    SetOption(Symbol, Box<str>),
    SetInfo(Symbol, Box<str>),
    GetInfo(Symbol),
    GetOption(Symbol),
    DeclareSort(SortDecl),
    DefineSort {
        name: Symbol,
        params: Box<[Symbol]>,
        sort: Sort,
    },
    /// One group of mutually recursive datatypes.
    DeclareDatatypes(Vec<Datatype>),
    DeclareFun(Fun),
    DeclareConst(Fun),
    DefineFun(Fun),
    DefineFunRec(Fun),
    DefineFunsRec(Vec<Fun>),
    DefineConst(Fun),
    Assert(Term),
    CheckSat,
    CheckSatAssuming(Vec<Term>),
    /// Z3's tactic call; the tactic as text.
    CheckSatUsing(Box<str>),
    Push(u32),
    Pop(u32),
    GetModel,
    GetUnsatCore,
    GetUnsatAssumptions,
    GetAssertions,
    GetAssignment,
    GetProof,
    GetValue(Vec<Term>),
    Echo(Box<str>),
    Reset,
    ResetAssertions,
    Exit,
    /// Optimisation; attributes as text.
    Minimize(Term, Box<str>),
    Maximize(Term, Box<str>),
    AssertSoft(Term, Box<str>),
    /// Z3's `simplify`, with its parameters as text.
    Simplify(Term, Box<str>),
    /// Z3's `eval`, with its parameters as text.
    Eval(Term, Box<str>),
    /// A command whose inside is not looked at: known extensions and unknown commands. The text includes the
    /// parentheses.
    Opaque {
        name: Symbol,
        text: Box<str>,
    },
}

/// What a script says its answer is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Sat,
    Unsat,
    Unknown,
}

impl Script {
    /// The logic set last.
    pub fn logic<'s>(&self, store: &'s Store) -> Option<&'s str> {
        self.commands.iter().rev().find_map(|command| match command {
            Command::SetLogic(logic) => Some(store.name(*logic)),
            _ => None,
        })
    }

    /// The last `:status`, if the script has one.
    pub fn status(&self, store: &Store) -> Option<Status> {
        self.commands.iter().rev().find_map(|command| match command {
            Command::SetInfo(keyword, value) if store.name(*keyword) == ":status" => match value.as_ref() {
                "sat" => Some(Status::Sat),
                "unsat" => Some(Status::Unsat),
                "unknown" => Some(Status::Unknown),
                _ => None,
            },
            _ => None,
        })
    }

    /// All asserted formulas in order, whatever push and pop do.
    pub fn assertions(&self) -> impl Iterator<Item = Term> + '_ {
        self.commands.iter().filter_map(|command| match command {
            Command::Assert(term) => Some(*term),
            _ => None,
        })
    }

    /// All terms of all commands, definitions' bodies included.
    pub fn terms(&self, store: &Store) -> Vec<Term> {
        let mut terms = Vec::new();
        for command in &self.commands {
            command.terms(store, &mut terms);
        }
        terms
    }

    /// Functions and constants declared without a body.
    pub fn declared_funs(&self) -> impl Iterator<Item = Fun> + '_ {
        self.commands.iter().filter_map(|command| match command {
            Command::DeclareFun(fun) | Command::DeclareConst(fun) => Some(*fun),
            _ => None,
        })
    }

    /// Does it push, pop, reset or check more than once?
    pub fn is_incremental(&self) -> bool {
        let mut checks = 0;
        for command in &self.commands {
            match command {
                Command::Push(_) | Command::Pop(_) | Command::Reset | Command::ResetAssertions => {
                    return true;
                }
                Command::CheckSat | Command::CheckSatAssuming(_) | Command::CheckSatUsing(_) => checks += 1,
                _ => {}
            }
        }
        checks > 1
    }
}

impl Command {
    /// Adds the command's terms to `out`.
    pub fn terms(&self, store: &Store, out: &mut Vec<Term>) {
        let body = |fun: &Fun| store.fun(*fun).definition.as_ref().map(|definition| definition.body);
        match self {
            Command::Assert(term)
            | Command::Minimize(term, _)
            | Command::Maximize(term, _)
            | Command::AssertSoft(term, _)
            | Command::Simplify(term, _)
            | Command::Eval(term, _) => out.push(*term),
            Command::CheckSatAssuming(terms) | Command::GetValue(terms) => out.extend_from_slice(terms),
            Command::DefineFun(fun) | Command::DefineFunRec(fun) | Command::DefineConst(fun) => {
                out.extend(body(fun));
            }
            Command::DefineFunsRec(funs) => out.extend(funs.iter().filter_map(body)),
            _ => {}
        }
    }

    /// A check-sat of any form.
    pub fn is_check(&self) -> bool {
        matches!(self, Command::CheckSat | Command::CheckSatAssuming(_) | Command::CheckSatUsing(_))
    }
}
