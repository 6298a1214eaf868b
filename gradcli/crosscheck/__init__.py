"""Comparison of the readings: torch's numbers and the formulas against the enclosure of the truth.

Torch evaluates, the reference encloses, and this room compares and explains.
A number next to a narrow ball does `agree`.  For any other number the room looks for a reason; if there is none, the
readings `disagree`.

>>> import numpy as np
>>> from gradcli.crosscheck.judge import judge
>>> from gradcli.crosscheck.point import FunctionAtPoint, Numbers
>>> from gradcli.language.parsing import parse
>>> from gradcli.language.program.shapes import infer
>>> from gradcli.recording.pass_recorder import record
>>> def verdict(text, at, value, slope):
...     program = parse(text)
...     shapes = infer(program, {program.variables[0]: ()})
...     point = FunctionAtPoint.from_inputs(program, shapes, {"x": np.array(at)}, passes=record)
...     numbers = Numbers.of_first_order("float64", np.array(value), {"x": np.array(slope)})
...     return judge(point, numbers, ("x",)).check.verdict
>>> verdict("x**2", 3.0, 9.0, 6.0)
'agree'
>>> verdict("x**2", 3.0, 9.0, 6.001)
'disagree'
>>> verdict("abs(x)", 0.0, 0.0, 0.0)
'kink'
>>> verdict("x**2/x", 0.0, float("nan"), float("nan"))
'removable'

1. Choose the entries: all of few; of many what bounds do not prove at once, and a sample where that is too much.
2. Enclose each, with more bits as long as the ball is wide (`judge`).
3. Compare (`compare`).  A number that is off may be rounding: torch's passes on balls that round tell (`rounding`).
4. Where there is no value or no slope, look from both sides (`singular`).
5. Call an entry that nothing decides `unchecked`, with the reason.
6. Compare the formulas with the same balls: only confirmed ones are shown, and where they do not hold is said
   (`confirming`, `formulas`, `formula_values`).
7. Make one answer of all entries: the worst verdict, and how many were looked at (`summary`).

point, sample                    a Program at a point with torch's numbers, and the choice of the entries to check
large_numbers                    truths beyond float64, and their text
compare                          the truth of an entry, and the comparison of torch's number with it
judge                            a verdict for every entry, at the precision that it takes
summary                          one check of all of them
bounded                          entries that bounds on whole arrays prove, all at once
bounded_gradient  bounds of derivatives on whole arrays, by the gradient Program
known_slopes                     a gradient Program without the masks and guards that are the same for all weights
measured                         entries whose truth is a measured slope, of a call that cannot be read
minor                            errors that are small next to the largest entry of a gradient
rounding                         errors that rounding explains
singular                         missing values and derivatives: limits on both sides of the point, and around it
blame                            the operation that has the fault itself, of those with a missing derivative
ray_series, paths_to_point       series on rays into a point; lines and curves on which limits and slopes are compared
limits                           limits on rays and curves, and words for them
jumps                            torch's numbers on one side of a jump
replaced_values                  numbers in the place of NaN and of infinities, and the gradient there
boundaries                       conditions that values decided, and that may be decided otherwise next to the point
second_derivatives               Ju, Hu and the Hessian
gradient_point                   the gradient of a y of one element as a function of its own
hessian_judge, gradient_sides    the judge of its Jacobian; the gradient on both sides, where branches or poles meet
confirming, formulas             formulas compared with enclosures; those of an answer, and all opinions of each entry
formula_values                   values of formulas at the entries of an answer, and the entries where one does not hold
curves                           curves along a line, the numbers of them that are shown, and lost digits
curve_places                     what the singular places of a line are, and of a plane
advising                         what is asked of those who say why numbers are wrong
"""
