"""Answers as text, a module a format, which has the name of its module; `gradcli.formats` lists them.

A module writes documents, nodes from top to bottom, by `render(document, screen)`, and asks nothing of the answer; or
it walks over the fields of the answer by `pieces(answer, form)`, as JSON, CSV and bare numbers do.  No module
is imported before its format is wanted.
"""
