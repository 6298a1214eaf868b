"""Compact screens: seen at once at every width, and nothing on them that is not so."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from gradcli.formats import ON_TERMINALS
from gradcli.report import Screen, rendered
from tests import of_parts
from tests.conftest import Command
from tests.examples import part
from tests.recorded import COMMANDS, answer

TESTS = Path(__file__).parent.parent
GOLDENS = TESTS / "goldens" / "screens"
TABLES_OF_QUESTIONS = [TESTS / "cli" / "commands" / "questions.txt", *of_parts.files("commands/questions.txt")]
QUESTIONS = [
    line.partition(" --format plain")[0]
    for table in TABLES_OF_QUESTIONS
    for line in table.read_text(encoding="utf-8").splitlines()
    if " --format plain" in line
]
"""Questions that started gradcli."""

assert len(QUESTIONS) >= 38

WIDTHS = (60, 80, 120)
SCREEN = 24
"""Lines of a terminal, the prompt among them."""

SHOWN = {
    "vjp": 'vjp "x**2" --at 1,2 --v 1,1',
    "of-two": 'vjp "A@x" --at "A=[[1,2],[3,4]]" --at x=1,2 --v 1,1',
    "softmax": 'vjp "softmax(x)" --at 1,2,3 --v ones',
    "kink": 'vjp "relu(x)" --at -1,0,2 --v 1,1,1',
    "large": 'vjp "x**2" --at "linspace(0,1,100)" --v ones',
    "passes": 'vjp "x**2" --at 1,2 --v 1,0 --v 0,1 --accumulate',
    "loss": 'vjp "x**2" --at 1,2 --loss "sum(y**2)"',
    "number": 'grad "x**2" --at 3',
    "three": 'grad "3*a + 2*b*b + log(c)" --at a=.1 --at b=1 --at c=.1',
    "jacobian": 'jacobian "[x*y, x+y]" --at x=3 --at y=5',
    "hessian": 'hessian "x**3*y" --at x=2 --at y=5',
    "along": 'jvp "x**2" --at 1,2 --u 1,0',
    "curved": 'hvp "sum(x**3)" --at 1,2 --u e0',
    "value": 'eval "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6',
    "nothing": 'vjp "7"',
    "long-formula": 'vjp "sin(A@x)*exp(x)/log(A.T@x + 9)" --at "A=[[1,2],[3,4]]" --at x=1,-1 --v 1,0',
    **of_parts.rows("SHOWN"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_screen_is_as_recorded(name: str, require_recorded: Any) -> None:
    """On terminals of three widths, as `vjp "x**2"` with a command would show it."""
    found = answer(f"gradcli {SHOWN[name]}").answer
    shown = "".join(
        f"$ gradcli {SHOWN[name]}  # {width} columns\n{rendered(found, 'table', Screen(width), ON_TERMINALS)}\n"
        for width in WIDTHS
    )
    (golden,) = of_parts.files(f"goldens/screens/{name}.txt") or [GOLDENS / f"{name}.txt"]
    require_recorded(golden, shown)


TABLES = [command for command in COMMANDS if command.endswith(("--full", "# exit 1"))]


@pytest.mark.parametrize(("width", "turn"), part(itertools.product([34, 20, 60, None, 80, 120], range(3)), 0, of=9))
@pytest.mark.one_in(2)
def test_a_screen_has_the_verdict_and_no_line_is_too_wide(width: int | None, turn: int) -> None:
    """Of every third recorded answer; what does not fit is folded, and nothing is cut."""
    for command in TABLES[turn::3]:
        found = answer(command).answer
        shown = rendered(found, "table", Screen(width), ON_TERMINALS)
        lines = shown.splitlines()
        if width is not None:
            assert max(map(cell_len, lines)) <= width, command
        verdict = getattr(getattr(found, "check", None), "verdict", "")
        assert verdict in shown.replace("\n", " ").replace("✓ proven", "agree"), command


def test_few_answers_are_longer_than_the_screen() -> None:
    """Those of the next test."""
    shown = {
        name: rendered(answer(f"gradcli {line}").answer, "table", Screen(80), ON_TERMINALS)
        for name, line in SHOWN.items()
    }
    assert {name for name, text in shown.items() if len(text.splitlines()) >= SCREEN} == {*LONG}


LONG = ["long-formula", *of_parts.rows("LONG")]


@pytest.mark.parametrize("name", LONG)
def test_what_is_longer_than_the_screen_has_the_answer_and_the_verdict_at_its_end(name: str) -> None:
    """In the last ten lines, which are seen above the prompt."""
    found = answer(f"gradcli {SHOWN[name]}").answer
    shown = rendered(found, "table", Screen(80), ON_TERMINALS).splitlines()
    end = "\n".join(shown[-10:])
    verdict = getattr(getattr(found, "check", None), "verdict", "")
    assert verdict in end.replace("✓ proven", "agree")
    assert re.search(r"\.grad|vᵀJ|passed", end)


@pytest.mark.parametrize("line", QUESTIONS)
@pytest.mark.one_in(4)
def test_a_question_is_answered_on_one_screen(line: str) -> None:
    """Of 80 columns and 24 lines with the prompt below: the function, the numbers and the verdict."""
    found = answer("gradcli " + line.replace("\\n", "\n")).answer
    shown = rendered(found, "table", Screen(80), ON_TERMINALS)
    assert shown.count("\n") < SCREEN
    assert max(map(cell_len, shown.splitlines())) <= 80
    verdict = getattr(getattr(found, "check", None), "verdict", "")
    assert verdict in shown.replace("✓ proven", "agree")


COLORED = ["vjp", "kink", "hessian", *of_parts.rows("COLORED")]


@pytest.mark.parametrize("name", COLORED)
def test_colours_say_nothing_that_words_do_not(name: str) -> None:
    """Without them the text is the same."""
    found = answer(f"gradcli {SHOWN[name]}").answer
    plain, colored = (rendered(found, "table", Screen(80, color=color)) for color in (False, True))
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
    assert "\x1b[" in colored


def test_numbers_below_each_other_have_their_points_in_line() -> None:
    """Their digits may differ."""
    shown = rendered(answer('gradcli vjp "x/3" --at 1,20,3000 --v 1,10.5,1e-7').answer, "table", Screen(120), 6)
    numbers = [line.split("│")[3] for line in shown.splitlines() if " y[" in line or "vᵀJ" in line]
    assert [number.strip() for number in numbers] == ["0.333333", "0", "0", "0.333333"]
    assert len({number.index("0") for number in numbers}) == 1


def test_a_wrong_number_is_red_and_a_zero_of_a_matrix_faint(gradcli: Any) -> None:
    """Also one that is explained; the numbers of the answer are bold."""
    wrong = gradcli("grad", "(1-cos(x))/x**2", "--at", "1e-8", "--color", "always", "--digits", "4").out
    assert "\x1b[1;38;5;160m100000000 ✗ truth -8.333e-10\x1b[0m" in wrong
    for words in (("jacobian", "x**2"), ("hessian", "sum(x**3)")):
        matrix = gradcli(*words, "--at", "1,2", "--color", "always").out
        assert matrix.count("\x1b[2m0\x1b[0m") == 2
        assert "\x1b[1m" in matrix


def test_a_very_long_formula_is_counted(gradcli: Command) -> None:
    """It would fill the screen; unfolded it is there."""
    text = " + ".join(f"sin({n}*x)**2*cos(x/{n})" for n in range(2, 22))
    words = ("vjp", text, "--at", "1,2", "--v", "ones")
    assert re.search(r"a formula of \d,\d+ characters, which --full shows", gradcli(*words).out)
    assert "which --full shows" not in gradcli(*words, "--full").out
