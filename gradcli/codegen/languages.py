"""A question as a PyTorch script, as text of the language, and as a LaTeX document.

PyTorch: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.  The operations are asked for by the code that
`gradcli.autodiff.run` runs, in the same order, so that the numbers are the same bit for bit; operations that torch
lacks are written out by their definitions.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from gradcli.codegen.script import Task, TorchScript, assembled, reached
from gradcli.language.program.library_calls import is_in_torch, undifferentiated
from gradcli.language.program.program_text import written
from gradcli.language.program.wengert import Call, needed
from gradcli.report import Screen, rendered
from gradcli.results import VJP


def torch_script(task: Task) -> str:
    """The script that prints what `x.grad` holds for each variable of `wrt`.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> x = np.array([1.0, 2.0])
    >>> print(torch_script(Task(parse("x**2"), {"x": x}, ("x",), "float64", x, {})))
    import torch
    <BLANKLINE>
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = x**2
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    y.backward(gradient=v)
    <BLANKLINE>
    print(x.grad)
    <BLANKLINE>
    """
    moving = reached(task.program, task.wrt)

    def keep(call: Call) -> bool:
        return call.op.is_primitive or (is_in_torch(call) and not any(moving.get(a) for a in undifferentiated(call)))

    return TorchScript(task, keep).text()


def gradcli_text(task: Task) -> str:
    """The text of a function with the values of its variables and its gradient vector, which the language reads.

    Raises:
        TooLargeError: As for `torch_script`.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> values = {"w": np.array(3.0), "x": np.array(2.0)}
    >>> print(gradcli_text(Task(parse("w*x**2"), values, ("x",), "float64", None, {})))
    w = torch.tensor(3.0, dtype=torch.float64)
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = w*x**2
    y.backward()
    <BLANKLINE>
    """
    script, program = TorchScript(task, is_in_torch), task.program
    called = {given: sympy.Symbol(name, real=True) for name, given in script.variables.items()}
    named = {**called, **{line.name: line.symbol for line in program.lines if line.name}}
    name, lines = program.output_name, tuple(needed(program.lines, program.output))
    text = written(replace(program, lines=lines), named, lambda *_, **__: script.names.temporary(), name).text
    script.function()
    script.written[:] = text.split("\n")  # which stands for the calls of torch
    script.go_back(name)
    return assembled(script.definitions(), script.written)


def latex_document(answer: VJP) -> str:
    r"""The answer of `vjp` as a whole document, which needs amsmath and nothing else.

    >>> from gradcli import Function
    >>> latex_document(Function("x**2").vjp({"x": 3}, check=False)).splitlines()[:3]
    ['\\documentclass{article}', '\\usepackage{amsmath}', '\\begin{document}']
    """
    fragment = rendered(answer, "latex", Screen()).partition("\n")[2]  # without the remark on what it needs
    head = ["\\documentclass{article}", "\\usepackage{amsmath}", "\\begin{document}"]
    return "\n".join([*head, fragment.rstrip(), "\\end{document}"]) + "\n"
