#!/bin/sh
# A table of measurements gets columns with the value of a model and its gradient by each parameter, row by row.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/data.csv" <<'END'
t,k,a
0,0.5,2
1,0.5,2
2,0.7,2
4,0.7,1.5
END

# One command for all rows: each column is a batch of points, and each point has a gradient of its own.
gradcli grad "a*exp(-k*t)" --at "t=@$work/data.csv:t" --at "k=@$work/data.csv:k" --at "a=@$work/data.csv:a" \
    --points-of t,k,a --wrt k,a --format plain | tr ' ' ',' > "$work/gradients.csv"
{ echo "dy_dk,dy_da"; cat "$work/gradients.csv"; } | paste -d , "$work/data.csv" -
