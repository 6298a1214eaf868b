"""The answers of `graph` and `code`: the backward graph as torch builds it, and the same computation as a script.

Mistakes in the input are found before torch is imported.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from gradcli.codegen.numpy_script import numpy_script
from gradcli.codegen.script import Task, gradcli_text, latex_document, torch_script
from gradcli.codegen.self_writing import WIDTH
from gradcli.crosscheck.formulas import confirmed, evidence_at
from gradcli.errors import MOST_NAMES, InputError, TooLargeError, listed_names, printable
from gradcli.language.foreign import unwrapped
from gradcli.language.inputs import Value
from gradcli.language.program.wengert import Atom, Program, show
from gradcli.questions.judging import by_variable
from gradcli.questions.naming import intermediates
from gradcli.questions.products import vjp
from gradcli.questions.question import JACOBIAN_ENTRIES, Inquiry, Question, rounded
from gradcli.results import Array, BackwardGraph, GraphTensor, Language, Source

MAX_ELEMENTS = 2**25
"""Elements of all tensors of a graph together: 256 MiB in float64, and as much again for the gradients."""

MAX_LINES = 10_000
"""Operations of a function that is written as a script."""

_SHORT = 40
"""Characters of a value in the comment."""


def graph(inquiry: Inquiry, v: Value | None, shown: Sequence[str]) -> BackwardGraph:
    """Return the backward graph, and the tensors after a backward pass.

    Args:
        inquiry: The function with its values.
        v: The gradient vector; without it, there is a backward pass only if y has one element or the text gives v.
        shown: The names whose gradients are to be retained.

    Raises:
        GradcliError: v has not y's shape, a name is none of the function's, or the tensors are too large.
    """
    question = inquiry.of_last(inquiry.question(shares=False), v)
    program, of_snippet = question.program, inquiry.snippet.v
    retained = intermediates(program, shown)
    named = _named(program)
    shapes = [question.shapes.get(atom, ()) for atom in named.values()]
    elements = sum(math.prod(shape) for shape in (*shapes, *(array.shape for array in question.arrays.values())))
    if elements > MAX_ELEMENTS:
        raise TooLargeError(
            f"the tensors to show have {elements:,} elements together; the limit is {MAX_ELEMENTS:,}",
            hint="the graph of smaller inputs is the same",
        )
    # Without v, `backward()` runs on one element alone; the graph is there in any case.
    has_v = v is not None or of_snippet is not None or math.prod(question.shape) == 1
    cotangent = question.cotangent(v, of_snippet) if has_v else None
    from gradcli.autodiff.backward_passes import walk

    weights = None if cotangent is None else question.weights(cotangent)
    live = None if question.live is None else question.live.tensors
    found = walk(
        program, question.arrays, question.wrt, question.dtype, named=named, retained=retained, v=weights, live=live
    )
    by_name = {tensor.name: tensor for tensor in found.tensors}
    y = by_name[program.output_name]
    return BackwardGraph(
        command="graph",
        value=y.data,
        v=weights if y.requires_grad else None,
        tensors=found.tensors,
        nodes=found.nodes,
        edges=found.edges,
        notes=(*_of_pass(question, y, has_v=has_v), *_of_gradients(by_name, y, retained), *_same(program, named)),
        **question.common,
    )


def _named(program: Program) -> dict[str, Atom]:
    """Return the tensors that have names, the output last, without plain numbers."""
    of_lines = {name: atom for name, atom in program.named.items() if not atom.is_number}
    of_lines.pop(program.output_name, None)
    return {**of_lines, program.output_name: program.output}


def _of_pass(question: Question, y: GraphTensor, *, has_v: bool) -> list[str]:
    """Say why there is no graph, or was no backward pass."""
    if not y.requires_grad:
        reason = "nothing that autograd records leads to it"
        return [f"{y.name} has requires_grad=False, as {reason}: there is no graph, and backward() would fail"]
    notes = []
    if y.grad_fn is None:
        notes.append(f"{y.name} is itself a leaf: no operation made it, so there is no graph")
    if not has_v:
        shape = show(question.shape)
        notes.append(f"there was no backward pass, so every grad is None: {y.name} has shape {shape} and needs --v")
    return notes


def _of_gradients(by_name: Mapping[str, GraphTensor], y: GraphTensor, retained: Mapping[str, Atom]) -> list[str]:
    """Point out missing gradients that a reader might expect."""
    notes = []
    if vain := [name for name in retained if not by_name[name].requires_grad]:
        has = "has" if len(vain) == 1 else "have"
        notes.append(f"{listed_names(vain)} {has} requires_grad=False: there is no gradient to retain")
    was_pass = any(tensor.grad is not None for tensor in by_name.values())
    if not was_pass:
        return notes
    empty = [t for t in by_name.values() if t.requires_grad and t.grad is None]
    if inner := [t.name for t in empty if not t.is_leaf]:
        one = len(inner) == 1
        what = "is no leaf: torch leaves its" if one else "are no leaves: torch leaves their"
        example = ",".join(inner) if len(inner) <= MOST_NAMES else inner[0]
        notes.append(f"{listed_names(inner)} {what} .grad None; --show {example} retains {'it' if one else 'them'}")
    if apart := [t.name for t in empty if t.is_leaf]:
        notes.append(
            f"{y.name} does not depend on {listed_names(apart)}: torch leaves the .grad None, where vjp says 0"
        )
    return notes


def _same(program: Program, named: Mapping[str, Atom]) -> list[str]:
    """Return the remarks on names that stand for one tensor."""
    names: dict[Atom, list[str]] = {symbol: [str(symbol)] for symbol in program.variables}
    for name, atom in named.items():
        names.setdefault(atom, []).append(name)
    return [f"{listed_names(same)} are one tensor" for same in list(names.values()) if len(same) > 1][:MOST_NAMES]


# -- code


def code(inquiry: Inquiry, v: Value | None, language: Language) -> Source:
    """Write the script for a question.

    Args:
        inquiry: The function at its point.
        v: The gradient vector as given.
        language: Of the script.

    Raises:
        InputError: v is needed and not given, or there is no formula for a script that needs one.
        TooLargeError: The script would be too long, or too slow.
    """
    question = inquiry.of_last(inquiry.question(), v)
    if len(question.program.lines) > MAX_LINES:
        raise TooLargeError(
            f"the function has {len(question.program.lines):,} operations; a script holds up to {MAX_LINES:,}",
            hint="vjp gives the numbers",
        )
    cotangent = question.cotangent(v, inquiry.snippet.v)
    weights = rounded(cotangent, question.dtype) if isinstance(cotangent, np.ndarray) else cotangent
    given = None if v is None and inquiry.snippet.v is None else weights
    task = Task(question.program, question.arrays, question.wrt, question.dtype, given, question.named)
    match language:
        case "torch":
            text = torch_script(task)
        case "gradcli":
            text = gradcli_text(task)
        case "numpy":
            text = _numpy(question, task, question.weights(cotangent))
        case "latex":
            text = latex_document(vjp(inquiry, () if v is None else (v,)))
    comment = _comment(question, v, language, inquiry.at)
    common = {name: fact for name, fact in question.common.items() if name != "output"}
    return Source(command="code", language=language, source=f"{comment}\n{text}", **common)


def _numpy(question: Question, task: Task, v: Array) -> str:
    """The script with the formulas that the reference confirms."""
    hint = "--to torch needs no formula"
    if question.jacobian_entries > JACOBIAN_ENTRIES or not question.wrt:
        count = f"the Jacobian has {question.jacobian_entries:,} entries; "
        raise TooLargeError(f"{count}a NumPy script fills 1 to {JACOBIAN_ENTRIES:,} from the formula", hint=hint)
    evidence = evidence_at(question.point, question.wrt)
    found = confirmed(question.point, question.program, question.derived, evidence)
    for (_, name), reason in found.omitted.items():
        message = f"there is no formula of the derivative by '{name}' for a NumPy script: {reason}"
        raise InputError(message, hint=f"{hint}, or leave the variable out by --wrt")
    return numpy_script(task, v, by_variable(found.derivatives), by_variable(found.shown))


def _comment(question: Question, v: Value | None, language: Language, at: Mapping[str, Value]) -> str:
    """Write the command line as a comment of one line, without any character that ends a line."""
    names = question.program.names
    words = [_quoted(question.program.expression)]
    for name, value in at.items():
        words += ["--at", _quoted(_shown(value) if names == (name,) else f"{name}={_shown(value)}")]
    if v is not None:
        words += ["--v", _quoted(_shown(v))]
    if question.wrt != names:
        words += ["--wrt", _quoted(",".join(question.wrt))]
    if question.dtype != "float64":
        words += ["--dtype", question.dtype]
    text = printable(f"{'%' if language == 'latex' else '#'} gradcli code {' '.join(words)} --to {language}")
    if language == "latex":  # whose engines need not know other characters
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def _quoted(text: str) -> str:
    """Quote a word for a shell, in double quotes where they mean the same."""
    line = re.sub(r"\s*\n\s*", "; ", text.strip())
    if re.fullmatch(r"[\w@%+=:,./-]+", line, re.ASCII):
        return line
    return shlex.quote(line) if set(line) & set('"$`\\!') else f'"{line}"'


def _shown(value: Value) -> str:
    """Write a value as it can be typed; a long text is cut, and a large array is dots."""
    if isinstance(value, str):
        return value.strip() if len(value) <= _SHORT else f"{value.strip()[:_SHORT]}..."
    array = np.asarray(unwrapped(value))
    return str(array.tolist()).replace(" ", "") if math.prod(array.shape) <= 8 else "..."
