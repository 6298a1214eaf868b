"""Distributions of torch.distributions as values, with what they have behind their dot.

    d = Normal(mu, sigma); d.log_prob(x); d.rsample(); kl_divergence(d, Normal(0, 1))

What torch refuses, as a negative deviation, is refused where the numbers are known; else the value there is nan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.language import ops
from gradcli.language.lower.arguments import Bound
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Nothing, Operand
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippets.definitions import Callee, Functions
from gradcli.language.snippets.distribution_families import FAMILIES, Conditions, Family
from gradcli.language.snippets.drawing import Drawing
from gradcli.language.snippets.python_values import Objects
from gradcli.language.text import nodes

_ROOM = "torch.distributions"

_ROOMS = frozenset(["", "dist", "dists", "D", "distributions"])
"""What stands before a distribution where no import says what it is."""

_OF_VALUES = ("log_prob", "cdf", "icdf")
"""Methods that take a value; the first two only one that the distribution may have."""

_OF_NOTHING = ("entropy", "perplexity")
"""Methods that take nothing; what else there is has no parentheses."""

_SUMMED = ("log_prob", "entropy")
"""Methods that are one number of several dimensions together in an Independent."""

_POSITIVE = frozenset("exp softplus sigmoid softmax".split())
"""Operations whose results are parameters that torch takes."""

_NAME = re.compile(r"\b[a-z]\w*\b(?!\()")


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution.

    Attributes:
        kind: Its name.
        family: What it has.
        parameters: What it is made with.
        is_checked: Whether torch looks at what it is given.
        unknown: Which conditions on the parameters are not known to hold.
        dims: How many dimensions belong to one sample beside those of the family.
    """

    kind: str
    family: Family
    parameters: Mapping[str, Atom]
    is_checked: bool = True
    unknown: Conditions = ()
    dims: int = 0

    @property
    def shown(self) -> str:
        """What it is called in a message."""
        return f"this {self.kind}"


class Distributions:
    """Makes distributions, and reads what is done with them.

    Attributes:
        values: The numbers of the variables that the text defines.
    """

    def __init__(
        self,
        lowering: Lowering,
        objects: Objects,
        functions: Functions,
        drawing: Drawing,
        values: Mapping[str, Array],
    ) -> None:
        self.lowering, self.source, self.scope = lowering, lowering.source, lowering.scope
        self.lines, self.constants, self.builder = lowering.lines, lowering.constants, lowering.lines.builder
        self.objects, self.functions, self.drawing, self.values = objects, functions, drawing, values

    def _error(self, message: str, span: Span, hint: str | None = None) -> GradcliError:
        return self.source.error(message, span, hint=hint)

    # -- what makes them

    def named(self, path: str, arguments: nodes.Arguments, span: Span) -> Operand | None:
        """`Normal(0, 1)` or `kl_divergence(p, q)` by its whole name; None of anything else."""
        room, _, name = path.rpartition(".")
        is_torch = room.startswith(_ROOM)
        if not is_torch and room not in _ROOMS:
            return None
        if name == "kl_divergence":
            callee = Callee(("p", "q"), self._divergence, shown=name)
            return self.functions.called(callee, name, arguments)[0], span
        if name in FAMILIES:
            return self.objects.new(self._made(name, arguments, span)), span
        if name == "Independent":
            return self.objects.new(self._independent(arguments, span)), span
        if is_torch and name[:1].isupper():
            raise self._error(f"the distribution {name} is not read", span, f"read are {', '.join(FAMILIES)}")
        return None

    def _made(self, kind: str, arguments: nodes.Arguments, span: Span) -> Distribution:
        families = FAMILIES[kind]
        takes = dict.fromkeys(name for family in families for name in family.takes)
        readers = dict.fromkeys(takes, lambda one: self.lowering.lower(one.value))
        signatures = self.functions.signatures
        found = signatures.in_call(arguments, {**readers, "validate_args": signatures.flag})
        is_checked = found.pop("validate_args", None) is not False
        found = {name: one for name, one in found.items() if not isinstance(self.objects.of(one[0]), Nothing)}
        given = {name: self.lines.as_number(*one) for name, one in found.items()}
        for family in families:
            if set(given) <= set(family.takes) <= set(given) | set(family.defaults):
                made = Distribution(kind, family, {**family.defaults, **given}, is_checked)
                unknown = self._unknown(family.valid, self._given(made), made, span) if is_checked else ()
                return replace(made, unknown=unknown)
        ways = " or ".join(", ".join(family.takes) for family in families)
        raise self._error(f"{kind} takes {ways}", span)

    def _independent(self, arguments: nodes.Arguments, span: Span) -> Distribution:
        """`Independent(Normal(mu, sigma), 1)`."""
        signatures = self.functions.signatures
        readers = {
            "base_distribution": lambda one: self.objects.of(self.lowering.lower(one.value)[0]),
            "reinterpreted_batch_ndims": signatures.integers,
            "validate_args": signatures.flag,
        }
        found = signatures.in_call(arguments, readers)
        base, count = found.get("base_distribution"), found.get("reinterpreted_batch_ndims")
        if not isinstance(base, Distribution) or not isinstance(count, int) or count < 0:
            raise self._error("Independent takes a distribution, and a number of dimensions", span)
        return replace(base, dims=base.dims + count)

    # -- what torch takes

    def _unknown(
        self, conditions: Conditions, values: Mapping[str, Atom], made: Distribution, span: Span
    ) -> Conditions:
        """Those of some conditions that are not known to hold.

        Raises:
            LanguageError: One is known not to.
        """
        return tuple(one for one in conditions if not self._holds(one[0], values, made, span))

    def _holds(self, condition: str, values: Mapping[str, Atom], made: Distribution, span: Span) -> bool:
        names = [name for name in _NAME.findall(condition) if f"given_{name}" in values]
        if len(names) == 1 or len({*names}) == 1:
            line = self.builder.line_of(values[f"given_{names[0]}"])
            if line is not None and line.call.op.name in _POSITIVE:
                return True
        mark = len(self.builder.lines)
        atom = self.lowering.writing.inlined(_prefixed(condition, values, "given_"), values, span)
        program = self.builder.program(atom, self.scope.variables.values())
        is_known = set(program.names) <= set(self.values)
        holds = is_known and bool(np.all(run(program, {s: self.values[s.name] for s in program.variables})))
        self.builder.forget(mark)
        if is_known and not holds:
            message = f"torch refuses this {made.kind}, which needs {condition}"
            raise self._error(message, span, "validate_args=False leaves the test out")
        return holds

    def _given(self, made: Distribution) -> dict[str, Atom]:
        """The parameters by the names that conditions have for them."""
        return {f"given_{name}": atom for name, atom in made.parameters.items()}

    # -- what they have

    def member(self, made: Distribution, member: nodes.Member, span: Span) -> Operand:
        """What stands behind the dot of a distribution.

        Raises:
            LanguageError: It is not read.
        """
        name, arguments = member.name.text, member.arguments
        if name in ("sample", "rsample") and arguments is not None:
            return self._sample(made, arguments, span, is_constant=name == "sample")
        if name in _OF_VALUES and self._has(made, name):
            callee = Callee(
                ("value",), lambda given, where: (self._of_value(made, name, given[0], where), where), shown=name
            )
            if arguments is None:
                return self.objects.new(callee), span
            return self.functions.called(callee, name, arguments)[0], span
        is_call = arguments is not None
        if is_call == (name in _OF_NOTHING) and not (arguments is not None and arguments.items):
            if (text := made.family.text(name)) is not None:
                return self._summed(made, name, self._computed(made, name, text, span), span), span
            if name in made.parameters:
                return self._computed(made, name, name, span), span
        raise self._error(f"{made.shown} has no '.{name}' that is read", member.span)

    def _has(self, made: Distribution, name: str) -> bool:
        return made.family.text(name) is not None or (made.kind == "Categorical" and name == "log_prob")

    def _summed(self, made: Distribution, name: str, atom: Atom, span: Span) -> Atom:
        """What an Independent has of several dimensions together."""
        if not made.dims or name not in _SUMMED:
            return atom
        return self.lines.emit("sum", [atom], span, (tuple(range(-made.dims, 0)), False))[0]

    def _of_value(self, made: Distribution, name: str, given: Operand, span: Span) -> Atom:
        """`d.log_prob(x)`."""
        x = self.lines.as_number(*given)
        unknown = made.unknown
        if made.is_checked and name != "icdf":
            values = {**self._given(made), "x": x}
            unknown += self._unknown(made.family.support, values, made, span)
        text = made.family.text(name)
        if text is None:
            found = self._chosen(made, x, span)
            text, x = "x", found
        return self._summed(made, name, self._computed(made, name, text, span, {"x": x}, unknown), span)

    def _chosen(self, made: Distribution, x: Atom, span: Span) -> Atom:
        """The logarithms of the probabilities of a Categorical at whole numbers."""
        logits = self._computed(made, "logits", made.family.methods["logits"], span, unknown=())
        shape, places = self.objects.shape(logits), self.objects.shape(x)
        if shape is None or places is None:
            return self.lines.emit("sum", [logits], span, (-1, False))[0]
        try:
            batch = np.broadcast_shapes(shape[:-1], places)
        except ValueError:
            raise self._error(f"the shapes {shape[:-1]} and {places} do not fit together", span) from None
        if batch != shape[:-1]:
            logits = self.lines.emit("expand", [logits], span, ((*batch, shape[-1]),))[0]
        if batch != places:
            x = self.lines.emit("expand", [x], span, (batch,))[0]
        index = self.lines.emit("unsqueeze", [x], span, (-1,))[0]
        operands = {"x": (logits, span), "index": (index, span)}
        bound = Bound(ops.TABLE["gather"], "", False, [], operands, {"dim": -1})
        return self.lines.emit("squeeze", [self.lowering.writing.call(bound, span)[0]], span, (-1,))[0]

    def _computed(
        self,
        made: Distribution,
        name: str,
        text: str,
        span: Span,
        given: Mapping[str, Atom] | None = None,
        unknown: Conditions | None = None,
    ) -> Atom:
        """The value of the text of a method.

        Args:
            made: The distribution.
            name: The method.
            text: Its text.
            span: Where it is called.
            given: What it is given, by name.
            unknown: Conditions that are not known to hold; those of the parameters if None.
        """
        values = self._values(made, name, text, span)
        every = {**self._given(made), **values, **(given or {})}
        unknown = made.unknown if unknown is None else unknown
        return self._written(text, every, [(_prefixed(one, every, "given_"), parts) for one, parts in unknown], span)

    def _written(self, text: str, values: dict[str, Atom], unknown: Sequence[tuple[str, str]], span: Span) -> Atom:
        """The value of a text, nan where a condition does not hold which the text does not notice."""
        text = self._with_type(text, values, span)
        missed = [cond for cond, parts in unknown if not (parts and any(one in text for one in parts.split("|")))]
        if missed:
            text = f"where({' & '.join(f'({one})' for one in missed)}, {text}, log(-1))"  # which has no value
        used = {name: atom for name, atom in values.items() if re.search(rf"\b{name}\b", text)}
        return self.lowering.writing.inlined(text, used, span)

    def _with_type(self, text: str, values: Mapping[str, Atom], span: Span) -> str:
        """A text with the distance of 1 from the next number of its type, which torch keeps probabilities from 0 by."""
        if "{eps}" not in text:
            return text
        is_double = self.drawing.dtypes.is_double(span, *values.values())
        return text.replace("{eps}", repr(2.0**-52 if is_double else 2.0**-23))

    def _values(self, made: Distribution, name: str, text: str, span: Span) -> dict[str, Atom]:
        """What a text has by name: parameters, and other methods; stretched where it has not all parameters."""
        methods, parameters = made.family.methods, made.parameters
        used = dict.fromkeys(_NAME.findall(text))
        values = {
            one: self._computed(made, one, methods[one], span, unknown=())
            for one in used
            if one in methods and one != name
        }
        values |= {one: parameters[one] for one in used if one in parameters and one not in values}
        if made.family.event or set(parameters) <= set(used):
            return values
        shape = self._shape(made, span)
        for one, atom in values.items() if shape else ():
            if self.objects.shape(atom) != shape:
                values[one] = self.lines.emit("expand", [atom], span, (shape,))[0]
        return values

    def _shape(self, made: Distribution, span: Span) -> Shape | None:
        """The shape of one sample with its batch; None while it is not known."""
        shapes = [self.objects.shape(atom) for atom in made.parameters.values()]
        known = [shape for shape in shapes if shape is not None]
        if len(known) < len(shapes):
            return None
        if made.family.event:  # of a matrix, the rows
            known = [known[0], *(shape[:-1] for shape in known[1:])]
        try:
            return np.broadcast_shapes(*known)
        except ValueError:
            raise self._error(f"the parameters of {made.shown} do not fit together", span) from None

    # -- two of them

    def _divergence(self, given: Sequence[Operand], span: Span) -> Operand:
        """`kl_divergence(p, q)` of two of one kind."""
        both = [self.objects.of(atom) for atom, _ in given]
        p, q = both
        if not isinstance(p, Distribution) or not isinstance(q, Distribution):
            raise self._error("kl_divergence takes two distributions", span)
        text = p.family.kl
        if p.kind != q.kind or p.dims != q.dims or not text:
            message = f"the divergence of {p.shown} from {q.shown} is not read"
            raise self._error(message, span, "write it as a formula, or as a mean of log_prob")
        values: dict[str, Atom] = {}
        unknown: list[tuple[str, str]] = []
        for prefix, one in (("p_", p), ("q_", q)):
            held = self._given(one)
            for name in dict.fromkeys(re.findall(rf"\b{prefix}(\w+)", text)):
                held[name] = self._computed(one, name, one.family.methods.get(name, name), span, unknown=())
            values |= {prefix + name: atom for name, atom in held.items()}
            for condition, parts in one.unknown:
                written = _prefixed(_prefixed(condition, held, "given_"), values, prefix)
                unknown.append((written, _prefixed(parts, values, prefix)))
        return self._summed(p, "log_prob", self._written(text, values, unknown, span), span), span

    # -- samples

    def _sample(self, made: Distribution, arguments: nodes.Arguments, span: Span, *, is_constant: bool) -> Operand:
        """`d.rsample((3,))`; `d.sample()` has no derivative."""
        if made.family.draws is None or not (is_constant or made.family.has_rsample):
            method = "sample" if is_constant else "rsample"
            message = f"what {made.shown} draws by .{method}() is not read"
            raise self._error(message, span, "give what is drawn as numbers, x = torch.tensor(...)")
        signatures = self.functions.signatures
        sizes = signatures.in_call(arguments, {"sample_shape": self._sizes}).get("sample_shape", ())
        kind, text = made.family.draws
        shape = self._shape(made, span) or ()
        atoms = list(made.parameters.values())
        eps = self.drawing.numbers(kind, (*sizes, *shape), atoms, span)
        drawn = self._computed(made, "", text, span, {"eps": eps})
        return (self.lines.emit("detach", [drawn], span)[0] if is_constant else drawn), span

    def _sizes(self, argument: nodes.Argument) -> Shape:
        found = self.constants.several(argument.value)
        if isinstance(found, int):
            raise self._error("the shape of a sample is a tuple", argument.value.span, "write (3,)")
        return found


def _prefixed(text: str, values: Mapping[str, Atom], prefix: str) -> str:
    """A text with other names for what has one with a prefix."""
    return _NAME.sub(lambda found: prefix + found[0] if prefix + found[0] in values else found[0], text)
