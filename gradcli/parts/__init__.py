"""Parts: what gradcli can do besides its main job, each in a folder that may be deleted.

part             what a part may supply
claims           proofs and refutations of derivatives that somebody states
improve          why a number lost digits, and a form that loses fewer
code             scripts that compute the same
running          functions and scripts of Python, run and recorded
paste            pasted statements: definitions, tensors, backward passes
tables           one function over tables: into a file, or in parts into a folder, on many machines
batch            requests as lines of JSON, answered one after the other
warm             a process that answers the calls of the shell at once

The core imports this module and `part`, and no package of one.  A part imports the core, and of another part only its
`__init__`.  The `__init__` of a part imports nothing heavy: its own modules, torch and SymPy come with the first call.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from gradcli.parts.part import Part

PARTS = (
    "gradcli.parts.improve",
    "gradcli.parts.paste",
    "gradcli.parts.running",
)
"""The packages of the parts, each with its `Part` under the name `PART`."""

GROUP = "gradcli.parts"
"""Entry points by which other packages add parts: the name of a `Part`, as `package.module:NAME`."""


@lru_cache(maxsize=1)
def own_parts() -> tuple[Part, ...]:
    """Import the parts of this package, in the order of `PARTS`."""
    return tuple(import_module(name).PART for name in PARTS)


@lru_cache(maxsize=1)
def all_parts() -> tuple[Part, ...]:
    """Import all parts, those of other packages too.

    Looking for other packages takes as long as the help of the shell, which has only `own_parts`.

    >>> all(isinstance(part.COMMANDS, tuple) for part in all_parts())
    True
    """
    from importlib.metadata import entry_points

    return (*own_parts(), *(point.load() for point in entry_points(group=GROUP)))
