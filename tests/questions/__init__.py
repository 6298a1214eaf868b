"""Tests of gradcli.questions."""
