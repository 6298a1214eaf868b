"""Tests of scripts: they run, and give the numbers of gradcli."""
