(set-logic ALL)
(declare-fun f (Int) (_ BitVec 3))
(assert (distinct (store ((as const (Array (_ BitVec 4) (_ BitVec 3))) #b010) #x5 (f 1)) ((as const (Array (_ BitVec 4) (_ BitVec 3))) #b001)))
(check-sat)
