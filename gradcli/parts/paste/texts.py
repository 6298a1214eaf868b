"""Texts told apart: one without statements is parsed as an expression; the reader of statements is for the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradcli import trial
from gradcli.arrays import AnyArray
from gradcli.language import function_text
from gradcli.language.lower.context import Ask, Known
from gradcli.language.program.wengert import Shape
from gradcli.language.snippet_result import Snippet

if TYPE_CHECKING:
    from gradcli.language.function_text import TextReader
    from gradcli.parts.paste.text_state import Generator


def text_reader() -> TextReader:
    """Return the reader of statements, whose random numbers torch draws."""
    return partial(_read_statements, generator=_torch_generator)


_NAME = r"[^\W\d]\w*"

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
        (?:^|[;\n])[ \t]*{_NAME}\([ \t]*[^\W\d][\w \t,]{{0,{_LONGEST}}}\)[ \t]*:?=(?!=) |
        (?:^|[;\n])[ \t]*(?:for|while|if|with|class|assert|del|pass|try|raise|async|return)\b | ^[ \t]*@{_NAME} |
        (?:^|[;\n])[ \t]*(?:[(\[][ \t]*)?{_NAME}(?:\[[^\]\n]{{0,{_LONGEST}}}\])?[ \t]*,[^=;\n]{{0,{_LONGEST}}}=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}[ \t]*=[ \t]*{_NAME}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}(?:\.\w+|\[[^\]\n]{{0,{_LONGEST}}}\]){{1,9}}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}[ \t]*:[ \t]*[^\W\d][\w.\[\], \t]{{0,{_LONGEST}}}=(?!=) |
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
    typed, text = text, _without_prompts(text) if ">>> " in text else text
    is_session = text != typed
    is_torch = is_session or _TORCH.search(text) is not None
    if not is_torch and not _STATEMENTS.search(text):
        return None
    from gradcli.parts.paste.reading import HowToRead, read_statements

    return read_statements(text, known, HowToRead(generator, is_torch, is_session), shares=shares)


def _without_prompts(text: str) -> str:
    """Return the text typed at Python's prompt, with blanks for the prompts and the printed lines."""
    lines = text.split("\n")
    if not any(line.lstrip().startswith(">>> ") for line in lines):
        return text
    prompts = re.compile(r"\s*(>>> |\.\.\. )")
    shown = [" " * m.end() + line[m.end() :] if (m := prompts.match(line)) else " " * len(line) for line in lines]
    return "\n".join(shown)
