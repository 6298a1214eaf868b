"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

`sample` chooses the entries, `judge` gives each a verdict, `formulas` confirms a closed form or refuses it.
"""
