"""Texts of several statements: definitions, functions, backward passes, and the questions that they ask.

texts           texts with statements, told from expressions
reading         a whole text to its result
text_statements  a rule for each kind of statement
assigned_names  names that take values
text_rules      rules of expressions that mean something else in statements, or stand only there
text_calls      functions of the text, and their calls
text_passes     backward() and torch.autograd.grad
several_outputs  passes of several outputs as passes of one
imported_names  names that imports give, and those that are code
tensors         the floating-point types that are written, and random numbers, which torch draws
text_state      what is known of a text so far: tensors, draws, passes, definitions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.parts.part import Part

if TYPE_CHECKING:
    from gradcli.language.function_text import TextReader


class PastePart(Part):
    """Pasted statements."""

    def text_reader(self) -> TextReader:
        """Return the reader of statements, whose random numbers torch draws."""
        from gradcli.parts.paste import texts

        return texts.text_reader()


def code_of(text: str) -> str:
    """Return the code of a text pasted from a prompt, a notebook or a page, each line of it where it stands.

    >>> code_of("In [1]: y = x**2\\nOut[1]: tensor(4.)").split()
    ['y', '=', 'x**2']
    """
    from gradcli.parts.paste import texts

    return texts.code_of(text)


PART = PastePart()
