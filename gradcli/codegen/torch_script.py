"""A question as a PyTorch script: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.

The operations are asked for by the code that `gradcli.autodiff.run` runs, in the same order, so that the numbers are
the same bit for bit; what torch does not have is written as its meaning.  Imports no torch.
"""

from __future__ import annotations

from gradcli.codegen.layout import laid_out
from gradcli.codegen.literals import rule_of, shortest, whole
from gradcli.codegen.script import Script, assembled
from gradcli.codegen.self_writing import Expression, Written
from gradcli.codegen.task import Task
from gradcli.language.program.library_calls import TorchCalls, is_in_torch
from gradcli.results import Array

_TORCH = Expression("torch", module="torch")
"""What writes the calls of PyTorch down."""

_IMPORTS = {"np": "import numpy as np", "torch": "import torch", "F": "import torch.nn.functional as F"}


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
    return _TorchScript(task, TorchCalls(_TORCH, getattr(_TORCH, task.dtype)), is_in_torch).text()


class _TorchScript(Script):
    """One task as a torch script: leaves, function, backward pass, and the `.grad` of each variable."""

    module = "torch"
    reserved = ("torch", "F", "np", "print")

    def text(self) -> str:
        """The whole script: leaves, function, `backward()` if y depends on a variable, and prints."""
        wrt = self.task.wrt
        definitions = [self.define(self.variables[name], array, name) for name, array in self.arrays.items()]
        statements = self.function()
        mask = self.reached.get(self.program.output, 0)
        if mask:
            self.write_v(statements)
            v = "" if self.task.v is None else f"gradient={self.gradient}"
            statements.written.append(f"{self.output}.backward({v})")
        prints = [self._print(name, is_reached=bool(mask >> n & 1)) for n, name in enumerate(wrt)]
        return assembled(definitions, statements.written, prints or [f"print({self.output})"], imports=_IMPORTS)

    def array(self, array: Array, name: str, *, requires_grad: bool = False) -> Expression:
        """The expression of a tensor of these numbers, which is a leaf.

        Raises:
            TooLargeError: They are many and follow no rule.
        """
        rule, dtype = rule_of(array, name), getattr(_TORCH, self.task.dtype)
        options = {"dtype": dtype, **({"requires_grad": True} if requires_grad else {})}
        match rule.kind:
            case "list":
                return _TORCH.tensor(rule.values, **options)
            case "zeros" | "ones" | "eye":
                return getattr(_TORCH, rule.kind)(*rule.shape, **options)  # type: ignore[no-any-return]
            case "full":
                return _TORCH.full(rule.shape, *rule.numbers, **options)
        numbers = [whole(number) for number in (shortest(rule.numbers) if rule.kind == "arange" else rule.numbers)]
        if len(rule.shape) == 1 and rule.is_exact:
            return getattr(_TORCH, rule.kind)(*numbers, **options)  # type: ignore[no-any-return]
        tensor: Expression = getattr(_TORCH, rule.kind)(*numbers, dtype=dtype)
        if not rule.is_exact:  # torch rounds differently
            tensor = _TORCH.from_numpy(Expression("np").linspace(*numbers))
            tensor = tensor.float() if self.task.dtype == "float32" else tensor
        tensor = tensor.reshape(*rule.shape) if len(rule.shape) > 1 else tensor
        return tensor.requires_grad_() if requires_grad else tensor

    def define(self, name: str, array: Array, variable: str) -> str:
        """The statement that gives a variable its value."""
        tensor = self.array(array, f"'{variable}'", requires_grad=variable in self.task.wrt)
        return laid_out(f"{name} = {tensor}")

    def _print(self, name: str, *, is_reached: bool) -> str:
        variable = self.variables[name]
        if is_reached:
            return f"print({variable}.grad)"
        return f"print(torch.zeros_like({variable}))  # {self.output} does not depend on it: torch leaves .grad empty"

    def as_constant(self, v: Written) -> Written:
        """The value of v without its graph, where a variable that is differentiated by is behind it."""
        return v.detach() if self.reached.get(self.v) else v
