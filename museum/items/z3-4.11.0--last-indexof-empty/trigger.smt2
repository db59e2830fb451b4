(declare-const u (Seq Int))
(assert (> (seq.len u) 1))
(assert (= (seq.last_indexof u (as seq.empty (Seq Int))) 0))
(check-sat)
