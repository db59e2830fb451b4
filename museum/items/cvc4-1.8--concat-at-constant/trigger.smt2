(set-logic QF_SLIA)
(declare-const k Int)
(assert (= (str.++ (str.at "p" k) "q" (str.at "p" k)) "q"))
(check-sat)
