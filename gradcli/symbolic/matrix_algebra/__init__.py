"""Algebra of whole tensors of any size: sums of products of scalars, vectors and matrices in a normal form.

networks         terms as networks: tensors whose axes are joined, in one order whatever they were typed in
sums             what the terms of a sum share, and a sum as one tensor
words            a network as a word of matrices, between two axes
rewriting        the rules by which terms are rewritten, inverses and quotients among them
algebra          sums and products
elementwise      powers, exponentials, logarithms and other functions of elements
inverses         transposes, inverses and determinants
program_forms    a Program as a form
equality         whether two forms are equal, for all sizes
contracting      a term as a number, scalars and a word that can be written
known_functions  softmax, the logistic function and logsumexp by their names
factoring        a form as a formula: common factors out, transposes in or out
spelling         formulas as the language has them, as mathematics, and in LaTeX
"""
