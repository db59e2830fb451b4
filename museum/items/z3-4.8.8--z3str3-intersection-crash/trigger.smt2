(declare-const s String)
(assert (str.in.re s (re.inter (str.to.re "cd") (re.union (str.to.re "") re.allchar))))
(check-sat)
