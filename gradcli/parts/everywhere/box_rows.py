"""Answers on boxes as bare lines and as rows of a table, with all digits."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli import results
from gradcli.errors import UsageError
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.report.appearance import Appearance
from gradcli.report.numbers import digits, printable
from gradcli.report.render.csv import table_text


def plain(answer: results.OnBox, shown: Appearance) -> Iterator[str]:
    """Write a line for each bound, its name and its two ends; or for each statement or region, its verdict first."""
    match printable(answer):
        case results.BoxRange() as found:
            for one in found.bounds:
                yield f"{one.label.text} {digits(one.low)} {digits(one.high)}\n"
        case results.BoxChecking() as found:
            yield from (f"{one.status} {one.statement}\n" for one in found.proofs)
            yield from (f"{' '.join(row)}\n" for row in _claims(found))
            for region in found.regions:
                sides = (f"{name}={digits(region.low[name])}..{digits(region.high[name])}" for name in region.low)
                yield f"{region.verdict} {digits(region.share)} {' '.join(sides)}\n"


def csv_rows(answer: results.OnBox, shown: Appearance) -> Iterator[str]:
    """Write a row for each bound, statement or region."""
    match printable(answer):
        case results.BoxRange() as found:
            header = ["quantity", "low", "high", "low_found", "high_found"]
            ends = ((one.low, one.high, one.low_found, one.high_found) for one in found.bounds)
            names = (one.label.text for one in found.bounds)
            rows = ([name, *map(digits, four)] for name, four in zip(names, ends, strict=True))
            yield from table_text(header, rows, shown)
        case results.BoxChecking(proofs=proofs) as found if proofs or found.claims:
            outcomes = [[one.statement, one.status] for one in proofs]
            outcomes += [[f"claim {name} = {text}", status] for status, name, text in _claims(found)]
            yield from table_text(["statement", "status"], outcomes, shown)
        case results.BoxChecking(regions=regions):
            sides = [*regions[0].low] if regions else []
            header = ["verdict", "share", *(f"{name}_{end}" for name in sides for end in ("low", "high"))]
            yield from table_text(header, (_row(one) for one in regions), shown)


def _claims(answer: results.BoxChecking) -> Iterator[list[str]]:
    """List of each claim its outcome, its variable and its text."""
    if is_listed("claims"):
        from gradcli.parts.claims import rows_of_claims

        yield from rows_of_claims(answer.claims)


def _row(one: results.BoxRegion) -> list[str]:
    sides = (digits(end[name]) for name in one.low for end in (one.low, one.high))
    return [one.verdict, digits(one.share), *sides]


def no_arrays(answer: results.OnBox, shown: Appearance, file: object) -> None:
    """Refuse a file of arrays.

    Raises:
        UsageError: An answer on a box is no array.
    """
    raise UsageError("what is proved in a box is no array", hint=f"take {option('json')}, or -o FILE.json")
