#!/bin/sh
# Newton's method for Broyden's tridiagonal function of 10,000 variables, in files: -o J.npz is what scipy.sparse reads.
set -eu

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
f="(3 - 2*x)*x - pad(x, [1, 0])[:-1] - 2*pad(x, [0, 1])[1:] + 1"
python3 -c "import numpy; numpy.save('$folder/x.npy', -numpy.ones(10_000))"
for step in 1 2 3; do
    gradcli jacobian "$f" --at @"$folder/x.npy" --sparse --strict -o "$folder/J.npz"
    gradcli eval "$f" --at @"$folder/x.npy" --no-check -o "$folder/y.npy"
    python3 - "$folder" "$step" <<'END'
import sys

import numpy as np
from scipy import sparse

folder, step = sys.argv[1:]
x, y = (np.load(f"{folder}/{name}.npy") for name in "xy")
np.save(f"{folder}/x.npy", x - sparse.linalg.spsolve(sparse.load_npz(f"{folder}/J.npz"), y))
print(f"{step}: {abs(y).max():.1e}")
END
done
