"""Arithmetic as it is typed, of which nothing is simplified, and what combines it."""

from __future__ import annotations

from tests.language.ops.agreement import Cases

CASES: Cases = {
    "neg": ["-x + x**2 - 1/w", "torch.neg(x)*torch.add(x, w)"],
    "div": ["x/x + (x - x)*w", "2**x - x/3 + 0*w", "torch.sub(x, w)/torch.div(x, w)"],
    "pow": ["torch.pow(p, w)", ("sum(x**n for n in range(3))", "x**0 + x**1 + x**2")],
    "floor_divide": [("x // w", "floor(x/w)")],
    "maximum": ["torch.maximum(x, w)*torch.minimum(x, w)", ("max(x, w)*sigmoid(x)", "maximum(x, w)*sigmoid(x)")],
    "leaky_relu": [("leaky_relu(x, a)", "where(x > 0, x, a*x)")],
    "fmax": ["fmax(x, k)"],
    "fmin": ["torch.fmin(x, k)"],
    "scaled_add": [
        "torch.add(x, k, alpha=2)",
        ("x.add(row, alpha=a)*x", "(x + a*row)*x"),
        ("scaled_add(x, k)", "x + k"),
    ],
    "scaled_sub": ["torch.sub(x, k, alpha=2)", "x.subtract(row, alpha=0.5)*x"],
    "rounded_div": [
        "torch.div(x, 2, rounding_mode='floor')*x",
        "x.div(0.8, rounding_mode='trunc')*x",
        "torch.div(x, k, rounding_mode=None)",
    ],
    "round_to": [
        "torch.round(x*1.234, decimals=2)*x",
        "np.round(x*1.234, 1)*x",
        ("round_to(123*x, -1)*x", "round(123*x, decimals=-1)*x"),
        "np.around(1.1*x)*x",
    ],
    "heaviside": [("heaviside(x, 1/2)*x", "np.heaviside(x, 1/2)*x")],
    "cbrt": [("cbrt(x)", "np.cbrt(x)")],
    "weighted_binary_cross_entropy_with_logits": [
        (
            "F.binary_cross_entropy_with_logits(x, k, pos_weight=w)",
            "((1 - k)*x + (1 + (w - 1)*k)*log(1 + exp(-x))).mean()",
        ),
        "F.binary_cross_entropy_with_logits(x, k, pos_weight=torch.tensor(3.), reduction='none')",
    ],
    "isnan": ["where(isnan(x), 0, x**2)"],
    "isinf": ["where(x.isinf(), 0, x**2)"],
    "isfinite": ["where(torch.isfinite(x), x**2, 0)"],
    "rsub": ["rsub(x, a)", "torch.rsub(x, k, alpha=2)"],
    "addcmul": ["addcmul(x, k, row)", "x.addcmul(k, u, value=0.5)"],
    "addcdiv": ["torch.addcdiv(x, k, u, value=-2)"],
    "copysign": ["copysign(x, -k)"],
    "ldexp": ["ldexp(u, w)"],
    "float_power": ["torch.float_power(p, a)"],
    "logaddexp2": ["logaddexp2(x, k)"],
    "positive": ["torch.positive(x)*x", "torch.real(x)*x.conj()"],
    "angle": ["angle(x)*x"],
    "fill": ["fill(x, a)"],
    "nan_to_num": ["nan_to_num(x)*x", "x.nan_to_num(nan=1.0)"],
}
