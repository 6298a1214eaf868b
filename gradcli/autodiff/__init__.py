"""The answer: a Program run in torch, and the derivatives that torch's autograd takes.  The only room with torch.

run                              a Program to tensors
jacobians, hessians              vᵀJ and J; Ju, the Hessian and Hu
backward_passes                  backward passes as a user runs them: `.grad`, `retain_grad()`, what is refused
batched                          many points at once
blocks, workers                  many more, block by block on all cores
trace, backward_graph            every line with its adjoint; the graph that torch built
differences                      finite differences, to compare with

Knows nothing of formulas, and not whether its numbers are right.
"""
