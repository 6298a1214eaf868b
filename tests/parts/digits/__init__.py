"""Tests of gradcli.parts.digits."""
