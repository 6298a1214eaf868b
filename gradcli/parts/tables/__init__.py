"""One function over the rows of tables: into a file, or part by part into a folder, on this machine or on many.

folder        the parts, the journal of a run and its manifest
schedule      the work on rows: into one file, or cut into pieces, which become parts here or on Dask

streaming     columns bound to variables; blocks of rows computed in order
many_points   the choice of the points to judge among many, and one check of them all
rows          many points in: one file or a folder of them; blocks of rows of any format
text_rows, columnar   blocks of rows of CSV, TSV and JSON Lines; of Parquet, and tables of Python
sinks         blocks of rows out, and the cells that they keep of the input

Knows files and functions, and nothing of the command line.
"""
