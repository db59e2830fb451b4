//! Which operators new terms of a mutant have.

use generate::Config;
use smtlib::Release;
use smtlib::logic::is_hidden;
use smtlib::theory::table;

/// Leaves out what one of the releases hides in a logic, so that a mutant keeps its name: solvers set up by it. The widest
/// logics hide nothing.
pub(crate) fn leave_out_hidden(config: &mut Config, logic: &str, releases: &[Release]) {
    if logic.ends_with("ALL") {
        return;
    }
    let rows = table().rows().iter().filter(|row| is_hidden(row.op, releases));
    config.operators.extend(rows.map(|row| (row.variant.to_owned(), 0.0)));
}
