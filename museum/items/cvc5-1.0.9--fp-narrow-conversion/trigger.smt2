(set-logic QF_FP)
(declare-const d Float32)
(assert (fp.isZero ((_ to_fp 6 24) RTZ d)))
(check-sat)
