"""Functions with published minima and minimizers, on which optimisers are compared."""

from typing import NamedTuple


class Published(NamedTuple):
    """A function, its range, its least value and where that is."""

    name: str
    text: str
    low: float
    high: float
    least: float
    places: tuple[tuple[float, float], ...]


PUBLISHED = (
    Published("Rosenbrock", "100*(y - x**2)**2 + (1 - x)**2", -5, 10, 0.0, ((1, 1),)),
    Published(
        "Beale", "(1.5-x+x*y)**2 + (2.25-x+x*y**2)**2 + (2.625-x+x*y**3)**2", -4.5, 4.5, 0.0, ((3, 0.5),)
    ),
    Published("Booth", "(x + 2*y - 7)**2 + (2*x + y - 5)**2", -10, 10, 0.0, ((1, 3),)),
    Published(
        "Himmelblau", "(x**2 + y - 11)**2 + (x + y**2 - 7)**2", -5, 5, 0.0,
        ((3, 2), (-2.805118086952745, 3.131312518250573), (-3.779310253377747, -3.283185991286170),
         (3.584428340330492, -1.848126526964404)),
    ),
    Published(
        "Branin", "(y - 5.1/(4*pi**2)*x**2 + 5/pi*x - 6)**2 + 10*(1 - 1/(8*pi))*cos(x) + 10", -5, 15,
        0.39788735772973816, ((-3.141592653589793, 12.275), (3.141592653589793, 2.275), (9.42477796076938, 2.475)),
    ),
    Published(
        "six-hump camel", "(4 - 2.1*x**2 + x**4/3)*x**2 + x*y + (-4 + 4*y**2)*y**2", -3, 3, -1.0316284534898774,
        ((0.08984201368301331, -0.7126564032704135), (-0.08984201368301331, 0.7126564032704135)),
    ),
    Published(
        "Goldstein-Price",
        "(1+(x+y+1)**2*(19-14*x+3*x**2-14*y+6*x*y+3*y**2))*(30+(2*x-3*y)**2*(18-32*x+12*x**2+48*y-36*x*y+27*y**2))",
        -2, 2, 3.0, ((0, -1),),
    ),
    Published(
        "Levy",
        "sin(pi*(1+(x-1)/4))**2 + ((x-1)/4)**2*(1+10*sin(pi*(1+(x-1)/4)+1)**2)"
        " + ((y-1)/4)**2*(1+sin(2*pi*(1+(y-1)/4))**2)",
        -10, 10, 0.0, ((1, 1),),
    ),
    Published("Rastrigin", "20 + x**2 - 10*cos(2*pi*x) + y**2 - 10*cos(2*pi*y)", -5.12, 5.12, 0.0, ((0, 0),)),
    Published(
        "Ackley",
        "-20*exp(-0.2*sqrt((x**2 + y**2)/2)) - exp((cos(2*pi*x) + cos(2*pi*y))/2) + 20 + exp(1)",
        -32.768, 32.768, 0.0, ((0, 0),),
    ),
    Published("Griewank", "1 + (x**2 + y**2)/4000 - cos(x)*cos(y/sqrt(2))", -600, 600, 0.0, ((0, 0),)),
    Published(
        "Schwefel", "418.9829*2 - x*sin(sqrt(abs(x))) - y*sin(sqrt(abs(y)))", -500, 500, 2.5455132345e-05,
        ((420.9687463, 420.9687463),),
    ),
)  # fmt: skip
"""Source: M. Jamil, X.-S. Yang, "A literature survey of benchmark functions for global optimisation", 2013; the
minimizers of Himmelblau and of the camel function to all digits by Newton's method."""
