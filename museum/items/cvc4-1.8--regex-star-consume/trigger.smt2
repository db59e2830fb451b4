(set-logic QF_S)
(declare-const s String)
(assert (str.in_re (str.++ s "d" "c") (re.+ (re.++ (str.to_re "c") (re.union (re.* (str.to_re "c")) (str.to_re "d"))))))
(check-sat)
