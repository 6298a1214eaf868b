"""An answer of one number in one line, for a prompt of Python: `∂y/∂x = 2·x = 6   ✓ proven`."""

from __future__ import annotations

from gradcli import results
from gradcli.notation import Named, Notation
from gradcli.report import document as doc, wording
from gradcli.report.compose.formula_tables import standing_of
from gradcli.report.document import TONES, line
from gradcli.report.numbers import Writer, mark


def one_line(answer: object) -> doc.Note | None:
    """Compose a single number with its name, formula and verdict; None of an answer that has more to say."""
    if not isinstance(answer, results.Judged) or isinstance(answer, results.Checking | results.Explanation):
        return None
    check = answer.check
    has_more = answer.warnings or answer.remarks or (check is not None and (check.verdict != "agree" or check.rewrite))
    if has_more or len(answer.asked) != 1 or (isinstance(answer, results.VJP) and answer.loss is not None):
        return None
    (part,) = answer.asked
    if part.array is None or part.array.size != 1:
        return None
    label: Notation = Named(part.axes[-1]) if part.kind == "value" else part.label
    parts: list[str | doc.Inline] = [doc.Symbol(label)]
    formula = None if check is None else _formula(answer, part)
    number = Writer(None, is_full=False).number(part.array.reshape(())[()])
    if formula is not None and formula.text != number:
        parts += [" = ", doc.FormulaText(formula)]
    parts.append(f" = {number}{wording.in_dtype(answer)}")
    if check is not None:
        proved = doc.Styled(f"{mark('agree')} proven", TONES["agree"])
        parts += ["   ", proved if check.proven else standing_of(check)]
    return doc.Note(line(*parts))


def _formula(answer: results.Judged, part: results.Quantity) -> Notation | None:
    """Return the formula of the number if it is one cell that holds here: of vᵀJ that of J, where v is 1."""
    found = part.formula
    if found is None and isinstance(answer, results.Differentiation):
        is_product = isinstance(answer, results.VJP) and bool((answer.v != 1).any())
        found = None if is_product else answer.symbolic.get(part.axes[-1])
    is_one = found is not None and len(found.cells) == 1 and not found.sizes and found.holds_here
    is_indexed = found is not None and bool(found.cells[0].below.index or found.cells[0].above.index)
    return found.brief[0].expression if found is not None and is_one and not is_indexed else None
