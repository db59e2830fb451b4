//! The SMT-LIB language: one typed term representation that reads real files and prints them for any solver.
//!
//! - [`parse`] reads a script into a [`Store`]; [`Session`] reads models and values in a script's context.
//! - [`Store`] holds terms, sorts and names, hash-consed; terms are built only through its checked constructors.
//! - [`theory`] is the table of all operators, the one place that knows their signatures.
//! - [`print`](print::print) writes scripts and terms for a solver release.
//! - [`logic`] tells the theories a script uses and the smallest logic that fits.

mod construct;
mod infer;
mod intern;
pub mod lexer;
pub mod literal;
pub mod logic;
mod parser;
mod position;
pub mod print;
pub mod release;
mod script;
mod setting;
mod sort;
mod special;
mod store;
mod symbol;
mod term;
pub mod theory;
pub mod version;
mod walk;

pub use infer::SortError;
pub use literal::Literal;
pub use numbers::{Integer, Rational};
pub use parser::{Mode, Note, Parsed, Session, parse};
pub use position::{ParseError, Place, place};
pub use release::{Family, Release};
pub use script::{Command, Script, Status};
pub use setting::Setting;
pub use sort::{Datatype, Sort, SortDecl, SortKind};
pub use store::{Mark, Store};
pub use symbol::Symbol;
pub use term::*;
pub use theory::Op;
pub use version::Version;
