(declare-fun n () Int)
(assert (> n (bv2nat ((_ int2bv 2) n))))
(check-sat-using (then qfidl smt))
