"""The formula: elements of a Program in index notation, their derivatives in closed form, and how they print.

element     one element of a line with symbolic indices
origins     where an element of a movement comes from
reshaping   which element a tensor in another shape has at an index
linear      linear forms in Kronecker deltas, and the sums that deltas collapse
condensing  products of conditions and sums of fractions as one
identity    whether an expression is 0 wherever it has a value
matrices    gradients as expressions of whole tensors, from contracted indices
derivative  ∂y/∂x, Ju, the Hessian and Hu with their deltas collapsed
operations  one operation: as short mathematics, its local derivative, and how an adjoint passes it
printing    formulas as text, in each notation

Knows no numbers: whether a formula holds is for `gradcli.crosscheck` to say.
"""
