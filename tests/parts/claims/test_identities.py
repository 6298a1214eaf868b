"""Derivatives that people look up in books: each has a formula, is proved, and is refuted with a mistake in it."""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.language.parsing import parse
from gradcli.language.program.passes import for_formulas
from gradcli.parts.claims import is_proved_derivative
from gradcli.parts.claims.subject import Subject
from gradcli.parts.claims.verdict import claimed
from tests.examples import all_but, part
from tests.parts.claims.identities import GRADIENTS, JACOBIANS, STRUCTURED, WRONG, Identity

ALL = [*((one, "gradient") for one in GRADIENTS), *((one, "Jacobian") for one in JACOBIANS)]

MOST_SECONDS = 3.0
"""Most time of a proof, of this process alone."""


def _values(one: Identity) -> Mapping[str, np.ndarray[Any, Any]]:
    """Values that every function of the tables has a derivative at: square matrices are far from singular."""
    generator = np.random.default_rng(0)
    found = {}
    for name, shape in one.sizes.items():
        found[name] = np.round(generator.uniform(0.5, 2, shape) * 16) / 16
        if len(shape) == 2 and shape[0] == shape[1]:
            found[name] = found[name] + 2 * np.eye(shape[0])
        if name in one.assume:
            found[name] = found[name] + found[name].T
    return found


def _status(one: Identity, derivative: str) -> str:
    """What becomes of a claim at a point of its own, and at random ones."""
    program = parse(one.function, shapes=one.sizes)
    shapes = {symbol: one.sizes[str(symbol)] for symbol in program.variables}
    subject = Subject.from_program(program, shapes, one.variable, None)
    return claimed(subject, derivative, _values(one), TOLERANCE["float64"]).status


def test_there_are_enough_of_them() -> None:
    """And of each one both ways to go wrong: an order, a transpose, a factor, a sign, a symmetry."""
    assert len(ALL) + len(STRUCTURED) >= 120
    assert len(WRONG) >= 60
    assert len({(one.function, one.variable, one.derivative) for one in WRONG}) == len(WRONG)


@pytest.mark.parametrize("step", all_but([3, 1], 1))
def test_each_is_proved_soon(step: int) -> None:
    unproved, slow = [], []
    for one, of in ALL[::step]:
        program = parse(one.function, shapes=one.sizes)
        shapes = {symbol: one.sizes[str(symbol)] for symbol in program.variables}
        start = process_time()
        if not is_proved_derivative(program, shapes, one.variable, one.derivative, of):
            unproved.append((one.function, one.variable))
        if process_time() - start > MOST_SECONDS:
            slow.append((one.function, one.variable))
    assert len(unproved) <= 0.05 * len(ALL), unproved
    assert not slow


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize("step", all_but([4, 1], 1))
def test_most_have_a_formula_that_is_no_longer(step: int) -> None:
    """As the language has them, in whole tensors; each is read back and proved before it is shown."""
    from gradcli.parts.closed_forms.tensor_formulas import SizedFunction, gradient_formula, jacobian_formula

    missing, longer, tried = [], [], ALL[::step]
    for one, of in tried:
        program = for_formulas(parse(one.function, shapes=one.sizes))
        shapes = {symbol: one.sizes[str(symbol)] for symbol in program.variables}
        function = SizedFunction(program, shapes, {})
        variable = next(symbol for symbol in shapes if str(symbol) == one.variable)
        found = (gradient_formula if of == "gradient" else jacobian_formula)(function, variable)
        if found is None:
            missing.append((one.function, one.variable))
        elif len(found.whole.text) > len(one.derivative) + 8:
            longer.append((found.whole.text, one.derivative))
    assert len(missing) <= 0.1 * len(tried), missing
    assert len(longer) <= 0.1 * len(tried), longer


@pytest.mark.parametrize("one", STRUCTURED, ids=[f"{one.function} by {one.variable}" for one in STRUCTURED])
@pytest.mark.one_in(4)
def test_structure_is_used(one: Identity) -> None:
    """What holds for symmetric matrices is proved for them."""
    answer = Function(one.function).check(_values(one), claim={one.variable: one.derivative}, assume=one.assume)
    assert [claim.status for claim in answer.claims] == ["proved"]


@pytest.mark.parametrize(
    "one", part([(one,) for one in WRONG], 0, of=4), ids=[f"{one.derivative} of {one.function}" for one in WRONG]
)
@pytest.mark.one_in(4)
def test_each_mistake_is_refuted(one: Identity) -> None:
    """By a counterexample; and no proof of it is found."""
    assert _status(one, one.derivative) == "refuted"
    program = parse(one.function, shapes=one.sizes)
    shapes = {symbol: one.sizes[str(symbol)] for symbol in program.variables}
    assert not any(
        is_proved_derivative(program, shapes, one.variable, one.derivative, of) for of in ("gradient", "Jacobian")
    )
