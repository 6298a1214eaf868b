"""Answers as data: walks over their fields.  Composes no page.

json                             an object a line; names and order of the fields of an answer
csv                              a row an entry
plain                            the bare numbers; the arrays of an answer by name, for files of NumPy
"""
