"""What the part adds to tables of the tests of the core."""

from gradcli import Function

ANSWERS = {
    "SparseJacobian": lambda: Function("sin(x)/3").jacobian({"x": [1.0, 2.0]}, sparse=True),
    "SparseHessian": lambda: Function("sum(sin(x)/3)").hessian({"x": [1.0, 2.0]}, sparse=True),
}

VALIDATED = {
    "sparse jacobian": lambda: Function("x[1:]*y").jacobian({"x": [1, 2, 3], "y": 2}, sparse=True),
    "sparse hessian": lambda: Function("sum(x**3)").hessian({"x": [1, 2, 3]}, sparse=True),
    "pattern": lambda: Function("x[1:]*y").jacobian({"x": [1, 2, 3], "y": 2}, pattern=True),
}
