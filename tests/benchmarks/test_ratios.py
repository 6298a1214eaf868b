"""The promises about speed, as ratios against a peer in the same run."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from gradcli import Function
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.symbolic.derivative import differentiate
from tests.benchmarks.conftest import process, ratio
from tests.parsing import parse
from tests.warm import INSTALLED

BY_HAND = """
import torch, sympy
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
y = x**2
y.backward(torch.tensor([1.0, 1.0], dtype=torch.float64))
print(x.grad)
"""


def test_the_main_job_takes_less_than_a_script_by_hand() -> None:
    """Whole processes: the script imports torch and sympy and calls the same backward, but pauses no collector."""
    found = ratio(
        process(INSTALLED, "vjp", "x**2", "--at", "1,2", "--v", "1,1"), process(sys.executable, "-c", BY_HAND), 9
    )
    print(f"\nmain job over a script by hand: {found:.2f}")
    assert found <= 0.9


def test_the_help_takes_a_fraction_of_it() -> None:
    """It imports neither."""
    found = ratio(process(INSTALLED, "--help"), process(sys.executable, "-c", BY_HAND))
    print(f"\nhelp over a script by hand: {found:.2f}")
    assert found <= 0.3


def test_a_plot_takes_little_more_than_a_product() -> None:
    """Whole processes: curves, places and marks, drawn with characters."""
    found = ratio(
        process(INSTALLED, "plot", "abs(sin(x)) + 1/x", "--in", "-3..3"),
        process(INSTALLED, "vjp", "abs(sin(x)) + 1/x", "--at", "1"),
        9,
    )
    print(f"\nplot over product: {found:.2f}")
    assert found <= 1.5


@pytest.mark.parametrize("text", ["sum(w*x**2)", "exp(x)/sum(exp(x))", "A@x"])
def test_a_formula_costs_the_same_for_ten_and_for_a_million_elements(text: str) -> None:
    """Sizes are symbols; only those up to 16 are numbers."""
    program = in_primitives(parse(text))

    def derive(n: int) -> Callable[[], object]:
        shapes = infer(program, {s: (3, n) if str(s) == "A" else (n,) for s in program.variables})
        return lambda: [differentiate(program, shapes, s) for s in program.variables]

    found = ratio(derive(1_000_000), derive(10), 15)
    print(f"\nformula of {text}, a million over ten elements: {found:.2f}")
    assert found <= 3


def test_the_check_takes_a_tenth_of_a_command() -> None:
    """Whole processes, with the check and without."""
    command = (INSTALLED, "vjp", "x**2", "--at", "1,2", "--v", "1,1")
    found = ratio(process(*command), process(*command, "--no-check"), 9)
    print(f"\nmain job over the same without its check: {found:.2f}")
    assert found <= 1.1


def test_the_check_of_all_entries_takes_a_dozen_times_the_product() -> None:
    """Bounds on whole arrays prove all entries: forty operations on each element beside some six of torch."""
    f = Function("sin(x)*x**2")
    for n in (100_000, 1_000_000):
        x = np.linspace(0, 1, n)
        found = ratio(lambda x=x: f.vjp({"x": x}, "ones"), lambda x=x: f.vjp({"x": x}, "ones", check=False))  # type: ignore[misc]
        print(f"\nwith the check over without, {n:,} elements: {found:.2f}")
        assert found <= 12


@pytest.mark.parametrize("kind", ["terms", "statements", "lines of a snippet", "loop terms", "constants"])
def test_long_programs_take_linear_time(kind: str) -> None:
    """Ten times the length takes at most twenty times as long, from text to checked answer."""

    def answer(n: int) -> Callable[[], object]:
        statements = ["y0 = x", *(f"y{k + 1} = sin(y{k}) + x" for k in range(n))]
        leaf = "x = torch.tensor(0.5, requires_grad=True)"
        text = {
            "terms": " + ".join(f"{k}*x" for k in range(n)),
            "statements": "; ".join(statements),
            "lines of a snippet": "\n".join([leaf, *statements, f"y{n}.backward()"]),
            "loop terms": f"sum(sin(i*x) for i in range({n}))",
            "constants": " + ".join(f"sum(full({k} % 7 + 1, {k} + 0.5))*x" for k in range(n)),
        }[kind]
        return lambda: Function(text).vjp({} if "snippet" in kind else {"x": 0.5})

    small, large = (1_000, 10_000) if "terms" in kind else (300, 3_000)
    found = ratio(answer(large), answer(small), 3)
    print(f"\n{large:,} over {small:,} {kind}: {found:.1f}")
    assert found <= 20
