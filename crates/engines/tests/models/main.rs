//! The engines that know the answer, STORM, DIVER and polarity, and values, which knows it now and then, over all theories, without solvers.

mod common;
mod composition;
mod polarity;
mod pre_analysis;
mod rules;
mod satisfiable;
mod side_conditions;
mod values;
