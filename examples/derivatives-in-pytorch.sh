#!/bin/sh
# Every kind of function, at one point and at many: scalar or vector in, scalar, vector or matrix out.
set -eu

echo "scalar, one variable: at one point, and at many with ones for v"
gradcli vjp "x**2" --at 1 --format plain
gradcli vjp "x**2" --at "linspace(-2,2,5)" --v ones

echo "the same by the sum() trick, and as one Jacobian a row"
gradcli grad "(x**2).sum()" --at "linspace(-2,2,5)" --format plain
printf '%s\n' x -2 -1 0 1 2 | gradcli map "x**2" --points -

echo "scalar, several variables: at one point, and at many"
gradcli vjp "(x*x*w).sum()" --at w=3,5 --at x=-1,2 --wrt x --format plain
gradcli vjp "(x*x*w).sum(1)" --at w=-1,1 --at "x=arange(6).view(3,2)" --v ones --wrt x --format plain
printf '%s\n' x0,x1 0,1 2,3 4,5 | gradcli map "(x*x*w).sum()" --at w=-1,1 --points -

echo "vector-valued, one variable: a row of the Jacobian at a time"
gradcli vjp "[-x**3, 5*x]" --at 1 --v 1,0 --v 0,1 --format plain
gradcli vjp "[-x**3, 5*x]" --at 0,1,2 --v e0 --v e1 --format plain

echo "vector-valued, several variables"
gradcli jacobian "[x.sum(), (x**2).sum()]" --at "arange(4)" --format plain
gradcli vjp "[x.sum(1), (x**2).sum(1)]" --at "arange(12).view(3,4)" --v e0 --v e1 --format plain

echo "matrix-valued, and a matrix as input"
gradcli jacobian "torch.stack([x**i for i in range(6)]).view(3,2)" --at 1 --format plain
gradcli grad "(x**2).sum()" --at "arange(6).view(3,2)" --format plain

echo "v is the gradient of a loss of y, and then vJ is the gradient of the loss by x"
gradcli vjp "[x[0]*x[1], x[0] + x[1]]" --at 1,2 --loss "sum(y**2)"
