"""The judge: values and derivatives as balls that are proved to contain the truth.  Imports no torch.

Evaluate a Program on balls in place of floats.  A ball is a number with a radius: whatever the inputs are exactly, the
true value is inside.  A narrow ball is an answer; of a wide one nothing is known yet, and the run repeats with more
bits.  A derivative takes the same way, as a tangent next to each value.

>>> import numpy as np
>>> from gradcli.language.parsing import parse
>>> from gradcli.language.program.shapes import infer
>>> from gradcli.reference.enclosure_plan import Reference
>>> program = parse("(1 - cos(x))/x**2")
>>> (x,) = program.variables
>>> plan = Reference(program, infer(program, {x: ()}), {"x": np.array(1e-8)}).plan([(x, 0)])
>>> for bits in (64, 128):
...     print(bits, plan.run(bits).columns[x, 0][0])
64 [+/- 1.81e+5]
128 [-8.3334e-10 +/- 8.24e-15]

At 64 bits all digits cancel, and the ball says so; at 128 it has shrunk to the truth, where floats give 1e8.

1. Few entries are followed one by one: each element that they are made of is a ball (`enclosure_plan`,
   `enclosure_pass`).
2. Many entries are bounded at once: arrays of floats, with an array of how far they may be off (`array_values`).
3. Where something is not smooth, walk into the point: a series in the distance, from either side, tells a kink from a
   jump and a hole that can be filled (`series`, `directional_series`).
4. A second derivative is a first one of the gradient, which is a Program too (`gradcli.adjoint`).
5. What torch may have lost is seen on balls that round as its floats do (`rounded`).

balls, compiling                 functions of balls and of lists of them; SymPy as such functions
columns                          the same functions at many elements, or many entries of a formula, at once
bounds, array_functions          whole arrays in floats, with bounds; SymPy as functions of them, and matrices
ball_arrays                      the same in balls, for functions so deep that the bounds of floats grow too wide
contractions                     sums of products as products of matrices, as of a convolution
array_values                     a Program on them: the value of each line
deadline                         how long all this may take
rules, piecewise                 the local rules: elementwise and in float formats; of branches and of whole lists
spectral                         eigenvalues of symmetric matrices
exact_forms, exact_series        which values are certainly the same number; which series have coefficients of 0
dependencies                     which element comes from which, and which entries are 0 by that
enclosure_plan, enclosure_pass   tangents at the elements that are asked for
pass_views                       what the parts of a pass see of each other
rounded                          values on balls that round as a float format does
power_series                     functions of one number around 0, with a bound of what follows the known coefficients
series, matrix_series            numbers, and functions of matrices, as powers of a distance
directional_series               what the function is on a ray into the point, in powers of the distance
near_kinks, singular_places      where a kink or a pole may be, as far as bounds tell; all such places of a line
"""
