(set-logic QF_S)
(declare-const w String)
(assert (str.in_re w (re.diff (re.range "ab" "c") (re.range "" "k"))))
(check-sat)
