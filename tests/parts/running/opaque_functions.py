"""Functions that no recorder reads, with their gradients written by hand: in NumPy, SciPy, C++, or in torch's kernels.

Each is made right, and wrong by a factor, in each of the ways in which users bring such code to autograd.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch


@dataclass(frozen=True)
class Kernel:
    """Function of arrays with its vector-Jacobian product.

    Attributes:
        name: Its name.
        forward: Computes the value.
        backward: Computes the products with a gradient vector, the last argument, by each argument.
        shapes: Shapes of its arguments.
        way: The way in which it is made a function of torch: `operation`, or `function` for an `autograd.Function`.
        is_single: Whether it computes in float32 alone.
        low: The smallest number among its arguments.
        high: The largest one.
    """

    name: str
    forward: Callable[..., Any]
    backward: Callable[..., tuple[Any, ...]]
    shapes: tuple[tuple[int, ...], ...] = ((4,),)
    way: str = "function"
    is_single: bool = False
    low: float = 0.3
    high: float = 1.7

    def arguments(self, dtype: torch.dtype) -> list[torch.Tensor]:
        """Draw arguments."""
        generator = np.random.default_rng(len(self.name))
        drawn = (generator.uniform(self.low, self.high, shape) for shape in self.shapes)
        return [torch.tensor(one).to(dtype).requires_grad_() for one in drawn]

    def made(self, factor: float) -> Callable[..., torch.Tensor]:
        """Make the function of torch, whose first gradient is multiplied by a factor."""
        return _operation(self, factor) if self.way == "operation" else _function(self, factor)

    def called(self, *tensors: torch.Tensor) -> torch.Tensor:
        """Compute the value of tensors, in NumPy."""
        if self.is_single and tensors[0].dtype is not torch.float32:
            raise TypeError(f"{self.name} takes float32")
        arrays = [one.detach().numpy() for one in tensors]
        return torch.from_numpy(np.asarray(self.forward(*arrays), arrays[0].dtype))

    def products(self, factor: float, grad: torch.Tensor, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Compute the gradients."""
        arrays = [one.detach().numpy() for one in tensors]
        first, *others = self.backward(*arrays, grad.detach().numpy())
        return tuple(torch.from_numpy(np.array(one, arrays[0].dtype)) for one in (factor * first, *others))


def _function(kernel: Kernel, factor: float) -> Callable[..., torch.Tensor]:
    class Applied(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(*tensors)
            return kernel.called(*tensors)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return kernel.products(factor, grad, *ctx.saved_tensors)

    Applied.__name__ = kernel.name
    return Applied.apply


_COUNT = itertools.count()


def _operation(kernel: Kernel, factor: float) -> Callable[..., torch.Tensor]:
    names = [f"x{n}" for n, _ in enumerate(kernel.shapes)]
    schema = f"({', '.join(f'Tensor {name}' for name in names)}) -> Tensor"
    name = f"opaque_functions::{kernel.name}_{next(_COUNT)}"
    operation = torch.library.custom_op(name, kernel.called, mutates_args=(), schema=schema)

    def fake(*tensors: torch.Tensor) -> torch.Tensor:
        shape = kernel.forward(*(np.ones(tuple(one.shape)) for one in tensors)).shape
        return tensors[0].new_empty(shape)

    def setup(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return kernel.products(factor, grad, *ctx.saved_tensors)

    operation.register_fake(fake)
    operation.register_autograd(backward, setup_context=setup)
    return operation


# -- the functions


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _softmax_back(x: Any, g: Any) -> tuple[Any, ...]:
    y = _softmax(x)
    return (y * (g - (g * y).sum(-1, keepdims=True)),)


def _root(c: Any) -> Any:
    """Solve y + y³ = c by bisection."""
    low, high = np.zeros_like(c), np.full_like(c, 2)
    for _ in range(80):
        middle = (low + high) / 2
        is_below = middle + middle**3 < c
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low


def _spectrum(x: Any) -> Any:
    return np.abs(np.fft.rfft(x)) ** 2


def _spectrum_back(x: Any, g: Any) -> tuple[Any, ...]:
    n = len(x)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(n // 2 + 1), np.arange(n)) / n)
    return (2 * (g * np.conj(waves @ x)) @ waves,)


def _solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(a + 3 * np.eye(len(b), dtype=a.dtype), b)


def _solved_back(a: Any, b: Any, g: Any) -> tuple[Any, ...]:
    matrix = a + 3 * np.eye(len(b), dtype=a.dtype)
    of_b = np.linalg.solve(matrix.T, g)
    return -np.outer(of_b, np.linalg.solve(matrix, b)), of_b


KERNELS = [
    Kernel("sine", np.sin, lambda x, g: (g * np.cos(x),), way="operation"),
    Kernel("exponentials", lambda x: np.exp(x).sum(), lambda x, g: (g * np.exp(x),), way="operation"),
    Kernel(
        "matvec",
        lambda a, x: a @ x,
        lambda a, x, g: (np.outer(g, x), a.T @ g),
        shapes=((3, 4), (4,)),
        way="operation",
    ),
    Kernel("softmax", _softmax, _softmax_back, shapes=((2, 3),), way="operation"),
    Kernel("length", lambda x: np.sqrt((x**2).sum()), lambda x, g: (g * x / np.sqrt((x**2).sum()),), way="operation"),
    Kernel(
        "running",
        lambda x: np.cumsum(x**2),
        lambda x, g: (2 * x * np.cumsum(g[::-1])[::-1],),
        shapes=((5,),),
        way="operation",
    ),
    Kernel(
        "gated",
        lambda x, w: x * np.tanh(w),
        lambda x, w, g: (g * np.tanh(w), g * x / np.cosh(w) ** 2),
        shapes=((3,), (3,)),
        way="operation",
    ),
    Kernel("logsumexp", lambda x: np.log(np.exp(x).sum()), lambda x, g: (g * _softmax(x),), way="operation"),
    Kernel("single", lambda x: x**3, lambda x, g: (3 * g * x**2,), way="operation", is_single=True, low=0.5, high=2.0),
    Kernel(
        "convolved",
        lambda x, w: np.convolve(x, w, "valid"),
        lambda x, w, g: (np.convolve(g, w[::-1]), np.correlate(x, g, "valid")[::-1]),
        shapes=((6,), (3,)),
    ),
    Kernel("powers", lambda x: np.polyval([2, -1, 0.5, 3], x), lambda x, g: (g * (6 * x**2 - 2 * x + 0.5),)),
    Kernel("root", _root, lambda c, g: (g / (1 + 3 * _root(c) ** 2),)),
    Kernel("spectrum", _spectrum, lambda x, g: (np.real(_spectrum_back(x, g)[0]),), shapes=((6,),)),
    Kernel("solved", _solved, _solved_back, shapes=((3, 3), (3,))),
    Kernel("ordered", np.sort, lambda x, g: (g[np.argsort(np.argsort(x))],)),
    Kernel(
        "trapezoids",
        lambda x: (np.sin(x)[1:] + np.sin(x)[:-1]).sum() / 2,
        lambda x, g: (g * np.cos(x) * np.array([0.5, *[1] * (len(x) - 2), 0.5]),),
    ),
    Kernel("determinant", np.linalg.det, lambda x, g: (g * np.linalg.det(x) * np.linalg.inv(x).T,), shapes=((3, 3),)),
    Kernel("coarse", lambda x: 1 / (1 + x**2), lambda x, g: (-2 * g * x / (1 + x**2) ** 2,), is_single=True, high=1.2),
]

if find_spec("scipy"):
    from scipy import special

    KERNELS += [
        Kernel("bessel", special.j0, lambda x, g: (-g * special.j1(x),)),
        Kernel("erfcx", special.erfcx, lambda x, g: (g * (2 * x * special.erfcx(x) - 2 / np.sqrt(np.pi)),)),
    ]


# -- torch's own kernel without a meaning


def ctc(factor: float) -> Callable[..., torch.Tensor]:
    """Make the CTC loss of probabilities that add up to 1, as its backward takes them to do."""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return factor * grad

    def loss(x: torch.Tensor) -> torch.Tensor:
        scaled = x if factor == 1 else Scaled.apply(x)
        labels, sizes = torch.tensor([[1, 2, 1]]), (torch.tensor([5]), torch.tensor([3]))
        return torch.nn.functional.ctc_loss(scaled.log_softmax(-1), labels, *sizes)

    return loss


def of_ctc(dtype: torch.dtype) -> list[torch.Tensor]:
    """Draw arguments of the CTC loss."""
    drawn = torch.randn(5, 1, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return [drawn.to(dtype).requires_grad_()]


# -- code that writes to memory, which no recorder sees


def _memory_of(tensor: torch.Tensor) -> Any:
    """View the memory of a tensor, as code does that has its address alone."""
    number = ctypes.c_double if tensor.dtype is torch.float64 else ctypes.c_float
    return np.ctypeslib.as_array(ctypes.cast(tensor.data_ptr(), ctypes.POINTER(number)), tuple(tensor.shape))


def _written(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    _memory_of(y)[:] = np.sqrt(1 + _memory_of(x) ** 2)
    return y


def _in_between(x: torch.Tensor) -> torch.Tensor:
    """Write to a buffer that is read again: 1/sqrt(1 + x²), times what makes it the same function."""
    between = torch.zeros_like(x)
    _memory_of(between)[:] = 1 / np.sqrt(1 + _memory_of(x) ** 2)
    return between * (1 + x**2)


WRITERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "empty": lambda x: _written(torch.empty_like(x), x),
    "new": lambda x: _written(x.new_empty(x.shape), x),
    "zeros": lambda x: _written(torch.zeros(x.shape, dtype=x.dtype), x),
    "full": lambda x: _written(torch.full_like(x, 7), x),
    "copy": lambda x: _written(x.clone(), x),
    "several": lambda x: torch.stack([_written(torch.empty_like(x), x), _written(torch.empty_like(x), x)])[0],
    "in between": _in_between,
}
"""Computes sqrt(1 + x²) in memory, in each of the ways in which such a buffer is made."""


def written_sine(x: torch.Tensor) -> torch.Tensor:
    """Write the sine to a buffer."""
    y = torch.empty_like(x)
    _memory_of(y)[:] = np.sin(_memory_of(x))
    return y


def writing(writer: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[float], Callable[..., torch.Tensor]]:
    """Give what makes a function of one of `WRITERS`, whose gradient is multiplied by a factor."""
    return lambda factor: with_slope(lambda x: writer(x.contiguous()), lambda x: factor * x / (1 + x**2).sqrt())


# -- C++

HAS_COMPILER = bool(shutil.which("g++") or shutil.which("clang++")) and bool(shutil.which("ninja"))

SOURCE = """
using torch::Tensor, torch::autograd::AutogradContext, torch::autograd::variable_list;

template <typename F> void each(const Tensor& x, Tensor& y, F f) {
  auto from = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "kernel", [&] {
    auto *a = from.data_ptr<scalar_t>(), *b = y.data_ptr<scalar_t>();
    for (int64_t i = 0; i < x.numel(); i++) b[i] = f(a[i]);
  });
}

Tensor root(Tensor x) {
  auto y = torch::empty_like(x);
  each(x, y, [](auto a) { return std::sqrt(1 + a*a); });
  return y;
}

Tensor sines(Tensor a, Tensor x) {
  auto y = torch::zeros({a.size(0)}, x.options());
  auto m = a.contiguous(), v = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "kernel", [&] {
    auto *p = m.data_ptr<scalar_t>(), *q = v.data_ptr<scalar_t>(), *r = y.data_ptr<scalar_t>();
    for (int64_t i = 0; i < a.size(0); i++)
      for (int64_t j = 0; j < x.numel(); j++) r[i] += p[i*x.numel() + j]*std::sin(q[j]);
  });
  return y;
}

Tensor cube(Tensor x) {
  auto y = x.clone();
  each(y, y, [](auto a) { return a*a*a; });
  return y;
}

void gauss(Tensor x, Tensor y) { each(x, y, [](auto a) { return std::exp(-a*a); }); }

struct Tangent : public torch::autograd::Function<Tangent> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double factor) {
    auto y = torch::empty_like(x);
    each(x, y, [](auto a) { return std::tanh(a); });
    ctx->save_for_backward({y});
    ctx->saved_data["factor"] = factor;
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list v) {
    auto y = ctx->get_saved_variables()[0];
    return {ctx->saved_data["factor"].toDouble()*v[0]*(1 - y*y), Tensor()};
  }
};

Tensor tangent(Tensor x, double factor) { return Tangent::apply(x, factor); }
"""


@cache
def _compiled() -> Any:
    from torch.utils.cpp_extension import load_inline

    functions = ["root", "sines", "cube", "gauss", "tangent"]
    return load_inline("opaque_functions_of_tests", SOURCE, functions=functions)


def _gauss(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    _compiled().gauss(x, y)
    return y


def _sines(factor: float) -> Callable[..., torch.Tensor]:
    class Sines(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(a, x)
            return _compiled().sines(a, x)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
            a, x = ctx.saved_tensors
            return factor * torch.outer(grad, x.sin()), (a.T @ grad) * x.cos()

    return Sines.apply


COMPILED: dict[str, tuple[Callable[[float], Callable[..., torch.Tensor]], tuple[tuple[int, ...], ...]]] = {
    "root": (
        lambda factor: with_slope(lambda x: _compiled().root(x), lambda x: factor * x / (1 + x**2).sqrt()),
        ((4,),),
    ),
    "sines": (_sines, ((3, 4), (4,))),
    "cube": (lambda factor: with_slope(lambda x: _compiled().cube(x), lambda x: factor * 3 * x**2), ((2, 3),)),
    "gauss": (lambda factor: with_slope(_gauss, lambda x: -2 * factor * x * torch.exp(-(x**2))), ((5,),)),
    "tangent": (lambda factor: lambda x: _compiled().tangent(x, factor), ((4,),)),
}
"""What makes each function of C++, by a factor of its gradient, with the shapes of its arguments; the last one has a
backward of C++ too, so that no `autograd.Function` of Python is applied."""


def of_compiled(shapes: tuple[tuple[int, ...], ...]) -> Callable[[torch.dtype], list[torch.Tensor]]:
    """Give what draws arguments of these shapes."""
    return Kernel("compiled", np.sin, np.cos, shapes).arguments  # type: ignore[arg-type]


# -- single ones


def with_slope(
    forward: Callable[..., torch.Tensor], slope: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[..., torch.Tensor]:
    """Make a function of a forward that is not read, with a slope for each element."""

    class WithSlope(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return grad * slope(x)

    return WithSlope.apply


def operation(
    forward: Callable[..., torch.Tensor], fake: Callable[..., torch.Tensor] | None
) -> Callable[..., torch.Tensor]:
    """Make an operation whose gradient is that of a sine."""
    name = f"opaque_functions::of_tests_{next(_COUNT)}"
    found = torch.library.custom_op(name, forward, mutates_args=(), schema="(Tensor x) -> Tensor")
    if fake is not None:
        found.register_fake(fake)
    found.register_autograd(
        lambda ctx, grad: grad * torch.cos(ctx.saved_tensors[0]),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    return found


def packed(x: torch.Tensor) -> torch.Tensor:
    """Run a recurrent layer over packed sequences."""
    torch.manual_seed(0)
    given = (x * torch.linspace(-1, 1, 9, dtype=x.dtype).reshape(3, 3)).view(1, 3, 3)
    sequences = torch.nn.utils.rnn.pack_padded_sequence(given, [3], batch_first=True)
    found: torch.Tensor = torch.nn.LSTM(3, 2, batch_first=True).double()(sequences)[0].data
    return found


X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)

SINE = KERNELS[0].made(1.0)

GATED = next(one for one in KERNELS if one.name == "gated").made(1.0)
