(declare-const n Int)
(assert (= "left" "right"))
(assert (>= n 2))
(check-sat-using normalize-bounds)
