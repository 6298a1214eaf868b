"""Text of a function to text of the same function that rounds, overflows or poisons less; knows no numbers of torch.

candidates                       all that a function may be written as
patterns, matching               known troubles and their cures as text, and where one is found
guards, removable                branches that poison; quotients that are 0/0 at one point
occurrences, recording           where everything of a Program stands in its text
splicing                         pieces of text put into other text
"""
