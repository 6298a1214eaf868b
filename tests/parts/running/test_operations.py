"""Functions as users write them are replayed bit for bit, and judged; what cannot be is refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from gradcli.errors import GradcliError
from gradcli.parts.running.plain_functions import record
from tests.parts.running import model, model_of_changes as own
from tests.parts.running.running import require_as_run

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)
M = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]], dtype=torch.float64)
PLACES = torch.tensor([2, 0])

CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "cross_entropy": lambda x: F.cross_entropy(x.view(1, 3), torch.tensor([1]), label_smoothing=0.1),
    "filtered": lambda x: torch.fft.irfft(torch.fft.rfft(x) * (2j - torch.fft.rfft(X + 0.5)).conj(), 3),
    "zeroed": lambda x: (x * 2).zero_() + x**2,
    "of_a_number": lambda x: torch.gather(x[0], 0, torch.tensor([0, 0])) * x[1].topk(1).values,
    "solve_triangular": lambda x: torch.linalg.solve_triangular((x * M).tril(), torch.eye(3), upper=False),
    "batch_norm_eval": lambda x: F.batch_norm(x * M, M[0] + 0.77, M[1], training=False),
    "exponential_of_complex": lambda x: torch.exp(1j * x).real,
    "length_of_complex": lambda x: (x + 0j).abs(),
    "quotient_of_complex": lambda x: ((x - 1j) / (2 * x + 1j)).imag + (1 / (x + 1j)).real,
    "nan_that_is_handled": lambda x: torch.fmax(x, torch.tensor(torch.nan)) + torch.where(x > 1, x, torch.nan).nansum(),
    "one_hot_target": lambda x: F.kl_div(x.log_softmax(0), torch.eye(3)[0], reduction="sum"),
    "masked_log_softmax": lambda x: torch.masked.log_softmax(x, 0, mask=X > 1)[1:],
    "batch_of_factors": lambda x: torch.linalg.cholesky(torch.stack([M, 2 * M]) * x.sum()),
    "batch_of_systems": lambda x: torch.linalg.solve(torch.stack([M, 2 * M]), x.expand(2, 3)),
    "checked_inverse": lambda x: torch.linalg.inv_ex(x * M, check_errors=True).inverse,
    "weighted_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), M[2] / 2, M[0], reduction="sum"),
    "weighted_cross_entropy_of_logits": lambda x: F.binary_cross_entropy_with_logits(x, M[2], M[0], pos_weight=M[1]),
    "max_unpool2d": lambda x: F.max_unpool2d(
        *F.max_pool2d((x[0] * M).view(1, 1, 3, 3), 2, return_indices=True), (2, 2)
    ),
}
"""Calls that torch's database of functions has not as users write them."""

OF_MODEL = """
new_constants sums solved joined branched keyword_only several several_shapes overwritten
detached without_grad through_floats through_numpy uses_square
""".split()
OF_CHANGES = """
base_doubled far_views rows_copied filled put new_ones named_hard cast drawn_by_numpy drawn_by_python largest_place
penalty customs drawn_by_chance times_numpy transformed of_hidden
""".split()
FUNCTIONS = {
    **CALLS,
    **{name: getattr(model, name) for name in OF_MODEL},
    **{name: getattr(own, name) for name in OF_CHANGES},
}
CUT = ("detached", "without_grad", "through_floats", "through_numpy", "customs")
"""Functions whose gradient is not theirs."""


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.one_in(8)
def test_the_numbers_are_those_of_torch(name: str) -> None:
    """Bit for bit, whatever Python does on the way, shares memory or draws; and all of them are judged."""
    given = M if name in ("far_views", "rows_copied", "filled") else X
    require_as_run(FUNCTIONS[name], given, verdict="cut" if name in CUT else "agree")


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (own.counting, "gives another value when it is called again: [0.7 1.3 2.1], then [1.4 2.6 4.2]"),
    (own.with_data_set, "autograd follows a tensor that was changed, or made, by what it does not follow"),
    (model.raises, "ValueError: no good, raised while raises is called (model.py, line"),
    (model.leaves, "Python is left (sys.exit) while leaves is called"),
    (model.gives_numbers, "gives_numbers gives back a value of type float"),
    (model.gives_nothing, "gives_nothing gives back None"),
    (model.through_domain, "ValueError: math domain error, raised while through_domain is called (model.py, line"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_what_is_not_recorded_is_refused(function: Callable[..., Any], message: str) -> None:
    """In one clear error with the line of the user's, and not called wrong: nobody knows who is right."""
    own.CALLS.clear()
    with pytest.raises(GradcliError) as caught:
        record(function, X).vjp(v="ones")
    assert message in caught.value.message
