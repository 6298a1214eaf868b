"""Formats of rows, and the suffixes of their files."""

from __future__ import annotations

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

READ_SUFFIXES = {**ROW_SUFFIXES, ".json": "jsonl"}
"""The same of files that are read, which may be a whole array of JSON."""

ROW_FORMATS = ("csv", "tsv", "jsonl", "npy", "npz", "parquet")
"""Formats of rows."""

ROWS_OF_TEXT = ("csv", "tsv", "jsonl")
"""Those that a terminal can show, which answers of other commands have too."""
