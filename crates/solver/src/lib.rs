//! Running SMT solvers: which ones there are, where to get any release of them, how to call them, what they said.
//!
//! * [`version`]: release numbers and their order.

pub mod version;
