"""Numbers brought to mean 0 and variance 1, or to length 1, along some dimensions; and dropout after training.

Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Constants, Shapes, read


def _over_last(name: str, constants: Constants, shapes: Shapes) -> str:
    """The dimensions of a layer, which are the last ones.

    Raises:
        ShapeError: The shapes do not end in them.
    """
    given = constants["normalized_shape"]
    wanted = given if isinstance(given, tuple) else (given,)
    for n, shape in enumerate(shapes):
        is_left_out = n > 0 and not shape
        if not is_left_out and (shape[-len(wanted) :] != wanted or (n and shape != wanted)):
            raise ShapeError(f"{name} normalizes over {wanted}, and there is the shape {shape}")
    return str(tuple(range(-len(wanted), 0)))


def _layer_norm(constants: Constants, shapes: Shapes) -> str:
    over = _over_last("layer_norm", constants, shapes[:3]) + ", keepdim=True"
    return f"(input - mean(input, {over}))/sqrt(var(input, {over}, correction=0) + eps)*weight + bias"


def _rms_norm(constants: Constants, shapes: Shapes) -> str:
    over = _over_last("rms_norm", constants, shapes[:2])
    return f"input/sqrt(mean(input**2, {over}, keepdim=True) + eps)*weight"


def _kept(constants: Constants) -> str:
    """Dropout leaves all as it is, but in training, where it is random."""
    if not 0 <= constants["p"] <= 1:
        raise InputError("dropout takes a p from 0 to 1")
    if constants["training"] and constants["p"]:
        raise InputError(
            "dropout in training is random, and has no derivative to check",
            hint="write training=False, as a model has it after model.eval()",
        )
    return "input"


ROWS = read(
    """
== normalization  kind: defined  torch: nn.functional.*  at x=1,2,4 A=[[3,4]]
normalize(input, p=2, dim=1, eps#:1e-12)  divided by the p-norm along a dimension, or by eps where that is less
    = input/maximum(norm(input, p=p, dim=dim, keepdim=True), eps)  e.g. normalize(A)
layer_norm(input, normalized_shape=, weight?:1, bias?:0, eps#:1e-05)
    mean 0 and variance 1 over the last dimensions, times weight, plus bias
    = (input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias  written: _layer_norm
    e.g. layer_norm(x, 3)
rms_norm(input, normalized_shape=, weight?:1, eps#:2.220446049250313e-16)
    divided by the root of the mean square over the last dimensions, times weight
    = input/sqrt(mean(input**2) + eps)*weight  written: _rms_norm
    caveat: torch's eps is the machine epsilon of the dtype where it is left out  e.g. rms_norm(x, 3)
dropout|dropout1d|dropout2d|dropout3d(input, p=0.5, training=True)
    elements or channels are zero at random in training, and the input as it is where training=False  = input
    written: _kept  caveat: in training it is random, and is not read; torch's default is training=True
    e.g. dropout(x, 0.5, training=False)
alpha_dropout|feature_alpha_dropout(input, p=0.5, training=False)
    elements or channels are at random what selu gives far below 0 in training, and else the input as it is  = input
    written: _kept  caveat: in training it is random, and is not read  e.g. alpha_dropout(x)
""",
    globals(),
)
