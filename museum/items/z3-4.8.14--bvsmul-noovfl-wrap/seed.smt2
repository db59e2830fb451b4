(declare-const b (_ BitVec 8))
(assert (= b #xff))
(assert (not (bvumul_noovfl #x9a b)))
(check-sat)
