"""The distributions of torch.distributions that are read: what each of their methods gives, as text of the language.

Each text is torch's own formula, so that it rounds as torch does.  A method's text has the parameters and other methods
without an argument by their names, x for what it is given, and eps for random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy

from gradcli.language.program.wengert import Atom

Conditions = tuple[tuple[str, str], ...]
"""Conditions, each with the parts of texts, between bars, that have no value where it does not hold."""


@dataclass(frozen=True)
class Family:
    """A kind of distribution, by the parameters that it is made with.

    Attributes:
        takes: The parameters.
        methods: What it has behind its dot: texts in the parameters, and in x where it takes an argument.
        defaults: What stands for parameters that are left out.
        valid: What the parameters must be.
        support: What `log_prob` and `cdf` take.
        draws: The random numbers of a sample, `normal`, `uniform` or `signed`, and the sample made of them, `eps`.
        kl: The divergence from another of its kind: the parameters of the first begin with p_, of the second with q_.
        event: How many dimensions of a parameter belong to one sample.
        has_rsample: Whether samples have a derivative.
    """

    takes: tuple[str, ...]
    methods: Mapping[str, str]
    defaults: Mapping[str, Atom] = field(default_factory=dict)
    valid: Conditions = ()
    support: Conditions = ()
    draws: tuple[str, str] | None = None
    kl: str = ""
    event: int = 0
    has_rsample: bool = True

    def text(self, name: str) -> str | None:
        """A method that all have, by others if need be."""
        others = {"stddev": "sqrt({variance})", "variance": "({stddev})**2", "perplexity": "exp({entropy})"}
        if name in self.methods or name not in others:
            return self.methods.get(name)
        needed = "stddev" if name == "variance" else "entropy" if name == "perplexity" else "variance"
        return others[name].format(**self.methods) if needed in self.methods else None


def _family(takes: str, **facts: object) -> Family:
    return Family(tuple(takes.split()), **facts)  # type: ignore[arg-type]


_SCALE = (("scale > 0", "log(scale)"),)
_WHOLE = (("x >= 0", ""), ("x == floor(x)", ""))
_TRUTH = (("(x == 0) | (x == 1)", ""),)
_PROBS = "clamp(probs, {eps}, 1 - {eps})"
_LOGITS = f"log({_PROBS}) - log1p(-{_PROBS})"
_DIAGONAL = "log(diagonal({}tril, 0, -2, -1))"
_LENGTHS = "solve_triangular({0}tril, unsqueeze({1}, -1), upper=False)**2"
_EULER = 0.57721566490153286060

_BERNOULLI = {
    "mean": "probs",
    "variance": "probs*(1 - probs)",
    "log_prob": "logsigmoid(logits) - (1 - x)*logits",
    "entropy": "(1 - probs)*logits - logsigmoid(logits)",
}
_BERNOULLI_KL = (
    "where(p_probs == 0, 0, where(q_probs == 0, inf, p_probs*(logsigmoid(p_logits) - logsigmoid(q_logits))))"
    " + where(p_probs == 1, 0, where(q_probs == 1, inf, (1 - p_probs)*(logsigmoid(-p_logits) - logsigmoid(-q_logits))))"
)
_LARGEST = 1.7976931348623157e308
_CATEGORICAL = {"entropy": f"-sum(clamp_min(logits, -{_LARGEST})*probs, -1)"}
_CATEGORICAL_KL = "sum(where(p_probs == 0, 0, where(q_probs == 0, inf, p_probs*(p_logits - q_logits))), -1)"
_GAUSSIAN = {
    "mean": "loc",
    "mode": "loc",
    "variance": "sum(tril**2, -1) + zeros_like(loc)",
    "covariance_matrix": "tril @ transpose(tril, -2, -1)",
    "scale_tril": "tril",
    "log_prob": f"-sum({_LENGTHS.format('', 'x - loc')} + log(2*pi), (-2, -1))/2 - sum({_DIAGONAL.format('')}, -1)",
    "entropy": f"sum({_DIAGONAL.format('')} + 0.5*(1 + log(2*pi)) + zeros_like(loc), -1)",
}
_GAUSSIAN_KL = (
    f"sum({_DIAGONAL.format('q_')}, -1) - sum({_DIAGONAL.format('p_')}, -1)"
    f" + 0.5*(sum(solve_triangular(q_tril, p_tril, upper=False)**2, (-2, -1))"
    f" + sum({_LENGTHS.format('q_', 'q_loc - p_loc')} - 1, (-2, -1)))"
)


def _gaussian(takes: str, tril: str, condition: str) -> Family:
    """A normal distribution of vectors, by what its covariance is made of."""
    methods = _GAUSSIAN | {"tril": tril}
    if takes in methods:
        methods[takes] = takes
    return _family(
        f"loc {takes}",
        methods=methods,
        valid=((condition, "tril|loc"),),
        draws=("normal", "loc + squeeze(tril @ unsqueeze(eps, -1), -1)"),
        kl=_GAUSSIAN_KL,
        event=1,
    )


_SYMMETRIC = "abs({0} - transpose({0}, -2, -1)) <= 1e-6 + 1e-5*abs({0})"

FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "Normal": (
        _family(
            "loc scale",
            methods={
                "mean": "loc",
                "mode": "loc",
                "stddev": "scale",
                "log_prob": "-(x - loc)**2/(2*scale**2) - log(scale) - log(sqrt(2*pi))",
                "cdf": "0.5*(1 + erf((x - loc)*(1/scale)/sqrt(2)))",
                "icdf": "loc + scale*erfinv(2*x - 1)*sqrt(2)",
                "entropy": "0.5 + 0.5*log(2*pi) + log(scale)",
            },
            valid=_SCALE,
            draws=("normal", "loc + eps*scale"),
            kl="0.5*((p_scale/q_scale)**2 + ((p_loc - q_loc)/q_scale)**2 - 1) - log(p_scale) + log(q_scale)",
        ),
    ),
    "LogNormal": (
        _family(
            "loc scale",
            methods={
                "mean": "exp(loc + scale**2/2)",
                "mode": "exp(loc - scale**2)",
                "variance": "expm1(scale**2)*exp(2*loc + scale**2)",
                "log_prob": "-(log(x) - loc)**2/(2*scale**2) - log(scale) - log(sqrt(2*pi)) - log(x)",
                "cdf": "0.5*(1 + erf((log(x) - loc)*(1/scale)/sqrt(2)))",
                "icdf": "exp(loc + scale*erfinv(2*x - 1)*sqrt(2))",
                "entropy": "0.5 + 0.5*log(2*pi) + log(scale) + loc",
            },
            valid=_SCALE,
            support=(("x > 0", "log(x)"),),
            draws=("normal", "exp(loc + eps*scale)"),
            kl="0.5*((p_scale/q_scale)**2 + ((p_loc - q_loc)/q_scale)**2 - 1) - log(p_scale) + log(q_scale)",
        ),
    ),
    "HalfNormal": (
        _family(
            "scale",
            methods={
                "mean": "scale*sqrt(2/pi)",
                "variance": "scale**2*(1 - 2/pi)",
                "log_prob": "-x**2/(2*scale**2) - log(scale) - log(sqrt(2*pi)) + log(2)",
                "cdf": "erf(x*(1/scale)/sqrt(2))",
                "icdf": "scale*erfinv(x)*sqrt(2)",
                "entropy": "0.5 + 0.5*log(2*pi) + log(scale) - log(2)",
            },
            valid=_SCALE,
            support=(("x >= 0", ""),),
            draws=("normal", "abs(eps*scale)"),
        ),
    ),
    "Laplace": (
        _family(
            "loc scale",
            methods={
                "mean": "loc",
                "mode": "loc",
                "stddev": "2**0.5*scale",
                "variance": "2*scale**2",
                "log_prob": "-log(2*scale) - abs(x - loc)/scale",
                "cdf": "0.5 - 0.5*sign(x - loc)*expm1(-abs(x - loc)/scale)",
                "icdf": "loc - scale*sign(x - 0.5)*log1p(-2*abs(x - 0.5))",
                "entropy": "1 + log(2*scale)",
            },
            valid=(("scale > 0", "log(2*scale)|log(scale)"),),
            draws=("signed", "loc - scale*sign(eps)*log1p(-abs(eps))"),
            kl="log(q_scale) - log(p_scale) + abs(p_loc - q_loc)/q_scale"
            " + p_scale/q_scale*exp(-abs(p_loc - q_loc)/p_scale) - 1",
        ),
    ),
    "Gumbel": (
        _family(
            "loc scale",
            methods={
                "mean": f"loc + scale*{_EULER}",
                "mode": "loc",
                "stddev": "pi/sqrt(6)*scale",
                "log_prob": "(loc - x)/scale - exp((loc - x)/scale) - log(scale)",
                "entropy": f"log(scale) + (1 + {_EULER})",
            },
            valid=_SCALE,
        ),
    ),
    "Cauchy": (
        _family(
            "loc scale",
            methods={
                "mode": "loc",
                "log_prob": "-log(pi) - log(scale) - log1p(((x - loc)/scale)**2)",
                "cdf": "atan((x - loc)/scale)/pi + 0.5",
                "icdf": "tan(pi*(x - 0.5))*scale + loc",
                "entropy": "log(4*pi) + log(scale)",
            },
            valid=_SCALE,
            kl="log((p_scale + q_scale)**2 + (p_loc - q_loc)**2) - log(4) - log(p_scale) - log(q_scale)",
        ),
    ),
    "StudentT": (
        _family(
            "df loc scale",
            defaults={"loc": sympy.Integer(0), "scale": sympy.Integer(1)},
            methods={
                "mean": "where(df <= 1, nan, loc)",
                "mode": "loc",
                "variance": "where(df > 2, scale**2*df/(df - 2), where(df > 1, inf, nan))",
                "log_prob": "-0.5*(df + 1)*log1p(((x - loc)/scale)**2/df) - log(scale) - 0.5*log(df) - 0.5*log(pi)"
                " - lgamma(0.5*df) + lgamma(0.5*(df + 1))",
                "entropy": "log(scale) + 0.5*(df + 1)*(digamma(0.5*(df + 1)) - digamma(0.5*df)) + 0.5*log(df)"
                " + lgamma(0.5*df) + 0.5*log(pi) - lgamma(0.5*(df + 1))",
            },
            valid=(*_SCALE, ("df > 0", "log(df)")),
        ),
    ),
    "Exponential": (
        _family(
            "rate",
            methods={
                "mean": "1/rate",
                "mode": "zeros_like(rate)",
                "stddev": "1/rate",
                "variance": "rate**-2",
                "log_prob": "log(rate) - rate*x",
                "cdf": "1 - exp(-rate*x)",
                "icdf": "-log1p(-x)/rate",
                "entropy": "1 - log(rate)",
            },
            valid=(("rate > 0", "log(rate)"),),
            support=(("x >= 0", ""),),
            kl="log(p_rate) - log(q_rate) + q_rate/p_rate - 1",
        ),
    ),
    "Gamma": (
        _family(
            "concentration rate",
            methods={
                "mean": "concentration/rate",
                "mode": "clamp_min((concentration - 1)/rate, 0)",
                "variance": "concentration/rate**2",
                "log_prob": "xlogy(concentration, rate) + xlogy(concentration - 1, x) - rate*x - lgamma(concentration)",
                "entropy": "concentration - log(rate) + lgamma(concentration)"
                " + (1 - concentration)*digamma(concentration)",
            },
            valid=(("rate > 0", "log(rate)"), ("concentration > 0", "")),
            support=(("x >= 0", "- 1, x)"),),
            kl="q_concentration*(log(p_rate) - log(q_rate)) + lgamma(q_concentration) - lgamma(p_concentration)"
            " + (p_concentration - q_concentration)*digamma(p_concentration)"
            " + (q_rate - p_rate)*(p_concentration/p_rate)",
        ),
    ),
    "Beta": (
        _family(
            "concentration1 concentration0",
            methods={
                "mean": "concentration1/(concentration1 + concentration0)",
                "variance": "concentration1*concentration0"
                "/((concentration1 + concentration0)**2*(concentration1 + concentration0 + 1))",
                "log_prob": "xlogy(concentration1 - 1, x) + xlogy(concentration0 - 1, 1 - x)"
                " + lgamma(concentration1 + concentration0) - lgamma(concentration1) - lgamma(concentration0)",
                "entropy": "lgamma(concentration1) + lgamma(concentration0) - lgamma(concentration1 + concentration0)"
                " - (2 - concentration1 - concentration0)*digamma(concentration1 + concentration0)"
                " - (concentration1 - 1)*digamma(concentration1) - (concentration0 - 1)*digamma(concentration0)",
            },
            valid=(("concentration1 > 0", ""), ("concentration0 > 0", "")),
            support=(("(x >= 0) & (x <= 1)", "- 1, x)"),),
            kl="lgamma(q_concentration1) + lgamma(q_concentration0) + lgamma(p_concentration1 + p_concentration0)"
            " - lgamma(p_concentration1) - lgamma(p_concentration0) - lgamma(q_concentration1 + q_concentration0)"
            " + (p_concentration1 - q_concentration1)*digamma(p_concentration1)"
            " + (p_concentration0 - q_concentration0)*digamma(p_concentration0)"
            " + (q_concentration1 + q_concentration0 - p_concentration1 - p_concentration0)"
            "*digamma(p_concentration1 + p_concentration0)",
        ),
    ),
    "Dirichlet": (
        _family(
            "concentration",
            methods={
                "mean": "concentration/sum(concentration, -1, True)",
                "log_prob": "sum(xlogy(concentration - 1, x), -1) + lgamma(sum(concentration, -1))"
                " - sum(lgamma(concentration), -1)",
                "entropy": "sum(lgamma(concentration), -1) - lgamma(sum(concentration, -1))"
                " + sum(concentration - 1, -1)*digamma(sum(concentration, -1))"
                " - sum((concentration - 1)*digamma(concentration), -1)",
            },
            valid=(("amin(concentration, -1) > 0", "sum(concentration, -1, True)"),),
            support=(("(amin(x, -1) >= 0) & (abs(sum(x, -1) - 1) < 1e-6)", ""),),
            event=1,
        ),
    ),
    "Uniform": (
        _family(
            "low high",
            methods={
                "mean": "(high + low)/2",
                "stddev": "(high - low)/12**0.5",
                "variance": "(high - low)**2/12",
                "log_prob": "where((x >= low) & (x < high), -log(high - low), -inf)",
                "cdf": "clamp((x - low)/(high - low), 0, 1)",
                "icdf": "x*(high - low) + low",
                "entropy": "log(high - low)",
            },
            valid=(("low < high", "log(high - low)"),),
            support=(("(x >= low) & (x <= high)", ""),),
            draws=("uniform", "low + eps*(high - low)"),
            kl="where((q_low > p_low) | (q_high < p_high), inf, log(q_high - q_low) - log(p_high - p_low))",
        ),
    ),
    "Poisson": (
        _family(
            "rate",
            methods={
                "mean": "rate",
                "mode": "floor(rate)",
                "variance": "rate",
                "log_prob": "xlogy(x, rate) - rate - lgamma(x + 1)",
            },
            valid=(("rate >= 0", "xlogy(x, rate)"),),
            support=_WHOLE,
            kl="p_rate*(log(p_rate) - log(q_rate)) - (p_rate - q_rate)",
            has_rsample=False,
        ),
    ),
    "Bernoulli": (
        _family(
            "probs",
            methods=_BERNOULLI
            | {"probs": "probs", "logits": _LOGITS, "log_prob": f"x*log({_PROBS}) + (1 - x)*log1p(-{_PROBS})"},
            valid=(("(probs >= 0) & (probs <= 1)", ""),),
            support=_TRUTH,
            draws=("uniform", "where(eps < probs, 1, 0)"),
            kl=_BERNOULLI_KL,
            has_rsample=False,
        ),
        _family(
            "logits",
            methods=_BERNOULLI | {"probs": "sigmoid(logits)", "logits": "logits"},
            support=_TRUTH,
            draws=("uniform", "where(eps < probs, 1, 0)"),
            kl=_BERNOULLI_KL,
            has_rsample=False,
        ),
    ),
    "Categorical": (
        _family(
            "probs",
            methods=_CATEGORICAL | {"probs": "probs/sum(probs, -1, True)", "logits": f"log({_PROBS})"},
            valid=(("amin(probs, -1) >= 0", "sum(probs, -1, True)|log(clamp("),),
            kl=_CATEGORICAL_KL,
            event=1,
            has_rsample=False,
        ),
        _family(
            "logits",
            methods=_CATEGORICAL | {"probs": "softmax(logits, -1)", "logits": "log_softmax(logits, -1)"},
            kl=_CATEGORICAL_KL,
            event=1,
            has_rsample=False,
        ),
    ),
    "MultivariateNormal": (
        _gaussian("covariance_matrix", "cholesky(covariance_matrix)", _SYMMETRIC.format("covariance_matrix")),
        _gaussian(
            "precision_matrix",
            "inv(transpose(flip(cholesky(flip(precision_matrix, (-2, -1))), (-2, -1)), -2, -1))",
            _SYMMETRIC.format("precision_matrix"),
        ),
        _gaussian("scale_tril", "scale_tril", "(tril(scale_tril) == scale_tril)"),
    ),
}
"""The kinds that are read, by what they may be made with."""
