//! Terms for operators whose arguments no signature describes: functions, tuples, numbers of any kind as indices.
//!
//! `{Sort}` stands for a random value of the sort, `{0..3}` for a number, `{n*Sort}` for up to n values.

use smtlib::theory::Theory;
use smtlib::{Op, Script, Session, Store, Term};

use super::arguments::Arguments;

/// The templates of an operator, unless its signature is enough.
pub(super) fn of(op: Op) -> Option<&'static [&'static str]> {
    Some(match op {
        Op::AtMost => &["((_ at-most {0..4}) {4*Bool})"],
        Op::AtLeast => &["((_ at-least {0..4}) {4*Bool})"],
        Op::PbLe => &["((_ pble {0..9} {0..5} {0..5} {0..5}) {Bool} {Bool} {Bool})"],
        Op::PbGe => &["((_ pbge {0..9} {0..5} {0..5} {0..5}) {Bool} {Bool} {Bool})"],
        Op::PbEq => &["((_ pbeq {0..9} {0..5} {0..5} {0..5}) {Bool} {Bool} {Bool})"],
        Op::BvFromBools => &["(mkbv {6*Bool})"],
        Op::FfBitsum => &["(ff.bitsum {(_ FiniteField 17)} {(_ FiniteField 17)} {(_ FiniteField 17)})"],
        Op::ArrayMap => &[
            "((_ map and) {(Array Int Bool)} {(Array Int Bool)})",
            "((_ map not) {(Array Int Bool)})",
            "((_ map (+ (Int Int) Int)) {(Array Int Int)} {(Array Int Int)})",
            "(select ((_ map or) {(Array Int Bool)} {(Array Int Bool)}) {Int})",
        ],
        Op::SeqMap => &["(seq.map (lambda ((x Int)) (+ x {Int})) {(Seq Int)})"],
        Op::SeqMapi => &["(seq.mapi (lambda ((i Int) (x Int)) (+ i x)) {Int} {(Seq Int)})"],
        Op::SeqFoldl => &["(seq.foldl (lambda ((y Int) (x Int)) (- y x)) {Int} {(Seq Int)})"],
        Op::SeqFoldli => {
            &["(seq.foldli (lambda ((i Int) (y Int) (x Int)) (+ (* i x) y)) {Int} {Int} {(Seq Int)})"]
        }
        Op::SeqInRe | Op::SeqToRe => &[
            "(seq.in.re {String} (seq.to.re {String}))",
            "(seq.in.re {String} (re.* (seq.to.re {String})))",
            "(seq.in.re {String} (re.++ (seq.to.re {String}) (seq.to.re {String})))",
        ],
        Op::SetInsert => &["(set.insert {Int} {Int} {(Set Int)})", "(set.insert {Bool} {(Set Bool)})"],
        Op::SetFilter => &[
            "(set.filter (lambda ((x Int)) (> x {Int})) {(Set Int)})",
            "(set.filter (lambda ((x Bool)) (= x {Bool})) {(Set Bool)})",
        ],
        Op::SetMap => &[
            "(set.map (lambda ((x Int)) (* x x)) {(Set Int)})",
            "(set.map (lambda ((x Int)) (> x {Int})) {(Set Int)})",
        ],
        Op::SetAll => &["(set.all (lambda ((x Int)) (>= x {Int})) {(Set Int)})"],
        Op::SetSome => &["(set.some (lambda ((x Int)) (>= x {Int})) {(Set Int)})"],
        Op::SetFold => &["(set.fold (lambda ((x Int) (y Int)) (+ x y)) {Int} {(Set Int)})"],
        Op::SetMapArray => &["(set.map (lambda ((x Int)) (* x x)) {(Set Int)})"],
        Op::SetFilterArray => &["(set.filter (lambda ((x Int)) (> x {Int})) {(Set Int)})"],
        Op::SetRange => {
            &["(set.range {0..5} {0..9})", "(set.range (- {1..5}) {0..5})", "(set.range {3..9} {0..4})"]
        }
        Op::BagMap => &[
            "(bag.map (lambda ((x Int)) (* x x)) {(Bag Int)})",
            "(bag.map (lambda ((x Int)) (> x {Int})) {(Bag Int)})",
        ],
        Op::BagFilter => &["(bag.filter (lambda ((x Int)) (> x {Int})) {(Bag Int)})"],
        Op::BagAll => &["(bag.all (lambda ((x Int)) (>= x {Int})) {(Bag Int)})"],
        Op::BagSome => &["(bag.some (lambda ((x Int)) (>= x {Int})) {(Bag Int)})"],
        Op::BagFold => &["(bag.fold (lambda ((x Int) (y Int)) (+ x y)) {Int} {(Bag Int)})"],
        Op::BagPartition => {
            &["(bag.partition (lambda ((x Int) (y Int)) (= (mod x 2) (mod y 2))) {(Bag Int)})"]
        }
        Op::TupleMake => &["(tuple {Int} {Bool} {String})", "(tuple {Int})"],
        Op::TupleUnit => &["tuple.unit"],
        Op::TupleSelect => &["((_ tuple.select {0..2}) {(Tuple Int Bool Int)})"],
        Op::TupleUpdate => &[
            "((_ tuple.update 0) {(Tuple Int Bool)} {Int})",
            "((_ tuple.update 1) {(Tuple Int Bool)} {Bool})",
        ],
        Op::TupleProject => &["((_ tuple.project {0..2} {0..2}) {(Tuple Int Bool Int)})"],
        Op::TupleProjectNone => &["(tuple.project {(Tuple Int Bool)})"],
        Op::RelJoin => &["(rel.join {(Set (Tuple Int Int))} {(Set (Tuple Int Bool))})"],
        Op::RelProduct => &["(rel.product {(Set (Tuple Int))} {(Set (Tuple Int Bool))})"],
        Op::RelTranspose => &["(rel.transpose {(Set (Tuple Int Bool Int))})"],
        Op::RelTclosure => &["(rel.tclosure {(Set (Tuple Int Int))})"],
        Op::RelJoinImage => &["(rel.join_image {(Set (Tuple Int Int))} {0..3})"],
        Op::RelIden => &["(rel.iden {(Set (Tuple Int))})"],
        Op::RelTableJoin => &["((_ rel.table_join 0 1) {(Set (Tuple Int Bool))} {(Set (Tuple Bool Int))})"],
        Op::RelTableJoinNone => &["(rel.table_join {(Set (Tuple Int))} {(Set (Tuple Bool Int))})"],
        Op::RelGroup => &["((_ rel.group {0..1}) {(Set (Tuple Int Bool))})"],
        Op::RelGroupNone => &["(rel.group {(Set (Tuple Int Bool))})"],
        Op::RelAggregate => &[
            "((_ rel.aggr 0) (lambda ((t (Tuple Bool Int)) (y Int)) (+ y ((_ tuple.select 1) t))) {Int} {(Set (Tuple Bool Int))})",
        ],
        Op::RelAggregateNone => &[
            "(rel.aggr (lambda ((t (Tuple Bool Int)) (y Int)) (+ y ((_ tuple.select 1) t))) {Int} {(Set (Tuple Bool Int))})",
        ],
        Op::RelProject => &["((_ rel.project {0..1} {0..1}) {(Set (Tuple Int Bool))})"],
        Op::RelProjectNone => &["(rel.project {(Set (Tuple Int Bool))})"],
        Op::TableProduct => &["(table.product {(Bag (Tuple Int))} {(Bag (Tuple Bool))})"],
        Op::TableJoin => &["((_ table.join 0 1) {(Bag (Tuple Int Bool))} {(Bag (Tuple Bool Int))})"],
        Op::TableJoinNone => &["(table.join {(Bag (Tuple Int))} {(Bag (Tuple Bool))})"],
        Op::TableProject => &["((_ table.project {0..1}) {(Bag (Tuple Int Bool))})"],
        Op::TableProjectNone => &["(table.project {(Bag (Tuple Int Bool))})"],
        Op::TableGroup => &["((_ table.group {0..1}) {(Bag (Tuple Int Bool))})"],
        Op::TableGroupNone => &["(table.group {(Bag (Tuple Int Bool))})"],
        Op::TableAggregate => &[
            "((_ table.aggr 0) (lambda ((t (Tuple Bool Int)) (y Int)) (+ y ((_ tuple.select 1) t))) {Int} {(Bag (Tuple Bool Int))})",
        ],
        Op::TableAggregateNone => &[
            "(table.aggr (lambda ((t (Tuple Bool Int)) (y Int)) (+ y ((_ tuple.select 1) t))) {Int} {(Bag (Tuple Bool Int))})",
        ],
        Op::Apply => &[
            "(@ (lambda ((x Int)) (+ x {Int})) {Int})",
            "(@ (@ (lambda ((x Int) (y Int)) (- x y)) {Int}) {Int})",
        ],
        Op::NullableLift => {
            &["(nullable.lift (lambda ((x Int) (y Int)) (+ x y)) {(Nullable Int)} {(Nullable Int)})"]
        }
        Op::NullableLiftOperator => &["((_ nullable.lift +) {(Nullable Int)} {(Nullable Int)})"],
        // The open cases, choices among several elements, are no cases.
        Op::SetChoose => &["(set.choose (set.singleton {Int}))", "(set.choose (set.singleton {String}))"],
        Op::BagChoose => &["(bag.choose (bag {Int} {1..9}))", "(bag.choose (bag {String} {1..9}))"],
        // Long results only cost time.
        Op::IntPow2 => &["(int.pow2 {0..200})", "(int.pow2 (- {1..99}))"],
        Op::StrPower => &["(str.power {String} {0..9})", "(str.power {String} (- {1..3}))"],
        Op::SeqPower => &["(seq.power {(Seq Int)} {0..9})", "(seq.power {(Seq Int)} (- {1..3}))"],
        Op::RootObject => return Some(&[]),
        // Most solvers take only small whole exponents.
        Op::RealPow => &["(^ {Real} {1..7}.0)", "(^ {Real} {1..9}.0)", "(^ {Real} 3.0)", "(^ {Real} {Real})"],
        Op::ReLoopBounds => &["(str.in_re {String} (re.loop (str.to_re {String}) {0..3} {0..4}))"],
        Op::ReLoopBoundFrom => &["(str.in_re {String} (re.loop (str.to_re {String}) {0..3}))"],
        _ => return None,
    })
}

/// A term from one of the templates.
pub(super) fn fill(store: &mut Store, templates: &[&str], arguments: &mut Arguments<'_>) -> Option<Term> {
    if templates.is_empty() {
        return None;
    }
    let mut rest = *arguments.pick(templates);
    let mut text = String::new();
    while let Some(start) = rest.find('{') {
        let length = rest[start..].find('}')?;
        text.push_str(&rest[..start]);
        hole(store, &rest[start + 1..start + length], &mut text, arguments)?;
        rest = &rest[start + length + 1..];
    }
    text.push_str(rest);
    Session::new(store, &Script::default(), text.as_bytes()).term().ok()?
}

fn hole(store: &mut Store, hole: &str, text: &mut String, arguments: &mut Arguments<'_>) -> Option<()> {
    if let Some((low, high)) = hole.split_once("..") {
        let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
        text.push_str(&(low + arguments.below(high - low + 1)).to_string());
        return Some(());
    }
    let (most, sort) = match hole.split_once('*') {
        Some((most, sort)) => (most.parse().ok()?, sort),
        None => (1, hole),
    };
    let sort = Session::new(store, &Script::default(), sort.as_bytes()).sort().ok()??;
    let count = 1 + arguments.below(most);
    for place in 0..count {
        // Collections of tuples need values that meet.
        let term = arguments.term(store, Theory::Ints, sort)?;
        if place > 0 {
            text.push(' ');
        }
        text.push_str(&store.term_text(term));
    }
    Some(())
}
