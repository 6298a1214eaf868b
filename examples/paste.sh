#!/bin/sh
# PyTorch as people post it: the tensors are the variables, requires_grad says which to differentiate by, and backward()
# has the output and v. What is typed beside the snippet counts more.
set -eu
cd "$(dirname "$0")"

echo "what a.grad, b.grad and c.grad hold:"
gradcli vjp @snippet.py --format plain

echo "with another v, by b alone:"
gradcli vjp @snippet.py --v ones --wrt b --format plain

echo "several passes add up in .grad, until it is set to zero:"
gradcli vjp @- --format plain 2>&1 <<'END'
x = torch.tensor([1., 2.], requires_grad=True)
z = 2*x
z.backward(torch.tensor([1., 0.]), retain_graph=True)
z.backward(torch.tensor([0., 1.]))
END

echo "lines from an article, in torch's own words:"
gradcli vjp "torch.stack([x.sum(1), (x**2).sum(1)])" --at "arange(12).view(3,4)" --v e1 --format plain
gradcli jacobian "torch.stack([x**i for i in range(6)]).view(3,2)" --at 1 --format plain
gradcli grad "F.mse_loss(x @ W.T, t)" --at "x=[[1,2]]" --at "W=[[1,0],[0,1]]" --at "t=[[0,0]]" --wrt W --format plain
