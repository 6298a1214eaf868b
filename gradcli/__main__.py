"""Entry point of `python -m gradcli`, the same as `gradcli`."""

import sys

from gradcli.parts.warm.client import process

sys.exit(process())
