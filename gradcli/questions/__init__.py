"""What each family of commands asks of the readings, and how their answers are put together.

Everything that can be wrong with the input is found before torch is imported.
"""
