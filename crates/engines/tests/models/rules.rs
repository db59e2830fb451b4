//! DIVER's rules one by one: every value of small sorts is put to the places around one operator.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::read;
use engines::diver::{Constraint, Places, convert};
use eval::fp::{Float, Format};
use eval::rational::Rational;
use eval::string::Str;
use eval::value::{Domain, Function, Table};
use eval::{Budget, EvaluatedModel, Mode, Model, Value, to_term};
use generate::rng::{self, Rng};
use smtlib::{Command, Head, Script, Sort, SortKind, Store, Term};

const DECLARATIONS: &str = "(declare-const x Int)(declare-const y Int)(declare-const z Int)
    (declare-const r Real)(declare-const s Real)(declare-const t Real)
    (declare-const a (_ BitVec 4))(declare-const b (_ BitVec 4))(declare-const c (_ BitVec 4))
    (declare-const u String)(declare-const v String)(declare-const w String)(declare-const p String)
    (declare-const k (_ FloatingPoint 3 3))(declare-const l (_ FloatingPoint 3 3))
    (declare-const n (_ FloatingPoint 3 3))(declare-const m (Array Int Int))
    (declare-fun f (Int Int) Int)(declare-fun g ((_ BitVec 4)) (_ BitVec 4))";

/// A formula, and the places below its operator that may take other values than the present one.
const RULES: &[(&str, &[&str])] = &[
    ("(<= (mod x y) z)", &["IntMod 0", "IntMod 1"]),
    ("(= (mod x y) z)", &["IntMod 1"]),
    ("(<= (div x y) z)", &["IntDiv 0", "IntDiv 1"]),
    ("(>= (div x y) z)", &["IntDiv 0", "IntDiv 1"]),
    ("(= (div x y) z)", &["IntDiv 0", "IntDiv 1"]),
    ("(<= (/ r s) t)", &["RealDiv 0", "RealDiv 1"]),
    ("(> (/ r s) t)", &["RealDiv 0", "RealDiv 1"]),
    ("(bvule (bvurem a b) c)", &["BvUrem 0", "BvUrem 1"]),
    ("(= (bvurem a b) c)", &["BvUrem 1"]),
    ("(bvule (bvudiv a b) c)", &["BvUdiv 0", "BvUdiv 1"]),
    ("(bvuge (bvudiv a b) c)", &["BvUdiv 1"]),
    ("(= (bvnand a b) c)", &["BvNand 0"]),
    ("(= (bvnor a b) c)", &["BvNor 1"]),
    ("(= ((_ extract 2 1) (bvxnor a b)) ((_ extract 2 1) c))", &["BvXnor 0"]),
    ("(= ((_ extract 2 1) ((_ rotate_left 3) a)) ((_ extract 2 1) c))", &["BvRotateLeft 0"]),
    ("(= ((_ extract 2 1) ((_ rotate_right 5) a)) ((_ extract 2 1) c))", &["BvRotateRight 0"]),
    ("(bvuaddo a b)", &["BvUaddo 0", "BvUaddo 1"]),
    ("(bvusubo a b)", &["BvUsubo 0", "BvUsubo 1"]),
    ("(bvumulo a b)", &["BvUmulo 0"]),
    ("(bvsaddo a b)", &["BvSaddo 0", "BvSaddo 1"]),
    ("(bvssubo a b)", &["BvSsubo 0", "BvSsubo 1"]),
    ("(bvsmulo a b)", &["BvSmulo 0", "BvSmulo 1"]),
    ("(= (str.substr u x y) v)", &["StrSubstr 0", "StrSubstr 1", "StrSubstr 2"]),
    ("(= (str.at u x) v)", &["StrAt 0", "StrAt 1"]),
    ("(= (str.indexof u v x) z)", &["StrIndexof 0", "StrIndexof 1", "StrIndexof 2"]),
    ("(<= (str.indexof u v x) z)", &["StrIndexof 0", "StrIndexof 2"]),
    ("(= (str.replace u v w) p)", &["StrReplace 1", "StrReplace 2"]),
    ("(= (str.replace_all u v w) p)", &["StrReplaceAll 1", "StrReplaceAll 2"]),
    ("(str.prefixof v (str.++ u w))", &["StrConcat 0", "StrConcat 1"]),
    ("(str.suffixof v (str.++ u w))", &["StrConcat 0", "StrConcat 1"]),
    ("(str.contains (str.++ u w p) v)", &["StrConcat 0", "StrConcat 1"]),
    ("(= (str.to_code u) z)", &["StrToCode 0"]),
    ("(= (str.from_int x) v)", &["StrFromInt 0"]),
    ("(= (str.from_code x) v)", &["StrFromCode 0"]),
    ("(<= (f x y) z)", &["Fun 0", "Fun 1"]),
    ("(= (f x y) z)", &["Fun 0", "Fun 1"]),
    ("(bvule (g a) b)", &["Fun 0"]),
    ("(<= (select m x) z)", &["Select 1"]),
    ("(fp.leq (fp.add RNE k l) n)", &["FpAdd 1", "FpAdd 2"]),
    ("(fp.gt (fp.sub RTZ k l) n)", &["FpSub 1", "FpSub 2"]),
    ("(fp.leq (fp.mul RTP k l) n)", &["FpMul 1", "FpMul 2"]),
    ("(fp.geq (fp.div RNA k l) n)", &["FpDiv 1", "FpDiv 2"]),
    ("(fp.leq (fp.min k l) n)", &["FpMin 0", "FpMin 1"]),
    ("(fp.geq (fp.max k l) n)", &["FpMax 0"]),
    ("(fp.leq (fp.sqrt RTN k) n)", &["FpSqrt 1"]),
    ("(fp.lt (fp.roundToIntegral RNE k) n)", &["FpRoundToIntegral 1"]),
    ("(= (fp.add RNE k l) n)", &["FpAdd 1"]),
    ("(fp.leq (fp.abs k) n)", &["FpAbs 0"]),
];

const WORDS: &[&str] = &["", "a", "b", "ab", "ba", "aab", "aba", "abab", "bb", "1", "42", "b42", "a1b"];

/// All values of a sort that are put to a place.
fn values(store: &Store, sort: Sort) -> Vec<Value> {
    match store.sort_kind(sort) {
        SortKind::Bool => vec![Value::TRUE, Value::FALSE],
        SortKind::Int => (-12..=12).map(|number: i64| Value::int(number)).collect(),
        SortKind::Real => (-8..=8i64)
            .flat_map(|up| [1i64, 2, 3].map(|down| Rational::new(up.into(), down.into())))
            .flatten()
            .map(Value::real)
            .collect(),
        SortKind::BitVec(width) => (0..1u128 << width).map(|bits| Value::bv(*width, bits)).collect(),
        SortKind::String => WORDS.iter().map(|word| Value::Str(Str::try_from(*word).expect(word))).collect(),
        SortKind::Float(e, s) => {
            let format = Format::new(*e, *s).expect("a format");
            let all = 1u32 << format.width();
            (0..all).map(|bits| Value::Float(Float::from_ieee_bits(format, &bits.into()))).collect()
        }
        _ => Vec::new(),
    }
}

fn table(store: &Store, rng: &mut Rng, params: &[Sort], result: Sort) -> Table {
    let mut draw = |sort: Sort| rng.pick(&values(store, sort)).cloned().expect("values");
    let entries = (0..6).map(|_| {
        let key: Vec<Value> = params.iter().map(|param| draw(*param)).collect();
        (Function::key(&key), draw(result))
    });
    let entries = entries.collect();
    Table::new(entries, draw(result), Domain::Unbounded).expect("a table")
}

fn random_model(store: &Store, script: &Script, rng: &mut Rng) -> Model {
    let mut model = Model::new();
    for fun in script.declared_funs() {
        let decl = store.fun(fun);
        let value = match (store.sort_kind(decl.result), decl.params.len()) {
            (SortKind::Array(index, element), _) => {
                Value::Array(Arc::new(table(store, rng, &[*index], *element)))
            }
            (_, 0) => rng.pick(&values(store, decl.result)).cloned().expect("values"),
            (_, arity) => {
                let table = table(store, rng, &decl.params, decl.result);
                Value::Function(Arc::new(Function::Table { arity: arity as u32, table }))
            }
        };
        model.assign(fun, value);
    }
    model
}

/// The rule's name: the operator above and which argument.
fn name(store: &Store, places: &Places, number: usize) -> Option<String> {
    let (parent, child) = places.parent(number)?;
    match store.head(parent) {
        Head::Op(op, _) => Some(format!("{} {child}", op.row().variant)),
        Head::Fun(_) => Some(format!("Fun {child}")),
        _ => None,
    }
}

/// Puts all values to all places; counts values other than the present one that a rule allows.
fn put_to_the_test(
    store: &mut Store,
    evaluated: &mut EvaluatedModel,
    root: Term,
    seen: &mut BTreeMap<String, usize>,
) {
    let places = Places::analyse(store, evaluated, &[root], false);
    let mut path = Vec::new();
    for number in 0..places.len() {
        let place = places.get(number).clone();
        if place.allowed.set == Constraint::Unstated {
            continue;
        }
        places.path(number, &mut path);
        let sort = store.sort_of(place.term);
        let present = evaluated.evaluate(store, place.term);
        if let Ok(present) = &present {
            assert_ne!(place.allowed.set.contains(present), Some(false), "{}", store.term_text(root));
        }
        for value in values(store, sort) {
            let Some(inside) = place.allowed.set.contains(&value) else { continue };
            let Some(new) = to_term(store, sort, &value) else { continue };
            if let Some(said) = convert(store, &place.allowed.set, new)
                && let Ok(truth) = evaluated.holds(store, said)
            {
                assert_eq!(truth, inside, "{} says {value:?}", store.term_text(said));
            }
            if !inside && !place.allowed.complete {
                continue;
            }
            let mutant = store.replace_at(root, &path, new).expect("the same sort");
            let Ok(truth) = evaluated.holds(store, mutant) else { continue };
            let (rule, mutant) = (name(store, &places, number), store.term_text(mutant));
            assert_eq!(truth, inside, "{rule:?}: {mutant}\n{:?}", place.allowed);
            if let (true, Some(rule), Ok(present)) = (inside, rule, &present)
                && value != *present
            {
                *seen.entry(rule).or_default() += 1;
            }
        }
    }
}

#[test]
fn every_value_that_a_rule_allows_keeps_the_formula_true() {
    let models = if cfg!(debug_assertions) { 60 } else { 600 };
    let mut rng = rng::stream(17, 0);
    for (text, rules) in RULES {
        let mut seen = BTreeMap::new();
        for _ in 0..models {
            let mut store = Store::new();
            let script = read(&mut store, &format!("{DECLARATIONS}(assert {text})"));
            let Some(Command::Assert(term)) = script.commands.last().cloned() else { panic!("an assertion") };
            let mut model = random_model(&store, &script, &mut rng);
            // Equalities hold by chance too seldom.
            let args = store.args(term).to_vec();
            if rng.chance(0.7)
                && let [left, right] = args.as_slice()
                && let Head::Fun(fun) = store.head(*right)
                && let Ok(value) = evaluated(model.clone()).evaluate(&store, *left)
            {
                model.assign(fun, value);
            }
            let mut evaluated = evaluated(model);
            let root = match evaluated.holds(&store, term) {
                Ok(true) => term,
                Ok(false) => store.not(term).expect("a formula"),
                Err(_) => continue,
            };
            put_to_the_test(&mut store, &mut evaluated, root, &mut seen);
        }
        for rule in *rules {
            assert!(seen.contains_key(*rule), "{text}: {rule} never allows another value");
        }
    }
}

fn evaluated(model: Model) -> EvaluatedModel {
    EvaluatedModel::new(model, Mode::Given, Budget::default())
}
