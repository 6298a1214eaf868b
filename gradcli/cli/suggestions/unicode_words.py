"""Words of a command line in the width of ASCII: `x＝1` is x=1; a file keeps its name."""

from __future__ import annotations

import os

from gradcli.language.text.signs import in_width_of_ascii


def narrowed(word: str) -> str:
    """Write letters, signs and blanks of other widths as those of ASCII, unless the word may name a file.

    >>> narrowed("x\uff1d−1"), narrowed("@x\uff1d1.csv") == "@x\uff1d1.csv"
    ('x=−1', True)
    """
    return word if _may_name_file(word) else in_width_of_ascii(word)


def _may_name_file(word: str) -> bool:
    return word.isascii() or "@" in word or "::" in word or os.path.exists(word)
