"""A question as a script: the Program, its values and v as source text that computes the same.

code, shell     the command: the question as a script
script_files  a script as it is written
numpy_script  y and vᵀJ by the lines of the function and of its gradient, in the words of NumPy
script        from a task to the whole text, in the words of torch, or of LaTeX
self_writing  expressions of a library and its values that write down the calls made on them; numbers, long lines

How a library is asked for an operation is not known here: the code that computes, `language.program.library_calls`, is
run on expressions that write themselves.  Nothing that the user typed is copied into code: every name is a
checked identifier, expressions come from the Program, numbers from arrays, words through `repr`.  The one comment that
repeats the command line has no line break.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

_COMMANDS = {
    "code": Command(
        "code",
        "Write",
        "gradcli.parts.code.shell:code",
        "gradcli.parts.code.code:code",
        answer="gradcli.parts.code.shell:answer_code",
        lacks=("csv", "tsv", "npy", "npz"),
        other_names=("script",),
        near=("convert", "export", "translate", "codegen", "lambdify"),
    ),
}


class CodePart(Part):
    """Questions as scripts."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the script as bare text, and as a file."""
        here, own = "gradcli.parts.code.script_files", ("Source",)
        return (
            Renderer("plain", f"{here}:pieces", answers=own),
            Renderer("py", f"{here}:write", (".py",), is_format=False, answers=own, commands=("code",)),
        )

    def composers(self) -> Mapping[str, str]:
        """Return what composes scripts."""
        return {"Source": "gradcli.parts.code.script_files:compose_script"}


PART = CodePart()
