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

# Columns are variables; a table may be longer than the memory. -o FILE would write it whole or not at all.
echo "all rows, each with its gradient"
gradcli map "a*exp(-k*t)" --points "$work/data.csv" --wrt k,a --keep

# A gap ends the run by default; here it becomes NaN, and the count is said on stderr.
echo "with a gap"
sed 's/^2,0.7/2,/' "$work/data.csv" | gradcli map "a*exp(-k*t)" --points - --wrt k --keep --on-error nan 2>&1
