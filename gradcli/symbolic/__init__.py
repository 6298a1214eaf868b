"""The formula: elements of a Program in index notation, their derivatives in closed form, and how they print.

entry, movement                  one element of a line with symbolic indices
linear, derivative, second       ∂y/∂x with its deltas collapsed; Ju, the Hessian and Hu
structure                        what a formula shows of the whole Jacobian
local, adjoints                  the derivative of one operation; how an adjoint passes one that is not elementwise
notation, labels                 one operation as short mathematics; what a formula is of
printing                         formulas as text, in each notation

Knows no numbers: whether a formula holds is for `gradcli.check` to say.
"""
