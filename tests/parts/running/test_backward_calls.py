"""The calls of the user's own backward that make NaN, named in findings and in the passes of a script."""

from pathlib import Path

import pytest

from tests.conftest import Command
from tests.parts.running.test_watched_scripts import SINC, START, X


@pytest.mark.parametrize("forward", ["torch.sin(x)/x", "torch.sin(x)/torch.where(x == 0, 1.0, x)"])
def test_a_backward_of_its_own_is_the_cause_and_no_form_of_its_forward_is_better(
    forward: str, folder: Path, gradcli: Command
) -> None:
    """Torch differentiates no line of that forward, whether it is guarded or not."""
    text = (
        START + SINC.replace("torch.sin(x)/x)", f"{forward})", 1) + X[len(START) :] + "Sinc.apply(x).sum().backward()\n"
    )
    (folder / "own.py").write_text(text, encoding="utf-8")
    run = gradcli("run", "own.py")
    assert "torch gives nan: NaN begins in div, in Sinc.backward (own.py, line 12)" in run.out
    assert "better:" not in run.out
