"""Derivatives that people look up in books, and likely mistakes in them.

A line is a function, the shapes of its variables, the variable, the derivative, and perhaps what is assumed of a
variable.  Sizes are letters, each of which is a number of its own in a test, `SIZES`; {n} is that number in a text.
"""

from __future__ import annotations

from typing import NamedTuple

SIZES = {"m": 4, "n": 3, "p": 2, "k": 5}


class Identity(NamedTuple):
    """Derivative of a function by one variable, and what it is assumed for."""

    function: str
    shapes: dict[str, tuple[str, ...]]
    variable: str
    derivative: str
    assume: dict[str, str]

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes in numbers."""
        return {name: tuple(SIZES[size] for size in shape) for name, shape in self.shapes.items()}


def _read(table: str) -> list[Identity]:
    found = []
    for line in filter(None, map(str.strip, table.splitlines())):
        function, shapes, variable, derivative, *assumed = map(str.strip, line.split("|"))
        pairs = (one.split("=") for one in shapes.split())
        sized = {name: tuple(sizes.split(",")) if sizes else () for name, sizes in pairs}
        assume = {variable: assumed[0]} if assumed and "=" not in assumed[0] else {}
        if assumed and "=" in assumed[0]:
            assume = dict([assumed[0].split("=")])
        written = derivative.format(**SIZES) if "{" in derivative else derivative
        function = function.format(**SIZES) if "{" in function else function
        found.append(Identity(function, sized, variable, written, assume))
    return found


GRADIENTS = _read("""
trace(X) | X=n,n | X | eye({n})
trace(A@X) | A=m,n X=n,m | X | A.T
trace(X@A) | A=m,n X=n,m | X | A.T
trace(A@X.T) | A=m,n X=m,n | X | A
trace(X.T@A) | A=m,n X=m,n | X | A
trace(A@X@B) | A=p,m X=m,n B=n,p | X | A.T@B.T
trace(A@X.T@B) | A=p,n X=m,n B=m,p | X | B@A
trace(X@X) | X=n,n | X | 2*X.T
trace(X.T@X) | X=m,n | X | 2*X
trace(X@X.T) | X=m,n | X | 2*X
trace(X@X@X) | X=n,n | X | 3*(X@X).T
trace(X@X@B) | X=n,n B=n,n | X | (X@B + B@X).T
trace(X.T@B@X) | X=m,n B=m,m | X | (B + B.T)@X
trace(X@B@X.T) | X=m,n B=n,n | X | X@(B + B.T)
trace(B@X@X.T) | X=m,n B=m,m | X | (B + B.T)@X
trace(A@X@B@X) | A=n,m X=m,n B=n,m | X | A.T@X.T@B.T + B.T@X.T@A.T
trace(A@X@B@X.T) | A=m,m X=m,n B=n,n | X | A.T@X@B.T + A@X@B
trace(B.T@X.T@C@X@B) | X=m,n C=m,m B=n,p | X | C.T@X@B@B.T + C@X@B@B.T
trace((A@X@B)@(A@X@B).T) | A=p,m X=m,n B=n,k | X | 2*A.T@A@X@B@B.T
trace((A@X + B)@(A@X + B).T) | A=p,m X=m,n B=p,n | X | 2*A.T@(A@X + B)
trace(inv(X)) | X=n,n | X | -(inv(X)@inv(X)).T
trace(A@inv(X)) | A=n,n X=n,n | X | -(inv(X)@A@inv(X)).T
trace(A@inv(X)@B) | A=p,n X=n,n B=n,p | X | -(inv(X)@B@A@inv(X)).T
trace(inv(X + A)) | A=n,n X=n,n | X | -(inv(X + A)@inv(X + A)).T
trace(X@inv(X + A)) | A=n,n X=n,n | X | (inv(X + A)@A@inv(X + A)).T
trace(inv(X.T@X)) | X=m,n | X | -2*X@inv(X.T@X)@inv(X.T@X)
trace(inv(X)@A@inv(X)@B) | A=n,n B=n,n X=n,n | X | -(inv(X)@(A@inv(X)@B + B@inv(X)@A)@inv(X)).T
trace(X.T@X@X.T@X) | X=m,n | X | 4*X@X.T@X
trace(A@X@X.T@B) | A=p,m X=m,n B=m,p | X | (A.T@B.T + B@A)@X
trace(A.T@X.T@X@A) | X=m,n A=n,p | X | 2*X@A@A.T
trace(X)**2 | X=n,n | X | 2*trace(X)*eye({n})
trace(A@X)**2 | A=m,n X=n,m | X | 2*trace(A@X)*A.T
exp(trace(A@X)) | A=m,n X=n,m | X | exp(trace(A@X))*A.T
trace(A@(X*X)) | A=n,n X=n,n | X | 2*A.T*X
trace(A.T@(X*B)) | A=m,n X=m,n B=m,n | X | A*B
trace(diag(x)@A) | x=n A=n,n | x | diag(A)
trace(A@diag(x)@B) | A=m,n x=n B=n,m | x | sum(A*B.T, 0)
det(X) | X=n,n | X | det(X)*inv(X).T
det(X)**2 | X=n,n | X | 2*det(X)**2*inv(X).T
det(inv(X)) | X=n,n | X | -inv(X).T/det(X)
1/det(X) | X=n,n | X | -inv(X).T/det(X)
sqrt(det(X)) | X=n,n | X | sqrt(det(X))*inv(X).T/2
det(X@X) | X=n,n | X | 2*det(X)**2*inv(X).T
det(A@X@B) | A=n,n X=n,n B=n,n | X | det(A@X@B)*inv(X).T
det(A@X@B) | A=n,n X=n,n B=n,n | X | det(A)*det(X)*det(B)*inv(X).T
det(A@X@B) | A=p,m X=m,n B=n,p | X | det(A@X@B)*A.T@inv(A@X@B).T@B.T
det(X.T@X) | X=m,n | X | 2*det(X.T@X)*X@inv(X.T@X)
det(X@X.T) | X=n,m | X | 2*det(X@X.T)*inv(X@X.T)@X
det(X.T@A@X) | X=m,n A=m,m | X | det(X.T@A@X)*(A@X@inv(X.T@A@X) + A.T@X@inv(X.T@A.T@X))
det(X + A) | X=n,n A=n,n | X | det(X + A)*inv(X + A).T
log(det(X)) | X=n,n | X | inv(X).T
logdet(X) | X=n,n | X | inv(X.T)
log(det(X)**2) | X=n,n | X | 2*inv(X).T
log(det(X.T@X)) | X=m,n | X | 2*X@inv(X.T@X)
log(det(X.T@X)) | X=m,n | X | 2*pinv(X).T
logdet(X@X.T) | X=n,m | X | 2*inv(X@X.T)@X
logdet(A + X) | A=n,n X=n,n | X | inv(A + X).T
logdet(A@X@B) | A=p,m X=m,n B=n,p | X | A.T@inv(A@X@B).T@B.T
logdet(A + X@X.T) | A=m,m X=m,n | X | (inv(A + X@X.T) + inv(A.T + X@X.T))@X
logdet(A + outer(u, v)) | A=n,n u=n v=n | u | inv(A + outer(u, v)).T@v
logdet(K + s*eye({n})) | K=n,n s= | s | trace(inv(K + s*eye({n})))
logdet(X) - trace(S@X) | S=n,n X=n,n | X | inv(X).T - S.T
logdet(S) + trace(inv(S)@C) | S=n,n C=n,n | S | (inv(S) - inv(S)@C@inv(S)).T
a@inv(X)@b | a=n X=n,n b=n | X | -inv(X).T@outer(a, b)@inv(X).T
x@inv(A)@x | x=n A=n,n | A | -outer(inv(A).T@x, inv(A)@x)
x@inv(A)@x | x=n A=n,n | x | (inv(A) + inv(A).T)@x
sum(inv(X)) | X=n,n | X | -inv(X).T@ones(({n}, {n}))@inv(X).T
c@solve(A, b) | A=n,n b=n c=n | A | -outer(inv(A).T@c, solve(A, b))
c@solve(A, b) | A=n,n b=n c=n | b | solve(A.T, c)
norm(solve(A, b))**2 | A=n,n b=n | b | 2*inv(A).T@inv(A)@b
norm(inv(X))**2 | X=n,n | X | -2*inv(X).T@inv(X)@inv(X).T
y@inv(K + s*eye({n}))@y | y=n K=n,n s= | s | -y@inv(K + s*eye({n}))@inv(K + s*eye({n}))@y
norm(x) | x=n | x | x/norm(x)
norm(x)**2 | x=n | x | 2*x
x.T@x | x=n | x | 2*x
norm(x - a) | x=n a=n | x | (x - a)/norm(x - a)
norm(x)**3 | x=n | x | 3*norm(x)*x
norm(x)**4 | x=n | x | 4*(x@x)*x
1/norm(x) | x=n | x | -x/norm(x)**3
log(norm(x)) | x=n | x | x/(x@x)
sqrt(x@x + e) | x=n e= | x | x/sqrt(x@x + e)
a@x/norm(x) | x=n a=n | x | a/norm(x) - (a@x)*x/norm(x)**3
a@x/(norm(a)*norm(x)) | x=n a=n | x | (a - (a@x)*x/(x@x))/(norm(a)*norm(x))
norm(x - mean(x))**2 | x=n | x | 2*(x - mean(x))
norm(A@x - b)**2 | A=m,n x=n b=m | x | 2*A.T@(A@x - b)
norm(A@x - b)**2 | A=m,n x=n b=m | A | 2*outer(A@x - b, x)
norm(A@x - b) | A=m,n x=n b=m | x | A.T@(A@x - b)/norm(A@x - b)
norm(A@x - b)**2 + l*x@x | A=m,n x=n b=m l= | x | 2*((A.T@A + l*eye({n}))@x - A.T@b)
norm(X)**2 | X=m,n | X | 2*X
norm(X) | X=m,n | X | X/norm(X)
norm(A - U@V)**2 | A=m,n U=m,p V=p,n | U | -2*(A - U@V)@V.T
norm(A - U@V)**2 | A=m,n U=m,p V=p,n | V | -2*U.T@(A - U@V)
norm(A@X - B)**2 | A=p,m X=m,n B=p,n | X | 2*A.T@(A@X - B)
norm(X@A - B)**2 | A=n,p X=m,n B=m,p | X | 2*(X@A - B)@A.T
norm(A@X@B - C)**2 | A=p,m X=m,n B=n,k C=p,k | X | 2*A.T@(A@X@B - C)@B.T
norm(X.T@X - eye({n}))**2 | X=m,n | X | 4*X@(X.T@X - eye({n}))
norm(X@X.T - A)**2 | X=m,n A=m,m | X | 2*(2*X@X.T - A - A.T)@X
x@A@x | x=n A=n,n | x | (A + A.T)@x
x.T@A@x | x=n A=n,n | A | outer(x, x)
x@A@y | x=m A=m,n y=n | x | A@y
x@A@y | x=m A=m,n y=n | y | A.T@x
a.T@X.T@b | a=n X=m,n b=m | X | outer(b, a)
a.T@X.T@X@b | a=n X=m,n b=n | X | X@(outer(a, b) + outer(b, a))
a.T@X@X.T@b | a=m X=m,n b=m | X | (outer(a, b) + outer(b, a))@X
(A@x + a).T@C@(B@x + b) | A=m,n x=n a=m C=m,p B=p,n b=p | x | A.T@C@(B@x + b) + B.T@C.T@(A@x + a)
(X@b + c).T@D@(X@b + c) | X=m,n b=n c=m D=m,m | X | (D + D.T)@outer(X@b + c, b)
(x - u).T@inv(S)@(x - u) | x=n u=n S=n,n | x | (inv(S) + inv(S).T)@(x - u)
(x - u).T@inv(S)@(x - u) | x=n u=n S=n,n | S | -inv(S).T@outer(x - u, x - u)@inv(S).T
(x - A@s).T@W@(x - A@s) | x=m A=m,n s=n W=m,m | s | -A.T@(W + W.T)@(x - A@s)
(x - A@s).T@W@(x - A@s) | x=m A=m,n s=n W=m,m | A | -(W + W.T)@outer(x - A@s, s)
(y - X@w).T@(y - X@w) + l*w.T@w | y=m X=m,n w=n l= | w | 2*X.T@(X@w - y) + 2*l*w
x.T@A@x/(x.T@x) | x=n A=n,n | x | ((A + A.T)@x - 2*(x@A@x)/(x@x)*x)/(x@x)
x@A@x/(x@B@x) | x=n A=n,n B=n,n | x | (A + A.T)@x/(x@B@x) - (x@A@x)*(B + B.T)@x/(x@B@x)**2
exp(-x@A@x/2) | x=n A=n,n | x | -exp(-x@A@x/2)*(A + A.T)@x/2
log(x@A@x) | x=n A=n,n | x | (A + A.T)@x/(x@A@x)
sqrt(x@A@x) | x=n A=n,n | x | (A + A.T)@x/(2*sqrt(x@A@x))
norm(x - u)**2 + a*x@M@x | x=n u=n a= M=n,n | x | 2*(x - u) + a*(M + M.T)@x
exp(-norm(x - c)**2/(2*s**2)) | x=n c=n s= | x | -exp(-norm(x - c)**2/(2*s**2))*(x - c)/s**2
exp(-norm(x - c)**2/(2*s**2)) | x=n c=n s= | s | exp(-norm(x - c)**2/(2*s**2))*norm(x - c)**2/s**3
x@diag(w)@x | x=n w=n | x | 2*w*x
x@diag(w)@x | x=n w=n | w | x*x
sum(X*X*X) | X=m,n | X | 3*X*X
sum(A*exp(X)) | A=m,n X=m,n | X | A*exp(X)
sum(log(X@w)) | X=m,n w=n | w | X.T@(1/(X@w))
sum(log(X@w)) | X=m,n w=n | X | outer(1/(X@w), w)
sum(sin(A@x)) | A=m,n x=n | x | A.T@cos(A@x)
a@tanh(W@x + b) | a=m W=m,n x=n b=m | x | W.T@(a*(1 - tanh(W@x + b)**2))
a@tanh(W@x + b) | a=m W=m,n x=n b=m | W | outer(a*(1 - tanh(W@x + b)**2), x)
log(sum(exp(x))) | x=n | x | softmax(x)
logsumexp(A@x) | A=m,n x=n | x | A.T@softmax(A@x)
-sum(t*log_softmax(x)) | t=n x=n | x | sum(t)*softmax(x) - t
-sum(t*log(softmax(W@x))) | t=m W=m,n x=n | W | outer(sum(t)*softmax(W@x) - t, x)
sum(softmax(x)*a) | x=n a=n | x | softmax(x)*(a - softmax(x)@a)
sum(softmax(x)*log(softmax(x))) | x=n | x | softmax(x)*(log(softmax(x)) - sum(softmax(x)*log(softmax(x))))
log(1 + exp(-y*(w@x))) | y= w=n x=n | w | -y*sigmoid(-y*(w@x))*x
sum(log(1 + exp(-y*(X@w)))) | y=m X=m,n w=n | w | -X.T@(y*sigmoid(-y*(X@w)))
sum(softplus(X@w) - y*(X@w)) | y=m X=m,n w=n | w | X.T@(sigmoid(X@w) - y)
-sum(y*log(sigmoid(X@w)) + (1 - y)*log(1 - sigmoid(X@w))) | y=m X=m,n w=n | w | X.T@(sigmoid(X@w) - y)
sum(sigmoid(A@x)) | A=m,n x=n | x | A.T@(sigmoid(A@x)*(1 - sigmoid(A@x)))
mean((X@w - y)**2) | y=m X=m,n w=n | w | 2*X.T@(X@w - y)/{m}
sum(p*log(p/q)) | p=n q=n | q | -p/q
sum(eigvalsh(A)) | A=n,n | A | eye({n})
sum(eigvalsh(A)**2) | A=n,n | A | A + A.T
sum(log(eigvalsh(A))) | A=n,n | A | 2*inv(A + A.T)
sum(eigvalsh(A)**3) | A=n,n | A | 3*(A + A.T)@(A + A.T)/4
""")

JACOBIANS = _read("""
A@x | A=m,n x=n | x | A
x@A | A=m,n x=m | x | A.T
A@x + x*(b@x) | A=n,n x=n b=n | x | A + (b@x)*eye({n}) + outer(x, b)
softmax(x) | x=n | x | diag(softmax(x)) - outer(softmax(x), softmax(x))
softmax(A@x) | A=m,n x=n | x | (diag(softmax(A@x)) - outer(softmax(A@x), softmax(A@x)))@A
sigmoid(A@x) | A=m,n x=n | x | diag(sigmoid(A@x)*(1 - sigmoid(A@x)))@A
tanh(W@x + b) | W=m,n x=n b=m | x | diag(1 - tanh(W@x + b)**2)@W
exp(A@x) | A=m,n x=n | x | diag(exp(A@x))@A
x/norm(x) | x=n | x | eye({n})/norm(x) - outer(x, x)/norm(x)**3
solve(A, x) | A=n,n x=n | x | inv(A)
x - mean(x) | x=n | x | eye({n}) - ones(({n}, {n}))/{n}
x*(x@x) | x=n | x | (x@x)*eye({n}) + 2*outer(x, x)
diag(w)@A@x | w=m A=m,n x=n | x | diag(w)@A
""")

STRUCTURED = _read("""
x@A@x | x=n A=n,n | x | 2*A@x | A=symmetric
x@A@x | x=n A=n,n | A | outer(x, x) | symmetric
trace(A@A) | A=n,n | A | 2*A | symmetric
logdet(A) | A=n,n | A | inv(A) | spd
x@inv(A)@x | x=n A=n,n | x | 2*inv(A)@x | A=spd
x@inv(A)@x | x=n A=n,n | A | -outer(inv(A)@x, inv(A)@x) | symmetric
(x - u)@inv(S)@(x - u) | x=n u=n S=n,n | u | -2*inv(S)@(x - u) | S=spd
trace(inv(A)@B) | A=n,n B=n,n | A | -inv(A)@B@inv(A) | symmetric
x@A@x/(x@x) | x=n A=n,n | x | 2*(A@x - (x@A@x)/(x@x)*x)/(x@x) | A=symmetric
""")

WRONG = _read("""
trace(A@X) | A=n,n X=n,n | X | A
trace(A@X.T) | A=n,n X=n,n | X | A.T
trace(A@X@B) | A=n,n X=n,n B=n,n | X | B.T@A.T
trace(A@X@B) | A=n,n X=n,n B=n,n | X | A@B
trace(X@X) | X=n,n | X | 2*X
trace(X.T@X) | X=n,n | X | 2*X.T
trace(X@X@X) | X=n,n | X | 3*X@X
trace(X@X@B) | X=n,n B=n,n | X | X@B + B@X
trace(X@X@B) | X=n,n B=n,n | X | 2*(X@B).T
trace(X.T@B@X) | X=m,n B=m,m | X | 2*B@X
trace(X@B@X.T) | X=n,n B=n,n | X | (B + B.T)@X
trace(A@X@B@X.T) | A=m,m X=m,n B=n,n | X | 2*A@X@B
trace(A@X@B@X.T) | A=m,m X=m,n B=n,n | X | A.T@X@B.T - A@X@B
trace(inv(X)) | X=n,n | X | -inv(X)@inv(X)
trace(A@inv(X)) | A=n,n X=n,n | X | (inv(X)@A@inv(X)).T
trace(A@inv(X)) | A=n,n X=n,n | X | -inv(X)@A@inv(X)
trace(A@inv(X)@B) | A=n,n X=n,n B=n,n | X | -(inv(X)@A@B@inv(X)).T
trace((A@X + B)@(A@X + B).T) | A=p,m X=m,n B=p,n | X | A.T@(A@X + B)
trace(X)**2 | X=n,n | X | 2*trace(X)
det(X) | X=n,n | X | det(X)*inv(X)
det(X) | X=n,n | X | inv(X).T
det(X)**2 | X=n,n | X | 2*det(X)*inv(X).T
det(inv(X)) | X=n,n | X | -det(X)*inv(X).T
det(X.T@X) | X=m,n | X | det(X.T@X)*X@inv(X.T@X)
log(det(X)) | X=n,n | X | inv(X)
log(det(X)) | X=n,n | X | inv(X).T/det(X)
log(det(X.T@X)) | X=m,n | X | X@inv(X.T@X)
logdet(A + X) | A=n,n X=n,n | X | inv(A).T + inv(X).T
logdet(X) - trace(S@X) | S=n,n X=n,n | X | inv(X).T - S
a@inv(X)@b | a=n X=n,n b=n | X | -inv(X)@outer(a, b)@inv(X)
a@inv(X)@b | a=n X=n,n b=n | X | -inv(X).T@outer(b, a)@inv(X).T
x@inv(A)@x | x=n A=n,n | x | 2*inv(A)@x
c@solve(A, b) | A=n,n b=n c=n | b | solve(A, c)
norm(x) | x=n | x | x/norm(x)**2
norm(x)**2 | x=n | x | x
norm(x)**3 | x=n | x | 3*norm(x)**2*x
norm(x - a) | x=n a=n | x | (a - x)/norm(x - a)
a@x/norm(x) | x=n a=n | x | a/norm(x) - (a@x)*x/norm(x)**2
norm(A@x - b)**2 | A=n,n x=n b=n | x | 2*A@(A@x - b)
norm(A@x - b)**2 | A=m,n x=n b=m | x | A.T@(A@x - b)
norm(A@x - b)**2 | A=m,n x=n b=m | x | 2*A.T@(b - A@x)
norm(A@x - b)**2 | A=n,n x=n b=n | A | 2*outer(x, A@x - b)
norm(A - U@V)**2 | A=m,n U=m,p V=p,n | U | 2*(A - U@V)@V.T
norm(A - U@V)**2 | A=n,n U=n,n V=n,n | U | -2*(A - U@V)@V
norm(X.T@X - eye({n}))**2 | X=m,n | X | 2*X@(X.T@X - eye({n}))
x@A@x | x=n A=n,n | x | 2*A@x
x@A@x | x=n A=n,n | x | (A - A.T)@x
x@A@y | x=n A=n,n y=n | y | A@x
a.T@X.T@b | a=n X=n,n b=n | X | outer(a, b)
a.T@X.T@X@b | a=n X=m,n b=n | X | 2*X@outer(a, b)
(x - u).T@inv(S)@(x - u) | x=n u=n S=n,n | u | (inv(S) + inv(S).T)@(x - u)
(y - X@w).T@(y - X@w) + l*w.T@w | y=m X=m,n w=n l= | w | 2*X.T@(X@w - y) + l*w
x.T@A@x/(x.T@x) | x=n A=n,n | x | (A + A.T)@x/(x@x) - (x@A@x)*x/(x@x)**2
exp(-x@A@x/2) | x=n A=n,n | x | -exp(-x@A@x/2)*A@x
x@diag(w)@x | x=n w=n | x | w*x
log(sum(exp(x))) | x=n | x | exp(x)
-sum(t*log_softmax(x)) | t=n x=n | x | softmax(x) - t
sum(softmax(x)*a) | x=n a=n | x | softmax(x)*(1 - softmax(x))*a
log(1 + exp(-y*(w@x))) | y= w=n x=n | w | -y*sigmoid(y*(w@x))*x
sum(softplus(X@w) - y*(X@w)) | y=m X=m,n w=n | w | X.T@(y - sigmoid(X@w))
softmax(x) | x=n | x | diag(softmax(x)) + outer(softmax(x), softmax(x))
sigmoid(A@x) | A=n,n x=n | x | A@diag(sigmoid(A@x)*(1 - sigmoid(A@x)))
""")
