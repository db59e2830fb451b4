//! Abstract domains of terms (Table I) and relations between constants (Table III), as Boolean terms.

use dashu_int::UBig;
use eval::sorts::Sorts;
use eval::{Model, to_term};
use smtlib::{Head, Index, Op, Rational, Sort, SortError, SortKind, Store, Term};

/// What the abstract domain of a term's sort tells apart. The rows for Bool, Int, Real, String and floats are those of
/// Table I; floats have subnormal and normal numbers besides. The other sorts are ours. Empty for sorts without a domain.
pub fn domain(store: &mut Store, term: Term) -> Vec<Term> {
    parts(store, term).unwrap_or_default()
}

/// Relations of two terms of one sort: equal or not, and the order of numbers; an integer beside a real is read as one. Empty
/// for terms of other different sorts.
pub fn relations(store: &mut Store, one: Term, other: Term) -> Vec<Term> {
    related(store, one, other).unwrap_or_default()
}

fn parts(store: &mut Store, term: Term) -> Result<Vec<Term>, SortError> {
    let sort = store.sort_of(term);
    match store.sort_kind(sort).clone() {
        SortKind::Bool => {
            let (yes, no) = (store.bool(true), store.bool(false));
            Ok(vec![equal(store, term, yes)?, equal(store, term, no)?])
        }
        SortKind::Int => {
            let zero = store.int(0);
            around(store, [Op::IntLt, Op::IntGt], term, zero)
        }
        SortKind::Real => {
            let zero = store.real(Rational::ZERO);
            around(store, [Op::RealLt, Op::RealGt], term, zero)
        }
        SortKind::String => {
            let empty = store.string(&[]);
            equal_or_not(store, term, empty)
        }
        SortKind::Float(exponent, significand) => float(store, term, exponent, significand),
        SortKind::BitVec(width) => bits(store, term, width),
        SortKind::Seq(_) => {
            let empty = store.qualified(Op::SeqEmpty, sort, &[])?;
            let mut parts = equal_or_not(store, term, empty)?;
            let length = store.op(Op::SeqLen, &[term])?;
            let one = store.int(1);
            parts.push(equal(store, length, one)?);
            Ok(parts)
        }
        SortKind::Set(_) => {
            let empty = store.qualified(Op::SetEmpty, sort, &[])?;
            equal_or_not(store, term, empty)
        }
        SortKind::Datatype(datatype, _) => {
            let count = store.datatype(datatype).constructors.len() as u16;
            (0..count)
                .map(|number| store.datatype_node(Head::Tester(datatype, number), &[term], None))
                .collect()
        }
        SortKind::Array(index, _) => {
            // Every logic of arrays can say that two elements are equal.
            let mut edges = Sorts::new(store, &Model::new()).edge_values(index);
            edges.truncate(3);
            let edges: Vec<Term> = edges.iter().filter_map(|value| to_term(store, index, value)).collect();
            edges
                .windows(2)
                .map(|pair| {
                    let one = store.op(Op::Select, &[term, pair[0]])?;
                    let other = store.op(Op::Select, &[term, pair[1]])?;
                    equal(store, one, other)
                })
                .collect()
        }
        _ => Ok(Vec::new()),
    }
}

fn equal(store: &mut Store, one: Term, other: Term) -> Result<Term, SortError> {
    store.op(Op::Equal, &[one, other])
}

fn equal_or_not(store: &mut Store, one: Term, other: Term) -> Result<Vec<Term>, SortError> {
    let same = equal(store, one, other)?;
    Ok(vec![same, store.op(Op::Not, &[same])?])
}

/// `= 0`, `< 0`, `> 0`.
fn around(store: &mut Store, order: [Op; 2], term: Term, zero: Term) -> Result<Vec<Term>, SortError> {
    let mut parts = vec![equal(store, term, zero)?];
    for op in order {
        parts.push(store.op(op, &[term, zero])?);
    }
    Ok(parts)
}

fn float(store: &mut Store, term: Term, exponent: u32, significand: u32) -> Result<Vec<Term>, SortError> {
    let format = [Index::Number(exponent), Index::Number(significand)];
    let mut special = |op| store.indexed(op, &format, &[]);
    let infinities = [special(Op::FpMinusInfinity)?, special(Op::FpPlusInfinity)?];
    let zeros = [special(Op::FpMinusZero)?, special(Op::FpPlusZero)?];
    let mut between = |low, high| {
        let bounds = [store.op(Op::FpLt, &[low, term])?, store.op(Op::FpLt, &[term, high])?];
        store.and(&bounds)
    };
    let negative = between(infinities[0], zeros[0])?;
    let positive = between(zeros[1], infinities[1])?;
    Ok(vec![
        store.op(Op::FpIsNan, &[term])?,
        equal(store, term, infinities[0])?,
        negative,
        equal(store, term, zeros[0])?,
        equal(store, term, zeros[1])?,
        positive,
        equal(store, term, infinities[1])?,
        store.op(Op::FpIsSubnormal, &[term])?,
        store.op(Op::FpIsNormal, &[term])?,
    ])
}

/// Zero, all ones, the least and the greatest signed number, a power of two.
fn bits(store: &mut Store, term: Term, width: u32) -> Result<Vec<Term>, SortError> {
    let sign = UBig::ONE << (width as usize).saturating_sub(1);
    let ones = (UBig::ONE << width as usize) - UBig::ONE;
    let zero = store.bv(width, UBig::ZERO);
    let mut values = vec![zero, store.bv(width, ones)];
    if width > 1 {
        values.push(store.bv(width, sign.clone()));
        values.push(store.bv(width, sign - UBig::ONE));
    }
    let mut parts =
        values.into_iter().map(|value| equal(store, term, value)).collect::<Result<Vec<_>, _>>()?;
    if width > 1 {
        let one = store.bv(width, UBig::ONE);
        let less = store.op(Op::BvSub, &[term, one])?;
        let common = store.op(Op::BvAnd, &[term, less])?;
        let single = equal(store, common, zero)?;
        let empty = equal(store, term, zero)?;
        let some = store.op(Op::Not, &[empty])?;
        parts.push(store.and(&[some, single])?);
    }
    Ok(parts)
}

fn related(store: &mut Store, one: Term, other: Term) -> Result<Vec<Term>, SortError> {
    let (one, other) = match (store.sort_of(one), store.sort_of(other)) {
        (Sort::INT, Sort::REAL) => (store.op(Op::ToReal, &[one])?, other),
        (Sort::REAL, Sort::INT) => (one, store.op(Op::ToReal, &[other])?),
        (sort, others) if sort != others => return Ok(Vec::new()),
        _ => (one, other),
    };
    let sort = store.sort_of(one);
    let mut found = equal_or_not(store, one, other)?;
    let order = match store.sort_kind(sort) {
        SortKind::Int => [Op::IntGt, Op::IntLt, Op::IntGe, Op::IntLe],
        SortKind::Real => [Op::RealGt, Op::RealLt, Op::RealGe, Op::RealLe],
        SortKind::Float(..) => [Op::FpGt, Op::FpLt, Op::FpGe, Op::FpLe],
        _ => return Ok(found),
    };
    for op in order {
        found.push(store.op(op, &[one, other])?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(store: &mut Store, name: &str, sort: Sort) -> Term {
        let name = store.symbol(name);
        let fun = store.declare_fun(name, &[], sort);
        store.call(fun, &[]).expect("a constant")
    }

    fn domain_of(sort: impl Fn(&mut Store) -> Sort) -> Vec<String> {
        let mut store = Store::new();
        let sort = sort(&mut store);
        let term = symbol(&mut store, "s", sort);
        let parts = domain(&mut store, term);
        parts.iter().map(|part| store.term_text(*part)).collect()
    }

    #[test]
    fn the_domains_of_table_i() {
        assert_eq!(domain_of(|_| Sort::BOOL), ["(= s true)", "(= s false)"]);
        assert_eq!(domain_of(|_| Sort::INT), ["(= s 0)", "(< s 0)", "(> s 0)"]);
        assert_eq!(domain_of(|_| Sort::REAL), ["(= s 0.0)", "(< s 0.0)", "(> s 0.0)"]);
        assert_eq!(domain_of(|_| Sort::STRING), ["(= s \"\")", "(not (= s \"\"))"]);
        let float = domain_of(|store| store.float(5, 11));
        let expected = [
            "(fp.isNaN s)",
            "(= s (_ -oo 5 11))",
            "(and (fp.lt (_ -oo 5 11) s) (fp.lt s (_ -zero 5 11)))",
            "(= s (_ -zero 5 11))",
            "(= s (_ +zero 5 11))",
            "(and (fp.lt (_ +zero 5 11) s) (fp.lt s (_ +oo 5 11)))",
            "(= s (_ +oo 5 11))",
        ];
        assert_eq!(float[..7], expected);
        assert_eq!(float[7..], ["(fp.isSubnormal s)", "(fp.isNormal s)"]);
    }

    #[test]
    fn the_domains_of_other_sorts() {
        let power = "(and (not (= s #x0)) (= (bvand s (bvsub s #x1)) #x0))";
        assert_eq!(
            domain_of(|store| store.bitvec(4)),
            ["(= s #x0)", "(= s #xf)", "(= s #x8)", "(= s #x7)", power]
        );
        assert_eq!(domain_of(|store| store.bitvec(1)), ["(= s #b0)", "(= s #b1)"]);
        let sequence = domain_of(|store| store.sort(SortKind::Seq(Sort::INT)));
        let empty = "(= s (as seq.empty (Seq Int)))";
        assert_eq!(sequence, [empty, &format!("(not {empty})"), "(= (seq.len s) 1)"]);
        let array = domain_of(|store| store.array(Sort::INT, Sort::STRING));
        assert_eq!(array, ["(= (select s 0) (select s 1))", "(= (select s 1) (select s (- 1)))"]);
        assert_eq!(domain_of(|_| Sort::REGLAN), Vec::<String>::new());
    }

    #[test]
    fn a_datatype_is_told_apart_by_its_constructors() {
        let mut store = Store::new();
        let text = b"(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))(declare-fun l () L)
            (assert (= l l))";
        let script = smtlib::parse(&mut store, text, smtlib::Mode::Strict).expect("a datatype").script;
        let formula = script.assertions().next().expect("one assertion");
        let term = store.args(formula)[0];
        let parts: Vec<Term> = domain(&mut store, term);
        let parts: Vec<String> = parts.iter().map(|part| store.term_text(*part)).collect();
        assert_eq!(parts, ["((_ is nil) l)", "((_ is cons) l)"]);
    }

    #[test]
    fn the_relations_of_table_iii() {
        let mut store = Store::new();
        let (narrow, wide, float) = (store.bitvec(4), store.bitvec(8), store.float(5, 11));
        let mut between = |one: Sort, other: Sort| {
            let (one, other) = (symbol(&mut store, "h1", one), symbol(&mut store, "h2", other));
            let found = relations(&mut store, one, other);
            found.iter().map(|relation| store.term_text(*relation)).collect::<Vec<_>>()
        };
        let alike = ["(= h1 h2)", "(not (= h1 h2))"];
        for sort in [Sort::BOOL, Sort::STRING, narrow] {
            assert_eq!(between(sort, sort), alike);
        }
        for sort in [Sort::INT, Sort::REAL] {
            let found = between(sort, sort);
            assert_eq!(found[..2], alike);
            assert_eq!(found[2..], ["(> h1 h2)", "(< h1 h2)", "(>= h1 h2)", "(<= h1 h2)"]);
        }
        let mixed = between(Sort::INT, Sort::REAL);
        assert_eq!((mixed.len(), mixed[0].as_str()), (6, "(= (to_real h1) h2)"));
        assert_eq!(between(Sort::REAL, Sort::INT)[2], "(> h1 (to_real h2))");
        let found = between(float, float);
        assert_eq!(found[..2], alike);
        assert_eq!(found[2..], ["(fp.gt h1 h2)", "(fp.lt h1 h2)", "(fp.geq h1 h2)", "(fp.leq h1 h2)"]);
        assert_eq!(between(narrow, wide), Vec::<String>::new());
    }
}
