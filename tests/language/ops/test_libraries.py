"""Names after the prefix of a library mean the same as in that library, or are an error."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy
from sympy.polys.polyerrors import BasePolynomialError

from gradcli import Function
from gradcli.errors import GradcliError, LanguageError
from gradcli.language import ops

X = np.array([-0.3, 0.5, 2.0])
M = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -1.0]])


def _gelu_tanh(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2)


def _gelu(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2)


MEANT: list[Any] = [
    ("np.var(x)", np.var(X)),
    ("numpy.var(x, ddof=1)", np.var(X, ddof=1)),
    ("np.std(m, axis=0)", np.std(M, axis=0)),
    ("torch.var(x) + var(x) + x.var() - 3*torch.var(x, correction=1)", 0),
    ("np.var(torch.var(x)*x)", np.var(np.var(X, ddof=1) * X)),
    ("F.gelu(x)", _gelu(X)),
    ("torch.nn.functional.gelu(x, approximate='tanh')", _gelu_tanh(X)),
    ("np.cumsum(m)", np.cumsum(M)),
    ("np.max(m, axis=0)[0]", M.max(0)[0]),
    ("torch.max(m, dim=0)[0]", M.max(0)),
    ("math.remainder(5*x, 3)", [math.remainder(5 * t, 3) for t in X]),
    ("np.remainder(5*x, 3)", np.remainder(5 * X, 3)),
    ("sympy.sinc(x)", np.sin(X) / X),
    ("np.sinc(x) + torch.sinc(x)", 2 * np.sinc(X)),
    ("sympy.frac(x)", X - np.floor(X)),
    ("sympy.log(8, 2) + math.log(8, 2) + log(8, 2)", 9),
    # the same names, imported by a snippet, whatever it calls them
    pytest.param("from numpy import var\ny = var(x)", np.var(X), marks=pytest.mark.part("paste")),
    pytest.param("import numpy as n\ny = n.var(x)", np.var(X), marks=pytest.mark.part("paste")),
    pytest.param("from sympy import sinc\ny = sinc(x)", np.sin(X) / X, marks=pytest.mark.part("paste")),
    pytest.param("from torch import var\ny = var(x)", np.var(X, ddof=1), marks=pytest.mark.part("paste")),
    pytest.param("import torch.nn.functional as G\ny = G.gelu(x)", _gelu(X), marks=pytest.mark.part("paste")),
    # Python's functions of a list go term by term, those of a tensor over all its elements
    ("sum([x, x**2])", X + X**2),
    ("sum([x])", X),
    ("sum([x**i for i in range(3)])", 1 + X + X**2),
    ("sum((x*i for i in range(3)), 1)", 1 + 3 * X),
    ("terms = [x, x**2]; again = terms; sum(again)", X + X**2),
    ("terms = [x, x**2]; terms = terms[0]; sum(terms)", X.sum()),
    ("terms = [x, x**2]; torch.stack(terms).sum()", (X + X**2).sum()),
    ("sum([x > 0, x > 1])", (X > 0).astype(float) + (X > 1)),
    ("max([x, x**2])", np.maximum(X, X**2)),
    ("min([x, x**2, 0.2])", np.minimum(np.minimum(X, X**2), 0.2)),
    ("math.prod([x, x, x])", X**3),
    ("sum(torch.stack([x, x**2]))", (X + X**2).sum()),
    ("sum(2*[x, x])", 4 * X.sum()),
    ("sum([x, x**2], dim=1)", [X.sum(), (X**2).sum()]),
    ("[x, x**2].sum()", (X + X**2).sum()),
    ("np.max([x, x**2])", 4),
    ("sum([[1, 2], [3, 4]])", 10),
]


@pytest.mark.parametrize(("text", "expected"), MEANT)
def test_a_prefix_or_a_list_brings_the_meaning_of_its_library(text: str, expected: Any) -> None:
    """NumPy's own numbers, the formulas that the other libraries document, and Python's functions of lists."""
    f = Function(text)
    answer = f.eval({name: {"x": X, "m": M}[name] for name in f.variables})
    assert answer.value.shape == np.shape(expected)
    np.testing.assert_allclose(answer.value, expected, rtol=1e-14, atol=1e-15)
    assert answer.warnings == ()


@pytest.mark.part("paste")
def test_what_a_snippet_defines_is_no_longer_imported() -> None:
    """A definition behind an import, and a variable of the same name."""
    assert Function("from numpy import var\ndef var(x): return 2*x\ny = var(x)").eval({"x": 3}).value == 6


def test_what_cannot_have_that_meaning_is_refused() -> None:
    """A base that torch does not take, a third tensor, an axis that is a tensor, pairs of pad."""
    for text in ("torch.log(x, 2)", "np.log(x, x)", "x.log(2)", "np.maximum(x, x, x)"):
        with pytest.raises(LanguageError, match="too many"):
            Function(text)
    with pytest.raises(LanguageError, match="an integer constant"):
        Function("np.max(x, x)")
    with pytest.raises(LanguageError, match="approximate"):
        Function("F.gelu(x, approximate=True)")
    for text in ("jax.nn.gelu(x)", "tf.nn.elu(x)"):
        with pytest.raises(LanguageError, match=r"the module '\w+' is not known"):
            Function(text)
    for prefix in ("np", "numpy"):
        for widths in ("(1, 2)", "1", "((1, 2),)", "[[1, 2], [0, 1]]"):
            with pytest.raises(LanguageError, match=rf"{prefix}.pad is not read") as caught:
                Function(f"{prefix}.pad(x, {widths})")
            assert "F.pad(x, (left, right))" in (caught.value.hint or "")
    assert Function("F.pad(x, (1, 2))").eval({"x": X}).warnings == ()


def test_the_other_name_of_a_library_is_read_as_numpys() -> None:
    """With a remark."""
    found = Function("jnp.sum(x)").eval({"x": X})
    assert found.warnings == ("jnp.sum(x) is read as np.sum(x)",)
    assert found.value == Function("np.sum(x)").eval({"x": X}).value


def _calls(prefix: str, module: Any) -> list[tuple[str, Any]]:
    names = sorted({n for op in ops.TABLE.values() for n in (op.name, *op.aliases, *op.after_dot)})
    return [(f"{prefix}.{name}", getattr(module, name)) for name in names if callable(getattr(module, name, None))]


@pytest.mark.parametrize(("prefix", "module"), [("np.linalg", np.linalg), ("math", math), ("sympy", sympy)])
def test_every_name_of_the_table_is_its_library_s_or_refused(prefix: str, module: Any) -> None:
    """At random numbers, vectors and matrices, with one operand and two: no other number comes out."""
    rng = np.random.default_rng(11)
    compared = 0
    for name, function in _calls(prefix, module):
        for shape in [(3,), (2, 3), (3, 3), ()] if module is np.linalg else [()]:
            for text, arrays in ((f"{name}(x)", 1), (f"{name}(x, y)", 2)):
                values = [rng.uniform(0.1, 3, size=shape) * rng.choice([-1, 1], size=shape) for _ in range(arrays)]
                truth = real_value(function, *(a if module is np.linalg else float(a) for a in values))
                if truth is None:
                    continue
                try:
                    found = Function(text).eval(dict(zip("xy", values, strict=False)), check=False).value
                except GradcliError:
                    continue
                if name == "sympy.zeta" and np.isnan(found).any():  # which torch has above 1 alone
                    continue
                compared += 1
                assert found.shape == truth.shape, (text, shape)
                np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-12, err_msg=f"{text} at {values}")
    assert compared > 5


def real_value(function: Callable[..., Any], *given: Any) -> npt.NDArray[np.float64] | None:
    """The value that a library gives; None where that is no real number, or it takes no such arguments, or gives up."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.asarray(function(*given))
            found = np.asarray(float(found.item())) if found.dtype == object else found
        except (TypeError, ValueError, AttributeError, IndexError, Warning, np.linalg.LinAlgError, BasePolynomialError):
            return None
    return found.astype(np.float64) if found.dtype.kind in "biuf" and np.isfinite(found).all() else None
