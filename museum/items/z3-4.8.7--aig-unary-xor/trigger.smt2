(declare-const p Bool)
(assert (xor p))
(assert (not p))
(check-sat-using aig)
