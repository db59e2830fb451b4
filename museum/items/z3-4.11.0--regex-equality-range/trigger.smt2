(assert (= (re.diff re.all re.all) (re.range "2" "7")))
(check-sat)
