(declare-const b (_ BitVec 8))
(assert (= b #xff))
(assert (not (bvsmul_noovfl #x9a b)))
(check-sat)
