"""Newton's method for Broyden's tridiagonal function of 100,000 variables: ten lines, each Jacobian proved."""

import numpy as np
from scipy.sparse.linalg import spsolve

from gradcli import Function

broyden = Function("(3 - 2*x)*x - pad(x, [1, 0])[:-1] - 2*pad(x, [0, 1])[1:] + 1")
x = -np.ones(100_000)
for step in range(1, 5):
    answer = broyden.jacobian(x, sparse=True)
    x -= spsolve(answer.jacobian["x"], answer.value)
    print(step, f"{abs(answer.value).max():.1e}", answer.check.verdict, "proven" * answer.check.proven)
