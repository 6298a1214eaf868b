"""Questions of third derivatives and higher ones, as questions of the second derivative of a formula.

`hessian "x**4" --at 2 --order 3` asks what `hessian "4*x**3" --at 2` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli import trial
from gradcli.cli.suggestions.higher_derivatives import HigherDerivative, higher_derivative
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.function import Function

_LONGEST = 120
"""Characters of a formula that is written in place of a function."""

_NUMBER = re.compile(r"(?:^|=)\s*[-+]?[\w.+-]+$")
"""Value of one number, as formulas of higher derivatives are of here."""


def by_second_ones(line: TypedLine) -> Iterator[Words]:
    """Generate the line that asks for the second derivative of a formula, where one of a higher order is asked for."""
    text = " ".join(line.words[n] for n in line.others)
    asked = higher_derivative(text)
    places = [n for n, word in enumerate(line.words) if word == "--order" or word.startswith("--order=")]
    if asked is not None:
        rest = [word for n, word in enumerate(line.words[line.start :], line.start) if n not in line.others]
        by = asked.by
    elif places and line.others:
        word = line.words[places[0]]
        count = word.partition("=")[2] or "".join(line.words[places[0] + 1 : places[0] + 2])
        if count not in ("3", "4", "5"):
            return
        left_out = {places[0], *([places[0] + 1] if "=" not in word else [])}
        others = [n for n in line.others if n not in left_out]
        if len(others) != 1:
            return
        by = next((line.words[n] for n, option in line.values.items() if option == "--wrt"), "")
        asked = HigherDerivative(line.words[others[0]], int(count), by)
        kept = [n for n in range(line.start, len(line.words)) if n not in {*left_out, *others}]
        rest = [line.words[n] for n in kept]
    if asked is None or any(
        option == "--at" and not _NUMBER.search(line.words[n]) for n, option in line.values.items()
    ):
        return
    formula = _formula(asked)
    at = ["--at", asked.at if "=" in asked.at or not by else f"{by}={asked.at}"] if asked.at else []
    if not formula:
        return
    if line.command in ("plot", "check", "hvp"):
        yield (line.command, formula, *rest, *([] if line.command == "hvp" else ["--order", "2"]))
    elif line.command in ("grad", "hessian", "jacobian", "derivative", "eval", "") and not {"--v", "--u"} & {*rest}:
        is_of_several = bool(by) and "--wrt" not in rest and len(Function(formula).variables) > 1
        yield ("hessian", formula, *(["--wrt", by] * is_of_several), *rest, *at)


def stated_of_formula(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """State of the second derivative of a formula what a statement of `--prove` says of a third one alone."""
    places = [n for n, option in line.values.items() if option == "--prove" and n not in line.flags]
    if error.place is None or len(places) != 1 or line.words[places[0]] != error.place.text or not line.others:
        return
    start, stop = error.place.span
    text, y = error.place.text, "f" if "y" in line.variables else "y"
    is_alone = re.search(r"(?<![\w.])[dfghy]", text[:start] + text[stop:]) is None
    formula = _formula(HigherDerivative(line.text, 3)) if is_alone and _is_third(text[start:stop]) else ""
    if formula:
        second = f"d2{y}/d{line.variables[0]}2"
        words = line.put(places[0], 1, f"{text[:start]}{second}{text[stop:]}")
        yield (*words[: line.others[0]], formula, *words[line.others[0] + 1 :])


def _is_third(written: str) -> bool:
    return any(sign in written for sign in ("3", "\u00b3", "\u2034")) or len(re.findall("['\u2032]", written)) == 3


def _formula(asked: HigherDerivative) -> str:
    """Write the formula whose second derivative is asked for; empty where there is none of one number."""
    text = asked.function
    try:
        for _ in range(asked.order - 2):
            function = Function(text)
            by = asked.by or (function.variables[0] if len(function.variables) == 1 else "")
            if by not in function.variables or not function.wants_formula({"shape"}):
                return ""
            found = function.ask("grad", {"shape": dict.fromkeys(function.variables, "()")})
            blocks = getattr(found, "blocks", {})
            text = blocks["", by].text if ("", by) in blocks else ""
            if not text or len(text) > _LONGEST:
                return ""
    except (GradcliError, trial.ReadError):
        return ""
    return text
