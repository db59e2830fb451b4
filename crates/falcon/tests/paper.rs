//! The paper's examples of options that matter for operations, on real solvers.

use std::time::Duration;

use falcon::groups::Effect;
use falcon::laboratory::{self, Calibration, Laboratory, SolverLaboratory};
use smtlib::Setting;
use solver::coverage::Code;
use solver::limits::Limits;
use solver::{RunRequest, Solver};

/// What options do on scripts.
struct Subject {
    laboratory: SolverLaboratory,
    calibration: Calibration,
}

impl Subject {
    fn new(solver: &Solver, option: Option<(&Setting, &str)>) -> Subject {
        testkit::launcher();
        let code = Code::of(solver, testkit::SOLVERS.home()).expect("code that can be watched");
        let limits = Limits::wall(Duration::from_secs(60));
        let mut laboratory = SolverLaboratory::new(solver, &code, limits).expect("a launcher");
        let settings: Vec<Setting> = option.iter().map(|(setting, _)| (*setting).clone()).collect();
        let defaults =
            option.iter().map(|(setting, default)| Setting::new(&setting.option, *default)).collect();
        let calibration = Calibration::of(&mut laboratory, &settings, defaults, &|| false);
        let calibration = calibration.expect("runs").expect("an answer to nothing");
        Subject { laboratory, calibration }
    }

    fn effect(&mut self, script: &str, setting: &Setting) -> Effect {
        let script = script.as_bytes();
        let control = laboratory::control(&mut self.laboratory, script, &self.calibration);
        let (control, request) = control.expect("runs").expect("a definite answer, twice");
        let request = RunRequest { settings: vec![setting.clone()], ..request };
        control.effect(&self.laboratory.run(script, &request).expect("a run"))
    }
}

/// Figure 2, with or without what comes after the check.
fn integers(after: &str) -> String {
    let cores = if after.is_empty() { "" } else { "(set-option :produce-unsat-cores true)" };
    format!(
        "{cores}(set-logic QF_LIA)(declare-const x Int)(declare-const y Int)(assert (! (> x 6) :named a))\
         (assert (! (= y 3) :named b))(assert (! (< x 4) :named c))(check-sat){after}"
    )
}

const STRINGS: &str = "(set-logic QF_SLIA)(declare-const s String)(declare-const t String)(declare-const u String)\
    (assert (= (str.++ s t) (str.++ t u \"a\")))(assert (not (= s u)))(assert (= (str.len s) 5))\
    (assert (str.in_re t (re.+ (re.union (str.to_re \"ab\") (re.range \"c\" \"d\")))))(check-sat)";

#[test]
fn core_minimisation_matters_where_a_core_is_asked_for() {
    let Some(solver) = testkit::get("z3@4.8.7") else { return };
    let minimize = Setting::new("smt.core.minimize", "true");
    let mut subject = Subject::new(&solver, Some((&minimize, "false")));
    assert_eq!(subject.effect(&integers("(get-unsat-core)"), &minimize), Effect::Changed);
    assert_eq!(subject.effect(&integers(""), &minimize), Effect::Nothing);
}

#[test]
fn options_of_the_string_solver_matter_for_strings_only() {
    let Some(solver) = testkit::get("z3@5.4.0") else { return };
    let monadic = Setting::new("smt.seq.regex_monadic", "false");
    let mut subject = Subject::new(&solver, Some((&monadic, "true")));
    assert_eq!(subject.effect(STRINGS, &monadic), Effect::Changed);
    assert_eq!(subject.effect(&integers(""), &monadic), Effect::Nothing);
}

#[test]
fn options_of_the_rewriter_matter_for_their_operators() {
    let Some(solver) = testkit::get("z3@5.4.0") else { return };
    let extension = Setting::new("rewriter.elim_sign_ext", "false");
    let mut subject = Subject::new(&solver, Some((&extension, "true")));
    let bits = |term: &str| {
        format!(
            "(set-logic QF_BV)(declare-const x (_ BitVec 8))(declare-const y (_ BitVec 12))\
             (assert (bvult (bvmul y y) {term}))(check-sat)"
        )
    };
    assert_eq!(subject.effect(&bits("((_ sign_extend 4) x)"), &extension), Effect::Changed);
    assert_eq!(subject.effect(&bits("(concat x #xa)"), &extension), Effect::Nothing);
}

#[test]
fn inference_by_sygus_is_in_conflict_with_push() {
    let Some(solver) = testkit::get("cvc5@1.4.2") else { return };
    let sygus = Setting::new("sygus-inference", "on");
    let mut subject = Subject::new(&solver, None);
    // It shows satisfiability only.
    let satisfiable = integers("").replace("(< x 4)", "(< x 40)");
    assert_ne!(subject.effect(&satisfiable, &sygus), Effect::Conflict);
    let pushed = satisfiable.replace("(assert (! (< x 40)", "(push 1)(assert (! (< x 40)");
    assert_eq!(subject.effect(&pushed, &sygus), Effect::Conflict);
}
