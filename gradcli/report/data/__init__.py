"""Answers as data: walks over their fields.  Composes no page.

keys                             what the fields of an answer are called in JSON, and in which order
json, csv, plain                 an object a line, a row an entry, or the bare numbers
arrays, quantities               the arrays of an answer by name, for files of NumPy; which is its own
"""
