#!/bin/sh
# Newton's method again, with one gradcli for all steps: it starts once, and then answers in milliseconds.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A request goes down one pipe, its answer comes back on the other, before the next is asked.
mkfifo "$work/requests" "$work/answers"
gradcli batch < "$work/requests" > "$work/answers" &
exec 3> "$work/requests" 4< "$work/answers"

x=1
for step in 1 2 3 4 5 6; do
    echo "{\"command\": \"grad\", \"expression\": \"x**3 - 2\", \"at\": {\"x\": $x}}" >&3
    read -r answer <&4
    f=$(echo "$answer" | sed 's/.*"value": \([^,]*\),.*/\1/')
    slope=$(echo "$answer" | sed 's/.*"grad": {"x": \([^}]*\)}.*/\1/')
    x=$(awk -v x="$x" -v f="$f" -v slope="$slope" 'BEGIN { printf "%.12g", x - f/slope }')
    echo "$step: $x"
done

# The end of the requests is the end of the stream, whose exit code is 0 if every line was answered.
exec 3>&-
wait $!
echo "answered: $?"
