(declare-const t Real)
(assert (= (* 3.0 (^ t (- 1.0))) (^ (- 2.0 t) (- 1.0))))
(check-sat)
