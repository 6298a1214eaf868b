"""What the part adds to tables of the tests of the core."""

from gradcli import Function

VALIDATED = {
    "sparse jacobian": lambda: Function("x[1:]*y").jacobian({"x": [1, 2, 3], "y": 2}, sparse=True),
    "sparse hessian": lambda: Function("sum(x**3)").hessian({"x": [1, 2, 3]}, sparse=True),
    "pattern": lambda: Function("x[1:]*y").jacobian({"x": [1, 2, 3], "y": 2}, pattern=True),
}
