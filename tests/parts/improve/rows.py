"""What the part adds to tables of the tests of the core."""

from gradcli.parts import is_listed

QUESTIONS = {"improve": ["1 - sin(x)", "--at", "1,2"]}

RULES = {
    "parts/improve/expansions.py": "whole powers, quotients that are 0/0",
    "parts/improve/identities.py": "constants of a sum",
    "parts/improve/forms.py": "what is shorter and rounds alike",
    "parts/improve/matching.py": "the same operation in other words",
    "parts/improve/guards.py": "powers of constants",
}

SHOWN = {
    "trap": 'grad "where(x > 0, sqrt(x), 0)" --at -1',
    "lost": 'grad "(1-cos(x))/x**2" --at 1e-8',
}

COLORED = dict.fromkeys(["trap", "lost"])

COMMAND_LINES = {
    (
        "parts/improve/__init__.py",
        "gradcli improve rewrites a function where it loses digits; gradcli check proves formulas, by --claim",
    ): "a command that is typed in the shell",
}

RECORDED = dict.fromkeys(["improve"] if is_listed("claims") else [])  # of proofs alone
