"""The judge: values and derivatives as balls that are proved to contain the truth.  Imports no torch.

balls, compiling, float_formats  functions of balls; SymPy as such functions; what float formats add to them
deadline                         how long all this may take
rules, choices, whole_lists      the local rules: elementwise, of branches, of whole lists
numbering                        which values are certainly the same number
lowering, element_groups, footprint  Programs as the rules need them; which element comes from which
duals, running, backward         tangents and adjoints at the elements that are asked for
tape, tape_passes                torch's own passes with their rounding, number by number, also twice
tangent, program_writer, unrolling  dy = J(x)·u as one more Program, for second derivatives
adjoint                          vᵀJ as lines of the language, for derivatives that a snippet goes on with
series, rays                     what the function is on a ray into the point, in powers of the distance
probing                          the neighbourhood of a point
exact_numbers, jets, germs       series just beside a point, which know what is exactly 0; each operation on them
beside, slopes                   slopes beside the point and their derivatives, on every side of what meets there
structural_zeros, critical, estimates  which entries are 0 by the wiring; where a kink or a pole may be, in float64
"""
