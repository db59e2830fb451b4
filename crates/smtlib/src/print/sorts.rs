//! Sorts, sorted variables and datatype declarations as text.

use std::fmt::Write as _;

use super::dialect::Dialect;
use super::write_symbol;
use crate::sort::{Datatype, Sort, SortKind};
use crate::store::Store;
use crate::term::Var;

pub(super) fn write(out: &mut String, store: &Store, sort: Sort, dialect: Dialect) {
    let mut app = |name: &str, args: &[Sort]| {
        out.push('(');
        out.push_str(name);
        for arg in args {
            out.push(' ');
            write(out, store, *arg, dialect);
        }
        out.push(')');
    };
    match store.sort_kind(sort) {
        SortKind::Bool => out.push_str("Bool"),
        SortKind::Int => out.push_str("Int"),
        SortKind::Real => out.push_str("Real"),
        SortKind::String => out.push_str("String"),
        SortKind::RegLan if dialect.old_regex_sort => out.push_str("(RegEx String)"),
        SortKind::RegLan => out.push_str("RegLan"),
        SortKind::RoundingMode => out.push_str("RoundingMode"),
        SortKind::BitVec(width) => _ = write!(out, "(_ BitVec {width})"),
        SortKind::Float(5, 11) if dialect.named_formats => out.push_str("Float16"),
        SortKind::Float(8, 24) if dialect.named_formats => out.push_str("Float32"),
        SortKind::Float(11, 53) if dialect.named_formats => out.push_str("Float64"),
        SortKind::Float(15, 113) if dialect.named_formats => out.push_str("Float128"),
        SortKind::Float(e, s) => _ = write!(out, "(_ FloatingPoint {e} {s})"),
        SortKind::FiniteField(order) => _ = write!(out, "(_ FiniteField {order})"),
        SortKind::Seq(element) => app("Seq", &[*element]),
        SortKind::Set(element) if dialect.finite_set_sort => app("FiniteSet", &[*element]),
        SortKind::Set(element) => app("Set", &[*element]),
        SortKind::Bag(element) => app("Bag", &[*element]),
        SortKind::Nullable(element) => app("Nullable", &[*element]),
        SortKind::Array(index, element) => app("Array", &[*index, *element]),
        SortKind::Tuple(sorts) if sorts.is_empty() => out.push_str("UnitTuple"),
        SortKind::Tuple(sorts) => app("Tuple", sorts),
        SortKind::Fun(params, result) => {
            let mut sorts = params.to_vec();
            sorts.push(*result);
            app("->", &sorts);
        }
        SortKind::Declared(decl, args) => {
            let (name, _) = store.sort_decl(*decl);
            write_named(out, store, store.name(name), args, dialect);
        }
        SortKind::Datatype(dt, args) => {
            write_named(out, store, store.name(store.datatype(*dt).name), args, dialect);
        }
        SortKind::Param(name) | SortKind::Opaque(name) => write_symbol(out, store.name(*name)),
    }
}

fn write_named(out: &mut String, store: &Store, name: &str, args: &[Sort], dialect: Dialect) {
    if args.is_empty() {
        return write_symbol(out, name);
    }
    out.push('(');
    write_symbol(out, name);
    for arg in args {
        out.push(' ');
        write(out, store, *arg, dialect);
    }
    out.push(')');
}

pub(super) fn write_sorted_vars(out: &mut String, store: &Store, vars: &[Var], dialect: Dialect) {
    for (i, var) in vars.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push('(');
        write_symbol(out, store.name(store.var_name(*var)));
        out.push(' ');
        write(out, store, store.var_sort(*var), dialect);
        out.push(')');
    }
}

pub(super) fn write_datatypes(out: &mut String, store: &Store, datatypes: &[Datatype], dialect: Dialect) {
    let co = datatypes.iter().any(|dt| store.datatype(*dt).codatatype);
    out.push_str(if co { "(declare-codatatypes (" } else { "(declare-datatypes (" });
    for (i, dt) in datatypes.iter().enumerate() {
        let decl = store.datatype(*dt);
        out.push_str(if i > 0 { " (" } else { "(" });
        write_symbol(out, store.name(decl.name));
        _ = write!(out, " {})", decl.params.len());
    }
    out.push_str(") (");
    for (i, dt) in datatypes.iter().enumerate() {
        let decl = store.datatype(*dt);
        if i > 0 {
            out.push(' ');
        }
        if !decl.params.is_empty() {
            out.push_str("(par (");
            for (i, param) in decl.params.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                write_symbol(out, store.name(*param));
            }
            out.push_str(") ");
        }
        out.push('(');
        for (i, constructor) in decl.constructors.iter().enumerate() {
            out.push_str(if i > 0 { " (" } else { "(" });
            write_symbol(out, store.name(constructor.name));
            for (field, sort) in &constructor.fields {
                out.push_str(" (");
                write_symbol(out, store.name(*field));
                out.push(' ');
                write(out, store, *sort, dialect);
                out.push(')');
            }
            out.push(')');
        }
        out.push(')');
        if !decl.params.is_empty() {
            out.push(')');
        }
    }
    out.push_str("))");
}
