"""Torch's private names do what is said of them: of a torch that changes one, the test of it fails first."""

import ast
import functools
import json
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest

import gradcli
from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.torch_internals import DispatchMode
from tests.conftest import process

aten = torch.ops.aten


class Seen(DispatchMode):  # type: ignore[no-untyped-call]
    """Mode that lists the names of the operations that it sees."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []

    def dispatch(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Note the call."""
        self.names.append(function.name().partition(".")[0])
        return super().dispatch(function, args, kwargs)


class Functions(torch.overrides.TorchFunctionMode):
    """Mode that counts the functions of torch that are called."""

    count = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count the call."""
        self.count += 1
        return function(*args, **(kwargs or {}))


class Doubled(torch.autograd.Function):
    """A custom function, with what is seen while it runs forward and backward."""

    frames: tuple[list[Any], list[Any]] = [], []

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Return 2x."""
        Doubled.frames[0][:] = [frame.f_code for frame, _ in traceback.walk_stack(sys._getframe())]
        return 2 * x

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        """Go back, and note the node that autograd goes back through."""
        Doubled.frames[1][:] = [frame.f_code for frame, _ in traceback.walk_stack(sys._getframe())]
        Doubled.node = torch_internals.current_node()
        return 2 * grads[0]

    node: Any = None


class WithSetup(torch.autograd.Function):
    """A custom function whose forward takes no ctx."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        """Return 2x."""
        return 2 * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep nothing."""


def _doubled() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.ones(2, requires_grad=True)
    y = Doubled.apply(x)  # type: ignore[no-untyped-call]
    return x, y


COMPILER = """
import json, sys
from tests.autodiff.test_torch_internals import Seen, torch
from gradcli.autodiff import torch_internals as it
found = {}
with Seen():
    torch.ones(2).neg()
found["after a dispatch mode"] = "torch._dynamo" in sys.modules
it.free_of_compiler()
it.decompositions()[torch.ops.aten.silu_backward.default](torch.ones(2), torch.ones(2))
found["after a decomposition"] = "torch._dynamo" in sys.modules
found["before something is compiled"] = it.is_dynamo_loaded()
print(json.dumps(found))
"""


@functools.cache
def _is_compiler_there() -> dict[str, bool]:
    """Tell when torch's compiler is loaded, in a process that begins without it."""
    run = process(sys.executable, "-c", COMPILER)
    assert run.code == 0, run.err
    found: dict[str, bool] = json.loads(run.out)
    return found


# -- what sees the calls of torch


def test_a_dispatch_mode_sees_the_calls_of_aten() -> None:
    """And no `torch._dynamo` is imported for it."""
    with Seen() as seen:
        torch.ones(2).neg()
    assert seen.names == ["aten::ones", "aten::neg"]
    assert not _is_compiler_there()["after a dispatch mode"]


def test_the_file_of_a_mode_is_the_one_of_its_frames() -> None:
    """Where the mode of torch is written."""
    assert DispatchMode.__enter__.__code__.co_filename == torch_internals.DISPATCH_FILE


def test_without_dispatch_no_mode_sees_a_call() -> None:
    """Until the block ends."""
    with Seen() as seen:
        with torch_internals.without_dispatch():
            torch.ones(2)
        assert seen.names == []
        torch.zeros(2)
    assert seen.names == ["aten::zeros"]


def test_without_functions_no_function_mode_sees_a_call() -> None:
    """Until the block ends."""
    with Functions() as seen:
        with torch_internals.without_functions():
            torch.ones(2)
        assert seen.count == 0
        torch.ones(2)
    assert seen.count == 1


def test_without_modes_other_modes_can_be_entered() -> None:
    """The one outside sees nothing of it."""
    with Seen() as outer, torch_internals.without_modes(), Seen() as inner:
        torch.ones(2)
    assert (outer.names, inner.names) == ([], ["aten::ones"])


def test_with_autograd_a_mode_can_differentiate() -> None:
    """Below autograd nothing is followed."""
    found = []

    class Differentiating(DispatchMode):  # type: ignore[no-untyped-call]
        def dispatch(self, function: Any, args: Any, kwargs: Any) -> Any:
            x = torch.ones(2)
            with torch_internals.without_dispatch(), torch.enable_grad():
                found.append((x.requires_grad_() * 2).requires_grad)
                with torch_internals.with_autograd():
                    found.append((x * 2).grad_fn is not None)
            return super().dispatch(function, args, kwargs)

    with Differentiating():  # type: ignore[no-untyped-call]
        torch.zeros(2)
    assert found == [False, True]


def test_apply_is_a_frame_of_a_custom_function() -> None:
    """Its code is that of torch's method."""
    _doubled()
    assert torch_internals.APPLY in Doubled.frames[0]


def test_what_applies_custom_functions_is_replaced() -> None:
    """Also where the method was taken before; and put back."""
    applied = list[type]()

    def apply(cls: type, args: tuple[Any, ...], own: Any) -> Any:
        applied.append(cls)
        return own(*args)

    method, x = Doubled.apply, torch.ones(2, requires_grad=True)
    with torch_internals.applying(apply):
        found = method(x)  # type: ignore[no-untyped-call]
    method(x)  # type: ignore[no-untyped-call]
    assert applied == [Doubled]
    assert found.grad_fn is not None
    assert found.tolist() == [2, 2]


def test_the_engine_is_a_frame_of_a_backward_pass() -> None:
    """By its name."""
    _doubled()[1].sum().backward()  # type: ignore[no-untyped-call]
    assert torch_internals.BACKWARD_FRAME in [code.co_name for code in Doubled.frames[1]]


def test_dynamo_is_loaded_once_something_was_compiled() -> None:
    """And not before."""
    assert not _is_compiler_there()["before something is compiled"]
    with warnings.catch_warnings(action="ignore"):  # of its imports
        torch.compile(torch.sin)
    assert torch_internals.is_dynamo_loaded()


def test_free_of_the_compiler_a_decomposition_imports_none() -> None:
    """It runs as it is written."""
    assert not _is_compiler_there()["after a decomposition"]


# -- tensors


def test_a_view_has_a_base() -> None:
    """Any other tensor is its own."""
    x = torch.ones(3)
    assert torch_internals.base_of(x[1:][1:]) is x
    assert torch_internals.base_of(x) is x


def test_a_change_in_place_is_a_new_version() -> None:
    """Also one through a view."""
    x = torch.ones(3)
    before = torch_internals.version_of(x)
    x[1:].mul_(2)
    assert torch_internals.version_of(x) == before + 1


def test_a_change_in_place_can_keep_the_version() -> None:
    """A graph that has kept the tensor is good then."""
    x, before = torch.ones(3, requires_grad=True), 0
    y = x * x
    with torch.no_grad(), torch_internals.keeping_version(x):
        x.mul_(1)
    assert torch_internals.version_of(x) == before
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2, 2, 2]


def test_views_share_the_number_of_their_memory() -> None:
    """And copies have another one."""
    x = torch.ones(3)
    assert torch_internals.storage_number(x.detach()[1:]) == torch_internals.storage_number(x)
    assert torch_internals.storage_number(x.clone()) != torch_internals.storage_number(x)


def test_a_zero_without_memory_is_known() -> None:
    """A zero that has memory is another."""
    assert torch_internals.is_zero_tensor(torch._efficientzerotensor(2))
    assert not torch_internals.is_zero_tensor(torch.zeros(2))


def test_a_tensor_within_a_transform_is_known() -> None:
    """Of `vmap` and of `grad`."""
    found = []

    def f(x: torch.Tensor) -> torch.Tensor:
        found.append(torch_internals.is_transformed(x))
        return x.sum()

    torch.vmap(f)(torch.ones(2, 3))
    torch.func.grad(f)(torch.ones(2))
    f(torch.ones(2))
    assert found == [True, True, False]


def test_nested_values_are_mapped() -> None:
    """In lists, tuples and dictionaries."""
    nested = [1, (2.0, {"a": 3}), "b"]
    assert torch_internals.map_nested(int, lambda one: -one, nested) == [-1, (2.0, {"a": -3}), "b"]


# -- autograd


def test_the_node_of_a_backward_pass_is_known() -> None:
    """And there is none outside."""
    _, y = _doubled()
    y.sum().backward()  # type: ignore[no-untyped-call]
    assert type(Doubled.node).__name__ == "DoubledBackward"
    assert torch_internals.current_node() is None


def test_nodes_are_numbered_in_order() -> None:
    """In each thread from its first on; the number that comes next is known."""
    x = torch.ones(2, requires_grad=True)
    expected = torch_internals.next_number()
    first, second = x * 2, x + 1
    assert torch_internals.number_of(first.grad_fn) == expected
    assert torch_internals.number_of(second.grad_fn) == expected + 1
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(torch_internals.next_number()))
    thread.start()
    thread.join()
    assert found == [0]


def test_a_node_names_its_custom_function() -> None:
    """One of torch's names none."""
    x, y = _doubled()
    assert torch_internals.custom_function_of(y.grad_fn) is Doubled
    assert torch_internals.custom_function_of((x * 2).grad_fn) is None


def test_a_reentrant_checkpoint_is_a_function_that_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch looks it up where it is replaced."""
    module = torch_internals.checkpoints()
    monkeypatch.setattr(module, "CheckpointFunction", Doubled)
    monkeypatch.setattr(Doubled, "apply", lambda function, preserve, *args: (function, args))
    assert module.checkpoint(torch.sin, 1, use_reentrant=True) == (torch.sin, (1,))


def test_forward_mode_has_a_level() -> None:
    """Inside of it alone."""
    assert not torch_internals.is_within_dual_level()
    with torch.autograd.forward_ad.dual_level():
        assert torch_internals.is_within_dual_level()
    assert not torch_internals.is_within_dual_level()


def test_forward_takes_ctx_unless_there_is_a_setup() -> None:
    """As torch decides it."""
    assert torch_internals.has_context_in_forward(Doubled)
    assert not torch_internals.has_context_in_forward(WithSetup)


# -- operations


def test_an_operation_has_a_schema() -> None:
    """The name, the arguments, their defaults, and what is written to."""
    assert torch_internals.full_name_of(aten.add_.Tensor) == "aten::add_"
    written, other, alpha = torch_internals.arguments_of(aten.add_.Tensor)
    assert [one.name for one in (written, other, alpha)] == ["self", "other", "alpha"]
    assert written.alias_info.is_write
    assert other.alias_info is None
    assert (alpha.has_default_value(), alpha.default_value, alpha.kwarg_only, alpha.is_out) == (True, 1, True, False)
    assert str(other.type) == "Tensor"


def test_an_operation_has_a_result_or_none() -> None:
    """Of an assertion there is none."""
    assert torch_internals.has_result(aten.add.Tensor)
    assert not torch_internals.has_result(aten._assert_async.default)


def test_an_operation_has_a_backward_or_none() -> None:
    """One that is registered with an implementation alone has none."""
    with torch.library._scoped_library("torch_internals_tests", "DEF") as library:
        library.define("plain(Tensor x) -> Tensor")
        library.impl("plain", torch.clone, "CPU")
        plain = torch.ops.torch_internals_tests.plain.default
        assert not torch_internals.has_autograd(plain)
        library.impl("plain", lambda x: x, "Autograd")
        assert torch_internals.has_autograd(plain)
    assert torch_internals.has_autograd(torch.ops.aten.sin.default)


def test_decompositions_compute_what_the_operation_does() -> None:
    """By others."""
    x, grad = torch.tensor([-1.0, 2.0]), torch.ones(2)
    made_of = torch_internals.decompositions()[aten.silu_backward.default]
    assert torch.allclose(made_of(grad, x), aten.silu_backward(grad, x))


def test_references_are_functions_by_name() -> None:
    """Among other things."""
    assert torch.equal(torch_internals.references()["square"](torch.tensor(3.0)), torch.tensor(9.0))


def test_the_primitive_of_broadcasting_broadcasts() -> None:
    """To a shape, with the dimensions that are kept."""
    assert torch_internals.broadcast_in_dim(torch.tensor([1, 2]), [2, 3], [0]).tolist() == [[1] * 3, [2] * 3]


def test_a_lazy_conjugate_is_computed() -> None:
    """Any other operation is left as it is."""
    computed = torch_internals.without_laziness(aten._conj.default, [torch.ones(1)])
    assert not computed(torch.tensor([1j])).is_conj()
    assert torch_internals.without_laziness(aten.neg.default, [torch.ones(1)]) is aten.neg.default
    assert torch_internals.without_laziness(aten._conj.default, [1j]) is aten._conj.default


# -- one module

PACKAGE = Path(gradcli.__file__).parent
HOME = Path(torch_internals.__file__)


def _private(tree: ast.AST) -> list[ast.Attribute]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [node for node in nodes if node.attr.startswith("_") and not node.attr.endswith("__")]


def _is_of_torch(node: ast.Attribute, names: set[str]) -> bool:
    """Tell whether a private attribute is one of torch's, or of what is no object of our own."""
    written = ast.unparse(node.value)
    return written.split(".")[0] == "torch" or (node.attr in names and written not in ("self", "cls", "super()"))


NAMES = {node.attr for node in _private(ast.parse(HOME.read_text(encoding="utf-8")))}


@pytest.mark.parametrize("room", sorted({path.parent for path in PACKAGE.rglob("*.py")}), ids=lambda path: path.name)
def test_no_other_module_uses_a_private_name(room: Path) -> None:
    """Of torch, or of its tensors, nodes and operations."""
    for module in set(room.glob("*.py")) - {HOME}:
        found = [node for node in _private(ast.parse(module.read_text(encoding="utf-8"))) if _is_of_torch(node, NAMES)]
        assert [f"{module}:{node.lineno} {ast.unparse(node)}" for node in found] == []


@pytest.mark.parametrize("text", ["torch._C.f()", "torch.utils._pytree", "x._base", "node._sequence_nr()"])
def test_a_private_name_is_seen(text: str) -> None:
    """As it would be written."""
    assert {"_C", "_pytree", "_base", "_sequence_nr"} <= NAMES
    assert any(_is_of_torch(node, NAMES) for node in _private(ast.parse(text)))


def test_a_tensor_within_vmap_stands_for_several() -> None:
    """Along the dimension that is mapped over; transforms can be left."""
    several, seen = torch.arange(6.0).view(2, 3), []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(torch_internals.batch_of(x))
        with torch_internals.without_transforms():
            seen.append(torch.ones(2).requires_grad_())
        return x

    torch.vmap(look, in_dims=1)(several)
    whole, leaf = seen
    assert whole is not None
    assert leaf is not None
    assert torch.equal(whole, several.T)
    assert leaf.requires_grad
    assert torch_internals.batch_of(several) is None


def test_a_function_may_be_an_operation() -> None:
    """Of `torch.ops`, with or without its overload; one of `torch.library` has its schema too."""
    custom = torch.library.custom_op(
        "test_torch_internals::twice", lambda x: 2 * x, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    for function in (aten.sin, aten.sin.default, custom):
        operation = torch_internals.operation_of(function)
        assert [one.name for one in torch_internals.arguments_of(operation)] in (["self"], ["x"])
    assert torch_internals.operation_of(torch.sin) is None


def test_functions_of_numpy_are_there_on_tensors() -> None:
    """They compute by torch, with a graph, and their arrays hold the tensor."""
    functions = torch_internals.numpy_on_tensors()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = functions.sum(functions.ndarray(x) ** 2)
    assert y.tensor.grad_fn is not None
    assert functions.linalg.norm(functions.ndarray(x)).tensor.item() == pytest.approx(5**0.5)
