"""The command `check`: its help and its options."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from typer import Option

from gradcli.cli.options import (
    PRESENTATION,
    Along,
    At,
    Device,
    Dtype,
    Expression,
    Fact,
    OptionKind,
    Shape,
    Wrt,
    budget_options,
    exit_options,
    figure_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares
from gradcli.errors import UsageError
from gradcli.option_words import option

if TYPE_CHECKING:
    from gradcli.cli.commands import CommandLine
    from gradcli.parts.part import AskedFunction
    from gradcli.results import Result

CheckedV = Annotated[
    str | None,
    Option(
        "--v",
        metavar="VALUE",
        help="Check the entries of vᵀJ for this gradient vector, as in vjp. By default those of the Jacobian.",
    ),
    Fact(OptionKind.VECTOR),
]
Rtol = Annotated[
    float | None,
    Option(
        "--rtol",
        metavar="NUMBER",
        help="How far torch may be off, relative to the truth. Default: 2**-30, or 2**-16 in float32.",
    ),
]
Atol = Annotated[
    float | None,
    Option("--atol", metavar="NUMBER", help="How far torch may be off beyond that. Default: 0."),
]
Claim = Annotated[
    list[str] | None,
    Option(
        "--claim",
        metavar="[NAME=]FORMULA",
        help="A derivative to prove or refute: a gradient, a Jacobian, or vᵀJ in terms of v, as a formula of the "
        "variables, or FILE.py::NAME, a function that is run. The name may be left out where there is one. With --in "
        "and without --random, of all points of the box. Repeat for more; @FILE reads it.",
    ),
    Fact(OptionKind.TEXTS),
]
Expect = Annotated[
    list[str] | None,
    Option(
        "--expect",
        metavar="[NAME=]VALUE",
        help="The same as numbers, which are compared at the point; @FILE and @- as for --at.",
    ),
    Fact(OptionKind.VALUES),
]
Assume = Annotated[
    list[str] | None,
    Option(
        "--assume",
        metavar="[NAME=]STRUCTURE",
        help="What a variable is: symmetric, spd (symmetric and positive definite), orthogonal, diagonal, triangular "
        "(lower), simplex or positive. Derivatives by it are those along the directions of that, and claims are "
        "proved of it. Repeat for more.",
    ),
    Fact(OptionKind.TEXTS),
]
Random = Annotated[
    int | None,
    Option("--random", metavar="N", help="Check at N random points of the box that --in gives."),
]
Box = Annotated[
    list[str] | None,
    Option(
        "--in",
        metavar="[NAME=]LOW..HIGH",
        help="The range of a variable: 0..1, or -pi..pi, or [0,0]..[1,2]. The bounds are values; they broadcast to the "
        "shape of the variable's --at, if it has one. Every point of the box is checked, or with --random some. Repeat "
        "for more.",
    ),
    Fact(OptionKind.RANGES),
]
Prove = Annotated[
    str | None,
    Option(
        "--prove",
        metavar="STATEMENT",
        help="A statement to prove of every point of the box of --in, or to refute: 'dy/dx >= 0', 'y <= 9.6', "
        "'abs(dy/dx) < 1.13', 'd2y/dx2 > 0', 'convex', 'concave', joined by and, or; several are separated by "
        "semicolons.",
    ),
    Fact(OptionKind.TEXT),
]
Seed = Annotated[int, Option("--seed", metavar="N", help="Of the random points.")]
Allow = Annotated[
    str | None,
    Option(
        "--allow",
        metavar="VERDICTS",
        help="Verdicts that pass next to agree, separated by commas: kink,removable; no-counterexample lets claims "
        "pass that are neither proved nor refuted.",
    ),
    Fact(OptionKind.VERDICTS),
]
RequireAll = Annotated[
    bool,
    Option(
        "--require-all/--no-require-all",
        show_default=False,
        help="Exit with 1 unless every entry was checked, and not a sample of them.",
    ),
    Fact(is_setting=True),
]
Differences = Annotated[
    bool,
    Option("--differences", show_default=False, help="Take finite differences too, as --full does."),
]
ForwardToo = Annotated[
    bool,
    Option(
        "--forward",
        show_default=False,
        help="Check the numbers of forward mode too, as torch.func.jvp has them. A jvp of your own is always tried.",
    ),
]
Batched = Annotated[
    bool,
    Option(
        "--batched", show_default=False, help="Check the rows of J that torch computes at once, by vmap over v, too."
    ),
]
Order = Annotated[
    int,
    Option(
        "--order",
        min=1,
        max=2,
        metavar="N",
        help="2 checks the derivatives of vᵀJ too, by x and by v, through create_graph=True.",
    ),
]
Strict = Annotated[
    bool,
    Option("--strict/--no-strict", show_default=False, help="Fail for lost digits in small entries too."),
    Fact(is_setting=True),
]
"""Of the check itself, and so part of the question; of other commands it is a demand on the verdict."""


Picture = Annotated[
    bool,
    Option("--picture", show_default=False, help="Draw where in the box of --in which verdict holds."),
    PRESENTATION,
]


@shares(output_options, figure_options, remark_options, budget_options, exit_options)
def check(
    expression: Expression,
    at: At = None,
    v: CheckedV = None,
    rtol: Rtol = None,
    atol: Atol = None,
    claim: Claim = None,
    expect: Expect = None,
    assume: Assume = None,
    shape: Shape = None,
    random: Random = None,
    box: Box = None,
    along: Along = None,
    prove: Prove = None,
    seed: Seed = 0,
    allow: Allow = None,
    require_all: RequireAll = False,
    differences: Differences = False,
    strict: Strict = False,
    forward: ForwardToo = False,
    order: Order = 1,
    batched: Batched = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
    picture: Picture = False,
) -> None:
    """Compare all readings of a derivative, side by side.

    Prints what autograd, formula and enclosure say of every entry, worst first, with a verdict, and exits with 1
    unless all agree and every claim is proved; --full adds finite differences. In --format plain, a line an entry:
    verdict, entry, torch, truth; then a line a claim.

    \b
    Examples:
      gradcli check "3*a + 2*b*b + log(c)" --at a=1,2,3 --at b=3,4,5 --at c=6,7,8
      gradcli check "x**3" --at 2 --claim "3*x**2" --expect 12
      gradcli check "x@A@x" --at x=1,2 --at A=[[2,1],[1,3]] --assume A=symmetric --claim "x=2*A@x"
      gradcli check "sin(x)*exp(-x)" --random 100 --in x=1..2 --dtype float32
      gradcli check "relu(x)" --at 0,1 --v ones --allow kink
      gradcli check "x*tanh(x)" --in x=0..50 --prove "dy/dx >= 0"
      gradcli check "abs(x)" --in x=1..2 --claim 1
    """


def answer_check(line: "CommandLine") -> "Result":
    """Answer with finite differences if all is to be shown, and run the functions that are named as claims."""
    given = dict(line.arguments)
    is_of_points = "random" in given or given.keys().isdisjoint(("box", "along", "prove"))
    if line.shown.form == "full" and is_of_points:
        given["differences"] = True
    if not line.is_request and "claim" in given:
        given["claim"] = {
            name: _named_function(text, line.typed["claim"]) or text for name, text in given["claim"].items()
        }
    line = replace(line, arguments=given)
    if not line.presentation.get("picture"):
        return line.answer()
    if is_of_points:
        raise UsageError(f"{option('picture')} is of a box", hint=f"write {option('in', 'x=0..1')}, without a point")
    from gradcli.cli.commands import answer_as_drawing

    return answer_as_drawing(line)


def _named_function(text: str, words: Sequence[str]) -> "AskedFunction | None":
    """Return the function that a claim names; None for a formula, and for a name that was read from a file."""
    from gradcli.cli.commands import function_named

    is_typed = any(word.strip().endswith(text.strip()) for word in words)
    return function_named(text) if is_typed else None
