"""Documents as text, a module a format; asks nothing of an answer.

terminal                         tables in frames, for terminals and pipes
markdown, latex                  GitHub's Markdown; a fragment of LaTeX
graphs                           backward graphs for other programs to draw
drawings                         equations with numbers in place, trees of characters, and what all show as tables
"""
