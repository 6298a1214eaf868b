#!/bin/sh
# The gradient argument by examples: one variable, one element; then two.
set -eu

echo "x**2 at 1: the derivative is 2, and v = 100 makes it 200"
gradcli vjp "x**2" --at 1 --v 1 --v 100 --format plain

echo "sum(x) at 1,2: the Jacobian is one row of ones, and v weights that row"
gradcli vjp "sum(x)" --at 1,2 --v 1 --v 100
