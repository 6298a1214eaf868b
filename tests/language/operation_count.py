"""Torch's own list of differentiable operations, counted: how many are read, and why the others are not.

By hand: `python -m tests.language.operation_count` prints the count and every operation that is not read, with its
reason, and renews the table of them in the guide.
"""

import importlib.util
import sys
import types
from collections.abc import Mapping

from gradcli.language import ops
from tests import generated

PAGE = generated.GUIDE / "language.md"

REASONS: Mapping[str, str] = {
    "a function of Python calls them: values, or positions, decide what they compute": (
        "nn.functional.grid_sample nn.functional.max_unpool2d combinations corrcoef as_strided_scatter "
        "index_put nanquantile slice nn.functional.embedding_bag "
        "nn.functional.linear_cross_entropy nn.functional.max_unpool1d nn.functional.max_unpool3d "
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss nn.functional.upsample_bilinear "
        "nn.functional.upsample_nearest"
    ),
    "complex numbers": "complex cfloat cdouble chalf polar view_as_complex stft linalg.eig linalg.eigvals "
    "fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.hfft2 fft.hfftn fft.ifft fft.ifft2 fft.ifftn fft.ifftshift "
    "fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn",
    "random numbers": "pca_lowrank svd_lowrank nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d",
    "numbers of 16 bits": "half bfloat16",
    "sparse tensors": "to_sparse sparse.sampled_addmm",
    "the order of pivots beside the factors": "linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve lu "
    "lu_solve lu_unpack ormqr",
    "two elements that are equal, where it has no derivative": "mode",
    "probabilities that add up to 1, without which torch's derivative is another one": "nn.functional.ctc_loss",
    "a call of its own for each of its layers": "nn.functional.multi_head_attention_forward",
    "the bits of a float": "frexp nextafter",
}
"""Operations that are not read, by the obstacle."""

MEMBERS = frozenset("H T mH mT __getitem__ clone contiguous to double float normal bernoulli zero_".split())
"""Operations written as a member, an index or a conversion, or drawn, without a row of their name."""

_INTERNAL = ("_", "native_", "torch.ops.", "_refs")
_COPIES = ("_copy", "_backward")
_PARTS = frozenset("constant_pad_nd grid_sampler_2d grid_sampler_3d".split())
"""Names that torch has for itself: those of parts, of copies, and of signs from the right."""


def listed() -> list[str]:
    """Torch's operations on float64 with derivatives, less those that it has for itself."""
    # The list imports what only torch's own tests need.
    if "expecttest" not in sys.modules and importlib.util.find_spec("expecttest") is None:
        stub = types.ModuleType("expecttest")
        stub.TestCase = object  # type: ignore[attr-defined]
        stub.assert_expected_inline = None  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stub
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    names = {op.name for op in op_db if op.supports_autograd and torch.float64 in op.dtypes}
    return sorted(name for name in names if not is_internal(name))


def is_internal(name: str) -> bool:
    """Tell whether nobody calls it by this name.

    >>> is_internal("native_layer_norm"), is_internal("__radd__"), is_internal("__getitem__")
    (True, True, False)
    """
    if name in MEMBERS:
        return False
    return name.startswith(_INTERNAL) or name.endswith(_COPIES) or name in _PARTS


def is_read(name: str) -> bool:
    """Tell whether the language has it: by a row, or as a member of a tensor.

    >>> is_read("linalg.norm"), is_read("mT"), is_read("fft.fft")
    (True, True, False)
    """
    if name in MEMBERS:
        return True
    last = name.rpartition(".")[2]
    whole = () if name.startswith("special") else (name,)
    return any(ops.find(one, after_dot=True) is not None for one in (*whole, last))


def reason(name: str) -> str:
    """Reason why an operation is not read; empty if nobody said."""
    return next((why for why, names in REASONS.items() if name in names.split()), "")


MOST_EXAMPLES = 4
"""Operations of one reason that the guide names, so that it need not be written anew for each that is read."""


def table() -> str:
    """Operations that are not read, for the guide."""
    rows = "".join(
        f"| {why} | {', '.join(f'`{name}`' for name in names.split()[:MOST_EXAMPLES])} |\n"
        for why, names in REASONS.items()
    )
    return f"| what it needs | such as |\n| --- | --- |\n{rows}"


def main() -> None:
    """The count, and the table anew."""
    names = listed()
    unread = [name for name in names if not is_read(name)]
    print(f"{len(names) - len(unread)} of {len(names)} are read")
    for name in unread:
        print(f"  {name}: {reason(name)}")
    generated.renew(PAGE, "language.operation_count", table())


if __name__ == "__main__":
    main()
