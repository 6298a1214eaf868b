"""Values and expressions from files and standard input: the text after `@` to a float64 array, or to text.

locator, reader                  the text after `@`, and one run's files, standard input among them
decoding, csv_tables, nested, binary  bytes to text; CSV and TSV; JSON; NumPy's own files
atomic, saving                   files that are there whole or not at all; arrays to NumPy's own files
rows, sinks                      many points: blocks of rows in, and out

Knows formats and paths, and nothing of the language or of functions.  What is read is hostile until it is parsed: no
pickles, no special files, and bounds on bytes, elements and depth that hold before memory is taken.
"""

from __future__ import annotations

from gradcli.files.reader import Files

__all__ = ["Files"]
