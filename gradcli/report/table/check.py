"""The answer of `check` as tables: the opinions side by side, why some differ, claims, random points, the verdict.

On a terminal that is too narrow for the table, each entry is a paragraph; no digit is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import STYLES, WIDEST, Screen, add_row, elements, new_table, text, title
from gradcli.report.table.parts import closed_form, coverage, heading, safe_form
from gradcli.report.wording import SHOWN, claimed, conclusion, counterexample, opinion_row, readings, reasons, sampled
from gradcli.results import Checking, Claim, Sampling

STATUS_STYLES: Mapping[str, str] = {
    "proved": "bold green",
    "agrees": "bold green",
    "no counterexample": "bold yellow",
    "refuted": "bold red",
}

Parts = Iterator[Table | Text]


def parts(answer: Checking, screen: Screen) -> Parts:
    """Opinions, claims, random points, formulas and the verdict, from top to bottom."""
    y = answer.output
    yield from heading(answer, y, screen)
    if answer.sampling is not None:
        yield text("the worst of the random points", screen)
    if answer.opinions:
        yield from _opinions(answer, y, screen)
    for claim in answer.claims:
        yield from _claim(claim, y, screen)
    if answer.sampling is not None:
        yield from _sampling(answer.sampling, screen)
    if answer.wrt:
        yield from closed_form(answer, screen)
    if answer.check is not None:
        yield from coverage(answer.check, screen, readings(answer))
        yield from safe_form(answer.check.rewrite, screen)
    yield _conclusion(answer, screen)


# -- opinions


def _opinions(answer: Checking, y: str, screen: Screen) -> Parts:
    shown = answer.opinions[:SHOWN]
    more = answer.opinions_count - len(shown)
    yield title("the opinions, worst first" + (f": {len(shown)}, and {more:,} more" if more else ""), screen)
    rows = [opinion_row(opinion, answer, y) for opinion in shown]
    headers = [name for name in rows[0] if any(row[name] for row in rows)]
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in headers]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        yield _paragraphs(rows, screen)
    else:
        table = new_table(headers, screen)
        for row, opinion in zip(rows, shown, strict=True):
            cells: list[str | Text] = [row[name] for name in headers[:-1]]
            add_row(table, screen, *cells, Text(row["verdict"], style=STYLES[opinion.verdict]))
        yield table
    for reason in reasons(answer.opinions, y):
        yield text(reason, screen)


def _paragraphs(rows: Sequence[Mapping[str, str]], screen: Screen) -> Text:
    lines = []
    for row in rows:
        lines.append(f"{row['entry']}: {row['verdict']}")
        lines += [f"  {name} {cell}" for name, cell in row.items() if cell and name not in ("entry", "verdict")]
    return text("\n".join(lines), screen)


# -- claims and random points


def _claim(claim: Claim, y: str, screen: Screen) -> Parts:
    what = f"∂{y}/∂{claim.variable}" if claim.of != "vector-Jacobian product" else f"vᵀJ {claim.variable}"
    yield title(f"the claim {what} = {claim.text}, as a {claim.of}", screen)
    yield text(claimed(claim), screen, STATUS_STYLES[claim.status])
    if claim.at:
        numbers = {**claim.at, **({} if claim.v is None else {"v": claim.v})}
        point = ", ".join(f"{name} = {' '.join(elements(array).split())}" for name, array in numbers.items())
        yield text(f"a counterexample is {point}", screen)
    for words in (counterexample(claim), claim.mistake, claim.note):
        if words:
            yield text(words, screen)


def _sampling(sampling: Sampling, screen: Screen) -> Parts:
    yield title(sampled(sampling), screen)
    table = new_table(["verdict", "points"], screen, numeric=True)
    for verdict, count in sampling.verdicts.items():
        add_row(table, screen, Text(verdict, style=STYLES[verdict]), f"{count:,}")
    yield table


def _conclusion(answer: Checking, screen: Screen) -> Text:
    return text(conclusion(answer), screen, "bold green" if answer.passed else "bold red")
