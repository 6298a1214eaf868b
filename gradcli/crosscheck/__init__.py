"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

Torch evaluates, the reference encloses, and this room compares and explains.
Where the ball is narrow and torch's number is next to it, they `agree`; where it is not, look for the reason, and where
there is none, they `disagree`.

>>> import numpy as np
>>> from gradcli.crosscheck.judge import judge
>>> from gradcli.crosscheck.point import Point, Torch
>>> from gradcli.language.parsing import parse
>>> from gradcli.language.program.shapes import infer
>>> from gradcli.recording.pass_recorder import record
>>> def verdict(text, at, value, slope):
...     program = parse(text)
...     shapes = infer(program, {program.variables[0]: ()})
...     point = Point.of(program, shapes, {"x": np.array(at)}, passes=record)
...     numbers = Torch("float64", np.array(value), {"x": np.array(slope)})
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
5. What nothing decides is `unchecked`, with the reason.
6. Hold the formulas to the same balls: none is shown that was not confirmed (`confirming`, `formulas`).
7. Make one answer of all entries: the worst verdict, and how many were looked at (`summary`).

point, sample                    what there is to check, and which entries and points are checked
compare                          the truth of an entry, and whether torch's number is that
judge                            a verdict for every entry, at the precision that it takes
summary                          one check of all of them
bounded                          entries that bounds on whole arrays prove, all at once
rounding                         what rounding explains
singular                         what there is where a value or a derivative is missing: on its sides, and around
boundaries                       conditions that values decided, and may decide otherwise beside the point
second_derivatives               Ju, Hu and the Hessian, where branches or poles meet too
confirming, formulas             formulas held to what was enclosed; those of an answer, and every entry's opinions
"""
