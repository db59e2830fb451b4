//! Every theory's operators at their edges, as sentences `term = value`.

mod common;

use common::Case;
use eval::Reason;

/// Each line is a term and its value, separated by `~>`.
fn check(declarations: &str, lines: &str) {
    let case = Case::new(declarations);
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (term, value) = line.split_once("~>").expect("term ~> value");
        assert_eq!(case.text(term.trim()), value.trim(), "{line}");
    }
}

fn open(declarations: &str, lines: &str) {
    let case = Case::new(declarations);
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let reason = case.reason(line);
        assert!(matches!(reason, Reason::Unspecified | Reason::Disputed), "{line}: {reason:?}");
    }
}

#[test]
fn arrays_are_maps_with_a_default() {
    check(
        "",
        "(select (store ((as const (Array Int Int)) 7) 1 2) 1) ~> 2
         (select (store ((as const (Array Int Int)) 7) 1 2) 3) ~> 7
         (= (store ((as const (Array Int Int)) 7) 1 7) ((as const (Array Int Int)) 7)) ~> true
         (= ((as const (Array Int Int)) 7) ((as const (Array Int Int)) 8)) ~> false
         (= (store (store ((as const (Array Bool Int)) 7) true 1) false 1) ((as const (Array Bool Int)) 1)) ~> true
         (= (store ((as const (Array Bool Int)) 7) true 1) (store ((as const (Array Bool Int)) 1) false 7)) ~> true
         (= (store ((as const (Array Bool Int)) 7) true 1) (store ((as const (Array Bool Int)) 1) false 8)) ~> false
         (select (select (store ((as const (Array Int (Array Int Int))) ((as const (Array Int Int)) 1)) 0 ((as const (Array Int Int)) 2)) 0) 5) ~> 2
         (select (lambda ((x Int)) (+ x 1)) 4) ~> 5
         (= (lambda ((x Bool)) (not x)) (store (store ((as const (Array Bool Bool)) true) true false) false true)) ~> true
         (select ((_ map and) ((as const (Array Int Bool)) true) (store ((as const (Array Int Bool)) true) 3 false)) 3) ~> false",
    );
}

#[test]
fn the_table_of_a_lambda_is_found_in_its_cases() {
    check(
        "",
        "(= (lambda ((x Int)) (ite (= x 1) 10 (ite (= x 2) 20 0))) (store (store ((as const (Array Int Int)) 0) 2 20) 1 10)) ~> true
         (= (lambda ((x Int)) (ite (= x 1) 10 (ite (= 1 x) 20 0))) (store ((as const (Array Int Int)) 0) 1 10)) ~> true",
    );
}

#[test]
fn strings_follow_the_standard_at_their_edges() {
    check(
        "",
        r#"(str.++ "a" "b" "c") ~> "abc"
           (str.at "abc" 3) ~> ""
           (str.at "abc" (- 1)) ~> ""
           (str.substr "abc" 1 100) ~> "bc"
           (str.substr "abc" 1 0) ~> ""
           (str.indexof "abcabc" "c" 3) ~> 5
           (str.indexof "abc" "" 3) ~> 3
           (str.indexof "abc" "" 4) ~> (- 1)
           (str.replace "abc" "" "x") ~> "xabc"
           (str.replace_all "aaa" "a" "bb") ~> "bbbbbb"
           (str.replace_all "aaa" "" "b") ~> "aaa"
           (str.to_int "007") ~> 7
           (str.to_int "") ~> (- 1)
           (str.to_int "-1") ~> (- 1)
           (str.from_int (- 3)) ~> ""
           (str.to_code "ab") ~> (- 1)
           (str.from_code 65) ~> "A"
           (str.is_digit "5") ~> true
           (str.< "a" "b") ~> true
           (str.<= "b" "a") ~> false
           (str.in_re "aab" (re.++ (re.* (str.to_re "a")) (str.to_re "b"))) ~> true
           (str.in_re "" re.none) ~> false
           (str.in_re "b" (re.range "a" "c")) ~> true
           (str.in_re "b" (re.range "c" "a")) ~> false
           (str.in_re "aaa" ((_ re.loop 1 2) (str.to_re "a"))) ~> false
           (str.in_re "" ((_ re.loop 2 1) (str.to_re "a"))) ~> false
           (= (re.comp re.none) re.all) ~> true
           (= (re.* re.allchar) re.all) ~> true
           (str.replace_re "xaay" (re.+ (str.to_re "a")) "b") ~> "xbay"
           (str.replace_re_all "xaay" (re.+ (str.to_re "a")) "b") ~> "xbby"
           (str.rev "abc") ~> "cba"
           (str.update "abc" 1 "zzz") ~> "azz""#,
    );
}

#[test]
fn sequences_of_any_elements() {
    check(
        "",
        "(seq.len (as seq.empty (Seq Int))) ~> 0
         (seq.++ (seq.unit 1) (seq.unit 2)) ~> (seq.++ (seq.unit 1) (seq.unit 2))
         (seq.nth (seq.++ (seq.unit 1) (seq.unit 2)) 1) ~> 2
         (seq.contains (seq.++ (seq.unit 1) (seq.unit 2)) (seq.unit 2)) ~> true
         (seq.indexof (seq.++ (seq.unit 1) (seq.unit 2)) (seq.unit 2) 0) ~> 1
         (seq.rev (seq.++ (seq.unit 1) (seq.unit 2))) ~> (seq.++ (seq.unit 2) (seq.unit 1))",
    );
    open("", "(seq.nth (seq.unit 1) 1)\n(seq.nth (seq.unit 1) (- 1))");
}

#[test]
fn floating_point_distinguishes_identity_from_ieee_equality() {
    check(
        "",
        "(fp.eq (_ +zero 8 24) (_ -zero 8 24)) ~> true
         (= (_ +zero 8 24) (_ -zero 8 24)) ~> false
         (= (_ NaN 8 24) (_ NaN 8 24)) ~> true
         (fp.eq (_ NaN 8 24) (_ NaN 8 24)) ~> false
         (fp.add RNE ((_ to_fp 8 24) RNE 1.0) ((_ to_fp 8 24) RNE 2.0)) ~> (fp #b0 #x80 #b10000000000000000000000)
         (fp.isSubnormal (fp #b0 #b00 #b01)) ~> true
         (fp.div RNE ((_ to_fp 5 11) RNE 1.0) (_ -zero 5 11)) ~> (_ -oo 5 11)
         ((_ fp.to_sbv 8) RTZ ((_ to_fp 5 11) RNE (- 2.5))) ~> #xfe
         (fp.to_real ((_ to_fp 8 24) RNE 0.1)) ~> (/ 13421773.0 134217728.0)
         ((_ to_fp 5 11) RTP #x01) ~> (fp #b0 #b01111 #b0000000000)
         (fp.min (_ NaN 5 11) (_ +oo 5 11)) ~> (_ +oo 5 11)",
    );
    open(
        "",
        "(fp.min (_ +zero 5 11) (_ -zero 5 11))
         ((_ fp.to_ubv 8) RNE (_ NaN 5 11))
         ((_ fp.to_ubv 8) RNE ((_ to_fp 5 11) RNE (- 1.0)))
         ((_ fp.to_sbv 8) RNE ((_ to_fp 8 24) RNE 128.0))
         (fp.to_real (_ +oo 5 11))",
    );
}

#[test]
fn datatypes_select_test_update_and_match() {
    let list = "(declare-datatypes ((List 1)) ((par (T) ((nil) (cons (head T) (tail (List T)))))))
                (declare-datatypes ((Color 0)) (((red) (green) (blue))))";
    check(
        list,
        "(head (cons 1 (as nil (List Int)))) ~> 1
         ((_ is cons) (cons 1 (as nil (List Int)))) ~> true
         ((_ update head) (cons 1 (as nil (List Int))) 5) ~> (cons 5 (as nil (List Int)))
         (match (cons 1 (as nil (List Int))) ((nil 0) ((cons h t) (+ h 1)))) ~> 2
         (= (cons 1 (as nil (List Int))) (cons 2 (as nil (List Int)))) ~> false
         (forall ((c Color)) (or (= c red) (= c green) (= c blue))) ~> true
         (exists ((c Color) (d Color) (e Color)) (distinct c d e red)) ~> false",
    );
    open(list, "(head (as nil (List Int)))");
    let case = Case::new(list);
    assert_eq!(case.choosing("(= (head (as nil (List Int))) 0)"), Ok(eval::Value::TRUE));
}

#[test]
fn recursion_over_datatypes_ends() {
    check(
        "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
         (define-fun-rec plus ((a Nat) (b Nat)) Nat (match a ((zero b) ((succ p) (succ (plus p b))))))
         (define-fun-rec even ((n Nat)) Bool (ite ((_ is zero) n) true (not (even (pred n)))))",
        "(plus (succ (succ zero)) (succ zero)) ~> (succ (succ (succ zero)))
         (even (plus (succ zero) (succ zero))) ~> true",
    );
}

#[test]
fn sets_bags_tuples_and_relations() {
    check(
        "",
        "(set.card (set.union (set.singleton 1) (set.singleton 2) (set.singleton 1))) ~> 2
         (set.member 2 (set.minus (set.insert 1 2 (as set.empty (Set Int))) (set.singleton 2))) ~> false
         (set.subset (as set.empty (Set Int)) (set.singleton 1)) ~> true
         (set.choose (set.singleton 4)) ~> 4
         (set.map (lambda ((x Int)) (* x x)) (set.insert 1 (- 1) (as set.empty (Set Int)))) ~> (set.singleton 1)
         (set.fold (lambda ((x Int) (y Int)) (+ x y)) 0 (set.insert 1 2 3 (as set.empty (Set Int)))) ~> 6
         (bag.count 1 (bag.union_disjoint (bag 1 2) (bag 1 3))) ~> 5
         (bag.card (bag 1 (- 2))) ~> 0
         (bag.difference_subtract (bag 1 5) (bag 1 2)) ~> (bag 1 3)
         ((_ tuple.select 1) (tuple 1 true)) ~> true
         (rel.transpose (set.singleton (tuple 1 true))) ~> (set.singleton (tuple true 1))
         (set.card (rel.tclosure (set.insert (tuple 1 2) (tuple 2 3) (as set.empty (Set (Tuple Int Int)))))) ~> 3
         (rel.join (set.singleton (tuple 1 2)) (set.singleton (tuple 2 3))) ~> (set.singleton (tuple 1 3))
         (nullable.is_null (as nullable.null (Nullable Int))) ~> true
         (nullable.val (nullable.some 3)) ~> 3",
    );
    open(
        "",
        "(set.choose (set.insert 1 2 (as set.empty (Set Int))))
         (set.fold (lambda ((x Int) (y Int)) (- x y)) 0 (set.insert 1 2 3 (as set.empty (Set Int))))
         (nullable.val (as nullable.null (Nullable Int)))",
    );
}

#[test]
fn finite_fields_are_residues() {
    check(
        "(define-sort F () (_ FiniteField 7))",
        "(= (ff.add (as ff5 F) (as ff4 F)) (as ff2 F)) ~> true
         (= (ff.mul (as ff5 F) (as ff3 F)) (as ff1 F)) ~> true
         (= (ff.neg (as ff1 F)) (as ff6 F)) ~> true
         (= (ff.bitsum (as ff1 F) (as ff1 F) (as ff1 F)) (as ff0 F)) ~> true
         (forall ((x F)) (= (ff.mul x x x x x x x) x)) ~> true",
    );
}

#[test]
fn irrational_numbers_are_compared_by_enclosures() {
    check(
        "",
        "(< 3.14 real.pi 3.15) ~> true
         (> (exp 1.0) 2.718) ~> true
         (= (exp 0.0) 1.0) ~> true
         (< (sin 1.0) 0.8415) ~> true
         (= (sin real.pi) 0.5) ~> false
         (= (* (sqrt 2.0) (sqrt 2.0)) 2.0) ~> true
         (to_int (* 100.0 real.pi)) ~> 314
         (= (^ 2.0 0.5) (sqrt 2.0)) ~> true
         (= (^ 2.0 (- 1.0)) 0.5) ~> true",
    );
    assert_eq!(Case::new("").reason("(= (sin real.pi) 0.0)"), Reason::InseparableReals);
    open("", "(sqrt (- 1.0))\n(^ 0 0)\n(^ 0.0 (- 1.0))");
}

#[test]
fn functions_are_values() {
    check(
        "(define-fun inc ((x Int)) Int (+ x 1))
         (define-fun apply2 ((f (-> Int Int)) (x Int)) Int (f (f x)))",
        "(apply2 inc 3) ~> 5
         (apply2 (lambda ((y Int)) (* y 2)) 3) ~> 12
         (forall ((f (-> Bool Bool))) (= (f (f (f true))) (f true))) ~> true
         (= (lambda ((x Bool)) (not x)) (lambda ((y Bool)) (xor y true))) ~> true",
    );
}

#[test]
fn counting_constraints_count() {
    check(
        "",
        "((_ at-most 1) true false true) ~> false
         ((_ at-least 2) true false true) ~> true
         ((_ pble 3 2 2) true true) ~> false
         ((_ pbeq 4 2 2) true true) ~> true",
    );
}

#[test]
fn bit_vectors_at_their_edges() {
    check(
        "",
        "(bvsdiv #x80 #xff) ~> #x80
         (bvsrem #xfb #x03) ~> #xfe
         (bvsmod #xfb #x03) ~> #x01
         (bvsmod #xfb #x00) ~> #xfb
         (bvshl #x01 #x08) ~> #x00
         (bvashr #x80 #xff) ~> #xff
         (concat #b1 #b0 #b1) ~> #b101
         ((_ extract 7 4) #xa5) ~> #xa
         ((_ repeat 2) #b10) ~> #xa
         ((_ rotate_left 9) #x81) ~> #x03
         (bvnego #x80) ~> true
         (bvsdivo #x80 #xff) ~> true
         (ubv_to_int #xff) ~> 255
         (sbv_to_int #xff) ~> (- 1)
         ((_ int_to_bv 4) (- 1)) ~> #xf
         (bvcomp #x01 #x01) ~> #b1",
    );
}
