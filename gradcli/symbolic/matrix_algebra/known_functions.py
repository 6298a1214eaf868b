"""Functions of a form by their names: softmax, the logistic function, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from fractions import Fraction

from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, NormalForm, canonical, merged
from gradcli.symbolic.matrix_algebra.sums import wrapped


def with_known_functions(form: NormalForm) -> NormalForm:
    """Write what is softmax or the logistic function by its name."""
    terms: dict[Factors, Fraction] = {}
    for factors, number in form.terms.items():
        found = canonical(merged(_named_functions(list(factors))))
        terms[found] = terms.get(found, Fraction(0)) + number
    return NormalForm(form.sizes, {own: n for own, n in terms.items() if n})


def _named_functions(factors: list[Factor]) -> list[Factor]:
    for rule in (_softmax, _sigmoid, _log_sum):
        while (found := rule(factors)) is not None:
            factors = merged(found)
    return factors


def _sum_of_exponentials(one: Factor) -> Factor | None:
    """Return the exponential that a number is the sum of."""
    if one.atom.kind != "network":
        return None
    inside = next(iter(one.atom.inside[0].terms))
    is_one = len(inside) == 1 and inside[0].atom.name == "exp" and inside[0].power == 1 and len(inside[0].at) == 1
    return inside[0] if is_one else None


def _softmax(factors: list[Factor]) -> list[Factor] | None:
    """Replace exp(x)/sum(exp(x)) by softmax(x), also in a sum over its index."""
    for total in factors:
        exponential = _sum_of_exponentials(total)
        if exponential is None or total.power > -1:
            continue
        softmax = Atom("function", "softmax", exponential.atom.sizes, exponential.atom.inside)
        for one in factors:
            rest = [o for o in factors if o is not one and o is not total]
            left = [*rest, total._replace(power=total.power + 1)]
            if one.atom == exponential.atom and one.power >= 1:
                return [*left, one._replace(power=one.power - 1), Factor(softmax, one.at)]
            if one.atom.kind == "network" and one.power == 1 and one is not total:
                inside = list(next(iter(one.atom.inside[0].terms)))
                place = next((o for o in inside if o.atom == exponential.atom and o.power >= 1), None)
                if place is not None:
                    new = [o for o in inside if o is not place]
                    new += [place._replace(power=place.power - 1), Factor(softmax, place.at)]
                    network = NormalForm((), {canonical(merged(new)): Fraction(1)})
                    return [*left, Factor(Atom("network", "", (), (network,)))]
    return None


def _sigmoid(factors: list[Factor]) -> list[Factor] | None:
    """Replace 1/(1 + exp(-x)) by sigmoid(x)."""
    for one in factors:
        if one.atom.kind != "sum" or one.power > -1 or one.power.denominator != 1:
            continue
        terms = one.atom.inside[0].terms
        own = next((o[0] for o in terms if len(o) == 1 and o[0].atom.name == "exp" and o[0].power == 1), None)
        if len(terms) != 2 or own is None or any(n != 1 for n in terms.values()) or () not in terms:
            continue
        exponential = own.moved(dict(enumerate(one.at)))
        above = next((o for o in factors if (o.atom, o.at) == (own.atom, exponential.at) and o.power >= 1), None)
        rest = [o for o in factors if o is not one and o is not above]
        inside = own.atom.inside[0]
        if above is None:
            inside = NormalForm(inside.sizes, {o: -n for o, n in inside.terms.items()})
        atom, at = wrapped("function", "sigmoid", inside)
        place = tuple(exponential.at[axis] for axis in at)
        found = [*rest, one._replace(power=one.power + 1), Factor(atom, place)]
        return [*found, above._replace(power=above.power - 1)] if above is not None else found
    return None


def _log_sum(factors: list[Factor]) -> list[Factor] | None:
    """Replace log(sum(exp(x))) by logsumexp(x)."""
    for one in factors:
        if (one.atom.kind, one.atom.name) != ("function", "log") or len(one.atom.inside[0].terms) != 1 or one.at:
            continue
        ((own, number),) = one.atom.inside[0].terms.items()
        exponential = _sum_of_exponentials(own[0]) if len(own) == 1 and number == 1 and own[0].power == 1 else None
        if exponential is not None:
            atom = Atom("function", "logsumexp", (), exponential.atom.inside)
            return [*(o for o in factors if o is not one), one._replace(atom=atom)]
    return None
