"""`python -m gradcli` is `gradcli`."""

import sys

from gradcli.warm.client import process

sys.exit(process())
