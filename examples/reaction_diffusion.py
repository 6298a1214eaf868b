"""Reaction and diffusion on a grid by an implicit method: solve_ivp takes the pattern, and the Jacobian itself.

`python examples/reaction_diffusion.py 32` has 2·32² unknowns.  On 1024² the pattern takes a few seconds;
SciPy's factors of the matrix, which each step solves with, take more than 6 GiB there.
"""

import sys

import numpy as np
from scipy.integrate import solve_ivp

from gradcli import Function

size = int(sys.argv[1]) if len(sys.argv) > 1 else 8
brusselator = Function(
    f"w = z.view(2, {size}, {size}); u = w[0]; v = w[1]; p = pad(w, [1, 1, 1, 1]); "
    "d = p[:, 2:, 1:-1] + p[:, :-2, 1:-1] + p[:, 1:-1, 2:] + p[:, 1:-1, :-2] - 4*w; "
    "stack([1 + u**2*v - 4*u, 3*u - u**2*v]).view(-1) + 0.02*d.view(-1)"
)
z = np.random.default_rng(0).uniform(0.5, 2, 2 * size**2)

found = brusselator.jacobian(z, pattern=True)
print(f"{found.sparsity.entries:,} of {z.size**2:,} entries, bandwidth {found.sparsity.bandwidth}")
answer = brusselator.jacobian(z, sparse=True)
print(f"{answer.sparsity.products} products, {answer.check.verdict}", "proven" * answer.check.proven)


def slope(t, z):
    """Return dz/dt."""
    return brusselator(z, check=False).value


def jacobian(t, z):
    """Return its Jacobian, sparse."""
    return brusselator.jacobian(z, sparse=True, check=False).jacobian["z"]


for name, how in {"by differences": {"jac_sparsity": found.jacobian["z"]}, "exactly": {"jac": jacobian}}.items():
    solved = solve_ivp(slope, (0, 1), z, method="BDF", **how)
    print(f"{name}: {solved.y[:, -1].mean():.4f} at t = 1, {solved.njev} Jacobians")
