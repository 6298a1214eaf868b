"""What the part adds to tables of the tests of the core."""

from gradcli import Function

ANSWERS = {"Checking": lambda: Function("sin(x)/3").check({"x": [1.0, 2.0]}, claim={"x": "cos(x)/3"})}

QUESTIONS = {"check": ["sin(x)", "--at", "1,2"]}

SHOWN = {
    "check": 'check "x**2" --at 1,2 --claim "2*x" --v ones',
    "refuted": 'check "norm(x)" --at 0.6,0.8 --claim x',
}

DIFFERENTIATES = {
    "parts/claims/regions.py": "where a formula grows and falls",
}

COLORED = dict.fromkeys(["check"])

ENTERED = {
    "check x**2 --at 1,2 --claim 2*x": "99 682 7550",
}

RULES = {
    "parts/claims/mistakes.py": "the terms of a sum",
}

GRADIENTS = {
    "parts/claims/algebraic_proof.py": "proofs in whole tensors",
    "parts/claims/differentials.py": "what a claimed differential says of the derivative",
}

RECORDED = dict.fromkeys(["check"])
