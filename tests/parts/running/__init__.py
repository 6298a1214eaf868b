"""Tests of gradcli.parts.running.recording."""
