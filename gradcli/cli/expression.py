"""A command whose one argument is an expression, which may begin with a minus.

Click takes `-x**2` for an option.  Here every word that begins with a single minus and is not an option is an
expression, while a word with two (`--jsn`) stays a mistyped option with its suggestion.
"""

from __future__ import annotations

from typer import _click as click
from typer.core import TyperCommand


class ExpressionCommand(TyperCommand):
    """Separates options from expressions before click parses them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the expressions behind `--`."""
        takes_value: dict[str, bool] = {}
        for parameter in self.get_params(ctx):
            for name in (*parameter.opts, *parameter.secondary_opts):
                takes_value[name] = not getattr(parameter, "is_flag", False)
        options: list[str] = []
        expressions: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                expressions += words
            elif word in takes_value:
                options.append(word)
                if takes_value[word]:
                    options += [value for value in (next(words, None),) if value is not None]
            elif word.startswith("--"):
                options.append(word)
            else:
                expressions.append(word)
        return super().parse_args(ctx, [*options, "--", *expressions])
