"""The formula: elements of a Program in index notation, their derivatives in closed form, and how they print."""
