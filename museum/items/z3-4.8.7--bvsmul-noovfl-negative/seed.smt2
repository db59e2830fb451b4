(declare-const b (_ BitVec 8))
(assert (= b #xff))
(assert (bvumul_noovfl b #x49))
(check-sat)
