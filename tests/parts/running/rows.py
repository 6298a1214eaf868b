"""What the part adds to tables of the tests of the core."""

COMMAND_LINES = {
    ("parts/running/targets.py", " --at VALUE"): "a command to type",
    ("parts/running/pass_line.py", "; --pass "): "a command to type",
}
