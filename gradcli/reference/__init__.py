"""The judge: values and derivatives as balls that are proved to contain the truth.  Imports no torch.

balls, compiling                 functions of balls and of lists of them; SymPy as such functions
bounds, array_functions          whole arrays in floats, with bounds; SymPy as functions of them
special_functions                of whole arrays what NumPy lacks: gamma functions, determinants, factors, eigenvalues
array_values, linear_maps        a Program on them: the value of each line, and the way of changes through it
sweep                            its derivatives on them, back for rows of y or forward for directions
deadline                         how long all this may take
rules, choices                   the local rules: elementwise and in float formats; of branches and of whole lists
spectral                         eigenvalues and exponentials of matrices, and their derivatives
exact_numbers                    which values are certainly the same number
footprint                        which element comes from which, and which entries are 0 by that
duals, running                   tangents and adjoints at the elements that are asked for
rounded                          values on balls that round as a float format does
taylor_models                    functions of one number around 0, and their derivatives, with what follows enclosed
array_products                   products of the Hessian on whole arrays
series, directional_series       what the function is on a ray into the point, in powers of the distance
second_order                     products of the Hessian with directions, and where they meet what is not smooth
critical                         where a kink or a pole may be, as far as bounds tell
"""
