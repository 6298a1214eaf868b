"""`python -m gradcli` is `gradcli`."""

import sys

from gradcli.cli import main

sys.exit(main())
