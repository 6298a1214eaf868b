"""The command that compares all readings of a function: check."""

from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.completion import suggestions
from gradcli.cli.options import RequireAll, named, named_by_none, read, read_expression, verdicts

if TYPE_CHECKING:
    from gradcli.results import Checking

Rows = Annotated[
    str | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        show_default=False,
        autocompletion=suggestions.vector,
        help="Check the entries of vᵀJ for this gradient vector, as in vjp. By default those of the Jacobian.",
    ),
]
Relative = Annotated[
    float | None,
    typer.Option(
        "--rtol",
        metavar="NUMBER",
        show_default=False,
        help="How far torch may be off, relative to the truth. Default: 2**-30, or 2**-16 in float32.",
    ),
]
Absolute = Annotated[
    float | None,
    typer.Option(
        "--atol", metavar="NUMBER", show_default=False, help="How far torch may be off beyond that. Default: 0."
    ),
]
Claims = Annotated[
    list[str] | None,
    typer.Option(
        "--claim",
        metavar="[NAME=]FORMULA",
        show_default=False,
        autocompletion=suggestions.expression,
        help="A derivative to prove or refute: a gradient, a Jacobian, or vᵀJ in terms of v, "
        "as a formula of the variables. The name may be left out where there is one. Repeat for more; @FILE reads it.",
    ),
]
Expected = Annotated[
    list[str] | None,
    typer.Option(
        "--expect",
        metavar="[NAME=]VALUE",
        show_default=False,
        autocompletion=suggestions.value,
        help="The same as numbers, which are compared at the point; @FILE and @- as for --at.",
    ),
]
Points = Annotated[
    int | None,
    typer.Option(
        "--random", metavar="N", show_default=False, help="Check at N random points of the box that --in gives."
    ),
]
Boxes = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        metavar="[NAME=]LOW..HIGH",
        show_default=False,
        help="Where to draw a variable: 0..1, or -pi..pi, or [0,0]..[1,2]. The bounds are values; "
        "they broadcast to the shape of the variable's --at, if it has one. Repeat for more.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the random points.")]
Allow = Annotated[
    str | None,
    typer.Option(
        "--allow",
        metavar="VERDICTS",
        show_default=False,
        autocompletion=suggestions.verdicts,
        help="Verdicts that pass beside agree, separated by commas: kink,removable; "
        "no-counterexample lets claims pass that are neither proved nor refuted.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, check, without=["no_check", "strict", "require_all"])


def check(
    asked: CommonOptions,
    v: Rows = None,
    rtol: Relative = None,
    atol: Absolute = None,
    claim: Claims = None,
    expect: Expected = None,
    random: Points = None,
    box: Boxes = None,
    seed: Seed = 0,
    allow: Allow = None,
    require_all: RequireAll = False,
) -> "Checking":
    """What all readings say of a derivative, side by side.

    Prints what autograd, formula, enclosure and finite differences say of every entry, worst first, with a verdict,
    and exits with 1 unless all agree and every claim is proved. In --format plain, a line an entry: verdict, entry,
    torch, truth; then a line a claim.

    \b
    Examples:
      gradcli check "3*a + 2*b*b + log(c)" --at a=1,2,3 --at b=3,4,5 --at c=6,7,8
      gradcli check "x**3" --at 2 --claim "3*x**2" --expect 12
      gradcli check "sin(x)*exp(-x)" --random 100 --in x=1..2 --dtype float32
      gradcli check "relu(x)" --at 0,1 --v ones --allow kink
    """
    values = named(expect, "--expect")
    claims = named(claim, "--claim")
    boxes = named(box, "--in", asked.function.variables)
    return named_by_none(asked.function, box).check(
        asked.at,
        asked.value(v, "--v"),
        wrt=asked.wrt,
        dtype=asked.dtype,
        rtol=rtol,
        atol=atol,
        claim={name: read_expression(text, asked.files, f"--claim {name}".rstrip()) for name, text in claims.items()},
        expect={name: read(text, f"--expect {name}".rstrip(), asked.files) for name, text in values.items()},
        random=random,
        box=boxes,
        seed=seed,
        allow=verdicts(allow),
        require_all=require_all,
    )
