"""A torch.autograd.Function with a backward() written by hand: is it right, before it goes into a model?"""

from typing import Any

import torch

import gradcli


class ScaledSoftplus(torch.autograd.Function):
    """log(1 + exp(b*x))/b, with a mistake in the derivative by b."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """The value."""
        ctx.save_for_backward(x, b)
        return torch.log(1 + torch.exp(b * x)) / b

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The vector-Jacobian products by x and by b."""
        x, b = ctx.saved_tensors
        s = torch.sigmoid(b * x)
        return v * s, (v * x * s / b).sum()


x = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)
b = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
v = torch.tensor([1.0, 3.0], dtype=torch.float64)
ScaledSoftplus.apply(x, b).backward(gradient=v)

# The numbers that this backward() left in .grad, against the truth at this point.
f = gradcli.Function("log(1 + exp(b*x))/b")
at = {"x": x.detach().numpy(), "b": b.detach().numpy()}
answer = f.check(at, v.numpy(), expect={"x": x.grad.numpy(), "b": b.grad.numpy()})
for claim in answer.claims:
    print(claim.variable, claim.status, "" if claim.truth is None else f"{claim.claimed} is not {claim.truth}")

# The formulas that it is made of, at all points and for every v.
formulas = {"x": "v*sigmoid(b*x)", "b": "sum(v*x*sigmoid(b*x)/b)"}
corrected = {"b": "sum(v*(x*sigmoid(b*x)/b - log(1 + exp(b*x))/b**2))"}
for claims in (formulas, corrected):
    for claim in f.check(at, v.numpy(), claim=claims).claims:
        print(f"{claim.variable}: {claim.text}: {claim.status}{'; ' * bool(claim.mistake)}{claim.mistake}")
