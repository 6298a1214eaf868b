"""The one place that imports torch.

The import allocates millions of objects that live as long as the process; the collector would walk them again and
again, which costs about a tenth of the two seconds.
"""

from __future__ import annotations

import gc

_enabled = gc.isenabled()
gc.disable()
try:
    import torch
finally:
    if _enabled:
        gc.enable()

__all__ = ["torch"]
