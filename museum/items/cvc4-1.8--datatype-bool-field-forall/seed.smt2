(set-logic ALL)
(declare-datatypes ((Cell 0)) (((mk (bit Bool) (other Bool)))))
(assert (exists ((c Cell)) (or (bit c) (other c))))
(check-sat)
