"""Answers as pictures: curves, maps, matrices and graphs.

characters     curves and maps on a terminal, in Braille
heat_maps      Jacobians and Hessians on a terminal, and their blocks
figures        all of these in files, by matplotlib
graphs         graphs as SVG
explain_page   the chain rule as a page that shows its steps
"""
