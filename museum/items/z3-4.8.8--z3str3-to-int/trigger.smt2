(declare-const s String)
(assert (= 7 (str.to.int s)))
(check-sat)
