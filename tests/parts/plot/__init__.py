"""Tests of gradcli.parts.plot."""
