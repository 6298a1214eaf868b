"""What the part adds to tables of the tests of the core."""

QUESTIONS = {"plot": ["sin(x)", "--in", "0..3"]}
