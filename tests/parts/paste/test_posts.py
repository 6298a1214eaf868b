"""Posts: 41 snippets as tutorials and forums have them, pasted, run, and explained, give what torch leaves.

What a snippet gives when Python runs it is `.grad` of its leaves, or what `torch.autograd.grad` returns.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError
from tests.conftest import Command
from tests.parts.paste.pasted import run_by_torch

POSTS = {
    name: text.strip("\n")
    for block in (Path(__file__).parent / "posts.txt").read_text(encoding="utf-8").split("\n#: ")[1:]
    for name, _, text in [block.partition("\n")]
}

CODE = "doubling-loop descent custom-function layer".split()
"""Those that are code: a text of them is not run."""

_PROMPT = re.compile(r"(?m)^(?:>>>|\.\.\.|In \[\d+\]:) ?")


def python(text: str) -> str:
    """The code of a snippet, as one would pick it out by hand."""
    if "```" in text:
        text = text.split("```")[1].removeprefix("python\n")
    if _PROMPT.search(text):
        text = "\n".join(_PROMPT.sub("", line) for line in text.split("\n") if _PROMPT.match(line))
    return re.sub(r"(?m)^(?:tensor\(.*(?:\n[ ]+.*)*|help\(.*)$", "", text)


def left(text: str) -> dict[str, list[float]]:
    """What each leaf has in `.grad` in the end, or what the last derivative is, when torch runs the text."""
    found: list[Any] = []
    original = torch.autograd.grad

    def grad(*given: Any, **options: Any) -> Any:
        found[:] = original(*given, **options)
        return tuple(found)

    torch.autograd.grad = grad
    try:
        space = run_by_torch(python(text))
    finally:
        torch.autograd.grad = original
    names = {id(one): name for name, one in reversed(space.items()) if torch.is_tensor(one) and one.requires_grad}
    if found:
        return {"x": found[0].flatten().tolist()}
    leaves: list[Any] = [one for one in space.values() if torch.is_tensor(one) and one.is_leaf]
    return {names[id(one)]: one.grad.flatten().tolist() for one in leaves if one.grad is not None}


@pytest.mark.parametrize("name", [name for name in POSTS if name not in CODE])
@pytest.mark.one_in(2)
def test_a_pasted_post_gives_what_torch_leaves(name: str) -> None:
    """37 of 41, each number as torch has it."""
    answer: Any = Function(POSTS[name]).ask("vjp", {"check": False})
    last = answer.answers[-1] if hasattr(answer, "answers") else answer
    found = getattr(last, "accumulated", None) or last.vjp
    expected = left(POSTS[name])
    assert found.keys() == expected.keys()
    for leaf, numbers in expected.items():
        np.testing.assert_allclose(np.ravel(found[leaf]), numbers, rtol=1e-6, err_msg=leaf)


@pytest.mark.parametrize("name", CODE)
def test_a_post_that_is_code_says_what_runs_it(name: str) -> None:
    """It is not run, and not misread."""
    with pytest.raises(GradcliError) as raised:
        Function(POSTS[name]).ask("vjp", {"check": False})
    assert "gradcli run" in str(raised.value), raised.value


FEW = ("first-example", "cells", "intermediate-and-loss")
"""Those that are run and explained by each run of the tests."""


def _cases(without: tuple[str, ...] = ()) -> list[Any]:
    names = [name for name in POSTS if name not in without]
    return [pytest.param(name, marks=() if name in FEW else pytest.mark.thorough) for name in names]


@pytest.fixture
def script(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A post, saved as it stands."""
    path = tmp_path / "post.py"
    path.write_text(POSTS[request.param] + "\n", encoding="utf-8")
    return path


@pytest.mark.part("running")
@pytest.mark.parametrize("script", _cases(), indirect=True)
def test_a_saved_post_is_run(script: Path, gradcli: Command) -> None:
    """All 41, those with prompts and those without an import too."""
    result = gradcli("run", str(script))
    assert (result.code, "torch refuses" in result.err) == (0, False), result.err
    assert "Traceback" not in result.err


@pytest.mark.part("running", "explain")
@pytest.mark.parametrize("script", _cases(), indirect=True)
def test_a_saved_post_is_explained(script: Path, gradcli: Command) -> None:
    """By its last backward pass."""
    result = gradcli("explain", str(script))
    assert result.code == 0, result.err
    assert "backward" in result.out
