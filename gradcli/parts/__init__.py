"""Parts: what gradcli can do besides its main job, each in a folder that may be deleted.

part             what a part may supply
command          a command, as the core and parts offer it
renderer         a format of answers, as the core and parts offer it
listing          the parts, imported
typed_function   `Function` with the methods of all parts, for type checkers
claims           proofs and refutations of derivatives that somebody states
improve          why a number lost digits, and a form that loses fewer
plot             a function and its derivative as curves
everywhere       bounds and verdicts in a whole box, and proofs of inequalities
explain          the chain rule step by step, and the backward graph
code             scripts that compute the same
running          functions and scripts of Python, run and recorded
paste            pasted statements: definitions, tensors, backward passes
tables           one function over tables: into a file, or in parts into a folder, on many machines
closed_forms     formulas of derivatives for values and sizes that are not known
batch            requests as lines of JSON, answered one after the other
sparse           Jacobians and Hessians of a million rows, by their patterns
pages            formats of documents: LaTeX, Markdown, HTML
figures          figures in files, by matplotlib
warm             a process that answers the calls of the shell at once

The core imports `part`, `command`, `renderer` and this module, and no package of a part.  A part imports the core, and
of another part only its `__init__`, where `is_listed` says that it is there.  An `__init__` imports nothing heavy: the
modules of its part, torch and SymPy come with the first call.  This module imports nothing at all, as each call of a
warm process imports it before anything else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it
if TYPE_CHECKING:
    from gradcli.parts.part import Part

PARTS = (
    "gradcli.parts.claims",
    "gradcli.parts.improve",
    "gradcli.parts.plot",
    "gradcli.parts.everywhere",
    "gradcli.parts.figures",
    "gradcli.parts.explain",
    "gradcli.parts.code",
    "gradcli.parts.tables",
    "gradcli.parts.batch",
    "gradcli.parts.running",
    "gradcli.parts.paste",
    "gradcli.parts.closed_forms",
    "gradcli.parts.sparse",
    "gradcli.parts.pages",
    "gradcli.parts.warm",
)
"""The packages of the parts, in the order of the help, each with its `Part` under the name `PART`."""

FIRST = ("gradcli.parts.warm.client",)
"""Modules whose function `take_over` is called before the shell is imported, and may answer in its place."""

GROUP = "gradcli.parts"
"""Entry points by which other packages add parts: the name of a `Part`, as `package.module:NAME`."""


def is_listed(name: str) -> bool:
    """Tell whether a part of this package is there, by the name of its folder.

    What a part takes of another one is imported where it is needed, and this says that it is there:

        if is_listed("claims"):
            from gradcli.parts.claims import are_same

            return are_same(one, other, shapes)
        return False

    >>> is_listed("no_part")
    False
    """
    return f"{GROUP}.{name}" in PARTS


def all_parts() -> tuple[Part, ...]:
    """Import all parts, in the order of `PARTS`, and those of other packages after them.

    >>> [part.COMMANDS for part in all_parts()][:2]
    [('check',), ('improve',)]
    """
    from gradcli.parts.listing import listed

    return listed(PARTS, GROUP)
