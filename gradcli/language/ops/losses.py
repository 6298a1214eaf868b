"""Losses of training, each an expression of its elements and then a mean, a sum (`reduction='sum'`) or neither.

Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import Default, Kind, Op


def _loss(name: str, doc: str, meaning: str, example: str, *more: str, **fields: object) -> Op:
    """A row whose meaning is that of one element; the reduction follows."""
    statics: dict[str, Default] = {"reduction": "mean"}
    return Op(
        name,
        ("input", "target", *more, "reduction"),
        doc,
        meaning,
        torch=f"nn.functional.{name}",
        kind=Kind.DEFINED,
        statics=statics,
        example=f"{name}(x, t{''.join(f', {parameter}=2' for parameter in more)}) at {example}",
        **fields,  # type: ignore[arg-type]
    )


_STEP, _LEAST = "(input - detach(input))", "9.999999960041972e-13"
_AT = "(-(target*log(detach(input)) + (1 - target)*log(1 - detach(input))))"
_CURVED = f"{_STEP}**2*detach((input**2 - 2*input*target + target)/((input + 1e-12)*(1 - input + 1e-12))**2)/2"
"""Of the binary cross entropy: a step from the point, torch's bound of a denominator, the rest of the value, and the
second derivative by the input."""

ROWS = (
    _loss("mse_loss", "the mean squared error", "(input - target)**2", "x=1,2 t=0,1"),
    _loss("l1_loss", "the mean absolute error", "abs(input - target)", "x=1,2 t=0,1"),
    _loss(
        "smooth_l1_loss",
        "squared where the error is below beta, else absolute",
        "where(abs(input - target) < beta, (input - target)**2/(2*beta), abs(input - target) - beta/2)",
        "x=1,5 t=0,1",
        "beta",
        defaults={"beta": 1},
        numbers=("beta",),
    ),
    _loss(
        "huber_loss",
        "squared where the error is up to delta, else linear",
        "where(abs(input - target) <= delta, (input - target)**2/2, delta*(abs(input - target) - delta/2))",
        "x=1,5 t=0,1",
        "delta",
        defaults={"delta": 1},
        numbers=("delta",),
    ),
    _loss(
        "binary_cross_entropy",
        "the cross entropy of probabilities with targets between 0 and 1",
        "-(target*log(input) + (1 - target)*log(1 - input))",
        "x=0.2,0.7 t=0,1",
        in_floats="-(target*maximum(log(input), -100) + (1 - target)*maximum(log(1 - input), -100))",
        domain="0 < input < 1",
        computed=f"{_AT} + {_STEP}*detach((input - target)/maximum((1 - input)*input, {_LEAST}))"
        f" + {_CURVED} - {_STEP}*(target - detach(target))/detach(maximum((1 - input)*input, 1e-12))",
        computed_along=f"{_AT} + {_STEP}*detach((input - target)/((input + 1e-12)*(1 - input + 1e-12)))"
        f" + {_CURVED} - {_STEP}*(target - detach(target))*detach(1/input + 1/(1 - input))",
        fault="torch divides by input*(1 - input), and by no less than 1e-12 in float32",
        caveat="torch takes the logarithms no lower than -100",
        equal_shapes=("needs a target of input's shape", ""),
    ),
    _loss(
        "binary_cross_entropy_with_logits",
        "the cross entropy of sigmoid(input) with targets between 0 and 1, without overflow",
        "log(1 + exp(input)) - input*target",
        "x=-1,2 t=0,1",
        in_floats="softplus(input) - input*target",
        equal_shapes=("needs a target of input's shape", ""),
    ),
    Op(
        "cross_entropy",
        ("input", "target", "reduction"),
        "the cross entropy of softmax(input) with class probabilities, the classes along dimension 1",
        "-sum(target*log_softmax(input, 1), 1)",
        torch="nn.functional.cross_entropy",
        kind=Kind.DEFINED,
        statics={"reduction": "mean"},
        caveat="targets are probabilities of input's shape; for class numbers write them as rows of eye(n)",
        example="cross_entropy(x, t) at x=[[1,2,3],[3,2,1]] t=[[0,0,1],[1,0,0]]",
        equal_shapes=(
            "takes probabilities of input's shape",
            "the numbers of classes are not read; write them as rows of eye(n)",
        ),
    ),
)
