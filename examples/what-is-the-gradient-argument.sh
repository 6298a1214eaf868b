#!/bin/sh
# "What are the gradient arguments of backward() in PyTorch?": a thread of questions, each answered by a command.
set -eu
f="3*a + 2*b*b + torch.log(c)"

echo "v has a weight for each element of y, and .grad becomes v times the Jacobian:"
gradcli vjp "$f" --at a=1,2,3 --at b=3,4,5 --at c=6,7,8 --v 0.1,1,0.0001 --format plain

echo "a y of one element needs no v, and takes none of another shape:"
gradcli vjp "$f" --at a=.1 --at b=1 --at c=.1 --format plain
gradcli vjp "$f" --at a=.1 --at b=1 --at c=.1 --v 0.1,1,0.0001 2>&1 || echo "exit code $?"

echo "why c.grad is inf at 0:"
gradcli vjp "$f" --at "a=[0]" --at "b=[0]" --at "c=[0]" --v "[0.1]"

echo "two passes add up in .grad:"
gradcli vjp "$f" --at a=1 --at b=1 --at c=1 --v 1 --v 1 --accumulate --format plain

echo "a one-hot v gives one row of the Jacobian, ones give the sum of its rows:"
gradcli vjp "2*x" --at "[[1,2,3,4]]" --v "[[1,0,0,0]]" --v "[[0,1,0,0]]" --v ones --format plain

echo "that is where v comes from: the sum that makes a loss of z sends ones back to it"
gradcli explain "z = 2*x; loss = z.sum(dim=1)" --at "[[1,2,3,4]]"

echo "several losses, weighted:"
gradcli vjp "[x**2, 3*x, exp(x)]" --at 0 --v -0.1,1,0.0001 --format plain

echo "autograd, the formula, an enclosure of the truth and finite differences, side by side:"
gradcli check "$f" --at a=1,2 --at b=3,4 --at c=6,7 --v 0.1,1 --differences
