"""A format of answers, as the core and parts offer it: a word of `--format`, or a kind of file that `-o` writes.

Its functions are named as entry points of Python name one, `module:function`, and imported when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Renderer:
    """A way to write answers.

    Attributes:
        form: The name of the format, or of the kind of file.
        function: The function that writes an answer, `module:function`: a `TextRenderer` of `gradcli.report.appearance`
            for a format, a `FileRenderer` for a kind of file that is no `--format`, such as npy or svg.
        suffixes: The suffixes of files that are written so.
        is_format: Whether `--format` names it; else `-o` alone writes it.
        answers: Names of the classes of answers that it writes; () for all that no other renderer of its name does.
        commands: The commands that have these answers, for a kind of file that is no `--format`; () for all.
        is_picture: Whether it draws.
        require: A function that is called before anything is computed, `module:function`, which raises where a library
            is missing; "" for none.
        notebook: A function of a document that writes it as a part of a notebook, `module:function`; "" for none.
        help: What `--format` writes, for its help, such as "a page of HTML"; "" where the help says it otherwise.
        has_drawings: Whether it writes the drawings of a document, as the option `--to` of `graph` chooses them.
        asks: The option of its commands, by its keyword, that gives these answers: a file of this kind asks for it.
    """

    form: str
    function: str
    suffixes: tuple[str, ...] = ()
    is_format: bool = True
    answers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    is_picture: bool = False
    require: str = ""
    notebook: str = ""
    help: str = ""
    has_drawings: bool = False
    asks: str = ""


def data_formats(module: str, answer: str) -> tuple[Renderer, ...]:
    """Return the formats of data that functions of a module write answers of a class in: `plain` and `csv_rows`."""
    rows = [Renderer(form, f"{module}:csv_rows", answers=(answer,)) for form in ("csv", "tsv")]
    return (Renderer("plain", f"{module}:plain", answers=(answer,)), *rows)
