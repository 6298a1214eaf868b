"""Three steps of gradient descent; `gradcli run examples/steps.py` answers each backward pass."""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
target = torch.tensor([1.0, 0.0])
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)

for _ in range(3):
    optimizer.zero_grad()
    loss = ((x @ w - target) ** 2).sum()
    loss.backward()
    optimizer.step()

print(w.tolist())
