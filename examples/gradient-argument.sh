#!/bin/sh
# What the gradient argument of backward() does: it weights the elements of y.
set -eu

echo "one row of the Jacobian per one-hot v:"
gradcli vjp "2*x" --at "[[1,2,3,4]]" --v "[[1,0,0,0]]" --format plain
gradcli vjp "2*x" --at "[[1,2,3,4]]" --v "[[0,1,0,0]]" --format plain

echo "ones add the rows up, as sum() before backward() does:"
gradcli vjp "2*x" --at "[[1,2,3,4]]" --v ones --format plain
gradcli vjp "sum(2*x)" --at "[[1,2,3,4]]" --format plain

echo "several losses, weighted:"
gradcli vjp "[x**2, 3*x, exp(x)]" --at 0 --v -0.1,1,0.0001 --format plain
