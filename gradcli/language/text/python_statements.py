"""Words to the statements that a text may have besides expressions: definitions, several names at once, imports.

    line       : "import" ... | "from" ...
               | "def" NAME "(" parameters ")" ["->" type] ":" block
               | NAME "(" parameters ")" [":"] "=" expression               as mathematics defines functions
               | "return" values                                            in a definition
               | (NAME "=")+ values | names "=" values | NAME ":" type "=" values
               | operand "." NAME "=" expression | expression
    block      : statements on the same line | lines that stand further in
    parameters : [NAME [":" type] ["=" expression] ("," ...)*]
    atom       : "lambda" parameters ":" expression                         besides those of the grammar

Every other statement of Python is code: it is refused at its place, with the command that runs it.
"""

from __future__ import annotations

from gradcli.language.text import nodes
from gradcli.language.text.grammar import IN_PLACE, Grammar
from gradcli.language.text.source import LEVELS_OF_INDEX, SourceText
from gradcli.language.text.tokens import STRING_PREFIX, Token


def parse_python(source: SourceText, *, is_mathematics: bool = False) -> tuple[nodes.LineNode, ...]:
    """Parse the statements of a text, in which names side by side are a product where it is mathematics.

    >>> type(parse_python(SourceText("import torch", "EXPR"))[0]).__name__
    'Import'
    """
    grammar = PythonGrammar(source)
    grammar.juxtaposes = is_mathematics
    return grammar.lines(grammar.line)


class PythonGrammar(Grammar):
    """Reader of statements, and of the bodies of definitions."""

    functions = 0  # number of definitions around this place

    def line(self) -> nodes.LineNode:
        """Read one statement."""
        self.require_beginning()
        first = self.token
        if first.text == "@" and first.kind == "operator":
            raise self.source.code("a decorator", first.span)
        if first.kind != "keyword" or first.text in ("lambda", "not", "True", "False", "None"):
            return self._assignment()
        match first.text:
            case "import" | "from":
                return self._import()
            case "def":
                return self._definition()
            case "return" if self.functions:
                return self._return()
            case "return":
                raise self.unexpected()
        article = "an" if first.text[0] in "aei" else "a"
        kind = "loop" if first.text in ("for", "while") else "statement"
        raise self.source.code(f"{article} '{first.text}' {kind}", first.span)

    def _return(self) -> nodes.Return:
        word = self.advance()
        if self.at_end_of_line:
            raise self.source.code("a 'return' without a value", word.span)
        value = self.listed()
        self.end_line()
        return nodes.Return(word.span.to(value.span), value)

    # -- assignments

    def _assignment(self) -> nodes.LineNode:
        """Read names for a value, a member for one, a function by its formula, or a value alone."""
        start, first = self.position, self.token
        parts = [self.listed()]
        is_typed = self.token.text == ":" and isinstance(parts[0], nodes.NameNode)
        if is_typed and self.accept(":") and self.token.text != "=":
            self.expression()
        if self.token.kind == "operator" and self.token.text in IN_PLACE:
            raise self.in_place(first, self.token)
        if isinstance(call := parts[0], nodes.NameNode) and call.arguments and self.token.text == "=":
            return self._equation(start, call.token, call.arguments)
        while self.accept("="):
            parts.append(self.listed())
        *targets, value = parts
        if not targets:
            return self.stated(first, (), value)
        last = targets[0].trailers[-1] if isinstance(targets[0], nodes.Postfix) else None
        if len(targets) == 1 and isinstance(last, nodes.Member) and last.arguments is None:
            *trailers, _ = targets[0].trailers  # type: ignore[attr-defined]
            owner = targets[0].operand  # type: ignore[attr-defined]
            owner = nodes.Postfix(first.span.to(trailers[-1].span), owner, tuple(trailers)) if trailers else owner
            self.end_line()
            return nodes.Assignment(first.span.to(value.span), owner, last, value)
        if isinstance(last, nodes.Subscript):
            raise self.source.code("an element that is assigned", first.span)
        is_tuple = isinstance(targets[0], nodes.Items)
        names = targets[0].items if is_tuple and len(targets) == 1 else targets  # type: ignore[attr-defined]
        tokens = tuple(one.token for one in names if isinstance(one, nodes.NameNode) and one.arguments is None)
        if len(tokens) < len(names) or not names:
            hint = "an assignment is NAME = expression; statements are separated by ';'"
            raise self.source.error("this takes no value", targets[0].span, hint=hint)
        return self.stated(first, tokens, value, is_tuple=is_tuple)

    def listed(self) -> nodes.Node:
        """Read a value, or a tuple without parentheses."""
        first = self.expression()
        if self.token.text != ",":
            return first
        items = [first]
        while self.accept(",") and not self.at_end_of_line and self.token.text != "=":
            items.append(self.expression())
        opening = Token("operator", "(", first.span)
        return nodes.Items(first.span.to(items[-1].span), opening, tuple(items))

    def _equation(self, start: int, name: Token, arguments: nodes.Arguments) -> nodes.FunctionNode:
        """Read `f(x, y) = x*y` and `f(x) := x**2`."""
        parameters = tuple(map(self._parameter, arguments.items))
        self.require("=")
        value = self.expression_alone()
        returned = nodes.Return(value.span, value)
        return nodes.FunctionNode(name.span.to(value.span), start, name.text, parameters, (returned,))

    def _parameter(self, argument: nodes.Argument) -> nodes.ParameterNode:
        """Make a parameter of an argument on the left-hand side of a formula: `x`, `n=2`."""
        if argument.name is not None:
            return nodes.ParameterNode(argument.name.text, argument.value)
        if not isinstance(argument.value, nodes.NameNode) or argument.value.arguments is not None:
            raise self.source.error("a function is of names", argument.value.span, hint="write f(x) = ...")
        return nodes.ParameterNode(argument.value.token.text, None)

    def _import(self) -> nodes.Import:
        """Read an import and the names that it gives."""
        start = self.position
        while not self.at_end_of_line:
            self.advance()
        words = " ".join(token.text for token in self.tokens[start : self.position]).replace(" . ", ".")
        module, _, imported = words.removeprefix("from ").partition("import ")
        found: list[tuple[str, str]] = []
        for one in imported.strip("() ").split(","):
            path, _, name = one.strip().partition(" as ")
            whole = f"{module.strip()}.{path}" if module else path
            if path == "*":
                found.append(("*", module.strip()))
            elif path:
                top = path.partition(".")[0]
                found.append((name or path, whole) if module or name else (top, top))
        return nodes.Import(self.tokens[start].span.to(self.behind().span), tuple(found))

    # -- definitions

    def _definition(self) -> nodes.FunctionNode:
        """Read `def f(x): ...` with its body, which may be wrong where nothing calls it."""
        position, start = self.position, self.advance()
        name, opening = self.advance(), self.advance()
        wanted = self.source.error("a definition is def NAME(x): ...", start.span.to(name.span))
        if name.kind != "name" or opening.text != "(":
            raise wanted
        parameters = self.parameters(")")
        self.close(")", opening)
        if self.accept("->"):
            self.expression()
        if not self.accept(":"):
            raise wanted
        body = self.position
        with self.nested():
            self.functions += 1
            lines = self._block(start)
            self.functions -= 1
        span = start.span.to(self.tokens[max(self.position, body + 1) - 1].span)
        return nodes.FunctionNode(span, position, name.text, parameters, lines)

    def _block(self, word: Token) -> tuple[nodes.LineNode, ...]:
        """Read the statements after the colon of a definition that begins with a word."""
        is_inline, column = self.token.text != "\n", self._column(word)
        found, end = list[nodes.LineNode](), self.position
        while not self.at_end:
            if self.accept(";") or (not is_inline and self.accept("\n")):
                continue
            if self.token.text == "\n" or (not is_inline and self._column(self.token) <= column):
                break
            found.append(self.whole_line(self.line))
            end = self.position
            if is_inline and isinstance(found[-1], nodes.Return):
                break  # the words after `return ...;` on the same line are a statement of the text
        self.position = end
        return tuple(found)

    def _column(self, token: Token) -> int:
        """Return the column at which the line of a word begins."""
        line = self.source.text.rfind("\n", 0, token.span.start) + 1
        return min(self.tokens[self.source.position(line)].span.start, token.span.start) - line

    # -- functions as values

    def atom(self) -> nodes.Node:
        """Read an atom of the language, a lambda, or a word in quotes with letters before it."""
        token = self.token
        if self.at_word("lambda"):
            return self._lambda()
        if token.text == "{" and token.kind == "operator":
            raise self.source.code("a dict or a set", token.span)
        if token.text in ("*", "**") and token.kind == "operator":
            raise self.source.code("unpacking by a star", token.span)
        is_before = token.kind == "name" and self.tokens[self.position + 1].kind == "string"
        if is_before and STRING_PREFIX.fullmatch(token.text):
            self.advance()
            return self.word()
        return super().atom()

    def _lambda(self) -> nodes.Node:
        """Read `lambda x: ...`; where it is assigned, its name is part of it."""
        start, word = self.position, self.advance()
        is_named = start > 1 and self.tokens[start - 1].text == "=" and self.tokens[start - 2].kind == "name"
        first = self.tokens[start - 2] if is_named else word
        parameters = self.parameters(":")
        if not self.accept(":"):
            raise self.source.error("a function is lambda x: ...", word.span)
        with self.nested("", LEVELS_OF_INDEX):
            value = self.expression()
        span, name = first.span.to(self.behind().span), first.text if is_named else ""
        return nodes.FunctionNode(span, start, name, parameters, (nodes.Return(value.span, value),))

    def parameters(self, closing: str) -> tuple[nodes.ParameterNode, ...]:
        """Read names with their defaults, and pass over the types."""
        found: list[nodes.ParameterNode] = []
        while self.token.text != closing and not self.at_end:
            name = self.advance()
            if name.text in ("*", "**", "/"):
                raise self.source.code("a parameter with a star or a slash", name.span)
            if name.kind != "name":
                raise self.source.error(f"unexpected '{name.text}' among the parameters", name.span)
            if closing == ")" and self.accept(":"):
                self.expression()
            default = self.expression() if self.accept("=") else None
            if default is None and found and found[-1].default is not None:
                message = "a parameter without a default follows one that has one"
                raise self.source.error(message, name.span)
            found.append(nodes.ParameterNode(name.text, default))
            if not self.accept(","):
                break
        return tuple(found)
