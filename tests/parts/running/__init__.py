"""Tests of gradcli.recording."""
