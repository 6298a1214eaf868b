"""One function over the rows of tables: into a file, or part by part into a folder, on this machine or on many.

work          what to do with rows, as a process needs it that shares no memory with this one
folder        the parts, the journal of a run and its manifest
schedule      the rows of files cut into pieces, which become parts here or on Dask

Knows files and functions, and nothing of the command line.
"""

from __future__ import annotations

from gradcli.mapping.schedule import into_folder
from gradcli.mapping.work import Work, apply

__all__ = ["Work", "apply", "into_folder"]
