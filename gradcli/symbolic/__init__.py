"""The formula: elements of a Program in index notation, their derivatives in closed form, and how they print.

element, index_maps              one element of a line with symbolic indices
linear, derivative, hessian      ∂y/∂x with its deltas collapsed; Ju, the Hessian and Hu
diagonal                         what a formula shows of the whole Jacobian
local, adjoints                  the derivative of one operation; how an adjoint passes one that is not elementwise
notation                         one operation as short mathematics
printing                         formulas as text, in each notation

Knows no numbers: whether a formula holds is for `gradcli.check` to say.
"""
