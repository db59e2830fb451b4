(set-logic ALL)
(declare-datatype Pair (par (X Y) ((pair (fst X) (snd Y)))))
(assert (forall ((p (Pair Bool Int))) (or (fst p) (> (snd p) 0))))
(check-sat)
