"""Answers as text, a module a format, which has the name of its module; `gradcli.registry` lists these and others.

array_files                      arrays in files of NumPy

Each has a function `pieces(answer, shown)`.  That of a document composes it, and writes it from top to bottom by
`render`, which asks nothing of the answer; JSON, CSV and bare numbers walk over the fields of the answer.  No module is
imported before its format is wanted.
"""
