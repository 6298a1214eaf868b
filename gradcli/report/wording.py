"""Words common to all formats: names of entries and of nodes, verdicts.

An entry is called `∂y[0]/∂x[1]`, `vᵀJ x[1]` or `y[0]`, and the same in one plain word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli import results
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.text.signs import plain
from gradcli.notation import HU, PARTIAL, Element, Named, Notation, Signs, directional, second
from gradcli.option_words import option

RATIO = Signs("d%s/d%s", "∂%s/∂%s", r"\partial %s / \partial %s")
"""Derivative in a line of words."""

OF_PRODUCT = Signs("vTJ %s", "vᵀJ %s", "(v^{T} J)_{%s}")
"""Name of an element of vᵀJ."""


OF_SUM = Signs("vT%s", "vᵀ%s", "v^{T} %s")
"""Name of the sum of the elements of y, weighted by v."""


def entry(of: results.Entry, y: str, *, is_weighted: bool = False) -> Notation:
    """Name an entry of the Jacobian, of vᵀJ, of y, or of a whole formula, for people; `y` is the output's name.

    A gradient and a Hessian are of the sum of y weighted by v, if `is_weighted`.

    Of accumulated passes, `x.grad[1]`; of second derivatives too: `(Ju)[0]`, `Hu x[1]`, `∂²y/∂x[0]∂z[1]`, and of
    the gradient next to them `∂y/∂x[1]`.

    >>> entry(results.Entry(results.Position("jacobian", "x", (0,), (1,)), 0.0), "y").pretty
    '∂y[0]/∂x[1]'
    """
    column = Element(of.variable or "", of.column or ())
    scalar = OF_SUM(Named(y)) if is_weighted else Named(y)
    match getattr(of, "of", ""):
        case "jvp":
            return directional(of.row or ())
        case "hvp":
            return HU(column)
        case "accumulated":
            return Element(f"{of.variable}.grad", of.column or ())
        case "hessian":
            return second(scalar, Element(getattr(of, "by", None) or "", of.row or ()), column)
        case "gradient":
            return RATIO(scalar, column)
    if of.variable is None:
        return Element(y, of.row or ())
    if of.column is None:
        return PARTIAL(Named(y), column)
    return OF_PRODUCT(column) if of.row is None else RATIO(Element(y, of.row), column)


# -- nodes of graphs

MAX_NODES = 20_000
"""Most nodes of a graph written whole."""

_LONGEST = 40
"""Most characters of a name in a label."""


def clipped(name: str) -> str:
    """Cut off the end of a very long name."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def node_text(node: results.GraphNode) -> str:
    """Write the variable of a leaf; else the text of the operation, after the names of its result.

    >>> node_text(results.GraphNode(0, "MulBackward0", "x*y", ("z",)))
    'z = x*y'
    """
    return clipped(node.variable) or " = ".join([*map(clipped, node.tensors[:3]), node.line])


def require_few_nodes(graph: results.BackwardGraph, form: str) -> tuple[results.GraphNode, ...]:
    """List the nodes of a graph that is not too large to be written whole.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    if len(graph.nodes) > MAX_NODES:
        message = f"the graph has {len(graph.nodes):,} nodes; as {form} it may have {MAX_NODES:,}"
        raise TooLargeError(message, hint=f"{option('to', 'tree')} draws the beginning")
    return graph.nodes


# -- sentences

AGAIN = (
    "every pass but the last needs retain_graph=True, or torch raises 'Trying to backward through the graph a second "
    "time'; x.grad = None or zero_grad() between passes starts anew"
)
"""Advice on passes that add up."""

ONCE = "a second pass would add to x.grad, and needs retain_graph=True in this one; x.grad = None starts anew"
"""Advice on one pass."""

NO_VARIABLE = "there is no variable to differentiate by"
"""Words in the place of derivatives."""

_FIXED = re.compile(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*=\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?=[;\n])")
_CALLED = re.compile(r"[;\n]\s*([^\W\d]\w*)\(\s*[-+]?[\d.]+(?:\s*,\s*[-+]?[\d.]+)*\s*\)\s*;?\s*$")


def no_variable(expression: str) -> str:
    """Say that there is nothing to differentiate by, and how to make a variable of a number that the text fixes.

    >>> from gradcli.option_words import in_shell
    >>> in_shell(no_variable("x = 3; y = x**2"))
    'there is no variable to differentiate by: x is the number 3; leave x = 3 out, and add --at x=3'
    >>> no_variable("f(x) = x**2; f(3)")
    'there is no variable to differentiate by: f is called with numbers; leave the call out, and give its values'
    """
    if (fixed := _FIXED.search(expression)) is not None:
        name, number = fixed.groups()
        value = option("at", f"{name}={number}")
        return f"{NO_VARIABLE}: {name} is the number {number}; leave {name} = {number} out, and add {value}"
    if (called := _CALLED.search(expression)) is not None:
        return f"{NO_VARIABLE}: {called[1]} is called with numbers; leave the call out, and give its values"
    return NO_VARIABLE


def _in_plain_signs(text: str) -> str:
    """Write a part of a text without LaTeX; nothing, where a part cannot be read."""
    try:
        return plain(text).strip()
    except GradcliError:
        return ""


NO_ELEMENTS = "empty, as the output has no elements"
"""Words in the place of a Jacobian."""

LONG_EXPRESSION = 400
"""Most characters of an expression repeated above an answer."""


def statement(
    answer: results.Answer | results.ClosedForm | results.Improvement | results.OnBox | results.Plotted,
) -> str:
    """Write the function as it was typed, with a name for its value; the beginning of a long one."""
    expression = answer.expression.strip()
    if len(expression) > LONG_EXPRESSION:
        expression = f"{expression[: LONG_EXPRESSION - 20]}… ({len(expression):,} characters)"
    name = expression.partition("=")[0].strip()
    is_name = name.isidentifier() and (name.isascii() or plain(name) == name)  # xᵀ is one to Python alone
    is_name |= "\\" in name and _in_plain_signs(name) == answer.output
    is_named = "\n" in expression or ";" in expression or is_name
    return expression if is_named else f"{answer.output} = {expression}"


def diagonal(answer: results.Differentiation) -> str:
    """Name the diagonal Jacobians, and the use of v = ones; empty unless v is ones or J itself is asked for."""
    found = [name for name in answer.wrt if name in answer.symbolic and answer.symbolic[name].structure == "diagonal"]
    is_ones = isinstance(answer, results.VJP) and bool((answer.v == 1).all())
    if not found or not (is_ones or isinstance(answer, results.Jacobian)) or answer.value.size <= 1:
        return ""
    row = answer.symbolic[found[0]].cells[0].row
    own = ", ".join(name + row.removeprefix(answer.output) for name in found)
    blocks = ", ".join(f"∂{answer.output}/∂{name}" for name in found)
    is_one = len(found) == 1
    what = f"of {', '.join(found)}, only {own} move{'s' * is_one} {row}"
    gives = "so v = ones gives the derivative at every point" if is_ones else "vjp with v = ones gives the diagonal"
    return f"{blocks} {'is' if is_one else 'are'} diagonal: {what}{', ' if is_ones else '; '}{gives}"


def accumulating(answer: results.Products) -> str:
    """Advise on passes that add up, or on one that others would add to."""
    return (AGAIN if len(answer.answers) > 1 else ONCE).replace("x.grad", f"{answer.wrt[0]}.grad")


def judged(verdict: results.Verdict, *, proven: bool, digits: int | None = None) -> str:
    """Write a verdict, with `(proven)` if the enclosure proves it, or with the digits to which its truth was measured.

    >>> judged("agree", proven=False, digits=8)
    'agree (measured, to 8 digits)'
    """
    if proven:
        return f"{verdict} (proven)"
    return f"{verdict} ({measured(digits)})" if verdict == "agree" and digits is not None else verdict


def measured(digits: int) -> str:
    """Say to how many digits a truth was measured."""
    return f"measured, to {digits} digit{'s' * (digits != 1)}"


def standing(check: results.Check) -> str:
    """Write the verdict of a check and its basis: proven or not, all entries or a sample.

    >>> standing(results.Check("agree", 4, 4, 0.0, proven=True)), standing(results.Check("kink", 1, 1, 0.0))
    ('agree (proven, all 4 entries)', 'kink (the one entry)')
    >>> standing(results.Check("agree", 768, 3, 0.0, sampled=True)), standing(results.Check("unchecked", 4, 3, 0.0))
    ('agree (3 of 768 entries sampled)', 'unchecked (3 of 4 entries)')
    >>> standing(results.Check("agree", 900, 806, 0.0, sampled=True, zeros=800))
    'agree (6 of 100 nonzero entries sampled)'
    >>> standing(results.Check("agree", 6_144, 6_142, 0.0, undecided=2))
    'agree (2 of 6,144 undecided)'
    >>> kink = results.Entry(results.Position("jacobian", "x", (0,), (0,)), 0.0, results.Assessment("kink"))
    >>> standing(results.Check("kink", 4, 4, 0.0, (kink,), proven=True, findings_count=1))
    'kink at 1 of 4 entries; all 4 proven'
    """
    if not check.entries:
        return check.verdict
    if where := affected(check):
        return f"{check.verdict} {where}" + f"; all {check.entries:,} proven" * check.proven
    is_measured = check.verdict == "agree" and check.digits is not None
    basis = "proven, " if check.proven else f"{measured(check.digits or 0)}, " if is_measured else ""
    return f"{check.verdict} ({basis}{extent(check)})"


def affected(check: results.Check) -> str:
    """Count the entries that have the verdict of a check, among those judged; empty of one, and where all agree."""
    found = [one for one in (*check.findings, *check.unlisted) if one.verdict == check.verdict]
    if check.verdict in ("agree", "unchecked") or check.entries <= 1 or not found:
        return ""
    derivatives = [one for one in found if one.variable is not None]
    entries = [one for one in derivatives if one.row is not None] or derivatives  # of J, else of vᵀJ
    least = "at least " * (check.findings_count > len(check.findings) + len(check.unlisted))
    where = f"at {least}{len(entries):,} of {check.checked:,} entries" if entries else "at the value alone"
    return where if check.is_whole else f"{where}; {extent(check)}"


def extent(check: results.Check) -> str:
    """Count the entries that a verdict covers."""
    if check.undecided and check.verdict != "unchecked":
        return undecided(check)
    if check.checked < check.entries:
        done, among = check.checked - check.zeros, check.entries - check.zeros
        what = "nonzero entries" if check.zeros else "entries"
        return f"{done:,} of {among:,} {what}{' sampled' * (check.sampled and done > 0)}"
    whole = "the one entry" if check.entries == 1 else f"all {check.entries:,} entries"
    return f"{whole}, a sample of the rest" if check.sampled else whole


def undecided(check: results.Check) -> str:
    """Count the entries tried and not decided; empty if there are none."""
    return f"{check.undecided:,} of {check.checked + check.undecided:,} undecided" if check.undecided else ""


def of_sample(check: results.Check | None) -> str:
    """Say in one line that a verdict does not cover all entries; empty if it does."""
    if check is None or not (check.sampled or check.undecided):
        return ""
    what = "the verdict is that of a sample, " * (not check.undecided) + extent(check).removesuffix(" sampled")
    return f"{what}; with --require-all that exits with 1"


def in_dtype(answer: results.Answer | results.Improvement) -> str:
    """Write the dtype of an answer, and its device; empty for the usual float64 on the CPU."""
    device = answer.device if isinstance(answer, results.Answer) else "cpu"
    return ("" if answer.dtype == "float64" else f" in {answer.dtype}") + ("" if device == "cpu" else f" on {device}")


def chosen(check: results.Check) -> str:
    """Say how the entries were chosen; empty if they are all alike."""
    zeros = f"{check.zeros:,} of them zero by structure" if check.zeros else ""
    return "; ".join(filter(None, [zeros, "" if check.chosen == "all" else check.chosen]))


def facts(page: results.FunctionPage) -> Iterator[tuple[str, str]]:
    """List facts about a function, as pairs of label and text."""
    about = page.entry
    yield "computes", about.doc
    yield "group", about.group
    yield "other names", ", ".join(about.aliases)
    yield "also written", "\n".join(about.spellings)
    yield "meaning", page.meaning
    yield "domain", about.domain
    what = "the value jumps" if about.is_step else "a kink: the derivative jumps"
    yield "kinks", "\n".join(f"{what} where {kink} = 0" for kink in about.kinks)
    yield "note", about.caveat
