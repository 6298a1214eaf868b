"""What is collected of this folder: calls of the whole surface of Python need the parts that it is made of."""

from tests import of_parts

SURFACE = ("running", "claims", "closed_forms", "plot", "code", "everywhere", "explain", "improve", "tables")
"""Parts whose functions of the package the modules below name as they are imported."""

collect_ignore = ["test_calls.py", "test_random_calls.py"] if of_parts.missing(SURFACE) else []
