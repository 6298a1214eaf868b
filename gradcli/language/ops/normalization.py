"""Numbers brought to mean 0 and variance 1, or to length 1, along some dimensions; and dropout after training.

Every norm is (x - mean(x))/sqrt(var(x) + eps), over other dimensions: those of the layer, of a group of channels, of
one channel of one sample, or of one channel of all samples, through whose mean and variance batch_norm in training is
differentiated as well.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from typing import Any

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.convolutions import Constants, padded, shaped
from gradcli.language.ops.row import Kind, Op, Shapes, row


def _norm(signature: str, doc: str, meaning: str, example: str, **facts: Any) -> Op:
    name = signature.partition("(")[0]
    return row(
        signature, doc, meaning, **{"torch": f"nn.functional.{name}", "kind": Kind.DEFINED, "example": example, **facts}
    )


def _centred(x: str, dims: str) -> str:
    return f"({x} - mean({x}, {dims}, keepdim=True))/sqrt(var({x}, {dims}, correction=0, keepdim=True) + eps)"


def _dims(dims: range) -> str:
    return f"({', '.join(map(str, dims))},)"


def _channel(name: str, rank: int) -> str:
    """A vector along the dimension of the channels."""
    return f"{name}[{', '.join([':', *['None'] * (rank - 2)])}]" if rank > 2 else name


def _scaled(text: str, shapes: Shapes, rank: int | None) -> str:
    """Times the weight and plus the bias: of the channels, or of each element where `rank` is None."""
    weight, bias = shapes if shapes else ((1,), (1,))
    for name, sign, shape in (("weight", "*", weight), ("bias", " + ", bias)):
        if shape:
            text = f"{text}{sign}{name if rank is None else _channel(name, rank)}"
    return text


def _layers(constants: Constants) -> tuple[int, ...]:
    given = constants["normalized_shape"]
    return given if isinstance(given, tuple) else (given,)


def _require_layer(name: str, constants: Constants, shapes: Shapes) -> None:
    wanted = _layers(constants)
    if not shapes:
        return
    if shapes[0][-len(wanted) :] != wanted or not wanted:
        raise ShapeError(f"{name} normalizes over {wanted}, and the shape {shapes[0]} does not end in that")
    for shape in shapes[1:]:
        if shape not in ((), wanted):
            raise ShapeError(f"{name} takes a weight and a bias of the shape {wanted}, and not {shape}")


def _layer_norm(constants: Constants, shapes: Shapes) -> str:
    _require_layer("layer_norm", constants, shapes[:3])
    dims = _dims(range(-len(_layers(constants)), 0))
    return _scaled(_centred("input", dims), shapes[1:3], None)


def _rms_norm(constants: Constants, shapes: Shapes) -> str:
    _require_layer("rms_norm", constants, shapes[:2])
    dims = _dims(range(-len(_layers(constants)), 0))
    return f"input/sqrt(mean(input**2, {dims}, keepdim=True) + eps)*weight"


def _require_channels(name: str, shapes: Shapes, parameters: Shapes, *, least: int) -> None:
    if len(shapes[0]) < least:
        raise ShapeError(f"{name} takes (samples, channels, ...), and the shape is {shapes[0]}")
    wanted = (shapes[0][1],)
    for shape in parameters:
        if shape not in ((), wanted):
            raise ShapeError(f"{name} takes a number for each of the {wanted[0]} channels, and the shape is {shape}")


def _group_norm(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, groups = shapes[0], constants["num_groups"]
    _require_channels("group_norm", shapes, shapes[1:3], least=2)
    if groups < 1 or x[1] % groups:
        raise ShapeError(f"group_norm parts the channels in {groups} groups of one size, and there are {x[1]}")
    dims = _dims(range(2, len(x) + 1))
    text = f"a = {shaped('input', (x[0], groups, x[1] // groups, *x[2:]))}; a = {_centred('a', dims)}; "
    return text + _scaled(shaped("a", x), shapes[1:3], len(x))


def _batch_norm(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x = shapes[0]
    _require_channels("batch_norm", shapes, shapes[1:5], least=2)
    if constants["training"]:
        text = _centred("input", f"(0, {', '.join(map(str, range(2, len(x))))})" if len(x) > 2 else "(0,)")
    else:
        text = _tracked(shapes, len(x))
    return _scaled(text, shapes[3:5], len(x))


def _batch_norm_as_computed(constants: Constants, shapes: Shapes) -> str:
    """With running averages, one product and one sum for each element: the input less the mean is nowhere."""
    if not shapes or constants["training"]:
        return ""
    rank = len(shapes[0])
    mean, var, weight, bias = (
        _channel(name, rank) if shape else name
        for name, shape in zip(("running_mean", "running_var", "weight", "bias"), shapes[1:5], strict=True)
    )
    return f"a = {weight}/sqrt({var} + eps); input*a + ({bias} - {mean}*a)"


def _tracked(shapes: Shapes, rank: int) -> str:
    mean = _channel("running_mean", rank) if shapes[1] else "running_mean"
    var = _channel("running_var", rank) if shapes[2] else "running_var"
    return f"(input - {mean})/sqrt({var} + eps)"


def _instance_norm(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x = shapes[0]
    _require_channels("instance_norm", shapes, shapes[1:5], least=3)
    text = _centred("input", _dims(range(2, len(x)))) if constants["use_input_stats"] else _tracked(shapes, len(x))
    return _scaled(text, shapes[3:5], len(x))


def _response(constants: Constants, shapes: Shapes) -> str:
    """Divided by a power of a mean over neighbouring channels."""
    if not shapes:
        return ""
    x, size = shapes[0], constants["size"]
    if len(x) < 3 or size < 1:
        raise ShapeError(f"local_response_norm takes (samples, channels, ...) of 3 dimensions or more, and not {x}")
    around = [(size // 2, (size - 1) // 2), *[(0, 0)] * (len(x) - 2)]
    squares = padded("input**2", around)
    return f"input/(alpha*mean(windows({squares}, 1, {size}), -1) + k)**beta"


def _kept(constants: Constants, _: Shapes) -> str:
    """Dropout leaves all as it is, but in training, where it is random."""
    if not 0 <= constants["p"] <= 1:
        raise InputError("dropout takes a p from 0 to 1")
    if constants["training"] and constants["p"]:
        raise InputError(
            "dropout in training is random, and has no derivative to check",
            hint="write training=False, as a model has it after model.eval()",
        )
    return "input"


def _require_rows(shapes: Shapes) -> str:
    return "" if len(shapes[0]) in (2, 3) else "channels of a line, (channels, length) with samples before them or not"


def _dropout(name: str, training: str, what: str) -> Op:
    x = {"1": "[[1,2]]", "2": "[[[1,2]]]", "3": "[[[[1,2]]]]"}.get(name[-2:-1], "[[1,2]]")
    return _norm(
        f"{name}(input, p=0.5, training={training})",
        f"{what} in training, and the input as it is where training=False, which alone is read",
        "input",
        f"{name}(x, 0.5, training=False) at x={x}",
        written=_kept,
        needs=_require_rows if name == "dropout1d" else None,
        caveat="in training it is random" + "; torch's default is training=True" * (training == "True"),
    )


_AFFINE = {
    "defaults": {"weight": 1, "bias": 0, "eps": 1e-5},
    "optional": ("weight", "bias"),
    "numbers": ("eps",),
    "of_shapes": True,
}
_TRACKED = {
    **_AFFINE,
    "defaults": {"running_mean": 0, "running_var": 1, "weight": 1, "bias": 0, "eps": 1e-5},
    "optional": ("running_mean", "running_var", "weight", "bias"),
    "undifferentiated": ("running_mean", "running_var"),
    "buffers": ("running_mean", "running_var"),
}

NORMALIZATION = (
    _norm(
        "normalize(input, p=2, dim=1, eps)",
        "divided by the p-norm along a dimension, or by eps where that is less",
        "input/maximum(norm(input, p=p, dim=dim, keepdim=True), eps)",
        "normalize(x) at x=[[3,4]]",
        defaults={"eps": 1e-12},
        numbers=("eps",),
    ),
    _norm(
        "layer_norm(input, normalized_shape=, weight, bias, eps)",
        "mean 0 and variance 1 over the last dimensions, times weight, plus bias",
        "(input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias",
        "layer_norm(x, 3) at x=1,2,4",
        written=_layer_norm,
        **_AFFINE,
    ),
    _norm(
        "rms_norm(input, normalized_shape=, weight, eps)",
        "divided by the root of the mean square over the last dimensions, times weight",
        "input/sqrt(mean(input**2) + eps)*weight",
        "rms_norm(x, 3) at x=1,2,4",
        written=_rms_norm,
        of_shapes=True,
        defaults={"weight": 1, "eps": 2.0**-52},
        optional=("weight",),
        numbers=("eps",),
        caveat="torch's eps is the machine epsilon of the dtype where it is left out",
    ),
    _norm(
        "group_norm(input, num_groups=, weight, bias, eps)",
        "mean 0 and variance 1 over each group of channels of each sample, times weight, plus bias, by channel",
        "(input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias",
        "group_norm(x, 1) at x=[[1,2,4,8]]",
        written=_group_norm,
        **_AFFINE,
    ),
    _norm(
        "batch_norm(input, running_mean, running_var, weight, bias, training=False, momentum=0.1, eps)",
        "mean 0 and variance 1 over each channel of all samples, by running averages, or in training by its own",
        "(input - running_mean)/sqrt(running_var + eps)*weight + bias",
        "batch_norm(x, m, v) at x=[[1,2],[3,5]] m=1,2 v=0.5,2",
        written=_batch_norm,
        written_as_computed=_batch_norm_as_computed,
        **_TRACKED,
    ),
    _norm(
        "instance_norm(input, running_mean, running_var, weight, bias, use_input_stats=True, momentum=0.1, eps)",
        "mean 0 and variance 1 over each channel of each sample, times weight, plus bias",
        "(input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias",
        "instance_norm(x) at x=[[[1,2,5],[3,6,1]]]",
        written=_instance_norm,
        **_TRACKED,
    ),
    _norm(
        "local_response_norm(input, size=, alpha, beta, k)",
        "divided by a power of the mean square of size neighbouring channels",
        "input/(k + alpha*mean(input**2))**beta",
        "local_response_norm(x, 2) at x=[[[1,2],[3,4]]]",
        written=_response,
        of_shapes=True,
        defaults={"alpha": 1e-4, "beta": 0.75, "k": 1},
        numbers=("alpha", "beta", "k"),
    ),
    _dropout("dropout", "True", "elements are zero at random"),
    _dropout("dropout1d", "True", "channels are zero at random"),
    _dropout("dropout2d", "True", "channels are zero at random"),
    _dropout("dropout3d", "True", "channels are zero at random"),
    _dropout("alpha_dropout", "False", "elements are at random what selu gives far below 0"),
    _dropout("feature_alpha_dropout", "False", "channels are at random what selu gives far below 0"),
)
