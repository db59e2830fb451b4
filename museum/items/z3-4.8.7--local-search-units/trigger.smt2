(declare-const p Bool)
(declare-const q Bool)
(assert (and p (not q) (= p q)))
(check-sat)
