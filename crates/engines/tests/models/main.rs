//! The engines that know the answer: STORM, DIVER and polarity, over all theories, without solvers.

mod common;
mod composition;
mod polarity;
mod pre_analysis;
mod rules;
mod satisfiable;
mod side_conditions;
