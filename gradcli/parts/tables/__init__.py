"""One function over the rows of tables: into a file, or part by part into a folder, on this machine or on many.

folder        the parts, the journal of a run and its manifest
schedule      the work on rows: into one file, or cut into pieces, which become parts here or on Dask

Knows files and functions, and nothing of the command line.
"""

from __future__ import annotations

from gradcli.parts.tables.schedule import Work, apply, into_folder

__all__ = ["Work", "apply", "into_folder"]
