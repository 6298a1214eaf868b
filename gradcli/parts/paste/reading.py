"""Whole text of statements as a function, its values, the variables to differentiate by, and v.

    x = torch.tensor([1., 2.], requires_grad=True)     a variable and its value; requires_grad names it
    y = x**2                                           a statement of the function
    y.backward(torch.tensor([1., 1.]))                 the output, and v
    print(x.grad)                                      passed over: gradcli prints it anyway

Several backward passes add up in `.grad`, so their v's do, until it is set to zero.  A text that ends with a definition
is that function of its parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gradcli import progress
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.context import Context, Known, Operand, start
from gradcli.language.lower.juxtaposed_names import cut, factors
from gradcli.language.lower.libraries import Libraries
from gradcli.language.lower.statements import finish, require_used
from gradcli.language.snippet_result import Replay, Snippet, SnippetPass
from gradcli.language.text import nodes
from gradcli.language.text.python_statements import parse_python
from gradcli.language.text.source import SourceText
from gradcli.parts.paste.imported_names import KNOWN
from gradcli.parts.paste.several_outputs import in_a_row
from gradcli.parts.paste.tensors import type_of
from gradcli.parts.paste.text_passes import accumulated, asked_passes, function_of, in_grad, vector_of
from gradcli.parts.paste.text_rules import rules_of
from gradcli.parts.paste.text_state import Draws, Generator, TextState
from gradcli.parts.paste.text_statements import LINES, last_value


@dataclass(frozen=True)
class HowToRead:
    """Settings of reading the statements of a text.

    Attributes:
        generator: Makes a generator of random numbers; None refuses them.
        is_torch: Whether tensors of numbers are variables, and passes are read.
        is_session: Whether the text was typed at a prompt.
    """

    generator: Callable[[], Generator] | None = None
    is_torch: bool = False
    is_session: bool = False


_CODE = frozenset("def lambda import return class for while torch np numpy".split())
"""Words of programs: in a text with one, names side by side are no product."""


def read_statements(text: str, known: Known, how: HowToRead, *, shares: bool) -> Snippet:
    """Read the function of a text of statements, as `read` has it.

    Args:
        text: The text.
        known: What is known of its names.
        how: How it is read.
        shares: As of `read`.

    Raises:
        GradcliError: As for `parse`, or a line that is code.

    >>> from gradcli.language.parsing import EVALUATION
    >>> read_statements("f(x) = x^2; f(3*t)", Known(evaluation=EVALUATION), HowToRead(), shares=True).program.names
    ('t',)
    """
    with progress.collector_paused():
        source = SourceText(text, "EXPR", has_braces=True)
        try:
            is_mathematics = not how.is_torch and _CODE.isdisjoint(token.text for token in source.tokens)
            joined = cut(source, known.names) if is_mathematics else {}
            source.factors = factors(source, known.names) if is_mathematics else frozenset()
            lines = parse_python(source, is_mathematics=is_mathematics)
            state, context = _begin(source, lines, known, how, shares=shares)
            context.findings.joined = joined
            snippet = _snippet(state, context, lines)
            if not state.passes.frees_graph:
                return snippet
            state, context = _begin(source, lines, known, how, shares=False)
            return replace(snippet, frees_graph=_replay(state, context, lines))
        except RecursionError:
            message, hint = "functions call one another too deep", "name parts of it: y = ...; z = f(y)"
            raise source.error(message, Span(0, len(text)), hint=hint, kind=TooLargeError) from None


def _begin(
    source: SourceText, lines: Sequence[nodes.LineNode], known: Known, how: HowToRead, *, shares: bool
) -> tuple[TextState, Context]:
    """Make the state and the Context of the beginning of a text."""
    targets = Counter(one.text for line in lines if isinstance(line, nodes.Statement) for one in line.targets)
    changed = frozenset(name for name, count in targets.items() if count > 1)
    state = TextState(how.is_torch, how.is_session, LINES, Draws(how.generator), dict(KNOWN), changed)
    libraries = Libraries(source, how.is_torch or _is_code(source, lines), state.imported)
    return state, start(source, known, rules_of(state), shares=shares, libraries=libraries)


def _is_code(source: SourceText, lines: Sequence[nodes.LineNode]) -> bool:
    """Tell whether a text is of Python, and not of mathematics: several lines, or definitions by `def` and `lambda`."""
    definitions = [line for line in lines if isinstance(line, nodes.FunctionNode)]
    words = {source.tokens[line.position].text for line in definitions}
    return (len(lines) > 1 or bool(definitions)) and words <= {"def", "lambda"}


def _snippet(text: TextState, context: Context, lines: Sequence[nodes.LineNode]) -> Snippet:
    """Read the whole text."""
    output = last_value(text, context, lines)
    asked = asked_passes(text, context)
    has_row = context.builder.shares and len({one.output for one in asked}) > 1
    if has_row:
        asked = in_a_row(context, asked)
    if asked:
        require_used(context)
        output = asked[-1].output, asked[-1].span
    if output is None:
        hint = 'write one, such as "x**2"; a snippet has y = x**2 and y.backward(v)'
        raise context.source.error("there is no function in this text", context.source.tokens[-1].span, hint=hint)
    if text.is_torch:
        return replace(_of_torch(text, context, output, asked), has_row=has_row)
    return _of_mathematics(context, output, lines)


def _of_mathematics(context: Context, output: Operand, lines: Sequence[nodes.LineNode]) -> Snippet:
    """Make the function of the output; a text that is one definition by an expression shows that expression."""
    function = nodes.definition_of(lines[0]) if len(lines) == 1 else None
    only = function.body[0] if function is not None and len(function.body) == 1 else None
    shown = context.source.excerpt(only.value.span) if isinstance(only, nodes.Return) else ""
    return Snippet(replace(finish(context, output), shown=shown))


def _of_torch(text: TextState, context: Context, output: Operand, asked: list[SnippetPass]) -> Snippet:
    """Make the function of the output, and v as a function of the same variables."""
    v = accumulated(context, in_grad(text, context, asked))
    dtype = type_of(text.tensors, context, tuple(text.tensors.values))
    context.findings.unused.clear()  # a snippet may compute more than the function
    context.names.last = next((n for n, atom in context.names.values.items() if atom == output[0]), "")
    whole = finish(context, output)
    wanted, leaves = context.builder.backward_slice(whole.output)
    symbols = {line.symbol for line in wanted} | leaves | {whole.output}
    leaves |= {*context.findings.variables.values()} if whole.needs_shapes else set()  # others may be in it then
    spans = dict.fromkeys(span for span, atom in text.statements if atom in symbols)
    program = replace(
        whole,
        variables=tuple(symbol for symbol in whole.variables if symbol in leaves),
        lines=tuple(line for line in whole.lines if line.symbol in symbols),
        named={name: atom for name, atom in whole.named.items() if atom in symbols or atom.is_number},
        shown="; ".join(context.source.excerpt(span) for span in spans),
    )
    inputs = tuple(name for name in (asked[-1].inputs if asked else ()) if name in program.names)
    wrt = inputs or tuple(name for name in program.names if name in text.passes.requires) or None
    if asked and wrt is None and text.tensors.values:
        warning = "no tensor has requires_grad=True, where torch would refuse; all are differentiated by"
        program = replace(program, warnings=(*program.warnings, warning))
    vector = None if v is None else function_of(context, v)
    passes = tuple(asked) if len(asked) > 1 else ()
    vectors = tuple(function_of(context, vector_of(context, one)) for one in passes)
    return Snippet(program, text.tensors.values, wrt, vector, passes, vectors, dtype)


def _replay(text: TextState, context: Context, lines: Sequence[nodes.LineNode]) -> Replay:
    """Read the whole text as torch runs it, by a reader that shares no lines."""
    last_value(text, context, lines)
    outputs = [one.output for one in text.passes.noted]
    program = context.builder.program(outputs[-1], context.findings.variables.values(), *outputs)
    return Replay(program, tuple(text.passes.noted), tuple(text.passes.requires or text.tensors.values))
