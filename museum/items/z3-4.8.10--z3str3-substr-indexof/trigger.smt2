(declare-const s String)
(declare-const n Int)
(assert (not (= (str.substr s n (str.indexof "k" s n)) "")))
(check-sat)
