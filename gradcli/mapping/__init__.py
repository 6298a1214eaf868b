"""One function over the rows of tables: into a file, or part by part into a folder, on this machine or on many.

work          the work on rows, in a form that a process without shared memory can take
folder        the parts, the journal of a run and its manifest
schedule      the rows of files cut into pieces, which become parts here or on Dask

Knows files and functions, and nothing of the command line.
"""

from __future__ import annotations

from gradcli.mapping.schedule import into_folder
from gradcli.mapping.work import Work, apply

__all__ = ["Work", "apply", "into_folder"]
