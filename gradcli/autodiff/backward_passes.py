"""Backward passes as torch runs them: what `.grad` holds after each, what `retain_grad()` keeps, what is refused.

Every number here was in a `.grad`; nothing is added up by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import (
    Forward,
    Tensor,
    array_of,
    backward_error,
    evaluate,
    leaves_of,
    output_of,
    tensor_of,
    unshared,
)
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets.gradients import Replay

Array = npt.NDArray[Any]

_SECOND_TIME = "second time"
"""What torch says of a graph whose intermediate values are gone, and of nothing else."""


def accumulated(
    forward: Forward,
    vs: Sequence[Array],
    wrt: tuple[str, ...],
    steps: Sequence[tuple[Sequence[str], bool]] = (),
) -> tuple[list[dict[str, Array]], tuple[str, ...]]:
    """What the variables' `.grad` hold after each of several passes `y.backward(gradient=v, retain_graph=True)`.

    Each has memory of its own here.  After a first pass torch may let them share it, as those of a and b in
    `stack([a, b]).sum(0)` do, and then adds every later pass to all of them.

    Args:
        forward: The evaluated Program.
        vs: The gradient vectors, of y's shape.
        wrt: The variables; each result has their shapes, with zeros where y does not depend on one.
        steps: For each pass the variables whose `.grad` is set to zero before it, and whether it adds to `.grad`, as
            `torch.autograd.grad` does not; all add up by default.

    Returns:
        An array per variable after each pass, and the variables whose `.grad` shared memory after the first.

    Raises:
        InputError: What torch refuses.

    >>> import numpy as np
    >>> from gradcli.autodiff.run import run
    >>> from gradcli.language.parsing import parse
    >>> forward = run(parse("x**2"), {"x": np.array([1.0, 2.0])}, ("x",), "float64")
    >>> [held["x"].tolist() for held in accumulated(forward, [np.ones(2)] * 2, ("x",))[0]]
    [[2.0, 4.0], [4.0, 8.0]]
    >>> at = {"a": np.ones(2), "b": np.ones(2)}
    >>> for text in ("a + b", "sum([a, b], dim=0)"):
    ...     accumulated(run(parse(text), at, ("a", "b"), "float64"), [np.ones(2)], ("a", "b"))[1]
    ()
    ('a', 'b')
    """
    leaves = {name: forward.leaves[name] for name in wrt}
    _forget(leaves.values())
    found: list[dict[str, Array]] = []
    sharing: tuple[str, ...] = ()
    for v, (zeroed, adds) in zip(vs, steps or [((), True)] * len(vs), strict=True):
        _forget(leaves[name] for name in zeroed if name in leaves)
        if adds:
            _backward(forward.output, v)
            # Asked before the clones below give each its own memory.
            sharing = sharing if found else _sharing(leaves)
        for leaf in leaves.values():
            # Memory of its own, as torch lets several leaves share one `.grad` buffer and then adds in place.
            leaf.grad = None if leaf.grad is None else leaf.grad.clone(memory_format=torch.contiguous_format)
        found.append({name: _held(leaf) for name, leaf in leaves.items()})
    _forget(leaves.values())
    return found, sharing


def _sharing(leaves: Mapping[str, Tensor]) -> tuple[str, ...]:
    """The variables whose `.grad` share memory with that of another."""
    grads = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None and leaf.grad.numel()}
    places = {name: grad.untyped_storage().data_ptr() for name, grad in grads.items()}
    counts = Counter(places.values())
    return tuple(name for name, place in places.items() if counts[place] > 1)


def retained(
    program: Program,
    inputs: Mapping[str, Array],
    wrt: tuple[str, ...],
    dtype: str,
    wanted: Mapping[str, Atom],
    vs: Sequence[Array],
) -> tuple[dict[str, Array], list[dict[str, Array]]]:
    """The values of some intermediates, and the `.grad` that `retain_grad()` makes them keep, for each v alone.

    Args:
        program: What to run; what it computes twice is computed twice.
        inputs: An array per variable.
        wrt: The variables that require a gradient.
        dtype: `float64` or `float32`.
        wanted: The intermediates by name: lines or variables.
        vs: The gradient vectors, of y's shape.

    Returns:
        The values by name, and per v the gradients of those that have one: that depend on a variable of `wrt`.

    Raises:
        InputError: What torch refuses.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> program = parse("y = x**2; z = y**3")
    >>> y = {"y": program.lines[0].symbol}
    >>> values, gradients = retained(program, {"x": np.array([1.0, 2.0])}, ("x",), "float64", y, [np.ones(2)])
    >>> values["y"].tolist(), gradients[0]["y"].tolist()
    ([1.0, 4.0], [3.0, 48.0])
    """
    ran = unshared(program)
    tensors = evaluate(ran.program, leaves_of(ran.program, inputs, wrt, dtype), dtype)
    y = output_of(ran.program, tensors, dtype)
    shown = {name: tensors[ran.renamed.get(atom, atom)] for name, atom in wanted.items()}
    kept = {name: tensor for name, tensor in shown.items() if tensor.requires_grad}
    for tensor in kept.values():
        tensor.retain_grad()
    found = []
    for v in vs:
        _forget(kept.values())
        _backward(y, v)
        found.append({name: _held(tensor) for name, tensor in kept.items()})
    kind = getattr(torch, dtype)
    return {name: array_of(tensor.to(kind)) for name, tensor in shown.items()}, found


def refused(replay: Replay, inputs: Mapping[str, Array], dtype: str) -> int | None:
    """The number of the pass that torch refuses as a pass before it freed the graph; None if all of them run.

    Args:
        replay: The passes of a snippet.
        inputs: An array per variable.
        dtype: `float64` or `float32`.

    Raises:
        InputError: What torch refuses in the forward pass.

    >>> import numpy as np
    >>> from gradcli.language.snippets import read
    >>> text = "x = torch.tensor(2., requires_grad=True); y = {}; y.backward(); y.backward()"
    >>> [refused(read(text.format(y)).frees_graph, {"x": np.array(2.0)}, "float64") for y in ("x**2", "x + 1")]
    [1, None]
    """
    ran = unshared(replay.program)
    leaves = leaves_of(ran.program, inputs, replay.requires, dtype)
    tensors = evaluate(ran.program, leaves, dtype)
    for number, one in enumerate(replay.passes):
        y = tensors.get(ran.renamed.get(one.output, one.output))
        if y is None or not y.requires_grad:
            continue
        only = [leaves[name] for name in one.inputs if name in leaves and leaves[name].requires_grad]
        try:
            if only:
                torch.autograd.grad(y, only, torch.ones_like(y), retain_graph=one.keeps_graph, allow_unused=True)
            else:
                y.backward(torch.ones_like(y), retain_graph=one.keeps_graph)
        except RuntimeError as error:
            if _SECOND_TIME in str(error):
                return number
            raise backward_error(error) from None
    return None


def _backward(y: Tensor, v: Array) -> None:
    if not y.requires_grad:
        return
    try:
        y.backward(gradient=tensor_of(v, y.dtype), retain_graph=True)
    except RuntimeError as error:
        raise backward_error(error) from None


def _forget(tensors: Any) -> None:
    for tensor in tensors:
        tensor.grad = None


def _held(tensor: Tensor) -> Array:
    """The `.grad`; zeros where nothing flowed back to."""
    return array_of(torch.zeros_like(tensor) if tensor.grad is None else tensor.grad)
