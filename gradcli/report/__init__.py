"""Results out: one module a format, each from a result object to text.  Does no mathematics."""

from __future__ import annotations

from gradcli.report import checking, functions, json, plain, table

__all__ = ["checking", "functions", "json", "plain", "table"]
