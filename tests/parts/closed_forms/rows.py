"""What the part adds to tables of the tests of the core."""

from gradcli import Function

VALIDATED = {
    "closed jvp": lambda: Function("x**2").closed_form("jvp"),
    "closed hessian": lambda: Function("norm(x)").closed_form("hessian"),
    "closed vjp": lambda: Function("A@x").closed_form("vjp"),
}

GRADIENTS = {
    "parts/closed_forms/tensor_formulas.py": "formulas of whole tensors",
}
