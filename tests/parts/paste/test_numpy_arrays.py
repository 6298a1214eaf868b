"""Code of NumPy's gives what NumPy gives where it is run: methods of arrays, products, and Python's own functions."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language import ops
from tests.checks import check_of
from tests.language.ops.test_libraries import real_value
from tests.parts.paste.pasted import run_by_torch

POINT: dict[str, Any] = {
    "x": np.array([1.0, 2.0, 4.0]),
    "A": np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -1.0]]),
    "B": np.array([[1.0, 2.0, 0.5], [0.3, -0.7, 1.1], [2.0, 1.0, 3.0]]),
    "T": np.arange(24.0).reshape(2, 3, 4) ** 1.5,
    "w": np.array([0.5, 0.25, 0.25]),
}


def answered(text: str, **options: Any) -> Any:
    """The answer to a text at the point, of the variables that it has."""
    f = Function(text)
    return f.eval({name: POINT[name] for name in f.variables}, **options)


def of_function(body: str) -> tuple[str, Any]:
    """A text that imports NumPy and defines a function, and its value."""
    at = {name: array for name, array in POINT.items() if re.search(rf"\b{name}\b", body)}
    text = f"import numpy as np\ndef f({', '.join(at)}):\n    return {body}"
    return text, run_by_torch(text, **at)["result"]


METHODS = (
    "conj cumprod cumsum diagonal dot flatten max mean min prod ravel repeat reshape round squeeze std sum swapaxes "
    "take trace transpose var clip"
).split()

ARGUMENTS = (
    "|0|1|-1|2|axis=0|axis=1|axis=-1|axis=(0,1)|axis=None|keepdims=True|axis=0, keepdims=True|ddof=1|1, 0|0, 1|(1, 0)|"
    "2, axis=0|2, axis=1|x|x.T|-0.5, 0.5|0, None|[1, 0]|[1, 0], axis=0|[1, 0], 1|3|6|-1, 1|(3, 2)|offset=1|1, 0, 1|"
    "None, 1.0|axis=()|(1, 0, 2)|2, 0, 1|axis1=0, axis2=1|order='F'|decimals=1"
).split("|")


def test_methods_of_the_table_are_numpy_s() -> None:
    """Methods that arrays have by these names are called below."""
    names = {n for op in ops.TABLE.values() for n in (op.name, *op.aliases, *op.after_dot)}
    found = {name for name in names if callable(getattr(np.ndarray, name, None))}
    assert found - {"sort", "fill", "put", "view", "partition", "copy"} <= {*METHODS}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.one_in(8)
def test_a_method_of_an_array_is_numpy_s_or_refused(name: str) -> None:
    """With many arguments, at several shapes: no other number comes out where NumPy gives one."""
    rng, compared = np.random.default_rng(3), 0
    for arguments in ARGUMENTS:
        for shape in [(3,), (2, 3), (3, 3), (), (1, 3), (2, 1, 3)]:
            x = rng.normal(size=shape)
            truth = real_value(eval, f"x.{name}({arguments})", {"x": x, "np": np})
            if truth is None or (not shape and name in ("cumsum", "cumprod")):
                continue
            try:
                found = Function(f"import numpy as np\ndef f(x):\n    return x.{name}({arguments})").eval(
                    {"x": x}, check=False
                )
            except GradcliError:
                continue
            compared += 1
            assert found.value.shape == truth.shape, (arguments, shape)
            np.testing.assert_allclose(found.value, truth, rtol=1e-12, err_msg=f"x.{name}({arguments}) of {shape}")
    assert compared >= 3


BODIES = [
    "x.std() + A.var(axis=1).sum()",
    "(x - x.mean())/x.std()",
    "x.repeat(2)",
    "T.transpose(2, 0, 1)",
    "np.transpose(T, (1, 2, 0))",
    "A.max(axis=0)[0]",
    "A.max(0) - A.min(0)",
    "A.cumsum()",
    "np.flip(A)",
    "np.dot(A, x)",
    "np.dot(A, B)",
    "np.dot(B, T)",
    "np.inner(A, B)",
    "np.meshgrid(x, [0, 1])[0]",
    "np.reshape(B, B.shape)*x",
    "A.sum()/A.size",
    "np.ones(A.shape).T @ A",
    "np.round(A/3, 2) + (A*1.03).round(1)*A",
    "A.astype(float)*A.astype(np.float64)",
    "np.average(A, axis=1, weights=x)",
    "np.ptp(A, axis=0) + np.ptp(x)",
    "np.append(A, x)",
    "np.where(np.isnan(A), 0, A)",
    "np.linspace(0, 1).sum()*x",
    "sum([x, 2*x])",
    "min(x[0], x[1], 1.5)",
    "max([x[0], x[1]])",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.one_in(4)
def test_a_function_of_arrays_is_numpy_s(body: str) -> None:
    """Its value, with a gradient that all readings agree on."""
    text, truth = of_function(body)
    f = Function(text)
    answer = f.vjp(at={name: POINT[name] for name in f.variables}, v=np.ones(np.shape(truth)))
    assert answer.value.shape == np.shape(truth)
    np.testing.assert_allclose(answer.value, truth, rtol=1e-12)
    assert check_of(answer).verdict == "agree"


TEXTS = [
    "x = np.array([1., 2., 4.]); y = (2*x).repeat(2)",
    "np.exp(x).std()",
    "from numpy import *\nstd(A) + sum(A)",
    "from numpy import sum\nsum(A)",
    "from torch import *\nstd(tensor([1., 2., 4.])) + sum(tensor([[1., 2.], [3., 4.]]))",
    "import numpy as np\nimport torch\nt = torch.tensor([1., 2., 4.]).double()\ny = t.std()",
    "import torch\nt = torch.tensor(np.sqrt([1., 2., 4.]), requires_grad=True)\ny = torch.std(t)",
    "import torch\na = np.array([1., 2., 4.])\nt = torch.tensor(a)\ny = (2*t).mean() + 100*(2*a).mean()",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_has_the_methods_of_what_made_it(text: str) -> None:
    """Texts with NumPy and torch, too."""
    truth = run_by_torch(text, **POINT)["result"]
    truth = np.asarray(truth.detach() if isinstance(truth, torch.Tensor) else truth)
    found = answered(text) if text.startswith(("np", "from numpy")) else Function(text).vjp(v=np.ones(truth.shape))
    assert found.value.shape == truth.shape
    np.testing.assert_allclose(found.value, truth, rtol=1e-6)


MIXED = [
    "a = np.array([1., 2., 4.])\nt = torch.tensor([1., 2., 4.]).double()\ny = a.std() + 100*t.std()",
    "t = torch.tensor(np.sqrt([1., 2., 4.]), requires_grad=True)\ny = t.std()",
    "a = np.array([1., 2., 4.])\nt = torch.tensor(a)\ny = (2*t).repeat(2)",
    "t = torch.tensor([1., 2., 4.], dtype=torch.float64)\ny = (2*t).detach().numpy().std()",
]


@pytest.mark.parametrize("text", MIXED)
def test_what_numpy_and_torch_mean_differently_is_code_beside_both(text: str) -> None:
    """Only running it tells its value."""
    with pytest.raises(GradcliError, match="in a text of NumPy's and torch's is code"):
        answered(f"import torch\n{text}")


def test_a_text_that_could_mean_either_means_torch() -> None:
    """Without a module, or with numbers of NumPy's alone; a sum is of all elements outside of code."""
    for text in ("x.std()", "x.std()*np.pi/np.pi", "y = 1*x\ny.std()"):
        assert answered(text).value == pytest.approx(np.std(POINT["x"], ddof=1))
    for text in ("sum(A)", "f(A) = sum(A)", "y = A + 0; sum(y)", "torch.sum(A)"):
        assert answered(text).value == POINT["A"].sum()


@pytest.mark.parametrize("body", ["max(A)", "max(x, 3)", "min(x[0], x)", "sum(A)", "sum(A, 1)", "x.sort()"])
def test_what_python_means_otherwise_of_tensors_is_code(body: str) -> None:
    """It goes by rows, compares one number with another, or changes its array."""
    with pytest.raises(GradcliError, match="is code"):
        answered(f"import numpy as np\ndef f({'A' if 'A' in body else 'x'}):\n    return {body}")


def test_torch_s_dot_is_of_vectors_alone() -> None:
    """NumPy's is the matrix product."""
    for text in ("torch.dot(A, x)", "dot(A, x)", "import torch\ndef f(A, x):\n    return A.dot(x)"):
        with pytest.raises(GradcliError, match="needs a vector"):
            answered(text)


def test_numbers_that_are_none_are_told() -> None:
    """Of values with nan and infinities, as NumPy tells them; and the step at 0 itself."""
    x = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
    for name in ("isnan", "isinf", "isfinite"):
        found = Function(f"np.where(np.{name}(x), 1, 0)").eval({"x": x}, check=False)
        assert found.value.tolist() == getattr(np, name)(x).tolist()
    assert Function("np.heaviside(x, 0.5)").eval({"x": [-1, 0, 2]}, check=False).value.tolist() == [0, 0.5, 1]
