"""A check as a document: its readings next to each other, the claims, and the conclusion."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from gradcli import results
from gradcli.notation import Element
from gradcli.option_words import Words, marked
from gradcli.report import document as doc, wording
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import Composer
from gradcli.report.compose.formula_tables import code, known_columns, note, standing, standing_of
from gradcli.report.document import TONES, in_ascii, line
from gradcli.report.numbers import Writer, digits, printable, tone
from gradcli.report.render.csv import table_text
from gradcli.report.wording import affected, entry, extent, of_sample
from gradcli.results import Checking, Claim, Entry, ModeCheck

NEITHER = "neither proved nor refuted"
"""Outcome of a claim with neither a counterexample nor a proof."""

MOST_OPINIONS, MAX_OPINIONS = 6, 20
"""Most entries whose readings stand next to each other, folded and unfolded; JSON and plain have all."""

IN_THIS_BRANCH = "✓ in this branch"
"""What is said of an entry that is right in the branch that was taken, where the code takes another one beside it."""

STATUS_TONES: Mapping[str, doc.Role] = {"proved": "good", "agrees": "good", "refuted": "bad"}
"""Roles of the outcomes of claims; the others are open."""


def compose_check(answer: Checking, digits_shown: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose a check."""
    return CheckingComposer(digits_shown, is_full).nodes(answer)


class CheckingComposer(Composer):
    """Composer of checks."""

    most_below = math.inf
    needs_variables = False

    def numbers(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose what random points gave, the readings, and the claims."""
        if not isinstance(answer, Checking):
            return
        if answer.sampling is not None:
            verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in answer.sampling.verdicts.items())
            yield note(f"{sampled(answer.sampling)}: {verdicts}; the worst:")
        if answer.opinions:  # next to each other, the worst entries first, without empty columns
            shown = answer.opinions[: MAX_OPINIONS if self.is_full else MOST_OPINIONS]
            yield known_columns([_opinion(one, answer, self) for one in shown])
            if (more := answer.opinions_count - len(shown)) > 0:
                yield note(f"and {more:,} more {'entry' if more == 1 else 'entries'}")
        yield from (claim_note(claim, answer, self) for claim in answer.claims)

    def notes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose the findings, the remarks and the conclusion."""
        yield from super().notes(answer)
        if isinstance(answer, Checking):
            for mode in answer.modes:
                yield from self._mode(mode, answer)
            yield doc.Note(line(doc.Styled(conclusion(answer), "good" if answer.passed else "bad")))

    def _mode(self, mode: ModeCheck, answer: Checking) -> Iterator[doc.Node]:
        """Compose the numbers of a further mode: its verdict, the worst entries unless all agree, and the remarks."""
        is_weighted = _is_weighted(mode, answer)
        where = affected(mode.check)
        covered = f" {where}" if where else f": {extent(mode.check)}" if mode.check.checked else ""
        yield doc.Note(line(doc.Styled(mode.name, "strong"), "   ", standing_of(mode.check), covered))
        if mode.opinions and (self.is_full or mode.opinions[0].verdict != "agree"):
            shown = mode.opinions[: MAX_OPINIONS if self.is_full else MOST_OPINIONS]
            yield known_columns([_opinion(one, answer, self, is_weighted=is_weighted) for one in shown])
            if (more := mode.opinions_count - len(shown)) > 0:
                yield note(f"and {more:,} more {'entry' if more == 1 else 'entries'}")
        yield from self.findings(mode.check, answer.output, is_weighted=is_weighted)


def _opinion(one: Entry, answer: Checking, write: Writer, *, is_weighted: bool = False) -> dict[str, doc.Line]:
    torch, role = np.dtype(answer.dtype).type(one.torch), tone(one.verdict, is_slight=one.is_slight)
    short, enclosed, formula = write.rounded(one), write.enclosed(one), one.formula
    shown, worked_out = write.number(torch), "" if formula is None else write.number(formula)
    if one.verdict != "agree" and shown == enclosed and one.reference is not None:
        shown, enclosed = write.apart(torch, one.reference)
        worked_out = "" if formula is None else write.apart(torch, formula)[1]
    quotient, error = short.difference, short.difference_error or 0.0  # to the digit where its error begins
    found: dict[str, str | doc.Line] = {
        "entry": line(doc.Symbol(wording.entry(one, answer.output, is_weighted=is_weighted))),
        "torch": line(doc.Styled(shown, "strong" if one.verdict == "agree" else role)),
        "formula": worked_out,
        "enclosure": enclosed,
        "difference": "" if quotient is None else f"{_to_digits_of(quotient, error)} ± {error:.1g}",
    }
    if write.is_full:
        found["relative error"] = "" if one.relative_error is None else f"{one.relative_error:.2g}"
        found["ulps"] = "" if one.ulps is None else f"{one.ulps:.2g}"
    found[""] = line(standing(one.verdict, proven=write.is_full and one.proven, is_slight=one.is_slight))
    if answer.check is not None and answer.check.verdict == "kink" and _is_in_branch(one, answer.check):
        found[""] = line(doc.Styled(IN_THIS_BRANCH, TONES["kink"]))
    return {header: cell if isinstance(cell, tuple) else line(cell) for header, cell in found.items()}


def _is_in_branch(entry: Entry, check: results.Check) -> bool:
    """Tell whether a derivative is right, and the code takes another branch, or other elements, beside the point."""
    is_right = entry.verdict == "agree" and entry.variable is not None
    return is_right and any(one.kind == "value" and one.verdict == "kink" for one in check.findings)


def claims_in_box(answer: results.BoxChecking, digits_shown: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose the outcomes of claims in a box."""
    write = Writer(digits_shown, is_full=is_full)
    return (claim_note(claim, answer, write) for claim in answer.claims)


def rows_of_claims(claims: Sequence[Claim]) -> Iterator[list[str]]:
    """List of each claim its outcome in one word, its variable, and its text on one line."""
    return ([status(one).replace(" ", "-"), one.variable, " ".join(one.text.split())] for one in claims)


def claim_note(claim: Claim, answer: Checking | results.BoxChecking, write: Writer) -> doc.Note:
    """Compose the outcome of a claim, and where it is wrong."""
    numbers = {**(claim.at or {}), **({} if claim.v is None else {"v": claim.v})}
    point = ", ".join(f"{name} = {write.listed(array)}" for name, array in numbers.items())
    wrong = counterexample(claim, write)
    behind = [f"at {point} {wrong}" if point and wrong else wrong, claim.mistake, claim.note]
    more = "; ".join(marked(words) for words in behind if words)
    of = f" for {claim.variable}" if len(answer.wrt) > 1 else ""
    became = status(claim)
    if claim.status == "agrees":
        became = "agrees at this point"
    elif claim.status == "no counterexample" and claim.points:
        became = f"{NEITHER}: no counterexample in {claim.points:,} point{'s' * (claim.points > 1)}"
    outcome = doc.Styled(became, STATUS_TONES.get(claim.status, "open"))
    return doc.Note(line("claim ", code(claim.text), f"{of}: ", outcome, Words(f": {more}") if more else ""))


def _to_digits_of(quotient: float, error: float) -> str:
    """Write the digits of a number down to the first of its error.

    >>> _to_digits_of(3.14159, 2e-3)
    '3.142'
    """
    return digits(round(quotient, -math.floor(math.log10(error))) if 0 < error < math.inf else quotient)


# -- words


def status(claim: results.Claim) -> str:
    """Name the outcome of a claim; one without a counterexample at 0 points was not compared.

    >>> status(results.Claim("x", "0", "gradient", "no counterexample", 0))
    'not compared'
    """
    return "not compared" if claim.status == "no counterexample" and claim.points == 0 else claim.status


def counterexample(claim: results.Claim, write: Writer) -> str:
    """Write where a claim is wrong, the truth and the claimed value; empty if that is not known."""
    if claim.claimed is None or claim.truth is None:
        return ""
    place = f"entry {Element('', claim.entry).text} is" if claim.entry else "it is"
    claimed, truth = write.apart(claim.claimed, claim.truth)
    return f"{place} {truth}, and the claim says {claimed}"


def sampled(sampling: results.Sampling) -> str:
    """Say how many random points were checked, and where."""
    boxes = ", ".join(f"{name} in {box}" for name, box in sampling.boxes.items())
    return f"{sampling.points:,} random points of {boxes}, seed {sampling.seed}"


def conclusion(answer: results.Checking) -> str:
    """Write the last line, as the exit code has it."""
    if answer.passed:
        allowed = [verdict for verdict in answer.allowed if verdict != "agree"]
        check = answer.check
        sample = f"{' on a sample' * check.sampled}: {extent(check)}" if check and of_sample(check) else ""
        return "passed" + (f" ({', '.join(allowed)} allowed)" if allowed else "") + sample
    words = [*map(partial(_failed, answer), reversed(answer.failing))]
    words += failures_of_claims(answer)
    words += [f"elsewhere {fault}" for fault in answer.elsewhere]
    words += [f"elsewhere {fault}" for mode in answer.modes for fault in mode.faults]
    checks = [check for check in (answer.check, *(mode.check for mode in answer.modes)) if check is not None]
    if answer.requires_all and (partial_ones := [check for check in checks if not check.is_whole]):
        words.append(f"not all was checked, {extent(partial_ones[0])}")
    return f"did not pass: {', '.join(words)}"


def failures_of_claims(answer: results.Checking | results.BoxChecking) -> list[str]:
    """Count the claims that do not pass, in words."""
    claims = Counter(NEITHER if status(claim) == "no counterexample" else status(claim) for claim in answer.claims)
    failing = ("refuted", "not compared", *(() if results.NO_COUNTEREXAMPLE in answer.allowed else (NEITHER,)))
    failed = ((claims[word], word) for word in failing if claims[word])
    return [f"{count} claim{'s' * (count > 1)} {word}" for count, word in failed]


def _failed(answer: results.Checking, verdict: results.Verdict) -> str:
    """Name a verdict that does not pass, with the modes of differentiation that it is of, if not the usual one."""
    check = answer.check
    own = {check.verdict, *(one.verdict for one in check.findings)} if check is not None else set()
    found = [mode.name for mode in answer.modes if verdict in mode.failing]
    return verdict if verdict in own or not found else f"{verdict} ({', '.join(found)})"


# -- data

OPINION = ["entry", "torch", "formula", "reference", "radius", "difference", "difference_error", "relative_error"]
OPINION += ["ulps", "verdict", "left", "right", "note"]
"""Columns of a check; `left` and `right` are the one-sided derivatives at a kink."""


def plain(answer: Checking, shown: Appearance) -> Iterator[str]:
    """Write a line an opinion: verdict, entry, torch's number, the truth or `none`; then a line a claim.

    A claim is `proved`, `agrees`, `no-counterexample`, `not-compared` or `refuted`, the variable, the claim.
    """
    answer = printable(answer)
    kind = np.dtype(answer.dtype).type
    for opinion in answer.opinions:
        truth = _number(opinion.reference) or "none"
        yield f"{opinion.verdict} {plain_entry(opinion, answer.output)} {digits(kind(opinion.torch))} {truth}\n"
    for mode in answer.modes:
        called = mode.name.replace(" ", "-")
        for opinion in mode.opinions:
            truth = _number(opinion.reference) or "none"
            named = _entry_of(mode, opinion, answer)
            yield f"{opinion.verdict} {called}:{named} {digits(kind(opinion.torch))} {truth}\n"
    yield from (f"{' '.join(row)}\n" for row in rows_of_claims(answer.claims))


def _is_weighted(mode: ModeCheck, answer: Checking) -> bool:
    return mode.name == "second order" and answer.value.ndim > 0


def _entry_of(mode: ModeCheck, one: Entry, answer: Checking) -> str:
    return plain_entry(one, answer.output, is_weighted=_is_weighted(mode, answer))


def csv_rows(answer: Checking, shown: Appearance) -> Iterator[str]:
    """Write a row an opinion, then a row a claim."""
    return table_text(OPINION, _rows(printable(answer)), shown)


def plain_entry(of: results.Entry, y: str, *, is_weighted: bool = False) -> str:
    """Name an entry in one ASCII word: `dy[0]/dx[1]`, `x[1]` for vᵀJ, `y[0]`, `Ju[0]`, `d2y/dx[0]dz[1]`."""
    found = entry(of, y, is_weighted=is_weighted).text.replace("(Ju)", "Ju").removeprefix("vTJ ")
    return found.replace(" ", "_")


def _rows(answer: Checking) -> Iterator[list[str]]:
    """List the opinions, then the claims; of a refuted claim, the truth and a note with both values."""
    kind = np.dtype(answer.dtype).type
    named = [(plain_entry(one, answer.output), one) for one in answer.opinions]
    named += [(f"{mode.name} {_entry_of(mode, one, answer)}", one) for mode in answer.modes for one in mode.opinions]
    for place, one in named:
        numbers = [kind(one.torch), one.formula, one.reference, one.radius, one.difference, one.difference_error]
        numbers += [one.relative_error, one.ulps]
        sides = map(_number, one.one_sided or (None, None))
        yield [place, *map(_number, numbers), one.verdict, *sides, one.note]
    for claim in answer.claims:
        found = dict.fromkeys(OPINION, "")
        found["entry"] = f"claim {claim.variable} = {' '.join(claim.text.split())}"
        found["reference"] = _number(claim.truth)
        found["verdict"] = status(claim).replace(" ", "-")
        wrong = counterexample(claim, Writer(None, is_full=False))
        found["note"] = in_ascii("; ".join(filter(None, (wrong, claim.mistake, claim.note))))
        yield list(found.values())


def _number(number: float | None) -> str:
    return "" if number is None else digits(np.float64(number))
