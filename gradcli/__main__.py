"""`python -m gradcli` is `gradcli`."""

import sys

from gradcli.cli import process

sys.exit(process())
