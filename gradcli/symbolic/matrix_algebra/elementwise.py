"""Powers and functions of the elements of forms.

    exp(a + b), exp(a*log(b))       exp(a)*exp(b), b**a
    log(a*b)                        log(abs(a)) + log(abs(b)), where it has a value
    tanh(a)                         (exp(2*a) - 1)/(exp(2*a) + 1)

A root of a product is split only where what stands under it is not negative, so that sqrt(x**2) stays.
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.symbolic.matrix_algebra.algebra import TensorAlgebra
from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, GaveUpError, NormalForm, canonical, summed
from gradcli.symbolic.matrix_algebra.rewriting import LARGEST_POWER
from gradcli.symbolic.matrix_algebra.sums import broadcast, content, has_positive_base, renamed_axes, wrapped

LARGEST_PRIME = 10_000
"""Largest prime of a number under a root."""


class ElementwiseAlgebra(TensorAlgebra):
    """Algebra of forms with functions of their elements."""

    def power(self, form: NormalForm, power: Fraction) -> NormalForm:
        """Raise the elements of a form to a power.

        Raises:
            GaveUpError: It is a root of a negative number, or 0 to a power that is not positive.
        """
        if power == 0:
            return self.constant(1, form.sizes)
        if power == 1:
            return form
        if not form.terms:
            if power < 0:
                raise GaveUpError
            return form
        is_whole = power.denominator == 1
        if any(one.atom.kind == "unit" for factors in form.terms for one in factors):
            if len(form.terms) == 1 and is_whole and power > 0:
                return self.multiply(*[form] * int(power)) if power <= LARGEST_POWER else self._give_up()
            if power < 0 or not is_whole:
                self._give_up()
        form = self.opened(form)
        number, shared, rest = content(form, only_positive=not is_whole, only_common=not self.expands)
        flat = self.flattened(rest)
        if flat is not rest and flat.terms:
            own, more, rest = content(flat, only_positive=not is_whole, only_common=not self.expands)
            number, shared = number * own, [*shared, *more]
        raised = [one.raised(power) for one in shared]
        coefficient = Fraction(1)
        if is_whole:
            coefficient = number ** int(power)
        else:
            raised += _root(number, power)
        if len(rest.terms) == 1:
            ((factors, sign),) = rest.terms.items()
            if is_whole:
                if any(index < 0 for one in factors for index in one.at):
                    atom, at = wrapped("added", "", rest)
                    return self.normal(form.sizes, [(coefficient, [*raised, Factor(atom, at, power)])])
                return self.normal(
                    form.sizes, [(coefficient * sign ** int(power), [*raised, *(one.raised(power) for one in factors)])]
                )
            if not factors:
                if sign < 0:
                    self._give_up()
                return self.normal(form.sizes, [(coefficient, raised)])
            if sign > 0 and len(factors) == 1 and factors[0].power == 1 and all(i >= 0 for i in factors[0].at):
                return self.normal(form.sizes, [(coefficient, [*raised, factors[0].raised(power)])])
        atom, at = wrapped("added", "", rest)
        return self.normal(form.sizes, [(coefficient, [*raised, Factor(atom, at, power)])])

    def _give_up(self) -> NormalForm:
        raise GaveUpError

    def function(self, name: str, *forms: NormalForm) -> NormalForm:
        """Apply an elementwise function."""
        if len(forms) == 1 and self.splits:
            match name:
                case "exp":
                    return self._exp(forms[0])
                case "log":
                    return self._log(forms[0])
                case "tanh":
                    square = self._exp(self.add((2, forms[0])))
                    one = self.constant(1)
                    return self.multiply(
                        self.add((1, square), (-1, one)), self.power(self.add((1, square), (1, one)), Fraction(-1))
                    )
                case "sinh" | "cosh":
                    up, down = self._exp(forms[0]), self._exp(self.add((-1, forms[0])))
                    half = Fraction(1, 2)
                    return self.add((half, up), (half if name == "cosh" else -half, down))
        if len(forms) == 1 and (short := self._exp_or_log(name, forms[0])) is not None:
            return short
        return self._of_elements(name, *forms)

    def _exp_or_log(self, name: str, form: NormalForm) -> NormalForm | None:
        number = form.number
        if number is not None and (name, int(number), number.denominator) in (("exp", 0, 1), ("log", 1, 1)):
            return self.constant(int(name == "exp"), form.sizes)
        if len(form.terms) == 1:
            ((factors, coefficient),) = form.terms.items()
            inner = {"exp": "log", "log": "exp"}.get(name)
            if coefficient == 1 and len(factors) == 1 and factors[0].atom.name == inner and factors[0].power == 1:
                return _inside_at(factors[0], form.sizes)
        return None

    def _of_elements(self, name: str, *forms: NormalForm) -> NormalForm:
        """Return a function of elements as one factor."""
        sizes = broadcast([form.sizes for form in forms])
        aligned = [self.add((1, form), (1, self.constant(0, sizes))) for form in forms]
        if len(aligned) == 1:
            atom, at = wrapped("function", name, self.opened(aligned[0]))
            return self.normal(sizes, [(Fraction(1), [Factor(atom, at)])])
        used = sorted(
            {index for form in aligned for own in form.terms for one in own for index in one.at if index >= 0}
        )
        to = {axis: place for place, axis in enumerate(used)}
        inside = tuple(renamed_axes(form, to, tuple(sizes[axis] for axis in used)) for form in aligned)
        atom = Atom("function", name, tuple(sizes[axis] for axis in used), inside)
        return self.normal(sizes, [(Fraction(1), [Factor(atom, tuple(used))])])

    def _exp(self, form: NormalForm) -> NormalForm:
        """Return the exponential as a product of those of the terms."""
        factors: list[Factor] = []
        scale = Fraction(1)
        for own, number in form.terms.items():
            logarithm = _logarithm(own, number)
            if logarithm is not None:
                base = logarithm.atom.inside[0]
                moved = dict(enumerate(logarithm.at))
                raised = self.power(base, number)
                if len(raised.terms) != 1:
                    atom, at = wrapped("added", "", base)
                    factors.append(Factor(atom, tuple(moved[i] for i in at), number))
                    continue
                ((more, coefficient),) = raised.terms.items()
                least = min([0, *summed(factors)])
                moved |= {i: i + least for i in summed(more)}
                factors += [one.moved(moved) for one in more]
                scale *= coefficient
                continue
            atom, at = wrapped("function", "exp", NormalForm(form.sizes, {own: Fraction(1)}))
            factors.append(Factor(atom, at, number))
        return self.normal(form.sizes, [(scale, factors)])

    def log_of_base(self, form: NormalForm) -> NormalForm:
        """Return the logarithm of the base of a power, which may be negative where the power is whole."""
        _, shared, rest = content(form)
        if rest.number == 1 and all(map(has_positive_base, shared)):
            return self._log(form)
        return self._of_elements("log_of_base", form)

    def _log(self, form: NormalForm) -> NormalForm:
        """Return the logarithm as a sum of those of the factors.

        Where several factors may be negative it is that of their absolute values; one alone is positive where its
        logarithm has a value.
        """
        if not form.terms:
            self._give_up()
        number, shared, rest = content(form)
        if number < 0:
            return self._of_elements("log", form)
        if len(rest.terms) == 1:
            ((own, _),) = rest.terms.items()
            if all(index >= 0 for one in own for index in one.at):
                shared, rest = [*shared, *own], self.constant(1, form.sizes)
        signed = [one for one in shared if not has_positive_base(one)]
        has_rest = rest.number != 1
        is_positive = not signed if has_rest else len(signed) == 1 and signed[0].power % 2 == 1
        name = "log" if is_positive else "log_abs"
        parts = [(Fraction(n), self._of_elements("log", self.constant(prime))) for prime, n in _primes(number)]
        for one in shared:
            if one.atom.kind == "unit":
                self._give_up()
            if one.atom.kind == "function" and one.atom.name == "exp":
                parts.append((one.power, _inside_at(one, form.sizes)))
                continue
            base = self.normal(form.sizes, [(Fraction(1), [one._replace(power=Fraction(1))])])
            parts.append((one.power, self._of_elements(name if one in signed else "log", base)))
        if has_rest:
            parts.append((Fraction(1), self._of_elements(name, rest)))
        return self.add(*parts, (1, self.constant(0, form.sizes)))


def _logarithm(own: Factors, number: Fraction) -> Factor | None:
    """Return the logarithm that a term is a multiple of, if its exponential is a power."""
    if len(own) != 1 or own[0].atom.kind != "function" or own[0].power != 1:
        return None
    name = own[0].atom.name
    is_log = name in ("log", "log_of_base") or (name == "log_abs" and number % 2 == 0)
    return own[0] if is_log else None


def _inside_at(one: Factor, sizes: tuple[int, ...]) -> NormalForm:
    """Return what is inside of a function, at the indices of a factor."""
    to = dict(enumerate(one.at))
    terms = one.atom.inside[0].terms.items()
    return NormalForm(sizes, {canonical([other.moved(to) for other in own]): number for own, number in terms})


def _root(number: Fraction, power: Fraction) -> list[Factor]:
    """Return a root of a positive number as roots of primes."""
    return [Factor(Atom("number", str(prime)), (), n * power) for prime, n in _primes(number)]


def _primes(number: Fraction) -> list[tuple[int, int]]:
    """Factor a positive number.

    >>> _primes(Fraction(8, 3))
    [(2, 3), (3, -1)]
    """
    found: list[tuple[int, int]] = []
    for value, sign in ((number.numerator, 1), (number.denominator, -1)):
        prime, rest = 2, value
        while rest > 1:
            if prime * prime > rest:
                prime = rest
            if prime > LARGEST_PRIME:
                raise GaveUpError
            count = 0
            while rest % prime == 0:
                rest, count = rest // prime, count + 1
            if count:
                found.append((prime, sign * count))
            prime += 1
    return found
