"""The answer: a Program run in torch, and the derivatives that torch's autograd takes.  The only room with torch.

devices                          the device that is asked for, if it is there
run                              a Program to tensors; every line with its adjoint; random numbers of a text
jacobians                        vᵀJ and J; Ju, the Hessian and Hu
forward_mode                     Ju and J by dual numbers
backward_passes                  backward passes as a user runs them, and the graph that torch built
backward_errors                  errors of a backward pass: torch's, and those of the user's code
torch_internals                  the private names of torch that are used, each behind a function
batched                          many points at once; many more, block by block on all cores; finite differences

Knows nothing of formulas, and not whether its numbers are right.
"""
