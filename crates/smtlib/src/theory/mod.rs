//! The theory table: every operator of every theory, one row each, as data.
//!
//! The rows live in `theories/*.ops`; the build script makes one [`Op`] of each. The parser's sort checker, the
//! printer, the generator and the mutators all read [`table`]; the evaluator matches on [`Op`], so the compiler
//! tells who forgot a new row.

mod pattern;
mod signature;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::release::{Availability, Family, Release};
pub use pattern::{Bindings, Comparison, Constraint, Expr, SortPattern};

include!(concat!(env!("OUT_DIR"), "/ops.rs"));

/// A row as it stands in the `.ops` file.
pub(crate) struct RowText {
    op: Op,
    variant: &'static str,
    theory: Theory,
    pattern: &'static str,
    signature: &'static str,
    attributes: &'static [&'static str],
}

impl RowText {
    /// The signature as written, for messages.
    pub(crate) fn signature(&self) -> &'static str {
        self.signature
    }
}

/// How an operator with a binary signature is used with more arguments (SMT-LIB 2.6, section 3.7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly the arguments of the signature.
    Fixed,
    LeftAssoc,
    RightAssoc,
    Chainable,
    Pairwise,
}

/// Another name of an operator and the releases that use it.
#[derive(Clone, Debug)]
pub struct Alias {
    pub name: &'static str,
    /// Releases for which this is the name to print. Empty: accepted on input only.
    pub native: Availability,
}

/// One operator with its signature and who accepts it.
#[derive(Debug)]
pub struct Row {
    pub op: Op,
    /// The variant's name, for messages and provenance.
    pub variant: &'static str,
    pub theory: Theory,
    /// The canonical name.
    pub name: &'static str,
    /// Number slots of the indices: `(_ extract i j)` has two.
    pub indices: Vec<u8>,
    /// The sort in `(as name SORT)` where the symbol must carry its sort.
    pub qualified: Option<SortPattern>,
    pub args: Vec<SortPattern>,
    pub result: SortPattern,
    /// The sort cannot be written as a pattern; `Store` computes it.
    pub special: bool,
    pub arity: Arity,
    /// More than two arguments are accepted by solvers, not by the standard.
    pub nary_extension: bool,
    pub constraints: Vec<Constraint>,
    /// The standard leaves the result open for some arguments.
    pub partial: bool,
    /// Introduced by SMT-LIB 2.7.
    pub std27: bool,
    /// Who accepts it; `None`: standard, everyone who has the theory.
    pub only: Option<Availability>,
    /// Who takes it in the named logics of its theory too, although it is not part of the standard. The others have it in
    /// their widest logic alone, or nobody has tried.
    pub in_logics: Availability,
    pub aliases: Vec<Alias>,
}

impl Row {
    /// Is this operator part of SMT-LIB 2.6 or 2.7?
    pub fn is_standard(&self) -> bool {
        self.std27 || self.only.as_ref().is_none_or(|who| who.names_family(Family::Standard))
    }

    /// Does only one family of solvers have it?
    pub fn is_of_one_family(&self) -> bool {
        !self.std27 && self.only.as_ref().is_some_and(Availability::is_of_one_family)
    }

    /// Does the release accept this operator under some name? (Whether it has the theory at all is the
    /// adapter's knowledge.)
    pub fn accepted_by(&self, release: Release) -> bool {
        match &self.only {
            None => true,
            Some(who) => {
                who.admits(release)
                    || (self.is_standard() && matches!(release.family, Family::Standard | Family::Other))
            }
        }
    }

    /// Does the release have this operator, but not in the logics that the standard names?
    pub fn hidden_from(&self, release: Release) -> bool {
        !self.is_standard() && self.accepted_by(release) && !self.in_logics.admits(release)
    }

    /// The name a release knows the operator by.
    pub fn name_for(&self, release: Release) -> &'static str {
        self.aliases.iter().find(|alias| alias.native.admits(release)).map_or(self.name, |alias| alias.name)
    }

    /// Least and greatest number of arguments.
    pub fn arg_count(&self) -> (usize, usize) {
        match self.arity {
            Arity::Fixed => (self.args.len(), self.args.len()),
            _ => (2, usize::MAX),
        }
    }

    /// The pattern of argument `i`, taking associativity into account.
    pub fn arg(&self, i: usize) -> Option<&SortPattern> {
        match self.arity {
            Arity::Fixed => self.args.get(i),
            Arity::RightAssoc => self.args.first(),
            _ => self.args.get(i.min(self.args.len() - 1)),
        }
    }
}

impl Op {
    /// The row of this operator.
    #[inline]
    pub fn row(self) -> &'static Row {
        &table().rows[self as usize]
    }

    /// The canonical name.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

/// All rows, and the names they are known by.
pub struct Table {
    rows: Vec<Row>,
    by_name: FxHashMap<&'static str, Vec<Op>>,
}

impl Table {
    /// All rows in the order of the files.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The operators that a name (canonical or alias) may mean, in table order.
    pub fn named(&self, name: &str) -> &[Op] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every name in the table, canonical names first, in table order and without repetition.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut seen = rustc_hash::FxHashSet::default();
        let canonical = self.rows.iter().map(|row| row.name);
        let aliases = self.rows.iter().flat_map(|row| row.aliases.iter().map(|alias| alias.name));
        canonical.chain(aliases).filter(|name| seen.insert(*name)).collect()
    }
}

/// The theory table, read on first use.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows: Vec<Row> = ROW_TEXTS
            .iter()
            .map(|text| {
                signature::read(text)
                    .unwrap_or_else(|why| panic!("theory table, row {}: {why}", text.variant))
            })
            .collect();
        let mut by_name: FxHashMap<&'static str, Vec<Op>> = FxHashMap::default();
        for row in &rows {
            let names = std::iter::once(row.name).chain(row.aliases.iter().map(|alias| alias.name));
            for name in names {
                let ops = by_name.entry(name).or_default();
                if !ops.contains(&row.op) {
                    ops.push(row.op);
                }
            }
        }
        Table { rows, by_name }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_and_stands_at_its_own_index() {
        for (i, row) in table().rows().iter().enumerate() {
            assert_eq!(row.op as usize, i, "{}", row.variant);
            assert!(row.arity == Arity::Fixed || row.args.len() == 2 || row.special, "{}", row.variant);
        }
    }

    #[test]
    fn overloads_share_a_name() {
        let plus = table().named("+");
        assert!(plus.contains(&Op::IntAdd) && plus.contains(&Op::RealAdd));
        assert_eq!(Op::BvAdd.name(), "bvadd");
    }

    #[test]
    fn old_releases_get_the_old_names() {
        let old = Release::new(Family::Z3, "4.8.5".parse().expect("version"));
        let new = Release::new(Family::Z3, "5.4.0".parse().expect("version"));
        let row = Op::StrToInt.row();
        assert_eq!(row.name_for(new), "str.to_int");
        assert_eq!(row.name_for(old), "str.to.int");
    }
}
