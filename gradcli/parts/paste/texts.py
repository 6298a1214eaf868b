"""Texts told apart: one without statements is parsed as an expression; the reader of statements is for the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradcli import trial
from gradcli.arrays import AnyArray
from gradcli.errors import GradcliError
from gradcli.language import function_text
from gradcli.language.lower.context import Ask, Known
from gradcli.language.program.wengert import Shape
from gradcli.language.snippet_result import Snippet
from gradcli.language.text.signs import NAME, PlainText, latex_word

if TYPE_CHECKING:
    from gradcli.language.function_text import TextReader
    from gradcli.parts.paste.text_state import Generator


def text_reader() -> TextReader:
    """Return the reader of statements, whose random numbers torch draws."""
    return partial(_read_statements, generator=_torch_generator)


_LONGEST = 200

_TORCH = re.compile(
    r"\bimport\b|\bbackward\b|\brequires_grad|\bautograd\b|^[ \t]*print[ \t]*\(|\bmanual_seed\b|\bnn\s*\.\s*[A-Z]|"
    r"\b(?:torch|np|numpy)\s*\.\s*(?:rand\w*|normal|bernoulli|Generator|func)\b|\bdistributions\s*\.\s*[A-Z]|"
    r"=\s*(?:torch\s*\.\s*)?(?:tensor|Tensor|FloatTensor|DoubleTensor|Variable)\s*\(",
    re.MULTILINE,
)
"""Pattern of words that a text of PyTorch has and no expression."""

_STATEMENTS = re.compile(
    rf"""\blambda\s(?=[^:\n]{{1,{_LONGEST}}}:) | \bdef\s+\w+\s*\( |
        (?:^|[;\n])[ \t]*{NAME}\([ \t]*[^\W\d][\w \t,]{{0,{_LONGEST}}}\)[ \t]*:?=(?!=) |
        (?:^|[;\n])[ \t]*(?:for|while|if|with|class|assert|del|pass|try|raise|async|return)\b | ^[ \t]*@{NAME} |
        (?:^|[;\n])[ \t]*(?:[(\[][ \t]*)?{NAME}(?:\[[^\]\n]{{0,{_LONGEST}}}\])?[ \t]*,[^=;\n]{{0,{_LONGEST}}}=(?!=) |
        (?:^|[;\n])[ \t]*{NAME}[ \t]*=[ \t]*{NAME}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{NAME}(?:\.\w+|\[[^\]\n]{{0,{_LONGEST}}}\]){{1,9}}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{NAME}[ \t]*:[ \t]*[^\W\d][\w.\[\], \t]{{0,{_LONGEST}}}=(?!=) |
        (?<![-+*/@%=<>!])(?:\+|-|\*\*?|//?|@|%)=(?!=) |
        \{{\s*(?:['"}}]|\*\*|\d+\s*:)
    """,
    re.VERBOSE | re.MULTILINE,
)
"""Pattern of statements that are definitions or code, and no expressions."""


def read(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, AnyArray] | None = None,
    generator: Callable[[], Generator] | None = None,
    ask: Ask | None = None,
) -> Snippet:
    """Read the function of a text, an expression or statements, as `function_text.read` does.

    Args:
        text: As typed or pasted.
        given: As of `function_text.read`, like the others that are not explained here.
        shapes: Of variables.
        shares: Whether operations that compute the same become one line.
        values: Of all variables.
        generator: Makes a generator of random numbers for `torch.randn`; None refuses these.
        ask: Asks torch for the operations that its own functions consist of.

    Raises:
        GradcliError: As for `parse`, or a line that is code.

    >>> snippet = read("x = torch.tensor([1., 2.], requires_grad=True)\\ny = x**2\\ny.backward(torch.ones(2))")
    >>> snippet.program.names, snippet.values["x"].tolist(), snippet.wrt
    (('x',), [1.0, 2.0], ('x',))
    """
    readers = [partial(_read_statements, generator=generator)]
    return function_text.read(text, readers, given=given, shapes=shapes, shares=shares, values=values, ask=ask)


def _torch_generator() -> Generator:
    """Make a generator of torch's, seeded with 0."""
    trial.end()
    from gradcli.autodiff.run import TorchGenerator

    return TorchGenerator()


def _read_statements(
    text: str, known: Known, *, shares: bool, generator: Callable[[], Generator] | None
) -> Snippet | None:
    """Read a text of statements; None for any other."""
    typed, text = text, _code_alone(text)
    is_session = text != typed
    is_torch = is_session or _TORCH.search(text) is not None
    if not is_torch and not _STATEMENTS.search(_without_latex(text) if "\\" in text else text):
        return None
    if is_torch and "ᵀ" in text:
        text = _with_names(text)
    from gradcli.parts.paste.reading import HowToRead, read_statements

    return read_statements(text, known, HowToRead(generator, is_torch, is_session), shares=shares)


def _without_latex(text: str) -> str:
    r"""Return the plain text of one in LaTeX, whose names may be those of functions, `B_\nu(T) = ...`."""
    try:
        return PlainText(text).text if latex_word(text) else text
    except GradcliError:  # which is said where the text is read
        return text


_PROMPT = re.compile(r"[ \t]*(?:>>> ?|\.{3,}: ?|\.\.\. ?|In \[[\d ]*\]: ?)")
_FIRST_PROMPT = re.compile(r"(?m)^[ \t]*(?:>>> |In \[[\d ]*\]: ?)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_PRINTED = re.compile(r"(?m)^(?:tensor|array|\(tensor)\([^\n]*(?:\n[ \t]+[^\n]*)*$")
"""A printed tensor, with the rows after the first."""


_DOCUMENTED = re.compile(
    r"(?m)(?:^|(?<=;))[ \t]*(?:print\([\w.]+\.__doc__\)|help\([\w.]+\)|[\w.]+\.__doc__|[\w.]+\?{1,2})[ \t]*(?=$|;)"
)
"""A statement that shows a page of documentation."""

_RAISED_T = re.compile(r"(?<!\w)([^\W\d]\w*?)ᵀ(?!\w)")
"""A name that ends with a raised T, which is a letter to Python."""


def code_of(text: str) -> str:
    """Return the code of a text, each line of it where it stands, without prompts and what is no code."""
    return "\n".join(code for _, code in _lines_of_code(text))


def _code_alone(text: str) -> str:
    """Return the code of a text pasted from a prompt, a notebook or a page, with blanks for all else.

    Prompts of Python and IPython, their printed lines, fences of Markdown with what is around them, and tensors that
    are printed below the code.

    >>> _code_alone("In [1]: y = x**2\\nOut[1]: tensor(4.)").split()
    ['y', '=', 'x**2']
    """
    return "\n".join(" " * count + code for count, code in _lines_of_code(text))


def _lines_of_code(text: str) -> list[tuple[int, str]]:
    """List the lines of a text: the number of characters before the code, and the code."""
    if sum(_FENCE.match(line) is not None for line in text.split("\n")) > 1:
        text = _within_fences(text)
    if _FIRST_PROMPT.search(text):
        prompts = [(_PROMPT.match(line), line) for line in text.split("\n")]
        return [(m.end(), line[m.end() :]) if m else (len(line), "") for m, line in prompts]
    if _TORCH.search(text):
        text = _DOCUMENTED.sub(_blank, text)
        found = _PRINTED.search(text)
        if found is not None and text[: found.start()].strip():
            text = _PRINTED.sub(_blank, text)
    return [(0, line) for line in text.split("\n")]


def _blank(found: re.Match[str]) -> str:
    """Return blanks for all but the ends of lines."""
    return re.sub(r"[^\n]", " ", found[0])


def _with_names(text: str) -> str:
    """Write `vᵀ` as Python reads it, as the name `vT`, where it is assigned or the text assigns no `v`.

    >>> _with_names("vᵀ = 2*x; y.backward(vᵀ)"), _with_names("v = 2*x; vᵀ@y")
    ('vT = 2*x; y.backward(vT)', 'v = 2*x; vᵀ@y')
    """
    assigned = set(re.findall(r"(?<![\w.])([^\W\d]\w*)[ \t]*=(?!=)", text))
    return _RAISED_T.sub(lambda one: one[0] if one[1] in assigned and one[0] not in assigned else f"{one[1]}T", text)


def _within_fences(text: str) -> str:
    """Put blanks in the place of what is outside of fences, and of the fences."""
    lines, is_code = [], False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        lines.append(line if is_code and not is_fence else " " * len(line))
    return "\n".join(lines)
