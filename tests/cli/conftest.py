"""The files that command lines of the tests name."""

from pathlib import Path

import numpy as np
import pytest

MODEL = Path(__file__).parent.parent / "parts" / "running" / "model.py"


@pytest.fixture
def filled(folder: Path) -> Path:
    """The current directory, with values, formulas, code, and files of rows."""
    np.save("x.npy", [1.0, 2.0])
    np.savez("both.npz", x=[1.0, 2.0], v=[1.0, 10.0])
    for name in ("empty", "both", "folder.csv"):
        (folder / name).mkdir()
    texts = {"table.csv": "x,v\n1,1\n2,10", "f.txt": "y = x**2\nsum(y)", "loss.txt": "sum(y**2)", "square.txt": "x**2"}
    texts |= {"rows.csv": "x\n1", "both/a.csv": "x\n1", "both/b.tsv": "x\n1", "claim.txt": "2*x", "six.txt": "6"}
    texts |= {"pts.csv": "x\n1\n2", "fn.py": "def loss(x):\n    return (x**2).sum()"}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    (folder / "model.py").symlink_to(MODEL)
    return folder
