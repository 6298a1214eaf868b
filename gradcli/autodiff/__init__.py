"""The answer: a Program run in torch, and the derivatives that torch's autograd takes.  The only room with torch."""
