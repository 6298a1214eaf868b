"""What answers say in words: claims, verdicts, the facts of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradcli.report.labels import index, status
from gradcli.report.numbers import digits
from gradcli.results import (
    NO_COUNTEREXAMPLE,
    SEVERITY,
    VJP,
    Answer,
    Check,
    Checking,
    Claim,
    Differentiation,
    Evaluation,
    FunctionPage,
    Jacobian,
    Judged,
    Products,
    Sampling,
    Verdict,
)

AGAIN = (
    "every pass but the last needs retain_graph=True, or torch raises 'Trying to backward through the graph a second "
    "time'; x.grad = None or zero_grad() between passes starts anew"
)
"""What to know of passes that add up."""

ONCE = "a second pass would add to x.grad, and needs retain_graph=True in this one; x.grad = None starts anew"
"""What to know of one pass."""

NO_VARIABLE = "there is no variable to differentiate by"
"""In the place of derivatives."""

NO_ELEMENTS = "empty, as the output has no elements"
"""In the place of a Jacobian."""

NO_ADJOINT = "None: no variable that is differentiated by enters it"
"""What an intermediate without an adjoint means."""

NEITHER = "neither proved nor refuted"
"""Of a claim that nothing contradicts, where that is no proof."""

LONG_EXPRESSION = 400
"""Characters of an expression that are repeated above an answer."""


def statement(answer: Answer) -> str:
    """The function as it was typed, with a name for its value; the beginning of a long one."""
    expression = answer.expression.strip()
    if len(expression) > LONG_EXPRESSION:
        expression = f"{expression[: LONG_EXPRESSION - 20]}… ({len(expression):,} characters)"
    return expression if _has_names(expression) else f"{answer.output} = {expression}"


def _has_names(expression: str) -> bool:
    """Whether a statement names its value, so that `y = ` before it would mislead."""
    return "\n" in expression or ";" in expression or expression.partition("=")[0].strip().isidentifier()


def diagonal(answer: Differentiation) -> str:
    """That Jacobians are diagonal, and what v = ones then gives: where v is that, and of the Jacobian itself."""
    found = [name for name in answer.wrt if name in answer.symbolic and answer.symbolic[name].structure == "diagonal"]
    is_ones = isinstance(answer, VJP) and bool((answer.v == 1).all())
    if not found or not (is_ones or isinstance(answer, Jacobian)) or answer.value.size <= (answer.points or 1):
        return ""
    row = answer.symbolic[found[0]].cells[0].row
    own = ", ".join(name + row.removeprefix(answer.output) for name in found)
    blocks = ", ".join(f"∂{answer.output}/∂{name}" for name in found)
    is_one = len(found) == 1
    what = f"of {', '.join(found)}, only {own} move{'s' * is_one} {row}"
    gives = "so v = ones gives the derivative at every point" if is_ones else "vjp with v = ones gives the diagonal"
    return f"{blocks} {'is' if is_one else 'are'} diagonal: {what}{', ' if is_ones else '; '}{gives}"


def accumulating(answer: Products) -> str:
    """What to know of passes that add up, or of one that others would add to."""
    return (AGAIN if len(answer.answers) > 1 else ONCE).replace("x.grad", f"{answer.wrt[0]}.grad")


def judged(verdict: Verdict, *, proven: bool) -> str:
    """A verdict, and whether the enclosure proves it."""
    return f"{verdict} (proven)" if proven else verdict


def standing(check: Check) -> str:
    """The verdict of a check and what it stands on: whether it is proven, of all entries or of a sample.

    >>> standing(Check("agree", 4, 4, 0.0, proven=True)), standing(Check("kink", 1, 1, 0.0))
    ('agree (proven, all 4 entries)', 'kink (the one entry)')
    >>> standing(Check("agree", 768, 3, 0.0, sampled=True)), standing(Check("unchecked", 4, 3, 0.0))
    ('agree (3 of 768 entries sampled)', 'unchecked (3 of 4 entries)')
    >>> standing(Check("agree", 900, 806, 0.0, sampled=True, zeros=800))
    'agree (6 of 100 nonzero entries sampled)'
    """
    if not check.entries:
        return check.verdict
    return f"{check.verdict} ({'proven, ' * check.proven}{extent(check)})"


def extent(check: Check) -> str:
    """How many entries a verdict is of."""
    if check.checked < check.entries:
        done, among = check.checked - check.zeros, check.entries - check.zeros
        what = "nonzero entries" if check.zeros else "entries"
        return f"{done:,} of {among:,} {what}{' sampled' * (check.sampled and done > 0)}"
    whole = "the one entry" if check.entries == 1 else f"all {check.entries:,} entries"
    return f"{whole}, a sample of the rest" if check.sampled else whole


def of_sample(check: Check | None) -> str:
    """That a verdict is of a sample, in one line; empty if it is not."""
    if check is None or not check.sampled:
        return ""
    what = extent(check).removesuffix(" sampled")
    return f"the verdict is that of a sample, {what}; with --require-all that exits with 1"


def at_points(answer: Answer) -> str:
    """How many points there are, and of which variables."""
    count = answer.points or 0
    return f"{count:,} point{'s' * (count > 1)} of {', '.join(answer.points_of)}"


def readings(answer: Judged) -> str:
    """Which readings were compared."""
    return "torch and enclosure" if isinstance(answer, Evaluation) else "torch, formula and enclosure"


def covered(check: Check) -> tuple[str, str]:
    """How many entries were compared, and the largest error among them."""
    details = f" ({chosen(check)})" if chosen(check) else ""
    entries = f"{check.checked:,} of {check.entries:,}{details}"
    return entries, "none" if check.max_relative_error is None else f"{check.max_relative_error:.2g}"


def chosen(check: Check) -> str:
    """How the entries were chosen, if they are not all alike."""
    zeros = f"{check.zeros:,} of them zero by structure" if check.zeros else ""
    return "; ".join(filter(None, [zeros, "" if check.chosen == "all" else check.chosen]))


def claimed(claim: Claim) -> str:
    """What became of a claim, with the number of points where that matters."""
    match claim:
        case Claim(status="agrees"):
            return "agrees at this point"
        case Claim(status="no counterexample"):
            points = f"{claim.points:,} point{'s' * (claim.points > 1)}"
            return f"{NEITHER}: no counterexample in {points}" if claim.points else status(claim)
    return claim.status


def counterexample(claim: Claim) -> str:
    """Where a claim is wrong, and by what; empty if that is not known."""
    if claim.claimed is None or claim.truth is None:
        return ""
    place = f"entry {index(claim.entry)} is" if claim.entry else "it is"
    return f"{place} {digits(claim.truth)}, and the claim says {digits(claim.claimed)}"


def sampled(sampling: Sampling) -> str:
    """Which random points were looked at."""
    boxes = ", ".join(f"{name} in {box}" for name, box in sampling.boxes.items())
    return f"{sampling.points:,} random points of {boxes}, seed {sampling.seed}"


def conclusion(answer: Checking) -> str:
    """The last line, as the exit code has it."""
    if answer.passed:
        allowed = [verdict for verdict in answer.allowed if verdict != "agree"]
        sample = f" on a sample: {extent(answer.check)}" if answer.check and answer.check.sampled else ""
        return "passed" + (f" ({', '.join(allowed)} allowed)" if allowed else "") + sample
    verdicts = [opinion.verdict for opinion in answer.opinions]
    verdicts += [] if answer.check is None else [answer.check.verdict]
    verdicts += [] if answer.sampling is None else list(answer.sampling.verdicts)
    causes = [v for v in SEVERITY if v in verdicts and v not in ("agree", *answer.allowed)]
    claims = Counter(NEITHER if status(claim) == "no counterexample" else status(claim) for claim in answer.claims)
    failing = ("refuted", "not compared", *(() if NO_COUNTEREXAMPLE in answer.allowed else (NEITHER,)))
    failed = ((claims[word], word) for word in failing if claims[word])
    words = [*reversed(causes), *(f"{count} claim{'s' * (count > 1)} {word}" for count, word in failed)]
    if answer.requires_all and answer.check is not None and not answer.check.is_whole:
        words.append(f"not all was checked, {extent(answer.check)}")
    return f"did not pass: {', '.join(words)}"


def facts(page: FunctionPage) -> Iterator[tuple[str, str]]:
    """What there is to say of a function, by what it is."""
    about = page.entry
    yield "computes", about.doc
    yield "group", about.group
    yield "other names", ", ".join(about.aliases)
    yield "also written", "\n".join(about.spellings)
    cases = [f"{m.case}: {m.short}" if m.case else m.short for m in page.meanings]
    yield "meaning", "\n".join([*cases, page.meaning_note] if page.meaning_note else cases)
    yield "domain", about.domain
    what = "the value jumps" if about.is_step else "a kink: the derivative jumps"
    yield "kinks", "\n".join(f"{what} where {kink} = 0" for kink in about.kinks)
    if not about.kinks:
        yield "kinks", "\n".join(f"the derivative may jump where {kink} = 0" for kink in page.inner_kinks)
    yield "note", about.caveat
