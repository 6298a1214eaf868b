"""Colours, digits and suffixes: what answers and rows are written with, besides the formats that `registry` lists."""

from __future__ import annotations

SUFFIXES_IN_ORDER = (
    *(".csv", ".tsv", ".json", ".html", ".jsonl", ".md", ".tex", ".htm", ".txt", ".npy", ".npz"),
    *(".py", ".dot", ".gv", ".svg", ".png", ".pdf"),
)
"""Suffixes of files of answers, in the order in which errors list them; any other comes after them."""

COLORS = ("auto", "always", "never")
"""When tables and messages have colours."""

ON_TERMINALS = 6
"""Significant digits in tables on a terminal."""

ROW_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Formats of rows by the suffix of the file."""

ROW_FORMATS = ("csv", "tsv", "jsonl", "npy", "npz", "parquet")
"""Formats of rows."""
