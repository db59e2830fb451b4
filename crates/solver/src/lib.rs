//! Running SMT solvers: which ones there are, where to get any release of them, how to call them, what they said.
//!
//! * [`adapter`]: what is known about each solver, as data.
//! * [`spec`]: what a user writes to name a solver.
//! * [`version`]: release numbers and their order.

pub mod adapter;
pub mod spec;
pub mod version;
