"""Layers of sequences, normalization, and dropout after training.

Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Kind, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes

# -- sequences


def _attended(constants: Constants) -> str:
    """Write causal attention: its weights are exp of the scores, zeros above the diagonal, divided by their sum."""
    if constants["dropout_p"]:
        raise InputError("dropout is random, and has no derivative to check", hint="leave dropout_p out")
    scale = "/sqrt(count(query, -1))" if constants["scale"] is None else f"*{constants['scale']!r}"
    scores = f"query @ transpose(key, -2, -1){scale} + attn_mask"
    if constants["is_causal"]:
        return f"e = tril(exp({scores})); (e/sum(e, -1, keepdim=True)) @ value"
    return f"softmax({scores}, -1) @ value"


def _embedded(constants: Constants, shapes: Shapes) -> str:
    if len(shapes[1]) != 2:
        raise ShapeError(f"embedding takes a matrix of a row for each index, and weight has the shape {shapes[1]}")
    rows, padding = shapes[1][0], constants["padding_idx"]
    weight = "weight"
    if padding is not None:
        if not -rows <= padding < rows:
            raise ShapeError(f"embedding takes a padding_idx from {-rows} to {rows - 1}, and not {padding}")
        weight = f"where(arange({rows})[:, None] == {padding % rows}, detach(weight), weight)"
    return f"elements_at({weight}, input, 0)"


# -- normalization


def _over_last(name: str, constants: Constants, shapes: Shapes) -> str:
    """Return the dimensions of a layer, which are the last ones.

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
    """Write dropout, which changes nothing except in training, where it is random."""
    if not 0 <= constants["p"] <= 1:
        raise InputError("dropout takes a p from 0 to 1")
    if constants["training"] and constants["p"]:
        raise InputError(
            "dropout in training is random, and has no derivative to check",
            hint="write training=False, as a model has it after model.eval()",
        )
    return "input"


# -- the rows

SEQUENCES: tuple[Op, ...] = (
    Op(
        "scaled_dot_product_attention",
        (
            "query",
            "key",
            "value",
            Operand("attn_mask", default=0, tensor_or_none=True),
            Constant("dropout_p", 0),
            Constant("is_causal", False),
            Constant("scale", None),
        ),
        "attention: the rows of value weighed by softmax(query @ key.T/sqrt(size))",
        kind=Kind.DEFINED,
        meaning="softmax(query @ transpose(key, -2, -1)/sqrt(count(query, -1)) + attn_mask, -1) @ value",
        written=_attended,
        torch="nn.functional.scaled_dot_product_attention",
        caveat="attn_mask is added to the scores; where one of truth values is false, the score is -inf",
        example="scaled_dot_product_attention(q, k, v)",
        at={"q": "[[1,2]]", "k": "[[1,0],[0,1]]", "v": "[[1,2],[3,4]]"},
    ),
    Op(
        "embedding",
        (Operand("input", whole_number=True), "weight", Constant("padding_idx", None)),
        "the rows of a matrix that whole numbers name",
        kind=Kind.DEFINED,
        meaning="weight[input]",
        written=_embedded,
        torch="nn.functional.embedding",
        caveat="the row padding_idx has no derivative",
        example="embedding(i, w)",
        at={"i": "1,0,1", "w": "[[1,2],[3,4]]"},
    ),
)

NORMALIZATION: tuple[Op, ...] = (
    Op(
        "normalize",
        ("input", Constant("p", 2), Constant("dim", 1), Operand("eps", default=1e-12, number_only=True)),
        "divided by the p-norm along a dimension, or by eps where that is less",
        kind=Kind.DEFINED,
        meaning="input/maximum(norm(input, p=p, dim=dim, keepdim=True), eps)",
        torch="nn.functional.normalize",
        example="normalize(A)",
        at={"A": "[[3,4]]"},
    ),
    Op(
        "layer_norm",
        (
            "input",
            Constant("normalized_shape"),
            Operand("weight", default=1, tensor_or_none=True),
            Operand("bias", default=0, tensor_or_none=True),
            Operand("eps", default=1e-05, number_only=True),
        ),
        "mean 0 and variance 1 over the last dimensions, times weight, plus bias",
        kind=Kind.DEFINED,
        meaning="(input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias",
        written=_layer_norm,
        torch="nn.functional.layer_norm",
        example="layer_norm(x, 3)",
        at={"x": "1,2,4"},
    ),
    Op(
        "rms_norm",
        (
            "input",
            Constant("normalized_shape"),
            Operand("weight", default=1, tensor_or_none=True),
            Operand("eps", default=2.220446049250313e-16, number_only=True),
        ),
        "divided by the root of the mean square over the last dimensions, times weight",
        kind=Kind.DEFINED,
        meaning="input/sqrt(mean(input**2) + eps)*weight",
        written=_rms_norm,
        torch="nn.functional.rms_norm",
        caveat="torch's eps is the machine epsilon of the dtype where it is left out",
        example="rms_norm(x, 3)",
        at={"x": "1,2,4"},
    ),
    Op(
        "dropout",
        ("input", Constant("p", 0.5), Constant("training", True)),
        "elements or channels are zero at random in training, and the input as it is where training=False",
        aliases=("dropout1d", "dropout2d", "dropout3d"),
        kind=Kind.DEFINED,
        meaning="input",
        written=_kept,
        torch="nn.functional.dropout",
        caveat="in training it is random, and is not read; torch's default is training=True",
        example="dropout(x, 0.5, training=False)",
        at={"x": "1,2,4"},
    ),
    Op(
        "alpha_dropout",
        ("input", Constant("p", 0.5), Constant("training", False)),
        ("elements or channels are at random what selu gives far below 0 in training, and else the input as it is"),
        aliases=("feature_alpha_dropout",),
        kind=Kind.DEFINED,
        meaning="input",
        written=_kept,
        torch="nn.functional.alpha_dropout",
        caveat="in training it is random, and is not read",
        example="alpha_dropout(x)",
        at={"x": "1,2,4"},
    ),
)
