(set-logic QF_S)
(assert (str.in_re "n" (re.union re.all (str.to_re "k") re.allchar)))
(check-sat)
