"""Answers as data: walks over their fields.  Composes no page.

json                             an object a line; what the fields of an answer are called, and in which order
csv                              a row an entry
plain                            the bare numbers; the arrays of an answer by name, for files of NumPy
"""
