"""What the part adds to tables of the tests of the core."""

MISTAKES = {
    "on-error = 'skip'\non_error = 'nan'": ("on_error is set a second time", "set it once"),
}
