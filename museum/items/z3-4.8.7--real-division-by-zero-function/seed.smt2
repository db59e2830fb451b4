(declare-const r Real)
(assert (= (/ r 0.0) r))
(assert (not (= (* (/ r 0.0) 0.0) r)))
(check-sat)
