"""Order and statistics: elements at places of a sorted dimension, moments of rows, differences of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from gradcli.language.lower.written.given import Given, Text, key, sizes


def _over(g: Given, *names: str) -> str:
    return "".join(f", {name}={g[name]}" for name in names)


def _order(g: Given, x: str, dim: int, *, descending: bool) -> str:
    """The positions of the elements of a dimension in order: each at the number of those before it."""
    count = (g.shape("x") or (1,))[dim] if dim < g.rank("x") or not g.rank("x") else 1
    sign = ">" if descending else "<"
    return (
        f"t = transpose({x}, {dim}, -1); a = unsqueeze(t, -2); b = unsqueeze(t, -1); "
        f"r = sum(where(a {sign} b, 1, where(a == b, tril(ones(({count}, {count})), -1), 0)), -1); "
        f"n = reshape(arange({count}), ({count}, 1)); "
        f"transpose(sum(where(unsqueeze(r, -2) == n, arange({count}), 0), -1), {dim}, -1)"
    )


def _sort(g: Given) -> Text:
    dim = g.axis("x") if g.rank("x") else 0
    values = f"sorted(x, {dim}, {g['descending']})"
    if g.library:
        return values
    return {"values": values, "indices": _order(g, "x", dim, descending=g["descending"])}


def _argsort(g: Given) -> Text:
    return _order(g, "x", g.axis("x"), descending=g["descending"])


def _rounded_div(g: Given) -> Text:
    mode = g["rounding_mode"]
    return f"{mode}(a/b)" if mode else "a/b"


def _round_to(g: Given) -> Text:
    places = g["decimals"]
    if not places:
        return "round(x)"
    return f"round(x*{10**places})/{10**places}" if places > 0 else f"round(x/{10**-places})*{10**-places}"


def _average(g: Given) -> Text:
    if not g.has("weights"):
        return f"mean(x, dim={g['dim']})" if g["dim"] is not None else "mean(x)"
    over = "" if g["dim"] is None else f", {g.axis('x')}"
    weights = "weights"
    if over and g.rank("weights") == 1 < g.rank("x"):
        weights = f"reshape(weights, {sizes([-1 if n == g.axis('x') else 1 for n in range(g.rank('x'))])})"
    elif g.shape("weights") != g.shape("x"):
        raise g.refuse("average takes weights of the shape of x, or one for each element of dim", None)
    return f"sum(x*{weights}{over})/sum({weights}*ones_like(x){over})"


def _appended(g: Given) -> Text:
    if g["dim"] is None:
        return "cat([reshape(a, (-1,)), reshape(b, (-1,))])"
    return f"cat([a, b], {g['dim']})"


def _logspace(g: Given) -> Text:
    return f"{g['base']}**linspace({g['start']}, {g['end']}, {g['steps']})"


def _msort(g: Given) -> Text:
    return "sorted(x, 0)"


def _taken(g: Given, dim: int, item: object, *, descending: bool = False) -> dict[str, str]:
    """What stands at some places of the sorted dimension, and its positions."""
    order = _order(g, "x", dim, descending=descending)
    *before, last = order.split("; ")
    return {
        "values": f"sorted(x, {dim}, {descending}){key(dim, item)}",
        "indices": "; ".join([*before, f"o = {last}", f"o{key(dim, item)}"]),
    }


def _topk(g: Given) -> Text:
    size, k = g.size("x"), g["k"]
    if not 0 <= k <= size:
        raise g.refuse(f"topk of {k} of {size} elements", f"k is from 0 to {size}")
    return _taken(g, g.axis("x"), f":{k}", descending=g["largest"])


def _kthvalue(g: Given) -> Text:
    size, k = g.size("x"), g["k"]
    if not 1 <= k <= size:
        raise g.refuse(f"there is no {k}-th of {size} elements", f"k is from 1 to {size}")
    return _taken(g, g.axis("x"), f"{k - 1}:{k}" if g["keepdim"] else k - 1)


def _median(g: Given) -> Text:
    if g.library == "numpy":
        return _quantiles(g, np.array(0.5))
    if g["dim"] is None:
        count = math.prod(g.shape("x"))
        return f"sorted(reshape(x, -1))[{(count - 1) // 2}]"
    at = (g.size("x") - 1) // 2
    return _taken(g, g.axis("x"), f"{at}:{at + 1}" if g["keepdim"] else at)


def _quantile(g: Given) -> Text:
    q = g.constant("q", "shares")
    if q.size and not (0 <= q.min() <= q.max() <= 1):
        raise g.refuse("a share q is from 0 to 1", None)
    return _quantiles(g, q)


def _quantiles(g: Given, q: np.ndarray) -> str:
    shape, dim = g.shape("x"), g["dim"]
    x, axis = ("reshape(x, -1)", 0) if dim is None else ("x", g.axis("x"))
    size = math.prod(shape) if dim is None else shape[axis]
    texts = []
    for share in q.ravel().tolist():
        at = share * (size - 1)
        first = min(math.floor(at), max(size - 2, 0))
        one, other = (f"s{key(axis, n)}" for n in (first, min(first + 1, size - 1)))
        texts.append(one if at == first else f"lerp({one}, {other}, {at - first!r})")
    if g["keepdim"]:
        kept = ", ".join(["1"] * len(shape)) if dim is None else ""
        texts = [f"reshape({t}, ({kept},))" if dim is None else f"unsqueeze({t}, {axis})" for t in texts]
    found = texts[0] if not q.shape else f"stack([{', '.join(texts)}])"
    return f"s = sorted({x}, {axis}); {found}"


def _counted(x: str, axis: int, size: int, rank: int) -> str:
    """The elements of a dimension in order, what is nan behind them, and how many are not."""
    line = [size if n == axis else 1 for n in range(rank)]
    return (
        f"f = where({x} != {x}, inf, {x}); n = sum(where({x} != {x}, 0, 1), {axis}, keepdim=True); "
        f"k = reshape(arange({size}), {sizes(line)}); s = sorted(f, {axis})"
    )


def _nanmedian(g: Given) -> Text:
    if g.library == "numpy":
        return _nanquantiles(g, np.array(0.5))
    shape, dim = g.shape("x"), g["dim"]
    x, axis, rank = ("reshape(x, -1)", 0, 1) if dim is None else ("x", g.axis("x"), len(shape))
    size = math.prod(shape) if dim is None else shape[axis]
    keep = f", keepdim={g['keepdim']}" if dim is not None else ""
    # 2*k is n - 1 or n - 2, whichever is even; n/n is nan where all are.
    chosen = f"h = abs(2*k + 1.5 - n) < 1; r = sum(n/n, {axis}{keep})"
    values = f"{_counted(x, axis, size, rank)}; {chosen}; r*sum(where(h, s, 0), {axis}{keep})"
    if dim is None:
        return values
    *before, order = (
        _order(g, "f", axis, descending=False).replace("n = ", "m = ").replace("== n,", "== m,").split("; ")
    )
    steps = "; ".join([*before, f"o = {order}"])
    return {
        "values": values,
        "indices": f"{_counted(x, axis, size, rank)}; {chosen}; {steps}; sum(where(h, o, 0), {axis}{keep})",
    }


def _nanquantile(g: Given) -> Text:
    q = g.constant("q", "shares")
    if q.size and not (0 <= q.min() <= q.max() <= 1):
        raise g.refuse("a share q is from 0 to 1", None)
    return _nanquantiles(g, q)


def _nanquantiles(g: Given, q: np.ndarray) -> str:
    shape, dim = g.shape("x"), g["dim"]
    x, axis, rank = ("reshape(x, -1)", 0, 1) if dim is None else ("x", g.axis("x"), len(shape))
    size = math.prod(shape) if dim is None else shape[axis]
    keep = f", keepdim={g['keepdim']}" if dim is not None else ""
    # Between two neighbours linearly: each element weighs 1 less its distance from the place, and 0 from 1 on.
    texts = [
        f"sum(n/n, {axis}{keep})*sum(where(abs({share!r}*(n - 1) - k) < 1, "
        f"(1 - abs({share!r}*(n - 1) - k))*where(k < n, s, 0), 0), {axis}{keep})"
        for share in q.ravel().tolist()
    ]
    if dim is None and g["keepdim"]:
        texts = [f"reshape({text}, {sizes([1] * len(shape))})" for text in texts]
    found = texts[0] if not q.shape else f"stack([{', '.join(texts)}])"
    return f"{_counted(x, axis, size, rank)}; {found}"


def _aminmax(g: Given) -> Text:
    over = _over(g, "dim", "keepdim")
    return {"min": f"amin(x{over})", "max": f"amax(x{over})"}


def _and_mean(name: str) -> Callable[[Given], Text]:
    def rule(g: Given) -> Text:
        over = _over(g, "dim", "keepdim")
        return [f"{name}(x{over}, correction={g['correction']})", f"mean(x{over})"]

    return rule


def _cov(g: Given) -> Text:
    if g.rank("x") > 2:
        raise g.refuse("cov takes a matrix, whose rows are the samples of one quantity", None)
    x = "x" if g.rank("x") == 2 else "reshape(x, (1, -1))"
    count = (g.shape("x") or (1,))[-1] - g["correction"]
    return f"c = {x} - mean({x}, dim=1, keepdim=True); squeeze(c @ transpose(c))/{count}"


def _corrcoef(g: Given) -> Text:
    if g.rank("x") > 2:
        raise g.refuse("corrcoef takes a matrix, whose rows are the samples of one quantity", None)
    if g.rank("x") < 2:
        return "sum(x)/sum(x)"
    return (
        "c = x - mean(x, dim=1, keepdim=True); d = sqrt(sum(c**2, dim=1)); "
        "squeeze((c @ transpose(c))/(unsqueeze(d, 1)*unsqueeze(d, 0)))"
    )


def _renorm(g: Given) -> Text:
    axis = g.axis("x")
    others = tuple(n for n in range(g.rank("x")) if n != axis)
    most = repr(float(g["maxnorm"]))
    return f"n = norm(x, {g['p']}, dim={others}, keepdim=True); where(n > {most}, x*({most}/(n + 1e-7)), x)"


def _diff(g: Given) -> Text:
    axis, text = g.axis("x"), "d = x"
    for _ in range(g["n"]):
        text += f"; d = d{key(axis, '1:')} - d{key(axis, ':-1')}"
    return f"{text}; 1*d"


def _trapezoids(g: Given) -> str:
    axis = g.axis("y")
    after, before = key(axis, "1:"), key(axis, ":-1")
    width = repr(float(g["dx"]))
    if g.has("x"):
        at = 0 if g.rank("x") == 1 else axis
        width = f"(x{key(at, '1:')} - x{key(at, ':-1')})"
        if g.rank("x") == 1:
            line = [-1 if n == axis else 1 for n in range(g.rank("y"))]
            width = f"reshape({width}, {tuple(line)})"
    return f"(y{after} + y{before})*{width}/2"


def _trapezoid(g: Given) -> Text:
    return f"sum({_trapezoids(g)}, dim={g.axis('y')})"


def _cumulative_trapezoid(g: Given) -> Text:
    return f"cumsum({_trapezoids(g)}, dim={g.axis('y')})"


def _gradient(g: Given) -> Text:
    wanted = g["dim"]
    axes = range(g.rank("x")) if wanted is None else wanted if isinstance(wanted, tuple) else (wanted,)
    texts = []
    for one in axes:
        axis = one % g.rank("x")
        if g.shape("x")[axis] < 2:
            raise g.refuse("gradient needs at least two samples along each dimension", None)

        def at(item: str, axis: int = axis) -> str:
            return f"x{key(axis, item)}"

        step = repr(float(g["spacing"]))
        parts = f"{at('1:2')} - {at(':1')}, ({at('2:')} - {at(':-2')})/2, {at('-1:')} - {at('-2:-1')}"
        texts.append(f"cat([{parts}], {axis})/{step}")
    return texts if not g.library or len(texts) > 1 else texts[0]


RULES: Mapping[str, Callable[[Given], Text]] = {
    "rounded_div": _rounded_div,
    "round_to": _round_to,
    "average": _average,
    "appended": _appended,
    "logspace": _logspace,
    "sort": _sort,
    "argsort": _argsort,
    "msort": _msort,
    "topk": _topk,
    "kthvalue": _kthvalue,
    "median": _median,
    "quantile": _quantile,
    "nanmedian": _nanmedian,
    "nanquantile": _nanquantile,
    "aminmax": _aminmax,
    "std_mean": _and_mean("std"),
    "var_mean": _and_mean("var"),
    "cov": _cov,
    "corrcoef": _corrcoef,
    "renorm": _renorm,
    "diff": _diff,
    "trapezoid": _trapezoid,
    "cumulative_trapezoid": _cumulative_trapezoid,
    "slopes_of": _gradient,
}
