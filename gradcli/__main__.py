"""Entry point of the installed command, `gradcli`, and of `python -m gradcli`."""

import sys
from importlib import import_module

from gradcli.parts import FIRST


def process() -> int:
    """Run a call of the shell and return its exit code; a part may take the call before the shell is imported."""
    for name in FIRST:
        import_module(name).take_over()
    from gradcli.cli import process as shell

    return shell()


if __name__ == "__main__":
    sys.exit(process())
