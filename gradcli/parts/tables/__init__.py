"""One function over the rows of tables: into a file, or part by part into a folder, on this machine or on many.

folder        the parts, the journal of a run and its manifest
schedule      the work on rows: into one file, or cut into pieces, which become parts here or on Dask
column_names  columns in capital or small letters, and one without a name
column_hints  names for columns that have none, as the function can have them
streaming     columns bound to variables; blocks of rows computed in order
tally         the count of rows: read, written, at fault, without a value
many_points   the choice of the points to judge among many, and one check of them all
rows          many points in: one file or a folder of them; blocks of rows of any format
row_formats   formats of rows, and the suffixes of their files
text_rows, json_rows, columnar   blocks of rows of CSV and TSV; of JSON; of Parquet, and tables of Python
sinks         blocks of rows out, and the cells that they keep of the input
stream_summary  what is said at the end of a stream
methods       the methods of `Function`
shell         the command: rows in, derivatives out
respelled_maps  a table that is sent, where a line lacks it, and numbers in its place
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.parts.command import Command
from gradcli.parts.part import Part

_COMMANDS = {
    "map": Command(
        "map",
        "Many at once",
        "gradcli.parts.tables.shell:map_",
        answer="gradcli.parts.tables.shell:answer_map",
        respelled="gradcli.parts.tables.respelled_maps:respelled",
    ),
}


class TablesPart(Part):
    """One function over tables."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]

    def methods(self) -> Mapping[str, str]:
        """Return the methods that answer at many points."""
        names = {"stream": "stream", "map": "map_columns", "map_partitions": "map_partitions"}
        return {name: f"gradcli.parts.tables.methods:{function}" for name, function in names.items()}


PART = TablesPart()
