"""Answers as text and as arrays; `gradcli.registry` says which function writes which format.

array_files                      arrays in files of NumPy
markdown_pages                   Markdown on a terminal: pages of the guide

Most have a function `pieces(answer, shown)`.  That of a document composes it, and writes it from top to bottom by
`render`, which asks nothing of the answer; JSON, CSV and bare numbers walk over the fields of the answer.  No module is
imported before its format is wanted.
"""
