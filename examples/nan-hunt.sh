#!/bin/sh
# The loss was fine and the gradient became NaN.  Which operation did it, and what to write in its place?
set -eu

echo "a distance that is 0: the slope of sqrt is infinite there"
gradcli grad "sqrt(sum((x - y)**2))" --at x=1,2 --at y=1,2 --wrt x --format plain
gradcli check "sqrt(sum((x - y)**2))" --at x=1,2 --at y=1,2 --wrt x || echo "exit code $?"

echo "an entropy whose where() protects the value, and not the gradient"
gradcli grad "-sum(where(p > 0, p*log(p), 0))" --at 0.5,1,-0.5

echo "a softmax written by hand, with large scores"
gradcli grad "s = exp(x)/sum(exp(x)); -log(s[0])" --at 1000,0 --strict || echo "exit code $?"
