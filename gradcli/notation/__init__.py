"""How mathematics is written: in plain characters, in Unicode and in LaTeX.  Knows neither formulas nor answers.

trees                            notation as trees, each node in its three spellings
typesetting                      names, numbers and text in LaTeX
"""

from gradcli.notation.trees import Bar, Element, Form, Name, Notation, Number, Typed, Written

__all__ = ["Bar", "Element", "Form", "Name", "Notation", "Number", "Typed", "Written"]
