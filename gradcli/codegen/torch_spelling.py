"""How PyTorch is asked for each operation, as text: the counterpart of `gradcli.autodiff.run.apply`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from gradcli.codegen.expressions import ATOM, SIGN, Piece, Spelling, called, constant, joined, key, negated, sign_of
from gradcli.codegen.literals import held, rule_of, shortest, whole
from gradcli.language.ops import REQUIRED, Kind
from gradcli.language.program import constant_tensors
from gradcli.language.program.indexing import Shape
from gradcli.language.program.movement import axes_of, permutation
from gradcli.language.program.shapes import count_of
from gradcli.language.program.torch_calls import EXTREMES, OPERATORS, axes_one_by_one, keywords_over
from gradcli.language.program.wengert import Atom, Line, number
from gradcli.results import Array

FUNCTIONAL, NUMPY = "import torch.nn.functional as F", "import numpy as np"
"""Imports that only some scripts need."""

_METHODS = frozenset(["sum", "mean", "prod", "amax", "amin", "var", "std", "max", "min", "cumsum"])
"""Operations over dimensions that are written as methods, and whose dim is left out where it is all of them."""

_TAKES_COUNTS = frozenset(["add", "sub", "mul", "div"])
"""Operators that give the same with a number and with a tensor that holds it; powers do not to the last digit."""


class TorchSpelling(Spelling):
    """Expressions of PyTorch for the lines of a Program."""

    module = "torch"

    def __init__(self, dtype: str, pieces: Mapping[Atom, Piece], shapes: Mapping[Atom, Shape]) -> None:
        super().__init__(dtype, pieces, shapes)
        self.lists: dict[Atom, str] = {}

    # -- values

    def tensor(self, array: Array, name: str, *, requires_grad: bool = False) -> str:
        """A tensor of these numbers, which is a leaf.

        Raises:
            TooLargeError: They are many and follow no rule.
        """
        rule = rule_of(array, name, "torch.inf", "torch.nan")
        options = f"dtype=torch.{self.dtype}" + ", requires_grad=True" * requires_grad
        size = ", ".join(map(str, rule.shape)) or "()"
        shape = f"({rule.shape[0]},)" if len(rule.shape) == 1 else f"({size})"
        match rule.kind:
            case "list":
                return f"torch.tensor({rule.text}, {options})"
            case "full" if rule.numbers[0] in (0, 1) and not np.signbit(rule.numbers[0]):
                return f"torch.{'ones' if rule.numbers[0] else 'zeros'}({size}, {options})"
            case "full":
                return f"torch.full({shape}, {constant(rule.numbers[0], 'torch').text}, {options})"
            case "eye":
                return f"torch.eye({size}, {options})"
        numbers = ", ".join(map(whole, rule.numbers))
        if rule.kind == "arange":
            numbers = ", ".join(map(whole, shortest(rule.numbers)))
        if len(rule.shape) == 1 and rule.is_exact:
            return f"torch.{rule.kind}({numbers}, {options})"
        text = f"torch.{rule.kind}({numbers}, dtype=torch.{self.dtype})"
        if not rule.is_exact:  # torch rounds differently
            self.imports.add(NUMPY)
            text = f"torch.from_numpy(np.linspace({numbers}))" + ".float()" * (self.dtype == "float32")
        text += f".reshape({size})" * (len(rule.shape) > 1)
        return text + ".requires_grad_()" * requires_grad

    def complete(self, atom: Atom, piece: Piece) -> Piece:
        """The same as a tensor."""
        return piece if self.is_array(atom) else called("torch.tensor", piece.text, f"dtype=torch.{self.dtype}")

    # -- operations

    def _spelled(self, line: Line, pieces: Sequence[Piece]) -> Piece:
        call = line.call
        op, atoms = call.op, call.operands
        tensors = [self.complete(a, p) for a, p in zip(atoms, pieces, strict=True)]
        match op.kind:
            case Kind.ELEMENTWISE | Kind.CONTRACTION if op.name in OPERATORS:
                return self._operator(line, pieces, tensors)
            case Kind.LIST:
                return self._list(line, pieces, tensors)
            case Kind.COUNT:
                self.counts.add(line.symbol)
                return self._count(line, pieces[0])
            case Kind.SOURCE:
                return Piece(self.tensor(held(constant_tensors.array_of(call), self.dtype), f"{op.name}(...)"))
            case Kind.MOVEMENT:
                return self._moved(line, tensors[0])
            case Kind.REDUCTION | Kind.SCAN | Kind.DEFINED:
                return self._over(line, pieces, tensors)
        return self._elementwise(line, pieces, tensors)

    def _operator(self, line: Line, pieces: Sequence[Piece], tensors: Sequence[Piece]) -> Piece:
        name, atoms = line.call.op.name, line.call.operands
        if not any(self.is_array(a) for a in atoms):
            pieces = tensors
        elif name not in _TAKES_COUNTS:
            pieces = [t if a in self.counts else p for a, p, t in zip(atoms, pieces, tensors, strict=True)]
        return negated(pieces[0]) if name == "neg" else joined(sign_of(name), *pieces)

    def _elementwise(self, line: Line, pieces: Sequence[Piece], tensors: Sequence[Piece]) -> Piece:
        call = line.call
        op, atoms = call.op, call.operands
        plain = [t if a in self.counts else p for a, p, t in zip(atoms, pieces, tensors, strict=True)]
        match op.name:
            case "detach":
                return Piece(f"{tensors[0].at(ATOM)}.detach()")
            case "logical_and" | "logical_or":
                return joined("&" if op.name == "logical_and" else "|", *tensors)
            case "logical_not":
                return Piece(f"~{tensors[0].at(SIGN)}", SIGN)
            case "where" if any(self.is_array(a) for a in atoms[1:]):
                is_held = all(self.is_array(a) or np.isfinite(held(number(a), self.dtype)) for a in atoms[1:])
                return called("torch.where", *(p.text for p in [tensors[0], *(plain if is_held else tensors)[1:]]))
            case "clamp" if not any(a in self.pieces for a in atoms[1:]):
                return called("torch.clamp", tensors[0].text, *(p.text for p in pieces[1:]))
            case "clamp":  # of one shape, as torch's backward does not sum over the sizes that it stretched
                return called("torch.clamp", f"*{called('torch.broadcast_tensors', *(t.text for t in tensors)).text}")
            case "polygamma":
                return called("torch.polygamma", str(call.statics[0]), tensors[0].text)
        given = zip(op.operands, pieces, tensors, strict=True)
        texts = [p.text if parameter in op.numbers else t.text for parameter, p, t in given]
        return called(self._function(op.torch), *texts, *self._keywords(line))

    def _keywords(self, line: Line) -> list[str]:
        """Constant arguments by name, but for those that are as by default."""
        op = line.call.op
        given = zip(op.statics.items(), line.call.statics, strict=True)
        return [f"{name}={_word(value)}" for (name, default), value in given if value != default]

    def _function(self, path: str) -> str:
        if path.startswith("nn.functional."):
            self.imports.add(FUNCTIONAL)
            return f"F.{path.removeprefix('nn.functional.')}"
        return f"torch.{path}"

    def _list(self, line: Line, pieces: Sequence[Piece], tensors: Sequence[Piece]) -> Piece:
        call = line.call
        axis, options = call.statics[0], f"dtype=torch.{self.dtype}"
        texts = [self.lists.get(a, p.text) for a, p in zip(call.operands, pieces, strict=True)]
        is_number = [not isinstance(a, sympy.Symbol) or a in self.lists for a in call.operands]
        shapes = {self.shapes.get(a, ()) for a in call.operands}
        if call.op.name == "stack" and axis == 0 and all(is_number) and len(shapes) == 1:
            self.lists[line.symbol] = f"[{', '.join(texts)}]"
            return called("torch.tensor", self.lists[line.symbol], options)
        text = f"[{', '.join(t.text for t in tensors)}]"
        if len(shapes) > 1 and call.op.name == "stack":
            text = f"torch.broadcast_tensors({text[1:-1]})"
        return called(f"torch.{call.op.torch}", text, f"dim={axis}" * (axis != 0))

    def _count(self, line: Line, piece: Piece) -> Piece:
        (atom,), dim = line.call.operands, line.call.statics[0]
        shape = self.shapes.get(atom, ())
        axes = axes_of(shape, dim)
        if not self.is_array(atom) or (len(axes) != 1 and dim is not None):
            return Piece(str(count_of(shape, dim)))
        return Piece(f"{piece.at(ATOM)}.{'numel()' if dim is None else f'shape[{axes[0]}]'}")

    def _moved(self, line: Line, x: Piece) -> Piece:
        call = line.call
        name, statics, shape = call.op.name, call.statics, self.shapes.get(call.operands[0], ())
        head = x.at(ATOM)
        match name:
            case "index":
                return Piece(f"{head}[{key(statics[0])}]")
            case "transpose" if statics != (None, None):
                return called(f"{head}.transpose", *map(_word, statics))
            case "transpose" | "permute":
                order = permutation(shape, call)
                return Piece(f"{head}.T" if order == (1, 0) else f"{head}.permute({_sizes(order)})")
            case "squeeze":
                return Piece(f"{head}.squeeze({'' if statics[0] is None else _word(statics[0])})")
            case "expand" | "reshape":
                return Piece(f"{head}.{name}({_sizes(statics[0])})")
            case "flip":
                return Piece(f"{head}.flip({_sizes(axes_of(shape, statics[0]))})")
            case "roll":
                return Piece(f"{head}.roll({', '.join(_word(s) for s in statics if s is not None)})")
            case "unsqueeze":
                return Piece(f"{head}.unsqueeze({_word(statics[0])})")
            case "pad":
                return called(self._function(call.op.torch), x.text, _word(statics[0]), *self._keywords(line)[1:])
        return Piece(f"{head}.{name}({', '.join(self._keywords(line))})")

    def _over(self, line: Line, pieces: Sequence[Piece], tensors: Sequence[Piece]) -> Piece:
        """Operations over dimensions, and losses: their constants go by name."""
        call = line.call
        op, shape = call.op, self.shapes.get(call.operands[0], ())
        named = keywords_over(call, shape)
        head = tensors[0].at(ATOM)
        if op.name in ("sum", "mean") and call.statics == (None, False):
            return called(f"{head}.{op.name}")
        if op.name == "sum" and named["dim"] == ():
            return joined("*", tensors[0], Piece("1"))
        if op.name in EXTREMES:
            return self._extreme(line, head, shape)
        if op.name == "einsum":
            return called("torch.einsum", _word(named["equation"]), *(t.text for t in tensors))
        if op.name in _METHODS and named["dim"] == tuple(range(len(shape))) and shape and not named["keepdim"]:
            del named["dim"]
        dim = named.get("dim")
        named |= {"dim": dim[0]} if isinstance(dim, tuple) and len(dim) == 1 else {}
        defaults = {**op.statics, **({"ord": 2} if op.name == "norm" else {}), "dim": None}
        options = [f"{k}={_word(v)}" for k, v in named.items() if v != defaults.get(k, REQUIRED)]
        if op.name in _METHODS:
            return called(f"{head}.{op.name}", *options)
        given = list(zip(op.operands, pieces, tensors, strict=False))
        texts = [t.text for parameter, _, t in given if parameter not in op.numbers]
        numbers = [f"{parameter}={p.text}" for parameter, p, _ in given if parameter in op.numbers]
        return called(self._function(op.torch), *texts, *options, *numbers)

    def _extreme(self, line: Line, text: str, shape: Shape) -> Piece:
        name, keepdim = line.call.op.name, line.call.statics[1]
        axes = axes_one_by_one(line.call, shape)
        if axes is None:
            return Piece(f"{text}.{name}()")
        for axis in axes:
            found = f"{text}.{name}(dim={axis}{', keepdim=True' * keepdim})"
            text = found if name == "prod" else f"{found}.values"
        return Piece(text)


def _sizes(sizes: Hashable) -> str:
    """Sizes or dimensions as arguments."""
    return ", ".join(map(str, sizes)) or "()" if isinstance(sizes, tuple) else str(sizes)


def _word(value: Any) -> str:
    """A constant argument."""
    match value:
        case str():
            return (
                f'"{value}"'
                if value.isascii() and value.isprintable() and not set(value) & set("\"'\\")
                else repr(value)
            )
        case bool() | None:
            return str(value)
        case tuple():
            return f"({', '.join(map(_word, value))}{',' * (len(value) == 1)})"
    return constant(value, "torch").text
