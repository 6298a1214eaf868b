"""Words of a command line in signs of ASCII, where other signs say the same: `x＝−1` is x=-1; a file keeps its name."""

from __future__ import annotations

import os

from gradcli.language.text import signs


def in_width_of_ascii(word: str) -> str:
    """Write letters, signs and blanks of other widths as those of ASCII, unless the word may name a file.

    >>> in_width_of_ascii("x\uff1d−1"), in_width_of_ascii("@x\uff1d1.csv") == "@x\uff1d1.csv"
    ('x=−1', True)
    """
    return word if _may_name_file(word) else signs.in_width_of_ascii(word)


def in_ascii_signs(word: str) -> str:
    """Write the signs that are one of ASCII in another shape as that one, unless the word may name a file.

    >>> in_ascii_signs("x=−1")
    'x=-1'
    """
    return word if _may_name_file(word) else signs.in_ascii_signs(word)


def _may_name_file(word: str) -> bool:
    return word.isascii() or "@" in word or "::" in word or os.path.exists(word)
