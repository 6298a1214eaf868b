"""Questions of many threads: each answer is that of one thread, with its verdict, and no question waits for itself."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import flint
import pytest
import torch

import gradcli
from gradcli import Function
from gradcli.results import Result

THREADS = 8
SECONDS = 60

QUESTIONS: list[Callable[[], Result]] = [
    lambda: Function("(1-cos(x))/x**2").check(1e-8),  # the precision rises until its digits are decided
    lambda: Function("x**2").vjp([1, 2], v=[1, 1]),
    lambda: Function("sum(exp(A@x))").hessian({"A": [[1, 2], [3, 4]], "x": [0.1, 0.2]}, wrt=["x"]),
    lambda: Function("sqrt(x**2+1)-x").check(1e7),
    lambda: Function("logsumexp(x)").hvp([1, 2, 3], u=[1, 0, 0]),
    lambda: Function("prod(sin(x))").jacobian([1, 2, 3]),
    lambda: Function("eigvalsh(A)").check([[2, 1], [1, 3]]),
    lambda: gradcli.grad(lambda x: torch.where(x > 0, x, 2 * x).sum(), torch.tensor([0.0, 1.0])),
]
"""Of the kinds of questions that share most: values, balls of many precisions, formulas, a recording."""


def _said(answer: Any) -> tuple[str, str, str]:
    """All that an answer says: its numbers, its screen, and its verdict."""
    return repr(answer.to_dict()), str(answer), answer.check.verdict


@pytest.fixture
def _many_switches() -> Iterator[None]:
    """Let threads take turns fifty times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.part("claims", "running")
@pytest.mark.usefixtures("_many_switches")
def test_eight_threads_have_the_answers_of_one() -> None:
    """Each asks half of the questions, each begins with another; the precision is afterwards what it was."""
    alone, precision, start = [_said(ask()) for ask in QUESTIONS], flint.ctx.prec, Barrier(THREADS)
    assert {verdict for _, _, verdict in alone} == {"agree", "inaccurate", "kink"}

    def asked(first: int) -> list[bool]:
        start.wait(SECONDS)
        places = [(first + n) % len(QUESTIONS) for n in range(len(QUESTIONS) // 2)]
        return [_said(QUESTIONS[place]()) == alone[place] for place in places]

    with ThreadPoolExecutor(THREADS) as pool:
        found = [same for thread in pool.map(asked, range(THREADS)) for same in thread]
    assert found == [True] * (THREADS * (len(QUESTIONS) // 2))
    assert flint.ctx.prec == precision


@pytest.mark.part("running")
def test_one_function_is_asked_by_many_threads() -> None:
    """What a question changes of a function of Python it gives back before the next one."""
    layer = torch.nn.Linear(2, 1, dtype=torch.float64)
    f = gradcli.record(layer, torch.tensor([1.0, 2.0], dtype=torch.float64))
    alone = _said(f.vjp())
    with ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(lambda _: _said(f.vjp()), range(THREADS))] == [alone] * THREADS
    assert layer.weight.grad is None


@pytest.mark.part("running", "tables")
def test_a_question_may_ask_another() -> None:
    """A function of Python does, at a point and in the threads that compute many points."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return x * float(Function("x**2").eval(3).value)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(gradcli.grad, f, torch.tensor(2.0)).result(SECONDS).grad["x"] == 9
        found = pool.submit(gradcli.record(f).map, {"x": [1.0, 2.0]}).result(SECONDS)
    assert found["dy_dx"].tolist() == [9, 9]


def test_an_error_lets_others_ask() -> None:
    """In the thread of the error and in another."""
    with pytest.raises(gradcli.GradcliError):
        Function("x**2").grad([1, 2])
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: Function("x**2").grad(3).grad["x"]).result(SECONDS) == 6
