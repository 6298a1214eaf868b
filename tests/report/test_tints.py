"""Colours: read on white ground and on black, each its own."""

import pytest

from gradcli.formats import TINTS, Tint
from gradcli.report.document import TINT_NAMES, TONES, Screen

STEPS = (0, 95, 135, 175, 215, 255)
"""Levels of red, green and blue in the cube of 216 of the 256 colours."""


def _rgb(number: int) -> str:
    """Of one of the 256 colours of a terminal."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    cube = number - 16
    return "#" + "".join(f"{STEPS[n]:02x}" for n in (cube // 36, cube // 6 % 6, cube % 6))


def _luminance(color: str) -> float:
    """As WCAG 2 has it."""
    parts = (int(color[n : n + 2], 16) / 255 for n in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(color: str, ground: str) -> float:
    low, high = sorted((_luminance(color), _luminance(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tint", TINTS.values(), ids=TINTS)
@pytest.mark.parametrize("ground", ["#ffffff", "#000000"])
def test_a_colour_is_read_on_white_and_on_black(tint: Tint, ground: str) -> None:
    """At 4.5, as the guidelines ask of text; the nearest of 256 at 3.8, where they ask 3 of bold words."""
    assert _contrast(tint.rgb, ground) >= 4.5
    assert _contrast(_rgb(tint.nearest), ground) >= 3.8


def test_colours_tell_verdicts_apart() -> None:
    """No two kinds of verdict share one, in either count of colours."""
    names = {TINT_NAMES[role] for role in TONES.values()}
    assert len(names) == len(set(TONES.values())) == len({TINTS[name].nearest for name in names})
    assert Screen().style("bad") == "bold color(160)"
    assert Screen(is_deep=True).style("bad") == "bold #e02a2a"
