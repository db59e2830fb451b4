(declare-datatypes ((Tree 1)) ((par (E F) ((leaf) (node (key E) (left (Tree E)) (right (Tree E)))))))
(check-sat)
