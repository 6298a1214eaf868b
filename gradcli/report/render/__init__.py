"""Documents as text, a module a format; asks nothing of an answer.

terminal                         tables in frames, for terminals and pipes
markdown, latex, html            GitHub's Markdown; a fragment of LaTeX; a page, or a part of a notebook
graphs                           backward graphs for other programs to draw
drawings                         graphs drawn with characters, and nodes laid out as tables
"""
