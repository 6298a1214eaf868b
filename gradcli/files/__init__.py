"""Values and expressions from files and standard input: the text after `@` to a float64 array, or to text.

reader                           the text after `@`, and one run's files, standard input among them
decoding                         bytes to text, with bounds; JSON to arrays
csv_tables                       CSV and TSV to an array
binary                           NumPy's own files: arrays in and out, and rows in
atomic                           files written whole or not at all

Knows formats and paths, and nothing of the language or of functions.  Input is hostile until it is parsed: no
pickles, no special files, and bounds on bytes, elements and depth that hold before memory is taken.
"""

from __future__ import annotations

from gradcli.files.reader import Files

__all__ = ["Files"]
