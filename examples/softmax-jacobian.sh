#!/bin/sh
# The Jacobian of softmax, which every course derives on the board: in numbers, in index notation, and proved.
set -eu

gradcli jacobian "softmax(x)" --at 1,2,3

echo "diag(s) - s sT, by hand:"
gradcli check "softmax(x)" --at 1,2,3 --claim "diag(softmax(x)) - outer(softmax(x), softmax(x))" --format plain | tail -1

echo "with cross entropy behind it, the gradient is softmax(x) - t:"
gradcli check "-sum(t*log_softmax(x))" --at x=1,2,3 --at t=0,0,1 --wrt x --claim "sum(t)*softmax(x) - t" --format plain | tail -1

echo "for a paper:"
gradcli code "softmax(x)" --at 1,2,3 --v 1,0,0 --to latex | grep '^.*y_{i}'
