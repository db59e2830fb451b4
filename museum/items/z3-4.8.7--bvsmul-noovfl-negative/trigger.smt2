(declare-const b (_ BitVec 8))
(assert (= b #xff))
(assert (bvsmul_noovfl b #x49))
(check-sat)
