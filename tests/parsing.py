"""Texts of functions as Programs, with what torch makes of functions of its own."""

from functools import partial

from gradcli.language import parsing
from gradcli.questions.text_reading import ask_torch

parse = partial(parsing.parse, ask=ask_torch)
"""`gradcli.language.parsing.parse`, which asks torch."""
