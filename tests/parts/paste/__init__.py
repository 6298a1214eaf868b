"""Tests of gradcli.parts.paste."""
