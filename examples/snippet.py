"""The question that started it all: what does the argument of backward() do to a.grad, b.grad and c.grad?

`gradcli vjp @examples/snippet.py` reads this file as it stands, and answers with the Jacobian and the formulas.
"""

import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True, dtype=torch.float64)
b = torch.tensor([3.0, 4.0, 5.0], requires_grad=True, dtype=torch.float64)
c = torch.tensor([6.0, 7.0, 8.0], requires_grad=True, dtype=torch.float64)

y = 3 * a + 2 * b * b + torch.log(c)
gradients = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float64)
y.backward(gradients)

print(a.grad, b.grad, c.grad, sep="\n")
