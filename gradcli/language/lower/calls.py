"""Calls of functions and methods, as torch, NumPy, SymPy and Python write them: `log(x, 10)`, `sum(... for ...)`."""

from __future__ import annotations

import builtins
import itertools
import re
from collections.abc import Mapping
from dataclasses import replace

from gradcli.errors import GradcliError, Span, UnknownFactorError, UnknownFunctionError
from gradcli.language import ops
from gradcli.language.lower import juxtaposed_names, libraries, loops
from gradcli.language.lower.arguments import EXTREMES, Bindings, bind, spelled_out
from gradcli.language.lower.constants import inline_text
from gradcli.language.lower.context import Context, Operand, Several, lower
from gradcli.language.lower.conversions import SPECIAL, TENSORS, constructed, special
from gradcli.language.lower.inlining import inlined_call
from gradcli.language.lower.lines import as_number, emit, require_tensor, with_place
from gradcli.language.lower.matrix_calls import CALLS, called
from gradcli.language.lower.matrix_ranks import RowVector
from gradcli.language.lower.sizes import fitted, needed_shape, needed_shapes, shape_of
from gradcli.language.ops import Default, Kind, Meaning, Op, gives_positions
from gradcli.language.ops.torch_functions import CODE_FUNCTIONS
from gradcli.language.program.wengert import Call
from gradcli.language.text import hints
from gradcli.language.text.nodes import Arguments, Items, Loop, NameNode, Node
from gradcli.language.text.tokens import Token

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
"""Letter that stands for the logistic function where it is called."""

_FOLDS: Mapping[str, str] = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""Operations by which Python folds the terms of a list or a loop, `sum(f(i) for i in range(n))`."""


def call(
    context: Context,
    name: Token,
    span: Span,
    given: list[Operand],
    arguments: Arguments,
    *,
    after_dot: bool = False,
    library: str = "",
    is_own: bool = False,
) -> Operand:
    """Lower a function with its arguments.

    Args:
        context: Place of the call.
        name: Of the function.
        span: Of the name with what is before it.
        given: The operand before the dot of a method.
        arguments: Its arguments.
        after_dot: Whether a dot is before it.
        library: The library whose meaning it has, by the module before it; torch's if empty.
        is_own: Whether it is Python's own where that has one by its name.
    """
    if name.text in TENSORS and not given:
        return constructed(context, name, span, arguments)
    if name.text in CALLS and not given and not after_dot:
        return called(context, name, span, arguments)
    if name.text in SPECIAL and not given:
        return special(context.of_cases(), name, span, arguments)
    op = ops.find(name.text, after_dot=after_dot)
    if op is not None and op.name == "log" and (gamma := _gamma_in(arguments)) is not None:
        return emit(context, "lgamma", [lower(context, gamma)[0]], span.to(arguments.span))
    if op is None:
        raise _unknown(context, name, arguments)
    given = [] if name.text.startswith("new_") else given
    op = ops.TABLE[libraries.OTHER_ROWS.get((name.text, library), op.name)]
    is_of_list = op.variadic and op.operands[0] in ("tensors", "operands")
    if given and (op.kind is Kind.SOURCE or is_of_list):
        hint = f"write {op.name}([a, b])" if is_of_list else f"write {op.name}(...)"
        message = f"'{name.text}' is not a method of a tensor"
        raise context.source.error(message, name.span, hint=hint, kind=UnknownFunctionError)
    whole = span.to(arguments.span)
    is_python = (not after_dot and op.name in ("sum", *EXTREMES)) or (library == "math" and op.name == "prod")
    if is_python or (not given and any(isinstance(one.value, Loop) for one in arguments.items)):
        folded = _folded(context, op, arguments, name, whole, is_own=is_own and is_python)
        if folded is not None:
            return folded
    bound = bind(context, op, name, arguments, given, library)
    if other := _of_matrices(context, bound, name, span, library or "torch" * (not given)):
        bound = bind(context, ops.TABLE[other], name, arguments, given, library)
    elif bound.op.name == "norm" and "p" not in bound.waiting and bound.statics["p"] == "fro":
        bound.statics["p"] = 2
    if after_dot:
        _require_taken(context, bound, name, library)
    if bound.op.defined_by is Meaning.TORCH_INLINE:
        return inlined_call(context, bound, whole)
    meaning = libraries.ELSEWHERE.get(library, {}).get(bound.op.name)
    if isinstance(meaning, str) and bound.constants == tuple(bound.op.statics.values()):
        atoms = (a for a, _ in bound.values)
        return inline_text(context, meaning, dict(zip(bound.op.operands, atoms, strict=True)), whole), whole
    found = result_of(context, bound.op, bound.values, bound.constants, whole)
    if bound.op.kind is Kind.ELEMENTWISE and any(isinstance(one, RowVector) for one in bound.values):
        return RowVector(*found)
    if library or context.known.is_meaning or not gives_positions(bound.op) or bound.extra:
        return found
    if "keepdim" in bound.statics and bound.statics["dim"] is None:  # of all elements there is one number
        return found
    parts = found, (context.findings.placeholder(None), whole)
    return context.findings.pack(Several(op.name, parts, ("values", "indices"), is_pair=True)), whole


def meant_by_sigma(context: Context, name: Token, arguments: Arguments) -> Token:
    """Return the name of the logistic function where sigma is called with one argument, and say so.

    It stays sigma where that is a number elsewhere in the text.
    """
    pairs = itertools.pairwise(context.source.tokens)
    is_number = any(one.text == SIGMA and after.text != "(" for one, after in pairs)
    if is_number or len(arguments.items) != 1 or arguments.items[0].name is not None:
        return name
    said = f"{SIGMA}(...) is the logistic function, sigmoid; a value by the name {SIGMA} makes it a factor"
    if not context.findings.needs_shapes and said not in context.findings.warnings:
        context.findings.warnings.append(said)
    return replace(name, text="sigmoid")


def _require_taken(context: Context, bound: Bindings, name: Token, library: str) -> None:
    """Refuse the base of a logarithm, which torch lacks, and a third tensor, to which NumPy writes its result."""
    op, count = bound.op, len(bound.values)
    is_log, is_extreme = op.name == "log", op.name in EXTREMES
    if library == "sympy" or (is_log and library == "math"):
        return
    is_folded = is_log or is_extreme or (op.variadic and op.kind is Kind.ELEMENTWISE)
    if is_folded and count > (1 if is_log or (is_extreme and library) else 2):
        hint = "write log(x)/log(base)" if is_log else f"write {EXTREMES.get(op.name, op.name)} of two at a time"
        raise context.source.error(f"too many tensors for the library's {name.text}", name.span, hint=hint)


def _folded(context: Context, op: Op, arguments: Arguments, name: Token, span: Span, *, is_own: bool) -> Operand | None:
    """Fold a loop or a list with the start of a sum term by term, as Python does; None for any other argument.

    Raises:
        LanguageError: Python's own function differs from torch's: it folds rows, or takes plain numbers only.
    """
    items = arguments.items
    node = items[0].value if items and items[0].name is None else None
    if isinstance(node, Loop):
        terms = loops.terms(context, node)
        if op.name in ("stack", "cat"):
            return result_of(context, op, terms, (0,), span)
        if op.name not in _FOLDS:
            message, hint = f"{op.name} does not take a generator", f"write {op.name}([... for ...])"
            raise context.source.error(message, arguments.opening.span, hint=hint)
    elif node is None or items[-1].name is not None:
        return None
    elif len(items) > 1 + (op.name == "sum"):
        terms = []
    elif isinstance(node, Items) and not isinstance(node.items[0] if node.items else node, Items):
        terms = loops.elements(context, node)
    else:
        terms = loops.parts_in(context, node) or []
        for atom, several in context.findings.several.items() if terms else ():
            is_mixed = bool(several.names) and "indices" not in several.names  # they mean different things
            if is_mixed and [*several.parts] == terms:
                require_tensor(context, atom, span)
    if is_own and not terms:
        given = [lower(context, one.value) for one in items]
        terms = given if op.name in EXTREMES and len(items) > 1 else []
        shapes = [needed_shape(context, require_tensor(context, *operand)) for operand in given]
        if (len(items) > 1 and not terms) or any(len(s) > (len(items) == 1) for s in shapes if s is not None):
            raise context.source.code(f"Python's own '{name.text}' of a tensor", name.span, f"write x.{name.text}()")
    elif op.name == "sum":
        terms = terms and [lower(context, one.value) for one in items[1:]] + terms
    if not terms:
        return None
    first, *others = [as_number(context, a, s) if op.name == "sum" else a for a, s in terms]
    for term in others:
        first = emit(context, _FOLDS[op.name], [first, term], span)[0]
    return first, span


def _of_matrices(context: Context, bound: Bindings, name: Token, span: Span, library: str) -> str:
    """Name the function of matrices that a norm is, or NumPy's `A.dot(x)`, which torch refuses; nothing of others."""
    if bound.op.name == "norm" and "p" not in bound.waiting:
        return "matrix_norm" * _is_of_matrix(context, bound, name, span)
    if bound.op.name != "dot" or library not in ("", "numpy") or (not library and context.libraries.has_torch):
        return ""
    ranks = [len(shape) for atom, _ in bound.values if (shape := needed_shape(context, atom)) is not None]
    return "matmul" * (sorted(ranks) in ([1, 2], [2, 2]))


def _is_of_matrix(context: Context, bound: Bindings, name: Token, span: Span) -> bool:
    """Tell whether a norm is of a matrix: `linalg.norm(A, 2)` without dim or over two dimensions, or "nuc"."""
    if bound.statics["p"] == "nuc":
        return True
    shape = shape_of(context, bound.values[0][0])
    if shape is not None and len(shape) < 2:
        return False
    dim = bound.statics["dim"]
    is_of_linalg = "linalg" in context.source.text[span.start : name.span.start] and name.text == "norm"
    return is_of_linalg and (dim is None or (isinstance(dim, tuple) and len(dim) == 2))


def result_of(context: Context, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
    """Append the line of a call whose arguments are bound."""
    atoms = [a for a, _ in operands]
    if op.name == "log" and len(atoms) == 2:
        parts = [emit(context, "log", [a], span)[0] for a in atoms]
        return emit(context, "div", parts, span)
    if (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name in EXTREMES and len(atoms) > 1):
        name, result = EXTREMES.get(op.name, op.name), atoms[0]
        for atom in atoms[1:]:
            result = emit(context, name, [result, atom], span)[0]
        return result, span
    if op.has_equation and "..." in str(statics[0]) and (shapes := needed_shapes(context, atoms)) is not None:
        statics = (spelled_out(str(statics[0]), [len(shape) for shape in shapes]),)
    if op.of_shapes:
        atoms = [require_tensor(context, a, span) for a in atoms]  # a list of Python's has a shape as a tensor
        call = Call(op.name, tuple(atoms), (*statics, None))
        statics = with_place(context, span, lambda: fitted(context, call)).statics
    return emit(context, op.name, atoms, span, statics)


def _unknown(context: Context, name: Token, arguments: Arguments) -> GradcliError:
    """Make the error for a name that is not in the table, by its arguments: a letter may stand before a factor."""
    is_factor = len(arguments.items) == 1 and arguments.items[0].name is None
    is_integral = name.text == "int" and len(arguments.items) > 1  # Python's takes a number
    is_pythons = hasattr(builtins, name.text) or (context.libraries.is_code and hasattr(list, name.text))
    is_fact = (name.text in hints.FACTS or is_integral) and not context.libraries.is_code
    is_fact &= {";", "\n"}.isdisjoint(context.source.text)
    if (is_pythons or name.text in CODE_FUNCTIONS) and not is_fact:
        return context.source.code(f"'{name.text}(...)'", name.span)
    hint = hints.of_unknown("integral" if is_integral else name.text) or "gradcli functions lists them"
    is_factor &= not re.match(r"\(\s*\d+\s*\)", context.source.text[name.span.stop :])
    is_factor &= juxtaposed_names.is_letter(name.text) and not context.libraries.is_code
    kind = UnknownFactorError if is_factor else UnknownFunctionError
    message = f"unknown function '{name.text}'{hints.where(name.text)}"
    return context.source.error(message, name.span, hint=hint, kind=kind)


def _gamma_in(arguments: Arguments) -> Node | None:
    """Find the x of `log(Abs(gamma(x)))`, which SymPy writes."""
    for name in ("abs", "gamma"):
        node = arguments.items[0].value if len(arguments.items) == 1 else None
        if not isinstance(node, NameNode) or node.arguments is None or node.token.text.lower() != name:
            return None
        arguments = node.arguments
    return arguments.items[0].value if len(arguments.items) == 1 else None
