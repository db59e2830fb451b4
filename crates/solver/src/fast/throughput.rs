//! Measuring executions a second.
