"""A hand-derived gradient, verified: least squares has the gradient 2*A.T@(A@x - b)."""

import numpy as np

import gradcli

generator = np.random.default_rng(0)
A, x, b = generator.normal(size=(5, 3)), generator.normal(size=3), generator.normal(size=5)

answer = gradcli.Function("sum((A@x - b)**2)").grad({"A": A, "x": x, "b": b}, wrt=["x"])
by_hand = 2 * A.T @ (A @ x - b)

print("by hand and by torch agree:", np.allclose(answer.grad["x"], by_hand, rtol=1e-14))
print("the formula:", answer.symbolic["x"].text)
print("the verdict:", answer.check.verdict if answer.check else "none")
