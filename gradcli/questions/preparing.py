"""From a text and values to a Question: names, shapes and numbers in place, all of it without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gradcli.errors import InputError, constants_meant, did_you_mean
from gradcli.language.inputs import Array, Value, read_value
from gradcli.language.lower.calls import SHADOWABLE
from gradcli.language.lower.joined import require_named
from gradcli.language.lower.operators import remarks
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets import Snippet, read
from gradcli.questions.question import Dtype, Question, rounded

DEFAULT_DTYPE = "no dtype is written, and torch would take float32: --dtype float32 shows its numbers"
"""The remark on a snippet that is computed in float64 all the same."""

Inputs = Mapping[str, Value]
"""A value per variable: text of the language, a number, nested lists or an array."""


@dataclass(frozen=True)
class Inquiry:
    """What every question begins with: a function as text, read once, and the options that all questions share.

    Attributes:
        expression: The text.
        snippet: What it says.
        at: Values, which count more than those of the text.
        wrt: The variables to differentiate by; by default those that the text says, or all.
        dtype: Of the computation; by default that of the tensors of the text, or float64.
        check: Whether to compare with the reference.
        points_of: The variables whose first axis counts points.
    """

    expression: str
    snippet: Snippet
    at: Inputs = field(default_factory=dict)
    wrt: Sequence[str] | None = None
    dtype: Dtype | None = None
    check: bool = True
    points_of: Sequence[str] = ()

    def question(self, command: str = "", *, shares: bool = True) -> Question:
        """Everything that can be known without torch, with a remark if the text asks for another command."""
        question = prepare(self, shares=shares)
        if self.snippet.asks in ("", command):
            return question
        from gradcli.questions.remarks import of_asked

        return question.with_remark(of_asked(self.snippet.asks))

    def of_last(self, question: Question, given: object) -> Question:
        """A question about the last pass, with a remark if that is one of several and nothing else was given."""
        if given is not None or not self.snippet.starts_anew:
            return question
        from gradcli.questions.remarks import LAST_ALONE

        return question.with_remark(LAST_ALONE)


def prepare(inquiry: Inquiry, *, shares: bool = True) -> Question:
    """Everything that can be known of a question without torch.

    Args:
        inquiry: The function, at one point.
        shares: Whether operations that compute the same are one line. Without it, two statements never have one
            symbol, and each has a gradient of its own, as in torch.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or shapes do not fit.

    >>> prepare(Inquiry("x**2", read("x**2"), {"x": "1,2"})).shape
    (2,)
    """
    expression, snippet, at, dtype = inquiry.expression, inquiry.snippet, inquiry.at, inquiry.dtype
    if dtype not in ("float64", "float32", None):
        raise InputError(f"unknown dtype '{dtype}'", hint="use float64 or float32")
    of_types = (DEFAULT_DTYPE,) if dtype is None and snippet.values and snippet.dtype is None else ()
    dtype = dtype or snippet.dtype or "float64"
    shadowed, told = frozenset(at) & SHADOWABLE, snippet.program.warnings
    if shadowed or not shares:
        # A value for a name such as `pi` makes a variable of the constant: the text means something else now.
        snippet = read(expression, given=shadowed, shares=shares)
    program = snippet.program
    named = {name: rounded(value, dtype) for name, value in snippet.values.items()}
    for name, value in at.items():
        if name in program.names or name in named:
            named[name] = rounded(read_value(value, f"--at {name}"), dtype)
    _require_names(program, at, named)
    if program.needs_shapes:
        sizes = {name: array.shape for name, array in named.items()}
        # A constant of the text holds a size, such as len(x): it is read again now that the shapes are known.
        snippet = read(expression, given=shadowed, shapes=sizes, shares=shares)
        program = snippet.program
    arrays = {name: named.pop(name) for name in program.names}
    known = {symbol: arrays[str(symbol)].shape for symbol in program.variables}
    shapes = infer(program, known)
    warnings = dict.fromkeys((*told, *program.warnings, *remarks(program, shapes), *of_types))
    # Torch runs the text's own derivatives; the other readings need them as lines of the language.
    as_typed = program if program.takes_derivatives else None
    if as_typed is not None:
        from gradcli.reference.adjoint import written_out

        program = written_out(program, known)
        shapes = infer(program, known)
    program = replace(program, warnings=tuple(warnings))
    wrt = inquiry.wrt
    chosen = _require_used(program, snippet.wrt) if wrt is None else _require_wrt(program, wrt)
    asked = program.names if chosen is None else chosen
    return Question(program, shapes, arrays, asked, dtype, named, snippet.frees_graph, as_typed)


def intermediates(program: Program, names: Sequence[str]) -> dict[str, Atom]:
    """What the names of `--show` stand for: the value that a statement has last, or the output.

    A name may stand for a variable, `a = x`: it is the same tensor.  Two names of one operation have one symbol unless
    the Program was prepared without sharing.

    Args:
        program: The function.
        names: As asked for.

    Returns:
        A symbol for each name, once, in the order of `names`.

    Raises:
        InputError: A name that is no statement's, or is a variable, or stands for a plain number.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("y = x**2; z = y**3; z + 1")
    >>> intermediates(program, ["z"])["z"] == program.lines[1].symbol
    True
    """
    known = {**program.named, program.output_name: program.output}
    for name in names:
        if name in program.names:
            hint = f"its own gradient is shown without that; --wrt {name} asks for it"
            raise InputError(f"--show names '{name}', which is a variable", hint=hint)
        if name not in known:
            hint = did_you_mean(name, known) or f"the names are: {', '.join(known)}"
            raise InputError(f"--show names '{name}', and no statement has that name", hint=hint)
        if known[name].is_number:
            raise InputError(f"--show names '{name}', which stands for the number {known[name]} and has no gradient")
    return {name: known[name] for name in names}


def _require_names(program: Program, given: Mapping[str, Value], named: Mapping[str, Array]) -> None:
    missing = [name for name in program.names if name not in named]
    surplus = [name for name in given if name not in named]
    require_named(program, missing, given)
    if surplus:
        known = ", ".join(program.names) or "none"
        hint = did_you_mean(surplus[0], program.names) or f"the variables are: {known}"
        joined = next((name for name in missing if len(name) > 1 and set(name) <= set(given)), None)
        if joined is not None:
            hint = f"'{joined}' is one variable; write {'*'.join(joined)} for a product"
        raise InputError(f"'{surplus[0]}' is given a value, and the expression has no such variable", hint=hint)
    if missing:
        names = ", ".join(f"'{name}'" for name in missing[:8]) + ", ..." * (len(missing) > 8)
        raise InputError(
            f"no value for the variable{'s' * (len(missing) > 1)} {names}",
            hint=constants_meant(missing) + "give " + " ".join(f"--at {name}=VALUE" for name in missing[:4]),
        )


def _require_used(program: Program, wrt: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Refuse what torch refuses: `torch.autograd.grad(z, x)` of a z that is not computed from x."""
    for name in wrt or ():
        if name not in program.names:
            message = f"'{name}' is to be differentiated by, and '{program.output_name}' is not computed from it"
            raise InputError(message, hint="torch.autograd.grad refuses that too; leave it out, or use --wrt")
    return wrt


def _require_wrt(program: Program, wrt: Sequence[str]) -> tuple[str, ...]:
    for name in wrt:
        if name not in program.names:
            hint = did_you_mean(name, program.names) or f"the variables are: {', '.join(program.names) or 'none'}"
            if name in program.named:
                raise InputError(f"--wrt names '{name}', which a statement computes", hint=hint)
            raise InputError(f"--wrt names '{name}', and the expression has no such variable", hint=hint)
    return tuple(dict.fromkeys(wrt))
