"""The tables of rules by which trees become Programs: the language's own, and those of a reader of more than that."""

from dataclasses import replace

import pytest

from gradcli.errors import CodeError
from gradcli.language.lower.context import Context, Index, Known, Operand, lower, start
from gradcli.language.lower.programs import RULES
from gradcli.language.lower.statements import lower_program
from gradcli.language.parsing import EVALUATION, parse
from gradcli.language.text import grammar, nodes
from gradcli.language.text.source import SourceText
from gradcli.parts.paste.texts import read

OF_STATEMENTS = {nodes.FunctionNode}
"""Expressions that only a text of statements has."""


def _expressions(kind: type[nodes.Node] = nodes.Node) -> set[type[nodes.Node]]:
    """All kinds of expressions that a tree may have."""
    return {one for below in kind.__subclasses__() for one in (below, *_expressions(below))}


def test_each_node_has_one_rule() -> None:
    """The rules of the language are of its nodes alone."""
    assert set(RULES.expressions) == _expressions() - OF_STATEMENTS
    assert set(RULES.trailers) == {nodes.Member, nodes.Subscript, nodes.TransposeMark}


def _doubled(context: Context, node: nodes.NumberNode) -> Operand:
    """Lower a number to twice the number."""
    value, span = RULES.expressions[nodes.NumberNode](context, node)
    return 2 * value, span


def test_a_reader_adds_rules_by_a_table() -> None:
    """And the language itself has its own still."""
    rules = replace(RULES, expressions={**RULES.expressions, nodes.NumberNode: _doubled})
    source = SourceText("x**2", "EXPR")
    program = lower_program(start(source, Known(evaluation=EVALUATION), rules), grammar.parse(source))
    assert str(program.lines[0].call) == "pow(x, 4)"
    assert str(parse("x**2").lines[0].call) == "pow(x, 2)"


def test_a_context_inside_leaves_the_one_around_it() -> None:
    """Names of a loop, and indices, are those of its body alone."""
    source = SourceText("k", "EXPR")
    outer = start(source, Known(evaluation=EVALUATION), RULES)
    (statement,) = grammar.parse(source)
    inner = outer.in_loop("k", RULES.expressions[nodes.NumberNode](outer, nodes.NumberNode(statement.span, "7"))[0])
    assert lower(inner, statement.value)[0] == 7
    assert "k" not in outer.names.values
    assert not outer.findings.variables
    assert str(lower(outer, statement.value)[0]) == "k"
    assert lower(outer.with_indices({"k": Index(0, 3, 3)}, 1), statement.value)[0] != lower(outer, statement.value)[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = torch.tensor(1., requires_grad=True); y = x**2; y.backward(); z = x.grad*2", "computed from '.grad'"),
        ("a, b = x.max(dim=0); a + b", "computation with positions"),
    ],
)
def test_an_object_refuses_computation_in_its_own_words(text: str, what: str) -> None:
    """The lowering knows of no gradient."""
    with pytest.raises(CodeError, match=what):
        read(text)
