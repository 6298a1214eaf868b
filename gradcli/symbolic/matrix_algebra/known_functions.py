"""A form as people write it: functions by their names, and differences by the sign of the variable.

softmax, the logistic function, the logarithm of a sum of exponentials, and the mean have names; of `x - a` and `a - x`
that one is written in which the variable is not subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, NormalForm, canonical, merged
from gradcli.symbolic.matrix_algebra.sums import names_variable, negative_of, wrapped


def with_known_functions(form: NormalForm) -> NormalForm:
    """Write what is softmax or the logistic function by its name."""
    terms: dict[Factors, Fraction] = {}
    for factors, number in form.terms.items():
        found = canonical(merged(_named_functions(list(factors))))
        terms[found] = terms.get(found, Fraction(0)) + number
    return NormalForm(form.sizes, {own: n for own, n in terms.items() if n})


def with_variables_added(form: NormalForm, names: Sequence[str]) -> NormalForm:
    """Take the negative of differences in which the first of some variables is subtracted, and correct the sign."""
    terms: dict[Factors, Fraction] = {}
    for factors, number in form.terms.items():
        sign, found = 1, list[Factor]()
        for one in factors:
            if one.atom.kind == "network":
                inside = next(iter(one.atom.inside[0].terms))
                turned = [(negative_of(o.atom), o) for o in inside if o.power % 2 == 0 and _subtracts(o.atom, names)]
                rest = [o for o in inside if all(o is not other for _, other in turned)]
                network = NormalForm((), {canonical([*rest, *(o._replace(atom=a) for a, o in turned)]): Fraction(1)})
                found.append(one._replace(atom=Atom("network", "", (), (network,))))
            elif one.power.denominator == 1 and _subtracts(one.atom, names):
                sign *= -1 if one.power % 2 else 1
                found.append(one._replace(atom=negative_of(one.atom)))
            else:
                found.append(one)
        terms[canonical(found)] = number * sign
    return NormalForm(form.sizes, terms)


def _subtracts(atom: Atom, names: Sequence[str]) -> bool:
    """Tell whether a sum has both signs, and the shortest term with the first variable that it has is subtracted."""
    if atom.kind != "added" or len({number > 0 for number in atom.inside[0].terms.values()}) < 2:
        return False
    inside = atom.inside[0]
    for name in names:
        for own in sorted(inside.ordered, key=len):
            if names_variable(NormalForm(inside.sizes, {own: Fraction(1)}), name):
                return inside.terms[own] < 0
    return False


def with_positive_arguments(form: NormalForm) -> NormalForm:
    """Write sigmoid(-x) as 1 - sigmoid(x), where other factors stand at its index."""
    terms: dict[Factors, Fraction] = {}
    for factors, number in form.terms.items():
        one = next((o for o in factors if _is_of_negative(o)), None)
        rest = [o for o in factors if o is not one]
        left = {index for o in rest for index in o.at}
        if one is None or not all(index >= 0 or index in left for index in one.at):
            terms[factors] = terms.get(factors, Fraction(0)) + number
            continue
        inside = one.atom.inside[0]
        atom, at = wrapped("function", "sigmoid", NormalForm(inside.sizes, {o: -n for o, n in inside.terms.items()}))
        opposite = Factor(atom, tuple(one.at[axis] for axis in at))
        for own, sign in ((rest, 1), ([*rest, opposite], -1)):
            found = canonical(merged(own))
            terms[found] = terms.get(found, Fraction(0)) + sign * number
    return NormalForm(form.sizes, {own: n for own, n in terms.items() if n})


def _is_of_negative(one: Factor) -> bool:
    """Tell whether a factor is sigmoid(-x)."""
    if one.atom.kind != "function" or one.atom.name != "sigmoid" or one.power != 1:
        return False
    return all(number < 0 for number in one.atom.inside[0].terms.values())


def _named_functions(factors: list[Factor]) -> list[Factor]:
    for rule in (_softmax, _softmax_of_rows, _sigmoid, _tanh, _log_sum, _mean):
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


def _softmax_of_rows(factors: list[Factor]) -> list[Factor] | None:
    """Replace exp(x)/sum(exp(x), 1) by softmax(x, 1)."""
    for total in factors:
        terms = total.atom.inside[0].terms if total.atom.kind == "added" and len(total.at) == 1 else {}
        own = next(iter(terms), ())
        if total.power > -1 or total.power.denominator != 1 or len(terms) != 1 or len(own) != 1 or terms[own] != 1:
            continue
        (exponential,) = own
        if exponential.atom.name != "exp" or exponential.power != 1 or len(exponential.at) != 2:
            continue
        kept = exponential.at.index(0) if 0 in exponential.at else -1
        for one in factors:
            if kept >= 0 and one.atom == exponential.atom and one.power >= 1 and one.at[kept] == total.at[0]:
                inside = one.atom.inside
                rows = Atom("function", f"softmax along {1 - kept}", one.atom.sizes, inside)
                rest = [o for o in factors if o is not one and o is not total]
                left = [one._replace(power=one.power - 1), total._replace(power=total.power + 1)]
                return [*rest, *left, Factor(rows, one.at)]
    return None


def _tanh(factors: list[Factor]) -> list[Factor] | None:
    """Replace sinh(x)/cosh(x) by tanh(x)."""
    for one in factors:
        if one.atom.kind != "function" or one.atom.name != "sinh" or one.power < 1:
            continue
        below = next((o for o in factors if o.at == one.at and o.atom.name == "cosh" and o.power <= -1), None)
        if below is not None and below.atom.inside == one.atom.inside:
            rest = [o for o in factors if o is not one and o is not below]
            atom = Atom("function", "tanh", one.atom.sizes, one.atom.inside, is_symmetric=one.atom.is_symmetric)
            left = [one._replace(power=one.power - 1), below._replace(power=below.power + 1)]
            return [*rest, *left, Factor(atom, one.at)]
    return None


def _sigmoid(factors: list[Factor]) -> list[Factor] | None:
    """Replace 1/(1 + exp(-x)) by sigmoid(x)."""
    for one in factors:
        if one.atom.kind != "added" or one.power > -1 or one.power.denominator != 1:
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


def _mean(factors: list[Factor]) -> list[Factor] | None:
    """Replace sum(x)/n by mean(x)."""
    for one in factors:
        if one.atom.kind != "network" or one.power != 1:
            continue
        inside = next(iter(one.atom.inside[0].terms))
        if len(inside) != 1 or len(inside[0].at) != 1:
            continue
        size = inside[0].atom.sizes[0]
        count = next((o for o in factors if o.atom.kind == "size" and o.atom.name == str(size) and o.power <= -1), None)
        if count is not None:
            vector = NormalForm((size,), {(inside[0].moved({inside[0].at[0]: 0}),): Fraction(1)})
            rest = [o for o in factors if o is not one and o is not count]
            return [*rest, count._replace(power=count.power + 1), Factor(Atom("function", "mean", (), (vector,)))]
    return None
