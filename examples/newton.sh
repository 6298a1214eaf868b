#!/bin/sh
# Newton's method for x**3 = 2 in a shell loop: derivatives as numbers in a pipe.
set -eu

x=1
for step in 1 2 3 4 5; do
    f=$(gradcli eval "x**3 - 2" --at "$x" --format plain --no-check)
    slope=$(gradcli grad "x**3 - 2" --at "$x" --format plain --no-check)
    x=$(awk -v x="$x" -v f="$f" -v slope="$slope" 'BEGIN { printf "%.12g", x - f/slope }')
    echo "$step: $x"
done
