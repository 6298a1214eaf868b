"""Tests, in folders that mirror the package; tests of the package as a whole, and what several folders use, stand here.

conftest                         the command, in this process and as one of its own
warm/                            processes at the price of a fork
benchmarks/                      ratios against peers, run by hand
command_lines                    command lines with what they print: transcripts, such as goldens/, and tables
of_parts                         what the folders of parts add to tests of the core
documents                        the README and the guide, taken apart
goldens/                         answers and errors, a file for each subject; screens, examples
recorded                         recorded answers and pages of functions, each computed once
truths                           hand-derived values and Jacobians
programs                         random programs, as text and in plain torch
fuzz                             random command lines
examples                         how many random examples are drawn
work                             work counted in calls
latex                            whether LaTeX would compile
generated, row_fields            parts of the guide that are written by the package,
command_reference, messages      and those that there are; each error of the source
json_schema                      the schema of JSON
screenshot                       the terminal at the top of the README
"""
