"""The formula: elements of a Program in index notation, their derivatives in closed form, and how they print.

element     one element of a line with symbolic indices
origins     the source of each element of a movement, reshaped tensors too
linear      linear forms in Kronecker deltas, the sums that deltas collapse, conditions and fractions joined
identity    proofs that an expression is 0 wherever it has a value
matrix_algebra  whole tensors in a normal form, and as formulas: proofs for all sizes
derivative  ∂y/∂x, Ju, the Hessian and Hu with their deltas collapsed
operations  one operation: as short mathematics, its local derivative, and how an adjoint passes it
printing    formulas as text, in each notation

Knows no numbers: the check of a formula is left to `gradcli.crosscheck`.
"""
