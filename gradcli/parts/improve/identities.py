"""Identities for rewriting a function: one table of expressions, each with others that are the same function.

Each row holds texts of the language in the notation of `matching`: a form and its replacement; the first row that fits
counts.  Both sides are the same function in exact arithmetic wherever the form has a value and a derivative, or where
the reason says; shapes are the same too.  A replacement may begin with definitions, `m = ...; ...`.
In it `{axis}` is the dimension of the sum in the form if a softmax is along one, `{over}` the constants of the sum or
mean, `{kept}` the same for a result that broadcasts, `{count}` the number of elements of each sum, `{dim}` the
constants of the softmax, `{reduction}` the constant of the loss, and `{reduced}` the function that it names, `{spread}`
the constants of the variance, and `{angle}` the angle between a and b.  In a reason, names in braces are names of the
form, and `{it}` is the whole form.

Sources: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, 2002, chapters 1 and 27;
R. W. Hamming, "Numerical Methods for Scientists and Engineers", 2nd edition, 1973, chapter 3; the NIST Digital Library
of Mathematical Functions, chapter 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call
from gradcli.parts.improve.forms import Edit, Form, FormWriter
from gradcli.parts.improve.matching import Match, Words, pattern

MOST_ROUNDS = 8
"""Most times that one rule is applied to its own result: it may apply to parts of parts."""

LONGEST_NAME = 40
"""Most characters of a sub-expression that a reason repeats."""


@dataclass(frozen=True)
class RewriteRule:
    """Rule for one trouble: the forms that have it, each with its replacement."""

    reason: str
    forms: tuple[tuple[str, str], ...]

    def edits(self, form: Form, atom: Atom) -> Iterator[tuple[Edit, str]]:
        """Yield the replacements of a value, each with its reason."""
        moves, words, of = _below_moves(form, atom)
        for before, after in self.forms:
            for match in pattern(before).matches(words, of):
                template = _with_constants(after, match, form)
                if template is not None:
                    yield _edit(template, match, moves), self._why(form, {**match.names, "it": atom})

    def everywhere(self, form: Form, rounds: int = MOST_ROUNDS) -> Form | None:
        """Apply the rule wherever it fits, and again to the result; None if it fits nowhere."""
        found = form
        for _ in range(rounds):
            first = {atom: next(self.edits(found, atom), None) for atom in found.nodes}
            edits = {atom: one for atom, one in first.items() if one is not None}
            if not edits:
                break
            why = "; ".join(dict.fromkeys(why for _, why in edits.values())) if found is form else ""
            following = found.rewritten({atom: edit for atom, (edit, _) in edits.items()}, why)
            if following is None:
                return None
            found = following
        return None if found is form else found

    def once(self, form: Form) -> Iterator[Form | None]:
        """Yield the forms with the rule applied once, to one value in each way that fits."""
        return (form.rewritten({atom: edit}, why) for atom in form.nodes for edit, why in self.edits(form, atom))

    def _why(self, form: Form, names: Mapping[str, Atom]) -> str:
        """Give the reason in the user's own names, unless they are long."""
        texts = {name: form.text_of(names[name]) for name in re.findall(r"\{(\w+)\}", self.reason)}
        instead = {"it": "a part of it"}
        return self.reason.format_map(
            {name: text if len(text) <= LONGEST_NAME else instead.get(name, name) for name, text in texts.items()}
        )


def _below_moves(form: Form, atom: Atom) -> tuple[tuple[Call, ...], Words, Atom]:
    """Return the operations that move what a function of single numbers is taken of, and the function of it unmoved.

    So log(softmax(x)[0]) is found as log(softmax(x)), of which the element 0 is taken then.
    """
    node, moves = form.nodes.get(atom), list[Call]()
    if node is None or len(node.operands) != 1 or node.op.kind is not Kind.ELEMENTWISE:
        return (), form.words, atom
    inner = node.operands[0]
    while (move := form.nodes.get(inner)) is not None and move.op.only_moves and len(move.operands) == 1:
        moves.append(move)
        inner = move.operands[0]
    if not moves:
        return (), form.words, atom
    unmoved = sympy.Dummy()
    return tuple(reversed(moves)), {**form.words, unmoved: [(node.op.name, (inner,), node.statics)]}, unmoved


def _edit(template: str, match: Match, moves: Sequence[Call] = ()) -> Edit:
    def write(writer: FormWriter) -> Atom:
        found = writer.fill(template, match.names)
        for move in moves:
            found = writer.emit(move, {move.operands[0]: found})
        return writer.fill("-u", {"u": found}) if match.is_negative else found

    return write


def _with_constants(text: str, match: Match, form: Form) -> str | None:
    """Fill a replacement with the constants of the reductions; None if the dimension that it needs does not exist."""
    if "{" not in text:
        return text
    axis, over, kept = None, "", ""
    sizes = {name: match.statics[name] for name in ("sum", "mean", "cosine_similarity") if name in match.statics}
    for dim, *rest in sizes.values():
        along, keepdim = "" if dim is None else f", dim={dim}", bool(rest and rest[0])
        over, kept = along + ", keepdim=True" * keepdim, along and f"{along}, keepdim=True"
        axis = _softmax_axis(dim, keepdim, form.shape(match.names["u"])) if "{axis}" in text else None
    count = _count(match, form) if "{count}" in text else None
    if (axis is None and "{axis}" in text) or (count is None and "{count}" in text):
        return None
    (dim,) = match.statics.get("softmax") or match.statics.get("log_softmax") or (None,)
    reduction = next((match.statics[name][0] for name in _LOSSES if name in match.statics), "none")
    spread, correction, keepdim = match.statics.get("var", (None, 1, False))
    is_many = any(form.shape(atom) != () for atom in match.names.values())
    return text.format(
        axis=axis,
        count=count,
        over=over,
        kept=kept,
        dim="" if dim is None else f", dim={dim}",
        reduction="" if reduction == "mean" else f", reduction='{reduction}'",
        angle=_ANGLE.format(over=over, kept=kept),
        spread=f"{'' if spread is None else f', dim={spread}'}, correction={correction}{', keepdim=True' * keepdim}",
        reduced=reduction if is_many and reduction != "none" else "",
    )


_ANGLE = "2*atan2(norm(a*norm(b{kept}) - b*norm(a{kept}){over}), norm(a*norm(b{kept}) + b*norm(a{kept}){over}))"
"""The angle between two vectors, which keeps its digits where it is small."""

_LOSSES = ("binary_cross_entropy", "weighted_binary_cross_entropy")
"""Losses in forms, whose constant is their reduction."""


def _count(match: Match, form: Form) -> int | None:
    """Return the number of elements in each mean of a form; None where its shape is not known."""
    dim, shape = match.statics["mean"][0], form.shape(match.names["u"])
    if shape is None:
        return None
    along = range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
    return math.prod(shape[one] for one in along)


def _softmax_axis(dim: object, keepdim: bool, shape: tuple[int, ...] | None) -> int | None:
    """Return the dimension of a softmax, if a sum is along one whose size is then 1; else None."""
    rank = None if shape is None else len(shape)
    if isinstance(dim, tuple) and len(dim) == 1:
        (dim,) = dim
    if dim is None:
        return 0 if rank in (0, 1) else None
    return dim if isinstance(dim, int) and (keepdim or dim == 0 or rank == 1) else None


def _rules(table: str) -> Iterator[RewriteRule]:
    """Read the rules of a table, in which rows stand below their reason."""
    for part in re.split(r"\n(?=\S)", table.strip()):
        reason, *rows = part.splitlines()
        pairs = (row.split(" -> ") for row in rows)
        yield RewriteRule(reason, tuple((before.strip(), after) for before, after in pairs))


KNOWN = tuple(
    _rules("""
{it} is 0/0 at {u} = 0
    sin(pi*u)/(pi*u) -> sinc(u)
    sin(u)/u -> sinc(u/pi)
    (1 - cos(u))/u**2 -> sinc(u/(2*pi))**2/2
{u} cancels, but for torch {it} is nan where {u} is 0 or overflows
    u/u -> ones_like(u)
    u**2/u -> u
    u**a/u -> u**(a - 1)
    u*w/u -> w
{it} overflows, or underflows
    log(1 + exp(u)) -> logaddexp(0, u)
    (exp(u) - exp(-u))/(exp(u) + exp(-u)) -> tanh(u)
    (exp(2*u) - 1)/(exp(2*u) + 1) -> tanh(u)
    (1 - exp(-2*u))/(1 + exp(-2*u)) -> tanh(u)
    (exp(u) - 1)/(exp(u) + 1) -> tanh(u/2)
    (1 - exp(-u))/(1 + exp(-u)) -> tanh(u/2)
    log(exp(u)/sum(exp(u))) -> log_softmax(u, dim={axis})
    log(exp(u)/sum(exp(u))) -> u - logsumexp(u{over})
    log(softmax(u)) -> log_softmax(u{dim})
    u - log(sum(exp(u))) -> log_softmax(u, dim={axis})
    u - log(sum(exp(u))) -> u - logsumexp(u{over})
    exp(u)/sum(exp(u)) -> softmax(u, dim={axis})
    exp(u)/sum(exp(u)) -> exp(u - logsumexp(u{over}))
    log(sum(exp(u))) -> logsumexp(u{over})
    log(mean(exp(u))) -> logsumexp(u{over}) - log({count})
    log(exp(a) + exp(b)) -> logaddexp(a, b)
    log(sigmoid(u)) -> logsigmoid(u)
    log(1/(1 + exp(u))) -> logsigmoid(-u)
    log(1 - sigmoid(u)) -> logsigmoid(-u)
    1/(1 + exp(u)) -> sigmoid(-u)
    exp(u)/(1 + exp(u)) -> sigmoid(u)
    exp(a)/exp(b) -> exp(a - b)
    exp(a)*exp(b) -> exp(a + b)
    log(exp(u)) -> u
    log(cosh(u)) -> logaddexp(u, -u) - log(2)
    sinh(u)/cosh(u) -> tanh(u)
    sqrt(a**2 + b**2) -> hypot(a, b)
the weight is a factor
    weighted_binary_cross_entropy(u, t, w) -> {reduced}(w*binary_cross_entropy(u, t, reduction='none'))
sigmoid({u}) rounds to 0 or 1, where torch cuts its logarithm off and keeps the denominator of the slope from 0
    binary_cross_entropy(sigmoid(u), t) -> binary_cross_entropy_with_logits(u, t{reduction})
{u} is so near to 0 or 1 that torch keeps the denominator of the slope from 0
    binary_cross_entropy(u, t) -> {reduced}(-(t*log(maximum(u, exp(-100))) + (1 - t)*log(maximum(1 - u, exp(-100)))))
softplus({u}) is {u} alone in torch above 20
    softplus(u) -> logaddexp(0, u)
{it} has a slope that is 0 times infinity at {u} = 0
    sqrt(u**2) -> abs(u)
    sqrt(u**4) -> u**2
    norm(u)**2 -> sum(u**2)
{it} cancels near {u} = 0
    1 - cos(u) -> 2*sin(u/2)**2
    log((1 + u)/(1 - u))/2 -> atanh(u)
    log((1 + u)/(1 - u)) -> 2*atanh(u)
    log(1 + u) - log(1 - u) -> 2*atanh(u)
    log(1 + u) -> log1p(u)
    log(1 - u) -> log1p(-u)
    (exp(u) - exp(-u))/2 -> sinh(u)
    exp(u) - exp(-u) -> 2*sinh(u)
    exp(u) - 1 -> expm1(u)
{it} loses digits
    log(u + sqrt(u**2 + 1)) -> asinh(u)
    log(u + sqrt(u**2 - 1)) -> acosh(u)
    p = sqrt(1 + b); p - 1 -> b/(p + 1)
    p = sqrt(1 - b); 1 - p -> b/(1 + p)
    p = sqrt(u**2 + n); p - u -> n/(p + u)
    1 - sigmoid(u) -> sigmoid(-u)
    1 - tanh(u)**2 -> 1/cosh(u)**2
    1 - cos(u)**2 -> sin(u)**2
    1 - sin(u)**2 -> cos(u)**2
    1 - erf(u) -> erfc(u)
    1 - erfc(u) -> erf(u)
    p = a + b; p**2 - a**2 -> b*(p + a)
    a**2 - b**2 -> (a - b)*(a + b)
    a**2 - 1 -> (a - 1)*(a + 1)
    a + b - a -> b
    a - (a - b) -> b
    a + b - (a + c) -> b - c
    a + b - (a - c) -> b + c
    a - b - (a - c) -> c - b
    1/p - 1/q -> (q - p)/p/q
    cos(a + b) - cos(a) -> -2*sin(a + b/2)*sin(b/2)
    sin(a + b) - sin(a) -> 2*cos(a + b/2)*sin(b/2)
    sin(a) - sin(b) -> 2*cos((a + b)/2)*sin((a - b)/2)
    cos(a) - cos(b) -> -2*sin((a + b)/2)*sin((a - b)/2)
    p = sqrt(a); q = sqrt(b); p - q -> (a - b)/(p + q)
    q = exp(b); exp(a) - q -> q*expm1(a - b)
    log(a) - log(b) -> log1p((a - b)/b)
""")
)
"""Known troubles and their cures, which are tried first."""

OTHERS = tuple(
    _rules("""
{it} cancels near {u} = 0
    exp(u) - 2 + exp(-u) -> 4*sinh(u/2)**2
    exp(u) + exp(-u) - 2 -> 4*sinh(u/2)**2
    cosh(u) - 1 -> 2*sinh(u/2)**2
    log(cosh(u)) -> log1p(2*sinh(u/2)**2)
    sigmoid(u) - 1/2 -> tanh(u/2)/2
    2*sigmoid(u) - 1 -> tanh(u/2)
    acosh(1 + u) -> log1p(u + sqrt(u*(u + 2)))
    (1 - cos(u))/sin(u) -> tan(u/2)
    log((1 - u)/(1 + u)) -> -2*atanh(u)
    log(1 - u)/log(1 + u) -> log1p(-u**2)/log1p(u) - 1
    (exp(2*u) - 1)/(exp(u) - 1) -> exp(u) + 1
    exp(u)/(exp(u) - 1) -> -1/expm1(-u)
    exp(u)/expm1(u) -> -1/expm1(-u)
    u*(exp((a + b)*u) - 1)/((exp(a*u) - 1)*(exp(b*u) - 1)) -> a*u/2/tanh(a*u/2)/a + b*u/2/tanh(b*u/2)/b
{it} loses digits; the same where {n} < 2
    atan(a + n) - atan(a) -> r = hypot(a + n/2, sqrt(1 - n*n/4)); atan(n/r/r)
{it} loses digits; the same where {c} is not 0
    p = sqrt(b**2 - k*a*c); (p - b)/(h*a) -> -(k/h)*c/(b + p)
    p = sqrt(b**2 - k*a*c); (-b - p)/(h*a) -> k/h*c/(p - b)
    p = sqrt(b**2 - a*c); (p - b)/a -> -c/(b + p)
    p = sqrt(b**2 - a*c); (-b - p)/a -> c/(p - b)
{it} loses digits
    p = (a + b)**(1/3); q = a**(1/3); p - q -> b/(p**2 + p*q + q**2)
    p = a**(1/3); q = b**(1/3); p - q -> (a - b)/(p**2 + p*q + q**2)
    p = a + b; atan(p) - atan(a) -> atan2(b, 1 + a*p)
    atan(a) - atan(b) -> atan2(a - b, 1 + a*b)
    1/(u + n) - 2/u + 1/(u - n) -> n*n*2/u/(u + n)/(u - n)
    sin(a)*cos(b) - cos(a)*sin(b) -> sin(a - b)
    cos(a)*cos(b) - sin(a)*sin(b) -> cos(a + b)
    cos(a)**2 - sin(a)**2 -> cos(2*a)
    p = a + b; tan(p) - tan(a) -> sin(b)/cos(p)/cos(a)
    tan(a) - tan(b) -> sin(a - b)/cos(a)/cos(b)
    p = a + b; q = log(p); p*q - a*log(a) -> a*log1p(b/a) + b*q
    1/u - 1 -> (1 - u)/u
    k/(1 + exp(u)) -> k*sigmoid(-u)
    1 - tanh(u) -> 2*sigmoid(-2*u)
    1 + tanh(u) -> 2*sigmoid(2*u)
    tanh(a) - tanh(b) -> sinh(a - b)/cosh(a)/cosh(b)
    a**3 - b**3 -> (a - b)*(a**2 + a*b + b**2)
    mean(u**2) - mean(u)**2 -> mean((u - mean(u{kept}))**2{over})
    mean(u*w) - mean(u)*mean(w) -> mean((u - mean(u{kept}))*(w - mean(w{kept})){over})
the slope of {it} loses digits near -1 and 1
    acos(u) -> 2*atan2(sqrt(1 - u), sqrt(1 + u))
    asin(u) -> atan2(u, sqrt(1 - u)*sqrt(1 + u))
the slope of {it} loses digits where {u} is large; the same where {u} is not 0
    tanh(u) -> sign(u)*(1 - 2*sigmoid(-2*abs(u)))
    sigmoid(u) -> 1 - sigmoid(-u)
    u/(1 + abs(u)) -> sign(u)*(1 - 1/(1 + abs(u)))
    softsign(u) -> sign(u)*(1 - 1/(1 + abs(u)))
{it} loses digits; the same where neither {a} nor {c} is 0
    sqrt(a**2*c**2 + b**2*c**4) - b*c**2 -> a**2/(hypot(a/c, b) + b)
    sqrt((a*c)**2 + (b*c**2)**2) - b*c**2 -> a**2/(hypot(a/c, b) + b)
{it} loses digits near {u} = 0; the same where {a} is not 0
    (exp(a*u) - 1)/u -> t = a*u; a*(expm1(t)/t)
    (1 - exp(a*u))/u -> t = a*u; -a*(expm1(t)/t)
{it} loses digits; the same where {v} is not 0
    p = sqrt(u**2 + v); p - u -> v/(p + u)
    p = sqrt(u**2 + v); p + u -> v/(p - u)
    p = sqrt(u**2 - v); u - p -> v/(p + u)
    p = sqrt(u**2 - v); p + u -> -v/(p - u)
{it} loses digits; the same where {u} > -1
    (1 + u)**(1/u) -> exp(log1p(u)/u)
    (1 + u)**(a/u) -> exp(a*(log1p(u)/u))
{it} loses digits; the same where {a} is not 0, and the logarithm has a value
    (1 + a/u)**u -> t = a/u; exp(a*(log1p(t)/t))
    (1 + a/u)**(u*b) -> t = a/u; exp(a*b*(log1p(t)/t))
    (1 - a/u)**u -> t = -a/u; exp(-a*(log1p(t)/t))
    u*log(1 + a/u) -> t = a/u; a*(log1p(t)/t)
{it} loses digits; the same where {u} > -1
    (1 + u)**v -> exp(v*log1p(u))
    (1 + u)**v - 1 -> expm1(v*log1p(u))
{it} loses digits; the same where {u} > -1, and {v} is not 0
    ((1 + u)**v - 1)/u -> v*(expm1(v*log1p(u))/(v*log1p(u)))*(log1p(u)/u)
{it} loses digits; the same where {u} < 1
    (1 - u)**v -> exp(v*log1p(-u))
    (1 - u)**v - 1 -> expm1(v*log1p(-u))
{it} loses digits, or is the logarithm of a number that rounds to 0
    log(1 - tanh(u)**2) -> -2*log1p(2*sinh(u/2)**2)
    log(1 - tanh(u)**2) -> 2*(log(2) - logaddexp(u, -u))
    log(1/cosh(u)) -> log(2) - logaddexp(u, -u)
    log(1/cosh(u)) -> -log1p(2*sinh(u/2)**2)
    log(1/cosh(u)**2) -> 2*(log(2) - logaddexp(u, -u))
    log(1/cosh(u)**2) -> -2*log1p(2*sinh(u/2)**2)
    log(sech(u)) -> log(2) - logaddexp(u, -u)
    log(sech(u)) -> -log1p(2*sinh(u/2)**2)
    log(sech(u)**2) -> 2*(log(2) - logaddexp(u, -u))
    log(sech(u)**2) -> -2*log1p(2*sinh(u/2)**2)
    log(1 - tanh(u)) -> log(2) + logsigmoid(-2*u)
    log(1 + tanh(u)) -> log(2) + logsigmoid(2*u)
    log(1 - sigmoid(u)**2) -> logsigmoid(-u) + log1p(sigmoid(u))
    log(sigmoid(u)*(1 - sigmoid(u))) -> logsigmoid(u) + logsigmoid(-u)
    log(sigmoid(u)*(1 - sigmoid(u))) -> -2*(log(2) + log1p(2*sinh(u/4)**2))
    log(sigmoid(u)/(1 - sigmoid(u))) -> u
    log(sigmoid(u)) - log(1 - sigmoid(u)) -> u
    log((1 + tanh(u))/(1 - tanh(u))) -> 2*u
    log((1 - tanh(u))/(1 + tanh(u))) -> -2*u
    logaddexp(u, -u) -> log(2) + log1p(2*sinh(u/2)**2)
    log(1/b) -> -log(b)
    log(u**2) -> 2*log(abs(u))
    log(exp(u)*b) -> u + log(b)
    log(b/exp(u)) -> log(b) - u
{it} loses digits, overflows or underflows; the same where {a} > 0
    log(a*b) -> log(a) + log(b)
    log(a/b) -> log(a) - log(b)
{it} loses digits, or overflows; the same where {u} > 0
    log(exp(u) - 1) -> u + log1p(-exp(-u))
    log(sinh(u)) -> u + log1p(-exp(-2*u)) - log(2)
{it} loses digits; the same where {a} > 0, and {a} + {b} > 0
    q = a**v; (a + b)**v - q -> q*expm1(v*log1p(b/a))
{it} loses digits, or torch's slope of it underflows; the same where {a} > 0
    q = a**v; (a + 1)**v - q -> q*expm1(v*(log1p(a) - log(a)))
    log(b/a + c/a) -> log(b + c) - log(a)
    log1p(b/a) -> log1p(b*exp(-log(a)))
{it} overflows, or underflows
    log(1 + exp(u)) - u -> logaddexp(0, -u)
    log(2*cosh(u)) -> logaddexp(u, -u)
    sqrt(b**2 - k*a*c) -> m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c)))); m*sqrt((b/m)**2 - k*(a/m)*(c/m))
    sqrt(b**2 - a*c) -> m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c)))); m*sqrt((b/m)**2 - (a/m)*(c/m))
    sqrt(b**2 + a*c) -> m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c)))); m*sqrt((b/m)**2 + (a/m)*(c/m))
    sqrt(u**2 + n) -> hypot(u, sqrt(n))
    log(sum(exp(u))) -> m = detach(amax(u{over})); m + log(sum(exp(u - m){over}))
    logsumexp(u) -> m = detach(amax(u{over})); m + log(sum(exp(u - m){over}))
    log(mean(exp(u))) -> m = detach(amax(u{over})); m + log(mean(exp(u - m){over}))
    sqrt(a**2 - b**2) -> sqrt(abs(a) - b)*sqrt(abs(a) + b)
    a/(b*c) -> a/b/c
    a/b**2 -> a/b/b
the square of {u} overflows; the same where {u} is not 0
    asinh(u) -> sign(u)*(log(abs(u)) + log1p(sqrt(1 + 1/u/u)))
    acosh(u) -> log(u) + log1p(sqrt(1 - 1/u)*sqrt(1 + 1/u))
    u/(u**2 + 1) -> 1/(u + 1/u)
""")
)
"""Rules that a search tries too; none of these is better everywhere, so that each is measured where it is tried."""

RULES = (*KNOWN, *OTHERS)

FINITE = tuple(
    _rules("""
where {u} is 0, torch gives a subgradient, 0, in place of NaN
    sqrt(sum(u**2)) -> norm(u{over})
    sqrt(u@u) -> norm(u)
    sqrt(u**2) -> abs(u)
where all that is squared is 0, torch gives a subgradient, 0, in place of NaN
    sqrt(a**2 + b**2 + c**2) -> norm([a, b, c], dim=0)
    sqrt(a**2 + b**2) -> norm([a, b], dim=0)
    hypot(a, b) -> norm([a, b], dim=0)
where all elements are equal, torch gives a subgradient, 0, in place of NaN
    sqrt(var(u)) -> std(u{spread})
the value is the limit, 0, where {u} is 0
    -sum(u*log(u)) -> sum(entr(u){over})
    -sum(u*log2(u)) -> sum(entr(u){over})/log(2)
    u*log(u) -> -entr(u)
    u*log2(u) -> -entr(u)/log(2)
    u*(log(u) - w) -> -entr(u) - u*w
the value is 0 where {a} is 0, whatever {b} is
    a*log(b) -> a*log(where(a == 0, 1, b))
    a*log2(b) -> a*log2(where(a == 0, 1, b))
cbrt({u}) has a value below 0 too, where {it} has none; in torch, sign({u})*abs({u})**(1/3)
    u**(1/3) -> cbrt(u)
cbrt({u})**2 has a value below 0 too, where {it} has none; in torch, abs({u})**(2/3)
    u**(2/3) -> cbrt(u)**2
the odd root has a value below 0 too, where {it} has none
    u**(1/5) -> sign(u)*abs(u)**(1/5)
    u**(3/5) -> sign(u)*abs(u)**(3/5)
    u**(1/7) -> sign(u)*abs(u)**(1/7)
near 0 and pi the angle by its cosine has an infinite slope
    acos(sum(a*b)/(norm(a)*norm(b))) -> {angle}
    acos(sum(a*b)/norm(a)/norm(b)) -> {angle}
    acos(sum(a*b)/sqrt(sum(a**2)*sum(b**2))) -> {angle}
    acos(sum(a*b)/(sqrt(sum(a**2))*sqrt(sum(b**2)))) -> {angle}
    acos(sum(a/norm(a)*(b/norm(b)))) -> {angle}
    acos(a@b/(norm(a)*norm(b))) -> {angle}
    acos(a@b/norm(a)/norm(b)) -> {angle}
    acos((a/norm(a))@(b/norm(b))) -> {angle}
    acos(cosine_similarity(a, b)) -> {angle}
    acos(u/sqrt(u**2 + v**2)) -> atan2(abs(v), u)
where all of {u} are -inf, all count alike in place of NaN
    softmax(u) -> softmax(maximum(u, -1e30){dim})
    log_softmax(u) -> log_softmax(maximum(u, -1e30){dim})
""")
)
"""Rules for a number where torch gives NaN for a value, or for a slope that does not exist: those of kinks and ends."""

MISSING = tuple(
    _rules("""
NaN in {u} is left out
    mean(u) -> nanmean(u)
    sum(u) -> nansum(u)
""")
)
"""Rules that leave out what is NaN in the data."""

(FRACTIONS,) = _rules("""
0.3333333333333333 is meant as 1/3
    u**0.3333333333333333 -> u**(1/3)
""")
"""Rule for a number that code rounds before torch is given it."""

NEAR = tuple(
    _rules("""
{it} changes by at most 1e-6
    sqrt(u) -> sqrt(u + 1e-12)
{it} changes by at most 1e-12
    u*log(u) -> u*log(u + 1e-12)
{it} changes by at most 2e-12
    u*log2(u) -> u*log2(u + 1e-12)
{it} changes by at most 2e-3
    acos(u) -> acos(u*(1 - 1e-6))
    asin(u) -> asin(u*(1 - 1e-6))
{it} changes by at most 4e-4
    u**(1/3) -> u/cbrt(u**2 + 1e-18)
    cbrt(u) -> u/cbrt(u**2 + 1e-18)
""")
)
"""Rules for another function, near the typed one, where no form of that has a finite slope."""
