"""Formats of answers and of rows, and the suffixes of their files."""

from __future__ import annotations

FORMATS = ("table", "full", "json", "jsonl", "csv", "tsv", "plain", "latex", "markdown", "html")
"""Formats of answers, as `--format` and `f"{answer:markdown}"` name them."""

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".html": "html",
    ".jsonl": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".htm": "html",
    ".txt": "table",
}
"""Formats of answers by the suffix of the file."""

FIGURES = ("svg", "png", "pdf")
"""Kinds of files of pictures."""

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
