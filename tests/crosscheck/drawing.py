"""Random questions for `adversary`: functions of `trees`, and points where verdicts go wrong."""

from __future__ import annotations

import math
import random
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.crosscheck import crossings
from tests.crosscheck import one_sided as s
from tests.crosscheck.one_sided import number
from tests.crosscheck.trees import (
    CANCELLING,
    EDGES,
    JOINS,
    KINKS,
    REDUCTIONS,
    REMOVABLE,
    SMOOTH,
    Tree,
    call,
    choosing,
    constant,
    larger,
    largest,
    leaf,
    reduced,
    smaller,
    where,
)

Random = random.Random


@dataclass(frozen=True)
class Question:
    """What is asked of gradcli.

    Attributes:
        kind: What it tries.
        command: The method of `Function`.
        tree: The function.
        at: A number or a list of them per variable.
        dtype: Of torch.
        v: The gradient vector of `vjp`.
        u: The direction of `jvp`.
        elements: Of an elementwise function of a long vector, the function of one element.
        piecewise: Of a piecewise polynomial, the function of two infinitesimals.
    """

    kind: str
    command: str
    tree: Tree
    at: Mapping[str, Any]
    dtype: str = "float64"
    v: list[float] = field(default_factory=list)
    u: Mapping[str, float] = field(default_factory=dict)
    elements: Tree | None = None
    piecewise: crossings.Piecewise | None = None

    @property
    def text(self) -> str:
        return self.tree.text

    @property
    def wrt(self) -> tuple[str, ...]:
        return tuple(self.at)

    @property
    def cotangent(self) -> Any:
        """The gradient vector of the shape that y has."""
        is_vector = self.elements or self.tree.text.startswith(("softmax", "log_softmax", "cumsum"))
        return self.v if is_vector else self.v[0]

    def of_element(self, index: int) -> Question:
        return replace(self, at={name: float(value[index]) for name, value in self.at.items()})

    def command_line(self) -> str:
        """What to type."""
        kind: Any = np.float32 if self.dtype == "float32" else np.float64

        def value(one: Any) -> str:
            if not np.ndim(one):
                return str(kind(one)).removesuffix(".0")
            return ",".join(value(each) for each in one) if len(one) > 1 else f"[{value(one[0])}]"

        words = ["gradcli", self.command, self.text]
        for name, one in self.at.items():
            words += ["--at", f"{name}={value(one)}"]
        if self.command == "vjp":
            words += ["--v", value(self.cotangent)]
        if self.command == "jvp":
            for name, one in self.u.items():
                words += ["--u", f"{name}={value(one)}"]
        if self.dtype != "float64":
            words += ["--dtype", self.dtype]
        return shlex.join(words)


def smooth(r: Random, leaves: list[Tree], depth: int) -> Tree:
    if depth == 0:
        return r.choice(leaves)
    if r.random() < 0.5:
        return r.choice(SMOOTH)(smooth(r, leaves, depth - 1))
    return r.choice(JOINS)(smooth(r, leaves, depth - 1), smooth(r, leaves, r.randrange(depth)))


def _ordinary(r: Random) -> float:
    return round(r.uniform(-3, 3), r.choice([0, 1, 3, 15]))


def _scaled(r: Random, dtype: str) -> float:
    top = 300 if dtype == "float64" else 30
    power = r.choice([r.uniform(-top, top), r.uniform(-20, 20), r.uniform(-3, 3)])
    return _as(r.choice([-1, 1]) * 10**power, dtype)


def _as(value: float, dtype: str) -> float:
    return float(np.float32(value)) if dtype == "float32" else float(value)


def _beside(r: Random, place: float, dtype: str) -> float:
    """At a place, one step beside it, or away."""
    kind: Any = np.float32 if dtype == "float32" else np.float64
    way = r.choice([-np.inf, np.inf])
    step = r.choice([0, 0, 0, 1, 2, 3])
    if step == 0:
        return place
    if step == 1:
        return float(np.nextafter(kind(place), kind(way)))
    return _as(place + math.copysign(r.choice([1e-9, 1e-3, 0.25, 1.5]), way), dtype)


def _asked(r: Random, kind: str, tree: Tree, at: Mapping[str, Any], dtype: str) -> Question:
    """A question about the first derivatives of a scalar."""
    command = r.choice(["grad", "grad", "vjp", "jacobian", "jvp"])
    u: dict[str, float] = {}
    if command == "jvp":
        if any(np.ndim(value) for value in at.values()):
            command = "grad"
        u = {name: r.choice([1.0, -1.0, 0.5, 2.0]) for name in at}
    return Question(kind, command, tree, at, dtype, v=[r.choice([1.0, -2.0, 0.75])], u=u)


def _used(tree: Tree, at: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the variables that the function has."""
    return {name: value for name, value in at.items() if re.search(rf"\b{name}\b", tree.text)}


def _argument(r: Random) -> tuple[Tree, dict[str, float]]:
    """What is 0 at a point, and the point."""
    x, y = leaf("x"), leaf("y")
    c = float(r.choice([0, 1, -2, 3]))
    choices: list[tuple[Tree, dict[str, float]]] = [
        (x, {"x": 0.0}),
        (x, {"x": 0.0}),
        (_minus(abs(c)), {"x": abs(c)}),
        (call("({} - {})", s.sub, x, y), {"x": c, "y": c}),
        (call("{}*{}", s.mul, x, y), {"x": 0.0, "y": c}),
        (call("({}**2 - {})", lambda a, b: s.sub(s.mul(a, a), b), x, y), {"x": 2.0, "y": 4.0}),
        (call("(1 - {}**2)", lambda a: s.sub(number(1), s.mul(a, a)), x), {"x": 1.0}),
        (call("{}**2", lambda a: s.mul(a, a), x), {"x": 0.0}),
        (call("{}**3", lambda a: s.natural(a, 3), x), {"x": 0.0}),
        (call("sin({})", s.sin, x), {"x": 0.0}),
        (call("(-{})", s.neg, x), {"x": 0.0}),
        (call("({} + {})", s.add, x, y), {"x": c, "y": -c}),
    ]
    return r.choice(choices)


def _minus(c: float) -> Tree:
    return call("({} - {})", s.sub, leaf("x"), constant(c))


def _dtype(r: Random) -> str:
    return "float32" if r.random() < 0.25 else "float64"


def draw_smooth(r: Random) -> Question:
    dtype = _dtype(r)
    tree = smooth(r, [leaf("x"), leaf("y"), constant(r.choice([0.5, 2.0, -1.0]))], r.randint(1, 4))
    tree = tree if _used(tree, {"x": 1, "y": 1}) else call("({} + {})", s.add, tree, leaf("x"))
    at = {name: _as(_ordinary(r), dtype) for name in ("x", "y")}
    return _asked(r, "smooth", tree, _used(tree, at), dtype)


def draw_scaled(r: Random) -> Question:
    dtype = _dtype(r)
    if r.random() < 0.3:
        tree = r.choice(CANCELLING)(leaf("x"))
    else:
        tree = smooth(r, [leaf("x"), leaf("y")], r.choice([1, 1, 2, 3]))
    return _asked(r, "scaled", tree, _used(tree, {name: _scaled(r, dtype) for name in ("x", "y")}), dtype)


def draw_shifted(r: Random) -> Question:
    """Reductions of shifted vectors."""
    dtype = _dtype(r)
    template = r.choice(list(REDUCTIONS) + ["var({})", "std({})", "softmax({}, 0)", "norm({})", "logsumexp({}, 0)"] * 2)
    size = r.randint(2 if template.startswith(("var", "std")) else 1, 6)
    inner, at = leaf("x"), {"x": [_as(_ordinary(r), dtype) for _ in range(size)]}
    if r.random() < 0.2:
        at["x"] = [at["x"][0]] * size
    shift = 10 ** r.uniform(0, 12 if dtype == "float64" else 5) * r.choice([-1, 1])
    how = r.random()
    if how < 0.4:
        inner, at = call("({} + {})", s.add, inner, leaf("a")), {**at, "a": _as(shift, dtype)}  # type: ignore[dict-item]
    elif how < 0.6:
        inner = call("({} + {})", s.add, inner, constant(10.0 ** r.randint(0, 10)))
    elif how < 0.75:
        inner = r.choice(SMOOTH)(inner)
    tree = reduced(template, inner)
    is_vector = template.startswith(("softmax", "log_softmax", "cumsum"))
    v = [r.choice([1.0] * 4 + [_as(_ordinary(r), dtype)]) for _ in range(size if is_vector else 1)]
    if r.random() < 0.4:
        v = [1.0] * len(v)
    return Question("shifted", r.choice(["vjp", "vjp", "jacobian"] if is_vector else ["grad"]), tree, at, dtype, v=v)


def _decorated(r: Random, tree: Tree) -> Tree:
    """Something smooth around it, or nothing."""
    how = r.random()
    if how < 0.4:
        return tree
    if how < 0.6:
        return r.choice(SMOOTH)(tree)
    return r.choice(JOINS[:4])(tree, r.choice([leaf("x"), constant(2.0), r.choice(SMOOTH)(leaf("x"))]))


def draw_kink(r: Random) -> Question:
    dtype = _dtype(r)
    inner, places = _argument(r)
    how = r.random()
    if how < 0.6:
        tree = r.choice(KINKS)(inner)
    elif how < 0.75:
        join = r.choice([("maximum({}, {})", larger), ("minimum({}, {})", smaller)])
        other = r.choice([constant(0.0), leaf("x"), *(r.choice(KINKS)(leaf("x")) for _ in range(2))])
        tree = choosing(join[0], join[1], inner, other)
    else:
        yes, no = (r.choice([leaf("x"), inner, constant(0.0), smooth(r, [leaf("x")], 1)]) for _ in range(2))
        tree = where(r.choice(list(crossings.CONDITIONS)), inner, yes, no)
    if r.random() < 0.2:
        tree = r.choice(KINKS)(tree)
    tree = _decorated(r, tree)
    at = {name: _beside(r, place, dtype) for name, place in places.items()}
    return _asked(r, "kink", tree, _used(tree, at), dtype)


def draw_edge(r: Random) -> Question:
    dtype = _dtype(r)
    inner, places = _argument(r)
    inner = r.choice([inner, leaf("x"), r.choice(KINKS[:4])(inner)])
    tree = r.choice(EDGES)(inner)
    if r.random() < 0.2:
        tree = where(r.choice(list(crossings.CONDITIONS)), inner, tree, r.choice([constant(0.0), inner]))
    tree = _decorated(r, tree)
    at = {"x": 0.0, **places} if inner.text == "x" else places
    at = {name: 0.0 if inner.text == "x" and name == "x" else place for name, place in at.items()}
    at = {name: _beside(r, place, dtype) for name, place in at.items()}
    return _asked(r, "edge", tree, _used(tree, at), dtype)


def draw_removable(r: Random) -> Question:
    dtype = _dtype(r)
    inner, places = _argument(r)
    tree = r.choice(REMOVABLE)(inner)
    if r.random() < 0.4:
        tree = where(r.choice(["==", "!=", ">"]), inner, constant(r.choice([1.0, 0.0, 0.5])), tree)
    tree = _decorated(r, tree)
    at = {name: _beside(r, place, dtype) for name, place in places.items()}
    return _asked(r, "removable", tree, _used(tree, at), dtype)


def draw_long(r: Random) -> Question:
    """A long vector with at most one element at a kink."""
    dtype = _dtype(r)
    x = leaf("x")
    one = r.choice([*KINKS, *EDGES[:3], EDGES[8]])(r.choice([x, _minus(1.0), call("(-{})", s.neg, x)]))
    if r.random() < 0.3:
        one = call("({}*{})", s.mul, one, r.choice(SMOOTH[:4])(x))
    size = r.choice([2, 3, 17, 33, 34, 100, 300])
    is_half = any(word in one.text for word in ("log", "sqrt", "1.5"))
    sign = -1 if "(-x)" in one.text else 1
    values = [_as(round(r.uniform(1.1, 3), 2) * (sign if is_half else r.choice([-1, 1])), dtype) for _ in range(size)]
    if r.random() < 0.7:
        values[r.randrange(size)] = 1.0 if "x - 1" in one.text else 0.0
    command = r.choice(["grad", "jacobian", "vjp"]) if size <= 100 else "grad"
    whole = Tree(f"sum({one.text})", one.run) if command == "grad" else one
    v = [_as(round(r.uniform(-2, 2), 2), dtype) for _ in values]
    return Question("long", command, whole, {"x": values}, dtype, v=v, elements=one)


def draw_ties(r: Random) -> Question:
    """Of vectors: ties of amax, norms at 0, differences of equal numbers."""
    dtype = _dtype(r)
    size = r.randint(1, 5)
    values = [float(r.choice([0, 1, 1, 2, -1])) for _ in range(size)]
    x: Tree = leaf("x")
    inner = r.choice([x, x, *(f(x) for f in (*KINKS[:4], *SMOOTH[:9]))])
    how = r.random()
    if how < 0.4:
        tree = largest(inner)
    elif how < 0.6:
        tree = reduced("sum({})", r.choice(KINKS)(inner))
    else:
        tree = reduced(r.choice(["norm({})", "std({})"] if size > 1 else ["norm({})"]), inner)
    return Question("ties", "grad", tree, {"x": values}, dtype)


def draw_curved(r: Random) -> Question:
    """Hessians of smooth functions."""
    tree = smooth(r, [leaf("x"), leaf("y")], r.randint(1, 3))
    at = _used(tree, {name: r.choice([_ordinary(r), _ordinary(r), _scaled(r, "float64")]) for name in ("x", "y")})
    return Question("curved", "hessian", tree, at)


def draw_crossing(r: Random) -> Question:
    """Hessians of piecewise polynomials where kinks cross."""
    one = crossings.draw(r, r.randint(2, 3))
    tree = Tree(one.text, lambda _: None)
    at = _used(tree, {name: float(r.choice([0, 0, 0, 1, -1])) for name in "xy"})
    return Question("crossing", "hessian", tree, at, piecewise=one.run)


DRAWS: list[Callable[[Random], Question]] = [
    *(draw_smooth, draw_scaled, draw_scaled, draw_shifted, draw_shifted, draw_kink, draw_kink, draw_edge),
    *(draw_removable, draw_long, draw_ties, draw_curved, draw_crossing),
]


def draw(r: Random) -> Question:
    """The question of a seed."""
    return r.choice(DRAWS)(r)
