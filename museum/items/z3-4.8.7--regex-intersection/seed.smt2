(declare-const w String)
(assert (not (= (str.in.re w (re.union (str.to.re "k") (re.+ (str.to.re "k")))) (str.in.re w (str.to.re "kk")))))
(assert (= (str.in.re w (re.union (str.to.re "h") (str.to.re "k"))) (str.in.re w (re.inter (str.to.re "") (str.to.re "k")))))
(check-sat)
