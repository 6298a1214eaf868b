#!/bin/sh
# Gradients derived by hand for a paper: the right ones are proved, the wrong one is refuted with its likeliest mistake.
set -u

# The exit code is 1 where a claim is refuted, so that a test suite or a Makefile can ask.
claim() {
    if gradcli check "$1" --at "$2" --claim "$3" --format plain | grep '^proved\|^refuted'; then
        return 0
    fi
}

claim "logsumexp(x)" 1,2,3 "softmax(x)"
claim "x/norm(x)" 3,4 "eye(2)/norm(x) - outer(x, x)/norm(x)**3"
claim "sum(log(1 + exp(-x)))" 1,-2 "-sigmoid(-x)"
claim "sum(log(1 + exp(-x)))" 1,-2 "-sigmoid(x)"

# Why did the loss become NaN?  The operation that poisons the gradient, and a form that does not.
gradcli grad "sum(where(x > 0, x*log(x), 0))" --at 2,-1 --json |
    python3 -c 'import json, sys; c = json.load(sys.stdin)["check"]; print(c["verdict"], c["findings"][0]["note"], c.get("rewrite", {}).get("expression"), sep="\n")'
