(declare-const t Real)
(assert (= (/ 2.0 3.0 t) 0.0))
(check-sat-using nlqsat)
