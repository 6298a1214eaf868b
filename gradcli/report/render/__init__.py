"""Documents as text, a module a format; asks nothing of an answer.

terminal                         tables in frames, for terminals and pipes
markdown, latex                  GitHub's Markdown; a fragment of LaTeX
dot, mermaid                     graphs for other programs to draw
tables, board, tree              nodes as tables, equations with numbers in place, graphs as trees of characters
reflow                           tables and lines on a narrow terminal
"""
