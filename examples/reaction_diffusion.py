"""Reaction and diffusion on a grid by an implicit method: solve_ivp takes the pattern, and the Jacobian itself.

`python examples/reaction_diffusion.py 32` has 2·32² unknowns.  On 1024², with two million of them, SciPy's factors of
the matrix take more than 6 GiB.  From 256² on this script therefore solves with the matrix itself, by iterations whose
memory is a few vectors: all of it stays under 2 GiB on 1024².
"""

import sys

import numpy as np
from scipy.integrate import BDF, solve_ivp
from scipy.sparse.linalg import bicgstab

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
del answer  # with its matrix, which takes 0.2 GiB on 1024²


def slope(t, z):
    """Return dz/dt."""
    return brusselator(z, check=False).value


def jacobian(t, z):
    """Return its Jacobian, sparse."""
    return brusselator.jacobian(z, sparse=True, check=False).jacobian["z"]


class WithoutFactors(BDF):
    """The method BDF, whose linear systems are solved by iterations with the matrix, and not by its factors."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.lu = lambda matrix: matrix
        self.solve_lu = lambda matrix, b: bicgstab(matrix, b, rtol=1e-6)[0]


ways = {}
if size < 256:
    ways["by differences"] = {"method": BDF, "jac_sparsity": found.jacobian["z"]}
    ways["exactly"] = {"method": BDF, "jac": jacobian}
ways["without factors"] = {"method": WithoutFactors, "jac": jacobian}
del found
for name, way in ways.items():
    solved = solve_ivp(slope, (0, 1), z, t_eval=[1], **way)
    print(f"{name}: {solved.y[:, -1].mean():.4f} at t = 1, {solved.njev} Jacobians")
