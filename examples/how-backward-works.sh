#!/bin/sh
# How backward() works: what a tensor knows of where it came from, and what a pass leaves behind.
set -eu

echo "x*y with y a constant: who requires a gradient, who has one, who is a leaf"
gradcli graph "z = x*y" --at x=1 --at y=2 --wrt x

echo "x**2 at 1,2: v = 1,1 gives the derivatives; x itself as v is a trap"
gradcli vjp "x**2" --at 1,2 --v 1,1 --format plain
gradcli vjp "x**2" --at 1,2 --v x --format plain 2>&1

echo "y is no leaf, so torch leaves y.grad empty; it can be retained, and two passes add up"
gradcli vjp "y = x**2; z = y**3" --at 1,2 --v 1,1 --v 1,1 --accumulate
gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y --to table

echo "three passes through x**2 + z**3"
gradcli vjp "x**2 + z**3" --at x=2,2 --at z=4,4 --v ones --v ones --v ones --accumulate --format plain

echo "a second pass without retain_graph=True"
gradcli vjp "x = torch.tensor([1., 2.], requires_grad=True)
y = x**2
y.backward(torch.tensor([1., 1.]))
y.backward(torch.tensor([1., 1.]))" --format plain 2>&1
