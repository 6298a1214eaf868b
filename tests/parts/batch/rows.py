"""What the part adds to tables of the tests of the core."""

NARROW = {
    ("parts.batch", "files"): {"gradcli.files", "gradcli.files.decoding"},  # arrays in JSON; a class that reads none
}
