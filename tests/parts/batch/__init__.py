"""Tests of gradcli.parts.batch."""
